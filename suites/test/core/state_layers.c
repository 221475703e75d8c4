/* state_layers.c: layers with state or randomness under data_parallel: the buffers of batch
 * normalisation and the random streams of dropout. */
#include "list.h"

#include <math.h>

static struct dp_module *make_norm(struct context *c, struct dp_group *group, double momentum)
{
    struct dp_module *norm = NULL;
    return opened_module(c, dp_batch_norm(group, 1, 0.0, momentum, &norm, &c->err), &norm);
}

/* 10 rows on K = 4 leave a shard of one: an error that names the replica, and the next batch runs.
 */
static void one_row(struct context *c)
{
    struct dp_group *group = open_group(c, 4);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *norm = make_norm(c, group, 0.5);
    move_module(c, norm, slot);
    struct dp_module *top = make_parallel(c, norm, &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor ten = make_matrix(c, slot, 10, 1, sequence(c, 10, 1.0, 1.0));
    const struct dp_tensor eight = make_matrix(c, slot, 8, 1, sequence(c, 8, 1.0, 1.0));
    struct dp_tensor out[DP_MAX_IO];
    int n = 0;
    expect_error(c, dp_forward(top, run, &ten, 1, out, &n, &c->err), DP_EINVAL, "at least 2",
                 "replica 3");
    dp_run_reset(run);
    const struct dp_tensor y = forward(c, top, run, &eight);
    expect_values(c, "output", &y, (double[]){-1, 1, -1, 1, -1, 1, -1, 1});
    dp_run_train_mode(run, false);
    dp_run_reset(run);
    (void)forward(c, top, run, &ten);
}

static struct dp_module *make_dropout(struct context *c, struct dp_group *group, double p,
                                      uint64_t seed)
{
    struct dp_module *dropout = NULL;
    return opened_module(c, dp_dropout(group, p, seed, &dropout, &c->err), &dropout);
}

#define DRAWS 4096

/* The masks of one forward of ones: y is 0 or 2, the backward has the same mask. */
static const float *one_mask(struct context *c, struct dp_module *top, struct dp_run *run,
                             const struct dp_tensor *ones)
{
    const struct dp_tensor y = forward(c, top, run, ones);
    const float *mask = read_floats(c, &y);
    const struct dp_tensor dx = backward(c, top, run, ones);
    expect_bits(c, "gradient", &dx, mask);
    size_t kept = 0;
    for (size_t i = 0; i < DRAWS; ++i) {
        expect(c, mask[i] == 0.0f || mask[i] == 2.0f, "element %zu is %g", i, (double)mask[i]);
        kept += mask[i] == 2.0f;
    }
    /* 8 standard deviations, of 32 each: by chance once in 10^15. */
    expect(c, kept > DRAWS / 2 - 256 && kept < DRAWS / 2 + 256, "%zu of %d kept", kept, DRAWS);
    return mask;
}

static size_t state_layers_same(const float *a, const float *b, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; ++i)
        count += a[i] == b[i];
    return count;
}

enum { DROP_STEPS = 5 };

/* Two replicas have different masks, and so have two forwards; a run that starts anew draws the
 * same masks. Independent masks agree in half of their elements. */
static void streams(struct context *c)
{
    const float *mask[3] = {NULL};
    for (int k = 1; k <= 2; ++k) {
        struct dp_group *group = open_group(c, k);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_module *dropout = make_dropout(c, group, 0.5, 7);
        struct dp_module *top = make_parallel(c, dropout, &(struct dp_parallel_config){0});
        struct dp_tensor ones = make_matrix(c, slot, DRAWS, 1, sequence(c, DRAWS, 1.0, 0.0));
        ones.needs_grad = true;
        struct dp_run *run = open_run(c, group);
        case_note(c, "K=%d", k);
        mask[0] = one_mask(c, top, run, &ones);
        dp_run_reset(run);
        mask[1] = one_mask(c, top, run, &ones);
        const size_t equal = state_layers_same(mask[0], mask[1], DRAWS);
        expect(c, equal > DRAWS / 2 - 256 && equal < DRAWS / 2 + 256, "%zu equal", equal);
        if (k == 1) {
            mask[2] = one_mask(c, top, open_run(c, group), &ones);
            expect(c, state_layers_same(mask[0], mask[2], DRAWS) == DRAWS,
                   "a new run has another stream");
            continue;
        }
        const size_t halves = state_layers_same(mask[0], mask[0] + DRAWS / 2, DRAWS / 2);
        expect(c, halves > DRAWS / 4 - 256 && halves < DRAWS / 4 + 256, "replicas: %zu", halves);
        expect(c, state_layers_same(mask[2], mask[0], DRAWS / 2) == DRAWS / 2,
               "device 0 has another stream");
    }
}

/* Two calls of the function, and two wrapped blocks of a model, have different masks, as the layer
 * has without devices: the run counts the draws of all its replicas. */
