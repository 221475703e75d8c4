/* gather_model.c: area GATH, seen through a wrapped module. */
#include "golden.h"
#include "primitive.h"

#define AFFINE  "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"
#define REFUSED (ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE))

static struct impl_array *counting(struct check *c, size_t n, double first)
{
    return check_needs_grad(check_counted(c, n, first, 1));
}

/* ---- GATH-01, 02 ----------------------------------------------------------------------------- */

/* The replicas finish in other orders than their numbers. */
static void gather_model_order(struct check *c)
{
    static const char *const delays[] = {"[6,0]", "[3,6,0,2]", "[0,3]"};
    static const size_t rows[] = {10, 13, 9};
    const int k = primitive_some(c);

    for (int turn = 0; turn < 3; ++turn) {
        const size_t n = rows[turn];
        struct impl_model *model = check_parallel(
            c, k, primitive_order(c, k), "",
            check_text(c, "{\"kind\":\"sleep\",\"forward_ms\":%s}," AFFINE, delays[turn]));
        const struct impl_array *y;

        check_note(c, "K=%d N=%zu, delays %s: ", k, n, delays[turn]);
        y = check_forward(c, model, counting(c, n, 1));
        check_shape(c, "output", y, 2, (const size_t[]){n, 1});
        check_values(c, "output", y, n, check_sequence(c, n, 3, 2));
    }
}

/* Each replica returns one row; or rows are doubled. */
static void gather_model_sizes(struct check *c, int k)
{
    static const size_t rows[] = {10, 9, 1, 17};
    const int *ids = primitive_order(c, k);
    struct impl_model *sums = check_parallel(c, k, ids, "", AFFINE ",{\"kind\":\"sum_rows\"}");
    struct impl_model *pairs = check_parallel(c, k, ids, "", AFFINE ",{\"kind\":\"double_rows\"}");

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        const size_t n = rows[j];
        const double *y = check_sequence(c, n, 7, 2);
        double *twice = check_memory(c, 2 * n * sizeof *twice);
        size_t size[IMPL_MAX_DEVICES], first = 0;
        const int m = check_shards(n, k, size);
        double sum[IMPL_MAX_DEVICES];
        const struct impl_array *out;

        for (size_t r = 0; r < 2 * n; ++r)
            twice[r] = y[r / 2];
        for (int s = 0; s < m; first += size[s++])
            sum[s] = primitive_sum(y, first, size[s]);
        check_note(c, "K=%d N=%zu: ", k, n);
        out = check_forward(c, pairs, counting(c, n, 3));
        check_shape(c, "every row twice", out, 2, (const size_t[]){2 * n, 1});
        check_values(c, "every row twice", out, 2 * n, twice);
        out = check_forward(c, sums, counting(c, n, 3));
        check_shape(c, "a row for each replica", out, 2, (const size_t[]){(size_t)m, 1});
        check_values(c, "a row for each replica", out, (size_t)m, sum);
    }
}

/* ---- GATH-03 --------------------------------------------------------------------------------- */

/* One replica, another one each time, returns another width. A refusal does not change
 * gradients. */
