/* state_kept.c: data of one call, one model or one session, which must not show in another. */
#include "ddp.h"
#include "golden.h"

enum { N = 10 };

/* Writes new numbers into an array that was handed over before. */
static void refill(struct impl_array *array, double first, double step)
{
    for (size_t i = 0; i < check_elements(array); ++i)
        ((float *)array->data)[i] = (float)(first + step * (double)i);
}

/* ---- COMP-10, SPLIT-01: other numbers at the same address ------------------------------------ */

/* Input, gradient, output and input gradient are at the same addresses, three times. */
static void state_refilled(struct check *c, int k)
{
    const size_t n = N;
    struct impl_model *model = golden_affine(c, k);
    struct impl_array *x = golden_rows(c, n), *g = check_vector(c, n, check_sequence(c, n, 1, 1));
    struct impl_forward forward = {.in = x, .n_in = 1, .grad = true, .train = true};
    struct impl_backward backward = {.grad_out = g, .n_grad_out = 1, .n_in = 1};

    forward.out = check_output(c, IMPL_MAX_IO, 64);
    backward.grad_in = check_output(c, 1, 64);
    for (int turn = 0; turn < 4; ++turn) {
        const double first = 3 - 7 * turn, up = 1 + turn;
        double sum = 0;

        check_note(c, "K=%d, step %d: ", k, turn);
        refill(x, first, 2);
        refill(g, up, -1);
        for (size_t e = 0; e < n; ++e)
            sum += (first + 2 * (double)e) * (up - (double)e);
        check_zero_grad(c, model);
        check_forward_op(c, model, &forward);
        golden_is_counted(c, "output", &forward.out[0], n, 2 * first + 1, 4);
        check_backward_op(c, model, &backward);
        golden_is_counted(c, "input gradient", &backward.grad_in[0], n, 2 * up, -2);
        check_grads_are(c, model, sum, 10 * up - 45);
    }
}

static void state_refilled_scatter(struct check *c, int k)
{
    const int *ids = mixed_ids(k);
    struct impl_array *x = check_vector(c, N, check_sequence(c, N, 1, 1));
    struct impl_scatter op = {.input = x, .devices = ids, .n = k};
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(N, k, size);

    op.shards = check_output(c, k, 64);
    for (int turn = 0; turn < 3; ++turn) {
        double first = 1 + 100 * turn;

        check_note(c, "K=%d, step %d: ", k, turn);
        refill(x, first, 1);
        check_scatter(c, &op);
        check_int(c, "shards", op.n_shards, m);
        for (int s = 0; s < m; first += (double)size[s++])
            check_values(c, check_text(c, "shard %d", s), &op.shards[s], size[s],
                         check_sequence(c, size[s], first, 1));
    }
}

/* ---- NONT-07: a backward uses the argument of its forward ------------------------------------ */

static void forward_with(struct check *c, struct impl_model *model,
                         const struct impl_array *argument, double factor)
{
    struct impl_forward op = {.in = check_needs_grad(check_counted(c, N, 1, 1)),
                              .n_in = 1,
                              .args = argument,
                              .n_args = 1,
                              .out = check_output(c, IMPL_MAX_IO, 4096),
                              .grad = true,
                              .train = true};

    check_forward_op(c, model, &op);
    check_values(c, "output", &op.out[0], N, check_sequence(c, N, 1000 + factor, factor));
}

static void backward_with(struct check *c, struct impl_model *model, double factor)
{
    check_values(c, "input gradient", check_backward(c, model, check_counted(c, N, 1, 1)), N,
                 check_sequence(c, N, factor, factor));
}

/* The caller writes to the argument between forward and backward. */
static void state_argument(struct check *c, int k)
{
    struct impl_model *model = check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"argument\"}");
    struct impl_array *argument = check_vector(c, 1, (const double[]){7});

    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "K=%d, step %d: ", k, turn);
        refill(argument, 7 + turn, 0);
        forward_with(c, model, argument, 7 + turn);
        refill(argument, -100, 0);
        backward_with(c, model, 7 + turn);
    }
}

/* Three forwards with three arguments wait for their backwards, which begin with the last one. */
static void state_arguments(struct check *c, int k)
{
    static const double factor[] = {5, -3, 11};
    struct impl_model *model = check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"argument\"}");

    for (int turn = 0; turn < 3; ++turn)
        forward_with(c, model, check_vector(c, 1, &factor[turn]), factor[turn]);
    for (int turn = 2; turn >= 0; --turn) {
        check_note(c, "K=%d, backward of forward %d: ", k, turn);
        backward_with(c, model, factor[turn]);
    }
}

/* ---- COMP-13: models and sessions do not know each other ------------------------------------- */

/* Makes a step with momentum of y = weight x + bias, with zeros or the given values. */
static void fresh_model(struct check *c, int k, double weight)
{
    const size_t n = N;
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"affine\"}");
    const struct impl_array *y;

    check_value_is(c, model, 0, 0);
    check_value_is(c, model, 1, 0);
    check_grad_none(c, model, 0);
    check_grad_none(c, model, 1);
    check_set(c, model, IMPL_VALUE, 0, &weight);
    y = check_forward(c, model, golden_rows(c, n));
    golden_is_counted(c, "output", y, n, weight, weight);
    check_backward(c, model, golden_vector(c, n, 1, 0));
    check_grads_are(c, model, 55, 10);
    check_step(c, model, 1.0F / 64, 0.5F);
    check_value_is(c, model, 0, weight - 55.0 / 64);
    check_value_is(c, model, 1, -10.0 / 64);
    /* It waits for a backward when the model is closed. */
    check_forward(c, model, golden_rows(c, n));
    check_model_close(c, model);
}

