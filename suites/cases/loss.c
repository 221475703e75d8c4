/* loss.c: area LOSS: the place where the loss is computed, and the mean over unequal shards. */
#include "golden.h"

static const char identity[] = "{\"kind\":\"affine\",\"weight\":[1],\"bias\":[0]}";

/* Opens `inner` in parallel after an affine layer of weight 1 and bias 0, and `outer` after the
 * gather. */
static struct impl_model *loss_model(struct check *c, int k, const char *inner, const char *outer)
{
    return check_model(c,
                       "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
                       "%s%s]}%s]}",
                       check_list(c, golden_ids(c, k), k), identity, inner, outer);
}

static const char sum_layer[] = ",{\"kind\":\"sum\"}", mean_layer[] = ",{\"kind\":\"mean\"}";

/* Computes the means of the shards of 1..n; returns their number. */
static int shard_means(size_t n, int k, double mean[], size_t size[])
{
    const int m = check_shards(n, k, size);
    double row = 1;

    for (int s = 0; s < m; row += (double)size[s++])
        mean[s] = row + ((double)size[s] - 1) / 2;
    return m;
}

/* Returns the 0-dim gradient of a loss. */
static const struct impl_array *scalar(struct check *c, double value)
{
    return check_array(c, 0, NULL, &value);
}

/* ---- LOSS-01: outside ------------------------------------------------------------------------ */

static void outside(struct check *c, int k)
{
    static const size_t batches[] = {10, 9, 3, 1};
    const bool mean = check_variant(c) == 1;
    struct impl_model *model = loss_model(c, k, "", mean ? mean_layer : sum_layer);

    for (int j = 0; j < 4; ++j) {
        const size_t n = batches[j];
        const double count = (double)n, sum = golden_sum(n);
        const double loss = mean ? sum / count : sum, each = mean ? 3 : 3 * count;

        check_note(c, "K=%d N=%zu: ", k, n);
        check_zero_grad(c, model);
        golden_is(c, "loss", check_forward(c, model, golden_rows(c, n)), 0, NULL, &loss);
        golden_is_counted(c, "input gradient", check_backward(c, model, scalar(c, 3 * count)), n,
                          each, 0);
        check_grads_are(c, model, each * sum, each * count);
    }
}

/* The loss is the mean of 0.5 * (y - t)^2 over 16 rows; the caller computes it from the gathered
 * output. */
static void outside_caller(struct check *c, int k)
{
    const size_t n = 16;
    struct impl_model *model = golden_affine(c, k);
    double g[16], dx[16], dw = 0, db = 0;

    for (int row = 0; row < 16; ++row) {
        const double x = row + 1, target = 3 * x - 2;

        g[row] = (2 * x + 1 - target) / 16;
        dx[row] = 2 * g[row];
        dw += g[row] * x;
        db += g[row];
    }
    check_note(c, "K=%d N=16: ", k);
    golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 3, 2);
    golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, n, g)), n, dx);
    check_grads_are(c, model, dw, db);
}

/* ---- LOSS-02: a sum inside ------------------------------------------------------------------- */

static void inside_sum(struct check *c, int k)
{
    static const size_t batches[] = {10, 9, 17};
    struct impl_model *model = loss_model(c, k, sum_layer, sum_layer);

    for (int j = 0; j < 3; ++j) {
        const size_t n = batches[j];
        const double count = (double)n, sum = count * (count + 1) / 2;

        check_note(c, "K=%d N=%zu: ", k, n);
        check_zero_grad(c, model);
        golden_is(c, "loss", check_forward(c, model, golden_rows(c, n)), 0, NULL, &sum);
        golden_is_counted(c, "input gradient", check_backward(c, model, scalar(c, 3)), n, 3, 0);
        check_grads_are(c, model, 3 * sum, 3 * count);
    }
}

/* The output is the vector of the replicas' sums, and each sum has another weight. */
static void inside_sum_weights(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *model = loss_model(c, k, sum_layer, "");
    size_t size[IMPL_MAX_DEVICES];
    double mean[IMPL_MAX_DEVICES], sums[IMPL_MAX_DEVICES], g[IMPL_MAX_DEVICES], dx[10];
    const int m = shard_means(n, k, mean, size);
    double dw = 0, db = 0;

    for (int s = 0, row = 0; s < m; ++s) {
        sums[s] = mean[s] * (double)size[s];
        g[s] = 7 - 3.0 * s;
        dw += g[s] * sums[s];
        db += g[s] * (double)size[s];
        for (size_t j = 0; j < size[s]; ++j)
            dx[row++] = g[s];
    }
    golden_is_vector(c, "sums of the shards", check_forward(c, model, golden_rows(c, n)), (size_t)m,
                     sums);
    golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, (size_t)m, g)),
                     n, dx);
    check_grads_are(c, model, dw, db);
}

