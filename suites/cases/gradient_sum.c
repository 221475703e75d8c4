/* gradient_sum.c: which gradients are added, and to which earlier ones. */
#include "golden.h"

/* Replica r contributes 4^r: the digits of the sum, in base 4, show which replicas were counted,
 * and how often. */
static void grad_each_replica(struct check *c, int k)
{
    static const size_t batches[] = {10, 9, 3, 1, 17};
    static const char layers[] = "{\"kind\":\"grad\",\"values\":[1,4,16,64,256,1024,4096,16384,"
                                 "65536,262144,1048576,4194304]}";
    struct impl_model *model = golden_parallel(c, k, "", layers);

    for (int j = 0; j < 5; ++j) {
        size_t size[IMPL_MAX_DEVICES];
        const int m = check_shards(batches[j], k, size);
        double want = 0, digit = 1;

        check_note(c, "K=%d N=%zu: ", k, batches[j]);
        for (int r = 0; r < m; ++r, digit *= 4)
            want += digit;
        check_zero_grad(c, model);
        check_forward(c, model, golden_rows(c, batches[j]));
        check_backward(c, model, golden_rows(c, batches[j]));
        check_grad_is(c, model, 0, want);
    }
}

/* A backward in evaluation is that of training: a sum over all replicas. */
static void grad_evaluation(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *model = golden_affine(c, k);

    for (int turn = 1; turn <= 2; ++turn) {
        golden_is_counted(c, "output", check_one(c, model, golden_rows(c, n), true, false), n, 3,
                          2);
        golden_is_counted(c, "input gradient", check_backward(c, model, golden_rows(c, n)), n, 2,
                          2);
        check_grads_are(c, model, 385 * turn, 55 * turn);
    }
}

/* The gradient of one shard is zero, of another one each time. The others still count, and the
 * gradient of the base stays if nothing is added. */
static void grad_dead_shard(struct check *c)
{
    const int k = golden_most(c, 4);
    const size_t n = 10;
    struct impl_model *model = golden_affine(c, k);
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(n, k, size);

    for (int dead = 0, row = 0; dead < m; row += (int)size[dead++]) {
        double *g = check_memory(c, n * sizeof *g), *dx = check_memory(c, n * sizeof *dx);
        double dw = 1000, db = 123;

        check_note(c, "K=%d, shard %d without gradient: ", k, dead);
        for (int i = 0; i < (int)n; ++i) {
            g[i] = i >= row && i < row + (int)size[dead] ? 0 : 3.0 * i - 4;
            dx[i] = 2 * g[i];
            dw += g[i] * (i + 1);
            db += g[i];
        }
        golden_prefill(c, model);
        check_forward(c, model, golden_rows(c, n));
        golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, n, g)), n,
                         dx);
        check_grads_are(c, model, dw, db);
    }
}

/* ---- a network ------------------------------------------------------------------------------- */

/* Two layers are nested: output, input gradient and all four gradients are those of one device. */
static void grad_network(struct check *c, int k)
{
    static const size_t batches[] = {10, 5, 13};
    struct golden_net net;
    struct impl_model *model;

    golden_net_batch(c, &net, 1, check_seed(c), 0);
    model = golden_parallel(c, k, "", golden_net_layers(c, &net));
    check_int(c, "number of parameters", check_params(c, model), NET_PARAMS);
    for (int j = 0; j < 3; ++j) {
        check_note(c, "K=%d N=%zu: ", k, batches[j]);
        golden_net_batch(c, &net, batches[j], check_seed(c), check_seed(c) + batches[j]);
        check_zero_grad(c, model);
        golden_net_run(c, model, &net);
        golden_net_grads(c, model, &net, 1);
    }
}

/* A step changes every parameter by its gradient. */
static void grad_network_step(struct check *c, int k)
{
    struct golden_net net;
    struct impl_model *model;

    golden_net_batch(c, &net, 10, check_seed(c), 9);
    model = golden_parallel(c, k, "", golden_net_layers(c, &net));
    golden_net_run(c, model, &net);
    check_step(c, model, 1.0f / 64, 0.5f);
    for (int p = 0; p < NET_PARAMS; ++p) {
        double *want = check_memory(c, golden_net_size[p] * sizeof *want);

        for (size_t j = 0; j < golden_net_size[p]; ++j)
            want[j] = net.weight[p][j] - net.grad[p][j] / 64;
        check_values(c, check_text(c, "parameter %d after a step", p),
                     check_get(c, model, IMPL_VALUE, p), golden_net_size[p], want);
    }
}

/* The third backward is as right as the first, with other data each time and nothing left over; and
 * the same batch three times without clearing gives three times its gradient. */
