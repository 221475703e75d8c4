/* clip.c: gradients are clipped by the norm of all of them, after they were summed; and gradients
 * accumulate over micro-batches. */
#include "golden.h"
#include "list.h"
#include "optimizer.h"

#include <math.h>

static void close_clip(void *object)
{
    dp_clip_close(object);
}

struct dp_clip *open_clip(struct context *c, struct dp_module *module)
{
    struct dp_clip *clip = NULL;
    expect_ok(c, dp_clip_open(module, &clip, &c->err), "dp_clip_open");
    own(c, close_clip, clip);
    return clip;
}

static double clip_to(struct context *c, struct dp_clip *clip, double max_norm)
{
    double norm = -1.0, again = -1.0;
    expect_ok(c, dp_clip_grads(clip, max_norm, &norm, &c->err), "dp_clip_grads");
    expect_ok(c, dp_clip_norm(clip, &again, &c->err), "dp_clip_norm");
    expect(c, isnan(norm) ? isnan(again) : again == norm, "a norm of %g, and then %g", norm, again);
    return norm;
}

TORCH_LAYER(clip)
{
    struct dp_group *group = open_group(c, 1);
    struct dp_module *linear = make_linear(c, group, 3, 5, true);
    move_module(c, linear, dp_group_slot(group, 0));
    for (int i = 0; i < 2; ++i) {
        write_values(c, &param_at(c, linear, i)->grad,
                     optimizer_tensor(c, layer, "d", i, "")->value);
        param_at(c, linear, i)->has_grad = true;
    }
    const double norm = clip_to(c, open_clip(c, linear), layer->number[0]);
    const struct torch_tensor *want = torch_find(c, layer, "norm");
    expect(c, fabs(norm - want->value[0]) <= want->bound[0], "norm %.17g, want %.17g", norm,
           want->value[0]);
    for (int i = 0; i < 2; ++i) {
        const struct torch_tensor *after = optimizer_tensor(c, layer, "", i, "_after");
        expect_within(c, optimizer_names[i], &param_at(c, linear, i)->grad, after->value,
                      after->bound);
    }
}

/* Adds in the order of kernels.h, also over more than one chunk. */
static double sum_of_squares(const float x[], size_t n)
{
    enum { CHUNK = 65536, LANES = 256 };
    double sum = 0.0;
    for (size_t first = 0; first < n; first += CHUNK) {
        double lane[LANES] = {0.0};
        for (size_t i = first; i < n && i < first + CHUNK; ++i)
            lane[i % LANES] += (double)x[i] * (double)x[i];
        for (size_t half = LANES / 2; half > 0; half /= 2)
            for (size_t l = 0; l < half; ++l)
                lane[l] += lane[l + half];
        sum += lane[0];
    }
    return sum;
}

static void clip_bits(struct context *c)
{
    static const size_t sizes[] = {1, 255, 256, 257, 1000, 65536, 65537};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        const size_t n = sizes[k];
        case_release(c);
        case_note(c, "n=%zu", n);
        struct dp_group *group = open_group(c, 1);
        struct dp_module *linear = make_linear(c, group, 1, n, false);
        struct dp_param *weight = param_at(c, linear, 0);
        move_module(c, linear, dp_group_slot(group, 0));
        const float *grad = randoms(c, n, k);
        write_floats(c, &weight->grad, grad);
        weight->has_grad = true;
        struct dp_clip *clip = open_clip(c, linear);
        const double norm = sqrt(sum_of_squares(grad, n));
        expect(c, clip_to(c, clip, (double)INFINITY) == norm, "norm");
        expect_bits(c, "gradient", &weight->grad, grad);
        expect(c, clip_to(c, clip, 0.3) == norm, "norm, a second time");
        const float factor = norm + 1e-6 > 0.3 ? (float)(0.3 / (norm + 1e-6)) : 1.0f;
        float *want = case_memory(c, n * sizeof *want);
        for (size_t i = 0; i < n; ++i)
            want[i] = grad[i] * factor;
        expect_bits(c, "clipped gradient", &weight->grad, want);
    }
}

