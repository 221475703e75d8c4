/* determinism.c: area DET: the order of sums; and time, which must not change results. */
#include "check.h"

#include <float.h>
#include <math.h>

/* Returns ((v[0] + v[1]) + v[2]) + ..., with each sum rounded to float. */
static float in_order(const float v[], int n)
{
    float sum = v[0];

    for (int i = 1; i < n; ++i)
        sum += v[i];
    return sum;
}

/* ---- DET-01: reduce -------------------------------------------------------------------------- */

/* 1e8 + 1 is 1e8 in float, so every order has another sum. */
static void probe_of_order(struct check *c)
{
    static const double order[][8] = {{1e8, 1, -1e8, 1, 1e8, 1, -1e8, 1},
                                      {1, 1e8, -1e8, 3, 1e8, 5, -1e8, 7},
                                      {1e8, -1e8, 1, 1e8, 3, -1e8, 5, 1},
                                      {1, 1e8, 5, -1e8, -1e8, 3, 1e8, 1}};

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        for (size_t form = 0; form < sizeof order / sizeof order[0]; ++form) {
            const int *ids = mixed_ids(k);
            struct impl_array *src = check_memory(c, (size_t)k * sizeof *src);
            struct impl_reduce op = {.src = src, .n = 1, .k = k, .device = ids[0], .poke = -1};
            float value[IMPL_MAX_DEVICES] = {0};
            double want;
            check_note(c, "K=%d, order %zu: ", k, form);
            for (int n = 0; n < k; ++n) {
                value[n] = (float)order[form][n % 8];
                src[n] = *check_on(check_vector(c, 1, &order[form][n % 8]), ids[n]);
            }
            want = (double)in_order(value, k);
            op.sums = check_output(c, 1, 64);
            for (int turn = 0; turn < 3; ++turn) {
                check_reduce(c, &op);
                check_values(c, "sum in the order of the list", op.sums, 1, &want);
            }
        }
}

/* The numbers have many magnitudes, in tensors below and above the size of any block: another order
 * gives other bits somewhere. */
static void order_of_many(struct check *c)
{
    static const size_t sizes[] = {1, 7, 64, 1021, 3};
    enum { TENSORS = sizeof sizes / sizeof sizes[0], MOST = 1021 };

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        for (int form = 0; form < 3; ++form) {
            static const size_t buffer[] = {0, 1, 100};
            const int *ids = mixed_ids(k);
            struct impl_array *src = check_memory(c, (size_t)(TENSORS * k) * sizeof *src);
            struct impl_reduce op = {.src = src,
                                     .n = TENSORS,
                                     .k = k,
                                     .device = ids[0],
                                     .buffer_bytes = buffer[form],
                                     .poke = -1};
            check_note(c, "K=%d, buffer of %zu bytes: ", k, buffer[form]);
            for (int n = 0; n < k * TENSORS; ++n) {
                const size_t size = sizes[n % TENSORS];
                src[n] = *check_on(check_vector(c, size, check_randoms(c, size, 500 + (uint64_t)n)),
                                   ids[n / TENSORS]);
            }
            op.sums = check_output(c, TENSORS, MOST * sizeof(float));
            check_reduce(c, &op);
            for (int t = 0; t < TENSORS; ++t) {
                double want[MOST];
                for (size_t e = 0; e < sizes[t]; ++e) {
                    float value[IMPL_MAX_DEVICES] = {0};
                    for (int n = 0; n < k; ++n)
                        value[n] = (float)check_element(&src[n * TENSORS + t], e);
                    want[e] = (double)in_order(value, k);
                }
                check_values(c, check_text(c, "sum %d in the order of the list", t), &op.sums[t],
                             sizes[t], want);
            }
        }
}

/* ---- DET-01: gradients ----------------------------------------------------------------------- */

/* Delays in milliseconds of replicas 0, 1, 2, 3 and all further ones, so that each finishes first
 * and last at times. */
static const char *const schedules[] = {"0", "6,4,2,0", "0,1,2,3", "2,0,3,1"};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

/* The last value holds for all further replicas. */
static void replica_values(float value[IMPL_MAX_DEVICES])
{
    static const float first[] = {1e8F, 1, -1e8F, 1};

    for (int s = 0; s < IMPL_MAX_DEVICES; ++s)
        value[s] = first[s < 4 ? s : 3];
}

/* The gradients of the replicas are 1e8, 1, -1e8, 1: with four their sum is 1, in any order of
 * time. */
