/* collective_calls.c: collectives, alone and from one memory to another. Every communicator, in
 * place and out of place, for every element type that it adds, gives the results of a loop on the
 * host. The input is unchanged, and the order of the queues holds. Floats have the bits of a sum in
 * rank order. Other numbers are integers: their sum is the same in any order; and so are floats for
 * a communicator that adds in another order. */
#include "collective_calls.h"
#include "list.h"

#include "backend.h"
#include "ddp.h"

#include <math.h>
#include <string.h>

enum { MOST_RANKS = 8, MOST = COLLECTIVE_CALLS_MOST };

struct collective_call {
    enum dp_collective_kind kind;
    const char *name;
    bool in_blocks, out_blocks, sums;
};
static const struct collective_call collective_calls[] = {
    {DP_COLLECTIVE_ALLREDUCE, "allreduce", false, false, true},
    {DP_COLLECTIVE_BROADCAST, "broadcast", false, false, false},
    {DP_COLLECTIVE_ALLGATHER, "allgather", false, true, false},
    {DP_COLLECTIVE_REDUCESCATTER, "reducescatter", true, false, true},
    {DP_COLLECTIVE_ALLTOALL, "alltoall", true, true, false},
};

struct memory {
    struct dp_group *group;
    const struct collective_call *what;
    int local, ranks, first, root; /* ranks: of the world, from first on those of this process */
    size_t n;                      /* of a block, or of all */
    bool in_place, whole;          /* whole: the numbers are integers */
    enum dp_dtype dtype;
    struct dp_tensor source[MOST_RANKS], in[MOST_RANKS], out[MOST_RANKS], result[MOST_RANKS],
        stayed[MOST_RANKS];           /* of the local ranks */
    const double *values[MOST_RANKS]; /* of all */
};

static size_t in_count(const struct memory *m)
{
    return m->n * (m->what->in_blocks ? (size_t)m->ranks : 1);
}

static size_t out_count(const struct memory *m)
{
    return m->n * (m->what->out_blocks ? (size_t)m->ranks : 1);
}

static const double *collective_calls_numbers(struct context *c, size_t count, int r, bool whole)
{
    double *values = case_memory(c, count * sizeof *values);
    const float *random = randoms(c, count, 300 + (uint64_t)r);
    for (size_t i = 0; i < count; ++i)
        values[i] = (double)(whole ? roundf(1000.0f * random[i]) : random[i]);
    return values;
}

static struct dp_tensor tensor(struct context *c, const struct memory *m, int r, size_t count,
                               const double *values)
{
    return make_tensor(c, dp_group_slot(m->group, r), m->dtype, 1, &count, values);
}

/* In place, the smaller tensor is a block of the larger one. */
static void collective_calls_place(struct context *c, struct memory *m, int r)
{
    const size_t block = (size_t)(m->first + r) * m->n;
    const bool larger_out = out_count(m) >= in_count(m);
    struct dp_tensor *large = larger_out ? &m->out[r] : &m->in[r];
    struct dp_tensor *small = larger_out ? &m->in[r] : &m->out[r];
    *large = tensor(c, m, r, larger_out ? out_count(m) : in_count(m), NULL);
    *small = *large;
    if (!m->in_place)
        *small = tensor(c, m, r, larger_out ? in_count(m) : out_count(m), NULL);
    else if (in_count(m) != out_count(m))
        expect_ok(c, dp_tensor_rows(large, block, m->n, small, &c->err), "dp_tensor_rows");
}

static void collective_calls_make(struct context *c, struct memory *m)
{
    m->group = open_group(c, m->local);
    m->ranks = dp_group_world(m->group);
    m->first = dp_group_first(m->group);
    m->root %= m->ranks;
    for (int r = 0; r < m->ranks; ++r)
        m->values[r] = collective_calls_numbers(c, in_count(m), r, m->whole);
    for (int r = 0; r < m->local; ++r) {
        m->source[r] = tensor(c, m, r, in_count(m), m->values[m->first + r]);
        m->result[r] = tensor(c, m, r, out_count(m), NULL);
        m->stayed[r] = tensor(c, m, r, in_count(m), NULL);
        collective_calls_place(c, m, r);
    }
}

