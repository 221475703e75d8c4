/* apply.c: area APPLY: modules that run at the same time, each on its device. */
#include "primitive.h"

/* ---- APPLY-02, 11: results ------------------------------------------------------------------- */

/* Call i sleeps delay[i] ms, and its output is (i + 2) * x - i. */
static void in_call_order(struct check *c, const int devices[], int n, const int delay[])
{
    struct impl_call *calls = apply_calls(c, devices, n, 3);

    for (int i = 0; i < n; ++i)
        calls[i].description =
            apply_module(c, check_text(c,
                                       "{\"kind\":\"sleep\",\"forward_ms\":[%d]},"
                                       "{\"kind\":\"affine\",\"weight\":[%d],\"bias\":[%d]}",
                                       delay[i], i + 2, -i));
    if (apply_try(c, calls, n) != IMPL_OK)
        check_fail(c, "apply failed: %s", check_error(c)->text);
    for (int i = 0; i < n; ++i) {
        const char *what = check_text(c, "output of call %d", i);

        check_int(c, check_text(c, "outputs of call %d", i), calls[i].n_out, 1);
        check_values(c, what, &calls[i].out[0], 3,
                     check_sequence(c, 3, (i + 2.0) * (1 + 10.0 * i) - i, i + 2.0));
        check_device(c, what, &calls[i].out[0], devices[i]);
    }
}

static void order_of_calls(struct check *c)
{
    const int k = primitive_some(c);
    const int *devices = primitive_order(c, k);
    int falling[IMPL_MAX_DEVICES], mixed[IMPL_MAX_DEVICES];

    for (int s = 0; s < k; ++s) {
        falling[s] = 3 * (k - 1 - s);
        mixed[s] = s % 2 == 0 ? 5 : 0;
    }
    check_note(c, "K=%d, the last call ends first: ", k);
    in_call_order(c, devices, k, falling);
    check_note(c, "K=%d, the odd calls end first: ", k);
    in_call_order(c, devices, k, mixed);
}

static void same_device(struct check *c)
{
    const int last = check_devices(c) - 1;
    const int devices[] = {0, 0, last, 0, last};
    static const int delay[] = {6, 0, 3, 0, 0};

    check_note(c, "two calls on device 0: ");
    in_call_order(c, devices, 2, delay);
    check_note(c, "five calls on the devices 0, 0, %d, 0, %d: ", last, last);
    in_call_order(c, devices, 5, delay);
}

/* ---- APPLY-03: whole inputs ------------------------------------------------------------------ */

static void whole_inputs(struct check *c, int k)
{
    for (int dim = -1; dim < 2; ++dim) {
        struct impl_call *calls = apply_calls(c, primitive_order(c, k), k, 20);
        size_t shape[IMPL_MAX_DEVICES][2];

        for (int s = 0; s < k; ++s) {
            shape[s][0] = 2 + (size_t)s;
            shape[s][1] = 10;
            calls[s].in =
                check_on(check_array(c, 2, shape[s], check_sequence(c, 10 * shape[s][0], 1, 1)),
                         calls[s].device);
            calls[s].out = check_output(c, IMPL_MAX_IO, 40 * shape[s][0]);
            calls[s].description =
                apply_module(c, check_text(c, "{\"kind\":\"tag_dim\",\"dim\":%d}", dim));
        }
        check_note(c, "K=%d dim %d: ", k, dim);
        check_accepted(c, "status of apply", apply_try(c, calls, k));
        for (int s = 0; s < k; ++s) {
            const size_t seen = dim < 0 ? 2 : shape[s][dim];
            const char *what = check_text(c, "x + 1000 * what call %d sees", s);

            check_shape(c, what, &calls[s].out[0], 2, shape[s]);
            check_values(c, what, &calls[s].out[0], 10 * shape[s][0],
                         check_sequence(c, 10 * shape[s][0], 1 + 1000 * (double)seen, 1));
        }
    }
}

/* ---- APPLY-04: threads ----------------------------------------------------------------------- */

/* One after another they sleep at least k * ms. At the same time they are faster, at least once in
 * ten tries on a machine that has other work. */
static void together(struct check *c)
{
    const int k = primitive_some(c);
    const int ms = 120 / k;
    uint64_t best = UINT64_MAX;

    for (int attempt = 0; attempt < 10 && best >= (uint64_t)k * (uint64_t)ms; ++attempt) {
        struct impl_call *calls = apply_calls(c, primitive_order(c, k), k, 1);
        uint64_t began;

        for (int s = 0; s < k; ++s)
            calls[s].description =
                apply_module(c, check_text(c, "{\"kind\":\"sleep\",\"forward_ms\":[%d]}", ms));
        began = check_now_ms();
        check_accepted(c, "status of apply", apply_try(c, calls, k));
        if (check_now_ms() - began < best)
            best = check_now_ms() - began;
        for (int s = 0; s < k; ++s)
            check_values(c, check_text(c, "output of call %d", s), &calls[s].out[0], 1,
                         check_sequence(c, 1, 1 + 10.0 * s, 0));
    }
    check_at_most(c, check_text(c, "the shortest ms for %d calls that sleep %d ms each", k, ms),
                  (long long)best, k * ms - 1);
}

