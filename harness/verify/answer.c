/* verify/answer.c: the gradient of a layer by its definition, and the reference of a step as arrays
 * of floats, for callers that compare many steps with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/arrays.h"

static int cannot(const char *text, struct text_error *why)
{
    return text_fail(why, "%s", text);
}

static void fill_outputs(const struct verify *v, float outputs[])
{
    const struct reference_arrays *d = v->arrays;
    const size_t width = d ? d->output.n / v->patterns : v->layer[v->layers - 1].out;
    const double *from = d ? d->output.value : v->output;

    for (size_t n = 0; n < v->rows; ++n)
        for (size_t i = 0; i < width; ++i)
            outputs[n * width + i] = (float)from[verify_place(v, n) * width + i];
}

static int fill_layer(const struct verify *v, size_t l, float weight[], float bias[])
{
    const struct verify_layer *layer = &v->layer[l];
    double *row = verify_numbers(1, layer->in + 1);

    if (!row)
        return -1;
    for (size_t i = 0; i < layer->out; ++i) {
        verify_gradient_row(v, layer, i, row);
        for (size_t j = 0; j < layer->in; ++j)
            weight[i * layer->in + j] = (float)row[j];
        bias[i] = (float)row[layer->in];
    }
    free(row);
    return 0;
}

int verify_answer(const struct verify *verify, float outputs[], double *loss,
                  float *const gradient[], struct text_error *why)
{
    const struct reference_arrays *d = verify->arrays;

    if (d ? !d->exact : verify->probe)
        return cannot("its results are rounded: there is no answer to the bit", why);
    fill_outputs(verify, outputs);
    *loss = d ? d->loss : verify->loss;
    for (int p = 0; d && p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i)
            gradient[p][i] = (float)d->grad[p].value[i];
    for (size_t l = 0; l < verify->layers; ++l)
        if (fill_layer(verify, l, gradient[2 * l], gradient[2 * l + 1]))
            return cannot("out of memory for the known answer", why);
    return 0;
}

/* Adds four patterns at a time. The terms of each number are added in the order of the patterns. */
static void add_four(const struct verify_layer *layer, size_t r, const double factor[4],
                     double *want)
{
    const double *a = layer->input + r * layer->in, *b = a + layer->in;
    const double *c = b + layer->in, *d = c + layer->in;

    for (size_t j = 0; j < layer->in; ++j) {
        double sum = want[j] + factor[0] * a[j];

        sum += factor[1] * b[j];
        sum += factor[2] * c[j];
        want[j] = sum + factor[3] * d[j];
    }
}

static double factor_of(const struct verify *v, const struct verify_layer *layer, size_t r,
                        size_t i)
{
    return r < v->patterns ? v->weight[r] * layer->upstream[r * layer->out + i] : 0;
}

void verify_gradient_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                         double *want)
{
    memset(want, 0, (layer->in + 1) * sizeof *want);
    for (size_t r = 0; r < v->patterns; r += 4) {
        const double factor[4] = {factor_of(v, layer, r, i), factor_of(v, layer, r + 1, i),
                                  factor_of(v, layer, r + 2, i), factor_of(v, layer, r + 3, i)};

        for (int k = 0; k < 4; ++k)
            want[layer->in] += factor[k];
        if (r + 4 <= v->patterns) {
            add_four(layer, r, factor, want);
            continue;
        }
        for (size_t k = 0; r + k < v->patterns; ++k)
            for (size_t j = 0; j < layer->in; ++j)
                want[j] += factor[k] * layer->input[(r + k) * layer->in + j];
    }
    for (size_t j = 0; j <= layer->in; ++j)
        want[j] /= (double)v->divisor;
}
