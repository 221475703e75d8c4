/* count.c: area COUNT: rules that hold for two and four devices hold for any number of them, and
 * for each of them in any part. */
#include "golden.h"
#include "primitive.h"
#include "sized.h"

#include <math.h>

enum { FEW = 8 }; /* larger numbers are another case, which is skipped without as many devices */

/* ---- COUNT-01: DataParallel ------------------------------------------------------------------ */

enum { UPSTREAM = 5 }; /* small, so that the weights stay small however many devices there are */

/* Returns 1, 2, 3, 4, 5, 1, 2, ...: consecutive rows differ. */
static double upstream(size_t row)
{
    return 1 + (double)(row % UPSTREAM);
}

/* Trains y = 2x + 1 on k devices: with as many rows as devices, with an idle device, and with a
 * short last shard. */
static void count_train(struct check *c, int k)
{
    const size_t batches[] = {(size_t)k, 2 * (size_t)k + 1, 3 * (size_t)k - 1};
    struct impl_model *model = golden_affine(c, k);
    double w = 2, b = 1;

    for (int step = 0; step < 3; ++step) {
        const size_t n = batches[step];
        double *g = check_memory(c, n * sizeof *g), *dx = check_memory(c, n * sizeof *dx);
        double of_w = 0, of_b = 0;

        for (size_t row = 0; row < n; ++row) {
            g[row] = upstream(row);
            dx[row] = w * upstream(row);
            of_w += (double)(row + 1) * upstream(row);
            of_b += upstream(row);
        }
        check_note(c, "K=%d N=%zu: ", k, n);
        if (64 * (fabs(w) * (double)n + fabs(b)) >= 0x1p24 || of_w >= 0x1p24)
            check_broken(c, "K=%d N=%zu: the numbers are not exact in float", k, n);
        check_zero_grad(c, model);
        golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, w + b, w);
        golden_is_vector(c, "input gradient", check_backward(c, model, check_array(c, 1, &n, g)), n,
                         dx);
        check_grads_are(c, model, of_w, of_b);
        check_step(c, model, 1.0F / 64, 0);
        w -= of_w / 64;
        b -= of_b / 64;
    }
    check_model_close(c, model);
}

/* Every device shows which rows it had: 1000 times its number, and one, is added. */
static void places(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);
    const size_t n = 3 * (size_t)k - 1;
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"tag_device\"}");
    double *y = check_memory(c, n * sizeof *y);

    for (size_t row = 0; row < n; ++row) {
        const int device = ids[row / 3];

        y[row] = 1 + (double)row + 1000.0 * (device + 1);
    }
    check_note(c, "K=%d N=%zu: ", k, n);
    golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), n, y);
    check_model_close(c, model);
}

static void train_few(struct check *c)
{
    for (int k = 1; k <= FEW && k <= check_devices(c); ++k) {
        count_train(c, k);
        places(c, k);
    }
}

static void train_nine(struct check *c)
{
    for (int k = FEW + 1; k <= check_devices(c); ++k) {
        count_train(c, k);
        places(c, k);
    }
}

/* ---- COUNT-02: the primitives ---------------------------------------------------------------- */

enum { TENSORS = 2 };
static const size_t elements[TENSORS] = {5, 3};

static struct impl_array *room(struct check *c, int n)
{
    return check_output(c, n, elements[0] * sizeof(float));
}

/* Broadcasts two tensors to n devices, and sums n lists of two. */
static void spread_and_added(struct check *c, int n)
{
    const int *ids = golden_ids(c, n);
    struct impl_array *src = check_memory(c, (size_t)(n * TENSORS) * sizeof *src);
    float sums[TENSORS][5] = {{0}};
    struct impl_broadcast spread = {
        .src = src, .n = TENSORS, .devices = ids, .n_devices = n, .poke = -1};
    struct impl_reduce sum = {.src = src, .n = TENSORS, .k = n, .device = ids[0], .poke = -1};

    for (int i = 0; i < n * TENSORS; ++i) {
        const float *values = sized_numbers(c, elements[0], (uint64_t)i);

        src[i] = *check_on(sized_array(c, 1, &elements[i % TENSORS], values), ids[i / TENSORS]);
        for (size_t e = 0; e < elements[i % TENSORS]; ++e)
            sums[i % TENSORS][e] += values[e];
    }
    check_note(c, "broadcast to %d devices: ", n);
    spread.copies = room(c, n * TENSORS);
    check_broadcast(c, &spread);
    for (int i = 0; i < n * TENSORS; ++i) {
        const char *what = check_text(c, "tensor %d on device %d", i % TENSORS, ids[i / TENSORS]);

        sized_same(c, what, &spread.copies[i], elements[i % TENSORS], src[i % TENSORS].data);
        check_device(c, what, &spread.copies[i], ids[i / TENSORS]);
    }
    check_note(c, "%d lists: ", n);
    sum.sums = room(c, TENSORS);
    check_reduce(c, &sum);
    for (int t = 0; t < TENSORS; ++t)
        sized_same(c, check_text(c, "sum %d", t), &sum.sums[t], elements[t], sums[t]);
}