static void gradients_in_order(struct check *c)
{
    float value[IMPL_MAX_DEVICES];

    replica_values(value);
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        for (int form = 0; form < SCHEDULES; ++form) {
            struct impl_model *model =
                check_parallel(c, k, mixed_ids(k), "",
                               check_text(c,
                                          "{\"kind\":\"grad\",\"values\":[1e8,1,-1e8,1]},"
                                          "{\"kind\":\"sleep\",\"backward_ms\":[%s]}",
                                          schedules[form]));
            const size_t n = 4 * (size_t)k + 1;
            size_t size[IMPL_MAX_DEVICES];
            const int m = check_shards(n, k, size);
            check_note(c, "K=%d, backward delays %s: ", k, schedules[form]);
            check_forward(c, model, check_needs_grad(check_counted(c, n, 1, 1)));
            check_backward(c, model, check_on(check_counted(c, n, 1, 1), mixed_ids(k)[0]));
            check_grad_is(c, model, 0, (double)in_order(value, m));
        }
}

/* With eight replicas, pairs that are added first would give another sum. The values at the end of
 * the list repeat. */
static void gradients_of_eight(struct check *c, int k)
{
    float value[IMPL_MAX_DEVICES];
    replica_values(value);

    struct impl_model *model =
        check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"grad\",\"values\":[1e8,1,-1e8,1]}");
    const size_t n = 3 * (size_t)k;

    check_forward(c, model, check_needs_grad(check_counted(c, n, 1, 1)));
    check_backward(c, model, NULL);
    check_grad_is(c, model, 0, (double)in_order(value, k));
}

enum { IN = 5, OUT = 3, ROWS = 11, WEIGHTS = IN * OUT };

/* Makes one step of a linear layer on rows begin .. begin + n - 1, with data that are not exact. */
static struct impl_model *linear_step(struct check *c, int k, size_t begin, size_t n,
                                      const char *delays, bool prefilled)
{
    const double *x = check_randoms(c, (size_t)ROWS * IN, 41);
    const double *g = check_randoms(c, (size_t)ROWS * OUT, 42);
    const size_t in[] = {n, IN}, out[] = {n, OUT};
    struct impl_model *model =
        check_parallel(c, k, mixed_ids(k), "",
                       check_text(c,
                                  "{\"kind\":\"sleep\",\"forward_ms\":[%s]},"
                                  "{\"kind\":\"linear\",\"in\":%d,\"out\":%d},"
                                  "{\"kind\":\"sleep\",\"backward_ms\":[%s]}",
                                  delays, IN, OUT, delays));

    check_set(c, model, IMPL_VALUE, 0, check_randoms(c, WEIGHTS, 43));
    check_set(c, model, IMPL_VALUE, 1, check_randoms(c, OUT, 44));
    if (prefilled) {
        check_set(c, model, IMPL_GRAD, 0, check_randoms(c, WEIGHTS, 45));
        check_set(c, model, IMPL_GRAD, 1, check_randoms(c, OUT, 46));
    }
    check_forward(c, model, check_needs_grad(check_array(c, 2, in, x + begin * IN)));
    check_backward(c, model, check_on(check_array(c, 2, out, g + begin * OUT), mixed_ids(k)[0]));
    return model;
}

/* Adds the gradients of the shards, each computed alone on one device, in order; then adds the sum
 * to the gradient that was there. */
static void add_shards(struct check *c, struct impl_model *const alone[], int m, int p, size_t n,
                       double want[])
{
    const double *before = check_randoms(c, n, 45 + (uint64_t)p);
    const struct impl_array *part[IMPL_MAX_DEVICES];

    for (int s = 0; s < m; ++s)
        part[s] = check_get(c, alone[s], IMPL_GRAD, p);
    for (size_t e = 0; e < n; ++e) {
        float value[IMPL_MAX_DEVICES] = {0};
        for (int s = 0; s < m; ++s)
            value[s] = (float)check_element(part[s], e);
        want[e] = (double)((float)before[e] + in_order(value, m));
    }
}

