/* verify/probe.c: the probe step of chains of linear layers: a float64 model with a bound on how
 * far any float step may be away (verify/bounded.h). Its numbers are positive, so that every ReLU
 * lets everything pass. If a bound does not prove that, there is no probe. */
#include "verify/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/bounded.h"

static struct bounded number(const double *value, const double *error, size_t i)
{
    return (struct bounded){value[i], error[i]};
}

/* Computes the gradient of the input of the layer. */
static int probe_back(const struct verify *v, const struct verify_layer *layer,
                      const struct verify_layer *below)
{
    struct bounded_sum *sum = calloc(layer->in + 1, sizeof *sum);

    for (size_t r = 0; r < v->patterns && sum; ++r) {
        for (size_t j = 0; j < layer->in; ++j)
            sum[j] = (struct bounded_sum){.operands = v->operands};
        for (size_t i = 0; i < layer->out; ++i)
            for (int e = 0; e < 2; ++e)
                bounded_sum_add(&sum[layer->weight[i][e].column],
                                (struct bounded){layer->weight[i][e].value, 0},
                                number(layer->upstream, layer->upstream_error, r * layer->out + i));
        for (size_t j = 0; j < layer->in; ++j) {
            const struct bounded g = bounded_sum_done(&sum[j]);

            below->upstream[r * layer->in + j] = g.v;
            below->upstream_error[r * layer->in + j] = g.e;
        }
    }
    free(sum);
    return sum ? 0 : -1;
}

int verify_probe_chain(struct verify *v, struct text_error *why)
{
    const size_t outputs = v->patterns * v->layer[v->layers - 1].out;

    for (size_t l = 0; l < v->layers; ++l) {
        struct verify_layer *layer = &v->layer[l];

        layer->input_error = verify_numbers(v->patterns, layer->in);
        layer->upstream_error = verify_numbers(v->patterns, layer->out);
        if (!layer->input_error || !layer->upstream_error)
            return verify_starved(why);
    }
    v->output_error = verify_numbers(1, outputs);
    if (!v->output_error)
        return verify_starved(why);
    for (size_t l = 0; l < v->layers; ++l) {
        const struct verify_layer *layer = &v->layer[l];
        const bool last = l + 1 == v->layers, cut = !last && !v->straight;
        double *next = last ? v->output : v->layer[l + 1].input;
        double *next_error = last ? v->output_error : v->layer[l + 1].input_error;

        for (size_t at = 0; at < v->patterns * layer->out; ++at) {
            const size_t first = at / layer->out * layer->in, i = at % layer->out;
            struct bounded_sum sum = {.operands = v->operands};

            for (int e = 0; e < 2; ++e)
                bounded_sum_add(
                    &sum, (struct bounded){layer->weight[i][e].value, 0},
                    number(layer->input, layer->input_error, first + layer->weight[i][e].column));
            bounded_sum_add_one(&sum, (struct bounded){layer->bias[i], 0});

            const struct bounded z = bounded_sum_done(&sum);

            next[at] = z.v;
            next_error[at] = cut && !(z.v > z.e) ? INFINITY : z.e;
        }
    }
    for (size_t l = v->layers - 1; l > 0; --l)
        if (probe_back(v, &v->layer[l], &v->layer[l - 1]))
            return verify_starved(why);
    for (size_t i = 0; i < outputs; ++i)
        if (!isfinite(v->output_error[i]))
            return text_fail(why, "the probe has no bound: a ReLU may cut off what is positive");
    return 0;
}

/* The sum is over the rows whose upstream is not 0. The terms of all others are 0 and round
 * nothing, whichever replica has them. */
void verify_probe_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                      const double *want, double *bound)
{
    double rows = 0;

    memset(bound, 0, (layer->in + 1) * sizeof *bound);
    for (size_t r = 0; r < v->patterns; ++r) {
        const struct bounded g = number(layer->upstream, layer->upstream_error, r * layer->out + i);

        /* These are the errors that a product carries, and those of its rounded operands: one
         * factor for |a|, one for the error of a. */
        const double size = v->weight[r] * (fabs(g.v) + g.e);
        const double by_value = v->weight[r] * g.e + v->operands * size;
        const double by_error = size + v->operands * size;
        const double *a = layer->input + r * layer->in, *e = layer->input_error + r * layer->in;

        rows += v->weight[r];
        for (size_t j = 0; j < layer->in && size > 0; ++j)
            bound[j] += by_value * fabs(a[j]) + by_error * e[j];
        bound[layer->in] += v->weight[r] * g.e;
    }
    for (size_t j = 0; j <= layer->in; ++j) {
        /* All terms are positive. */
        const double carried = bound[j] / (double)v->divisor;

        bound[j] = carried + bounded_rounding(rows + 2 + (double)v->mean_roundings, v->operands) *
                                 (want[j] + carried);
    }
}

/* The product with the learning rate, a power of two, rounds nothing; the difference does. */
void verify_probe_update(size_t n, const double *updated, double *bound)
{
    for (size_t j = 0; j < n; ++j) {
        const double carried = VERIFY_LEARNING_RATE * bound[j];

        bound[j] = carried + 2 * BOUNDED_U * (fabs(updated[j]) + carried);
    }
}
