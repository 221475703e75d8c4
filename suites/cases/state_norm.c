/* state_norm.c: batch norm that is trained and then used, and with other values than two features,
 * a momentum of 0.5 and an eps that is lost. */
#include "check.h"

/* The parameters and buffers, in the order of LAYERS.md. */
enum { WEIGHT, BIAS, MEAN, VARIANCE, BATCHES };
enum { FEATURES = 5, MOST_ROWS = 2 * 12 };

static const double weight[FEATURES] = {3, -2, 4, 1, -6}, bias[FEATURES] = {5, 1, -3, 0, 2};

static struct impl_model *norm(struct check *c, int k, double momentum, double eps)
{
    return check_parallel(
        c, k, mixed_ids(k), "",
        check_text(c,
                   "{\"kind\":\"batch_norm\",\"features\":5,\"momentum\":%.9g,\"eps\":%.9g,"
                   "\"weight\":[3,-2,4,1,-6],\"bias\":[5,1,-3,0,2],"
                   "\"running_var\":[2,2,2,2,2]}",
                   momentum, eps));
}

/* There are two rows for each of k replicas, the second one 2 more than the first: they have a
 * deviation of 1 and an unbiased variance of 2, whatever the mean. No two shards, features and
 * turns have the same rows. */
static double norm_first_of_all(int s, int f, int turn)
{
    return 10 * s + s * s + 3 * f * f + 7 * turn;
}

static const struct impl_array *pairs(struct check *c, int k, int turn)
{
    double x[MOST_ROWS * FEATURES];

    for (int r = 0; r < 2 * k; ++r)
        for (int f = 0; f < FEATURES; ++f)
            x[r * FEATURES + f] = norm_first_of_all(r / 2, f, turn) + r % 2 * 2;
    return check_needs_grad(check_array(c, 2, (const size_t[]){2 * (size_t)k, FEATURES}, x));
}

static const struct impl_array *upstream(struct check *c, int k, size_t rows, const double g[])
{
    return check_on(check_array(c, 2, (const size_t[]){rows, FEATURES}, g), mixed_ids(k)[0]);
}

static void row_is(struct check *c, struct impl_model *model, enum impl_what what, int i,
                   const double want[])
{
    check_values(c,
                 check_text(c, "%s of parameter %d", what == IMPL_GRAD ? "gradient" : "value", i),
                 check_get(c, model, what, i), FEATURES, want);
}

/* ---- BUF-05: evaluation after training ------------------------------------------------------- */

/* This is G4 after one training step: mean 1.5 and variance 4, which gives the numbers of the
 * rule. */
static void state_norm_known(struct check *c)
{
    static const double column[] = {1, 2, 6, 3, 8}, y[] = {-0.25, 0.25, 2.25, 0.75, 3.25};
    struct impl_model *model =
        check_parallel(c, 2, mixed_ids(2), "",
                       "{\"kind\":\"batch_norm\",\"features\":1,\"momentum\":0.5,"
                       "\"eps\":1e-24,\"weight\":[1],\"running_var\":[1]}");

    check_one(c, model, check_column(c, 5, column), true, true);
    check_backward(c, model, NULL);
    for (int turn = 0; turn < 2; ++turn) {
        check_note(c, "evaluation %d: ", turn);
        check_values(c, "output", check_one(c, model, check_column(c, 5, column), true, false), 5,
                     y);
        check_value_is(c, model, MEAN, 1.5);
        check_value_is(c, model, VARIANCE, 4);
        check_value_is(c, model, BATCHES, 1);
    }
}

/* Evaluates with mean and a deviation of 2: checks output and all gradients, with more rows than in
 * training. */
static void evaluated(struct check *c, struct impl_model *model, int k, const double mean[])
{
    enum { N = 11 };
    const double *x = check_integers(c, (size_t)N * FEATURES, 3);
    const double *g = check_integers(c, (size_t)N * FEATURES, 4);
    const size_t dim[] = {N, FEATURES};
    double y[N * FEATURES], dx[N * FEATURES], dw[FEATURES] = {0}, db[FEATURES] = {0};

    for (int e = 0; e < N * FEATURES; ++e) {
        const int f = e % FEATURES;
        const double normal = (x[e] - mean[f]) / 2;

        y[e] = weight[f] * normal + bias[f];
        dx[e] = weight[f] * g[e] / 2;
        dw[f] += g[e] * normal;
        db[f] += g[e];
    }
    check_zero_grad(c, model);
    check_values(c, "output",
                 check_one(c, model, check_needs_grad(check_array(c, 2, dim, x)), true, false),
                 (size_t)N * FEATURES, y);
    check_values(c, "input gradient", check_backward(c, model, upstream(c, k, N, g)),
                 (size_t)N * FEATURES, dx);
    row_is(c, model, IMPL_GRAD, WEIGHT, dw);
    row_is(c, model, IMPL_GRAD, BIAS, db);
}

