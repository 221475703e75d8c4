/* clock_test.c: the clock is tested by programs whose time can be computed beforehand. */
#include "tools.h"

/* The bytes of a copy, and its time on a link of that rate; the times of a launch and of a call. */
enum { N = 25000, BYTES = 4 * N, COPY_NS = 100000, LAUNCH_NS = 500, CALL_NS = 10 };

enum { GPUS = 4 };

static struct place {
    cudaStream_t stream[GPUS];
    cudaEvent_t event[GPUS];
    float *from[GPUS], *to[GPUS][2];
} p;

static void clock_open_place(void)
{
    static const float zeros[N];
    test_start(GPUS);
    for (int d = 0; d < GPUS; ++d) {
        p.stream[d] = tool_stream(d);
        p.event[d] = tool_event(d);
        p.from[d] = tool_floats(d, N);
        for (int k = 0; k < 2; ++k)
            p.to[d][k] = tool_floats(d, N);
        tool_put(p.from[d], zeros, N, p.stream[d]);
    }
    fakecuda_clock_start(&(struct fakecuda_rates){.link = BYTES / (COPY_NS * 1e-9),
                                                  .host = 1e9,
                                                  .memory = 1e12,
                                                  .arithmetic = 1e12,
                                                  .launch_ns = LAUNCH_NS,
                                                  .call_ns = CALL_NS});
}

static void clock_copy(int to, int from, int k)
{
    WELL(cudaMemcpyPeerAsync(p.to[to][k], to, p.from[from], from, BYTES, p.stream[to]));
}

/* The copies take that long, and at most their launches and all calls longer; NaN is an error. */
static void close_place(double copies_ns, double launches, int waits_of_host)
{
    for (int d = 0; d < GPUS; ++d)
        WELL(cudaStreamSynchronize(p.stream[d]));
    const struct fakecuda_time time = fakecuda_clock_stop();
    const double least = copies_ns + launches * LAUNCH_NS;
    CHECK(time.ns > least);
    CHECK(time.ns < least + (double)time.calls * CALL_NS + 1);
    CHECK(time.syncs == GPUS + waits_of_host);
    test_end(NULL);
}

static void copies(void)
{
    static const struct {
        struct {
            int to, from, k;
        } copy[3];
        int n;
        double copies, launches;
    } rows[] = {
        /* Each operation uses another port: they run at the same time. */
        {{{1, 0, 0}, {0, 1, 0}, {3, 2, 0}}, 3, 1, 1},
        {{{1, 0, 0}, {2, 0, 0}, {3, 0, 0}}, 3, 3, 1},
        /* The operations of a stream run one after the other. */
        {{{3, 0, 0}, {3, 1, 1}}, 2, 2, 2},
        /* An operation that gets its port back for itself goes on at the full rate. */
        {{{1, 0, 0}, {2, 0, 0}, {2, 0, 1}}, 3, 3, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        clock_open_place();
        for (int k = 0; k < rows[i].n; ++k)
            clock_copy(rows[i].copy[k].to, rows[i].copy[k].from, rows[i].copy[k].k);
        close_place(rows[i].copies * COPY_NS, rows[i].launches, 0);
    }
}

static void waits(void)
{
    clock_open_place();
    clock_copy(1, 0, 0);
    tool_after(p.stream[3], p.stream[1], p.event[1]);
    clock_copy(3, 2, 0);
    close_place(2.0 * COPY_NS, 2, 0);
}

/* The host waits before it goes on. */
static void host_waits(void)
{
    clock_open_place();
    clock_copy(1, 0, 0);
    WELL(cudaEventRecord(p.event[1], p.stream[1]));
    WELL(cudaEventSynchronize(p.event[1]));
    clock_copy(3, 2, 0);
    close_place(2.0 * COPY_NS, 2, 1);
}

static const struct test tests[] = {
    {"clock/copies", copies}, {"clock/waits", waits}, {"clock/host-waits", host_waits}};
const struct test_table clock_tests = {tests, sizeof tests / sizeof *tests};