static void lists(struct check *c, int first, int last)
{
    for (int n = first; n <= last && n <= check_devices(c); ++n) {
        /* Scatters into n shards, and gathers parts of all sizes. */
        const int *ids = primitive_order(c, n);
        const size_t dim[] = {3 * (size_t)n - 1, 2};
        const struct impl_array *x =
            check_array(c, 2, dim, check_sequence(c, dim[0] * dim[1], 1, 1));
        size_t size[IMPL_MAX_DEVICES];
        const struct impl_array *parts;
        const int shards = check_shards(dim[0], n, size);
        int m;

        check_note(c, "scatter to %d devices: ", n);
        parts = primitive_scatter(c, x, ids, n, 0, &m);
        check_int(c, "number of shards", m, shards);
        primitive_check_shards(c, x, 0, parts, m, size, ids);
        check_note(c, "gather from %d devices: ", n);
        for (int i = 0; i < n; ++i)
            size[i] = 1 + (size_t)(i / 2 % 3);
        parts = primitive_parts(c, x, 0, n, size, ids, 1);
        primitive_check_whole(c, primitive_gather(c, parts, n, 0, ids[n - 1]), parts, n, 0,
                              ids[n - 1]);
        spread_and_added(c, n);
    }
}

static void lists_few(struct check *c)
{
    lists(c, 1, FEW);
}

static void lists_nine(struct check *c)
{
    lists(c, FEW + 1, check_devices(c));
}

/* Call i has the weight i + 2 and the rows 10 i + 1, 10 i + 2. */
static void calls(struct check *c)
{
    for (int n = 1; n <= check_devices(c); ++n) {
        const int *ids = golden_ids(c, n);
        struct impl_call *call = apply_calls(c, ids, n, 2);

        check_note(c, "%d calls: ", n);
        for (int i = 0; i < n; ++i)
            call[i].description =
                apply_module(c, check_text(c, "{\"kind\":\"affine\",\"device\":%d,\"weight\":[%d]}",
                                           ids[i], i + 2));
        check_accepted(c, "status of apply", apply_try(c, call, n));
        for (int i = 0; i < n; ++i) {
            check_values(c, check_text(c, "output of call %d", i), &call[i].out[0], 2,
                         check_sequence(c, 2, (i + 2) * (10.0 * i + 1), i + 2));
            check_device(c, "output", &call[i].out[0], ids[i]);
        }
    }
}

/* ---- COUNT-03: each device in each part ------------------------------------------------------ */

/* Uses three devices or fewer, from `first` on. */
static void from_device(struct check *c, int first, bool told)
{
    const int devices = check_devices(c), k = devices < 3 ? devices : 3;
    const int output = (first + 1) % devices, from = (first + 2) % devices;
    const size_t n = 10;
    int ids[3];
    struct impl_model *model;
    const struct impl_array *y, *dx;

    for (int i = 0; i < k; ++i)
        ids[i] = (first + 2 * devices - i) % devices;
    model =
        check_parallel(c, k, ids, check_text(c, "\"output_device\":%d,", output), GOLDEN_AFFINE);
    check_note(c, "device_ids %s, output on %d, input on %d: ", check_list(c, ids, k), output,
               from);
    y = check_forward(c, model, check_on(golden_rows(c, n), from));
    golden_is_counted(c, "output", y, n, 3, 2);
    dx = check_backward(c, model, check_on(golden_rows(c, n), y->device));
    golden_is_counted(c, "input gradient", dx, n, 2, 2);
    check_grads_are(c, model, 385, 55);
    if (told) {
        check_device(c, "output", y, output);
        check_device(c, "input gradient", dx, from);
        check_device(c, "parameter", check_get(c, model, IMPL_VALUE, 0), ids[0]);
        check_device(c, "gradient", check_get(c, model, IMPL_GRAD, 0), ids[0]);
    }
    check_model_close(c, model);
}

static void any_device(struct check *c)
{
    for (int first = 0; first < check_devices(c); ++first)
        from_device(c, first, false);
}

static void any_device_told(struct check *c)
{
    for (int first = 0; first < check_devices(c); ++first)
        from_device(c, first, true);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { LISTS = IMPL_CAP_SCATTER | IMPL_CAP_GATHER | IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE };

static const struct check_case cases[] = {
    {"COUNT-01.few", "COUNT-01", MUST, OBSERVED, DP, PARALLEL, 1, train_few},
    {"COUNT-01.nine", "COUNT-01", MUST, OBSERVED, DP, PARALLEL, FEW + 1, train_nine},
    {"COUNT-02.few", "COUNT-02", MUST, OBSERVED, PRIM, LISTS, 1, lists_few},
    {"COUNT-02.nine", "COUNT-02", MUST, OBSERVED, PRIM, LISTS, FEW + 1, lists_nine},
    {"COUNT-02.calls", "COUNT-02", MUST, OBSERVED, DP, IMPL_CAP_APPLY, 1, calls},
    {"COUNT-03.values", "COUNT-03", MUST, OBSERVED, DP, PARALLEL, 2, any_device},
    {"COUNT-03.devices", "COUNT-03", MUST, REPORTED, DP, PARALLEL, 2, any_device_told},
};
const struct check_table count_table = CHECK_TABLE(cases);
