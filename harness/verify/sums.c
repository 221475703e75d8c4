/* verify/sums.c: adds up the gradients of models that round, and the bounds of the sums. */
#include "verify/sums.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>

enum { CLASSES = 10, PART = 64 };

void verify_sums_input(const struct verify_sums *sums, size_t pattern, size_t n, struct bounded *x)
{
    for (size_t i = 0; i < n; ++i)
        x[i] = (struct bounded){sums->arrays->input[pattern * n + i], 0};
}

void verify_sums_add_row(struct verify_sums *sums, int p, size_t i, struct bounded a,
                         const struct bounded *x, size_t n)
{
    const double scales = sums->scales, operands = sums->empty.operands, rows = sums->rows;
    double *restrict value = sums->arrays->grad[p].value + i;
    double *restrict bound = sums->arrays->grad[p].bound + i;

    if (sums->exact) {
        for (size_t k = 0; k < n; ++k) {
            value[k] += scales * a.v * x[k].v;
            bound[k] += scales * (fabs(a.v) + a.e) * (fabs(x[k].v) + x[k].e);
        }
        return;
    }
    double *restrict sizes = sums->size[p] + i, *restrict terms = sums->terms[p] + i;

    /* A term of 0 adds 0 to all but the number of terms. */
    for (size_t k = 0; k < n; ++k) {
        const double carried = bounded_carried(a, x[k]), size = fabs(a.v * x[k].v) + carried;

        value[k] += scales * a.v * x[k].v;
        bound[k] += scales * (carried + operands * size);
        sizes[k] += scales * size;
        terms[k] += size == 0 ? 0 : rows;
    }
}

void verify_sums_linear(struct verify_sums *sums, size_t pattern, int p, const struct bounded *x,
                        size_t in, struct bounded *dx)
{
    struct reference_arrays *d = sums->arrays;
    struct bounded g[CLASSES];

    for (size_t k = 0; k < CLASSES; ++k) {
        const size_t at = pattern * CLASSES + k;
        struct bounded_sum sum = sums->empty;

        bounded_sum_add_dot(&sum, d->param[p].value + k * in, 1, x, in);
        bounded_sum_add_one(&sum, (struct bounded){d->param[p + 1].value[k], 0});

        const struct bounded y = bounded_sum_done(&sum);

        g[k] = (struct bounded){d->upstream[at], 0};
        d->output.value[at] = y.v;
        d->output.bound[at] = sums->exact ? sum.size : y.e;
        if (sums->exact) {
            d->loss += sums->scales * g[k].v * y.v;
            d->loss_bound += sums->scales * fabs(g[k].v * y.v);
        }
        verify_sums_add_row(sums, p, k * in, g[k], x, in);
        verify_sums_add(sums, p + 1, k, g[k], (struct bounded){1, 0});
    }
    sums->whole = sums->verify->probe ? -1 : p + 1;
    /* A part of the inputs at a time: a weight is read row by row. */
    for (size_t first = 0; first < in; first += PART) {
        const size_t n = in - first < PART ? in - first : PART;
        struct bounded_sum sum[PART];

        for (size_t j = 0; j < n; ++j)
            sum[j] = sums->empty;
        for (size_t k = 0; k < CLASSES; ++k)
            for (size_t j = 0; j < n; ++j)
                bounded_sum_add(&sum[j], (struct bounded){d->param[p].value[k * in + first + j], 0},
                                g[k]);
        for (size_t j = 0; j < n; ++j)
            dx[first + j] = bounded_sum_done(&sum[j]);
    }
}

int verify_sums_fill(struct verify *v, const struct verify_reference *reference,
                     struct text_error *why)
{
    struct verify_sums sums = {.verify = v,
                               .context = reference->context,
                               .arrays = v->arrays,
                               .whole = -1,
                               .exact = v->arrays->exact,
                               .empty = {.operands = v->operands, .whole = v->arrays->exact}};
    void *model = cli_alloc(1, reference->bytes);
    int status = 0;

    for (int p = 0; p < REFERENCE_PARAMS && !sums.exact; ++p) {
        const size_t n = v->arrays->grad[p].n;

        sums.size[p] = verify_numbers(1, n);
        sums.terms[p] = verify_numbers(1, n);
        if (!sums.size[p] || !sums.terms[p])
            status = verify_starved(why);
    }
    for (size_t r = 0; r < v->patterns && status == 0; ++r) {
        sums.scales = sums.rows = v->weight[r]; /* in a probe, the terms of other rows are 0 */
        if (!v->probe && !sums.exact) {
            const size_t period = v->set.period, rows = (v->rows - r + period - 1) / period;

            sums.rows = (double)rows;
        }
        reference->pattern(model, &sums, r);
    }
    /* A gradient is a sum over rows and places, then over replicas (no more of them count than
     * there are terms); then one addition adds the earlier gradient. Whole numbers add up exactly:
     * a row that is lost or there twice shows in them, whatever the batch. */
    for (int p = 0; p < REFERENCE_PARAMS && status == 0 && !sums.exact; ++p)
        for (size_t i = 0; i < v->arrays->grad[p].n; ++i) {
            const double size = sums.size[p][i], terms = sums.terms[p][i];
            const double roundings = terms + fmin((double)v->devices, terms) + 4;

            if (p != sums.whole || !(size < VERIFY_FLOAT_LIMIT))
                v->arrays->grad[p].bound[i] +=
                    bounded_rounding(roundings, sums.empty.operands) * size;
        }
    for (int p = 0; p < REFERENCE_PARAMS; ++p) {
        free(sums.size[p]);
        free(sums.terms[p]);
    }
    free(model);
    if (status != 0)
        return status;
    /* arrays.c proves that all sums of an exact model together are exact. */
    if (sums.exact)
        v->arrays->output.bound[0] = fmax(v->arrays->output.bound[0], sums.largest);
    return sums.exact ? 0 : verify_exact(sums.largest, why);
}