/* Returns element i of the result that rank r must get. */
static double wanted(const struct memory *m, int r, size_t i)
{
    const size_t block = (size_t)r * m->n;
    float sum = 0;
    double wide = 0;
    switch (m->what->kind) {
    case DP_COLLECTIVE_BROADCAST:
        return m->values[m->root][i];
    case DP_COLLECTIVE_ALLGATHER:
        return m->values[i / m->n][i % m->n];
    case DP_COLLECTIVE_ALLTOALL:
        return m->values[i / m->n][block + i % m->n];
    default:
        for (int s = 0; s < m->ranks; ++s) {
            const double value = m->values[s][(m->what->in_blocks ? block : 0) + i];
            sum += (float)value;
            wide += value;
        }
        return m->dtype == DP_F32 ? (double)sum : wide;
    }
}

/* Issues copies in the compute queues before the collective, and after it. */
static void copies(struct context *c, const struct memory *m, const struct dp_tensor to[],
                   const struct dp_tensor from[])
{
    for (int r = 0; r < m->local; ++r)
        expect_ok(c, dp_tensor_copy(&to[r], &from[r], &c->err), "dp_tensor_copy");
}

static void collective_calls_run(struct context *c, struct memory *m, bool alone)
{
    copies(c, m, m->in, m->source);
    const int status =
        !alone ? dp_collective_run(m->group, m->what->kind, m->root, m->in, m->out, &c->err)
        : m->what->sums ? dp_allreduce(m->group, m->in, &c->err)
                        : dp_broadcast(m->group, m->in, m->root, &c->err);
    expect_ok(c, status, m->what->name);
    copies(c, m, m->result, m->out);
    copies(c, m, m->stayed, m->in);
    copies(c, m, m->in, m->source); /* too early, and the result has it */
    for (int r = 0; r < m->local; ++r) {
        double *want = case_memory(c, out_count(m) * sizeof *want);
        for (size_t i = 0; i < out_count(m); ++i)
            want[i] = wanted(m, m->first + r, i);
        expect_values(c, m->what->name, &m->result[r], want);
        if (!m->in_place)
            expect_values(c, "what was brought", &m->stayed[r], m->values[m->first + r]);
    }
}

/* Runs it twice, and twice alone if there is such a call: of float, to all ranks, in place. */
static void one(struct context *c, const struct memory *how)
{
    struct memory m = *how;
    const bool has_alone =
        m.in_place && m.dtype == DP_F32 && !m.what->in_blocks && !m.what->out_blocks;
    case_release(c);
    case_note(c, "%s, %s %s place, type %d, %d ranks here, %zu numbers",
              c->settings.communicator ? c->settings.communicator : "a world", m.what->name,
              m.in_place ? "in" : "out of", (int)m.dtype, m.local, m.n);
    collective_calls_make(c, &m);
    for (int turn = 0; turn < (has_alone ? 4 : 2); ++turn)
        collective_calls_run(c, &m, turn >= 2);
}

void collective_calls_of(struct context *c, int local, size_t n, bool whole)
{
    static const enum dp_dtype types[] = {DP_F32, DP_F64, DP_I32, DP_I64};
    for (size_t k = 0; k < sizeof collective_calls / sizeof collective_calls[0]; ++k) {
        const struct collective_call *what = &collective_calls[k];
        if (n > 2 * MOST && (what->in_blocks || what->out_blocks))
            continue;
        for (size_t t = 0; t < (n >= MOST ? 1 : sizeof types / sizeof types[0]); ++t) {
            for (int in_place = 0; in_place < 2; ++in_place) {
                const struct memory m = {.what = what,
                                         .local = local,
                                         .root = (int)(t + n + (size_t)in_place),
                                         .n = n,
                                         .in_place = in_place,
                                         .whole = whole || types[t] == DP_I32 || types[t] == DP_I64,
                                         .dtype = types[t]};
                if (!in_place || m.what->kind != DP_COLLECTIVE_ALLTOALL)
                    one(c, &m);
            }
        }
    }
}