/* The sums over all replicas are clipped, 55 and 10, not the gradients of each; a tied parameter
 * counts once. */
static void clip_of_sums(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        struct golden g;
        case_release(c);
        case_note(c, "K=%d", k);
        golden_open(c, &g, k);
        struct dp_module *twice =
            make_sequential(c, g.group, (struct dp_module *[]){g.wrapper, g.wrapper}, 2);
        struct dp_clip *clip = open_clip(c, twice);
        expect(c, clip_to(c, clip, 1.0) == 0.0, "a norm of no gradients");
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        (void)forward(c, g.wrapper, g.run, &x);
        (void)backward(c, g.wrapper, g.run, NULL);
        const double norm = sqrt(55.0 * 55.0 + 10.0 * 10.0);
        expect(c, clip_to(c, clip, 100.0) == norm, "norm");
        golden_expect_grads(c, &g, 55.0, 10.0);
        expect(c, clip_to(c, clip, 1.0) == norm, "norm");
        const float factor = (float)(1.0 / (norm + 1e-6));
        golden_expect_grads(c, &g, (double)(55.0f * factor), (double)(10.0f * factor));
        g.bias->frozen = true;
        give_grad(c, g.weight, -3.0);
        expect(c, clip_to(c, clip, 3.0) == 3.0, "norm of one");
    }
}

static void clip_refused(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *const layers[] = {make_linear(c, group, 1, 1, false),
                                        make_linear(c, group, 1, 1, false)};
    struct dp_module *both = make_sequential(c, group, layers, 2);
    struct dp_clip *clip = open_clip(c, both);
    double norm = 7.0;
    for (int i = 0; i < 2; ++i) {
        move_module(c, layers[i], dp_group_slot(group, i));
        give_grad(c, param_at(c, layers[i], 0), 4.0);
    }
    expect_error(c, dp_clip_grads(clip, 1.0, &norm, &c->err), DP_EDEVICE,
                 dp_slot_name(dp_group_slot(group, 0)), dp_slot_name(dp_group_slot(group, 1)));
    expect_error(c, dp_clip_grads(clip, (double)NAN, &norm, &c->err), DP_EINVAL, "nan",
                 "0 or more");
    expect(c, norm == 7.0, "a norm was set");
    param_at(c, layers[0], 0)->has_grad = false;
    expect(c, clip_to(c, clip, 2.0) == 4.0, "norm of the other");
    give_grad(c, param_at(c, layers[1], 0), (double)NAN);
    expect(c, isnan(clip_to(c, clip, 2.0)), "norm of NaN");
    expect(c, isnan(read_floats(c, &param_at(c, layers[1], 0)->grad)[0]), "NaN was clipped");
}

static double clip_ranks(struct context *c, struct ranks *ranks, double max_norm)
{
    double norm = -1.0;
    expect_ok(c, dp_ddp_clip_grads(ranks->ddp, max_norm, NULL, &c->err), "dp_ddp_clip_grads");
    expect_ok(c, dp_ddp_clip_norm(ranks->ddp, &norm, &c->err), "dp_ddp_clip_norm");
    return norm;
}

/* The mean is clipped, not the gradients of the ranks: 6 and -2 make 2; after 30 and 10 the mean is
 * clipped to a norm of 1. The gradient of a rank without a batch is not clipped. */