static void threads(struct check *c, int k)
{
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    struct impl_apply op = {.n = k, .grad = true, .train = true, .trace = trace};

    op.calls = apply_calls(c, primitive_order(c, k), k, 2);
    for (int s = 0; s < k; ++s)
        op.calls[s].description = apply_module(c, "{\"kind\":\"identity\"}");
    check_apply(c, &op);
    check_int(c, "calls in the trace", trace->replicas, k);
    if (k == 1)
        check_true(c, trace->replica[0].thread == trace->caller,
                   "a single call must run in the thread of the caller");
    for (int s = 1; s < k; ++s)
        for (int other = 0; other < s; ++other)
            check_true(c, trace->replica[s].thread != trace->replica[other].thread,
                       "the calls %d and %d ran in one thread", other, s);
}

/* ---- APPLY-05, 06: modes and devices --------------------------------------------------------- */

static void modes(struct check *c, int k)
{
    static const int modes[] = {3, 0, 1, 2, 0, 3, 2, 1};

    for (int step = 0; step < 8; ++step) {
        struct impl_apply op = {
            .n = k, .grad = (modes[step] & 1) != 0, .train = (modes[step] & 2) != 0};

        op.calls = apply_calls(c, primitive_order(c, k), k, 2);
        for (int s = 0; s < k; ++s)
            op.calls[s].description = apply_module(c, "{\"kind\":\"tag_mode\"}");
        check_note(c, "K=%d grad %d train %d: ", k, op.grad, op.train);
        check_apply(c, &op);
        for (int s = 0; s < k; ++s)
            check_values(c, check_text(c, "x + 1000 * grad + 2000 * train of call %d", s),
                         &op.calls[s].out[0], 2,
                         check_sequence(c, 2, 1 + 10.0 * s + 1000.0 * modes[step], 1));
    }
}

static void current_devices(struct check *c, int k)
{
    for (int turn = 0; turn < k && turn < 3; ++turn) {
        const int *order = primitive_order(c, k);
        int devices[IMPL_MAX_DEVICES];
        struct impl_call *calls;

        for (int s = 0; s < k; ++s)
            devices[s] = order[(s + turn) % k];
        calls = apply_calls(c, devices, k, 2);
        for (int s = 0; s < k; ++s)
            calls[s].description = apply_module(c, "{\"kind\":\"tag_device\"}");
        check_note(c, "K=%d: ", k);
        check_accepted(c, "status of apply", apply_try(c, calls, k));
        for (int s = 0; s < k; ++s) {
            check_values(c, check_text(c, "x + 1000 * (the device of call %d, + 1)", s),
                         &calls[s].out[0], 2,
                         check_sequence(c, 2, 1 + 10.0 * s + 1000.0 * (devices[s] + 1), 1));
            check_device(c, "output", &calls[s].out[0], devices[s]);
        }
    }
}

/* An output that a module makes without any input is on the module's device. */
static void made_inside(struct check *c, int k)
{
    const int *devices = primitive_order(c, k);
    struct impl_call *calls = apply_calls(c, devices, k, 2);

    for (int s = 0; s < k; ++s) {
        calls[s].n_in = 0;
        calls[s].description =
            apply_module(c, check_text(c,
                                       "{\"kind\":\"constant\",\"rows\":2,\"columns\":1,"
                                       "\"weight\":[%d,%d]},{\"kind\":\"tag_device\"}",
                                       s + 3, s + 5));
    }
    check_accepted(c, "status of apply", apply_try(c, calls, k));
    for (int s = 0; s < k; ++s) {
        check_values(c, check_text(c, "a constant + 1000 * (the device of call %d, + 1)", s),
                     &calls[s].out[0], 2,
                     check_sequence(c, 2, s + 3 + 1000.0 * (devices[s] + 1), 2));
        check_device(c, "output", &calls[s].out[0], devices[s]);
    }
}

static const struct check_case cases[] = {
    {"APPLY-02.calls", "APPLY-02", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 2, order_of_calls},
    {"APPLY-03.whole", "APPLY-03", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 1, .each = whole_inputs},
    {"APPLY-04.together", "APPLY-04", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 2, together},
    {"APPLY-04.threads", "APPLY-04", MUST, REPORTED, DP, IMPL_CAP_APPLY | IMPL_CAP_TRACE, 1,
     .each = threads},
    {"APPLY-05.calls", "APPLY-05", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 1, .each = modes},
    {"APPLY-06.calls", "APPLY-06", MUST, REPORTED, DP, IMPL_CAP_APPLY, 1, .each = current_devices},
    {"APPLY-06.made", "APPLY-06", MUST, REPORTED, DP, IMPL_CAP_APPLY, 1, .each = made_inside},
    {"APPLY-11.same_device", "APPLY-11", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 1, same_device},
};
const struct check_table apply_table = CHECK_TABLE(cases);
