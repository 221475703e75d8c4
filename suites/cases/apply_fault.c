/* apply_fault.c: area APPLY: the effects of a failing replica. */
#include "golden.h"
#include "primitive.h"

#include <string.h>

#define AFFINE "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"
#define ANY                                                                                        \
    (ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EDEVICE) | ALLOW(IMPL_EFAULT) |          \
     ALLOW(IMPL_ENODEV))

/* A call outside a wrapper may be replica 0, or have its number. */
static const char *failing(struct check *c, int call, const char *status, const char *text)
{
    return check_text(c,
                      "{\"kind\":\"fail\",\"replicas\":[0,%d],\"when\":\"forward\",\"status\":\"%"
                      "s\",\"text\":\"%s\"}",
                      call, status, text);
}

static const char *sleeping(struct check *c, int ms)
{
    return check_text(c, "{\"kind\":\"sleep\",\"forward_ms\":[%d]}", ms);
}

/* The same for replica s of a wrapped module. */
static const char *failing_in(struct check *c, int s, const char *when, const char *status,
                              const char *text)
{
    return check_text(
        c,
        "{\"kind\":\"fail\",\"replicas\":[%d],\"when\":\"%s\",\"status\":\"%s\",\"text\":\"%s\"}",
        s, when, status, text);
}

static const char *sleeping_in(struct check *c, int k, int s, int ms)
{
    int list[IMPL_MAX_DEVICES + 1] = {0};

    list[s] = ms;
    return check_text(c, "{\"kind\":\"sleep\",\"forward_ms\":%s}", check_list(c, list, k + 1));
}

static int try_forward(struct check *c, struct impl_model *model, int k)
{
    const size_t n = 3 * (size_t)k - 1;

    return check_try_one(c, model, check_counted(c, n, 1, 1), true, true);
}

/* Checks the error of the last call: kind, replica, device, and the text of the layer in its
 * text. */
static void must_report(struct check *c, int got, const struct golden_failure *want)
{
    const struct impl_error *error = check_error(c);

    check_refused(c, "a failing replica", got, ANY);
    check_int(c, "status of the error", got, want->status);
    check_int(c, "replica named in the error", error->replica, want->replica);
    check_int(c, "device named in the error", error->device, want->device);
    check_true(c, strstr(error->text, want->text) != NULL,
               "the text of the error must contain '%s', it is '%s'", want->text, error->text);
}

/* ---- APPLY-12, for calls --------------------------------------------------------------------- */

/* Makes k calls of modules that work. */
static void must_work(struct check *c, int k)
{
    struct impl_call *calls = apply_calls(c, primitive_order(c, k), k, 2);

    for (int s = 0; s < k; ++s)
        calls[s].description = apply_module(c, AFFINE);
    check_accepted(c, "status of the next apply", apply_try(c, calls, k));
    for (int s = 0; s < k; ++s)
        check_values(c, check_text(c, "output %d of the next apply", s), &calls[s].out[0], 2,
                     check_sequence(c, 2, 3 + 20.0 * s, 2));
}

static void apply_reuse(struct check *c, int k)
{
    for (int bad = 0; bad<k; bad += k> 4 ? 3 : 1) {
        struct impl_call *calls = apply_calls(c, primitive_order(c, k), k, 2);

        for (int s = 0; s < k; ++s)
            calls[s].description =
                apply_module(c, s == bad ? failing(c, s, "fault", "once") : AFFINE);
        check_note(c, "K=%d, call %d fails: ", k, bad);
        check_refused(c, "a failing call", apply_try(c, calls, k), ANY);
        must_work(c, k);
    }
}

/* ---- APPLY-08: all have ended ---------------------------------------------------------------- */

enum { SLEEP_MS = 10 };

