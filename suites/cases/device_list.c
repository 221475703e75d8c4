/* device_list.c: shard i goes to device_ids[i]; inputs may come from anywhere. */
#include "golden.h"

static const char tag_device[] = "{\"kind\":\"tag_device\"}";

/* Checks x = 1..n, where each row has 1000 * (device + 1) of its shard added. */
static void is_tagged(struct check *c, const struct impl_array *y, size_t n, int k, const int ids[])
{
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(n, k, size);
    double *want = check_memory(c, n * sizeof *want);

    for (int s = 0, row = 0; s < m; ++s)
        for (size_t j = 0; j < size[s]; ++j, ++row)
            want[row] = row + 1 + 1000 * (ids[s] + 1);
    golden_is_vector(c, "rows with their devices", y, n, want);
}

static void dev_order(struct check *c, int k)
{
    static const size_t batches[] = {10, 9, 3, 1};
    const int *ids = golden_ids(c, k);
    struct impl_model *model = golden_parallel(c, k, "", tag_device);

    for (int j = 0; j < 4; ++j) {
        check_note(c, "device_ids %s N=%zu: ", check_list(c, ids, k), batches[j]);
        is_tagged(c, check_forward(c, model, golden_rows(c, batches[j])), batches[j], k, ids);
    }
}

/* The base, the default output and gradients are on the first device of the list. */
static void dev_order_base(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);
    struct impl_model *model = golden_affine(c, k);
    struct impl_param param;

    check_note(c, "device_ids %s: ", check_list(c, ids, k));
    check_param(c, model, 0, &param);
    check_int(c, "device of the parameter", param.device, ids[0]);
    check_device(c, "output", check_forward(c, model, golden_rows(c, 10)), ids[0]);
    check_backward(c, model, golden_rows(c, 10));
    check_grad_is(c, model, 0, 385);
    check_device(c, "gradient", check_get(c, model, IMPL_GRAD, 0), ids[0]);
    check_device(c, "parameter", check_get(c, model, IMPL_VALUE, 1), ids[0]);
}

static void dev_order_trace(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);
    struct golden_call call = {.in = {golden_rows(c, 10)}, .n_in = 1};
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(10, k, size);

    check_note(c, "device_ids %s: ", check_list(c, ids, k));
    golden_forward(c, golden_affine(c, k), &call);
    check_int(c, "replicas that ran", call.trace.replicas, m);
    for (int s = 0; s < m; ++s) {
        const struct impl_replica *replica = &call.trace.replica[s];

        check_int(c, check_text(c, "device of replica %d", s), replica->device, ids[s]);
        check_int(c, check_text(c, "rows of replica %d", s), (long long)replica->rows,
                  (long long)size[s]);
        check_int(c, check_text(c, "calls of replica %d", s), (long long)replica->calls, 1);
    }
}

/* Replica s is the s-th of the list, on any device: it returns rows[s] of its rows. */
static void dev_order_rows(struct check *c, int k)
{
    static const size_t taken[] = {2, 1, 2, 1, 1, 2, 1, 2};
    struct impl_model *model =
        golden_parallel(c, k, "", "{\"kind\":\"take\",\"rows\":[2,1,2,1,1,2,1,2]}," GOLDEN_AFFINE);
    const size_t n = 3 * (size_t)k - 1;
    double y[2 * IMPL_MAX_DEVICES];
    size_t out = 0;

    for (int s = 0; s < k; ++s)
        for (size_t j = 0; j < taken[s < 8 ? s : 7]; ++j)
            y[out++] = 2 * (3 * s + (double)j + 1) + 1;
    check_note(c, "device_ids %s: ", check_list(c, golden_ids(c, k), k));
    golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), out, y);
}

/* Tests all six orders of three devices. */
static void dev_permutations(struct check *c)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const size_t n = 7;

    for (int i = 0; i < 6; ++i) {
        const int *ids = orders[i];
        struct impl_model *model =
            check_parallel(c, 3, ids, "", check_text(c, "%s," GOLDEN_AFFINE, tag_device));
        double y[7];

        for (int row = 0; row < 7; ++row) {
            const int shard = row / 3;

            y[row] = 2 * (row + 1 + 1000 * (ids[shard] + 1)) + 1;
        }
        check_note(c, "device_ids %s: ", check_list(c, ids, 3));
        golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), n, y);
        check_backward(c, model, golden_rows(c, n));
        check_device(c, "gradient", check_get(c, model, IMPL_GRAD, 0), ids[0]);
        check_model_close(c, model);
    }
}