static void gather_model_shapes(struct check *c, int k)
{
    static const double mark = 123;

    for (int odd = 0; odd<k; odd += k> 4 ? 3 : 1) {
        int columns[IMPL_MAX_DEVICES];
        struct impl_model *model;

        for (int s = 0; s < k; ++s)
            columns[s] = s == odd ? 2 : 3;
        model = check_parallel(c, k, primitive_order(c, k), "",
                               check_text(c, AFFINE ",{\"kind\":\"widen\",\"columns\":%s}",
                                          check_list(c, columns, k)));
        check_note(c, "K=%d, another width in replica %d: ", k, odd);
        check_set(c, model, IMPL_GRAD, 0, &mark);
        check_refused(c, "a gather of unlike outputs",
                      check_try_one(c, model, counting(c, 3 * (size_t)k - 1, 1), true, true),
                      ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
        check_grad_is(c, model, 0, mark);
        check_grad_none(c, model, 1);
        check_values(c, "output of one row", check_forward(c, model, counting(c, 1, 4)),
                     (size_t)columns[0], (const double[]){9, 9, 9});
        check_model_close(c, model);
    }
}

/* ---- GATH-04 --------------------------------------------------------------------------------- */

static void gather_model_recorded(struct check *c, int k)
{
    static const int keep[][8] = {
        {3, 1, 2, 1, 1, 3, 2, 1}, {1, 3, 1, 2, 4, 1, 1, 2}, {2, 3, 3, 1, 3, 1, 4, 3}};

    for (int j = 0; j < 3; ++j) {
        int list[IMPL_MAX_DEVICES];

        for (int s = 0; s < k; ++s)
            list[s] = keep[j][s % 8];
        if (k > 1 && list[k - 1] > 3) /* the last shard has three rows */
            list[k - 1] = 3;
        /* Replica s keeps the first keep[s] of its rows, so the gradient has to go to these rows.
         */
        const size_t rows = 4 * (size_t)k - (k > 1 ? 1 : 0);
        size_t size[IMPL_MAX_DEVICES], n = 0, first = 0;
        const int m = check_shards(rows, k, size);
        double *dx = check_memory(c, rows * sizeof *dx), dw = 0, db = 0;
        double *y = check_memory(c, rows * sizeof *y);
        struct impl_model *model = check_parallel(
            c, k, primitive_order(c, k), "",
            check_text(c, AFFINE ",{\"kind\":\"take\",\"rows\":%s}", check_list(c, list, k)));
        const struct impl_array *out;

        for (int s = 0; s < m; first += size[s++])
            for (size_t r = 0; r < (size_t)list[s]; ++r) {
                const double x = 1 + (double)(first + r), g = 1 + (double)n;

                y[n++] = 2 * x + 1;
                dx[first + r] = 2 * g;
                dw += g * x;
                db += g;
            }
        check_note(c, "K=%d N=%zu, rows kept %s: ", k, rows, check_list(c, list, k));
        out = check_forward(c, model, counting(c, rows, 1));
        check_shape(c, "output", out, 2, (const size_t[]){n, 1});
        check_values(c, "output", out, n, y);
        check_values(
            c, "input gradient",
            check_backward(c, model, primitive_upstream(c, out, check_sequence(c, n, 1, 1))), rows,
            dx);
        check_grads_are(c, model, dw, db);
        check_model_close(c, model);
    }
}

/* The shards have more rows than 16 bits count. */
static void gather_model_large(struct check *c)
{
    enum { N = 140001 };
    struct impl_model *model =
        check_parallel(c, 2, primitive_order(c, 2), "", AFFINE ",{\"kind\":\"double_rows\"}");
    struct impl_forward op = {.in = counting(c, N, 1), .n_in = 1, .grad = true, .train = true};
    double *y = check_memory(c, 2 * N * sizeof *y);
    const struct impl_array *g = check_counted(c, 2 * N, 3, 1);

    op.out = check_output(c, IMPL_MAX_IO, 2 * N * sizeof(float));
    for (size_t i = 0; i < N; ++i)
        y[2 * i] = y[2 * i + 1] = 3 + 2 * (double)i;
    check_forward_op(c, model, &op);
    check_values(c, "output", &op.out[0], 2 * N, y);
    /* 2 * (g[2i] + g[2i + 1]) */
    check_values(c, "input gradient", check_backward(c, model, g), N, check_sequence(c, N, 14, 8));
}

/* There are twice as many rows in the output, in shards of different sizes: 6, 6, 6, 2 for ten rows
 * on four devices. */
static void gather_model_double(struct check *c, int k)
{
    static const size_t rows[] = {10, 1, 9, 13};
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", AFFINE ",{\"kind\":\"double_rows\"}");

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        const size_t n = rows[j];
        const double *g = check_sequence(c, 2 * n, 3, 2);
        double *dx = check_memory(c, n * sizeof *dx), dw = 0;
        const struct impl_array *y = check_forward(c, model, counting(c, n, 1));

        for (size_t r = 0; r < n; ++r) {
            dx[r] = 2 * (g[2 * r] + g[2 * r + 1]);
            dw += (g[2 * r] + g[2 * r + 1]) * (1 + (double)r);
        }
        check_note(c, "K=%d N=%zu: ", k, n);
        check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)), n,
                     dx);
        check_grads_are(c, model, dw, primitive_sum(g, 0, 2 * n));
        check_zero_grad(c, model);
    }
}

/* ---- GATH-05, 06, 08: a number from each replica --------------------------------------------- */

/* Makes one forward and backward of a module that ends in `reduce`, "sum" or "mean"; element s of
 * the upstream gradient is 4 * (s + 3). With one device the output is a scalar, and no vector. */
