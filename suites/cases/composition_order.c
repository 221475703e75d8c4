/* composition_order.c: the order is check, scatter, replicate, apply, gather: if two of them fail,
 * the error of the earlier one is reported. One device and one row take shorter ways. */
#include "golden.h"

static const char failing[] =
    "{\"kind\":\"fail\",\"replicas\":[0,1,2,3,4,5,6,7],\"status\":\"fault\",\"text\":\"ran\","
    "\"at\":1},";

/* Opens 2x + 1 with its parameters on another device than the first. */
static struct impl_model *elsewhere(struct check *c, int k, int device, const char *before)
{
    return golden_parallel(
        c, k, "",
        check_text(c, "%s{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"device\":%d}", before,
                   device));
}

/* ---- of two errors the earlier one ----------------------------------------------------------- */

/* The input cannot be cut, but the wrong device is found before that. */
static void comp_check_before_scatter(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);
    struct impl_model *model = elsewhere(c, k, ids[1], "");
    const double zero = 0;

    golden_prefill(c, model);
    check_refused(c, "a model on the wrong device, with an input that cannot be cut",
                  golden_try_one(c, model, check_array(c, 0, NULL, &zero)), ALLOW(IMPL_EDEVICE));
    check_to(c, model, ids[0]);
    golden_unharmed(c, model);
}

/* Nothing runs if a parameter is on the wrong device: the counter before it does not count, and the
 * layer that would fail once is not reached. */
static void comp_check_before_apply(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);
    struct impl_model *model = golden_parallel(
        c, k, "",
        check_text(c, "%s{\"kind\":\"counter\"},{\"kind\":\"affine\",\"device\":%d}", failing,
                   ids[1]));

    check_refused(c, "a model on the wrong device whose replicas fail",
                  golden_try_one(c, model, golden_rows(c, 10)), ALLOW(IMPL_EDEVICE));
    check_value_is(c, model, 0, 0);
    check_to(c, model, ids[0]);
    /* only now the replicas run their first forward */
    check_refused(c, "a forward whose replicas fail", golden_try_one(c, model, golden_rows(c, 10)),
                  ALLOW(IMPL_EFAULT));
    check_model_close(c, model);
    golden_works(c, k);
}

static void comp_scatter_before_apply(struct check *c, int k)
{
    struct impl_model *model =
        golden_parallel(c, k, "", check_text(c, "%s%s", failing, GOLDEN_AFFINE));
    const double zero = 0;

    golden_prefill(c, model);
    check_refused(c, "an input that cannot be cut, for replicas that fail",
                  golden_try_one(c, model, check_array(c, 0, NULL, &zero)), GOLDEN_UNFIT);
    check_refused(c, "a forward whose replicas fail", golden_try_one(c, model, golden_rows(c, 10)),
                  ALLOW(IMPL_EFAULT));
    golden_unharmed(c, model);
}

/* The outputs could not be gathered, but one replica fails before that. */
static void comp_apply_before_gather(struct check *c, int k)
{
    static const char layers[] =
        "{\"kind\":\"widen\",\"columns\":[2,3]},"
        "{\"kind\":\"fail\",\"replicas\":[1],\"status\":\"fault\",\"text\":\"ran\",\"at\":1}";
    struct impl_model *model = golden_parallel(c, k, "", layers);

    check_refused(c, "outputs that do not fit, one of which is not even there",
                  golden_try_one(c, model, golden_matrix(c, 10, 1, 1, 1)), ALLOW(IMPL_EFAULT));
    check_refused(c, "outputs that do not fit",
                  golden_try_one(c, model, golden_matrix(c, 10, 1, 1, 1)), GOLDEN_UNFIT);
    check_model_close(c, model);
    golden_works(c, k);
}

/* ---- one device ------------------------------------------------------------------------------ */

/* The module is called directly: a scalar stays a scalar, because there is no gather. */
static void comp_direct(struct check *c)
{
    static const size_t batches[] = {10, 1, 3};

    for (int device = 0; device < golden_places(c); ++device) {
        struct impl_model *model =
            check_parallel(c, 1, &device, "", GOLDEN_AFFINE ",{\"kind\":\"sum\"}");

        for (int j = 0; j < 3; ++j) {
            const size_t n = batches[j];
            const double count = (double)n, sum = count * (count + 1) / 2, loss = 2 * sum + count;
            const double five = 5;

            check_note(c, "device %d N=%zu: ", device, n);
            check_zero_grad(c, model);
            golden_is(c, "output", check_forward(c, model, golden_rows(c, n)), 0, NULL, &loss);
            golden_is_counted(c, "input gradient",
                              check_backward(c, model, check_array(c, 0, NULL, &five)), n, 10, 0);
            check_grads_are(c, model, 5 * sum, 5 * count);
        }
        check_model_close(c, model);
    }
}