/* One call fails at once, and another one sleeps. */
static void join_calls(struct check *c, int k, int bad, int sleeper)
{
    struct impl_call *calls = apply_calls(c, primitive_order(c, k), k, 2);
    uint64_t began;

    for (int s = 0; s < k; ++s)
        calls[s].description = apply_module(c, s == bad       ? failing(c, s, "fault", "at once")
                                               : s == sleeper ? sleeping(c, SLEEP_MS)
                                                              : AFFINE);
    check_note(c, "K=%d, call %d fails and call %d sleeps %d ms: ", k, bad, sleeper, SLEEP_MS);
    began = check_now_ms();
    check_refused(c, "a failing call", apply_try(c, calls, k), ALLOW(IMPL_EFAULT));
    check_at_least(c, "ms until it returned", (long long)(check_now_ms() - began), SLEEP_MS - 1);
    must_work(c, k);
}

static void apply_joined(struct check *c)
{
    const int k = primitive_some(c);

    join_calls(c, k, 0, k - 1);
    join_calls(c, k, k - 1, 0);
}

static void join_replicas(struct check *c, int k, int bad, int sleeper)
{
    struct impl_model *model = check_parallel(
        c, k, primitive_order(c, k), "",
        check_text(c, "%s,%s," AFFINE, failing_in(c, bad, "forward", "fault", "at once"),
                   sleeping_in(c, k, sleeper, SLEEP_MS)));
    const uint64_t began = check_now_ms();

    check_note(c, "K=%d, replica %d fails and replica %d sleeps %d ms: ", k, bad, sleeper,
               SLEEP_MS);
    check_refused(c, "a failing replica", try_forward(c, model, k), ALLOW(IMPL_EFAULT));
    check_at_least(c, "ms until it returned", (long long)(check_now_ms() - began), SLEEP_MS - 1);
    check_grad_none(c, model, 0);
    check_model_close(c, model);
    golden_works(c, k);
}

static void apply_joined_forward(struct check *c)
{
    const int k = primitive_some(c);

    join_replicas(c, k, 0, k - 1);
    join_replicas(c, k, k - 1, 0);
}

/* ---- APPLY-09: which failure ----------------------------------------------------------------- */

/* Lets call `bad` fail after some ms. */
static void let_fail(struct check *c, struct impl_call *calls, int bad, int ms, const char *status,
                     const char *text)
{
    calls[bad].description =
        apply_module(c, check_text(c, "%s,%s", sleeping(c, ms), failing(c, bad, status, text)));
}

/* Two calls fail; if `late`, the one with the lower number fails last, *ms later. */
static void two_calls_fail(struct check *c, int k, bool late, int *ms)
{
    const bool lowest = check_choice(c, IMPL_FAILING) == IMPL_LOWEST;
    const int *devices = primitive_order(c, k);
    const int low = k > 2 ? 1 : 0, high = k - 1;
    const struct golden_failure lower = {IMPL_EINVAL, low, devices[low], "the lower one"},
                                higher = {IMPL_ESHAPE, high, devices[high], "the higher one"},
                                *first = late ? &higher : &lower, *last = late ? &lower : &higher;
    struct impl_call *calls = apply_calls(c, devices, k, 2);
    int status;

    for (int s = 0; s < k; ++s)
        calls[s].description = apply_module(c, AFFINE);
    check_note(c, "K=%d, the calls %d and %d fail, %d later: ", k, low, high, late ? low : high);
    do {
        let_fail(c, calls, low, late ? *ms : 0, "inval", lower.text);
        let_fail(c, calls, high, late ? 0 : *ms, "shape", higher.text);
        status = apply_try(c, calls, k);
    } while (!lowest && golden_try_later(c, status, last, ms));
    must_report(c, status, lowest ? &lower : first);
    must_work(c, k);
}

static void two_replicas_fail(struct check *c, int k, bool late, int *ms)
{
    const bool lowest = check_choice(c, IMPL_FAILING) == IMPL_LOWEST;
    const int *ids = primitive_order(c, k);
    const int low = k > 2 ? 1 : 0, high = k - 1;
    const struct golden_failure lower = {IMPL_EINVAL, low, ids[low], "the lower one"},
                                higher = {IMPL_ESHAPE, high, ids[high], "the higher one"},
                                *first = late ? &higher : &lower, *last = late ? &lower : &higher;
    struct impl_model *model = NULL;
    int status;

    check_note(c, "K=%d, the replicas %d and %d fail, %d later: ", k, low, high, late ? low : high);
    do {
        if (model)
            check_model_close(c, model);
        model = check_parallel(c, k, ids, "",
                               check_text(c, "%s,%s,%s," AFFINE,
                                          sleeping_in(c, k, late ? low : high, *ms),
                                          failing_in(c, low, "forward", "inval", lower.text),
                                          failing_in(c, high, "forward", "shape", higher.text)));

        status = try_forward(c, model, k);
    } while (!lowest && golden_try_later(c, status, last, ms));
    must_report(c, status, lowest ? &lower : first);
    check_model_close(c, model);
    golden_works(c, k);
}

