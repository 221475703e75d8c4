/* measure/trace.c: traced steps, and the events of their phases.
 *
 * No two events of a row overlap: a phase that another one interrupts is cut into parts, so the
 * parts of a phase in a row add up to its time in the record of that step. The record is in the
 * event of the step. */
#include "measure/measure.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "plan/plan.h"
#include "record/record.h"
#include "text/alloc.h"
#include "text/text.h"

enum { TRACED_STEPS = 3, NAME_BYTES = 384 };

/* The rows of a process: the steps, and two for each device. */
enum { STEP_ROW = 0, FIRST_ROW = 1 };

struct picture {
    FILE *out;
    struct session *session;
    const struct cell_config *config;
    struct dp_timeline *timeline;
    uint64_t start_ns; /* of the first step */
    int step;
    bool begun; /* an event was printed */
};

const char *const measure_phase_names[DP_PHASES + 1] = {
    [DP_PHASE_SCATTER] = "scatter",   [DP_PHASE_REPLICATE] = "replicate",
    [DP_PHASE_FORWARD] = "forward",   [DP_PHASE_GATHER] = "gather",
    [DP_PHASE_BACKWARD] = "backward", [DP_PHASE_REDUCE] = "reduce",
    [DP_PHASE_LOSS] = "loss",         [DP_PHASE_UPDATE] = "update",
    [DP_PHASES] = "all-reduce"};

/* The number of devices that have rows. */
static int devices_of(const struct picture *p)
{
    return cell_replicas(p->config);
}