static void each_communicator(struct context *c)
{
    static const struct {
        int ranks;
        size_t n;
    } table[] = {{1, 3},    {2, 1},    {2, 4096}, {3, 7},   {4, 2},
                 {4, 5003}, {4, MOST}, {5, 1},    {5, 1025}};
    struct dp_communicator_row row;
    struct dp_kind_row kind;
    expect(c, dp_kind_of(c->settings.gpus > 0 ? "cuda" : "virt", &kind), "no kind");
    for (int i = 0; dp_communicators(i, &row); ++i) {
        if (!row.built || (row.needs & ~kind.flags) != 0 || (row.can & DP_COMM_RANKS) == 0 ||
            (row.can & DP_COMM_TOGETHER) != 0)
            continue;
        c->settings.communicator = row.name;
        for (size_t k = 0; k < sizeof table / sizeof table[0]; ++k) {
            if ((row.can & DP_COMM_FREE_ORDER) && table[k].ranks > c->settings.gpus)
                continue; /* one rank a GPU */
            collective_calls_of(c, table[k].ranks, table[k].n, (row.can & DP_COMM_FREE_ORDER) != 0);
        }
    }
}

static struct dp_tensor vector(struct context *c, struct dp_group *group, int r, size_t count)
{
    return make_tensor(c, dp_group_slot(group, r), DP_F32, 1, &count, NULL);
}

/* Calls of collectives alone. */
static void alone_refused(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    const struct dp_tensor first = vector(c, group, 0, 4), none = {.slot = NULL};
    const struct {
        struct dp_tensor tensor[2];
        int root, status; /* root 0: a sum */
        const char *needle;
    } table[] = {
        {{first, vector(c, group, 1, 4)}, 2, DP_EINVAL, "root 2 of a broadcast: there are ranks 0"},
        {{first, vector(c, group, 1, 4)}, -1, DP_EINVAL, "root -1"},
        {{first, vector(c, group, 0, 4)}, 0, DP_EDEVICE, "tensor 1"},
        {{first, none}, 0, DP_EDEVICE, "no slot"},
        {{first, vector(c, group, 1, 5)}, 0, DP_ESHAPE, "tensor 1"},
        {{vector(c, group, 0, 0), vector(c, group, 1, 0)}, 0, DP_ESHAPE, "no elements"},
    };
    struct dp_tensor whole[2];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        const int got = table[i].root == 0
                            ? dp_allreduce(group, table[i].tensor, &c->err)
                            : dp_broadcast(group, table[i].tensor, table[i].root, &c->err);
        expect_error(c, got, table[i].status, table[i].needle, NULL);
    }
    for (int r = 0; r < 2; ++r)
        whole[r] = make_tensor(c, dp_group_slot(group, r), DP_I64, 1, (size_t[]){3},
                               (double[]){1 + r, 2, 3});
    expect_error(c, dp_allreduce(group, whole, &c->err), DP_EINVAL, "of float", NULL);
    expect_ok(c, dp_broadcast(group, whole, 1, &c->err), "a broadcast of integers");
    expect_values(c, "root's", &whole[0], (double[]){2, 2, 3});
}