static void apply_calls_fail(struct check *c)
{
    int ms = 6;

    two_calls_fail(c, primitive_some(c), true, &ms);
    two_calls_fail(c, primitive_some(c), false, &ms);
}

static void apply_replicas_fail(struct check *c)
{
    int ms = 6;

    two_replicas_fail(c, primitive_some(c), true, &ms);
    two_replicas_fail(c, primitive_some(c), false, &ms);
}

/* ---- APPLY-10: what is reported -------------------------------------------------------------- */

static const struct kind {
    const char *word, *text;
    int status;
} kinds[] = {
    {"inval", "wonderful", IMPL_EINVAL},
    {"fault", "a bad day, error 17", IMPL_EFAULT},
    {"shape", "3 is not 4", IMPL_ESHAPE},
    {"device", "elsewhere", IMPL_EDEVICE},
};

static void apply_report(struct check *c, int k)
{
    for (int bad = 0; bad < k; ++bad) {
        const int *devices = primitive_order(c, k);
        const struct kind *kind = &kinds[(bad + k) % 4];
        struct impl_call *calls = apply_calls(c, devices, k, 2);

        for (int s = 0; s < k; ++s)
            calls[s].description =
                apply_module(c, s == bad ? failing(c, s, kind->word, kind->text) : AFFINE);
        check_note(c, "K=%d, call %d fails with '%s': ", k, bad, kind->word);
        must_report(c, apply_try(c, calls, k),
                    &(struct golden_failure){kind->status, bad, devices[bad], kind->text});
        must_work(c, k);
    }
}

static void report_in(struct check *c, int k)
{
    const bool backward = check_variant(c) == 1;
    const char *when = backward ? "backward" : "forward";

    for (int bad = 0; bad < k; ++bad) {
        const int *ids = primitive_order(c, k);
        const struct kind *kind = &kinds[(bad + k) % 4];
        struct impl_model *model = check_parallel(
            c, k, ids, "",
            check_text(c, AFFINE ",%s", failing_in(c, bad, when, kind->word, kind->text)));
        struct impl_backward op = {.n_in = 1, .grad_in = check_output(c, 1, 4096)};
        int status = try_forward(c, model, k);

        check_note(c, "K=%d, replica %d fails in %s with '%s': ", k, bad, when, kind->word);
        if (backward) {
            check_accepted(c, "status of the forward", status);
            status = check_try_backward(c, model, &op);
        }
        must_report(c, status, &(struct golden_failure){kind->status, bad, ids[bad], kind->text});
        check_model_close(c, model);
        golden_works(c, k);
    }
}

/* ---- APPLY-12: once more --------------------------------------------------------------------- */

static const char *fails_once(struct check *c, int replica, const char *when)
{
    return check_text(c,
                      "{\"kind\":\"fail\",\"replicas\":[%d],\"when\":\"%s\","
                      "\"status\":\"fault\",\"text\":\"once\",\"at\":3}",
                      replica, when);
}

/* In a backward the failing layer comes first: when it fails, the replicas have gradients already.
 */