static void one_number_each(struct check *c, int k, size_t rows, const char *reduce)
{
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "",
                                              check_text(c, AFFINE ",{\"kind\":\"%s\"}", reduce));
    const bool mean = reduce[0] == 'm';
    size_t size[IMPL_MAX_DEVICES], first = 0;
    const int m = check_shards(rows, k, size);
    const size_t shape[] = {(size_t)m};
    double *dx = check_memory(c, rows * sizeof *dx), want[IMPL_MAX_DEVICES], g[IMPL_MAX_DEVICES];
    double dw = 0, db = 0;
    const struct impl_array *y;

    for (int s = 0; s < m; first += size[s++]) {
        const double x = primitive_sum(check_sequence(c, rows, 1, 1), first, size[s]);
        const double each = mean ? (double)size[s] : 1;

        g[s] = 4 * (s + 3);
        want[s] = (2 * x + (double)size[s]) / each;
        dw += g[s] / each * x;
        db += g[s] / each * (double)size[s];
        for (size_t r = 0; r < size[s]; ++r)
            dx[first + r] = 2 * g[s] / each;
    }
    check_note(c, "K=%d N=%zu, %s: ", k, rows, reduce);
    y = check_forward(c, model, counting(c, rows, 1));
    check_shape(c, "output", y, k == 1 ? 0 : 1, shape);
    check_values(c, "output", y, shape[0], want);
    check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)), rows,
                 dx);
    check_grads_are(c, model, dw, db);
    check_model_close(c, model);
}

static void gather_model_vector(struct check *c, int k)
{
    static const size_t rows[] = {10, 9, 1, 3, 17};

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j)
        one_number_each(c, k, rows[j], "sum");
}

/* The shards have 4, 2 or 1 rows, so that every mean is exact. */
static void gather_model_mean(struct check *c, int k)
{
    one_number_each(c, k, k == 2 ? 3 : 4 * (size_t)k - 2, "mean");
    one_number_each(c, k, 2 * (size_t)k - 1, "mean");
    one_number_each(c, k, 1, "mean");
}

static void gather_model_vector_back(struct check *c, int k)
{
    const double *tens = check_sequence(c, IMPL_MAX_DEVICES, 10, 10);
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", "{\"kind\":\"sum\"}");
    double dx[10];

    for (int step = 0; step < 2; ++step) {
        const double *g = step == 0 ? tens : check_integers(c, IMPL_MAX_DEVICES, 3);
        size_t size[IMPL_MAX_DEVICES], at = 0;
        const int m = check_shards(10, k, size);
        const struct impl_array *y = check_forward(c, model, counting(c, 10, 1));

        for (int s = 0; s < m; ++s)
            for (size_t r = 0; r < size[s]; ++r)
                dx[at++] = g[s];
        check_note(c, "K=%d step %d: ", k, step);
        check_shape(c, "output", y, 1, (const size_t[]){(size_t)m});
        check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)), 10,
                     dx);
    }
}

static void gather_model_scalar(struct check *c, int k)
{
    static const size_t rows[] = {1, 4, 8};

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        one_number_each(c, k, rows[j], "sum");
        one_number_each(c, k, rows[j], rows[j] < 8 || k != 3 ? "mean" : "sum");
    }
}

/* ---- GATH-07 --------------------------------------------------------------------------------- */

/* One replica returns a number, or all but one. */
static void gather_model_mix(struct check *c, int k)
{
    for (int odd = 0; odd<k; odd += k> 4 ? 3 : 1)
        for (int others = 0; others < 2; ++others) {
            int list[IMPL_MAX_DEVICES], n = 0;
            struct impl_model *model;

            for (int s = 0; s < k; ++s)
                if ((s == odd) == (others == 0))
                    list[n++] = s;
            model = check_parallel(c, k, primitive_order(c, k), "",
                                   check_text(c, AFFINE ",{\"kind\":\"scalar_at\",\"replicas\":%s}",
                                              check_list(c, list, n)));
            check_note(c, "K=%d, numbers from the replicas %s: ", k, check_list(c, list, n));
            check_refused(c, "a mix of numbers and rows",
                          check_try_one(c, model, counting(c, 3 * (size_t)k - 1, 1), true, true),
                          REFUSED);
            check_grad_none(c, model, 0);
            check_values(c, "output of one row", check_forward(c, model, counting(c, 1, 4)), 1,
                         (const double[]){9});
            check_model_close(c, model);
        }
}

