/* graphs_training.c: whole trainings, with loss and update. With CUDA graphs they give the bits
 * that single launches give, and a new learning rate needs no new graph. */
#include "list.h"
#include "optimizer.h"

#include <string.h>

#define WIDE 8

/* Three layers and a loss, with numbers that are not exact: their results are compared after the
 * training. */
struct training {
    struct dp_group *group;
    struct dp_module *model, *wrapper, *loss;
    struct dp_run *run;
    struct dp_tensor x, target;
    float loss_of[8];
    const float *weights[6];
    struct dp_sgd *sgd;
    struct dp_adamw *adamw; /* NULL: SGD; else with clipping */
    struct dp_clip *clip;
};

static void open_training(struct context *c, struct training *t, int k)
{
    t->group = open_group(c, k);
    struct dp_slot **slots = first_slots(c, t->group, k);
    struct dp_module *const layers[] = {
        make_linear(c, t->group, 5, WIDE, true), make_tanh(c, t->group),
        make_linear(c, t->group, WIDE, WIDE, true), make_relu(c, t->group),
        make_linear(c, t->group, WIDE, 2, true)};
    t->model = make_sequential(c, t->group, layers, 5);
    expect_ok(c, dp_module_init(t->model, 3, &c->err), "dp_module_init");
    move_module(c, t->model, slots[0]);
    t->wrapper = make_parallel(c, t->model, &(struct dp_parallel_config){0});
    t->loss = make_loss(c, t->group, DP_LOSS_MSE, 1.0f, true);
    t->run = open_run(c, t->group);
    t->x = make_tensor(c, slots[0], DP_F32, 2, (size_t[]){30, 5}, NULL);
    t->target = make_tensor(c, slots[0], DP_F32, 2, (size_t[]){30, 2}, NULL);
    write_floats(c, &t->x, randoms(c, 150, 1));
    write_floats(c, &t->target, randoms(c, 60, 2));
}

static void update(struct context *c, struct training *t, float rate)
{
    if (!t->adamw) {
        dp_sgd_set_rate(t->sgd, rate);
        expect_ok(c, dp_sgd_step(t->sgd, &c->err), "dp_sgd_step");
        return;
    }
    dp_adamw_set_rate(t->adamw, (double)rate);
    expect_ok(c, dp_clip_grads(t->clip, 0.25, NULL, &c->err), "dp_clip_grads");
    expect_ok(c, dp_adamw_step(t->adamw, &c->err), "dp_adamw_step");
}

static void training_step(struct context *c, struct training *t, float rate, float *loss)
{
    struct dp_tensor in[2], out[DP_MAX_IO], grad[2];
    int n = 0;
    dp_run_reset(t->run);
    dp_zero_grad(t->model);
    in[0] = forward(c, t->wrapper, t->run, &t->x);
    in[1] = t->target;
    expect_ok(c, dp_forward(t->loss, t->run, in, 2, out, &n, &c->err), "dp_forward");
    expect_ok(c, dp_tensor_read(loss, &out[0], &c->err), "dp_tensor_read");
    expect_ok(c, dp_backward(t->loss, t->run, NULL, 0, grad, 2, &c->err), "dp_backward");
    expect_ok(c, dp_backward(t->wrapper, t->run, grad, 1, NULL, 0, &c->err), "dp_backward");
    update(c, t, rate);
}

enum { PLAIN, MOMENTUM, ADAMW, WAYS };

static void open_way(struct context *c, struct training *t, int way)
{
    const struct dp_adamw_config config = dp_adamw_defaults();
    t->adamw = way == ADAMW ? open_adamw(c, t->model, &config) : NULL;
    t->clip = way == ADAMW ? open_clip(c, t->model) : NULL;
    t->sgd = way == ADAMW ? NULL : open_sgd(c, t->model, 0.125f, 0.5f * (float)way, 0.01f);
}

