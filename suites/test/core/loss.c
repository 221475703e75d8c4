/* loss.c: the gradient of a loss inside of replicas, errors of a loss, and classes out of range. */
#include "golden.h"
#include "list.h"

#include <math.h>

/* A model y = x whose loss is computed inside each replica: linear(1, 1) with w = 1, b = 0, then
 * the sum of its rows. */
struct inside {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_module *linear, *wrapper;
    struct dp_run *run;
};

static void open_inside(struct context *c, struct inside *m, int k)
{
    m->group = open_group(c, k);
    m->slot = dp_group_slot(m->group, 0);
    m->linear = make_linear(c, m->group, 1, 1, true);
    struct dp_module *parts[] = {m->linear, make_loss(c, m->group, DP_LOSS_SUM, 1.0f, false)};
    struct dp_module *model = make_sequential(c, m->group, parts, 2);
    move_module(c, model, m->slot);
    write_values(c, &param_at(c, m->linear, 0)->value, (double[]){1.0});
    write_values(c, &param_at(c, m->linear, 1)->value, (double[]){0.0});
    m->wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    m->run = open_run(c, m->group);
}

/* The vector's gradient gives every replica its own number. */
static void gradient_of_vector(struct context *c)
{
    struct inside m;
    open_inside(c, &m, 4);
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

/* A class out of range makes the loss NaN, and never reads outside. */
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
        const float *slope = read_floats(c, &grad[0]);
        expect(c, !isnan(slope[0] + slope[1] + slope[2]), "a row with a class has no gradient");
        expect(c, isnan(slope[3]) && isnan(slope[4]) && isnan(slope[5]), "a row without has one");
        expect(c, grad[1].slot == NULL, "classes have a gradient");
    }
}

static const struct test_case cases[] = {
    {"loss/gradient-of-vector", "GATH-06", gradient_of_vector},
    {"loss/refused", "OUT-05 LOSS-01", refused},
    {"loss/class-out-of-range", "LOSS-01", class_out_of_range},
};
const struct case_table loss_cases = {cases, sizeof cases / sizeof cases[0]};
