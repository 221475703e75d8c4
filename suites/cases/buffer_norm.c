/* buffer_norm.c: cases of area BUF: batch norm in replicas. */
#include "check.h"

/* Parameters and buffers, in the order of LAYERS.md. */
enum { WEIGHT, BIAS, MEAN, VARIANCE, BATCHES };

/* Training is exact because 1e-24 is lost in var + eps, whose root is exact then. PyTorch refuses
 * an eps of 0. */

/* The model is y = 3 (x - mean) / deviation + 5 for two columns. */
static struct impl_model *two_columns(struct check *c, int k)
{
    return check_parallel(c, k, mixed_ids(k), "",
                          "{\"kind\":\"batch_norm\",\"features\":2,\"momentum\":0.5,\"eps\":1e-24,"
                          "\"weight\":[3,3],\"bias\":[5,5],\"running_var\":[1,1]}");
}

/* The model has one column, weight 1, bias 0. */
static struct impl_model *one_column(struct check *c, int k, const char *eps)
{
    return check_parallel(c, k, mixed_ids(k), "",
                          check_text(c,
                                     "{\"kind\":\"batch_norm\",\"features\":1,\"momentum\":0.5,"
                                     "\"eps\":%s,\"weight\":[1],\"running_var\":[1]}",
                                     eps));
}

/* ---- pairs: two rows for each replica -------------------------------------------------------- */

enum { MOST_ROWS = 2 * IMPL_MAX_DEVICES, COLUMNS = 2 };

/* Pair s of column f is first and first + step, whose mean, deviation and both variances are exact.
 * No two pairs, columns or turns have the same. */
static double norm_first_of(int s, int f, int turn)
{
    return 10 * s + s * s + 3 * f + 7 * turn;
}

static double norm_step_of(int s, int f, int turn)
{
    return 2 << (s + f + turn) % 4;
}

static const struct impl_array *pairs(struct check *c, int k, int turn)
{
    double x[MOST_ROWS * COLUMNS];

    for (int s = 0; s < k; ++s)
        for (int f = 0; f < COLUMNS; ++f) {
            x[2 * s * COLUMNS + f] = norm_first_of(s, f, turn);
            x[(2 * s + 1) * COLUMNS + f] = norm_first_of(s, f, turn) + norm_step_of(s, f, turn);
        }
    return check_needs_grad(check_array(c, 2, (const size_t[]){2 * (size_t)k, COLUMNS}, x));
}

/* Each row is one deviation away from the mean of its pair. */
static void pairs_are_normal(struct check *c, const struct impl_array *y, int k)
{
    double want[MOST_ROWS * COLUMNS];

    for (int i = 0; i < 2 * k * COLUMNS; ++i)
        want[i] = i / COLUMNS % 2 == 0 ? 5 - 3 : 5 + 3;
    check_values(c, "output", y, 2 * (size_t)k * COLUMNS, want);
}

static void values_are(struct check *c, struct impl_model *model, int i, const double want[])
{
    check_values(c, check_text(c, "value of buffer %d", i), check_get(c, model, IMPL_VALUE, i),
                 COLUMNS, want);
}

/* ---- BUF-02: running statistics -------------------------------------------------------------- */

static const double column[] = {1, 2, 6, 3, 8}; /* G4 */

/* Shard 0 has mean 3 and variance 7. In step 1 there is no grad mode, and nothing is trained. */
static void buf_norm_known(struct check *c)
{
    struct impl_model *model = one_column(c, 2, "1e-24,\"frozen\":true");
    double mean = 0, variance = 1;

    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "forward %d: ", turn);
        check_one(c, model, check_column(c, 5, column), turn != 1, true);
        mean = (mean + 3) / 2;
        variance = (variance + 7) / 2;
        check_value_is(c, model, MEAN, mean);
        check_value_is(c, model, VARIANCE, variance);
    }
}

