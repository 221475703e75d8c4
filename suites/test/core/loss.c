/* loss.c: where the loss is computed. Outside, on the gathered output, it is the loss of one
 * device. Inside, a mean is a mean over the shard, and shards need not be equal: the traps are
 * tested as they are, with the right number beside the wrong one. */
#include "golden.h"
#include "list.h"

#include <math.h>

/* A model y = x whose loss is computed inside each replica: linear(1, 1) with w = 1, b = 0, then
 * the sum or the mean of its rows. */
struct inside {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_module *linear, *wrapper;
    struct dp_run *run;
};

static void open_inside(struct context *c, struct inside *m, int k, bool mean)
{
    m->group = open_group(c, k);
    m->slot = dp_group_slot(m->group, 0);
    m->linear = make_linear(c, m->group, 1, 1, true);
    struct dp_module *parts[] = {m->linear, make_loss(c, m->group, DP_LOSS_SUM, 1.0f, mean)};
    struct dp_module *model = make_sequential(c, m->group, parts, 2);
    move_module(c, model, m->slot);
    write_values(c, &param_at(c, m->linear, 0)->value, (double[]){1.0});
    write_values(c, &param_at(c, m->linear, 1)->value, (double[]){0.0});
    m->wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    m->run = open_run(c, m->group);
}

/* scale * sum or mean of a tensor of losses. */
static struct dp_tensor combine(struct context *c, const struct inside *m,
                                const struct dp_tensor *losses, float scale, bool mean)
{
    struct dp_module *loss = make_loss(c, m->group, DP_LOSS_SUM, scale, mean);
    return forward(c, loss, m->run, losses);
}

/* Sum and mean over the gathered output: 55 and 5.5 for every K. */
static void outside(struct context *c)
{
    for (int i = 0; i < GOLDEN_ROWS; ++i) {
        const struct golden_cell cell = golden_grid(i);
        case_release(c);
        case_note(c, "K=%d N=%zu", cell.k, cell.n);
        struct golden g;
        golden_open(c, &g, cell.k);
        golden_set(c, &g, 1.0, 0.0);
        const struct dp_tensor x = golden_rows(c, g.ids[0], cell.n, 1.0);
        const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
        const struct dp_tensor sum =
            forward(c, make_loss(c, g.group, DP_LOSS_SUM, 1.0f, false), g.run, &y);
        expect_scalar(c, "sum", &sum, g.ids[0], golden_sum(cell.n));
        const struct dp_tensor mean =
            forward(c, make_loss(c, g.group, DP_LOSS_SUM, 1.0f, true), g.run, &y);
        expect_scalar(c, "mean", &mean, g.ids[0], golden_sum(cell.n) / (double)cell.n);
    }
}

/* A 0-dim output per replica becomes a vector of m, not of K; alone it stays 0-dim. */
static void inside_sum(struct context *c)
{
    for (int i = 0; i < GOLDEN_ROWS; ++i) {
        const struct golden_cell cell = golden_grid(i);
        case_release(c);
        case_note(c, "K=%d N=%zu", cell.k, cell.n);
        struct inside model;
        open_inside(c, &model, cell.k, false);
        const struct dp_tensor x = golden_rows(c, model.slot, cell.n, 1.0);
        const struct dp_tensor losses = forward(c, model.wrapper, model.run, &x);
        const int m = shard_count(cell.n, cell.k);
        double want[8], first = 0.0;
        for (int s = 0; s < m; ++s) {
            const double rows = (double)shard_rows(cell.n, cell.k, s);
            want[s] = rows * first + rows * (rows + 1.0) / 2.0;
            first += rows;
        }
        if (cell.k == 1) {
            expect_scalar(c, "loss", &losses, model.slot, want[0]);
        } else {
            expect_shape(c, "losses", &losses, 1, (size_t[]){(size_t)m});
            expect_values(c, "losses", &losses, want);
        }
        const struct dp_tensor total = combine(c, &model, &losses, 1.0f, false);
        expect_scalar(c, "total", &total, model.slot, golden_sum(cell.n));
    }
}

