/* apply_model.c: area APPLY, seen through a wrapped module. */
#include "primitive.h"

#define AFFINE "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"

/* Returns rows for k replicas: 3 for each, and 2 for the last one. */
static size_t rows_for(int k)
{
    return 3 * (size_t)k - 1;
}

/* Returns 1000 for the rows of replica 0, 2000 for those of replica 1, .. */
static double thousands(size_t row)
{
    const size_t replica = row / 3;

    return 1000 * (1 + (double)replica);
}

/* Returns a list of k delays: `most` for replica 0, then less and less. */
static const char *falling(struct check *c, int k, int most)
{
    int ms[IMPL_MAX_DEVICES];

    for (int s = 0; s < k; ++s)
        ms[s] = most * (k - 1 - s) / (k - 1);
    return check_list(c, ms, k);
}

/* ---- APPLY-02 -------------------------------------------------------------------------------- */

/* One of the turns lets the third replica of four end first. */
static const char *delays(struct check *c, int k, int turn)
{
    return turn == 0 ? falling(c, k, 7) : k == 2 ? "[4,0]" : "[4,4,0,4]";
}

static void apply_model_order(struct check *c)
{
    const int k = primitive_some(c);
    const size_t n = rows_for(k);
    const struct impl_array *x = check_counted(c, n, 1, 1);
    double *want = check_memory(c, n * sizeof *want);

    for (size_t r = 0; r < n; ++r)
        want[r] = 2 * (1 + (double)r) + 1 + thousands(r);
    for (int turn = 0; turn < 2; ++turn) {
        struct impl_model *model =
            check_parallel(c, k, primitive_order(c, k), "",
                           check_text(c,
                                      AFFINE ",{\"kind\":\"sleep\",\"forward_ms\":%s},"
                                             "{\"kind\":\"tag_replica\"}",
                                      delays(c, k, turn)));

        check_note(c, "K=%d, %s: ", k, turn == 0 ? "the last replica first" : "mixed");
        check_values(c, "output", check_forward(c, model, x), n, want);
        check_values(c, "output", check_infer(c, model, x), n, want);
    }
}

static void apply_model_backward_order(struct check *c)
{
    const int k = primitive_some(c);
    const size_t n = rows_for(k);
    const double *g = check_sequence(c, n, 3, 2);
    double dw = 0;

    for (size_t r = 0; r < n; ++r)
        dw += g[r] * (1 + (double)r);
    for (int turn = 0; turn < 2; ++turn) {
        struct impl_model *model = check_parallel(
            c, k, primitive_order(c, k), "",
            check_text(c, AFFINE ",{\"kind\":\"sleep\",\"backward_ms\":%s}", delays(c, k, turn)));
        const struct impl_array *y =
            check_forward(c, model, check_needs_grad(check_counted(c, n, 1, 1)));

        check_note(c, "K=%d, %s: ", k, turn == 0 ? "the last replica first" : "mixed");
        check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)), n,
                     check_sequence(c, n, 6, 4));
        check_grads_are(c, model, dw, primitive_sum(g, 0, n));
    }
}

/* ---- APPLY-04 -------------------------------------------------------------------------------- */

/* One after another the replicas sleep at least k * each ms. At the same time they are faster, at
 * least once in ten tries on a machine that has other work. Variant 1: the same in the backward. */
static void apply_model_together(struct check *c)
{
    const int k = primitive_some(c), each = 120 / k;
    const bool backward = check_variant(c) == 1;
    const size_t n = rows_for(k);
    const double *x = check_sequence(c, n, 1, 1), *g = check_sequence(c, n, 3, 2);
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "",
                                              check_text(c, "{\"kind\":\"sleep\",\"%s_ms\":[%d]}",
                                                         backward ? "backward" : "forward", each));
    uint64_t best = UINT64_MAX;

    for (int attempt = 0; attempt < 10 && best >= (uint64_t)k * (uint64_t)each; ++attempt) {
        uint64_t began = check_now_ms(), ms;
        const struct impl_array *y = check_forward(c, model,
                                                   check_needs_grad(check_vector(c, n, x))),
                                *dx;

        ms = check_now_ms() - began;
        if (!backward) {
            check_values(c, "output", y, n, x);
        } else {
            const struct impl_array *upstream = primitive_upstream(c, y, g);

            began = check_now_ms();
            dx = check_backward(c, model, upstream);
            ms = check_now_ms() - began;
            check_values(c, "input gradient", dx, n, g);
        }
        best = ms < best ? ms : best;
    }
    check_at_most(c,
                  check_text(c, "the shortest ms for %d %s that sleep %d ms", k,
                             backward ? "backwards" : "replicas", each),
                  (long long)best, k * each - 1);
}

