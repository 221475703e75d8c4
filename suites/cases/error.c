/* error.c: area ERR: which calls are errors, and of which kind. */
#include "golden.h"

#include <string.h>

enum { N = 10, ROOM = 16384 };

static int error_try_rows(struct check *c, struct impl_model *model, size_t n)
{
    struct impl_array *x = check_counted(c, n, 1, 1);

    return check_try_one(c, model, check_needs_grad(x), true, true);
}

/* ---- ERR-01: something lies on the wrong device ---------------------------------------------- */

/* Each model has one part on device 1 while D0 is 0; it works after it is moved to 0. */
static const char *const misplaced[] = {
    "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"device\":1}",
    "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},{\"kind\":\"counter\",\"device\":1}",
    ("{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},{\"kind\":\"sequence\",\"layers\":"
     "[{\"kind\":\"identity\"},{\"kind\":\"unused\",\"device\":1}]}"),
};
enum { MISPLACED = sizeof misplaced / sizeof misplaced[0] };

static void wrong_device(struct check *c, int k)
{
    for (size_t form = 0; form < MISPLACED; ++form) {
        struct impl_model *model = check_parallel(c, k, NULL, "", misplaced[form]);
        check_note(c, "K=%d, model %zu: ", k, form);
        for (int turn = 0; turn < 2; ++turn)
            check_refused(c, "a parameter or buffer that is not on the first device",
                          error_try_rows(c, model, N), ALLOW(IMPL_EDEVICE));
        check_to(c, model, 0);
        check_values(c, "output after a move to the first device",
                     check_forward(c, model, check_counted(c, N, 1, 1)), N,
                     check_sequence(c, N, 3, 2));
    }
}

static void both_devices(struct check *c)
{
    for (size_t form = 0; form < MISPLACED; ++form) {
        const struct impl_error *error = check_error(c);
        struct impl_model *model = check_parallel(c, 2, NULL, "", misplaced[form]);
        check_note(c, "model %zu: ", form);
        check_refused(c, "a parameter or buffer that is not on the first device",
                      error_try_rows(c, model, N), ALLOW(IMPL_EDEVICE));
        check_true(c,
                   (error->device == 0 && error->device_also == 1) ||
                       (error->device == 1 && error->device_also == 0),
                   "the error names the devices %d and %d, must be 0 and 1", error->device,
                   error->device_also);
        check_to(c, model, 0);
        check_accepted(c, "status of a forward there", error_try_rows(c, model, N));
    }
}

/* ---- ERR-02: a replica fails ----------------------------------------------------------------- */

/* Two replicas fail, the lower one some ms after the higher one, in forward or in backward. */
struct failing {
    struct golden_failure lower, higher;
    struct impl_model *model;
};

static struct failing two_failing(struct check *c, int k, const char *when, int ms)
{
    const int low = k > 3 ? 1 : 0, high = k > 3 ? 3 : k - 1;
    struct failing f = {.lower = {IMPL_EINVAL, low, mixed_ids(k)[low], "the lower one"},
                        .higher = {IMPL_ESHAPE, high, mixed_ids(k)[high], "the higher one"}};
    const char *delays = check_text(c, low == 0 ? "%d,0" : "0,%d,0", ms), *none = "0";
    const bool backward = when[0] == 'b';

    f.model =
        check_model(c,
                    "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
                    "{\"kind\":\"sleep\",\"forward_ms\":[%s]},"
                    "{\"kind\":\"fail\",\"when\":\"%s\",\"replicas\":[%d],\"status\":\"inval\","
                    "\"text\":\"the lower one\"},"
                    "{\"kind\":\"fail\",\"when\":\"%s\",\"replicas\":[%d],\"status\":\"shape\","
                    "\"text\":\"the higher one\"},"
                    "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"
                    "{\"kind\":\"sleep\",\"backward_ms\":[%s]}]}]}",
                    check_list(c, mixed_ids(k), k), backward ? none : delays, when, low, when, high,
                    backward ? delays : none);
    return f;
}

/* Checks the error of a replica: its kind, its text and its device. */
static void error_is(struct check *c, int status, const struct golden_failure *want)
{
    const struct impl_error *error = check_error(c);

    check_refused(c, "a step in which replicas fail", status, ALLOW(want->status));
    check_true(c, strstr(error->text, want->text) != NULL, "the error says '%s', must contain '%s'",
               error->text, want->text);
    check_int(c, "the replica the error names", error->replica, want->replica);
    check_int(c, "the device the error names", error->device, want->device);
}

static void two_fail(struct check *c)
{
    const bool lowest = check_choice(c, IMPL_FAILING) == IMPL_LOWEST;
    int ms = 8;

    for (int i = 1, k; (k = check_count(c, i)) != 0 && k <= 4; ++i)
        for (int backward = 0; backward < 2; ++backward) {
            const char *when = backward != 0 ? "backward" : "forward";
            struct failing f;
            int status;

            check_note(c, "K=%d, %s: ", k, when);
            do {
                f = two_failing(c, k, when, ms);
                status = error_try_rows(c, f.model, N);
                if (backward != 0) {
                    struct impl_backward op = {.n_grad_out = 1, .n_in = 1};

                    check_accepted(c, "status of the forward before", status);
                    op.grad_out = check_on(check_counted(c, N, 1, 1), mixed_ids(k)[0]);
                    op.grad_in = check_output(c, 1, ROOM);
                    status = check_try_backward(c, f.model, &op);
                }
            } while (!lowest && golden_try_later(c, status, &f.lower, &ms));
            error_is(c, status, lowest ? &f.lower : &f.higher);
            golden_works(c, k);
        }
}