/* The vector's gradient gives every replica its own number. */
static void gradient_of_vector(struct context *c)
{
    struct inside m;
    open_inside(c, &m, 4, false);
    const struct dp_tensor x = golden_rows(c, m.slot, 10, 1.0);
    (void)forward(c, m.wrapper, m.run, &x);
    const struct dp_tensor upstream =
        make_tensor(c, m.slot, DP_F32, 1, (size_t[]){4}, sequence(c, 4, 10.0, 10.0));
    const struct dp_tensor dx = backward(c, m.wrapper, m.run, &upstream);
    expect_grad(c, "weight", param_at(c, m.linear, 0), (double[]){1480.0});
    expect_grad(c, "bias", param_at(c, m.linear, 1), (double[]){220.0});
    expect_matrix(c, "input gradient", &dx, m.slot, 10, 1,
                  (double[]){10, 10, 10, 20, 20, 20, 30, 30, 30, 40});
}

/* Mean of means: wrong whenever shards differ, right when they do not, and m times too large
 * when summed; dividing by K where m is meant is wrong again. */
static void mean_of_means(struct context *c)
{
    static const struct {
        int k;
        size_t n;
        double rows[10];
        double truth, mean_of_means, sum_of_means;
    } table[] = {
        {4, 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 6.25, 25.0},
        {8, 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 5.5, 27.5},
        {2, 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 5.5, 11.0},
        {2, 3, {1, 2, 9}, 4.0, 5.25, 10.5},
        {4, 10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, 14.5, 28.75, 115.0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        case_release(c);
        case_note(c, "row %zu", i);
        struct inside m;
        open_inside(c, &m, table[i].k, true);
        const struct dp_tensor x = make_matrix(c, m.slot, table[i].n, 1, table[i].rows);
        const struct dp_tensor losses = forward(c, m.wrapper, m.run, &x);
        const struct dp_tensor mean = combine(c, &m, &losses, 1.0f, true);
        expect_scalar(c, "mean of means", &mean, m.slot, table[i].mean_of_means);
        const struct dp_tensor sum = combine(c, &m, &losses, 1.0f, false);
        expect_scalar(c, "sum of means", &sum, m.slot, table[i].sum_of_means);
        const float *each = read_floats(c, &losses);
        double weighted = 0.0;
        for (int s = 0; s < shard_count(table[i].n, table[i].k); ++s) {
            weighted += each[s] * (double)shard_rows(table[i].n, table[i].k, s);
        }
        expect(c, weighted / (double)table[i].n == table[i].truth,
               "weighted by rows: %.17g, want %.17g", weighted / (double)table[i].n,
               table[i].truth);
        const struct dp_tensor right = combine(c, &m, &x, 1.0f, true);
        expect_scalar(c, "mean outside", &right, m.slot, table[i].truth);
    }
}

static void divided_by_k(struct context *c)
{
    struct inside m;
    open_inside(c, &m, 8, true);
    const struct dp_tensor x = golden_rows(c, m.slot, 10, 1.0);
    const struct dp_tensor losses = forward(c, m.wrapper, m.run, &x);
    expect_shape(c, "losses", &losses, 1, (size_t[]){5});
    const struct dp_tensor eighth = combine(c, &m, &losses, 0.125f, false);
    expect_scalar(c, "sum of means / 8", &eighth, m.slot, 3.4375);
}

/* The gradient of a mean of means weighs rows by 1 / (m n_s): rows 1, 2 by 1/4, row 9 by 1/2. */
static void gradient_of_means(struct context *c)
{
    struct inside m;
    open_inside(c, &m, 2, true);
    struct dp_tensor x = make_matrix(c, m.slot, 3, 1, (double[]){1, 2, 9});
    x.needs_grad = true;
    struct dp_module *loss = make_loss(c, m.group, DP_LOSS_SUM, 1.0f, true);
    const struct dp_tensor losses = forward(c, m.wrapper, m.run, &x);
    (void)forward(c, loss, m.run, &losses);
    const struct dp_tensor upstream = backward(c, loss, m.run, NULL);
    const struct dp_tensor dx = backward(c, m.wrapper, m.run, &upstream);
    expect_matrix(c, "input gradient", &dx, m.slot, 3, 1, (double[]){0.25, 0.25, 0.5});
    expect_grad(c, "weight", param_at(c, m.linear, 0), (double[]){5.25});
    expect_grad(c, "bias", param_at(c, m.linear, 1), (double[]){1.0});
}

static void refuse(struct context *c, enum dp_loss_kind kind, bool mean,
                   const struct dp_tensor in[], int n_in, int status, const char *needle,
                   const char *other)
{
    struct dp_group *group = dp_slot_group(in[0].slot);
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    struct dp_error err = {0};
    struct dp_run *run = open_run(c, group);
    expect_error(
        c, dp_forward(make_loss(c, group, kind, 1.0f, mean), run, in, n_in, out, &n_out, &err),
        status, &err, needle, other);
}

static void refused(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot **slots = first_slots(c, group, 2);
    const struct dp_tensor y = make_matrix(c, slots[0], 3, 2, sequence(c, 6, 1.0, 1.0));
    const struct dp_tensor other = make_matrix(c, slots[0], 2, 3, sequence(c, 6, 1.0, 1.0));
    const struct dp_tensor away = make_matrix(c, slots[1], 3, 2, sequence(c, 6, 1.0, 1.0));
    const struct dp_tensor none = make_matrix(c, slots[0], 0, 2, NULL);
    const struct dp_tensor classes =
        make_tensor(c, slots[0], DP_I32, 1, (size_t[]){2}, sequence(c, 2, 0.0, 1.0));
    const struct dp_tensor no_classes = make_tensor(c, slots[0], DP_I32, 1, (size_t[]){0}, NULL);
    for (int mean = 0; mean < 2; ++mean) {
        refuse(c, DP_LOSS_MSE, mean, (struct dp_tensor[]){y, other}, 2, DP_ESHAPE, "(3, 2)",
               "(2, 3)");
        refuse(c, DP_LOSS_SUM, mean, (struct dp_tensor[]){y, other}, 2, DP_ESHAPE, NULL, NULL);
        refuse(c, DP_LOSS_XENT, mean, (struct dp_tensor[]){y, classes}, 2, DP_ESHAPE, NULL, NULL);
        refuse(c, DP_LOSS_MSE, mean, (struct dp_tensor[]){y, away}, 2, DP_EDEVICE,
               dp_slot_name(slots[0]), dp_slot_name(slots[1]));
    }
    refuse(c, DP_LOSS_MSE, true, (struct dp_tensor[]){none, none}, 2, DP_EINVAL, NULL, NULL);
    refuse(c, DP_LOSS_SUM, true, (struct dp_tensor[]){none}, 1, DP_EINVAL, NULL, NULL);
    refuse(c, DP_LOSS_XENT, true, (struct dp_tensor[]){none, no_classes}, 2, DP_EINVAL, NULL, NULL);
    const struct dp_tensor zero =
        forward(c, make_loss(c, group, DP_LOSS_SUM, 1.0f, false), open_run(c, group), &none);
    expect_scalar(c, "sum of no rows", &zero, slots[0], 0.0);
}

/* A class that is none makes the loss NaN, and never reads outside. */
static void class_out_of_range(struct context *c)
{
    static const double bad[] = {-1, 3, 2147483647, -2147483647};
    for (int i = 0; i < 4; ++i) {
        case_note(c, "class %.0f", bad[i]);
        struct dp_group *group = open_group(c, 1);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_tensor in[2] = {
            make_matrix(c, slot, 2, 3, sequence(c, 6, 0.0, 1.0)),
            make_tensor(c, slot, DP_I32, 1, (size_t[]){2}, (double[]){1, bad[i]})};
        in[0].needs_grad = true;
        struct dp_run *run = open_run(c, group);
        struct dp_module *loss = make_loss(c, group, DP_LOSS_XENT, 1.0f, false);
        struct dp_tensor out[DP_MAX_IO], grad[2];
        int n_out = 0;
        struct dp_error err = {0};
        expect_ok(c, dp_forward(loss, run, in, 2, out, &n_out, &err), &err, "forward");
        expect(c, isnan(read_floats(c, &out[0])[0]), "the loss is a number");
        expect_ok(c, dp_backward(loss, run, NULL, 0, grad, 2, &err), &err, "backward");
        expect_shape(c, "gradient", &grad[0], 2, (size_t[]){2, 3});
        expect(c, grad[1].slot == NULL, "classes have a gradient");
    }
}

static const struct test_case cases[] = {
    {"loss/outside", "LOSS-01", outside},
    {"loss/inside-sum", "LOSS-02 GATH-05 GATH-08", inside_sum},
    {"loss/gradient-of-vector", "GATH-06", gradient_of_vector},
    {"loss/mean-of-means", "LOSS-03 LOSS-04 LOSS-05 LOSS-06", mean_of_means},
    {"loss/divided-by-k", "LOSS-05", divided_by_k},
    {"loss/gradient-of-means", "LOSS-03", gradient_of_means},
    {"loss/refused", "OUT-05 LOSS-01", refused},
    {"loss/class-out-of-range", "LOSS-01", class_out_of_range},
};
const struct case_table loss_cases = {cases, sizeof cases / sizeof cases[0]};