static void shared_run(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct dp_group *group = open_group(c, k);
        struct dp_module *dropout = make_dropout(c, group, 0.5, 7);
        const struct dp_tensor ones =
            make_matrix(c, dp_group_slot(group, 0), DRAWS, 1, sequence(c, DRAWS, 1.0, 0.0));
        struct dp_run *run = open_run(c, group);
        struct dp_slot *slots[3];
        const float *mask[4];
        for (int i = 0; i < k; ++i)
            slots[i] = dp_group_slot(group, i);
        for (int i = 0; i < 2; ++i) {
            struct dp_tensor out[DP_MAX_IO];
            struct dp_module *call = NULL;
            int n_out = 0;
            (void)opened_module(c,
                                dp_data_parallel(dropout, run, slots, k, NULL, 0, &ones, 1, out,
                                                 &n_out, &call, &c->err),
                                &call);
            mask[i] = read_floats(c, &out[0]);
        }
        for (int i = 2; i < 4; ++i) {
            const struct dp_tensor y =
                forward(c, make_parallel(c, dropout, &(struct dp_parallel_config){0}), run, &ones);
            mask[i] = read_floats(c, &y);
        }
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < i; ++j) {
                const size_t equal = state_layers_same(mask[i], mask[j], DRAWS);
                expect(c, equal > DRAWS / 2 - 256 && equal < DRAWS / 2 + 256,
                       "masks %d and %d: %zu equal", j, i, equal);
            }
        }
    }
}

/* Runs steps of K replicas with dropout between two layers. Returns the launches of the last step,
 * and in out the output of each. */
static struct dp_launches drop_steps(struct context *c, int k, bool graphs, const float *out[])
{
    c->settings.no_graphs = !graphs;
    struct dp_group *group = open_group(c, k);
    struct dp_module *layers[] = {make_relu(c, group), make_dropout(c, group, 0.5, 7),
                                  make_relu(c, group)};
    struct dp_module *model = make_sequential(c, group, layers, 3);
    struct dp_module *top = make_parallel(c, model, &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    struct dp_tensor x = make_matrix(c, dp_group_slot(group, 0), 64, 3, sequence(c, 192, 1.0, 1.0));
    struct dp_launches before, after;
    x.needs_grad = true;
    for (int step = 0; step < DROP_STEPS; ++step) {
        dp_group_launches(group, &before);
        dp_run_reset(run);
        const struct dp_tensor y = forward(c, top, run, &x);
        out[2 * step] = read_floats(c, &y);
        const struct dp_tensor dx = backward(c, top, run, &x);
        out[2 * step + 1] = read_floats(c, &dx);
        dp_group_launches(group, &after);
    }
    c->settings.no_graphs = false;
    return (struct dp_launches){.single = after.single - before.single,
                                .graphs = after.graphs - before.graphs,
                                .captured = after.captured - before.captured};
}

/* A new key in each step does not change the list of launches: steady steps are graphs, one each
 * for forward and backward. The key of each replica and the two reads of the test are launched in
 * addition. The bits are those of single launches. */
static void graphs(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        const float *with[2 * DROP_STEPS], *without[2 * DROP_STEPS];
        const struct dp_launches d = drop_steps(c, k, true, with);
        (void)drop_steps(c, k, false, without);
        const uint64_t replicas = c->settings.gpus > 0 ? (uint64_t)k : 0;
        const uint64_t single = c->settings.gpus > 0 ? replicas + 2 : 0;
        expect(c, d.graphs == 2 * replicas && d.captured == 0 && d.single == single,
               "%llu graphs, %llu captured, %llu single", (unsigned long long)d.graphs,
               (unsigned long long)d.captured, (unsigned long long)d.single);
        for (int i = 0; i < 2 * DROP_STEPS; ++i) {
            expect(c, state_layers_same(with[i], without[i], 192) == 192,
                   "step %d has another mask", i / 2);
            expect(c, i < 2 || state_layers_same(with[i], with[i - 2], 192) < 192,
                   "step %d has the same mask", i / 2);
        }
    }
}

static void edges(struct context *c)
{
    struct dp_group *group = open_group(c, 1);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_run *run = open_run(c, group);
    const double *data = sequence(c, 64, -3.0, 0.25);
    struct dp_tensor x = make_matrix(c, slot, 8, 8, data);
    x.needs_grad = true;
    const struct dp_tensor none = forward(c, make_dropout(c, group, 0.0, 1), run, &x);
    expect_values(c, "p = 0", &none, data);
    const struct dp_tensor all = forward(c, make_dropout(c, group, 1.0, 1), run, &x);
    expect_values(c, "p = 1", &all, sequence(c, 64, 0.0, 0.0));
    struct dp_module *half = make_dropout(c, group, 0.5, 1), *bad = NULL;
    dp_run_reset(run);
    dp_run_train_mode(run, false);
    const struct dp_tensor y = forward(c, half, run, &x);
    expect_values(c, "eval", &y, data);
    const struct dp_tensor dx = backward(c, half, run, &x);
    expect_values(c, "eval, gradient", &dx, data);
    expect_error(c, dp_dropout(group, 1.5, 1, &bad, &c->err), DP_EINVAL, "1.5", NULL);
    expect_error(c, dp_dropout(group, (double)NAN, 1, &bad, &c->err), DP_EINVAL, "nan", NULL);
    expect_error(c, dp_batch_norm(group, 0, 0.0, 0.1, &bad, &c->err), DP_EINVAL, "(0, ", NULL);
}

static const struct test_case cases[] = {
    {"state/batch-norm-one-row", "BUF-08 APPLY-10 APPLY-12", one_row},
    {"state/dropout-streams", "BUF-11", streams},
    {"state/dropout-shared-run", "BUF-11", shared_run},
    {"state/dropout-graphs", "BUF-11", graphs},
    {"state/dropout-edges", "BUF-11", edges},
};
const struct case_table state_cases = {cases, sizeof cases / sizeof *cases};