/* Every kind of error, from every replica, is reported unchanged. */
static void kind_kept(struct check *c)
{
    static const struct {
        int status;
        const char *word;
    } kinds[] = {{IMPL_EINVAL, "inval"},
                 {IMPL_ESHAPE, "shape"},
                 {IMPL_EDEVICE, "device"},
                 {IMPL_EFAULT, "fault"},
                 {IMPL_ENODEV, "nodev"}};
    const int k = check_devices(c) >= 4 ? 4 : check_devices(c);
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(N, k, size);

    for (int s = 0; s < m; ++s)
        for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
            struct impl_model *model =
                check_model(c,
                            "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
                            "{\"kind\":\"affine\",\"weight\":[2]},"
                            "{\"kind\":\"fail\",\"replicas\":[%d],\"status\":\"%s\","
                            "\"text\":\"wonderful %d\"}]}]}",
                            check_list(c, mixed_ids(k), k), s, kinds[kind].word, s);
            check_note(c, "replica %d, %s: ", s, kinds[kind].word);
            error_is(c, error_try_rows(c, model, N),
                     &(struct golden_failure){kinds[kind].status, s, mixed_ids(k)[s],
                                              check_text(c, "wonderful %d", s)});
            golden_works(c, k);
        }
}

/* The first replica fails at once; the call returns when the slowest one has ended. */
static void error_joined(struct check *c)
{
    const int k = check_devices(c) >= 4 ? 4 : check_devices(c);
    struct impl_model *model =
        check_model(c,
                    "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
                    "{\"kind\":\"fail\",\"replicas\":[0],\"text\":\"at once\"},"
                    "{\"kind\":\"sleep\",\"forward_ms\":[0,15]}]}]}",
                    check_list(c, mixed_ids(k), k));
    const uint64_t begin = check_now_ms();
    const int status = error_try_rows(c, model, N);

    check_refused(c, "a forward in which replica 0 fails", status, ALLOW(IMPL_EFAULT));
    check_at_least(c, "milliseconds until the call returned", (long long)(check_now_ms() - begin),
                   14);
    golden_works(c, k);
}

/* ---- ERR-06, -07 ----------------------------------------------------------------------------- */

static void fewer_rows_than_devices(struct check *c)
{
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        for (size_t n = 1; n < (size_t)k; ++n) {
            struct impl_model *model = check_parallel(
                c, k, mixed_ids(k), "",
                "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},{\"kind\":\"tag_replica\"}");
            double y[IMPL_MAX_DEVICES], dw = 0;
            check_note(c, "K=%d N=%zu: ", k, n);
            for (size_t r = 0; r < n; ++r) {
                y[r] = 2 * (double)(r + 1) + 1 + 1000 * (double)(r + 1);
                dw += (double)((r + 1) * (r + 5));
            }
            check_values(c, "output",
                         check_forward(c, model, check_needs_grad(check_counted(c, n, 1, 1))), n,
                         y);
            check_values(
                c, "input gradient",
                check_backward(c, model, check_on(check_counted(c, n, 5, 1), mixed_ids(k)[0])), n,
                check_sequence(c, n, 10, 2));
            check_grad_is(c, model, 0, dw);
        }
}

/* The error comes when the model is opened, for any place in the list. */
static void no_such_device(struct check *c)
{
    const int devices = check_devices(c);
    const int wrong[] = {devices, 99, -2, -7, 1000};
    struct impl_model *model;

    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; ++w)
        for (int at = 0; at <= devices && at < 3; ++at) {
            int ids[4] = {0, 1, 2, 3};
            ids[at] = wrong[w];
            check_note(c, "device_ids %s: ", check_list(c, ids, at + 1));
            check_refused(
                c, "a device that does not exist",
                check_try_model(c,
                                check_text(c,
                                           "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,"
                                           "\"layers\":[{\"kind\":\"identity\"}]}]}",
                                           check_list(c, ids, at + 1)),
                                1, &model),
                ALLOW(IMPL_ENODEV) | ALLOW(IMPL_EINVAL) | ALLOW(IMPL_EDEVICE));
        }
    check_note(c, "output_device: ");
    check_refused(c, "a device that does not exist",
                  check_try_model(c,
                                  "{\"layers\":[{\"kind\":\"parallel\",\"output_device\":99,"
                                  "\"layers\":[{\"kind\":\"identity\"}]}]}",
                                  1, &model),
                  ALLOW(IMPL_ENODEV) | ALLOW(IMPL_EINVAL) | ALLOW(IMPL_EDEVICE));
    golden_works(c, golden_most(c, 8));
}

static const struct check_case cases[] = {
    {"ERR-01.refused", "ERR-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, .each = wrong_device},
    {"ERR-01.named", "ERR-01", MUST_REFUSE, REPORTED, DP, PARALLEL, 2, both_devices},
    {"ERR-02.lowest", "ERR-02", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, two_fail, 0, IMPL_FAILING,
     IMPL_LOWEST},
    {"ERR-02.first", "ERR-02", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, two_fail, 0, IMPL_FAILING,
     IMPL_FIRST},
    {"ERR-02.kind", "ERR-02", MUST_REFUSE, REPORTED, DP, PARALLEL, 2, kind_kept},
    {"ERR-02.joined", "ERR-02", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, error_joined},
    {"ERR-06.few_rows", "ERR-06", MUST, OBSERVED, DP, PARALLEL, 2, fewer_rows_than_devices},
    {"ERR-07.no_device", "ERR-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, no_such_device},
};
const struct check_table error_table = CHECK_TABLE(cases);
