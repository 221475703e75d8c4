/* error_state.c: area ERR: the state that an error must leave unchanged. */
#include "golden.h"

enum { N = 10, ROOM = 16384 };

/* Opens a model with counter, then y = 2x + 1, with gradients that were set before. The replica
 * `replica` fails once, in its call number `at`, in forward or backward. Parameters: count, weight,
 * bias. */
static struct impl_model *failing_once(struct check *c, int k, int replica, const char *when,
                                       int at)
{
    struct impl_model *model = check_model(
        c,
        "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
        "{\"kind\":\"counter\"},"
        "{\"kind\":\"fail\",\"when\":\"%s\",\"replicas\":[%d],\"at\":%d,\"text\":\"once\"},"
        "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}]}]}",
        check_list(c, mixed_ids(k), k), when, replica, at);

    check_set(c, model, IMPL_GRAD, 1, (const double[]){1000});
    check_set(c, model, IMPL_GRAD, 2, (const double[]){123});
    return model;
}

static int step_status(struct check *c, struct impl_model *model, int device)
{
    struct impl_forward forward = {.n_in = 1, .grad = true, .train = true};
    struct impl_backward backward = {.n_grad_out = 1, .n_in = 1};
    int status;

    forward.in = check_needs_grad(check_counted(c, N, 1, 1));
    forward.out = check_output(c, IMPL_MAX_IO, ROOM);
    status = check_try_forward(c, model, &forward);
    if (status != IMPL_OK)
        return status;
    check_values(c, "output", &forward.out[0], N, check_sequence(c, N, 3, 2));
    backward.grad_out = check_on(check_counted(c, N, 1, 1), device);
    backward.grad_in = check_output(c, 1, ROOM);
    status = check_try_backward(c, model, &backward);
    if (status == IMPL_OK)
        check_values(c, "input gradient", &backward.grad_in[0], N, check_sequence(c, N, 2, 2));
    return status;
}

/* Lets every replica fail in turn, in the first and in the second of three steps. */
static void every_replica(struct check *c, int k)
{
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(N, k, size);
    for (int s = 0; s < m; ++s) {
        /* Makes three steps, of which number `at` fails: the gradients are those of the others. */
        const char *when = check_variant(c) == 0 ? "forward" : "backward";
        const int at = 1 + (s + k) % 2;
        struct impl_model *model = failing_once(c, k, s, when, at);
        int done = 0;

        check_note(c, "K=%d, replica %d, %s %d: ", k, s, when, at);
        for (int turn = 1; turn <= 3; ++turn) {
            const int status = step_status(c, model, mixed_ids(k)[0]);
            if (turn == at)
                check_refused(c, "a step in which a replica fails", status, ALLOW(IMPL_EFAULT));
            else
                check_accepted(c, "status of a step in which none fails", status);
            done += turn != at;
            check_value_is(c, model, 1, 2);
            check_value_is(c, model, 2, 1);
            check_grad_is(c, model, 1, 1000 + 385 * done);
            check_grad_is(c, model, 2, 123 + 55 * done);
        }
        if (check_choice(c, IMPL_REPLICA_0) == IMPL_ALIAS) {
            /* A replica 0 that writes in place may have done so before the error. */
            const double count = check_element(check_get(c, model, IMPL_VALUE, 0), 0);
            check_true(c, count == 2 || count == 3, "the counter is %g, must be 2 or 3", count);
        } else {
            check_value_is(c, model, 0, 0);
        }
    }
}

/* The gather fails after all replicas have run. One row makes one replica, and succeeds. */
static void error_gather_leaves(struct check *c, int k)
{
    const double want[] = {7, 7}, g[] = {5, 9};
    const size_t dim[] = {1, 2};
    struct impl_forward op = {.n_in = 1, .grad = true, .train = true};
    struct impl_model *model;
    model = check_parallel(c, k, mixed_ids(k), "",
                           "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"
                           "{\"kind\":\"widen\",\"columns\":[2,3]}");
    check_set(c, model, IMPL_GRAD, 0, (const double[]){1000});
    check_set(c, model, IMPL_GRAD, 1, (const double[]){123});
    op.in = check_needs_grad(check_counted(c, N, 1, 1));
    op.out = check_output(c, IMPL_MAX_IO, ROOM);
    check_refused(c, "a gather of different columns", check_try_forward(c, model, &op),
                  ALLOW(IMPL_ESHAPE));
    check_value_is(c, model, 0, 2);
    check_grads_are(c, model, 1000, 123);
    check_values(c, "output of one row",
                 check_forward(c, model, check_needs_grad(check_column(c, 1, (const double[]){3}))),
                 2, want);
    check_values(c, "gradient of one row",
                 check_backward(c, model, check_on(check_array(c, 2, dim, g), mixed_ids(k)[0])), 1,
                 (const double[]){28});
    check_grads_are(c, model, 1000 + 42, 123 + 14);
}

/* A forward fails with gradient and training mode off. With both on again both have an effect, and
 * a whole step is right. */
