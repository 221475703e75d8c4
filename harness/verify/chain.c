/* verify/chain.c: chains of linear layers: the float64 model of a step, and its comparison with
 * one. It shares no code with core.
 *
 * Rows repeat, so only the pattern rows are computed. Row n of the upstream is s_n times that of
 * its pattern, so the sum over n of g_n (x) a_n is the sum over patterns r of S_r * g_r (x) a_r,
 * where S_r adds up the s_n of the rows of pattern r. Weights are used as their two entries per
 * row, never as matrices. Weight gradients and updated weights are computed a row at a time, so
 * that a large layer needs no second copy.
 *
 * The numbers of the probe step are rounded: each has a bound on how far any float step may be away
 * (verify/bounded.h). They are positive, so that every ReLU lets everything pass. If a bound does
 * not prove that, there is no probe. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "verify/arrays.h"
#include "verify/bounded.h"

static const double DOUBLE_LIMIT = 0x1p53; /* as VERIFY_FLOAT_LIMIT, in double */

static int inexact(struct text_error *why, const char *what, size_t layer, double bound,
                   double limit)
{
    return text_fail(
        why,
        "%s of layer %zu: sum of |terms| may reach %.0f, not below %.0f: results would not be "
        "exact",
        what, layer, bound, limit);
}

/* Unlike fmax it is no call: it is done for every number. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static double largest(const double x[], size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; ++i)
        most = larger(fabs(x[i]), most);
    return most;
}

/* Weights have entries of 1, or of 2 if both entries of a row are in one column. */
static int check_operands(const struct verify *v, const char *what, size_t layer, double most,
                          struct text_error *why)
{
    if (most <= v->operand_limit && 2 <= v->operand_limit)
        return 0;
    snprintf(
        why->text, sizeof why->text,
        "%s of layer %zu may reach %.0f, more than %.0f: the math of its matrix products would "
        "round them",
        what, layer, most, v->operand_limit);
    return -1;
}

static struct bounded number(const double *value, const double *error, size_t i)
{
    return (struct bounded){value[i], error ? error[i] : 0};
}

/* Computes z = W a + b for every pattern and layer, then max(z, 0) between the layers. */
static int chain_forward(struct verify *v, struct text_error *why)
{
    for (size_t l = 0; l < v->layers; ++l) {
        const struct verify_layer *layer = &v->layer[l];
        const bool last = l + 1 == v->layers, cut = !last && !v->straight;
        double *next = last ? v->arrays->output.value : v->layer[l + 1].input;
        double *next_error = last ? v->arrays->output.bound : v->layer[l + 1].input_error;
        double bound = 0;

        if (!v->probe &&
            check_operands(v, "inputs", l, largest(layer->input, v->patterns * layer->in), why))
            return -1;
        for (size_t at = 0; at < v->patterns * layer->out; ++at) {
            const size_t first = at / layer->out * layer->in, i = at % layer->out;
            struct bounded_sum sum = {.operands = v->operands, .whole = !v->probe};

            for (int e = 0; e < 2; ++e)
                bounded_sum_add(
                    &sum, (struct bounded){layer->weight[i][e].value, 0},
                    number(layer->input, layer->input_error, first + layer->weight[i][e].column));
            bounded_sum_add_one(&sum, (struct bounded){layer->bias[i], 0});

            const struct bounded z = bounded_sum_done(&sum);

            bound = larger(sum.size, bound);
            next[at] = !v->probe && cut ? larger(z.v, 0) : z.v;
            if (v->probe)
                next_error[at] = cut && !(z.v > z.e) ? INFINITY : z.e;
        }
        if (!v->probe && !(bound < v->sum_limit))
            return inexact(why, "outputs", l, bound, v->sum_limit);
    }
    return 0;
}

/* Computes the gradient of the sums of the layer below: W^T g, where the activation passed if it
 * was cut. terms: the largest sum of |terms|. Returns 0, or -1 if memory is short. */