/* ---- inputs from anywhere -------------------------------------------------------------------- */

static void dev_inputs(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *model = golden_affine(c, k);

    for (int from = IMPL_HOST; from < golden_places(c); ++from) {
        const struct impl_array *y, *dx;

        check_note(c, "K=%d, input on %d: ", k, from);
        check_zero_grad(c, model);
        y = check_forward(c, model, check_on(golden_rows(c, n), from));
        golden_is_counted(c, "output", y, n, 3, 2);
        dx = check_backward(c, model, check_on(golden_rows(c, n), y->device));
        golden_is_counted(c, "input gradient", dx, n, 2, 2);
        check_grads_are(c, model, 385, 55);
    }
}

/* Two inputs are on different devices. */
static void dev_inputs_apart(struct check *c, int k)
{
    const size_t n = 9;
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"multiply\"}");

    for (int from = IMPL_HOST; from < golden_places(c); ++from) {
        const int other = golden_places(c) - 2 - from;
        struct golden_call call = {
            .in = {check_on(golden_rows(c, n), from),
                   check_on(check_vector(c, n, check_sequence(c, n, 7, 0)), other)},
            .n_in = 2};

        check_note(c, "K=%d, inputs on %d and %d: ", k, from, other);
        golden_forward(c, model, &call);
        golden_is_counted(c, "output", call.out, n, 7, 7);
    }
}

/* ---- no list: all devices -------------------------------------------------------------------- */

/* 2K - 1 rows make K shards, the last one of one row; each gives one sum. */
static void dev_all(struct check *c)
{
    const int k = check_devices(c);
    const size_t n = 2 * (size_t)k - 1, m = (size_t)k;
    struct impl_model *model = check_model(
        c, "{\"layers\":[{\"kind\":\"parallel\",%s\"layers\":[{\"kind\":\"sum_rows\"}]}]}",
        check_variant(c) == 1 ? "\"functional\":true," : "");
    double y[IMPL_MAX_DEVICES], dx[2 * IMPL_MAX_DEVICES], g[IMPL_MAX_DEVICES];

    for (int s = 0; s < k; ++s) {
        y[s] = s < k - 1 ? 4 * s + 3 : 2 * s + 1;
        g[s] = 5 - 2 * s;
        dx[2 * s] = dx[2 * s + 1] = g[s];
    }
    check_note(c, "all %d devices: ", k);
    golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), m, y);
    golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, m, g)), n, dx);
}

static void dev_all_order(struct check *c)
{
    const int k = check_devices(c);
    const size_t n = 2 * (size_t)k - 1;
    int *ids = check_memory(c, (size_t)k * sizeof *ids);
    struct impl_model *model =
        check_model(c, "{\"layers\":[{\"kind\":\"parallel\",\"layers\":[%s]}]}", tag_device);
    const struct impl_array *y;

    for (int i = 0; i < k; ++i)
        ids[i] = i;
    check_note(c, "all %d devices: ", k);
    y = check_forward(c, model, golden_rows(c, n));
    is_tagged(c, y, n, k, ids);
    check_device(c, "output", y, 0);
}

/* ---- a device twice -------------------------------------------------------------------------- */

static const struct {
    int n, ids[4];
} twice[] = {{2, {0, 0}}, {3, {0, 1, 0}}, {3, {1, 0, 0}}, {4, {0, 1, 1, 0}}};
enum { LISTS = sizeof twice / sizeof twice[0] };

/* Returns for how many of the lists there are devices. */
static int usable(const struct check *c)
{
    return check_devices(c) > 1 ? LISTS : 1;
}