static void gradients_of_shards(struct check *c, int k)
{
    struct impl_model *model, *alone[IMPL_MAX_DEVICES];
    size_t size[IMPL_MAX_DEVICES], begin = 0;
    const int m = check_shards(ROWS, k, size);
    double want[WEIGHTS];
    for (int s = 0; s < m; begin += size[s++])
        alone[s] = linear_step(c, 1, begin, size[s], "0", false);
    model = linear_step(c, k, 0, ROWS, "0", true);
    add_shards(c, alone, m, 0, WEIGHTS, want);
    check_values(c, "gradient of weight", check_get(c, model, IMPL_GRAD, 0), WEIGHTS, want);
    add_shards(c, alone, m, 1, OUT, want);
    check_values(c, "gradient of bias", check_get(c, model, IMPL_GRAD, 1), OUT, want);
}

/* ---- DET-03: an order of the library's own --------------------------------------------------- */

/* Checks a sum of k numbers in any order: each addition rounds by at most 2^-24 of the
 * magnitudes. */
static void expect_any_order(struct check *c, const char *what, const struct impl_array *got,
                             size_t n, int k, const double sum[], const double magnitude[])
{
    check_int(c, what, (long long)check_elements(got), (long long)n);
    for (size_t e = 0; e < n; ++e)
        check_true(c, fabs(check_element(got, e) - sum[e]) <= k * 0x1p-24 * magnitude[e],
                   "%s: element %zu is %.9g, the sum in double is %.17g", what, e,
                   check_element(got, e), sum[e]);
}

/* Sums k lists of `size` numbers. Integers have no rounding, and so no magnitudes. */
static void free_sum(struct check *c, int k, size_t size, bool exact)
{
    enum { MOST = 1021 };
    const int *ids = mixed_ids(k);
    struct impl_array *src = check_memory(c, (size_t)k * sizeof *src);
    struct impl_reduce op = {.src = src, .n = 1, .k = k, .device = ids[0], .poke = -1};
    double *sum = check_memory(c, MOST * sizeof *sum);
    double *magnitude = check_memory(c, MOST * sizeof *magnitude);

    check_note(c, "K=%d, %zu %s: ", k, size, exact ? "integers" : "numbers");
    for (int n = 0; n < k; ++n) {
        const uint64_t seed = 700 + (uint64_t)n;
        const double *from = exact ? check_integers(c, size, seed) : check_randoms(c, size, seed);
        for (size_t e = 0; e < size; ++e) {
            sum[e] += (double)(float)from[e];
            magnitude[e] += exact ? 0 : fabs(from[e]);
        }
        src[n] = *check_on(check_vector(c, size, from), ids[n]);
    }
    op.sums = check_output(c, 1, MOST * sizeof(float));
    check_reduce(c, &op);
    expect_any_order(c, "sum in an order of its own", op.sums, size, k, sum, magnitude);
}

/* Numbers have many magnitudes near their sum; integers are exact. */
static void free_sums(struct check *c)
{
    static const size_t sizes[] = {1, 7, 64, 1021};

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; ++t) {
            free_sum(c, k, sizes[t], false);
            free_sum(c, k, sizes[t], true);
        }
}

/* Checks gradients that are sums of many magnitudes; they are added to those that were there. */
static void free_gradients(struct check *c, int k)
{
    struct impl_model *model, *alone[IMPL_MAX_DEVICES];
    size_t size[IMPL_MAX_DEVICES], begin = 0;
    const int m = check_shards(ROWS, k, size);
    const double *before = check_randoms(c, WEIGHTS, 45);
    double sum[WEIGHTS] = {0}, magnitude[WEIGHTS] = {0};
    for (int s = 0; s < m; begin += size[s++])
        alone[s] = linear_step(c, 1, begin, size[s], "0", false);
    model = linear_step(c, k, 0, ROWS, "0", true);
    for (int s = 0; s <= m; ++s)
        for (size_t e = 0; e < WEIGHTS; ++e) {
            const double part = s < m ? check_element(check_get(c, alone[s], IMPL_GRAD, 0), e)
                                      : (double)(float)before[e];
            sum[e] += part;
            magnitude[e] += fabs(part);
        }
    expect_any_order(c, "gradient of weight", check_get(c, model, IMPL_GRAD, 0), WEIGHTS, m + 1,
                     sum, magnitude);
}

/* ---- DET-04: time ---------------------------------------------------------------------------- */

/* Whether the count is worth the delays: 3 and 4, or 2 if there are no more devices. */
static bool worth_delays(const struct check *c, int k)
{
    return k == 3 || k == 4 || (k == 2 && check_devices(c) == 2);
}

