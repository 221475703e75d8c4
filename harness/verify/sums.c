/* verify/sums.c: adds up the gradients of models that round, and the bounds of the sums. */
#include "verify/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLASSES = 10 };

void verify_sums_add(struct verify_sums *sums, int p, size_t i, struct bounded a, struct bounded b)
{
    const double carried = fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;
    const double size = fabs(a.v * b.v) + carried;
    struct reference_array *grad = &sums->arrays->grad[p];

    if (size == 0)
        return;
    grad->value[i] += sums->scales * a.v * b.v;
    grad->bound[i] += sums->scales * (carried + sums->operands * size);
    sums->size[p][i] += sums->scales * size;
    sums->terms[p][i] += sums->rows;
}

void verify_sums_linear(struct verify_sums *sums, const struct workload_set *set, size_t pattern,
                        int p, const struct bounded *x, size_t in, struct bounded *dx)
{
    struct reference_arrays *d = sums->arrays;
    struct bounded g[CLASSES];

    for (size_t k = 0; k < CLASSES; ++k) {
        struct bounded_sum sum = {.operands = sums->operands};

        bounded_sum_add_dot(&sum, d->param[p].value + k * in, 1, x, in);
        bounded_sum_add_one(&sum, (struct bounded){d->param[p + 1].value[k], 0});

        const struct bounded y = bounded_sum_done(&sum);

        g[k] = (struct bounded){workload_upstream(set, pattern, k), 0};
        d->output.value[pattern * CLASSES + k] = y.v;
        d->output.bound[pattern * CLASSES + k] = y.e;
        for (size_t j = 0; j < in; ++j)
            verify_sums_add(sums, p, k * in + j, g[k], x[j]);
        verify_sums_add(sums, p + 1, k, g[k], (struct bounded){1, 0});
    }
    sums->whole = workload_is_probe(set) ? -1 : p + 1;
    for (size_t j = 0; j < in; ++j) {
        struct bounded_sum sum = {.operands = sums->operands};

        bounded_sum_add_dot(&sum, d->param[p].value + j, in, g, CLASSES);
        dx[j] = bounded_sum_done(&sum);
    }
}

int verify_sums_fill(struct verify *v, const struct workload_set *set, verify_pattern_fn *pattern,
                     size_t bytes, const void *context, struct text_error *why)
{
    struct verify_sums sums = {
        .verify = v, .context = context, .arrays = v->arrays, .whole = -1, .operands = v->operands};
    void *model = calloc(1, bytes + 1);
    int status = model ? 0 : verify_starved(why);

    for (int p = 0; p < REFERENCE_PARAMS; ++p) {
        const size_t n = v->arrays->grad[p].n;

        sums.size[p] = verify_numbers(1, n);
        sums.terms[p] = verify_numbers(1, n);
        if (!sums.size[p] || !sums.terms[p])
            status = verify_starved(why);
    }
    for (size_t r = 0; r < v->patterns && status == 0; ++r) {
        const size_t rows = (v->rows - r + set->period - 1) / set->period;

        sums.rows = v->probe ? v->weight[r] : (double)rows; /* the terms of other rows are 0 */
        sums.scales = v->weight[r];
        pattern(model, &sums, set, r);
    }
    /* A gradient is a sum over rows and places, then over replicas (no more of them count than
     * there are terms); then one addition adds the earlier gradient. Whole numbers add up exactly:
     * a row that is lost or there twice shows in them, whatever the batch. */
    for (int p = 0; p < REFERENCE_PARAMS && status == 0; ++p)
        for (size_t i = 0; i < v->arrays->grad[p].n; ++i) {
            const double size = sums.size[p][i], terms = sums.terms[p][i];
            const double roundings = terms + fmin((double)v->devices, terms) + 4;

            if (p != sums.whole || !(size < 0x1p24))
                v->arrays->grad[p].bound[i] += bounded_rounding(roundings, sums.operands) * size;
        }
    for (int p = 0; p < REFERENCE_PARAMS; ++p) {
        free(sums.size[p]);
        free(sums.terms[p]);
    }
    free(model);
    return status == 0 ? verify_exact(sums.largest, why) : status;
}