/* Training and evaluation alternate; eps 2 and the variance 2 give a deviation of 2. */
static void state_norm_trained(struct check *c, int k)
{
    static const double two[FEATURES] = {2, 2, 2, 2, 2};
    struct impl_model *model = norm(c, k, 0.25, 2);
    double mean[FEATURES] = {0};

    check_note(c, "K=%d, evaluation before training: ", k);
    evaluated(c, model, k, mean);
    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "K=%d, training step %d: ", k, turn);
        check_one(c, model, pairs(c, k, turn), true, true);
        check_backward(c, model, NULL);
        for (int f = 0; f < FEATURES; ++f)
            mean[f] = 0.75 * mean[f] + 0.25 * (norm_first_of_all(0, f, turn) + 1);
        check_note(c, "K=%d, evaluation after training step %d: ", k, turn);
        evaluated(c, model, k, mean);
        row_is(c, model, IMPL_VALUE, MEAN, mean);
        row_is(c, model, IMPL_VALUE, VARIANCE, two);
        check_value_is(c, model, BATCHES, turn + 1);
    }
}

/* ---- BUF-12: other momenta, eps, numbers of features ----------------------------------------- */

static void state_norm_numbers(struct check *c, int k)
{
    static const double momenta[] = {0.25, 0.875};

    for (size_t m = 0; m < sizeof momenta / sizeof momenta[0]; ++m) {
        const double momentum = momenta[m];
        const bool kept = k == 1 || check_choice(c, IMPL_REPLICA_0) == IMPL_ALIAS;
        struct impl_model *model = norm(c, k, momentum, 3);
        double mean[FEATURES] = {0};

        for (int turn = 0; turn < 3; ++turn) {
            check_note(c, "K=%d, momentum %g, step %d: ", k, momentum, turn);
            /* A deviation of 1 and eps 3 give a root of 2: the rows of a pair become -1/2 and 1/2.
             */
            const size_t n = 2 * (size_t)k * FEATURES;
            const double *g = check_integers(c, n, (uint64_t)turn + 5);
            double y[MOST_ROWS * FEATURES], dx[MOST_ROWS * FEATURES], dw[FEATURES] = {0},
                                                                      db[FEATURES] = {0};

            for (size_t e = 0; e < n; ++e) {
                const size_t f = e % FEATURES, low = e / FEATURES % 2 == 0 ? e : e - FEATURES;
                const double normal = e == low ? -0.5 : 0.5;
                const double sum = g[low] + g[low + FEATURES],
                             product = (g[low + FEATURES] - g[low]) / 2;

                y[e] = weight[f] * normal + bias[f];
                dx[e] = weight[f] / 2 * (g[e] - (sum + normal * product) / 2);
                dw[f] += g[e] * normal;
                db[f] += g[e];
            }
            check_zero_grad(c, model);
            check_values(c, "output", check_one(c, model, pairs(c, k, turn), true, true), n, y);
            check_values(c, "input gradient",
                         check_backward(c, model, upstream(c, k, 2 * (size_t)k, g)), n, dx);
            row_is(c, model, IMPL_GRAD, WEIGHT, dw);
            row_is(c, model, IMPL_GRAD, BIAS, db);
            for (int f = 0; kept && f < FEATURES; ++f)
                mean[f] = (1 - momentum) * mean[f] + momentum * (norm_first_of_all(0, f, turn) + 1);
            row_is(c, model, IMPL_VALUE, MEAN, mean);
            row_is(c, model, IMPL_VALUE, VARIANCE, (const double[]){2, 2, 2, 2, 2});
        }
        check_model_close(c, model);
    }
}

static const struct check_case cases[] = {
    {"BUF-05.known", "BUF-05", MAY, OBSERVED, DP, PARALLEL | IMPL_CAP_BATCH_NORM, 2,
     state_norm_known, 0, IMPL_REPLICA_0, IMPL_ALIAS},
    {"BUF-05.trained", "BUF-05", MAY, OBSERVED, DP, PARALLEL | IMPL_CAP_BATCH_NORM, 1,
     .each = state_norm_trained, .dialect = IMPL_REPLICA_0, .choice = IMPL_ALIAS},
    {"BUF-12.numbers", "BUF-12", MAY, OBSERVED, DP, PARALLEL | IMPL_CAP_BATCH_NORM, 1,
     .each = state_norm_numbers, .limit_ms = 30000},
};
const struct check_table state_norm_table = CHECK_TABLE(cases);