/* Duplicates are refused when the model is opened, or at the latest by the first forward. */
static void dev_duplicates_refused(struct check *c)
{
    for (int i = 0; i < usable(c); ++i) {
        const char *list = check_list(c, twice[i].ids, twice[i].n);
        struct impl_model *model = NULL;
        int status = check_try_model(
            c,
            check_text(c,
                       "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":[%s]}]}",
                       list, GOLDEN_AFFINE),
            1, &model);

        check_note(c, "device_ids %s: ", list);
        if (status == IMPL_OK)
            status = golden_try_one(c, model, golden_rows(c, 10));
        check_refused(c, "a device twice", status, GOLDEN_UNFIT | ALLOW(IMPL_EDEVICE));
        model = golden_affine(c, golden_most(c, 8));
        golden_prefill(c, model);
        golden_unharmed(c, model);
        check_model_close(c, model);
    }
}

static void dev_duplicates_right(struct check *c)
{
    for (int i = 0; i < usable(c); ++i) {
        struct impl_model *model = check_parallel(c, twice[i].n, twice[i].ids, "", GOLDEN_AFFINE);
        const size_t n = 9;

        check_note(c, "device_ids %s: ", check_list(c, twice[i].ids, twice[i].n));
        golden_prefill(c, model);
        golden_unharmed(c, model);
        check_zero_grad(c, model);
        check_forward(c, model, golden_rows(c, n));
        golden_is_counted(c, "input gradient", check_backward(c, model, NULL), n, 2, 0);
        check_grads_are(c, model, 45, 9);
        check_model_close(c, model);
    }
}

/* Indices, which select rows of a table, may also come from any device. */
static void dev_integers(struct check *c, int k)
{
    static const double index[] = {3, 1, 2, 0, 1, 3, 3, 2, 1, 0}, weight[] = {5, 7, 11, 13};
    const size_t n = sizeof index / sizeof index[0], dim[] = {n, 1};
    double want[sizeof index / sizeof index[0]];
    for (size_t e = 0; e < n; ++e)
        want[e] = weight[(int)index[e]];

    for (int place = IMPL_HOST; place < golden_places(c); ++place) {
        struct impl_model *model = golden_parallel(
            c, k, "", "{\"kind\":\"embedding\",\"rows\":4,\"columns\":1,\"weight\":[5,7,11,13]}");

        check_note(c, "K=%d, indices on %d: ", k, place);
        golden_is(c, "output",
                  check_forward(c, model, check_on(check_typed(c, IMPL_I32, 1, &n, index), place)),
                  2, dim, want);
        check_model_close(c, model);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define TRACE (PARALLEL | IMPL_CAP_TRACE)

static const struct check_case cases[] = {
    {"DEV-03.tags", "DEV-03", MUST, REPORTED, DP, PARALLEL, 1, .each = dev_order},
    {"DEV-03.base", "DEV-03", MUST, REPORTED, DP, PARALLEL, 1, .each = dev_order_base},
    {"DEV-03.trace", "DEV-03", MUST, REPORTED, DP, TRACE, 2, .each = dev_order_trace},
    {"DEV-03.rows", "DEV-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = dev_order_rows},
    {"DEV-03.permutations", "DEV-03", MUST, REPORTED, DP, PARALLEL, 3, dev_permutations},
    {"DEV-04.anywhere", "DEV-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = dev_inputs},
    {"DEV-04.apart", "DEV-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = dev_inputs_apart},
    {"DEV-04.integers", "DEV-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = dev_integers},
    {"DEV-05.all", "DEV-05", MUST, OBSERVED, DP, PARALLEL, 1, dev_all},
    {"DEV-05.functional", "DEV-05", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_FUNCTIONAL, 1, dev_all,
     .variant = 1},
    {"DEV-05.order", "DEV-05", MUST, REPORTED, DP, PARALLEL, 1, dev_all_order},
    {"DEV-07.refused", "DEV-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, dev_duplicates_refused, 0,
     IMPL_DUPLICATES, IMPL_REFUSE},
    {"DEV-07.right", "DEV-07", MUST, OBSERVED, DP, PARALLEL, 1, dev_duplicates_right, 0,
     IMPL_DUPLICATES, IMPL_ACCEPT},
};
const struct check_table device_list_table = CHECK_TABLE(cases);
