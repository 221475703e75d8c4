/* verify/mixed.c: a float64 step of the model mixed: y = W t[n] + b for row n of a table t. All
 * numbers are integers; the sum of |terms| is computed with every sum. */
#include <math.h>

#include "verify/sums.h"

enum { WIDTH = 10 };

/* Adds the term of a pattern, once for each of its rows. */
static void add(struct reference_array *grad, size_t i, double times, double term)
{
    grad->value[i] += times * term;
    grad->bound[i] += times * fabs(term);
}

static void forward(struct verify *v, size_t r, const double *row)
{
    struct reference_arrays *d = v->arrays;

    for (size_t k = 0; k < WIDTH; ++k) {
        double y = d->param[2].value[k], terms = fabs(y);

        for (size_t j = 0; j < WIDTH; ++j) {
            y += d->param[1].value[k * WIDTH + j] * row[j];
            terms += fabs(d->param[1].value[k * WIDTH + j] * row[j]);
        }
        d->output.value[r * WIDTH + k] = y;
        d->output.bound[r * WIDTH + k] = terms;
    }
}

/* A row of the table gets the sum over all rows of the batch that have its number. */
static void backward(struct verify *v, size_t number, const double *row, const double *g,
                     double times)
{
    struct reference_arrays *d = v->arrays;

    for (size_t k = 0; k < WIDTH; ++k) {
        add(&d->grad[2], k, times, g[k]);
        for (size_t j = 0; j < WIDTH; ++j) {
            add(&d->grad[1], k * WIDTH + j, times, g[k] * row[j]);
            add(&d->grad[0], number * WIDTH + j, times, g[k] * d->param[1].value[k * WIDTH + j]);
        }
    }
}

static int fill(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    struct reference_arrays *d = v->arrays;

    (void)set, (void)why;
    for (size_t r = 0; r < v->patterns; ++r) {
        const size_t number = (size_t)d->input[r];
        const double *row = d->param[0].value + number * WIDTH, *g = d->upstream + r * WIDTH;

        forward(v, r, row);
        for (size_t k = 0; k < WIDTH; ++k) {
            d->loss += v->weight[r] * g[k] * d->output.value[r * WIDTH + k];
            d->loss_bound += v->weight[r] * fabs(g[k] * d->output.value[r * WIDTH + k]);
        }
        backward(v, number, row, g, v->weight[r]);
    }
    return 0;
}

static void probe_pattern(void *model, struct verify_sums *sums, const struct workload_set *set,
                          size_t r)
{
    const size_t number = (size_t)workload_number(set, r);
    const double *row = sums->arrays->param[0].value + number * WIDTH;
    struct bounded x[WIDTH], dx[WIDTH];

    (void)model;
    for (size_t j = 0; j < WIDTH; ++j)
        x[j] = (struct bounded){row[j], 0};
    verify_sums_linear(sums, set, r, 1, x, WIDTH, dx);
    for (size_t j = 0; j < WIDTH; ++j)
        verify_sums_add(sums, 0, number * WIDTH + j, dx[j], (struct bounded){1, 0});
}

static int probe(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    return verify_sums_fill(v, set, probe_pattern, NULL, why);
}

const struct verify_reference verify_reference_mixed = {"mixed", fill, probe};