static int chain_back(const struct verify *v, const struct verify_layer *layer,
                      const struct verify_layer *below, double *terms)
{
    struct bounded_sum *sum = calloc(layer->in + 1, sizeof *sum);

    for (size_t r = 0; r < v->patterns && sum; ++r) {
        for (size_t j = 0; j < layer->in; ++j)
            sum[j] = (struct bounded_sum){.operands = v->operands, .whole = !v->probe};
        for (size_t i = 0; i < layer->out; ++i)
            for (int e = 0; e < 2; ++e)
                bounded_sum_add(&sum[layer->weight[i][e].column],
                                (struct bounded){layer->weight[i][e].value, 0},
                                number(layer->upstream, layer->upstream_error, r * layer->out + i));
        for (size_t j = 0; j < layer->in; ++j) {
            const struct bounded g = bounded_sum_done(&sum[j]);
            const size_t at = r * layer->in + j;
            /* An activation of 0 was cut off, or its sum was 0: it has no gradient in either
             * case. */
            const bool passed = v->probe || v->straight || layer->input[at] > 0;

            *terms = larger(sum[j].size, *terms);
            below->upstream[at] = passed ? g.v : 0;
            if (v->probe)
                below->upstream_error[at] = g.e;
        }
    }
    free(sum);
    return sum ? 0 : -1;
}

static int chain_backward(struct verify *v, struct text_error *why)
{
    for (size_t l = v->layers; l-- > 0;) {
        const struct verify_layer *layer = &v->layer[l];
        const double upstream = largest(layer->upstream, v->patterns * layer->out);
        double gradients = 0; /* above every sum of |terms| of the weight and bias gradients */
        double terms = 0;

        if (!v->probe && check_operands(v, "gradients", l, 3 * upstream, why)) /* scales: <= 3 */
            return -1;
        if (l > 0 && chain_back(v, layer, &v->layer[l - 1], &terms))
            return verify_starved(why);
        if (v->probe)
            continue;
        /* Per pattern the largest |g| times the largest |a| (at least 1, for the bias). */
        for (size_t r = 0; r < v->patterns; ++r)
            gradients += v->weight[r] * largest(layer->upstream + r * layer->out, layer->out) *
                         fmax(1, largest(layer->input + r * layer->in, layer->in));
        v->bound = fmax(v->bound, gradients);
        /* The update subtracts g / 2^10 from a weight of at most 2, in units of the learning rate.
         */
        const double bound = fmax(gradients + 2 / VERIFY_LEARNING_RATE, 3 * terms);

        if (!(bound < v->sum_limit))
            return inexact(why, "gradients", l, bound, v->sum_limit);
    }
    return 0;
}

static int open_layers(struct verify *v, struct text_error *why)
{
    const struct workload *workload = &v->workload;
    const size_t layers = workload_layers(workload), outputs = workload->size[layers];

    v->layers = layers;
    v->straight = workload->is->straight;
    for (size_t l = 0; l < v->layers; ++l) {
        struct verify_layer *layer = &v->layer[l];

        layer->in = workload->size[l];
        layer->out = workload->size[l + 1];
        layer->weight = calloc(layer->out, sizeof *layer->weight);
        layer->bias = verify_numbers(1, layer->out);
        layer->input = verify_numbers(v->patterns, layer->in);
        layer->upstream = verify_numbers(v->patterns, layer->out);
        if (v->probe) {
            layer->input_error = verify_numbers(v->patterns, layer->in);
            layer->upstream_error = verify_numbers(v->patterns, layer->out);
        }
        if (!layer->weight || !layer->bias || !layer->input || !layer->upstream ||
            (v->probe && (!layer->input_error || !layer->upstream_error)))
            return verify_starved(why);
    }
    v->weight = verify_numbers(1, v->patterns);
    return v->weight && reference_array_open(&v->arrays->output, v->patterns * outputs) == 0
               ? 0
               : verify_starved(why);
}

/* Computes the step from parameters, inputs, upstream and weights of the patterns. */
static int run_layers(struct verify *v, struct text_error *why)
{
    const struct reference_array *output = &v->arrays->output;
    const struct verify_layer *last = &v->layer[v->layers - 1];
    double bound = 0;

    if (chain_forward(v, why))
        return -1;
    for (size_t at = 0; at < output->n && !v->probe; ++at) {
        const double term = v->weight[at / last->out] * last->upstream[at] * output->value[at];

        v->arrays->loss += term;
        bound += fabs(term);
    }
    if (!(bound < DOUBLE_LIMIT))
        return inexact(why, "loss", v->layers - 1, bound, DOUBLE_LIMIT);
    for (size_t i = 0; i < output->n; ++i)
        if (!isfinite(output->bound[i]))
            return text_fail(why, "the probe has no bound: a ReLU may cut off what is positive");
    return chain_backward(v, why);
}

