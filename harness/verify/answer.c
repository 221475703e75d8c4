/* verify/answer.c: the gradient of a layer by its definition, and the reference of a step as arrays
 * of floats, for callers that compare many steps with it. */
#include <stdlib.h>
#include <string.h>

#include "verify/arrays.h"

int verify_answer(const struct verify *verify, float outputs[], double *loss,
                  float *const gradient[], struct text_error *why)
{
    const struct reference_arrays *d = verify->arrays;

    if (d ? !d->exact : verify->probe)
        return text_fail(why, "its results are rounded: there is no answer to the bit");

    const size_t width = d ? d->output.n / verify->patterns : verify->layer[verify->layers - 1].out;
    const double *from = d ? d->output.value : verify->output;

    for (size_t n = 0; n < verify->rows; ++n)
        for (size_t i = 0; i < width; ++i)
            outputs[n * width + i] = (float)from[verify_place(verify, n) * width + i];
    *loss = d ? d->loss : verify->loss;
    for (int p = 0; d && p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i)
            gradient[p][i] = (float)d->grad[p].value[i];
    for (size_t l = 0; l < verify->layers; ++l) {
        const struct verify_layer *layer = &verify->layer[l];
        double *row = verify_numbers(1, layer->in + 1);

        if (!row)
            return text_fail(why, "out of memory for the known answer");
        for (size_t i = 0; i < layer->out; ++i) {
            verify_gradient_row(verify, layer, i, row);
            for (size_t j = 0; j < layer->in; ++j)
                gradient[2 * l][i * layer->in + j] = (float)row[j];
            gradient[2 * l + 1][i] = (float)row[layer->in];
        }
        free(row);
    }
    return 0;
}

static double factor_of(const struct verify *v, const struct verify_layer *layer, size_t r,
                        size_t i)
{
    return r < v->patterns ? v->weight[r] * layer->upstream[r * layer->out + i] : 0;
}

void verify_gradient_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                         double *want)
{
    const size_t in = layer->in;

    memset(want, 0, (in + 1) * sizeof *want);
    for (size_t r = 0; r < v->patterns; r += 4) {
        const double factor[4] = {factor_of(v, layer, r, i), factor_of(v, layer, r + 1, i),
                                  factor_of(v, layer, r + 2, i), factor_of(v, layer, r + 3, i)};
        const double *a = layer->input + r * in;

        for (int k = 0; k < 4; ++k)
            want[in] += factor[k];
        /* Four patterns at a time. The terms of each number are added in their order. */
        for (size_t j = 0; r + 4 <= v->patterns && j < in; ++j) {
            double sum = want[j] + factor[0] * a[j];

            sum += factor[1] * a[in + j];
            sum += factor[2] * a[2 * in + j];
            want[j] = sum + factor[3] * a[3 * in + j];
        }
        for (size_t k = 0; r + 4 > v->patterns && r + k < v->patterns; ++k)
            for (size_t j = 0; j < in; ++j)
                want[j] += factor[k] * a[k * in + j];
    }
    for (size_t j = 0; j <= in; ++j)
        want[j] /= (double)v->divisor;
}