/* The inputs are moved to the device nevertheless. */
static void comp_direct_moved(struct check *c)
{
    const size_t n = 3;

    for (int device = 0; device < golden_places(c); ++device) {
        struct impl_model *model =
            check_parallel(c, 1, &device, "", GOLDEN_AFFINE ",{\"kind\":\"tag_device\"}");

        for (int from = IMPL_HOST; from < golden_places(c); ++from) {
            const struct impl_array *y;

            check_note(c, "device %d, input on %d: ", device, from);
            y = check_forward(c, model, check_on(golden_rows(c, n), from));
            golden_is_counted(c, "output", y, n, 3 + 1000 * (device + 1), 2);
            check_device(c, "output", y, device);
        }
        check_model_close(c, model);
    }
}

/* Nothing is replicated or reduced, and no thread but the caller works. */
static void comp_direct_traffic(struct check *c)
{
    struct impl_model *model = golden_affine(c, 1);
    const size_t n = 10;
    struct golden_call call = {.in = {golden_rows(c, n)}, .n_in = 1};

    golden_forward(c, model, &call);
    golden_is_counted(c, "output", call.out, n, 3, 2);
    check_at_most(c, "replicas", call.trace.replicas, 1);
    check_int(c, "bytes of parameters", (long long)call.trace.replica[0].bytes_to, 0);
    check_int(c, "bytes of gradients", (long long)call.trace.replica[0].bytes_from, 0);
    if (call.trace.replicas == 1)
        check_true(c, call.trace.replica[0].thread == call.trace.caller,
                   "one replica runs on the thread %llu, the caller's is %llu",
                   (unsigned long long)call.trace.replica[0].thread,
                   (unsigned long long)call.trace.caller);
}

/* ---- one row on several devices -------------------------------------------------------------- */

/* There is one replica, and its output is gathered: its scalar becomes a vector of one element. */
static void comp_one_row(struct check *c, int k)
{
    const size_t one = 1;
    struct impl_model *model = golden_parallel(c, k, "", GOLDEN_AFFINE ",{\"kind\":\"sum\"}");
    const double row = 6, y = 13, g = -4, dx = -8;

    golden_prefill(c, model);
    golden_is_vector(c, "output",
                     check_forward(c, model, check_needs_grad(check_vector(c, one, &row))), one,
                     &y);
    golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, one, &g)), one,
                     &dx);
    check_grads_are(c, model, 1000 - 24, 123 - 4);
}

static void comp_one_row_thread(struct check *c, int k)
{
    struct golden_call call = {.in = {golden_rows(c, 1)}, .n_in = 1};

    golden_forward(c, golden_affine(c, k), &call);
    check_int(c, "replicas that ran", call.trace.replicas, 1);
    check_true(c, call.trace.replica[0].thread == call.trace.caller,
               "one replica runs on the thread %llu, the caller's is %llu",
               (unsigned long long)call.trace.replica[0].thread,
               (unsigned long long)call.trace.caller);
}

/* ---- who moves the module -------------------------------------------------------------------- */

/* The wrapper moves the module, to its only device. */
static void comp_wrapper_moves(struct check *c)
{
    for (int from = IMPL_HOST; from < golden_places(c); ++from) {
        struct impl_model *model = elsewhere(c, 1, from, "");

        check_note(c, "one device, module on %d: ", from);
        golden_prefill(c, model);
        golden_unharmed(c, model);
        check_model_close(c, model);
    }
}

/* The wrapper does not move the module if it has several devices. */
static void comp_wrapper_keeps(struct check *c, int k)
{
    struct impl_model *model = elsewhere(c, k, IMPL_HOST, "");

    for (int time = 0; time < 2; ++time) {
        check_note(c, "K=%d, forward %d: ", k, time);
        check_refused(c, "a module on the host", golden_try_one(c, model, golden_rows(c, 10)),
                      ALLOW(IMPL_EDEVICE));
    }
    golden_prefill(c, model);
    check_to(c, model, golden_ids(c, k)[0]);
    golden_unharmed(c, model);
}

/* The third parameter is a buffer that counts the forwards. */
static void comp_functional(struct check *c, int k)
{
    const size_t n = 10;
    const bool kept = k == 1 || check_choice(c, IMPL_REPLICA_0) == IMPL_ALIAS;
    struct impl_model *model =
        golden_parallel(c, k, "\"functional\":true,", GOLDEN_AFFINE ",{\"kind\":\"counter\"}");
    const double w = 2 - 385.0 / 64, b = 1 - 55.0 / 64;

    golden_prefill(c, model);
    golden_unharmed(c, model);
    check_zero_grad(c, model);
    check_forward(c, model, golden_rows(c, n));
    check_backward(c, model, golden_rows(c, n));
    check_step(c, model, 1.0f / 64, 0);
    golden_is_counted(c, "output after a step", check_forward(c, model, golden_rows(c, n)), n,
                      w + b, w);
    check_value_is(c, model, 2, kept ? 3 : 0);
}