static void gather_model_dim(struct check *c, int k)
{
    static const int dims[] = {1, -1};
    const size_t shape[] = {2, 11};

    for (int d = 0; d < 2; ++d) {
        struct impl_model *model =
            check_parallel(c, k, primitive_order(c, k), check_text(c, "\"dim\":%d,", dims[d]),
                           AFFINE ",{\"kind\":\"sum\"}");

        check_note(c, "K=%d dim %d: ", k, dims[d]);
        check_refused(c, "numbers where dim is not 0",
                      check_try_one(c, model, check_array(c, 2, shape, check_sequence(c, 22, 1, 1)),
                                    true, true),
                      REFUSED);
        check_grad_none(c, model, 0);
        check_model_close(c, model);
        golden_works(c, k);
    }
}

/* ---- GATH-10 --------------------------------------------------------------------------------- */

/* Makes a forward of n rows through a wrapper with that output device. The layer after it shows on
 * which device the output is. */
static void to_device(struct check *c, int k, int device, const char *layers, size_t n, size_t rows,
                      const double want[])
{
    const int *ids = primitive_order(c, k);
    struct impl_model *model =
        check_model(c,
                    "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"output_device\":%d,"
                    "\"layers\":[%s]},{\"kind\":\"tag_device\"}]}",
                    check_list(c, ids, k), device, layers);
    double *tagged = check_memory(c, rows * sizeof *tagged);
    const struct impl_array *y;

    for (size_t r = 0; r < rows; ++r)
        tagged[r] = want[r] + 1000.0 * (device + 1);
    check_note(c, "K=%d N=%zu, output device %d: ", k, n, device);
    y = check_forward(c, model, counting(c, n, 1));
    check_values(c, "output + 1000 * (its device + 1)", y, rows, tagged);
    check_device(c, "output", y, device);
    check_model_close(c, model);
}

/* The output goes to every device and to the host, also if only one replica runs; it has rows or
 * numbers. */
static void gather_model_destination(struct check *c, int k)
{
    static const size_t rows[] = {10, 1};

    for (int device = IMPL_HOST; device < check_devices(c); ++device)
        for (int j = 0; j < 2; ++j) {
            const double *y = check_sequence(c, rows[j], 3, 2);
            size_t size[IMPL_MAX_DEVICES], first = 0;
            const int m = check_shards(rows[j], k, size);
            double sum[IMPL_MAX_DEVICES];

            for (int s = 0; s < m; first += size[s++])
                sum[s] = primitive_sum(y, first, size[s]);
            to_device(c, k, device, AFFINE, rows[j], rows[j], y);
            to_device(c, k, device, AFFINE ",{\"kind\":\"sum\"}", rows[j], (size_t)m, sum);
        }
}

static const struct check_case cases[] = {
    {"GATH-01.model", "GATH-01", MUST, OBSERVED, DP, PARALLEL, 2, gather_model_order},
    {"GATH-02.model", "GATH-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = gather_model_sizes},
    {"GATH-03.model", "GATH-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = gather_model_shapes},
    {"GATH-04.recorded", "GATH-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = gather_model_recorded},
    {"GATH-04.large", "GATH-04", MUST, OBSERVED, DP, PARALLEL, 2, gather_model_large},
    {"GATH-04.double", "GATH-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = gather_model_double},
    {"GATH-05.model", "GATH-05", MUST, OBSERVED, DP, PARALLEL, 2, .each = gather_model_vector},
    {"GATH-05.mean", "GATH-05", MUST, OBSERVED, DP, PARALLEL, 2, .each = gather_model_mean},
    {"GATH-06.own", "GATH-06", MUST, OBSERVED, DP, PARALLEL, 2, .each = gather_model_vector_back},
    {"GATH-07.model", "GATH-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, .each = gather_model_mix},
    {"GATH-07.model_dim", "GATH-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = gather_model_dim},
    {"GATH-08.single", "GATH-08", MUST, OBSERVED, DP, PARALLEL, 1, .each = gather_model_scalar},
    {"GATH-10.model", "GATH-10", MUST, REPORTED, DP, PARALLEL, 2, .each = gather_model_destination},
};
const struct check_table gather_model_table = CHECK_TABLE(cases);
