/* verify_lstm.c: a float64 step of the model lstm, with a bound on the rounding of a float step.
 *
 * Every quantity has a bound e on the distance of any float computation of it: one rounding adds u
 * times its size, a sum of n terms gamma_n times the sum of |terms| (in any order, fused or not),
 * and what the operands carry is added exactly. sigmoid and tanh are taken to be within 4 units in
 * the last place (8 u). All that follows is linear in the upstream, so a row whose upstream is s
 * times its pattern's has s times its gradients and s times their bounds. */
#include "verify_dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8, FEATURES = 8, HIDDEN = 128, GATES = 512, CLASSES = 10 };

static const double U = DENSE_U, FUNCTION = 8 * DENSE_U;

struct near {
    double v, e;
};

/* One pattern's states; da are the gradients of the gates' sums. */
struct lstm {
    struct near gate[STEPS][GATES], c[STEPS][HIDDEN], h[STEPS][HIDDEN], da[STEPS][GATES];
};

static struct near rounded(double v, double e)
{
    return (struct near){v, e + U * (fabs(v) + e)};
}

static struct near plus(struct near a, struct near b)
{
    return rounded(a.v + b.v, a.e + b.e);
}

static struct near times(struct near a, struct near b)
{
    return rounded(a.v * b.v, fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e);
}

static struct near one_minus(struct near a)
{
    return rounded(1 - a.v, a.e);
}

/* slope: |f'| there; curve: above |f''| everywhere. */
static struct near function(double v, double slope, double curve, double e)
{
    const double carried = (slope + curve * e) * e;

    return (struct near){v, carried + FUNCTION * (fabs(v) + carried)};
}

static struct near near_tanh(struct near a)
{
    const double t = tanh(a.v);

    return function(t, 1 - t * t, 0.77, a.e);
}

static struct near near_sigmoid(struct near a)
{
    const double s = 1 / (1 + exp(-a.v));

    return function(s, s * (1 - s), 0.1, a.e);
}

/* The sum over n of w[k * stride] x[k], w exact. */
static struct near dot(const double *w, size_t stride, const struct near *x, size_t n)
{
    double v = 0, size = 0, carried = 0;

    for (size_t k = 0; k < n; k++) {
        v += w[k * stride] * x[k].v;
        size += fabs(w[k * stride] * x[k].v);
        carried += fabs(w[k * stride]) * x[k].e;
    }
    return (struct near){v, carried + dense_gamma((double)n + 1) * (size + carried)};
}

static void step_forward(const struct verify_dense *d, struct lstm *m, const struct near *x, int t)
{
    for (size_t k = 0; k < GATES; k++) {
        const struct near bias_x = {d->param[2].value[k], 0}, bias_h = {d->param[3].value[k], 0};
        struct near sum = dot(d->param[0].value + k * FEATURES, 1, x, FEATURES);

        if (t > 0)
            sum = plus(sum, dot(d->param[1].value + k * HIDDEN, 1, m->h[t - 1], HIDDEN));
        sum = plus(plus(sum, bias_x), bias_h);
        m->gate[t][k] = k / HIDDEN == 2 ? near_tanh(sum) : near_sigmoid(sum);
    }
    for (size_t u = 0; u < HIDDEN; u++) {
        const struct near *gate = &m->gate[t][u];

        m->c[t][u] = times(gate[0], gate[2 * HIDDEN]);
        if (t > 0)
            m->c[t][u] = plus(times(gate[HIDDEN], m->c[t - 1][u]), m->c[t][u]);
        m->h[t][u] = times(gate[3 * HIDDEN], near_tanh(m->c[t][u]));
    }
}

static void unit_back(struct lstm *m, int t, size_t u, struct near dh, struct near *dc)
{
    const struct near *gate = &m->gate[t][u];
    const struct near i = gate[0], f = gate[HIDDEN], n = gate[2 * HIDDEN], o = gate[3 * HIDDEN];
    const struct near tanh_c = near_tanh(m->c[t][u]);
    const struct near before = t > 0 ? m->c[t - 1][u] : (struct near){0, 0};
    struct near *da = &m->da[t][u];

    *dc = plus(*dc, times(times(dh, o), one_minus(times(tanh_c, tanh_c))));
    da[0] = times(times(times(*dc, n), i), one_minus(i));
    da[HIDDEN] = times(times(times(*dc, before), f), one_minus(f));
    da[2 * HIDDEN] = times(times(*dc, i), one_minus(times(n, n)));
    da[3 * HIDDEN] = times(times(times(dh, tanh_c), o), one_minus(o));
    *dc = times(*dc, f);
}

