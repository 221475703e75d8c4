/* cost.c: area COST: the bytes that a step moves, and the largest shard. */
#include "ddp.h"

/* The model of the tutorial has 5 inputs and 2 outputs: 12 floats. */
enum { BYTES = 48 };
static const char tutorial[] = "{\"kind\":\"linear\",\"in\":5,\"out\":2}";

static void sent_is(struct check *c, const struct impl_trace *trace, int m, bool clone)
{
    check_int(c, "replicas", trace->replicas, m);
    for (int s = clone ? 1 : 0; s < m; ++s)
        check_int(c, check_text(c, "bytes sent to replica %d", s),
                  (long long)trace->replica[s].bytes_to, s == 0 || m == 1 ? 0 : BYTES);
}

static void bytes_of_a_step(struct check *c, int k)
{
    static const size_t rows[] = {10, 30, 1, 9};

    for (size_t form = 0; form < sizeof rows / sizeof rows[0]; ++form) {
        const size_t n = rows[form];
        const size_t in[] = {n, 5}, out[] = {n, 2};
        struct impl_model *model = check_parallel(c, k, mixed_ids(k), "", tutorial);
        const bool clone = check_choice(c, IMPL_REPLICA_0) == IMPL_CLONE;
        size_t size[IMPL_MAX_DEVICES];
        const int m = check_shards(n, k, size);

        check_note(c, "K=%d N=%zu: ", k, n);
        for (int turn = 0; turn < 2; ++turn) { /* the second step costs as much as the first one */
            struct impl_trace *trace = check_memory(c, sizeof *trace);
            struct impl_trace *back = check_memory(c, sizeof *back);
            struct impl_backward op = {.n_grad_out = 1, .n_in = 1, .trace = back};
            uint64_t bytes = 0;
            check_forward_trace(c, model, check_array(c, 2, in, check_integers(c, n * 5, 3)),
                                trace);
            sent_is(c, trace, m, clone);
            op.grad_out =
                check_on(check_array(c, 2, out, check_integers(c, n * 2, 4)), mixed_ids(k)[0]);
            op.grad_in = check_output(c, 1, 4096);
            check_backward_op(c, model, &op);
            for (int s = 1; s < m; ++s) {
                bytes += back->replica[s].bytes_from;
                check_int(c, check_text(c, "bytes of gradients from replica %d", s),
                          (long long)back->replica[s].bytes_from, BYTES);
            }
            check_int(c, "bytes of gradients from all", (long long)bytes,
                      (long long)(m - 1) * BYTES);
        }
    }
}

/* Each forward sends the parameters, also without gradients, in evaluation, and if nothing has
 * changed; buffers as well. */
static void bytes_without_gradients(struct check *c, int k)
{
    const size_t in[] = {10, 5};
    struct impl_model *model =
        check_parallel(c, k, NULL, "",
                       "{\"kind\":\"linear\",\"in\":5,\"out\":2,\"with_bias\":false},"
                       "{\"kind\":\"counter\"},{\"kind\":\"unused\"}");
    const bool clone = check_choice(c, IMPL_REPLICA_0) == IMPL_CLONE;
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(10, k, size);
    for (int turn = 0; turn < 3; ++turn) {
        struct impl_trace *trace = check_memory(c, sizeof *trace);
        struct impl_forward op = {.n_in = 1, .grad = turn == 2, .train = turn == 1, .trace = trace};
        check_note(c, "K=%d, forward %d: ", k, turn);
        op.in = check_array(c, 2, in, check_integers(c, 50, 3));
        op.out = check_output(c, IMPL_MAX_IO, 4096);
        check_forward_op(c, model, &op);
        sent_is(c, trace, m, clone);
    }
}

/* The time depends on the largest shard, of ceil(N/K) rows: none is larger, and one is as large. */
static void largest_shard(struct check *c, int k)
{
    static const size_t rows[] = {30, 10, 9, 65, 17, 100, 1};

    for (size_t form = 0; form < sizeof rows / sizeof rows[0]; ++form) {
        const size_t n = rows[form], most = (n + (size_t)k - 1) / (size_t)k;
        struct impl_model *model =
            check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"tag_dim\",\"dim\":0}");
        const struct impl_array *y;
        double largest = 0;
        check_note(c, "K=%d N=%zu: ", k, n);
        y = check_forward(c, model, check_counted(c, n, 0, 0));
        check_int(c, "rows", (long long)check_elements(y), (long long)n);
        for (size_t r = 0; r < n; ++r)
            largest = check_element(y, r) > largest ? check_element(y, r) : largest;
        check_int(c, "rows of the largest shard", (long long)(largest / 1000), (long long)most);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { NEEDS = PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC };

static const struct check_case cases[] = {
    {"COST-01.step", "COST-01", MAY, REPORTED, DP, NEEDS, 1, .each = bytes_of_a_step},
    {"COST-02.forwards", "COST-02", MAY, REPORTED, DP, NEEDS, 1, .each = bytes_without_gradients},
    {"COST-06.largest", "COST-06", MUST, OBSERVED, DP, PARALLEL, 1, .each = largest_shard},
};
const struct check_table cost_table = CHECK_TABLE(cases);
