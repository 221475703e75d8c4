/* verify/open.c: the float64 model of a training step. It shares no code with core.
 *
 * Rows repeat, so only the pattern rows are computed. Row n of the upstream is s_n times that of
 * its pattern, so the sum over n of g_n (x) a_n is the sum over patterns r of S_r * g_r (x) a_r,
 * where S_r adds up the s_n of the rows of pattern r. Weights are used as their two entries per
 * row, never as matrices. */
#include "verify/arrays.h"
#include "verify/probe.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

static const double FLOAT_LIMIT = 0x1p24;  /* integers below are exact in float */
static const double DOUBLE_LIMIT = 0x1p53; /* ... in double */

static void say(struct text_error *why, const char *what, size_t layer, double bound, double limit)
{
    snprintf(why->text, sizeof why->text,
             "%s of layer %zu: sum of |terms| may reach %.0f, not below %.0f: results would not be "
             "exact",
             what, layer, bound, limit);
}

size_t verify_shard(const struct verify *v, size_t n)
{
    const size_t least = v->rows / v->devices, longer = v->rows % v->devices;

    if (!v->ranks)
        return n / ((v->rows + v->devices - 1) / v->devices);
    return n < longer * (least + 1) ? n / (least + 1) : longer + (n - longer * (least + 1)) / least;
}

size_t verify_place(const struct verify *v, size_t n)
{
    const size_t shard = v->patterns > v->kinds ? verify_shard(v, n) : 0;

    return shard * v->kinds + workload_pattern(&v->set, n);
}

double *verify_numbers(size_t rows, size_t columns)
{
    return calloc(rows * columns + 1, sizeof(double));
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double largest(const double x[], size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; ++i)
        most = larger(most, fabs(x[i]));
    return most;
}

/* Computes z = W a + b for every pattern, then max(z, 0) if cut. Returns the largest sum of
 * |terms|. */
static double forward(const struct verify_layer *layer, size_t patterns, bool cut, double *next)
{
    double bound = 0;

    for (size_t r = 0; r < patterns; ++r) {
        const double *a = layer->input + r * layer->in;

        for (size_t i = 0; i < layer->out; ++i) {
            const struct workload_entry *e = layer->weight[i];
            const double z =
                e[0].value * a[e[0].column] + e[1].value * a[e[1].column] + layer->bias[i];

            bound =
                larger(bound, fabs(a[e[0].column]) + fabs(a[e[1].column]) + fabs(layer->bias[i]));
            next[r * layer->out + i] = !cut || z > 0 ? z : 0;
        }
    }
    return bound;
}

/* Computes the gradient of the sums of the layer below: W^T g, where the activation passed if it
 * was cut. Returns the largest sum of |terms|. */
static double backward(const struct verify_layer *layer, size_t patterns, bool cut, double *below,
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
        bound = larger(bound, largest(terms, layer->in));
        /* An activation of 0 was cut off, or its sum was 0: it has no gradient in either case. */
        for (size_t j = 0; cut && j < layer->in; ++j)
            d[j] = layer->input[r * layer->in + j] > 0 ? d[j] : 0;
    }
    return bound;
}

/* Returns an upper bound of every sum of |terms| of the weight and bias gradients: per pattern the
 * largest |g| times the largest |a| (at least 1, for the bias). */
static double gradient_bound(const struct verify *v, const struct verify_layer *layer)
{
    double bound = 0;

    for (size_t r = 0; r < v->patterns; ++r)
        bound += v->weight[r] * largest(layer->upstream + r * layer->out, layer->out) *
                 larger(1, largest(layer->input + r * layer->in, layer->in));
    return bound;
}

/* How far a product of two rounded operands may be away, as a part of it. bf16 is rounded to the
 * nearest of 8 bits; tf32 may be cut off after 11. */