/* Runs eight steps; the learning rate changes after the fifth. */
static void graphs_training_train(struct context *c, struct training *t, int k, int way)
{
    struct dp_launches l;
    open_training(c, t, k);
    open_way(c, t, way);
    for (int step = 0; step < 8; ++step)
        training_step(c, t, step < 5 ? 0.125f : 0.3f, &t->loss_of[step]);
    for (int i = 0; i < 6; ++i)
        t->weights[i] = read_floats(c, &param_at(c, t->model, i)->value);
    dp_group_launches(t->group, &l);
    const bool on = c->settings.gpus > 0 && !c->settings.no_graphs;
    expect(c, on ? l.graphs > 0 : l.graphs == 0, "%llu graphs", (unsigned long long)l.graphs);
}

/* Training with graphs gives the same bits as without, and the same losses on the way. */
static void graphs_training_bits(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        for (int way = 0; way < WAYS; ++way) {
            case_release(c);
            case_note(c, "K=%d way %d", k, way);
            struct training with, without;
            c->settings.no_graphs = true;
            graphs_training_train(c, &without, k, way);
            c->settings.no_graphs = false;
            graphs_training_train(c, &with, k, way);
            expect(c, memcmp(with.loss_of, without.loss_of, sizeof with.loss_of) == 0,
                   "the losses differ: %g and %g at last", (double)with.loss_of[7],
                   (double)without.loss_of[7]);
            expect(c, with.loss_of[7] < with.loss_of[0], "nothing was learnt");
            for (int i = 0; i < 6; ++i)
                expect_bits(c, "parameter", &param_at(c, with.model, i)->value, without.weights[i]);
        }
    }
}

/* A new learning rate in each step needs no new graph. There is one graph for the update, with
 * AdamW one for clipping, and one each for forward, the loss's backward and backward of three
 * replicas. */
static void rates(struct context *c)
{
    for (int way = MOMENTUM; way < WAYS; ++way) {
        struct training t;
        struct dp_launches before, after;
        float loss;
        case_release(c);
        case_note(c, "way %d", way);
        open_training(c, &t, 3);
        open_way(c, &t, way);
        for (int step = 0; step < 8; ++step) {
            dp_group_launches(t.group, &before);
            training_step(c, &t, 0.01f * (float)(step + 1), &loss);
            dp_group_launches(t.group, &after);
        }
        const uint64_t graphs = after.graphs - before.graphs, want = c->settings.gpus == 0 ? 0
                                                                     : way == ADAMW        ? 9
                                                                                           : 8;
        expect(c, graphs == want && after.captured == want, "%llu graphs of %llu, want %llu",
               (unsigned long long)graphs, (unsigned long long)after.captured,
               (unsigned long long)want);
    }
}

/* The same with ranks: each step has another rate and the same graphs; two of them are clipping and
 * the update. */
static void rates_of_ranks(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{30}, {10}}, {1, 1}};
    struct dp_adamw_config config = dp_adamw_defaults();
    struct dp_launches before, after;
    struct ranks ranks;
    ranks_line(c, &ranks, 2, NULL);
    for (int step = 0; step < 6; ++step) {
        ranks_pass(c, &ranks, &batch);
        dp_group_launches(ranks.group, &before);
        config.lr *= 0.5;
        expect_ok(c, dp_ddp_clip_grads(ranks.ddp, 1.0, NULL, &c->err), "dp_ddp_clip_grads");
        adamw_ranks(c, &ranks, &config);
        dp_group_launches(ranks.group, &after);
    }
    const uint64_t graphs = after.graphs - before.graphs, want = c->settings.gpus > 0 ? 4 : 0;
    expect(c, graphs == want && after.captured == before.captured, "%llu graphs, want %llu",
           (unsigned long long)graphs, (unsigned long long)want);
    ranks_equal(c, &ranks);
}

static const struct test_case cases[] = {
    {"graphs/rates", "GRAD-17", rates},
    {"graphs/rates-of-ranks", "GRAD-17", rates_of_ranks},
    {"graphs/bits", "GRAD-17 DET-01", graphs_training_bits},
};
const struct case_table graphs_training_cases = {cases, sizeof cases / sizeof cases[0]};