static void buf_norm_first_shard(struct check *c, int k)
{
    struct impl_model *model = two_columns(c, k);
    double mean[COLUMNS] = {0, 0}, variance[COLUMNS] = {1, 1};

    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "K=%d, forward %d: ", k, turn);
        check_one(c, model, pairs(c, k, turn), true, true);
        for (int f = 0; f < COLUMNS; ++f) {
            const double step = norm_step_of(0, f, turn);

            mean[f] = (mean[f] + norm_first_of(0, f, turn) + step / 2) / 2;
            variance[f] = (variance[f] + step * step / 2) / 2;
        }
        values_are(c, model, MEAN, mean);
        values_are(c, model, VARIANCE, variance);
    }
}

/* Replicas that are clones keep their statistics to themselves; one device has no replica. */
static void buf_norm_clone(struct check *c, int k)
{
    struct impl_model *model = one_column(c, k, "1e-24");

    for (int turn = 0; turn < 3; ++turn) {
        double x[MOST_ROWS];

        check_note(c, "K=%d, forward %d: ", k, turn);
        for (int n = 0; n < 2 * k; ++n)
            x[n] = norm_first_of(n / 2, 0, turn) + n % 2 * norm_step_of(n / 2, 0, turn);
        check_one(c, model, check_column(c, 2 * (size_t)k, x), true, true);
        check_value_is(c, model, MEAN, 0);
        check_value_is(c, model, VARIANCE, 1);
        check_value_is(c, model, BATCHES, 0);
    }
}

/* ---- BUF-03: the counter --------------------------------------------------------------------- */

/* This holds in training only. */
static void buf_norm_counts(struct check *c, int k)
{
    static const bool trains[] = {true, true, false, true, false, false, true};
    struct impl_model *model = two_columns(c, k);
    int count = 0;

    check_value_is(c, model, BATCHES, 0);
    for (size_t turn = 0; turn < sizeof trains / sizeof trains[0]; ++turn) {
        check_note(c, "K=%d, forward %zu: ", k, turn);
        check_one(c, model, pairs(c, k, 0), true, trains[turn]);
        count += trains[turn];
        check_value_is(c, model, BATCHES, count);
    }
}

/* ---- BUF-04: each shard by its own statistics ------------------------------------------------ */

static void buf_norm_shards(struct check *c, int k)
{
    struct impl_model *model = two_columns(c, k);

    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "K=%d, step %d: ", k, turn);
        check_zero_grad(c, model);
        pairs_are_normal(c, check_one(c, model, pairs(c, k, turn), true, true), k);
        /* Two values are normalised by their own statistics, so the gradient of the input is 0, and
         * that of the weight is the difference within each pair. */
        const size_t n = 2 * (size_t)k * COLUMNS;
        const double *g = check_integers(c, n, (uint64_t)turn + 5);
        const struct impl_array *dx;
        double weight[COLUMNS] = {0, 0}, bias[COLUMNS] = {0, 0};

        for (size_t e = 0; e < n; ++e) {
            weight[e % COLUMNS] += e / COLUMNS % 2 == 0 ? -g[e] : g[e];
            bias[e % COLUMNS] += g[e];
        }
        dx = check_backward(c, model,
                            check_on(check_array(c, 2, (const size_t[]){2 * (size_t)k, COLUMNS}, g),
                                     mixed_ids(k)[0]));
        check_values(c, "gradient of the input", dx, n, check_sequence(c, n, 0, 0));
        check_values(c, "gradient of the weight", check_get(c, model, IMPL_GRAD, WEIGHT), COLUMNS,
                     weight);
        check_values(c, "gradient of the bias", check_get(c, model, IMPL_GRAD, BIAS), COLUMNS,
                     bias);
    }
}

/* ---- BUF-05: in evaluation all use the base's ------------------------------------------------ */

/* With variance 3.75 and eps 0.25 the deviation is 2, also for shards of one row; no statistics
 * move. Each time another mean is written. */
