/* ddp_training.c: cases of area DDP: the mean over the ranks, how exact it is, and equal
 * parameters. */
#include "ddp.h"
#include "golden.h"
#include "gpt.h"

#include <math.h>

static const char affine[] = DDP_MODEL(DDP_AFFINE);

/* ---- DDP-01: the mean ------------------------------------------------------------------------ */

/* With three ranks the numbers are threes times powers of two: a third of them is exact after
 * rounding. */
static void ddp_mean_known(struct check *c)
{
    static const struct {
        int ranks;
        double x[DDP_MOST], mean;
    } known[] = {{2, {1, 10}, 5.5},
                 {3, {3, 12, 96}, 37},
                 {4, {0, 1, 2, 3}, 1.5},
                 {4, {-7, 5, 100, 3}, 25.25}};

    for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
        struct impl_model *model = check_ddp_model(c, known[k].ranks, affine);

        for (int turn = 1; turn <= 3; ++turn) {
            struct ddp_call call = ddp_rows(c, known[k].ranks, known[k].x);

            check_note(c, "setting %zu, step %d: ", k, turn);
            for (int r = 0; r < call.ranks; ++r)
                call.g[r][0] = check_vector(c, 1, (const double[]){turn});
            ddp_fresh_pass(c, model, &call);
            ddp_grads_are(c, model, call.ranks, turn * known[k].mean, turn);
        }
        check_model_close(c, model);
    }
}

static void ddp_mean_steps(struct check *c, int ranks)
{
    const double lr = 0.125, momentum = 0.5;
    struct impl_model *model = check_ddp_model(c, ranks, affine);
    double weight = 2, bias = 1, velocity[2] = {0, 0};

    for (uint64_t turn = 0; turn < 3; ++turn) {
        struct ddp_batch batch[DDP_MOST];
        struct ddp_call call;
        double sum[2] = {0, 0};

        check_note(c, "R=%d, step %d: ", ranks, (int)turn);
        ddp_batches(c, ranks, turn, batch);
        call = ddp_call_of(c, ranks, batch);
        for (int r = 0; r < ranks; ++r) {
            sum[0] += batch[r].weight;
            sum[1] += batch[r].bias;
        }
        ddp_fresh_pass(c, model, &call);
        /* Checks the output and the input gradient of each rank: y = weight x + bias. */
        for (int r = 0; r < call.ranks; ++r) {
            const size_t n = batch[r].n;
            double y[DDP_MOST], dx[DDP_MOST];

            for (size_t i = 0; i < n; ++i) {
                y[i] = weight * batch[r].x[i] + bias;
                dx[i] = weight * batch[r].g[i];
            }
            check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], n, y);
            check_values(c, check_text(c, "input gradient of rank %d", r), call.grad_in[r][0], n,
                         dx);
        }
        ddp_grads_are(c, model, ranks, sum[0] / ranks, sum[1] / ranks);
        check_step(c, model, (float)lr, (float)momentum);
        for (int p = 0; p < 2; ++p)
            velocity[p] = momentum * velocity[p] + sum[p] / ranks;
        weight -= lr * velocity[0];
        bias -= lr * velocity[1];
        ddp_all_is(c, model, ranks, IMPL_VALUE, 0, weight);
        ddp_all_is(c, model, ranks, IMPL_VALUE, 1, bias);
    }
}

/* Makes one turn of the network: each rank has another batch, and the weights are those of seed
 * 7. */