static void grad_network_batches(struct check *c)
{
    const int k = golden_most(c, 8);
    struct golden_net net;
    struct impl_model *model;

    golden_net_batch(c, &net, 17, check_seed(c), 3);
    model = golden_parallel(c, k, "", golden_net_layers(c, &net));
    for (int step = 1; step <= 3; ++step) {
        check_note(c, "K=%d backward %d without clearing: ", k, step);
        golden_net_run(c, model, &net);
        golden_net_grads(c, model, &net, step);
    }
    for (uint64_t step = 4; step <= 6; ++step) {
        check_note(c, "K=%d backward %d, cleared: ", k, (int)step);
        golden_net_batch(c, &net, 10, check_seed(c), step);
        check_zero_grad(c, model);
        golden_net_run(c, model, &net);
        golden_net_grads(c, model, &net, 1);
    }
}

/* ---- what was there before ------------------------------------------------------------------- */

static void grad_prefilled(struct check *c, int k)
{
    static const size_t batches[] = {10, 9, 1};
    struct impl_model *model = golden_affine(c, k);

    for (int j = 0; j < 3; ++j) {
        const double n = (double)batches[j], sum = n * (n + 1) / 2;

        golden_prefill(c, model);
        for (int time = 1; time <= 2; ++time) {
            check_note(c, "K=%d N=%d backward %d: ", k, (int)n, time);
            check_forward(c, model, golden_rows(c, batches[j]));
            check_backward(c, model, NULL);
            check_grads_are(c, model, 1000 + time * sum, 123 + time * n);
        }
    }
}

/* One gradient is there, and the other is none: each is treated separately. */
static void grad_half_prefilled(struct check *c, int k)
{
    const double before = -77;
    struct impl_model *model = golden_affine(c, k);

    for (int present = 0; present < 2; ++present) {
        check_note(c, "K=%d, gradient %d is there: ", k, present);
        check_zero_grad(c, model);
        check_set(c, model, IMPL_GRAD, present, &before);
        check_grad_none(c, model, 1 - present);
        check_forward(c, model, golden_rows(c, 10));
        check_backward(c, model, golden_rows(c, 10));
        check_grads_are(c, model, present == 0 ? 385 + before : 385,
                        present == 1 ? 55 + before : 55);
    }
}

/* The gradient is on the first of device_ids, where the parameter is. */
static void grad_place(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);
    struct golden_net net;
    struct impl_model *model;

    golden_net_batch(c, &net, 9, check_seed(c), 1);
    model = golden_parallel(c, k, "", golden_net_layers(c, &net));
    golden_net_run(c, model, &net);
    golden_net_grads(c, model, &net, 1);
    for (int p = 0; p < NET_PARAMS; ++p) {
        struct impl_param param;

        check_param(c, model, p, &param);
        check_int(c, "device of the parameter", param.device, ids[0]);
        check_device(c, "gradient", check_get(c, model, IMPL_GRAD, p), ids[0]);
    }
}

/* ---- parameters that only some replicas use -------------------------------------------------- */

/* The input is x = 1..n. A shard whose first element is larger than `above` uses `high`, the others
 * `low`. */
static void branch(struct check *c, int k, size_t n, double above)
{
    struct impl_model *model = golden_parallel(
        c, k, "",
        check_text(c, "{\"kind\":\"branch\",\"above\":%g,\"low\":[3],\"high\":[5]}", above));
    size_t size[IMPL_MAX_DEVICES], row = 0;
    const int m = check_shards(n, k, size);
    double *y = check_memory(c, n * sizeof *y), *dx = check_memory(c, n * sizeof *dx);
    double low = 1000, high = 123;

    check_note(c, "K=%d N=%zu above %g: ", k, n, above);
    for (int s = 0; s < m; row += size[s++]) {
        const bool is_high = (double)(row + 1) > above;
        const double weight = is_high ? 5 : 3;

        for (size_t i = row; i < row + size[s]; ++i) {
            const double x = (double)(i + 1), g = 2 * x - 7;

            y[i] = weight * x;
            dx[i] = weight * g;
            *(is_high ? &high : &low) += g * x;
        }
    }
    golden_prefill(c, model);
    golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), n, y);
    golden_is_vector(c, "input gradient", check_backward(c, model, golden_vector(c, n, -5, 2)), n,
                     dx);
    check_grads_are(c, model, low, high);
    check_model_close(c, model);
}

static void grad_branch(struct check *c, int k)
{
    branch(c, k, 10, 5);
    branch(c, k, 9, 2);
}