/* All eight run at once: a pool of fewer threads would need two turns, of at least `each` ms. */
static void apply_model_eight(struct check *c)
{
    enum { EACH = 60, MOST = 8 };
    const size_t n = rows_for(MOST);
    struct impl_model *model =
        check_parallel(c, MOST, primitive_order(c, MOST), "",
                       check_text(c, "{\"kind\":\"sleep\",\"forward_ms\":[%d]}", EACH));
    uint64_t best = UINT64_MAX;

    for (int attempt = 0; attempt < 10 && best >= 2 * EACH; ++attempt) {
        const struct impl_array *x = check_counted(c, n, 1, 1);
        const uint64_t began = check_now_ms();
        const struct impl_array *y = check_forward(c, model, x);
        const uint64_t ms = check_now_ms() - began;

        best = ms < best ? ms : best;
        check_values(c, "output", y, n, check_sequence(c, n, 1, 1));
    }
    check_at_most(c, check_text(c, "the shortest ms for eight replicas that sleep %d ms", EACH),
                  (long long)best, 2 * EACH - 1);
}

/* Checks that a forward of `rows` rows has m replicas, each in another thread; a single one is in
 * the caller's. */
static void threads_of(struct check *c, struct impl_model *model, size_t rows, int m)
{
    struct impl_trace *trace = check_memory(c, sizeof *trace);

    check_forward_trace(c, model, check_counted(c, rows, 1, 1), trace);
    check_int(c, "replicas", trace->replicas, m);
    if (m == 1)
        check_true(c, trace->replica[0].thread == trace->caller,
                   "a single replica must run in the thread of the caller");
    for (int s = 1; s < m; ++s)
        for (int other = 0; other < s; ++other)
            check_true(c, trace->replica[s].thread != trace->replica[other].thread,
                       "the replicas %d and %d ran in one thread", other, s);
}

static void apply_model_threads(struct check *c, int k)
{
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", AFFINE);
    size_t size[IMPL_MAX_DEVICES];

    threads_of(c, model, rows_for(k), k);
    threads_of(c, model, 1, 1);
    threads_of(c, model, 10, check_shards(10, k, size));
}

/* ---- APPLY-05, 06 ---------------------------------------------------------------------------- */

static void apply_model_modes(struct check *c, int k)
{
    static const int modes[] = {3, 0, 1, 2, 0, 3, 2, 1, 1, 3, 3, 0, 0};
    const size_t n = rows_for(k);
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", "{\"kind\":\"tag_mode\"}");
    const struct impl_array *x = check_counted(c, n, 1, 1);

    for (size_t step = 0; step < sizeof modes / sizeof modes[0]; ++step) {
        const bool grad = (modes[step] & 1) != 0, train = (modes[step] & 2) != 0;

        check_note(c, "K=%d grad %d train %d: ", k, grad, train);
        check_values(c, "x + 1000 * grad + 2000 * train", check_one(c, model, x, grad, train), n,
                     check_sequence(c, n, 1 + 1000.0 * modes[step], 1));
    }
}

/* The forward that fails has other modes than the next one. */
static void apply_modes_after_failure(struct check *c, int k)
{
    for (int modes = 0; modes < 4; ++modes) {
        const size_t n = rows_for(k);
        struct impl_model *model = check_parallel(
            c, k, primitive_order(c, k), "",
            check_text(c,
                       AFFINE ",{\"kind\":\"tag_mode\"},{\"kind\":\"fail\",\"replicas\":[%d],"
                              "\"when\":\"forward\",\"status\":\"fault\",\"text\":\"once\","
                              "\"at\":1}",
                       k - 1));
        const bool grad = (modes & 1) != 0, train = (modes & 2) != 0;
        const struct impl_array *x = check_counted(c, n, 1, 1);

        check_note(c, "K=%d, after a failure with grad %d, train %d: ", k, grad, train);
        check_refused(c, "a failing replica", check_try_one(c, model, x, grad, train),
                      ALLOW(IMPL_EFAULT));
        check_values(c, "2x + 1 + 1000 * grad + 2000 * train",
                     check_one(c, model, x, !grad, !train), n,
                     check_sequence(c, n, 3 + 1000.0 * (3 - modes), 2));
        check_values(c, "output in grad and train mode", check_forward(c, model, x), n,
                     check_sequence(c, n, 3003, 2));
        check_backward(c, model, NULL);
        check_grad_is(c, model, 1, (double)n);
        check_model_close(c, model);
    }
}