static void network_turn(struct check *c, struct impl_model *model, int ranks, uint64_t turn)
{
    struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};
    struct golden_net net[DDP_MOST];

    for (int r = 0; r < ranks; ++r) {
        const size_t n = (size_t)(1 + (3 * r + (int)turn) % DDP_MOST);

        golden_net_batch(c, &net[r], n, 7, check_seed(c) + 16 * turn + (uint64_t)r + 100);
        call.in[r][0] = check_needs_grad(check_array(c, 2, (const size_t[]){n, NET_IN}, net[r].x));
        call.g[r][0] = check_array(c, 2, (const size_t[]){n, NET_OUT}, net[r].g);
    }
    ddp_fresh_pass(c, model, &call);
    for (int p = 0; p < NET_PARAMS; ++p) {
        double mean[NET_IN * NET_MID + NET_MID * NET_OUT] = {0};

        for (int r = 0; r < ranks; ++r)
            for (size_t e = 0; e < golden_net_size[p]; ++e)
                mean[e] += net[r].grad[p][e] / ranks;
        ddp_all_are(c, model, ranks, IMPL_GRAD, p, golden_net_size[p], mean);
    }
    for (int r = 0; r < ranks; ++r) {
        check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], net[r].n * NET_OUT,
                     net[r].y);
        check_values(c, check_text(c, "input gradient of rank %d", r), call.grad_in[r][0],
                     net[r].n * NET_IN, net[r].dx);
    }
}

static void ddp_mean_network(struct check *c, int ranks)
{
    struct golden_net net;
    golden_net_batch(c, &net, 1, 7, 1);

    struct impl_model *model =
        check_ddp_model(c, ranks, check_text(c, DDP_MODEL("%s"), golden_net_layers(c, &net)));

    for (uint64_t turn = 0; turn < 3; ++turn) {
        check_note(c, "R=%d, step %d: ", ranks, (int)turn);
        network_turn(c, model, ranks, turn);
    }
}

/* There is more than one bucket after the buckets are formed anew: the second weight is as large as
 * the first limit, and the parameters before it come after that. All weights are ones, so every
 * gradient has one value. */
static void ddp_mean_large(struct check *c)
{
    enum { WIDTH = 512, RANKS = 2 };
    static const double x[RANKS] = {3, 8};
    struct impl_model *model =
        check_ddp_model(c, RANKS,
                        DDP_MODEL("{\"kind\":\"linear\",\"in\":1,\"out\":512},"
                                  "{\"kind\":\"linear\",\"in\":512,\"out\":512}"));
    const double *ones = check_sequence(c, (size_t)WIDTH * WIDTH, 1, 0);

    for (int r = 0; r < RANKS; ++r) {
        ddp_set(c, model, r, IMPL_VALUE, 0, ones);
        ddp_set(c, model, r, IMPL_VALUE, 2, ones);
    }
    for (int turn = 1; turn <= 3; ++turn) {
        struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1};
        double sum[RANKS], mean[2] = {0, 0}; /* of the sums of the inputs, and of the rows */

        check_note(c, "step %d: ", turn);
        for (int r = 0; r < RANKS; ++r) {
            const size_t n = (size_t)turn + (size_t)r;

            sum[r] = (double)n * x[r];
            mean[0] += sum[r] / RANKS;
            mean[1] += (double)n / RANKS;
            call.in[r][0] = check_counted(c, n, x[r], 0);
        }
        ddp_fresh_pass(c, model, &call);
        ddp_all_are(c, model, RANKS, IMPL_GRAD, 0, WIDTH,
                    check_sequence(c, WIDTH, WIDTH * mean[0], 0));
        ddp_all_are(c, model, RANKS, IMPL_GRAD, 1, WIDTH,
                    check_sequence(c, WIDTH, WIDTH * mean[1], 0));
        ddp_all_are(c, model, RANKS, IMPL_GRAD, 2, (size_t)WIDTH * WIDTH,
                    check_sequence(c, (size_t)WIDTH * WIDTH, mean[0], 0));
        ddp_all_are(c, model, RANKS, IMPL_GRAD, 3, WIDTH, check_sequence(c, WIDTH, mean[1], 0));
    }
}

/* ---- DDP-05: each rank multiplies by 1/R first ----------------------------------------------- */

/* Gradients have as many bits as a mean of equal ones keeps exactly; no bit may be lost on the
 * way. */
