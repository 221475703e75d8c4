/* collectives.c: standalone collectives. Every communicator gives the bits of a sum in rank order,
 * and the order of the queues holds. A communicator that adds in another order gets integers, whose
 * sum is the same in any order. */
#include "list.h"

#include "ddp.h"

#include <math.h>
#include <string.h>

enum { MOST_RANKS = 5, MOST = 20011 };

struct tensors {
    struct dp_group *group;
    struct dp_tensor source[MOST_RANKS], work[MOST_RANKS], result[MOST_RANKS];
    const float *values[MOST_RANKS];
    int n;
};

static struct dp_tensor floats(struct context *c, struct dp_group *group, int r, size_t count)
{
    return make_tensor(c, dp_group_slot(group, r), DP_F32, 1, &count, NULL);
}

static const float *collectives_numbers(struct context *c, size_t count, int r, bool whole)
{
    float *values = case_memory(c, count * sizeof *values);
    const float *random = randoms(c, count, 100 + (uint64_t)r);
    for (size_t i = 0; i < count; ++i)
        values[i] = whole ? roundf(1000.0f * random[i]) : random[i];
    return values;
}

static void collectives_make(struct context *c, struct tensors *t, int n, size_t count, bool whole)
{
    t->group = open_group(c, n);
    t->n = n;
    for (int r = 0; r < n; ++r) {
        t->source[r] = floats(c, t->group, r, count);
        t->work[r] = floats(c, t->group, r, count);
        t->result[r] = floats(c, t->group, r, count);
        t->values[r] = collectives_numbers(c, count, r, whole);
        write_floats(c, &t->source[r], t->values[r]);
    }
}

/* Issues copies in the compute queues before the collective, and after it. */
static void bring(struct context *c, struct tensors *t, const struct dp_tensor from[],
                  const struct dp_tensor to[])
{
    for (int r = 0; r < t->n; ++r)
        expect_ok(c, dp_tensor_copy(&to[r], &from[r], &c->err), "dp_tensor_copy");
}

static void expect_all(struct context *c, struct tensors *t, const char *what, const float want[])
{
    bring(c, t, t->work, t->result);
    bring(c, t, t->source, t->work); /* too early, and the result has it */
    for (int r = 0; r < t->n; ++r)
        expect_bits(c, what, &t->result[r], want);
}

static void sums(struct context *c, struct tensors *t, size_t count)
{
    float *want = case_memory(c, count * sizeof *want);
    memcpy(want, t->values[0], count * sizeof *want);
    for (int r = 1; r < t->n; ++r)
        for (size_t i = 0; i < count; ++i)
            want[i] += t->values[r][i];
    for (int again = 0; again < 2; ++again) {
        bring(c, t, t->source, t->work);
        expect_ok(c, dp_allreduce(t->group, t->work, &c->err), "dp_allreduce");
        expect_all(c, t, "sum", want);
    }
}

static void copies(struct context *c, struct tensors *t)
{
    for (int root = 0; root < t->n; ++root) {
        bring(c, t, t->source, t->work);
        expect_ok(c, dp_broadcast(t->group, t->work, root, &c->err), "dp_broadcast");
        expect_all(c, t, "root's", t->values[root]);
    }
}

static void each_communicator(struct context *c)
{
    static const struct {
        int ranks;
        size_t count;
    } table[] = {{1, 3}, {2, 1}, {2, 4096}, {3, 7}, {4, 2}, {4, MOST}, {5, 1025}};
    struct dp_communicator_row row;
    struct dp_kind_row kind;
    expect(c, dp_kind_of(c->settings.gpus > 0 ? "cuda" : "virt", &kind), "no kind");
    for (int i = 0; dp_communicators(i, &row); ++i) {
        if (!row.built || (row.needs & ~kind.flags) != 0 || (row.can & DP_COMM_RANKS) == 0 ||
            (row.can & DP_COMM_TOGETHER) != 0)
            continue;
        const bool free_order = (row.can & DP_COMM_FREE_ORDER) != 0;
        c->settings.communicator = row.name;
        for (size_t k = 0; k < sizeof table / sizeof table[0]; ++k) {
            struct tensors tensors;
            if (free_order && table[k].ranks > c->settings.gpus)
                continue; /* one rank a GPU */
            case_release(c);
            case_note(c, "%s, %d ranks, %zu numbers", row.name, table[k].ranks, table[k].count);
            collectives_make(c, &tensors, table[k].ranks, table[k].count, free_order);
            sums(c, &tensors, table[k].count);
            copies(c, &tensors);
        }
    }
}

static void expect_refused(struct context *c, const struct tensors *t,
                           const struct dp_tensor tensor[], int root, int status,
                           const char *needle)
{
    const int got = root == 0 ? dp_allreduce(t->group, tensor, &c->err)
                              : dp_broadcast(t->group, tensor, root, &c->err);
    expect_error(c, got, status, needle, NULL);
}

static void collectives_refused(struct context *c)
{
    struct tensors t;
    collectives_make(c, &t, 2, 4, false);
    struct dp_tensor bad[] = {t.work[0], t.work[1]};
    expect_refused(c, &t, bad, 2, DP_EINVAL, "root 2 of a broadcast: there are ranks 0 to 1");
    expect_refused(c, &t, bad, -1, DP_EINVAL, "root -1");
    bad[1].slot = t.work[0].slot;
    expect_refused(c, &t, bad, 0, DP_EDEVICE, "tensor 1");
    bad[1] = (struct dp_tensor){.slot = NULL};
    expect_refused(c, &t, bad, 0, DP_EDEVICE, "no slot");
    bad[1] = floats(c, t.group, 1, 5);
    expect_refused(c, &t, bad, 0, DP_ESHAPE, "tensor 1");
    bad[0] = floats(c, t.group, 0, 0);
    bad[1] = floats(c, t.group, 1, 0);
    expect_refused(c, &t, bad, 0, DP_ESHAPE, "no elements");
    for (int r = 0; r < 2; ++r)
        bad[r] = make_tensor(c, dp_group_slot(t.group, r), DP_I64, 1, (size_t[]){3},
                             (double[]){1 + r, 2, 3});
    expect_refused(c, &t, bad, 0, DP_EINVAL, "of float");
    expect_ok(c, dp_broadcast(t.group, bad, 1, &c->err), "a broadcast of integers");
    expect_values(c, "root's", &bad[0], (double[]){2, 2, 3});
}

static const struct test_case cases[] = {
    {"collectives/each-communicator", "DDP-01", each_communicator},
    {"collectives/refused", "ERR-07", collectives_refused},
};
const struct case_table collectives_cases = {cases, sizeof cases / sizeof cases[0]};