static void collective_calls_refused(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    const struct dp_tensor odd[] = {vector(c, group, 0, 3), vector(c, group, 1, 3)};
    const struct dp_tensor small[] = {vector(c, group, 0, 4), vector(c, group, 1, 4)};
    const struct dp_tensor large[] = {vector(c, group, 0, 8), vector(c, group, 1, 8)};
    const struct {
        enum dp_collective_kind kind;
        int root;
        const struct dp_tensor *in, *out;
        int status;
        const char *needle;
    } table[] = {
        {DP_COLLECTIVE_ALLREDUCE, 0, small, large, DP_ESHAPE, "allreduce of 4 elements to 8"},
        {DP_COLLECTIVE_ALLGATHER, 0, small, small, DP_ESHAPE, "allgather of 4 elements to 4"},
        {DP_COLLECTIVE_REDUCESCATTER, 0, small, large, DP_ESHAPE,
         "reducescatter of 4 elements to 8"},
        {DP_COLLECTIVE_ALLTOALL, 0, odd, odd, DP_ESHAPE, "alltoall of 3 elements to 3, on 2 ranks"},
        {DP_COLLECTIVE_ALLTOALL, 0, small, small, DP_EINVAL, "in place is not supported"},
        {DP_COLLECTIVE_BROADCAST, 2, small, small, DP_EINVAL, "root 2 of a broadcast"},
        {DP_COLLECTIVE_BROADCAST, -1, small, small, DP_EINVAL, "root -1"},
        {DP_COLLECTIVE_KINDS, 0, small, small, DP_EINVAL, "no collective 5: they are 0 to 4"},
    };
    const struct dp_collective_call unknown = {.kind = DP_COLLECTIVE_KINDS, .n = 1};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        const int got = dp_collective_run(group, table[i].kind, table[i].root, table[i].in,
                                          table[i].out, &c->err);
        expect_error(c, got, table[i].status, table[i].needle, NULL);
    }
    /* A communicator that was forgotten when a collective was added. */
    expect_error(c, dp_comm_collective(group, &unknown, &c->err), DP_ENOTSUP, "collective 5", NULL);
}

void collective_calls_bf16(struct context *c, int local)
{
    struct dp_group *group = open_group(c, local);
    const size_t three = 3, all = three * (size_t)dp_group_world(group);
    uint16_t values[3 * MOST_RANKS], got[3 * MOST_RANKS];
    struct dp_tensor in[MOST_RANKS], out[MOST_RANKS];
    for (size_t i = 0; i < all; ++i)
        values[i] = (uint16_t)(0x3f80 + 4099 * i);
    for (int r = 0; r < local; ++r) {
        in[r] = make_tensor(c, dp_group_slot(group, r), DP_BF16, 1, &three, NULL);
        out[r] = make_tensor(c, dp_group_slot(group, r), DP_BF16, 1, &all, NULL);
        expect_ok(c, dp_tensor_write(&in[r], &values[3 * (dp_group_first(group) + r)], &c->err),
                  "write");
    }
    expect_ok(c, dp_collective_run(group, DP_COLLECTIVE_ALLGATHER, 0, in, out, &c->err),
              "allgather");
    for (int r = 0; r < local; ++r) {
        expect_ok(c, dp_tensor_read(got, &out[r], &c->err), "read");
        expect(c, memcmp(got, values, all * sizeof *got) == 0, "rank %d has other numbers", r);
    }
    expect_error(c, dp_collective_run(group, DP_COLLECTIVE_ALLREDUCE, 0, in, in, &c->err),
                 DP_EINVAL, "bf16 cannot be summed: f32, f64, i32 and i64 can", NULL);
}

/* A communicator that moves bytes also moves bf16; sums and training refuse it. */
static void bf16(struct context *c)
{
    collective_calls_bf16(c, 2);
}

static const struct test_case cases[] = {
    {"collective_calls/each-communicator", "DDP-01", each_communicator},
    {"collective_calls/bf16", "DDP-01", bf16},
    {"collective_calls/refused", "ERR-07", collective_calls_refused},
    {"collective_calls/alone-refused", "ERR-07", alone_refused},
};
const struct case_table collective_calls_cases = {cases, sizeof cases / sizeof cases[0]};