static void ddp_mean_exact(struct check *c, int ranks)
{
    const double most = ranks == 2 ? 16777215 : 4194303; /* 24 and 22 bits */
    const double equal[] = {1, 2, 3, 7, most, -most, most * ldexp(1, -40)};
    struct impl_model *model = check_ddp_model(c, ranks, affine);

    for (size_t k = 0; k < sizeof equal / sizeof equal[0]; ++k) {
        double x[DDP_MOST];
        struct ddp_call call;

        check_note(c, "R=%d, %.9g everywhere: ", ranks, equal[k]);
        for (int r = 0; r < ranks; ++r)
            x[r] = equal[k];
        call = ddp_rows(c, ranks, x);
        ddp_fresh_pass(c, model, &call);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 0, equal[k]);
    }
}

/* The mean fits in a float, but the sum does not. */
static void ddp_mean_range(struct check *c)
{
    const double top = ldexp(1, 127);
    const struct {
        int ranks;
        double x[DDP_MOST], mean;
    } rows[] = {
        {2, {top, top}, top},
        {2, {top, 1.5 * top}, 1.25 * top},
        {4, {top, top, top, top}, top},
        {4, {-top, -top, -top, 1}, -0.75 * top},
        {4, {top, 1, 2, 1.5 * top}, 0.625 * top},
    };

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        struct impl_model *model = check_ddp_model(
            c, rows[k].ranks, DDP_MODEL("{\"kind\":\"affine\",\"weight\":[1],\"bias\":[0]}"));

        for (int turn = 0; turn < 2; ++turn) {
            struct ddp_call call = ddp_rows(c, rows[k].ranks, rows[k].x);

            check_note(c, "setting %zu, step %d: ", k, turn);
            ddp_fresh_pass(c, model, &call);
            ddp_grads_are(c, model, call.ranks, rows[k].mean, 1);
        }
        check_model_close(c, model);
    }
}

/* A gradient that is not finite on one rank is so on all ranks: code that scales a loss tests for
 * that. */
static void ddp_mean_infinite(struct check *c, int ranks)
{
    static const double top = (double)INFINITY;
    struct impl_model *model =
        check_ddp_model(c, ranks, DDP_MODEL("{\"kind\":\"affine\",\"weight\":[1],\"bias\":[0]}"));

    for (int turn = 0; turn < ranks; ++turn) {
        const double want = turn % 2 == 0 ? top : -top;
        double x[DDP_MOST] = {1, 10, -4, 6};
        struct ddp_call call;

        check_note(c, "R=%d, rank %d has %g: ", ranks, turn, want);
        x[turn] = want;
        call = ddp_rows(c, ranks, x);
        ddp_fresh_pass(c, model, &call);
        for (int r = 0; r < ranks; ++r)
            check_true(c, check_element(check_get_rank(c, model, r, IMPL_GRAD, 0), 0) == want,
                       "gradient of rank %d is not %g", r, want);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 1, 1);
    }
}

/* ---- DDP-07, DET-07: all ranks hold the same bits -------------------------------------------- */

enum { REAL_WEIGHTS = NET_IN * NET_MID + NET_MID + NET_MID * NET_OUT + NET_OUT };

static struct impl_model *real_model(struct check *c, int ranks, const double weights[])
{
    const size_t second = NET_IN * NET_MID + NET_MID;

    return check_ddp_model(
        c, ranks,
        check_text(c,
                   DDP_MODEL("{\"kind\":\"linear\",\"in\":3,\"out\":4,\"weight\":%s,"
                             "\"bias\":%s},{\"kind\":\"relu\"},"
                             "{\"kind\":\"linear\",\"in\":4,\"out\":2,\"weight\":%s,"
                             "\"bias\":%s}"),
                   gpt_list(c, NET_IN * NET_MID, weights),
                   gpt_list(c, NET_MID, weights + NET_IN * NET_MID),
                   gpt_list(c, NET_MID * NET_OUT, weights + second),
                   gpt_list(c, NET_OUT, weights + second + NET_MID * NET_OUT)));
}