static double operand_error(enum dp_math math)
{
    static const double units[DP_MATHS] = {[DP_MATH_TF32] = 0x1p-10, [DP_MATH_BF16] = 0x1p-8};
    const double unit = (unsigned)math < DP_MATHS ? units[math] : 0;

    return 2 * unit + unit * unit;
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

static int run_forward(struct verify *v, struct text_error *why)
{
    for (size_t l = 0; l < v->layers; ++l) {
        const bool last = l + 1 == v->layers;
        const struct verify_layer *layer = &v->layer[l];

        if (check_operands(v, "inputs", l, largest(layer->input, v->patterns * layer->in), why))
            return -1;

        const double bound = forward(&v->layer[l], v->patterns, !last && !v->straight,
                                     last ? v->output : v->layer[l + 1].input);

        if (!(bound < FLOAT_LIMIT)) {
            say(why, "outputs", l, bound, FLOAT_LIMIT);
            return -1;
        }
    }
    return 0;
}

static int run_loss(struct verify *v, struct text_error *why)
{
    const struct verify_layer *last = &v->layer[v->layers - 1];
    double bound = 0;

    for (size_t r = 0; r < v->patterns; ++r) {
        for (size_t i = 0; i < last->out; ++i) {
            const double term =
                v->weight[r] * last->upstream[r * last->out + i] * v->output[r * last->out + i];

            v->loss += term;
            bound += fabs(term);
        }
    }
    if (!(bound < DOUBLE_LIMIT)) {
        say(why, "loss", v->layers - 1, bound, DOUBLE_LIMIT);
        return -1;
    }
    return 0;
}

static int run_backward(struct verify *v, struct text_error *why)
{
    for (size_t l = v->layers; l-- > 0;) {
        const struct verify_layer *layer = &v->layer[l];
        /* The update subtracts g / 2^10 from a weight of at most 2, in units of the learning rate.
         */
        const double gradients = gradient_bound(v, layer);
        const double upstream = largest(layer->upstream, v->patterns * layer->out);
        double bound = gradients + 2 / VERIFY_LEARNING_RATE;

        if (check_operands(v, "gradients", l, 3 * upstream, why)) /* scales are at most 3 */
            return -1;

        v->bound = larger(v->bound, gradients);
        if (l > 0) {
            double *terms = verify_numbers(1, layer->in);

            if (!terms)
                return verify_starved(why);
            /* Scales are at most 3. */
            bound = larger(bound, 3 * backward(layer, v->patterns, !v->straight,
                                               v->layer[l - 1].upstream, terms));
            free(terms);
        }
        if (!(bound < FLOAT_LIMIT)) {
            say(why, "gradients", l, bound, FLOAT_LIMIT);
            return -1;
        }
    }
    return 0;
}

static int fill(struct verify *v, const struct workload *workload, const struct workload_set *set)
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

int verify_starved(struct text_error *why)
{
    snprintf(why->text, sizeof why->text, "out of memory for the reference");
    return VERIFY_STARVED;
}

static int open_layers(struct verify *v, const struct workload *workload,
                       const struct workload_set *set, struct text_error *why)
{
    if (fill(v, workload, set))
        return verify_starved(why);
    if (v->probe)
        return verify_probe_chain(v, why);
    int status;

    if ((status = run_forward(v, why)) || (status = run_loss(v, why)))
        return status;
    return run_backward(v, why);
}

int verify_open(const struct workload *workload, const struct workload_set *set, size_t rows,
                size_t devices, enum dp_math math, struct verify **verify, struct text_error *why)
{
    struct verify *v = calloc(1, sizeof *v);
    int status = -1;

    if (v) {
        v->rows = rows;
        v->devices = devices;
        v->operand_limit = workload_operand_limit(math);
        v->set = *set;
        v->probe = workload_is_probe(set);
        v->operands = operand_error(math);
        v->math = math;
        v->divisor = 1;
        v->workload = *workload;
        v->kinds = workload_patterns(set, rows);
        v->patterns = workload->is->shards ? v->kinds * devices : v->kinds;
        status = 0;
    }
    if (status == 0 && !workload_is_chain(workload)) {
        status = reference_arrays_open(v, workload, set, why);
    } else if (status == 0) {
        v->layers = workload_layers(workload);
        v->straight = workload->is->straight;
        status = open_layers(v, workload, set, why);
    } else {
        status = verify_starved(why);
    }
    if (status == 0)
        *verify = v;
    else
        verify_close(v);
    return status;
}

void verify_close(struct verify *verify)
{
    if (!verify)
        return;
    for (size_t l = 0; l < verify->layers; ++l) {
        free(verify->layer[l].weight);
        free(verify->layer[l].bias);
        free(verify->layer[l].input);
        free(verify->layer[l].upstream);
        free(verify->layer[l].input_error);
        free(verify->layer[l].upstream_error);
    }
    free(verify->output);
    free(verify->output_error);
    free(verify->weight);
    reference_arrays_close(verify->arrays);
    free(verify);
}