static int row_of(int replica, int lane)
{
    return FIRST_ROW + DP_LANES * replica + lane;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Prints the begin of an object, which the caller closes. */
static void begin_event(struct picture *p, const char *kind, const char *name, int row)
{
    fprintf(p->out, "%s{\"ph\":\"%s\",\"name\":\"%s\",\"pid\":%zu,\"tid\":%d", p->begun ? "," : "",
            kind, name, p->config->order_index + 1, row);
    p->begun = true;
}

/* Prints when an event began, and how long it took. A time of a GPU is not exact: it may be before
 * its step. */
static void print_times(const struct picture *p, uint64_t begin_ns, uint64_t end_ns)
{
    const uint64_t at = begin_ns > p->start_ns ? begin_ns - p->start_ns : 0;
    const uint64_t ns = end_ns - begin_ns;

    fprintf(p->out, ",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u", at / 1000,
            (unsigned)(at % 1000), ns / 1000, (unsigned)(ns % 1000));
}

/* Prints the name of a process or a row. */
static void print_name(struct picture *p, const char *what, int row, const char *name)
{
    char clean[NAME_BYTES];

    snprintf(clean, sizeof clean, "%s", name);
    text_clean(clean, ' ');

    json_t *string = json_string(clean);
    char *text = json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    json_decref(string);
    begin_event(p, "M", what, row);
    fprintf(p->out, ",\"args\":{\"name\":%s}}", text);
    free(text);
}

static void print_place(struct picture *p, const char *what, int row, size_t place)
{
    begin_event(p, "M", what, row);
    fprintf(p->out, ",\"args\":{\"sort_index\":%zu}}", place);
}

/* ---- a row ----------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
    const struct dp_interval *x = a, *y = b;

    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static void print_part(struct picture *p, int row, const struct dp_interval *time,
                       uint64_t begin_ns, uint64_t end_ns)
{
    if (begin_ns >= end_ns)
        return;
    begin_event(p, "X", measure_phase_names[time->phase], row);
    fprintf(p->out, ",\"cat\":\"%s\"", time->phase == DP_PHASES ? "transfer" : "phase");
    print_times(p, begin_ns, end_ns);
    fprintf(p->out, ",\"args\":{\"step\":%d}}", p->step);
}

/* Prints the events of a row. A time belongs to the phase that has begun last and not ended. */
static void print_row(struct picture *p, int row, struct dp_interval time[], int n)
{
    const struct dp_interval *open[DP_TIMELINE_CAPACITY];
    uint64_t done_ns = 0; /* printed up to here */
    int depth = 0;

    qsort(time, (size_t)n, sizeof *time, compare_times);
    for (int i = 0; i <= n; ++i) {
        const uint64_t next_ns = i < n ? time[i].begin_ns : UINT64_MAX;

        for (; depth > 0 && open[depth - 1]->end_ns <= next_ns; --depth) {
            print_part(p, row, open[depth - 1], done_ns, open[depth - 1]->end_ns);
            done_ns = open[depth - 1]->end_ns > done_ns ? open[depth - 1]->end_ns : done_ns;
        }
        if (depth > 0)
            print_part(p, row, open[depth - 1], done_ns, next_ns);
        if (i < n)
            open[depth++] = &time[i];
        done_ns = next_ns > done_ns ? next_ns : done_ns;
    }
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Runs a traced step, and prints its events. The timeline begins anew with the trace that it
 * belongs to. */
static int run_traced_step(struct picture *p, const struct session_verified verified[],
                           struct dp_error *err)
{
    const int k = p->step % WORKLOAD_SETS, n_devices = devices_of(p);
    struct session *s = p->session;
    bool begun = false;
    int left_out = 0;
    struct session_times times = {0};
    int status = session_prepare(s, k, err);

    if (status)
        return status;
    memset(p->timeline, 0, sizeof *p->timeline);
    s->trace.timeline = p->timeline;
    session_set_traced(s, true);
    if ((status = session_step(s, k, &times, err)) || (status = session_trace(s, err)) ||
        (status = session_read(s, err)))
        return status;
    if (session_digest(s) != verified[k].step)
        return dp_fail(err, DP_EFAULT, "it left something else than the verified step");
    if (p->step == 0)
        p->start_ns = times.start_ns;
    for (int r = 0; r < n_devices; ++r)
        for (int lane = 0; lane < DP_LANES; ++lane) {
            struct dp_interval *at = p->timeline->lane[r][lane].at;
            const int n = p->timeline->lane[r][lane].n;
            const int there = n < DP_TIMELINE_CAPACITY ? n : DP_TIMELINE_CAPACITY;

            left_out += n - there;
            print_row(p, row_of(r, lane), at, there);
        }
    begin_event(p, "X", "step", STEP_ROW);
    fputs(",\"cat\":\"step\"", p->out);
    print_times(p, times.start_ns, times.start_ns + times.step_ns);
    fprintf(p->out, ",\"args\":{\"step\":%d,\"left_out\":%d,\"phases_ns\":{", p->step, left_out);
    /* Each phase that the step has, with its times on all devices. */
    for (int phase = 0; phase < DP_PHASES; ++phase) {
        uint64_t any = 0;

        for (int r = 0; r < n_devices; ++r)
            any |= s->trace.replica[r].ns[phase];
        if (any == 0)
            continue;
        fprintf(p->out, "%s\"%s\":[", begun ? "," : "", measure_phase_names[phase]);
        for (int r = 0; r < n_devices; ++r)
            fprintf(p->out, "%s%" PRIu64, r > 0 ? "," : "", s->trace.replica[r].ns[phase]);
        fputc(']', p->out);
        begun = true;
    }
    fputs("}}}", p->out);
    return 0;
}

/* ---- a cell ---------------------------------------------------------------------------------- */

static int print_cell(struct picture *p, const struct session_verified verified[],
                      struct dp_error *err)
{
    static const char *const queues[DP_LANES] = {"compute", "transfers"};
    const struct cell_config *c = p->config;
    char name[NAME_BYTES], axes[PLAN_AXES_TEXT];
    struct record_cell cell;
    int status = 0;

    /* The name is like "mlp:256,10 ddp on virt:2, batch 64, bucket 65536 (cpu/threads, f32)". */
    cell_identify(c, &cell);
    plan_axes_words(&cell.key, ", ", true, axes);
    snprintf(name, NAME_BYTES, "%.80s %s on %s, batch %zu%s (%s/%s, %s)", c->workload.name,
             cell_mode_names[c->mode], c->devices, c->rows, axes, c->backend, c->communicator,
             dp_math_name(c->math));
    print_name(p, "process_name", STEP_ROW, name);
    print_place(p, "process_sort_index", STEP_ROW, c->order_index);
    print_name(p, "thread_name", STEP_ROW, "steps");
    print_place(p, "thread_sort_index", STEP_ROW, STEP_ROW);
    for (int r = 0; r < devices_of(p); ++r) {
        struct dp_slot_info info;

        dp_slot_describe(dp_group_slot(p->session->group, r), &info);
        for (int lane = 0; lane < DP_LANES; ++lane) {
            const int row = row_of(r, lane);

            snprintf(name, sizeof name, "%s %s", info.name, queues[lane]);
            print_name(p, "thread_name", row, name);
            print_place(p, "thread_sort_index", row, (size_t)row);
        }
    }
    for (p->step = 0; status == 0 && p->step < TRACED_STEPS; ++p->step)
        status = run_traced_step(p, verified, err);
    return status;
}

int trace_steps(struct session *session, const struct cell_config *config,
                const struct session_verified verified[WORKLOAD_SETS], FILE *out,
                struct dp_error *err)
{
    struct memory_file text;

    memory_file_open(&text);
    struct picture p = {.out = text.to,
                        .session = session,
                        .config = config,
                        .timeline = cli_alloc(1, sizeof *p.timeline)};
    const int status = print_cell(&p, verified, err);

    session->trace.timeline = NULL;
    memory_file_close(&text);
    if (status == 0)
        fprintf(out, "%s\n", text.text);
    free(text.text);
    free(p.timeline);
    return status;
}