/* Makes ten steps on data whose sums are not exact. */
static void ddp_train_all(struct check *c, int ranks)
{
    const double *weights = check_randoms(c, REAL_WEIGHTS, check_seed(c) + 11);
    struct impl_model *model = real_model(c, ranks, weights);

    check_note(c, "R=%d, new: ", ranks);
    ddp_all_are(c, model, ranks, IMPL_VALUE, 0, NET_IN * NET_MID, weights);
    for (uint64_t turn = 0; turn < 10; ++turn) {
        check_note(c, "R=%d, step %d: ", ranks, (int)turn);
        struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};

        for (int r = 0; r < ranks; ++r) {
            const uint64_t seed = check_seed(c) + 16 * turn + (uint64_t)r;
            const size_t n = (size_t)(1 + (3 * r + (int)turn) % DDP_MOST);

            call.in[r][0] = check_array(c, 2, (const size_t[]){n, NET_IN},
                                        check_randoms(c, n * NET_IN, 1000 + seed));
            call.g[r][0] = check_array(c, 2, (const size_t[]){n, NET_OUT},
                                       check_randoms(c, n * NET_OUT, 2000 + seed));
        }
        ddp_fresh_pass(c, model, &call);
        check_step(c, model, 0.05F, 0.9F);
        const enum impl_what what = (enum impl_what)check_variant(c);
        for (int p = 0; p < NET_PARAMS; ++p)
            for (int r = 1; r < ranks; ++r)
                check_same(c, check_text(c, "parameter %d of rank %d, compared with rank 0", p, r),
                           check_get_rank(c, model, r, what, p), check_get(c, model, what, p));
    }
    /* The last bias always has a gradient, because no relu comes after it. */
    check_true(
        c, check_element(check_get(c, model, IMPL_VALUE, 3), 0) != weights[REAL_WEIGHTS - NET_OUT],
        "ten steps left a bias as it was");
}

/* A value that one rank changes is not sent to others: only gradients and buffers are. Before each
 * step there is a forward without grad mode, in evaluation from step 1 on. */
static void ddp_values_not_sent(struct check *c, int ranks)
{
    static const double x[DDP_MOST] = {1, 10, -4, 6};
    struct impl_model *model =
        check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE ",{\"kind\":\"counter\"}"));
    double mean = 0, weight[DDP_MOST];

    for (int r = 0; r < ranks; ++r) {
        mean += x[r] / ranks;
        weight[r] = 3 + 5 * r;
        ddp_set(c, model, r, IMPL_VALUE, 0, &weight[r]);
    }
    for (int turn = 0; turn < 3; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, x), before = ddp_rows(c, ranks, x);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        before.infer = true;
        before.eval = turn > 0;
        ddp_forward(c, model, &before);
        ddp_fresh_pass(c, model, &call);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 0, mean);
        check_step(c, model, 0.5F, 0);
        for (int r = 0; r < ranks; ++r) {
            const double y = weight[r] * x[r] + 1 - 0.5 * turn;

            check_values(c, check_text(c, "output of rank %d without grad mode", r),
                         before.out[r][0], 1, &y);
            check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1, &y);
            weight[r] -= 0.5 * mean;
            ddp_rank_is(c, model, r, IMPL_VALUE, 0, weight[r]);
        }
    }
}

static const struct check_case cases[] = {
    {"DDP-01.known", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_mean_known},
    {"DDP-01.steps", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_steps},
    {"DDP-01.network", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_network},
    {"DDP-01.large", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_mean_large},
    {"DDP-05.exact", "DDP-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_exact},
    {"DDP-05.range", "DDP-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_mean_range},
    {"DDP-05.infinite", "DDP-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_infinite},
    {"DDP-07.same", "DDP-07", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_train_all,
     .variant = IMPL_VALUE},
    {"DDP-07.not_sent", "DDP-07", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0,
     .ranks = ddp_values_not_sent},
};
const struct check_table ddp_training_table = CHECK_TABLE(cases);

static const struct check_case determinism_cases[] = {
    {"DET-07.bits", "DET-07", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_train_all,
     .variant = IMPL_GRAD},
};
const struct check_table ddp_training_determinism_table = CHECK_TABLE(determinism_cases);