int reference_chain_open(struct verify *v, struct text_error *why)
{
    const struct workload *workload = &v->workload;
    const struct workload_set *set = &v->set;

    if (open_layers(v, why))
        return VERIFY_STARVED;

    const struct verify_layer *last = &v->layer[v->layers - 1];

    for (size_t l = 0; l < v->layers; ++l)
        for (size_t i = 0; i < v->layer[l].out; ++i) {
            workload_weight(workload, set, l, i, v->layer[l].weight[i]);
            v->layer[l].bias[i] = workload_bias(set, l, i);
        }
    for (size_t r = 0; r < v->patterns; ++r) {
        for (size_t j = 0; j < workload->size[0]; ++j)
            v->layer[0].input[r * workload->size[0] + j] = workload_input(set, r, j);
        for (size_t i = 0; i < last->out; ++i)
            last->upstream[r * last->out + i] = workload_upstream(set, r, i);
    }
    for (size_t n = 0; n < v->rows; ++n)
        v->weight[workload_pattern(set, n)] += workload_scale(set, n);
    return run_layers(v, why);
}

int reference_chain_given(struct verify *v, const struct reference_numbers *numbers,
                          struct text_error *why)
{
    const float *value = numbers->value;

    if (open_layers(v, why))
        return VERIFY_STARVED;

    const struct verify_layer *first = &v->layer[0], *last = &v->layer[v->layers - 1];

    for (size_t l = 0; l < v->layers; ++l) {
        const struct verify_layer *layer = &v->layer[l];

        for (size_t i = 0; i < layer->out; ++i) {
            size_t entries = 0;

            for (size_t j = 0; j < layer->in; ++j, ++value)
                if (*value != 0 && entries < 2)
                    layer->weight[i][entries++] = (struct workload_entry){j, (double)*value};
        }
        for (size_t i = 0; i < layer->out; ++i)
            layer->bias[i] = (double)*value++;
    }
    for (size_t i = 0; i < v->rows * first->in; ++i)
        first->input[i] = (double)numbers->input[i];
    for (size_t i = 0; i < v->rows * last->out; ++i)
        last->upstream[i] = (double)numbers->upstream[i];
    for (size_t r = 0; r < v->rows; ++r)
        v->weight[r] = 1;
    return run_layers(v, why);
}

/* ---- gradients, a row at a time -------------------------------------------------------------- */

static double factor_of(const struct verify *v, const struct verify_layer *layer, size_t r,
                        size_t i)
{
    return r < v->patterns ? v->weight[r] * layer->upstream[r * layer->out + i] : 0;
}

void reference_chain_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                         double *want, double *bound)
{
    const size_t in = layer->in;
    double rows = 0;

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
    if (!v->probe)
        return;
    /* The sum is over the rows whose upstream is not 0. The terms of all others are 0 and round
     * nothing, whichever replica has them. */
    memset(bound, 0, (in + 1) * sizeof *bound);
    for (size_t r = 0; r < v->patterns; ++r) {
        const struct bounded g = number(layer->upstream, layer->upstream_error, r * layer->out + i);

        /* These are the errors that a product carries, and those of its rounded operands: one
         * factor for |a|, one for the error of a. */
        const double size = v->weight[r] * (fabs(g.v) + g.e);
        const double by_value = v->weight[r] * g.e + v->operands * size;
        const double by_error = size + v->operands * size;
        const double *a = layer->input + r * in, *e = layer->input_error + r * in;

        rows += v->weight[r];
        for (size_t j = 0; j < in && size > 0; ++j)
            bound[j] += by_value * fabs(a[j]) + by_error * e[j];
        bound[in] += v->weight[r] * g.e;
    }
    for (size_t j = 0; j <= in; ++j) {
        /* All terms are positive. */
        const double carried = bound[j] / (double)v->divisor;

        bound[j] = carried + bounded_rounding(rows + 2 + (double)v->mean_roundings, v->operands) *
                                 (want[j] + carried);
    }
}