static void error_modes_leave(struct check *c, int k)
{
    for (int replica = 0; replica < 2; ++replica) {
        const struct impl_array *x = check_counted(c, N, 1, 1);
        struct impl_model *model =
            check_parallel(c, k, mixed_ids(k), "",
                           check_text(c,
                                      "{\"kind\":\"fail\",\"replicas\":[%d],\"at\":1},"
                                      "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"
                                      "{\"kind\":\"tag_mode\"}",
                                      replica));
        check_note(c, "K=%d, replica %d: ", k, replica);
        check_refused(c, "a forward in which a replica fails",
                      check_try_one(c, model, x, false, replica == 1), ALLOW(IMPL_EFAULT));
        check_values(c, "output with the modes on",
                     check_forward(c, model, check_needs_grad(check_counted(c, N, 1, 1))), N,
                     check_sequence(c, N, 3003, 2));
        check_values(c, "input gradient",
                     check_backward(c, model, check_on(check_counted(c, N, 1, 1), mixed_ids(k)[0])),
                     N, check_sequence(c, N, 2, 2));
        check_grads_are(c, model, 385, 55);
    }
}

/* Another model of the session, in the middle of its step, is not affected. */
static void error_other_model(struct check *c, int k)
{
    struct impl_model *other, *failing;
    other = check_parallel(c, k, mixed_ids(k), "",
                           "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-4]}");
    check_set(c, other, IMPL_GRAD, 0, (const double[]){1000});
    check_values(c, "output of the other model",
                 check_forward(c, other, check_needs_grad(check_counted(c, N, 1, 1))), N,
                 check_sequence(c, N, -1, 3));
    failing = failing_once(c, k, 1, "forward", 1);
    check_refused(c, "a step in which a replica fails", step_status(c, failing, mixed_ids(k)[0]),
                  ALLOW(IMPL_EFAULT));
    check_values(c, "input gradient of the other model",
                 check_backward(c, other, check_on(check_counted(c, N, 1, 1), mixed_ids(k)[0])), N,
                 check_sequence(c, N, 3, 3));
    check_grads_are(c, other, 1385, 55);
}

/* A gather and a sum are refused, and then right ones succeed. */
static void error_primitive_leaves(struct check *c, int k)
{
    const int *ids = mixed_ids(k);
    struct impl_array *right = check_memory(c, (size_t)k * sizeof *right);
    struct impl_array *wrong = check_memory(c, (size_t)k * sizeof *wrong);
    struct impl_gather gather = {.n = k, .dim = 0, .device = 0};
    struct impl_reduce reduce = {.n = 1, .k = k, .device = ids[0], .poke = -1};
    const size_t odd[] = {2, 2};
    double sum[2] = {0}, all[2 * IMPL_MAX_DEVICES];
    for (int p = 0; p < k; ++p) {
        const double *x = check_integers(c, 2, 300 + (uint64_t)p);
        right[p] = wrong[p] = *check_on(check_vector(c, 2, x), ids[p]);
        for (int e = 0; e < 2; ++e) {
            sum[e] += x[e];
            all[2 * p + e] = x[e];
        }
    }
    wrong[k - 1] = *check_on(check_array(c, 2, odd, check_integers(c, 4, 9)), ids[k - 1]);
    gather.out = check_output(c, 1, ROOM);
    reduce.sums = check_output(c, 1, ROOM);
    for (int turn = 0; turn < 2; ++turn) {
        gather.parts = reduce.src = wrong;
        check_refused(c, "a gather of parts that do not fit", check_try_gather(c, &gather),
                      ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
        check_refused(c, "a sum of different sizes", check_try_reduce(c, &reduce),
                      ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
        gather.parts = reduce.src = right;
        check_gather(c, &gather);
        check_values(c, "gathered afterwards", gather.out, 2 * (size_t)k, all);
        check_reduce(c, &reduce);
        check_values(c, "sum afterwards", reduce.sums, 2, sum);
    }
}

/* A forward waits for its backward while another one fails, and continues to wait. */
static void error_waiting_stays(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *model =
        golden_parallel(c, k, "",
                        GOLDEN_AFFINE ",{\"kind\":\"fail\",\"replicas\":[0],"
                                      "\"when\":\"forward\",\"status\":\"fault\","
                                      "\"text\":\"the second\",\"at\":2}");

    check_forward(c, model, golden_rows(c, n));
    check_refused(c, "a second forward that fails", golden_try_one(c, model, golden_rows(c, 7)),
                  ALLOW(IMPL_EFAULT));
    golden_is_counted(c, "input gradient", check_backward(c, model, golden_rows(c, n)), n, 2, 2);
    check_grads_are(c, model, 385, 55);
}

static const struct check_case cases[] = {
    {"ERR-08.forward", "ERR-08", MUST, OBSERVED, DP, PARALLEL, 2, .each = every_replica},
    {"ERR-08.backward", "ERR-08", MUST, OBSERVED, DP, PARALLEL, 2, .each = every_replica,
     .variant = 1},
    {"ERR-08.gather", "ERR-08", MUST, OBSERVED, DP, PARALLEL, 2, .each = error_gather_leaves},
    {"ERR-08.modes", "ERR-08", MUST, OBSERVED, DP, PARALLEL, 2, .each = error_modes_leave},
    {"ERR-08.other_model", "ERR-08", MUST, OBSERVED, DP, PARALLEL, 2, .each = error_other_model},
    {"ERR-08.waiting", "ERR-08", MUST, OBSERVED, DP, PARALLEL, 1, .each = error_waiting_stays},
    {"ERR-08.primitives", "ERR-08", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER | IMPL_CAP_REDUCE, 2,
     .each = error_primitive_leaves},
};
const struct check_table error_state_table = CHECK_TABLE(cases);