/* dh: of the last step. */
static void all_back(const struct verify_dense *d, struct lstm *m, struct near dh[HIDDEN])
{
    struct near dc[HIDDEN] = {{0, 0}};

    for (int t = STEPS - 1; t >= 0; t--) {
        for (size_t u = 0; u < HIDDEN; u++) {
            if (t < STEPS - 1)
                dh[u] = dot(d->param[1].value + u, HIDDEN, m->da[t + 1], GATES);
        }
        for (size_t u = 0; u < HIDDEN; u++)
            unit_back(m, t, u, dh[u], &dc[u]);
    }
}

/* A term of a gradient's sum. Its bound is completed by finish. */
struct sums {
    double *size[DENSE_PARAMS]; /* sums of |terms| */
};

static void add(struct verify_dense *d, struct sums *s, int p, size_t i, double rows, struct near a,
                struct near b)
{
    const double carried = fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;

    d->grad[p].value[i] += rows * a.v * b.v;
    d->grad[p].bound[i] += rows * carried;
    s->size[p][i] += rows * (fabs(a.v * b.v) + carried);
}

static void add_step(struct verify_dense *d, struct sums *s, const struct lstm *m,
                     const struct near *x, int t, double rows)
{
    const struct near one = {1, 0};

    for (size_t k = 0; k < GATES; k++) {
        const struct near da = m->da[t][k];

        for (size_t j = 0; j < FEATURES; j++)
            add(d, s, 0, k * FEATURES + j, rows, da, x[j]);
        for (size_t j = 0; j < HIDDEN && t > 0; j++)
            add(d, s, 1, k * HIDDEN + j, rows, da, m->h[t - 1][j]);
        add(d, s, 2, k, rows, da, one);
        add(d, s, 3, k, rows, da, one);
    }
}

static void one_pattern(struct verify *v, const struct workload_set *set, struct lstm *m,
                        struct sums *s, size_t r)
{
    struct verify_dense *d = v->dense;
    struct near x[STEPS * FEATURES], dh[HIDDEN], g[CLASSES];
    const struct near one = {1, 0};
    const double rows = v->weight[r];

    for (size_t i = 0; i < STEPS * FEATURES; i++)
        x[i] = (struct near){workload_input(set, r, i), 0};
    for (int t = 0; t < STEPS; t++)
        step_forward(d, m, x + t * FEATURES, t);
    for (size_t k = 0; k < CLASSES; k++) {
        const struct near bias = {d->param[5].value[k], 0};
        const struct near y =
            plus(dot(d->param[4].value + k * HIDDEN, 1, m->h[STEPS - 1], HIDDEN), bias);

        g[k] = (struct near){workload_upstream(set, r, k), 0};
        d->output.value[r * CLASSES + k] = y.v;
        d->output.bound[r * CLASSES + k] = y.e;
        d->loss += rows * g[k].v * y.v;
        d->loss_bound += rows * fabs(g[k].v) * y.e;
        for (size_t j = 0; j < HIDDEN; j++)
            add(d, s, 4, k * HIDDEN + j, rows, g[k], m->h[STEPS - 1][j]);
        add(d, s, 5, k, rows, g[k], one);
    }
    for (size_t u = 0; u < HIDDEN; u++)
        dh[u] = dot(d->param[4].value + u, HIDDEN, g, CLASSES);
    all_back(d, m, dh);
    for (int t = 0; t < STEPS; t++)
        add_step(d, s, m, x + t * FEATURES, t, rows);
}

/* A gradient is a sum over rows and steps, then over replicas, then one addition to what was there.
 * The loss is summed in double and rounded once. */
static int finish(struct verify *v, const struct sums *s, struct verify_text *why)
{
    struct verify_dense *d = v->dense;
    const double terms = (double)v->rows * STEPS + (double)v->devices + 4;

    if (!(terms * U < 0.125)) {
        snprintf(why->text, sizeof why->text, "%zu rows are too many for a bound on rounding",
                 v->rows);
        return -1;
    }
    for (int p = 0; p < DENSE_PARAMS; p++)
        for (size_t i = 0; i < d->grad[p].n; i++)
            d->grad[p].bound[i] += dense_gamma(terms) * s->size[p][i];
    d->loss_bound += 2 * U * (fabs(d->loss) + d->loss_bound);
    return 0;
}

int verify_lstm_fill(struct verify *v, const struct workload *workload,
                     const struct workload_set *set, struct verify_text *why)
{
    struct lstm *m = calloc(1, sizeof *m);
    struct sums s = {{NULL}};
    int rc = m == NULL ? -1 : 0;

    (void)workload;
    for (int p = 0; p < DENSE_PARAMS; p++)
        if ((s.size[p] = verify_numbers(1, v->dense->grad[p].n)) == NULL)
            rc = -1;
    if (rc != 0)
        snprintf(why->text, sizeof why->text, "out of memory for the reference");
    for (size_t r = 0; r < v->patterns && rc == 0; r++)
        one_pattern(v, set, m, &s, r);
    if (rc == 0)
        rc = finish(v, &s, why);
    for (int p = 0; p < DENSE_PARAMS; p++)
        free(s.size[p]);
    free(m);
    return rc;
}