static void buf_norm_evaluation(struct check *c, int k)
{
    static const size_t rows[] = {5, 10, 1, 16, 13};
    struct impl_model *model = one_column(c, k, "0.25");
    const double variance = 3.75;

    check_set(c, model, IMPL_VALUE, VARIANCE, &variance);
    for (size_t form = 0; form < sizeof rows / sizeof rows[0]; ++form) {
        const size_t n = rows[form];
        const double mean = 1.5 + (double)form;
        const double *x = form == 0 ? column : check_integers(c, n, form);
        double *y = check_memory(c, n * sizeof *y);

        check_note(c, "K=%d N=%zu: ", k, n);
        check_set(c, model, IMPL_VALUE, MEAN, &mean);
        for (size_t r = 0; r < n; ++r)
            y[r] = (x[r] - mean) / 2;
        check_values(c, "output",
                     check_one(c, model, check_needs_grad(check_column(c, n, x)), true, false), n,
                     y);
        check_values(c, "gradient of the input",
                     check_backward(c, model, check_on(check_counted(c, n, 2, 2), mixed_ids(k)[0])),
                     n, check_sequence(c, n, 1, 1));
        check_value_is(c, model, MEAN, mean);
        check_value_is(c, model, VARIANCE, variance);
    }
}

/* ---- BUF-08: a shard of one row -------------------------------------------------------------- */

/* N rows on K devices leave one of them a single row. Weights and gradients stay as they are, and
 * the next forward is right. */
static void norm_refused(struct check *c, int k, size_t n)
{
    struct impl_model *model = two_columns(c, k);
    const struct impl_array *x =
        check_array(c, 2, (const size_t[]){n, COLUMNS}, check_integers(c, n * COLUMNS, 3));

    check_note(c, "K=%d N=%zu: ", k, n);
    check_refused(c, "a shard of one row", check_try_one(c, model, x, true, true),
                  ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE));
    check_grad_none(c, model, WEIGHT);
    values_are(c, model, WEIGHT, (const double[]){3, 3});
    pairs_are_normal(c, check_one(c, model, pairs(c, k, 1), true, true), k);
    check_one(c, model, x, true, false);
}

static void buf_norm_one_row(struct check *c, int k)
{
    norm_refused(c, k, 2 * (size_t)k - 1);
    if (k != 4)
        return;
    norm_refused(c, k, 10);
    norm_refused(c, k, 13);
    check_note(c, "K=4 N=17: ");
    check_one(c, two_columns(c, k),
              check_array(c, 2, (const size_t[]){17, COLUMNS}, check_integers(c, 34, 3)), true,
              true);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { NORM = PARALLEL | IMPL_CAP_BATCH_NORM };

static const struct check_case cases[] = {
    {"BUF-02.known", "BUF-02", MAY, OBSERVED, DP, NORM, 2, buf_norm_known, 0, IMPL_REPLICA_0,
     IMPL_ALIAS},
    {"BUF-02.first", "BUF-02", MAY, OBSERVED, DP, NORM, 1, .each = buf_norm_first_shard,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_ALIAS},
    {"BUF-03.counts", "BUF-03", MAY, OBSERVED, DP, NORM, 1, .each = buf_norm_counts,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_ALIAS},
    {"BUF-04.shards", "BUF-04", MAY, OBSERVED, DP, NORM, 1, .each = buf_norm_shards},
    {"BUF-05.evaluation", "BUF-05", MAY, OBSERVED, DP, NORM, 1, .each = buf_norm_evaluation},
    {"BUF-06.statistics", "BUF-06", MAY, OBSERVED, DP, NORM, 2, .each = buf_norm_clone,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_CLONE},
    {"BUF-08.one_row", "BUF-08", MAY, OBSERVED, DP, NORM, 1, .each = buf_norm_one_row},
};
const struct check_table buffer_norm_table = CHECK_TABLE(cases);