/* ---- LOSS-03, LOSS-04: the mean of means ----------------------------------------------------- */

/* 60 can be divided by every m * n_s. */
static void trap(struct check *c)
{
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        /* The loss is the mean of the means of the shards: the weight of a row is 1 / (m * n_s),
         * not 1 / N. */
        const size_t n = 10;
        const double upstream = 60;
        struct impl_model *model = loss_model(c, k, mean_layer, mean_layer);
        size_t size[IMPL_MAX_DEVICES];
        double mean[IMPL_MAX_DEVICES];
        const int m = shard_means(n, k, mean, size);
        double *dx = check_memory(c, n * sizeof *dx), sum = 0, loss;

        for (int s = 0, row = 0; s < m; ++s) {
            sum += mean[s];
            for (size_t j = 0; j < size[s]; ++j)
                dx[row++] = upstream / m / (double)size[s];
        }
        loss = sum / m;
        check_note(c, "K=%d N=%zu: ", k, n);
        golden_is(c, "mean of means", check_forward(c, model, golden_rows(c, n)), 0, NULL, &loss);
        golden_is_vector(c, "input gradient", check_backward(c, model, scalar(c, upstream)), n, dx);
        check_grads_are(c, model, upstream * loss, upstream);
        check_model_close(c, model);
    }
}

/* Two examples of the rule: 5.25 while the mean is 4, and 28.75 while it is 14.5. */
static void trap_examples(struct check *c)
{
    static const double three[] = {1, 2, 9}, ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 100};
    const double first = 5.25, second = 28.75;
    struct impl_model *model = loss_model(c, 2, mean_layer, mean_layer);

    check_note(c, "K=2, rows 1, 2, 9: ");
    golden_is(c, "mean of means", check_forward(c, model, check_vector(c, 3, three)), 0, NULL,
              &first);
    if (check_devices(c) < 4)
        return;
    model = loss_model(c, 4, mean_layer, mean_layer);
    check_note(c, "K=4, rows 1..9, 100: ");
    golden_is(c, "mean of means", check_forward(c, model, check_vector(c, 10, ten)), 0, NULL,
              &second);
}

/* With equal shards the mean of means is the mean. */
static void equal_shards(struct check *c)
{
    static const size_t batches[][2] = {{2, 10}, {3, 9}, {4, 12}, {8, 10}, {3, 3}, {4, 9}};
    const size_t n_batches = sizeof batches / sizeof batches[0];

    for (size_t j = 0; j < n_batches; ++j) {
        const int k = (int)batches[j][0];
        const size_t n = batches[j][1];
        const double mean = ((double)n + 1) / 2;

        if (k > check_devices(c))
            continue;
        check_note(c, "K=%d N=%zu: ", k, n);
        golden_is(c, "mean of means",
                  check_forward(c, loss_model(c, k, mean_layer, mean_layer), golden_rows(c, n)), 0,
                  NULL, &mean);
        golden_is(c, "mean of all rows",
                  check_forward(c, loss_model(c, k, "", mean_layer), golden_rows(c, n)), 0, NULL,
                  &mean);
    }
}

/* ---- LOSS-05: the sum of means --------------------------------------------------------------- */

/* There are m means, not K; their sum is m times too large, so it must be divided by m, not by
 * K. */
static void sum_of_means(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *means = loss_model(c, k, mean_layer, "");
    struct impl_model *model = loss_model(c, k, mean_layer, sum_layer);
    size_t size[IMPL_MAX_DEVICES], m;
    double mean[IMPL_MAX_DEVICES], dx[10], sum = 0;

    m = (size_t)shard_means(n, k, mean, size);
    for (size_t s = 0, row = 0; s < m; ++s) {
        sum += mean[s];
        for (size_t j = 0; j < size[s]; ++j)
            dx[row++] = 60 / (double)size[s];
    }
    golden_is(c, "means of the shards", check_forward(c, means, golden_rows(c, n)), k > 1, &m,
              mean);
    golden_is(c, "sum of means", check_forward(c, model, golden_rows(c, n)), 0, NULL, &sum);
    golden_is_vector(c, "input gradient", check_backward(c, model, scalar(c, 60)), n, dx);
    check_grad_is(c, model, 0, 60 * sum);
}