static void time_does_not_show(struct check *c)
{
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        struct impl_array *first[2] = {NULL, NULL};
        for (int form = 0; worth_delays(c, k) && form < SCHEDULES; ++form) {
            struct impl_model *model = linear_step(c, k, 0, ROWS, schedules[form], true);
            check_note(c, "K=%d, delays %s: ", k, schedules[form]);
            /* The gradient of the bias is the one that was there plus the gradients of the rows. */
            const double *g = check_randoms(c, (size_t)ROWS * OUT, 42),
                         *before = check_randoms(c, OUT, 46);
            double sum[OUT] = {0}, magnitude[OUT] = {0};

            for (int e = 0; e < OUT; ++e)
                for (int row = -1; row < ROWS; ++row) {
                    const double part = (double)(float)(row < 0 ? before[e] : g[row * OUT + e]);

                    sum[e] += part;
                    magnitude[e] += fabs(part);
                }
            expect_any_order(c, "gradient of bias", check_get(c, model, IMPL_GRAD, 1), OUT,
                             ROWS + 1, sum, magnitude);
            for (int p = 0; p < 2; ++p) {
                struct impl_array *got = check_get(c, model, IMPL_GRAD, p);
                if (!first[p])
                    first[p] = got;
                else
                    check_again(c, "gradient", got, first[p]);
            }
        }
    }
}

/* Makes many steps without delays, because a race would change results now and then. */
static void many_runs(struct check *c)
{
    const int k = check_devices(c) >= 4 ? 4 : check_devices(c);
    const double *x = check_sequence(c, 10, 1, 1);
    const struct impl_array *rows = check_needs_grad(check_column(c, 10, x));
    const struct impl_array *g = check_on(check_column(c, 10, x), mixed_ids(k)[0]);
    struct impl_model *model = check_parallel(c, k, mixed_ids(k), "",
                                              "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"
                                              "{\"kind\":\"grad\",\"values\":[1e8,1,-1e8,1]}");
    static const float value[] = {1e8F, 1, -1e8F, 1};
    struct impl_array *out = check_output(c, IMPL_MAX_IO, 64), *dx = check_output(c, 1, 64);
    struct impl_forward forward = {.in = rows, .n_in = 1, .out = out, .grad = true, .train = true};
    struct impl_backward backward = {.grad_out = g, .n_grad_out = 1, .grad_in = dx, .n_in = 1};

    for (int turn = 1; turn <= 30; ++turn) {
        check_note(c, "step %d: ", turn);
        check_zero_grad(c, model);
        check_forward_op(c, model, &forward);
        check_values(c, "output", out, 10, check_sequence(c, 10, 3, 2));
        check_backward_op(c, model, &backward);
        check_values(c, "input gradient", dx, 10, check_sequence(c, 10, 2, 2));
        check_grads_are(c, model, 385, 55);
        check_grad_is(c, model, 2, (double)in_order(value, k));
    }
}

/* ---- DET-05: the number of devices ----------------------------------------------------------- */

/* Integers give the same bits with any number of devices, those of the sum in double. */
static void integers_agree(struct check *c, int k)
{
    const double *x = check_integers(c, (size_t)ROWS * IN, 51);
    const double *g = check_integers(c, (size_t)ROWS * OUT, 52);
    const size_t in[] = {ROWS, IN}, out[] = {ROWS, OUT};
    double dw[WEIGHTS] = {0}, db[OUT] = {0};
    for (size_t r = 0; r < ROWS; ++r)
        for (size_t o = 0; o < OUT; ++o) {
            db[o] += g[r * OUT + o];
            for (size_t n = 0; n < IN; ++n)
                dw[o * IN + n] += g[r * OUT + o] * x[r * IN + n];
        }

    struct impl_model *model =
        check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"linear\",\"in\":5,\"out\":3}");
    check_set(c, model, IMPL_VALUE, 0, check_integers(c, WEIGHTS, 53));
    check_forward(c, model, check_needs_grad(check_array(c, 2, in, x)));
    check_backward(c, model, check_on(check_array(c, 2, out, g), mixed_ids(k)[0]));
    check_values(c, "gradient of weight", check_get(c, model, IMPL_GRAD, 0), WEIGHTS, dw);
    check_values(c, "gradient of bias", check_get(c, model, IMPL_GRAD, 1), OUT, db);
}

/* Checks real data: each product and each of at most N sums is rounded once, so the error is within
 * N * eps of the sum of magnitudes (half an eps for each would be enough). */
