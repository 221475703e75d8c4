/* output.c: area OUT: the device of the gathered output. */
#include "golden.h"

static const char *output_device(struct check *c, int device)
{
    return check_text(c, "\"output_device\":%d,", device);
}

/* OUT-01: every output is on the first of device_ids. */
static void by_default(struct check *c, int k)
{
    static const size_t batches[] = {10, 9, 1};
    const int *ids = golden_ids(c, k);
    struct impl_model *model = golden_parallel(c, k, "", GOLDEN_AFFINE ",{\"kind\":\"fork\"}");

    for (int j = 0; j < 3; ++j) {
        const size_t n = batches[j], rows[] = {n, 2 * n};

        for (int from = IMPL_HOST; from < golden_places(c); ++from) {
            struct golden_call call = {.in = {check_on(golden_rows(c, n), from)}, .n_in = 1};

            check_note(c, "device_ids %s N=%zu, input on %d: ", check_list(c, ids, k), n, from);
            golden_forward(c, model, &call);
            check_int(c, "outputs", call.n_out, 2);
            for (int o = 0; o < 2; ++o) {
                check_shape(c, "output", &call.out[o], 1, &rows[o]);
                check_device(c, "output", &call.out[o], ids[0]);
            }
        }
    }
}

/* ---- OUT-02: any device ---------------------------------------------------------------------- */

static void anywhere_values(struct check *c, int k)
{
    static const size_t batches[] = {10, 1};

    for (int device = IMPL_HOST; device < golden_places(c); ++device) {
        struct impl_model *model = golden_parallel(c, k, output_device(c, device), GOLDEN_AFFINE);

        for (int j = 0; j < 2; ++j) {
            check_note(c, "K=%d N=%zu, output on %d: ", k, batches[j], device);
            golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, batches[j])),
                              batches[j], 3, 2);
        }
        check_model_close(c, model);
    }
}

/* The output may be a vector of scalars or rows, on a device outside device_ids, and after a
 * forward to another device. */
static void anywhere_device(struct check *c, int k)
{
    for (int device = IMPL_HOST; device < golden_places(c); ++device) {
        struct impl_model *rows = golden_parallel(c, k, output_device(c, device), GOLDEN_AFFINE);
        struct impl_model *sums =
            golden_parallel(c, k, output_device(c, device), "{\"kind\":\"sum\"}");
        struct impl_model *both =
            golden_parallel(c, k, output_device(c, device), GOLDEN_AFFINE ",{\"kind\":\"fork\"}");
        struct golden_call call = {.in = {golden_rows(c, 10)}, .n_in = 1};

        check_note(c, "device_ids %s, output on %d: ", check_list(c, golden_ids(c, k), k), device);
        check_device(c, "output", check_forward(c, rows, golden_rows(c, 10)), device);
        check_device(c, "output of one row", check_forward(c, rows, golden_rows(c, 1)), device);
        check_device(c, "sums", check_forward(c, sums, golden_rows(c, 10)), device);
        golden_forward(c, both, &call);
        check_int(c, "outputs", call.n_out, 2);
        for (int o = 0; o < 2; ++o)
            check_device(c, "one of two outputs", &call.out[o], device);
        check_model_close(c, both);
        check_model_close(c, sums);
        check_model_close(c, rows);
    }
}

/* ---- OUT-03: only the output ----------------------------------------------------------------- */

static void only_values(struct check *c, int k)
{
    const size_t n = 10;

    for (int device = IMPL_HOST; device < golden_places(c); ++device) {
        struct impl_model *model = golden_parallel(c, k, output_device(c, device), GOLDEN_AFFINE);
        const double w = 2 - 1385.0 / 512, b = 1 - 178.0 / 512;

        check_note(c, "K=%d, output on %d: ", k, device);
        golden_prefill(c, model);
        golden_unharmed(c, model);
        check_step(c, model, 1.0f / 512, 0);
        golden_is_counted(c, "output after a step", check_forward(c, model, golden_rows(c, n)), n,
                          w + b, w);
        check_model_close(c, model);
    }
}

