/* buffer.c: area BUF: buffers, modes and calls of replicas. Batch norm is in buffer_norm.c. */
#include "check.h"

enum { N = 10 };

/* The model is counter, affine, and a second counter after it: parameters count, weight, bias,
 * count. */
static struct impl_model *counting(struct check *c, int k)
{
    return check_parallel(c, k, mixed_ids(k), "",
                          "{\"kind\":\"counter\"},"
                          "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"
                          "{\"kind\":\"counter\"}");
}

/* Only the writes of the replica on D0 stay, because replica 0 writes into the base itself: +1 for
 * each forward, for any number of rows and replicas, and in any mode. The writes of a clone are
 * lost (BUF-06), except with one device, where there is no replica. */
static void buffer_counts(struct check *c, int k)
{
    static const size_t rows[] = {10, 1, 3, 9};
    const bool kept_in_base = k == 1 || check_choice(c, IMPL_REPLICA_0) == IMPL_ALIAS;
    struct impl_model *model = counting(c, k);
    const double begin = 41;
    check_value_is(c, model, 0, 0);
    check_set(c, model, IMPL_VALUE, 3, &begin);
    for (int turn = 1; turn <= 4; ++turn) {
        const size_t n = rows[turn - 1];
        const struct impl_array *x = check_counted(c, n, 1, 1);
        const int kept = kept_in_base ? turn : 0;
        check_note(c, "K=%d, forward %d: ", k, turn);
        check_values(c, "output", check_one(c, model, x, turn % 2 == 1, turn < 3), n,
                     check_sequence(c, n, 3, 2));
        check_value_is(c, model, 0, kept);
        check_value_is(c, model, 3, 41 + kept);
    }
}

/* If the caller sets a buffer between two forwards, it counts on from there. A step and zeroed
 * gradients do not change it, and it has no gradient. */
static void set_by_hand(struct check *c, int k)
{
    struct impl_model *model = counting(c, k);
    const double values[] = {7, -3, 100};
    for (int turn = 0; turn < 3; ++turn) {
        const double g0 = values[turn];
        check_set(c, model, IMPL_VALUE, 0, &g0);
        check_forward(c, model, check_needs_grad(check_counted(c, N, 1, 1)));
        check_backward(c, model, check_on(check_counted(c, N, 1, 1), mixed_ids(k)[0]));
        check_value_is(c, model, 0, g0 + 1);
        check_grad_none(c, model, 0);
        check_step(c, model, 0.5F, 0);
        check_zero_grad(c, model);
        check_value_is(c, model, 0, g0 + 1);
        check_value_is(c, model, 1, 2 - 192.5 * (turn + 1));
    }
}

/* Checks training and gradient mode inside every replica, for all four combinations and back
 * again. */
static void modes_seen(struct check *c, int k)
{
    static const unsigned modes[] = {3, 0, 1, 2, 0, 3};
    struct impl_model *model =
        check_parallel(c, k, mixed_ids(k), "",
                       "{\"kind\":\"tag_mode\"},{\"kind\":\"affine\",\"weight\":[2]},"
                       "{\"kind\":\"sequence\",\"layers\":[{\"kind\":\"tag_mode\"}]}");
    for (size_t turn = 0; turn < sizeof modes / sizeof modes[0]; ++turn) {
        const bool grad = (modes[turn] & 1) != 0, train = (modes[turn] & 2) != 0;
        const double tag = 1000 * grad + 2000 * train;
        const struct impl_array *x = check_counted(c, N, 1, 1);
        check_note(c, "K=%d, forward %zu: ", k, turn);
        check_values(c, "output", check_one(c, model, x, grad, train), N,
                     check_sequence(c, N, 2 + 3 * tag, 2));
    }
}

static void modes_told(struct check *c, int k)
{
    for (unsigned mode = 0; mode < 4; ++mode) {
        const bool grad = (mode & 1) != 0, train = (mode & 2) != 0;
        struct impl_trace *trace = check_memory(c, sizeof *trace);
        struct impl_forward op = {.n_in = 1, .grad = grad, .train = train, .trace = trace};
        size_t size[IMPL_MAX_DEVICES];
        const int m = check_shards(N, k, size);
        check_note(c, "K=%d mode %u: ", k, mode);
        op.in = check_counted(c, N, 1, 1);
        op.out = check_output(c, IMPL_MAX_IO, 4096);
        check_forward_op(c, counting(c, k), &op);
        check_int(c, "replicas", trace->replicas, m);
        for (int s = 0; s < m; ++s) {
            check_int(c, "gradient mode of a replica", trace->replica[s].grad, grad);
            check_int(c, "training mode of a replica", trace->replica[s].train, train);
        }
    }
}

/* An effect of each call of the module happens m times, once for each replica. */
static void called_by_each(struct check *c, int k)
{
    static const size_t rows[] = {10, 1, 4, 9};
    struct impl_model *model = counting(c, k);
    for (size_t form = 0; form < sizeof rows / sizeof rows[0]; ++form) {
        struct impl_trace *trace = check_memory(c, sizeof *trace);
        size_t size[IMPL_MAX_DEVICES];
        const int m = check_shards(rows[form], k, size);
        check_note(c, "K=%d N=%zu: ", k, rows[form]);
        check_forward_trace(c, model, check_counted(c, rows[form], 1, 1), trace);
        check_int(c, "replicas", trace->replicas, m);
        for (int s = 0; s < k; ++s)
            check_int(c, "calls of a replica", (long long)trace->replica[s].calls, s < m);
    }
}

static const struct check_case cases[] = {
    {"BUF-01.counter", "BUF-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = buffer_counts,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_ALIAS},
    {"BUF-01.set_by_hand", "BUF-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = set_by_hand,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_ALIAS},
    {"BUF-06.counter", "BUF-06", MUST, OBSERVED, DP, PARALLEL, 1, .each = buffer_counts,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_CLONE},
    {"BUF-09.modes", "BUF-09", MUST, OBSERVED, DP, PARALLEL, 1, .each = modes_seen},
    {"BUF-09.told", "BUF-09", MUST, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE, 1, .each = modes_told},
    {"BUF-10.calls", "BUF-10", MUST, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE, 1,
     .each = called_by_each},
};
const struct check_table buffer_table = CHECK_TABLE(cases);