static void reals_are_near(struct check *c, int k)
{
    const double *x = check_randoms(c, (size_t)ROWS * IN, 41);
    const double *g = check_randoms(c, (size_t)ROWS * OUT, 42);
    const struct impl_array *got =
        check_get(c, linear_step(c, k, 0, ROWS, "0", false), IMPL_GRAD, 0);
    check_int(c, "elements of the gradient", (long long)check_elements(got), WEIGHTS);
    for (size_t e = 0; e < WEIGHTS; ++e) {
        double sum = 0, magnitude = 0;
        for (size_t r = 0; r < ROWS; ++r) {
            const double term = g[r * OUT + e / IN] * x[r * IN + e % IN];
            sum += term;
            magnitude += fabs(term);
        }
        check_true(c, fabs(check_element(got, e) - sum) <= ROWS * (double)FLT_EPSILON * magnitude,
                   "gradient of weight: element %zu is %.9g, the sum in double is %.17g", e,
                   check_element(got, e), sum);
    }
}

/* ---- DET-06: rows keep their place ----------------------------------------------------------- */

static void rows_in_place(struct check *c)
{
    const size_t n = 10;

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        for (int form = 1; worth_delays(c, k) && form < SCHEDULES; ++form) {
            const int *ids = mixed_ids(k);
            struct impl_model *model = check_parallel(
                c, k, ids, "",
                check_text(c,
                           "{\"kind\":\"sleep\",\"forward_ms\":[%s],\"backward_ms\":[%s]},"
                           "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},"
                           "{\"kind\":\"tag_device\"}",
                           schedules[form], schedules[SCHEDULES - form]));
            size_t size[IMPL_MAX_DEVICES], r = 0;
            const int m = check_shards(n, k, size);
            double y[10];
            check_note(c, "K=%d, delays %s: ", k, schedules[form]);
            for (int s = 0; s < m; ++s)
                for (size_t row = 0; row < size[s]; ++row, ++r)
                    y[r] = 2 * (double)(r + 1) + 1 + 1000 * (ids[s] + 1);
            check_values(c, "output",
                         check_forward(c, model, check_needs_grad(check_counted(c, n, 1, 1))), n,
                         y);
            check_values(c, "input gradient",
                         check_backward(c, model, check_on(check_counted(c, n, 3, 2), ids[0])), n,
                         check_sequence(c, n, 6, 4));
        }
}

static const struct check_case cases[] = {
    {"DET-01.probe", "DET-01", MUST, OBSERVED, PRIM, IMPL_CAP_REDUCE, 2, probe_of_order, 0,
     IMPL_SUMS, IMPL_LISTED},
    {"DET-01.many", "DET-01", MUST, OBSERVED, PRIM, IMPL_CAP_REDUCE, 2, order_of_many, 0, IMPL_SUMS,
     IMPL_LISTED},
    {"DET-01.gradients", "DET-01", MUST, OBSERVED, DP, PARALLEL, 2, gradients_in_order, 0,
     IMPL_SUMS, IMPL_LISTED},
    {"DET-01.eight", "DET-01", MUST, OBSERVED, DP, PARALLEL, 2, .each = gradients_of_eight,
     .dialect = IMPL_SUMS, .choice = IMPL_LISTED},
    {"DET-01.shards", "DET-01", MUST, OBSERVED, DP, PARALLEL, 2, .each = gradients_of_shards,
     .dialect = IMPL_SUMS, .choice = IMPL_LISTED},
    {"DET-03.sums", "DET-03", MUST, OBSERVED, PRIM, IMPL_CAP_REDUCE, 2, free_sums, 0, IMPL_SUMS,
     IMPL_FREE},
    {"DET-03.gradients", "DET-03", MUST, OBSERVED, DP, PARALLEL, 2, .each = free_gradients,
     .dialect = IMPL_SUMS, .choice = IMPL_FREE},
    {"DET-04.delays", "DET-04", MUST, OBSERVED, DP, PARALLEL, 2, time_does_not_show, 0, IMPL_SUMS,
     IMPL_LISTED},
    {"DET-04.many_runs", "DET-04", MUST, OBSERVED, DP, PARALLEL, 2, many_runs, 0, IMPL_SUMS,
     IMPL_LISTED},
    {"DET-05.integers", "DET-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = integers_agree},
    {"DET-05.reals", "DET-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = reals_are_near},
    {"DET-06.rows", "DET-06", MUST, OBSERVED, DP, PARALLEL, 2, rows_in_place},
};
const struct check_table determinism_table = CHECK_TABLE(cases);
