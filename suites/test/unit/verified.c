/* verified.c: the references of models that round: wide enough for every order of a sum, and narrow
 * enough that what a layer may lose shows. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record_example.h"
#include "verify/recurrent.h"
#include "workload.h"

/* The portable matrix product adds to the old value, product by product: here each product is half
 * of the last bit of it, and rounds to nothing. */
Test(verified, sum_begins_with_sum)
{
    static struct recurrent m;
    double weight_x[FEATURES] = {1}, weight_h[HIDDEN], bias[1] = {0};
    struct reference_arrays d = {.param = {{FEATURES, weight_x, NULL, 1},
                                           {HIDDEN, weight_h, NULL, 1},
                                           {1, bias, NULL, 1},
                                           {1, bias, NULL, 1}}};
    const struct bounded x[FEATURES] = {{1, 0}};
    float sum = 1;

    for (size_t k = 0; k < HIDDEN; ++k) {
        weight_h[k] = 1;
        m.h[0][k] = (struct bounded){0x1p-24, 0};
        sum += 0x1p-24f;
    }

    const struct bounded want = recurrent_sum(&d, &m, x, 1, 0);

    cr_assert(sum == 1 && want.v == 1 + 0x1p-17);
    cr_assert(want.v - (double)sum <= want.e, "%.3g away, bound %.3g", want.v - (double)sum,
              want.e);
    cr_assert(want.e < 0x1p-16, "%.3g", want.e);
}

/* The same for a linear layer whose result begins with its bias. */
Test(verified, sum_begins_with_bias)
{
    const struct verify v = {.probe = false};
    double weight[10 * HIDDEN], bias[10], output[10], bound[10], zeros[10 * HIDDEN] = {0};
    struct reference_arrays d = {.param = {{10 * HIDDEN, weight, NULL, 1}, {10, bias, NULL, 1}},
                                 .grad = {{10 * HIDDEN, zeros, zeros, 1}, {10, zeros, zeros, 1}},
                                 .output = {10, output, bound, 1},
                                 .upstream = zeros};
    struct verify_sums sums = {
        .verify = &v, .arrays = &d, .size = {zeros, zeros}, .terms = {zeros, zeros}};
    struct bounded x[HIDDEN], dx[HIDDEN];

    for (size_t i = 0; i < 10 * HIDDEN; ++i)
        weight[i] = 1;
    for (size_t k = 0; k < 10; ++k)
        bias[k] = 1;
    for (size_t j = 0; j < HIDDEN; ++j)
        x[j] = (struct bounded){0x1p-24, 0};
    verify_sums_linear(&sums, 0, 0, x, HIDDEN, dx);
    cr_assert(output[9] == 1 + 0x1p-17);
    cr_assert(output[9] - 1 <= bound[9], "%.3g away, bound %.3g", output[9] - 1, bound[9]);
}

static struct verify *reference(const char *name, size_t rows, enum dp_math math)
{
    struct workload_set set;
    const struct workload workload = example_workload(name);
    struct verify *v = NULL;
    struct text_error why = {""};

    set = workload_batch(&workload, rows, math, 7, 0);
    cr_assert(verify_open(&workload, &set, rows, 2, math, &v, &why) == 0, "%s", why.text);
    return v;
}

/* If a gradient lacks a row of the batch, it is beyond its bound somewhere. */
static void row_shows(const char *name, size_t rows, enum dp_math math)
{
    struct verify *all = reference(name, rows, math),
                  *short_of_one = reference(name, rows - 1, math);

    for (int p = 0; p < REFERENCE_PARAMS && all->arrays->grad[p].n > 0; ++p) {
        const struct reference_array *want = &all->arrays->grad[p],
                                     *got = &short_of_one->arrays->grad[p];
        size_t beyond = 0;

        for (size_t i = 0; i < want->n; ++i)
            beyond += fabs(got->value[i] - want->value[i]) > want->bound[i];
        cr_assert(beyond > 0, "%s: a row of %zu may be lost from gradient %d", name, rows, p);
    }
    verify_close(all);
    verify_close(short_of_one);
}

Test(verified, a_row_shows)
{
    row_shows("rnn", 512, DP_MATH_F32);
    row_shows("lstm", 64, DP_MATH_F32);
    row_shows("capsnet", 256, DP_MATH_F32);
    row_shows("resnet", 1024, DP_MATH_F32);
    row_shows("gpt-tiny", 128, DP_MATH_F32);
    row_shows("gpt-small", 64, DP_MATH_F32);
    row_shows("gpt:24,16,2,32,64", 32, DP_MATH_F32);
}

Test(verified, a_row_shows_in_other_maths)
{
    row_shows("gpt-tiny", 32, DP_MATH_TF32);
    row_shows("gpt-small", 32, DP_MATH_TF32);
    row_shows("gpt-tiny", 16, DP_MATH_BF16);
}

/* A step with the numbers of the reference, except its loss. */
struct made {
    size_t shard[2];
    float *outputs, *gradient[REFERENCE_PARAMS], *updated[REFERENCE_PARAMS];
};

static float *floats(size_t n)
{
    float *values = malloc((n + 1) * sizeof *values);

    cr_assert(values);
    return values;
}

