/* train/reference.c: the correct results of a step on whole numbers, by a float64 model that shares
 * no code with core: two sides that are wrong alike differ from it. It covers chains of linear
 * layers; for other exact models the reference of the sweep is used. */
#include "train/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "text/alloc.h"
#include "verify/arrays.h"

enum { MOST = WORKLOAD_MAX_SIZES };

/* a[l]: the input of layer l, [rows, size[l]]; d: the gradient of its output. */
struct chain {
    const struct workload *workload;
    const struct train_numbers *numbers;
    const float *weight[MOST], *bias[MOST];
    double *a[MOST + 1], *d, *below;
};

static void chain_forward(struct chain *c, size_t l, bool cut)
{
    const size_t in = c->workload->size[l], out = c->workload->size[l + 1];

    for (size_t r = 0; r < c->numbers->rows; ++r)
        for (size_t i = 0; i < out; ++i) {
            double y = (double)c->bias[l][i];

            for (size_t j = 0; j < in; ++j)
                y += (double)c->weight[l][i * in + j] * c->a[l][r * in + j];
            c->a[l + 1][r * out + i] = cut ? fmax(y, 0) : y;
        }
}

/* Computes the gradients of layer l, and d of the layer below. */
static void chain_backward(struct chain *c, size_t l, bool cut, double *weight, double *bias)
{
    const size_t in = c->workload->size[l], out = c->workload->size[l + 1];
    const size_t rows = c->numbers->rows;
    double *kept = c->d;

    memset(c->below, 0, rows * in * sizeof *c->below);
    for (size_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < out; ++i) {
            const double g = c->d[r * out + i];

            bias[i] += g;
            for (size_t j = 0; j < in; ++j) {
                const double a = c->a[l][r * in + j];

                weight[i * in + j] += g * a;
                c->below[r * in + j] += !cut || a > 0 ? g * (double)c->weight[l][i * in + j] : 0;
            }
        }
    c->d = c->below;
    c->below = kept;
}

static double *append_numbers(double *to, const double from[], size_t n)
{
    memcpy(to, from, n * sizeof *to);
    return to + n;
}

/* Chains of linear layers. */
static void run_chain(const struct workload *workload, const struct train_numbers *numbers,
                      double *result)
{
    struct chain c = {.workload = workload, .numbers = numbers};
    const size_t layers = workload_layers(workload), *size = workload->size;
    const bool straight = workload->is->straight;
    const size_t rows = numbers->rows, outputs = rows * size[layers];
    const size_t n = workload_params(workload);
    const float *at = numbers->value;
    double *gradient = result + outputs + 1, *end = gradient + n;
    size_t widest = 0;

    for (size_t l = 0; l <= layers; ++l) {
        c.a[l] = cli_alloc(rows * size[l], sizeof *c.a[l]);
        widest = size[l] > widest ? size[l] : widest;
    }
    for (size_t l = 0; l < layers; ++l) {
        c.weight[l] = at;
        c.bias[l] = at + size[l] * size[l + 1];
        at = c.bias[l] + size[l + 1];
    }
    c.d = cli_alloc(rows * widest, sizeof *c.d);
    c.below = cli_alloc(rows * widest, sizeof *c.below);
    for (size_t i = 0; i < rows * size[0]; ++i)
        c.a[0][i] = (double)numbers->feature[i];
    for (size_t l = 0; l < layers; ++l)
        chain_forward(&c, l, l + 1 < layers && !straight);
    for (size_t i = 0; i < outputs; ++i) {
        result[i] = c.a[layers][i];
        c.d[i] = (double)numbers->c[i];
        result[outputs] += c.d[i] * result[i];
    }
    for (size_t l = layers; l-- > 0;) {
        end -= (size[l] + 1) * size[l + 1];
        chain_backward(&c, l, l > 0 && !straight, end, end + size[l] * size[l + 1]);
    }
    for (size_t i = 0; i < n; ++i)
        gradient[n + i] = (double)numbers->value[i] - gradient[i];
    for (size_t l = 0; l <= layers; ++l)
        free(c.a[l]);
    free(c.d);
    free(c.below);
}

int train_reference(const struct workload *workload, const struct train_numbers *numbers,
                    double **result)
{
    const struct reference_numbers given = {numbers->rows, numbers->value, numbers->feature,
                                            numbers->c};
    const size_t n = workload_params(workload), outputs = workload->size[workload_layers(workload)];
    struct verify *verify = NULL;
    struct text_error why;

    *result = NULL;
    if (!workload_is_exact(workload))
        return 0;
    *result = cli_alloc(numbers->rows * outputs + 1 + 2 * n, sizeof **result);
    if (workload_is_chain(workload)) {
        run_chain(workload, numbers, *result);
        return 0;
    }
    /* Exact models that are no chains: by the model of the sweep. */
    if (reference_arrays_given(workload, &given, &verify, &why))
        return -1;

    const struct reference_arrays *d = verify->arrays;
    double *to = append_numbers(*result, d->output.value, d->output.n);
    double *const gradient = to = append_numbers(to, &d->loss, 1);

    for (int p = 0; p < REFERENCE_PARAMS; ++p)
        to = append_numbers(to, d->grad[p].value, d->grad[p].n);
    for (size_t i = 0; i < n; ++i)
        to[i] = (double)numbers->value[i] - gradient[i];
    verify_close(verify);
    return 0;
}