static void clip_of_means(struct context *c)
{
    const struct ranks_batch apart = {{1, 1}, {{6}, {-2}}, {1, 1}};
    struct ranks_batch batch = {{1, 1}, {{30}, {10}}, {1, 1}};
    struct ranks ranks;
    ranks_line(c, &ranks, 2, NULL);
    expect(c, clip_ranks(c, &ranks, 4.0) == 0.0, "a norm of no gradients");
    ranks_pass(c, &ranks, &apart);
    expect(c, clip_ranks(c, &ranks, 4.0) == sqrt(2.0 * 2.0 + 1.0), "norm of the mean");
    ranks_expect_all(c, &ranks, 0, true, 2.0);
    dp_ddp_zero_grad(ranks.ddp);
    ranks_pass(c, &ranks, &batch);
    const double norm = sqrt(20.0 * 20.0 + 1.0);
    const float factor = (float)(1.0 / (norm + 1e-6));
    expect(c, clip_ranks(c, &ranks, 1.0) == norm, "norm of the mean");
    ranks_expect_all(c, &ranks, 0, true, (double)(20.0f * factor));
    ranks_expect_all(c, &ranks, 1, true, (double)factor);
    ranks_equal(c, &ranks);
    dp_ddp_zero_grad(ranks.ddp);
    batch.rows[0] = 0;
    ranks_pass(c, &ranks, &batch);
    ranks_write(c, &ranks, 0, 0, true, 64.0);
    expect(c, clip_ranks(c, &ranks, 1.0) == sqrt(25.0 + 0.25), "norm of the active rank");
    ranks_expect(c, &ranks, 0, 0, true, 64.0);
    const struct dp_adamw_config config = dp_adamw_defaults();
    adamw_ranks(c, &ranks, &config);
    ranks_expect(c, &ranks, 0, 0, false, 2.0);
    ranks_expect(c, &ranks, 0, 1, false, 1.0);
}

/* ---- accumulation ------------------------------------------------------------------------ */

/* Returns rows 1, 2, ... of one big batch: the part of micro-batch a that rank r gets. */
static struct ranks_batch micro_batch(int ranks, int micros, int a)
{
    struct ranks_batch batch = {.rows = {0}};
    for (int r = 0; r < ranks; ++r) {
        batch.rows[r] = 1;
        batch.x[r][0] = 1.0 + a * ranks + r;
        batch.g[r] = 1.0 / micros;
    }
    return batch;
}

/* There are A micro-batches, all but the last in no_sync, each divided by A: the result is the
 * gradient of the mean over all their rows. After clipping and a step the bits are those of one
 * device with the big batch. */
static void accumulation(struct context *c)
{
    const struct dp_adamw_config config = {0.25, 0.5, 0.75, 0.125, 0.5};
    for (int i = 0; i < 9; ++i) {
        const int n = 1 << i % 3, micros = 1 << i / 3, rows = n * micros;
        struct ranks ranks;
        case_release(c);
        case_note(c, "%d ranks, %d micro-batches", n, micros);
        ranks_line(c, &ranks, n, NULL);
        struct plain weight = open_plain(c, (float[]){2.0f}, 1);
        for (int t = 0; t < 3; ++t) {
            for (int a = 0; a < micros; ++a) {
                const struct ranks_batch batch = micro_batch(n, micros, a);
                dp_ddp_no_sync(ranks.ddp, a + 1 < micros);
                ranks_pass(c, &ranks, &batch);
                for (int r = 0; a == 0 && micros > 1 && r < n; ++r)
                    ranks_expect(c, &ranks, r, 0, true, batch.x[r][0] / micros);
            }
            const double mean = 0.5 * (1 + rows); /* of the rows: dy/dw is x */
            ranks_expect_all(c, &ranks, 0, true, mean);
            ranks_expect_all(c, &ranks, 1, true, 1.0);
            const double norm = sqrt(mean * mean + 1.0);
            expect(c, clip_ranks(c, &ranks, 1.0) == norm, "norm");
            const float grad = (float)mean * (float)(1.0 / (norm + 1e-6));
            plain_step(&weight, &config, &grad);
            adamw_ranks(c, &ranks, &config);
            ranks_expect_all(c, &ranks, 0, false, (double)weight.value[0]);
            ranks_equal(c, &ranks);
        }
    }
}

static const struct test_case cases[] = {
    {"clip/as-torch", "", torch_clip},
    {"clip/bits", "DET-01", clip_bits},
    {"clip/of-sums", "GRAD-01 REPL-09", clip_of_sums},
    {"clip/refused", "", clip_refused},
    {"clip/of-means", "DDP-01 DDP-19", clip_of_means},
    {"clip/accumulation", "DDP-16 DDP-17", accumulation},
};
const struct case_table clip_cases = {cases, sizeof cases / sizeof cases[0]};