/* Parameters and gradients stay on the first device, and the gradient of the input is where the
 * input was. */
static void only_devices(struct check *c, int k)
{
    const size_t n = 9;
    const int base = golden_ids(c, k)[0];

    for (int device = IMPL_HOST; device < golden_places(c); ++device) {
        struct impl_model *model = golden_parallel(c, k, output_device(c, device), GOLDEN_AFFINE);
        const int from = golden_places(c) - 2 - device;
        const struct impl_array *y, *dx;

        check_note(c, "K=%d, output on %d, input on %d: ", k, device, from);
        y = check_forward(c, model, check_on(golden_rows(c, n), from));
        dx = check_backward(c, model, check_on(golden_rows(c, n), y->device));
        golden_is_counted(c, "input gradient", dx, n, 2, 2);
        check_device(c, "input gradient", dx, from);
        check_grad_is(c, model, 0, 285);
        for (int p = 0; p < 2; ++p) {
            check_device(c, "parameter", check_get(c, model, IMPL_VALUE, p), base);
            check_device(c, "gradient", check_get(c, model, IMPL_GRAD, p), base);
        }
        check_model_close(c, model);
    }
}

/* The output is two tensors, or a number of each replica: their gradients come back, too. */
static void only_outputs(struct check *c, int k)
{
    const size_t n = 9, twice = 18;
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(n, k, size);

    for (int device = IMPL_HOST; device < golden_places(c); ++device) {
        const char *where = output_device(c, device);
        struct impl_model *rows =
            golden_parallel(c, k, where, GOLDEN_AFFINE ",{\"kind\":\"fork\"}");
        struct impl_model *sums = golden_parallel(c, k, where, GOLDEN_AFFINE ",{\"kind\":\"sum\"}");
        struct golden_call call = {.in = {golden_rows(c, n)}, .n_in = 1};
        const struct impl_array *g[2] = {golden_rows(c, n), golden_rows(c, twice)};
        double dx[9], up[IMPL_MAX_DEVICES], dw = 0, db = 0;

        check_note(c, "K=%d, output on %d, two outputs: ", k, device);
        golden_forward(c, rows, &call);
        /* the rows 2i and 2i + 1 of the second one have 4i + 3 together */
        golden_is_counted(c, "input gradient", golden_backward(c, rows, &call, g), n, 8, 10);
        for (int s = 0, row = 0; s < m; ++s) {
            up[s] = 5 - 3 * s;
            for (size_t i = 0; i < size[s]; ++i, ++row) {
                dx[row] = 2 * up[s];
                dw += up[s] * (row + 1);
                db += up[s];
            }
        }
        check_note(c, "K=%d, output on %d, sums: ", k, device);
        golden_forward(c, sums, &call);
        g[0] = k == 1 ? check_array(c, 0, NULL, up) : check_vector(c, (size_t)m, up);
        golden_is_vector(c, "input gradient", golden_backward(c, sums, &call, g), n, dx);
        check_grads_are(c, sums, dw, db);
        check_model_close(c, rows);
        check_model_close(c, sums);
    }
}

/* ---- OUT-04: one device ---------------------------------------------------------------------- */

static void one_device(struct check *c)
{
    const bool honoured = check_choice(c, IMPL_SINGLE_OUTPUT) == IMPL_HONOUR;
    const size_t n = 3;

    for (int base = 0; base < check_devices(c); ++base) {
        for (int device = IMPL_HOST; device < golden_places(c); ++device) {
            struct impl_model *model =
                check_parallel(c, 1, &base, output_device(c, device), GOLDEN_AFFINE);
            const struct impl_array *y;

            check_note(c, "one device, %d, output_device %d: ", base, device);
            y = check_forward(c, model, golden_rows(c, n));
            golden_is_counted(c, "output", y, n, 3, 2);
            check_device(c, "output", y, honoured ? device : base);
            golden_is_counted(c, "input gradient", check_backward(c, model, golden_rows(c, n)), n,
                              2, 2);
            check_grad_is(c, model, 0, 14);
            check_model_close(c, model);
        }
    }
}