static void apply_retry(struct check *c, int k)
{
    const bool backward = check_variant(c) == 1;
    const char *when = backward ? "backward" : "forward";
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(10, k, size);

    for (int replica = 0; replica<m; replica += m> 1 ? m - 1 : 1) {
        const char *fails = fails_once(c, replica, when);

        check_note(c, "K=%d, replica %d fails in its third %s: ", k, replica, when);
        /* Makes five steps of SGD on 1..10 with the upstream gradient 1..10; the third one fails
         * once. */
        struct impl_model *model = check_parallel(
            c, k, primitive_order(c, k), "",
            check_text(c, "%s,%s", backward ? fails : AFFINE, backward ? AFFINE : fails));
        struct impl_forward forward = {.n_in = 1, .grad = true, .train = true};
        const struct impl_array *g = check_counted(c, 10, 1, 1);

        forward.in = check_counted(c, 10, 1, 1);
        for (int attempt = 1, step = 0; step < 5; ++attempt) {
            const double w = 2 - 385.0 / 1024 * step, b = 1 - 55.0 / 1024 * step;
            struct impl_backward back = {
                .n_grad_out = 1, .n_in = 1, .grad_in = check_output(c, 1, 64)};
            int status, forwarded;

            forward.out = check_output(c, IMPL_MAX_IO, 64);
            /* Gradients before a call that fails must be there after it. */
            check_set(c, model, IMPL_GRAD, 0, (const double[]){1000});
            check_set(c, model, IMPL_GRAD, 1, (const double[]){123});
            status = forwarded = check_try_forward(c, model, &forward);
            if (status == IMPL_OK) {
                back.grad_out =
                    primitive_upstream(c, &forward.out[0], primitive_slice(c, g, 0, 0, 10));
                check_values(c, "output", &forward.out[0], 10, check_sequence(c, 10, w + b, w));
                if (attempt != 3)
                    check_zero_grad(c, model);
                status = check_try_backward(c, model, &back);
            }
            if (attempt == 3) {
                check_refused(c, "a failing replica", status, ALLOW(IMPL_EFAULT));
                check_int(c, "the forward went well", forwarded == IMPL_OK, backward);
                check_grads_are(c, model, 1000, 123);
                check_value_is(c, model, 0, w);
                check_value_is(c, model, 1, b);
                continue;
            }
            check_accepted(c, check_text(c, "status of attempt %d", attempt), status);
            check_step(c, model, 1.0F / 1024, 0);
            ++step;
        }
        check_value_is(c, model, 0, 2 - 385.0 / 1024 * 5);
        check_value_is(c, model, 1, 1 - 55.0 / 1024 * 5);
    }
}

static const struct check_case cases[] = {
    {"APPLY-08.calls", "APPLY-08", MUST_REFUSE, OBSERVED, DP, IMPL_CAP_APPLY, 2, apply_joined},
    {"APPLY-08.forward", "APPLY-08", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, apply_joined_forward},
    {"APPLY-09.lowest", "APPLY-09", MUST_REFUSE, OBSERVED, DP, IMPL_CAP_APPLY, 2, apply_calls_fail,
     0, IMPL_FAILING, IMPL_LOWEST},
    {"APPLY-09.lowest_forward", "APPLY-09", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     apply_replicas_fail, 0, IMPL_FAILING, IMPL_LOWEST},
    {"APPLY-09.first", "APPLY-09", MUST_REFUSE, OBSERVED, DP, IMPL_CAP_APPLY, 2, apply_calls_fail,
     0, IMPL_FAILING, IMPL_FIRST},
    {"APPLY-09.first_forward", "APPLY-09", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     apply_replicas_fail, 0, IMPL_FAILING, IMPL_FIRST},
    {"APPLY-10.calls", "APPLY-10", MUST_REFUSE, REPORTED, DP, IMPL_CAP_APPLY, 1,
     .each = apply_report},
    {"APPLY-10.forward", "APPLY-10", MUST_REFUSE, REPORTED, DP, PARALLEL, 2, .each = report_in},
    {"APPLY-10.backward", "APPLY-10", MUST_REFUSE, REPORTED, DP, PARALLEL, 2, .each = report_in,
     .variant = 1},
    {"APPLY-12.forward", "APPLY-12", MUST, OBSERVED, DP, PARALLEL, 1, .each = apply_retry},
    {"APPLY-12.backward", "APPLY-12", MUST, OBSERVED, DP, PARALLEL, 2, .each = apply_retry,
     .variant = 1},
    {"APPLY-12.calls", "APPLY-12", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 1, .each = apply_reuse},
};
const struct check_table apply_fault_table = CHECK_TABLE(cases);