/* Models of one shape follow each other: each begins with nothing of the one before. */
static void state_models(struct check *c, int k)
{
    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "K=%d, model %d: ", k, turn);
        fresh_model(c, k, 3 + turn);
    }
}

/* Checks the forward of y = weight x + bias, plus 1000 times (1 + the device that row r ran on). */
static void first_forward(struct check *c, struct impl_model *model, int k)
{
    const int *ids = golden_ids(c, k);
    size_t size[IMPL_MAX_DEVICES], row = 0;
    const int m = check_shards(N, k, size);
    double y[N];

    for (int s = 0; s < m; ++s)
        for (size_t r = 0; r < size[s]; ++r, ++row)
            y[row] = 2 * (double)(row + 1) + 1 + 1000 * (ids[s] + 1);
    golden_is_vector(c, "output in the first session",
                     check_forward(c, model, check_on(golden_rows(c, N), ids[k - 1])), N, y);
}

/* Checks its backward, number `time` without zeroed gradients. */
static void first_backward(struct check *c, struct impl_model *model, int time)
{
    const size_t n = N;

    golden_is_counted(c, "input gradient in the first session",
                      check_backward(c, model, golden_rows(c, n)), n, 2, 2);
    check_grads_are(c, model, 385 * time, 55 * time);
}

/* Opens a model of another session, with other numbers, and makes a step. */
static struct impl_model *second_step(struct check *c)
{
    const size_t n = 4;
    struct impl_model *model =
        check_model(c, "{\"layers\":[{\"kind\":\"parallel\",\"layers\":[{\"kind\":\"affine\","
                       "\"weight\":[-3],\"bias\":[7]}]}]}");

    golden_is_counted(c, "output in the second session", check_forward(c, model, golden_rows(c, n)),
                      n, 4, -3);
    check_backward(c, model, golden_rows(c, n));
    check_grad_is(c, model, 0, 30);
    check_step(c, model, 0.5F, 0.5F);
    check_value_is(c, model, 0, -18);
    return model;
}

/* A forward of the first session waits while a second session opens and works. The rest of the step
 * is done while the second session is open, and again after it is closed. */
static void session_beside(struct check *c, int k, bool host)
{
    struct impl_model *model =
        golden_parallel(c, k, "", GOLDEN_AFFINE ",{\"kind\":\"tag_device\"}");
    struct impl_model *other;

    check_note(c, "K=%d, a second session%s: ", k, host ? " without devices" : "");
    first_forward(c, model, k);
    check_use(c, host ? check_host_session(c) : check_second_session(c));
    other = second_step(c);
    check_use(c, NULL);
    first_backward(c, model, 1);
    first_forward(c, model, k);
    check_model_close(c, other);
    if (!host)
        check_second_close(c);
    first_backward(c, model, 2);
    first_forward(c, model, k);
    first_backward(c, model, 3);
    fresh_model(c, k, 9);
    check_model_close(c, model);
}

static void state_sessions(struct check *c)
{
    for (int host = 0; host < 2; ++host)
        session_beside(c, golden_most(c, 8), host == 1);
}

/* ---- DDP-09: two forwards of ranks wait ------------------------------------------------------ */

/* Each forward has its backward, the last one first: the result is the sum of both means, or the
 * first one is refused. No other result is right. */
static void state_ranks_wait(struct check *c, int ranks)
{
    static const double x[DDP_MOST] = {1, 10, -4, 6}, other[DDP_MOST] = {7, -3, 2, 40};
    struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));
    struct ddp_call first = ddp_rows(c, ranks, x), second = ddp_rows(c, ranks, other);
    double mean[2] = {0, 0};
    int status;

    for (int r = 0; r < ranks; ++r) {
        mean[0] += x[r] / ranks;
        mean[1] += other[r] / ranks;
    }
    check_note(c, "R=%d, two forwards: ", ranks);
    ddp_forward(c, model, &first);
    ddp_forward(c, model, &second);
    check_note(c, "R=%d, backward of the second: ", ranks);
    ddp_backward(c, model, &second);
    ddp_grads_are(c, model, ranks, mean[1], 1);
    check_note(c, "R=%d, backward of the first: ", ranks);
    status = ddp_try_backward(c, model, &first);
    if (status != IMPL_OK) {
        check_refused(c, "backward", status, ALLOW(IMPL_EINVAL) | ALLOW(IMPL_EFAULT));
    } else {
        ddp_grads_are(c, model, ranks, mean[0] + mean[1], 2);
    }
}

static const struct check_case argument_cases[] = {
    {"NONT-07.changed", "NONT-07", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_ARGUMENTS, 1,
     .each = state_argument},
    {"NONT-07.several", "NONT-07", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_ARGUMENTS, 1,
     .each = state_arguments},
};
const struct check_table state_kept_argument_table = CHECK_TABLE(argument_cases);

static const struct check_case composition_cases[] = {
    {"COMP-10.refilled", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = state_refilled},
    {"COMP-13.models", "COMP-13", MUST, OBSERVED, DP, PARALLEL, 1, .each = state_models},
    {"COMP-13.sessions", "COMP-13", MUST, OBSERVED, DP, PARALLEL, 1, state_sessions},
};
const struct check_table state_kept_composition_table = CHECK_TABLE(composition_cases);

static const struct check_case ddp_cases[] = {
    {"DDP-09.two_backwards", "DDP-09", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0,
     .ranks = state_ranks_wait},
};
const struct check_table state_kept_ddp_table = CHECK_TABLE(ddp_cases);

static const struct check_case split_cases[] = {
    {"SPLIT-01.refilled", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = state_refilled_scatter},
};
const struct check_table state_kept_split_table = CHECK_TABLE(split_cases);