/* ---- OUT-05: what comes after it ------------------------------------------------------------- */

/* Opens 2x + 1 in parallel, and after it a layer that changes nothing, with parameters on
 * `device`. */
static struct impl_model *followed(struct check *c, int k, int output, const char *next, int device)
{
    return check_model(c,
                       "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,%s\"layers\":[%s]},"
                       "{%s,\"weight\":[1],\"bias\":[0],\"device\":%d}]}",
                       check_list(c, golden_ids(c, k), k), output_device(c, output), GOLDEN_AFFINE,
                       next, device);
}

/* The caller put the next layer on the device of the output. */
static void put_there(struct check *c, int k)
{
    for (int device = IMPL_HOST; device < golden_places(c); ++device) {
        struct impl_model *model = followed(c, k, device, "\"kind\":\"affine\"", device);

        check_note(c, "K=%d, output and next layer on %d: ", k, device);
        golden_prefill(c, model);
        golden_unharmed(c, model);
        check_grad_is(c, model, 2, 2 * 385 + 55);
        check_grad_is(c, model, 3, 55);
        check_model_close(c, model);
    }
}

/* The caller did not, and no code moves the output to the next layer. */
static void put_elsewhere(struct check *c)
{
    static const char linear[] = "\"kind\":\"linear\",\"in\":1,\"out\":1";
    const int k = golden_most(c, 4), last = golden_places(c);

    for (int output = IMPL_HOST; output < last; ++output) {
        for (int device = IMPL_HOST; device < last; ++device) {
            struct impl_model *model = followed(c, k, output, linear, device);

            check_note(c, "K=%d, output on %d, next layer on %d: ", k, output, device);
            golden_prefill(c, model);
            if (device == output) {
                check_accepted(c, "status of the forward",
                               golden_try_one(c, model, golden_matrix(c, 10, 1, 1, 1)));
                continue;
            }
            check_refused(c, "a layer that is not where the output is",
                          golden_try_one(c, model, golden_matrix(c, 10, 1, 1, 1)),
                          ALLOW(IMPL_EDEVICE));
            check_grads_are(c, model, 1000, 123);
            check_grad_none(c, model, 2);
            check_model_close(c, model);
        }
    }
}

static const struct check_case cases[] = {
    {"OUT-01.default", "OUT-01", MUST, REPORTED, DP, PARALLEL, 1, .each = by_default},
    {"OUT-02.values", "OUT-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = anywhere_values},
    {"OUT-02.device", "OUT-02", MUST, REPORTED, DP, PARALLEL, 2, .each = anywhere_device},
    {"OUT-03.values", "OUT-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = only_values},
    {"OUT-03.outputs", "OUT-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = only_outputs},
    {"OUT-03.devices", "OUT-03", MUST, REPORTED, DP, PARALLEL, 1, .each = only_devices},
    {"OUT-04.ignored", "OUT-04", MUST, REPORTED, DP, PARALLEL, 1, one_device, 0, IMPL_SINGLE_OUTPUT,
     IMPL_IGNORE},
    {"OUT-04.honoured", "OUT-04", MUST, REPORTED, DP, PARALLEL, 1, one_device, 0,
     IMPL_SINGLE_OUTPUT, IMPL_HONOUR},
    {"OUT-05.there", "OUT-05", MUST, OBSERVED, DP, PARALLEL, 2, .each = put_there},
    {"OUT-05.elsewhere", "OUT-05", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, put_elsewhere},
};
const struct check_table output_table = CHECK_TABLE(cases);