/* Only the last replica uses the second parameter, then all but the first. */
static void grad_branch_third(struct check *c)
{
    const int k = golden_most(c, 4);
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(10, k, size);

    branch(c, k, 10, 10 - (double)size[m - 1]);
    branch(c, k, 10, (double)size[0]);
}

/* In each step other replicas use the same parameters: one that does not use a parameter adds
 * nothing to it, also if it used it in the step before. */
static void grad_branch_changes(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *model =
        golden_parallel(c, k, "", "{\"kind\":\"branch\",\"above\":5,\"low\":[3],\"high\":[5]}");
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(n, k, size);

    for (int step = 0; step < 4; ++step) {
        double x[10], sum[2] = {0}; /* of low and high */
        bool used[2] = {false, false};

        for (int s = 0, row = 0; s < m; ++s)
            for (size_t i = 0; i < size[s]; ++i, ++row) {
                const bool high = (s + step) % 2 == 1;

                x[row] = (high ? 10 : -10) * (step + 1) + row;
                sum[high] += x[row];
                used[high] = true;
            }
        check_note(c, "K=%d, step %d: ", k, step);
        check_zero_grad(c, model);
        check_forward(c, model, check_vector(c, n, x));
        check_backward(c, model, NULL);
        for (int p = 0; p < 2; ++p)
            if (used[p])
                check_grad_is(c, model, p, sum[p]);
    }
}

/* Row r of the gradient is the sum of the upstream rows whose index is r, over all shards. The
 * second batch has other indices, and its gradients are added to the first's. */
static void grad_embedding(struct check *c, int k)
{
    enum { ROWS = 6, COLUMNS = 2, N = 23 };
    static const double index[N] = {3, 0, 3, 5, 1, 1, 3, 0, 5, 5, 5, 1,
                                    3, 0, 1, 3, 3, 5, 0, 1, 0, 5, 3};
    const size_t n = N, shape[] = {ROWS, COLUMNS}, out[] = {N, COLUMNS};
    struct impl_model *model = golden_parallel(c, k, "",
                                               "{\"kind\":\"embedding\",\"rows\":6,\"columns\":2,"
                                               "\"weight\":[1,2,3,4,5,6,7,8,9,10,11,12]}");
    double want[ROWS * COLUMNS] = {0}, y[N * COLUMNS], rows[N];

    for (int turn = 0; turn < 2; ++turn) {
        const double *g =
            check_integers(c, (size_t)N * COLUMNS, check_seed(c) + 5 + (uint64_t)turn);

        check_note(c, "K=%d, step %d: ", k, turn);
        for (int i = 0; i < N; ++i) {
            rows[i] = (int)(index[i] + 2 * turn) % ROWS;
            for (int j = 0; j < COLUMNS; ++j) {
                const int at = (int)rows[i] * COLUMNS + j;

                y[i * COLUMNS + j] = at + 1;
                want[at] += g[i * COLUMNS + j];
            }
        }
        golden_is(c, "output", check_forward(c, model, check_typed(c, IMPL_I32, 1, &n, rows)), 2,
                  out, y);
        check_is_none(c, "gradient of the indices",
                      check_backward(c, model, check_array(c, 2, out, g)));
        golden_is(c, "gradient", check_get(c, model, IMPL_GRAD, 0), 2, shape, want);
    }
}

static const struct check_case cases[] = {
    {"GRAD-01.replicas", "GRAD-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_each_replica},
    {"GRAD-01.evaluation", "GRAD-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_evaluation},
    {"GRAD-01.dead_shard", "GRAD-01", MUST, OBSERVED, DP, PARALLEL, 1, grad_dead_shard},
    {"GRAD-03.network", "GRAD-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_network},
    {"GRAD-04.prefilled", "GRAD-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_prefilled},
    {"GRAD-04.one_of_two", "GRAD-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_half_prefilled},
    {"GRAD-04.many", "GRAD-04", MUST, OBSERVED, DP, PARALLEL, 1, grad_network_batches},
    {"GRAD-06.device", "GRAD-06", MUST, REPORTED, DP, PARALLEL, 1, .each = grad_place},
    {"GRAD-12.branch", "GRAD-12", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_branch},
    {"GRAD-12.changes", "GRAD-12", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_branch_changes},
    {"GRAD-12.last_replica", "GRAD-12", MUST, OBSERVED, DP, PARALLEL, 2, grad_branch_third},
    {"GRAD-13.embedding", "GRAD-13", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_embedding},
    {"GRAD-16.network", "GRAD-16", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_network_step},
};
const struct check_table gradient_sum_table = CHECK_TABLE(cases);