/* ---- LOSS-06, LOSS-07: means that are right -------------------------------------------------- */

/* Mean s has the weight n_s / N; here it is multiplied by N, to be exact. */
static void weighted(struct check *c, int k)
{
    static const size_t batches[] = {10, 5, 17};
    struct impl_model *model = loss_model(c, k, mean_layer, "");

    for (int j = 0; j < 3; ++j) {
        const size_t n = batches[j];
        size_t size[IMPL_MAX_DEVICES];
        double mean[IMPL_MAX_DEVICES], g[IMPL_MAX_DEVICES], total = 0;
        const size_t m = (size_t)shard_means(n, k, mean, size);
        const struct impl_array *means;

        check_note(c, "K=%d N=%zu: ", k, n);
        means = check_forward(c, model, golden_rows(c, n));
        golden_is_vector(c, "means of the shards", means, m, mean);
        for (size_t s = 0; s < m; ++s) {
            g[s] = (double)size[s];
            total += g[s] * check_element(means, s);
        }
        check_true(c, total / (double)n == ((double)n + 1) / 2,
                   "the weighted mean is %g, must be %g", total / (double)n, ((double)n + 1) / 2);
        check_zero_grad(c, model);
        golden_is_counted(c, "input gradient", check_backward(c, model, check_vector(c, m, g)), n,
                          1, 0);
        check_grads_are(c, model, golden_sum(n), (double)n);
    }
}

/* The loss is a mean over the rows that a mask selects, a different number in each shard. The sums
 * are divided by the number of all shards together, not each by that of its shard. */
static void masked(struct check *c, int k)
{
    static const double mask[] = {1, 0, 1, 1, 0, 0, 0, 1, 0, 0};
    const size_t n = 10;
    struct impl_model *model =
        golden_parallel(c, k, "", "{\"kind\":\"multiply\"},{\"kind\":\"sum\"}");
    const struct impl_array *flags = check_vector(c, n, mask);
    struct golden_call call = {.in = {golden_vector(c, n, 6, 4), flags}, .n_in = 2};
    size_t size[IMPL_MAX_DEVICES];
    const size_t m = (size_t)check_shards(n, k, size);
    double sums[IMPL_MAX_DEVICES] = {0}, g[IMPL_MAX_DEVICES], dx[10], total = 0;
    const struct impl_array *upstream[1], *grads;

    for (size_t s = 0, row = 0; s < m; ++s) {
        g[s] = 1.0 / 4;
        for (size_t j = 0; j < size[s]; ++j, ++row) {
            sums[s] += mask[row] * (6 + 4 * (double)row);
            dx[row] = mask[row] / 4;
        }
    }
    check_note(c, "K=%d, 4 of 10 rows count: ", k);
    golden_forward(c, model, &call);
    golden_is_vector(c, "masked sums", call.out, m, sums);
    for (size_t s = 0; s < m; ++s)
        total += check_element(call.out, s);
    check_true(c, total / 4 == 18, "the mean of the rows that count is %g, must be 18", total / 4);
    upstream[0] = check_vector(c, m, g);
    grads = golden_backward(c, model, &call, upstream);
    golden_is_vector(c, "input gradient", grads, n, dx);
    check_is_none(c, "gradient of the mask", &grads[1]);
}

static const struct check_case cases[] = {
    {"LOSS-01.sum", "LOSS-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = outside},
    {"LOSS-01.mean", "LOSS-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = outside, .variant = 1},
    {"LOSS-01.caller", "LOSS-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = outside_caller},
    {"LOSS-02.sum", "LOSS-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = inside_sum},
    {"LOSS-02.weights", "LOSS-02", MUST, OBSERVED, DP, PARALLEL, 2, .each = inside_sum_weights},
    {"LOSS-03.mean_of_means", "LOSS-03", MUST, OBSERVED, DP, PARALLEL, 2, trap},
    {"LOSS-03.examples", "LOSS-03", MUST, OBSERVED, DP, PARALLEL, 2, trap_examples},
    {"LOSS-04.equal_shards", "LOSS-04", MUST, OBSERVED, DP, PARALLEL, 2, equal_shards},
    {"LOSS-05.sum_of_means", "LOSS-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = sum_of_means},
    {"LOSS-06.weighted", "LOSS-06", MUST, OBSERVED, DP, PARALLEL, 2, .each = weighted},
    {"LOSS-07.masked", "LOSS-07", MUST, OBSERVED, DP, PARALLEL, 2, .each = masked},
};
const struct check_table loss_table = CHECK_TABLE(cases);