/* The function does not move the module, not even to a single device. */
static void comp_functional_keeps(struct check *c, int k)
{
    struct impl_model *model =
        golden_parallel(c, k, "\"functional\":true,",
                        "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"device\":-1}");

    golden_prefill(c, model);
    check_refused(c, "a module on the host", golden_try_one(c, model, golden_rows(c, 10)),
                  ALLOW(IMPL_EDEVICE));
    check_to(c, model, golden_ids(c, k)[0]);
    golden_unharmed(c, model);
}

/* The function cuts and concatenates along dim: each element has 1000 * the columns of its shard
 * added. */
static void comp_functional_dim(struct check *c, int k)
{
    enum { ROWS = 2, COLUMNS = 10 };
    const size_t dim[] = {ROWS, COLUMNS};
    struct impl_model *model =
        golden_parallel(c, k, "\"functional\":true,\"dim\":1,\"output_device\":0,",
                        "{\"kind\":\"tag_dim\",\"dim\":1}");
    size_t size[IMPL_MAX_DEVICES], column = 0;
    const int m = check_shards(COLUMNS, k, size);
    double want[ROWS * COLUMNS];

    for (int s = 0; s < m; ++s)
        for (size_t end = column + size[s]; column < end; ++column)
            for (size_t r = 0; r < ROWS; ++r)
                want[r * COLUMNS + column] =
                    (double)(r * COLUMNS + column + 1) + 1000 * (double)size[s];
    golden_is(c, "output", check_forward(c, model, golden_matrix(c, ROWS, COLUMNS, 1, 1)), 2, dim,
              want);
}

static void comp_functional_output(struct check *c, int k)
{
    struct impl_model *usual = golden_parallel(c, k, "\"functional\":true,", GOLDEN_AFFINE);

    check_device(c, "output", check_forward(c, usual, golden_rows(c, 10)), golden_ids(c, k)[0]);
    for (int device = IMPL_HOST; device < golden_places(c); ++device) {
        struct impl_model *model = golden_parallel(
            c, k, check_text(c, "\"functional\":true,\"output_device\":%d,", device),
            GOLDEN_AFFINE);

        check_note(c, "K=%d, output_device %d: ", k, device);
        check_device(c, "output", check_forward(c, model, golden_rows(c, 10)), device);
        check_model_close(c, model);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define TRACE      (PARALLEL | IMPL_CAP_TRACE)
#define TRAFFIC    (PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC)
#define FUNCTIONAL (PARALLEL | IMPL_CAP_FUNCTIONAL)

static const struct check_case cases[] = {
    {"COMP-03.check_scatter", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = comp_check_before_scatter},
    {"COMP-03.check_apply", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = comp_check_before_apply},
    {"COMP-03.scatter_apply", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = comp_scatter_before_apply},
    {"COMP-03.apply_gather", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = comp_apply_before_gather},
    {"COMP-04.direct", "COMP-04", MUST, OBSERVED, DP, PARALLEL, 1, comp_direct},
    {"COMP-04.moved", "COMP-04", MUST, REPORTED, DP, PARALLEL, 1, comp_direct_moved},
    {"COMP-04.traffic", "COMP-04", MUST, REPORTED, DP, TRAFFIC, 1, comp_direct_traffic},
    {"COMP-05.one_row", "COMP-05", MUST, OBSERVED, DP, PARALLEL, 2, .each = comp_one_row},
    {"COMP-05.thread", "COMP-05", MUST, REPORTED, DP, TRACE, 2, .each = comp_one_row_thread},
    {"COMP-06.wrapper_moves", "COMP-06", MUST, OBSERVED, DP, PARALLEL, 1, comp_wrapper_moves},
    {"COMP-06.wrapper_keeps", "COMP-06", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = comp_wrapper_keeps},
    {"COMP-06.functional", "COMP-06", MUST, OBSERVED, DP, FUNCTIONAL, 1, .each = comp_functional},
    {"COMP-06.functional_keeps", "COMP-06", MUST_REFUSE, OBSERVED, DP, FUNCTIONAL, 1,
     .each = comp_functional_keeps},
    {"COMP-06.functional_dim", "COMP-06", MUST, OBSERVED, DP, FUNCTIONAL, 2,
     .each = comp_functional_dim},
    {"COMP-06.functional_output", "COMP-06", MUST, REPORTED, DP, FUNCTIONAL, 2,
     .each = comp_functional_output},
};
const struct check_table composition_order_table = CHECK_TABLE(cases);
