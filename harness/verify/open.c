/* verify/open.c: the float64 model of a training step. It shares no code with core.
 *
 * Rows repeat, so only the pattern rows are computed. Row n of the upstream is s_n times that of
 * its pattern, so the sum over n of g_n (x) a_n is the sum over patterns r of S_r * g_r (x) a_r,
 * where S_r adds up the s_n of the rows of pattern r. Weights are used as their two entries per
 * row, never as matrices. */
#include "verify/arrays.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

static const double FLOAT_LIMIT = 0x1p24;  /* integers below are exact in float */
static const double DOUBLE_LIMIT = 0x1p53; /* ... in double */

static int inexact(struct text_error *why, const char *what, size_t layer, double bound,
                   double limit)
{
    return text_fail(
        why,
        "%s of layer %zu: sum of |terms| may reach %.0f, not below %.0f: results would not be "
        "exact",
        what, layer, bound, limit);
}

static double largest(const double x[], size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Computes the gradient of the sums of the layer below: W^T g, where the activation passed if it
 * was cut. Returns the largest sum of |terms|. */
static double exact_back(const struct verify_layer *layer, size_t patterns, bool cut, double *below,
                         double *terms)
{
    double bound = 0;

    for (size_t r = 0; r < patterns; ++r) {
        const double *g = layer->upstream + r * layer->out;
        double *d = below + r * layer->in;

        memset(terms, 0, layer->in * sizeof *terms);
        for (size_t i = 0; i < layer->out; ++i) {
            for (int e = 0; e < 2; ++e) {
                d[layer->weight[i][e].column] += layer->weight[i][e].value * g[i];
                terms[layer->weight[i][e].column] += fabs(g[i]);
            }
        }
        bound = fmax(bound, largest(terms, layer->in));
        /* An activation of 0 was cut off, or its sum was 0: it has no gradient in either case. */
        for (size_t j = 0; cut && j < layer->in; ++j)
            d[j] = layer->input[r * layer->in + j] > 0 ? d[j] : 0;
    }
    return bound;
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

static int fill_layers(struct verify *v, const struct workload *workload,
                       const struct workload_set *set)
{
    const size_t last = workload->size[v->layers];

    for (size_t l = 0; l < v->layers; ++l) {
        struct verify_layer *layer = &v->layer[l];

        layer->in = workload->size[l];
        layer->out = workload->size[l + 1];
        layer->weight = calloc(layer->out, sizeof *layer->weight);
        layer->bias = verify_numbers(1, layer->out);
        layer->input = verify_numbers(v->patterns, layer->in);
        layer->upstream = verify_numbers(v->patterns, layer->out);
        if (!layer->weight || !layer->bias || !layer->input || !layer->upstream)
            return -1;
        for (size_t i = 0; i < layer->out; ++i) {
            workload_weight(workload, set, l, i, layer->weight[i]);
            layer->bias[i] = workload_bias(set, l, i);
        }
    }
    v->output = verify_numbers(v->patterns, last);
    v->weight = verify_numbers(1, v->patterns);
    if (!v->output || !v->weight)
        return -1;
    for (size_t r = 0; r < v->patterns; ++r) {
        for (size_t j = 0; j < workload->size[0]; ++j)
            v->layer[0].input[r * workload->size[0] + j] = workload_input(set, r, j);
        for (size_t i = 0; i < last; ++i)
            v->layer[v->layers - 1].upstream[r * last + i] = workload_upstream(set, r, i);
    }
    for (size_t n = 0; n < v->rows; ++n)
        v->weight[workload_pattern(&v->set, n)] += workload_scale(set, n);
    return 0;
}

/* Computes z = W a + b for every pattern and layer, then max(z, 0) between the layers. */
static int exact_forward(struct verify *v, struct text_error *why)
{
    for (size_t l = 0; l < v->layers; ++l) {
        const struct verify_layer *layer = &v->layer[l];
        const bool last = l + 1 == v->layers, cut = !last && !v->straight;
        double *next = last ? v->output : v->layer[l + 1].input, bound = 0;

        if (check_operands(v, "inputs", l, largest(layer->input, v->patterns * layer->in), why))
            return -1;
        for (size_t at = 0; at < v->patterns * layer->out; ++at) {
            const size_t i = at % layer->out;
            const struct workload_entry *e = layer->weight[i];
            const double *a = layer->input + at / layer->out * layer->in;
            const double x = a[e[0].column], y = a[e[1].column], bias = layer->bias[i];
            const double z = e[0].value * x + e[1].value * y + bias;

            bound = fmax(bound, fabs(x) + fabs(y) + fabs(bias));
            next[at] = !cut || z > 0 ? z : 0;
        }
        if (!(bound < FLOAT_LIMIT))
            return inexact(why, "outputs", l, bound, FLOAT_LIMIT);
    }
    return 0;
}

static int exact_backward(struct verify *v, struct text_error *why)
{
    for (size_t l = v->layers; l-- > 0;) {
        const struct verify_layer *layer = &v->layer[l];
        const double upstream = largest(layer->upstream, v->patterns * layer->out);
        double gradients = 0; /* above every sum of |terms| of the weight and bias gradients */

        /* Per pattern the largest |g| times the largest |a| (at least 1, for the bias). */
        for (size_t r = 0; r < v->patterns; ++r)
            gradients += v->weight[r] * largest(layer->upstream + r * layer->out, layer->out) *
                         fmax(1, largest(layer->input + r * layer->in, layer->in));
        /* The update subtracts g / 2^10 from a weight of at most 2, in units of the learning rate.
         */
        double bound = gradients + 2 / VERIFY_LEARNING_RATE;

        if (check_operands(v, "gradients", l, 3 * upstream, why)) /* scales are at most 3 */
            return -1;

        v->bound = fmax(v->bound, gradients);
        if (l > 0) {
            double *terms = verify_numbers(1, layer->in);

            if (!terms)
                return verify_starved(why);
            /* Scales are at most 3. */
            bound = fmax(bound, 3 * exact_back(layer, v->patterns, !v->straight,
                                               v->layer[l - 1].upstream, terms));
            free(terms);
        }
        if (!(bound < FLOAT_LIMIT))
            return inexact(why, "gradients", l, bound, FLOAT_LIMIT);
    }
    return 0;
}

static int open_chain(struct verify *v, const struct workload *workload,
                      const struct workload_set *set, struct text_error *why)
{
    double bound = 0;

    v->layers = workload_layers(workload);
    v->straight = workload->is->straight;
    if (fill_layers(v, workload, set))
        return verify_starved(why);
    if (v->probe)
        return verify_probe_chain(v, why);
    if (exact_forward(v, why))
        return -1;

    const struct verify_layer *last = &v->layer[v->layers - 1];

    for (size_t at = 0; at < v->patterns * last->out; ++at) {
        const double term = v->weight[at / last->out] * last->upstream[at] * v->output[at];

        v->loss += term;
        bound += fabs(term);
    }
    if (!(bound < DOUBLE_LIMIT))
        return inexact(why, "loss", v->layers - 1, bound, DOUBLE_LIMIT);
    return exact_backward(v, why);
}

int verify_open(const struct workload *workload, const struct workload_set *set, size_t rows,
                size_t devices, enum dp_math math, struct verify **verify, struct text_error *why)
{
    /* The last place of an operand: bf16 is rounded to the nearest of 8 bits; tf32 may be cut off
     * after 11. */
    static const double units[DP_MATHS] = {[DP_MATH_TF32] = 0x1p-10, [DP_MATH_BF16] = 0x1p-8};
    const double unit = (unsigned)math < DP_MATHS ? units[math] : 0;
    struct verify *v = calloc(1, sizeof *v);
    int status = -1;

    if (v) {
        v->rows = rows;
        v->devices = devices;
        v->operand_limit = workload_operand_limit(math);
        v->set = *set;
        v->probe = workload_is_probe(set);
        v->operands = 2 * unit + unit * unit;
        v->math = math;
        v->divisor = 1;
        v->workload = *workload;
        v->kinds = workload_patterns(set, rows);
        v->patterns = workload->is->shards ? v->kinds * devices : v->kinds;
        status = 0;
    }
    if (status != 0)
        status = verify_starved(why);
    else if (workload_is_chain(workload))
        status = open_chain(v, workload, set, why);
    else
        status = reference_arrays_open(v, workload, set, why);
    if (status == 0)
        *verify = v;
    else
        verify_close(v);
    return status;
}
