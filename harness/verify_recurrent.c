/* verify_recurrent.c: a float64 step of the models rnn and lstm, with a bound on the rounding of a
 * float step. All that follows the loss is linear in the upstream, so a row whose upstream is s
 * times its pattern's has s times its gradients and s times their bounds. */
#include "verify_recurrent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct near recurrent_sum(const struct verify_dense *d, const struct recurrent *m,
                          const struct near *x, int t, size_t k)
{
    const struct near bias_x = {d->param[2].value[k], 0}, bias_h = {d->param[3].value[k], 0};
    struct near sum = near_dot(d->param[0].value + k * FEATURES, 1, x, FEATURES);

    if (t > 0)
        sum = near_plus(sum, near_dot(d->param[1].value + k * HIDDEN, 1, m->h[t - 1], HIDDEN));
    return near_plus(near_plus(sum, bias_x), bias_h);
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

static void add_step(struct verify_dense *d, struct sums *s, const struct recurrent *m,
                     size_t gates, const struct near *x, int t, double rows)
{
    const struct near one = {1, 0};

    for (size_t k = 0; k < gates; k++) {
        const struct near da = m->da[t][k];

        for (size_t j = 0; j < FEATURES; j++)
            add(d, s, 0, k * FEATURES + j, rows, da, x[j]);
        for (size_t j = 0; j < HIDDEN && t > 0; j++)
            add(d, s, 1, k * HIDDEN + j, rows, da, m->h[t - 1][j]);
        add(d, s, 2, k, rows, da, one);
        add(d, s, 3, k, rows, da, one);
    }
}

static void one_pattern(struct verify *v, const struct workload_set *set,
                        const struct recurrent_cell *cell, struct recurrent *m, struct sums *s,
                        size_t r)
{
    struct verify_dense *d = v->dense;
    struct near x[STEPS * FEATURES], dh[HIDDEN], g[CLASSES];
    const struct near one = {1, 0};
    const double rows = v->weight[r];

    for (size_t i = 0; i < STEPS * FEATURES; i++)
        x[i] = (struct near){workload_input(set, r, i), 0};
    for (int t = 0; t < STEPS; t++)
        cell->forward(d, m, x + t * FEATURES, t);
    for (size_t k = 0; k < CLASSES; k++) {
        const struct near bias = {d->param[5].value[k], 0};
        const struct near y =
            near_plus(near_dot(d->param[4].value + k * HIDDEN, 1, m->h[STEPS - 1], HIDDEN), bias);

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
        dh[u] = near_dot(d->param[4].value + u, HIDDEN, g, CLASSES);
    cell->backward(d, m, dh);
    for (int t = 0; t < STEPS; t++)
        add_step(d, s, m, cell->gates, x + t * FEATURES, t, rows);
}

/* A gradient is a sum over rows and steps, then over replicas, then one addition to what was there.
 * The loss is summed in double and rounded once. */
static int finish(struct verify *v, const struct sums *s, struct verify_text *why)
{
    struct verify_dense *d = v->dense;
    const double terms = (double)v->rows * STEPS + (double)v->devices + 4;

    if (!(terms * DENSE_U < 0.125)) {
        snprintf(why->text, sizeof why->text, "%zu rows are too many for a bound on rounding",
                 v->rows);
        return -1;
    }
    for (int p = 0; p < DENSE_PARAMS; p++)
        for (size_t i = 0; i < d->grad[p].n; i++)
            d->grad[p].bound[i] += dense_gamma(terms) * s->size[p][i];
    d->loss_bound += 2 * DENSE_U * (fabs(d->loss) + d->loss_bound);
    return 0;
}

int recurrent_fill(struct verify *v, const struct workload_set *set,
                   const struct recurrent_cell *cell, struct verify_text *why)
{
    struct recurrent *m = calloc(1, sizeof *m);
    struct sums s = {{NULL}};
    int rc = m == NULL ? -1 : 0;

    for (int p = 0; p < DENSE_PARAMS; p++)
        if ((s.size[p] = verify_numbers(1, v->dense->grad[p].n)) == NULL)
            rc = -1;
    if (rc != 0)
        snprintf(why->text, sizeof why->text, "out of memory for the reference");
    for (size_t r = 0; r < v->patterns && rc == 0; r++)
        one_pattern(v, set, cell, m, &s, r);
    if (rc == 0)
        rc = finish(v, &s, why);
    for (int p = 0; p < DENSE_PARAMS; p++)
        free(s.size[p]);
    free(m);
    return rc;
}