static void apply_model_devices(struct check *c, int k)
{
    for (int turn = 0; turn < k && turn < 3; ++turn) {
        const int *order = primitive_order(c, k);
        const size_t n = rows_for(k);
        double *want = check_memory(c, n * sizeof *want);
        int ids[IMPL_MAX_DEVICES];

        for (int s = 0; s < k; ++s)
            ids[s] = order[(s + turn) % k];
        for (size_t r = 0; r < n; ++r) {
            const int device = ids[r / 3];

            want[r] = 5 + (double)r + 1000.0 * (device + 1);
        }
        check_note(c, "K=%d: ", k);
        check_values(c, "x + 1000 * (its device + 1)",
                     check_forward(c, check_parallel(c, k, ids, "", "{\"kind\":\"tag_device\"}"),
                                   check_counted(c, n, 5, 1)),
                     n, want);
    }
}

/* ---- APPLY-03: calls with several inputs and outputs ----------------------------------------- */

/* Two inputs are multiplied. There are two outputs: the product, and each of its rows twice. */
static void apply_several(struct check *c, int k)
{
    enum { ROWS = 3 };
    const int *devices = primitive_order(c, k);
    struct impl_call *calls = apply_calls(c, devices, k, ROWS);

    for (int s = 0; s < k; ++s) {
        struct impl_array *in = check_memory(c, 2 * sizeof *in);

        in[0] = *check_on(check_vector(c, ROWS, check_sequence(c, ROWS, 1 + s, 1)), devices[s]);
        in[1] = *check_on(check_vector(c, ROWS, check_sequence(c, ROWS, 10, 5)), devices[s]);
        calls[s].in = in;
        calls[s].n_in = 2;
        calls[s].description =
            apply_module(c, "{\"kind\":\"multiply\",\"factor\":2},{\"kind\":\"fork\"}");
    }
    check_accepted(c, "status of apply", apply_try(c, calls, k));
    for (int s = 0; s < k; ++s) {
        double product[ROWS], doubled[2 * ROWS];

        for (int e = 0; e < ROWS; ++e)
            product[e] = doubled[2 * e] = doubled[2 * e + 1] = 2.0 * (1 + s + e) * (10 + 5 * e);
        check_int(c, check_text(c, "outputs of call %d", s), calls[s].n_out, 2);
        check_values(c, check_text(c, "first output of call %d", s), &calls[s].out[0], ROWS,
                     product);
        check_values(c, check_text(c, "second output of call %d", s), &calls[s].out[1],
                     (size_t)2 * ROWS, doubled);
    }
}

static const struct check_case cases[] = {
    {"APPLY-02.forward", "APPLY-02", MUST, OBSERVED, DP, PARALLEL, 2, apply_model_order},
    {"APPLY-02.backward", "APPLY-02", MUST, OBSERVED, DP, PARALLEL, 2, apply_model_backward_order},
    {"APPLY-04.model", "APPLY-04", MUST, OBSERVED, DP, PARALLEL, 2, apply_model_together},
    {"APPLY-04.backward", "APPLY-04", MUST, OBSERVED, DP, PARALLEL, 2, apply_model_together,
     .variant = 1},
    {"APPLY-04.eight", "APPLY-04", MUST, OBSERVED, DP, PARALLEL, 8, apply_model_eight},
    {"APPLY-04.replicas", "APPLY-04", MUST, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE, 1,
     .each = apply_model_threads},
    {"APPLY-05.forward", "APPLY-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = apply_model_modes},
    {"APPLY-05.after_failure", "APPLY-05", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = apply_modes_after_failure},
    {"APPLY-06.forward", "APPLY-06", MUST, REPORTED, DP, PARALLEL, 1, .each = apply_model_devices},
    {"APPLY-03.several", "APPLY-03", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 1, .each = apply_several},
};
const struct check_table apply_model_table = CHECK_TABLE(cases);