static void verified_make(const struct verify *v, struct made *step)
{
    const struct reference_arrays *d = v->arrays;
    const size_t width = d->output.n / v->patterns;

    step->shard[0] = step->shard[1] = v->rows / 2;
    step->outputs = floats(v->rows * width);
    for (size_t i = 0; i < v->rows * width; ++i)
        step->outputs[i] = (float)d->output.value[verify_place(v, i / width) * width + i % width];
    for (int p = 0; p < REFERENCE_PARAMS; ++p) {
        const struct reference_array *grad = &d->grad[p];

        step->gradient[p] = floats(grad->n);
        step->updated[p] = floats(grad->n);
        for (size_t i = 0; i < grad->n; ++i) {
            step->gradient[p][i] = (float)grad->value[i];
            step->updated[p][i] =
                (float)(d->param[p].value[i] - VERIFY_LEARNING_RATE * grad->value[i]);
        }
    }
}

/* Without its last term the loss is beyond its bound. */
static void loss_shows(const char *name, size_t rows)
{
    const struct workload_set set = workload_set(7, 0);
    struct verify *v = reference(name, rows, DP_MATH_F32);
    struct text_error why = {""};
    struct made made;
    size_t values = 0;
    double sum = 0, term = 0;

    verified_make(v, &made);
    for (size_t i = 0; i < rows * 10; ++i) {
        term = workload_scale(&set, i / 10) *
               workload_upstream(&set, i / 10 % v->set.period, i % 10) * (double)made.outputs[i];
        sum += term;
    }

    struct verify_step step = {made.shard,
                               2,
                               made.outputs,
                               (float)sum,
                               (double)NAN,
                               (const float *const *)made.gradient,
                               (const float *const *)made.updated,
                               {NULL}};

    cr_assert(verify_check(v, &step, &values, &why) == 0, "%s: %s", name, why.text);
    step.loss = (float)(sum - term);
    cr_assert(verify_check(v, &step, &values, &why) == 1, "%s: a term of the loss may be lost",
              name);
    step.loss = NAN;
    cr_assert(verify_check(v, &step, &values, &why) == 1, "%s: a loss of NaN", name);
    for (int p = 0; p < REFERENCE_PARAMS; ++p) {
        free(made.gradient[p]);
        free(made.updated[p]);
    }
    free(made.outputs);
    verify_close(v);
}

Test(verified, a_term_of_the_loss_shows)
{
    loss_shows("rnn", 512);
    loss_shows("capsnet", 512);
    loss_shows("resnet", 512);
}

/* The numbers of one pattern of rnn, without bounds. */
struct plain {
    double x[STEPS][FEATURES], h[STEPS][HIDDEN], da[HIDDEN];
};

static double times_column(const double *weight, const double *x, size_t n, size_t stride)
{
    double sum = 0;

    for (size_t k = 0; k < n; ++k)
        sum += weight[k * stride] * x[k];
    return sum;
}

/* Computes h of all steps, and da of the first. */
static void first_step(const struct reference_arrays *d, const struct workload_set *set, size_t r,
                       struct plain *m)
{
    double g[10], dh[HIDDEN];

    for (size_t i = 0; i < STEPS * FEATURES; ++i)
        m->x[i / FEATURES][i % FEATURES] = workload_input(set, r, i);
    for (size_t t = 0; t < STEPS; ++t)
        for (size_t k = 0; k < HIDDEN; ++k)
            m->h[t][k] = tanh(
                times_column(d->param[0].value + k * FEATURES, m->x[t], FEATURES, 1) +
                d->param[2].value[k] + d->param[3].value[k] +
                (t > 0 ? times_column(d->param[1].value + k * HIDDEN, m->h[t - 1], HIDDEN, 1) : 0));
    for (size_t k = 0; k < 10; ++k)
        g[k] = workload_upstream(set, r, k);
    for (size_t t = STEPS; t-- > 0;) {
        for (size_t k = 0; k < HIDDEN; ++k)
            dh[k] = t + 1 == STEPS ? times_column(d->param[4].value + k, g, 10, HIDDEN)
                                   : times_column(d->param[1].value + k, m->da, HIDDEN, HIDDEN);
        for (size_t k = 0; k < HIDDEN; ++k)
            m->da[k] = dh[k] * (1 - m->h[t][k] * m->h[t][k]);
    }
}

/* The contribution of the first step to a gradient is larger than the bound somewhere, though it
 * went back through seven other steps. */
Test(verified, first_step_shows)
{
    static double sum[HIDDEN][FEATURES];
    const struct workload_set set = workload_set(7, 0);
    struct verify *v = reference("rnn", 512, DP_MATH_F32);
    struct plain m;
    size_t beyond = 0;

    memset(sum, 0, sizeof sum);
    for (size_t r = 0; r < v->patterns; ++r) {
        first_step(v->arrays, &set, r, &m);
        for (size_t k = 0; k < HIDDEN; ++k)
            for (size_t j = 0; j < FEATURES; ++j)
                sum[k][j] += v->weight[r] * m.da[k] * m.x[0][j];
    }
    for (size_t i = 0; i < HIDDEN * FEATURES; ++i)
        beyond += fabs(sum[i / FEATURES][i % FEATURES]) > v->arrays->grad[0].bound[i];
    cr_assert(beyond > 0);
    verify_close(v);
}
