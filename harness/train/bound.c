/* train/bound.c: how large the sums of a step on whole numbers can be; see train/exact.c. Bounds on
 * sums of absolute values, layer by layer:
 *   forward   a(l+1) <= r(l) a(l) + b(l)       r: largest row of |W|, b: largest |bias|
 *   backward  d(l)   <= s(l) d(l+1)            s: largest sum of |W| over all that an input feeds
 *   gradient  g(l)   <= rows * positions * d(l+1) * max(a(l), 1)
 * ReLU and max-pooling only take numbers away. A row of a table is its product with a row that has
 * one 1. */
#include <math.h>

#include "train/train.h"

/* Computes the largest sum of |W| over a row, and over all entries that one input (dim[1]) has. */
static void measure_weight(const struct dp_tensor *value, const float w[], double *row,
                           double *column)
{
    const size_t rows = value->dim[0], inputs = value->dim[1];
    const size_t inner = dp_tensor_count(value) / rows / inputs;

    *row = *column = 0;
    for (size_t r = 0; r < rows; ++r) {
        double sum = 0;

        for (size_t i = 0; i < inputs * inner; ++i)
            sum += fabs((double)w[r * inputs * inner + i]);
        *row = fmax(*row, sum);
    }
    for (size_t j = 0; j < inputs; ++j) {
        double sum = 0;

        for (size_t r = 0; r < rows; ++r)
            for (size_t i = 0; i < inner; ++i)
                sum += fabs((double)w[(r * inputs + j) * inner + i]);
        *column = fmax(*column, sum);
    }
}

enum { MAX_LAYERS = 64 };

double train_bound(const struct train_side *side, const struct train_model *model,
                   const float values[], double most_feature, size_t rows, size_t factor)
{
    double a[MAX_LAYERS + 1] = {most_feature}, column[MAX_LAYERS], most = 0;
    double delta = 2 * (double)factor;
    const float *at = values;
    int layers = 0;

    for (int p = 0; p < side->n_params; ++p) {
        const struct dp_tensor *value = &side->param[p]->value;
        const size_t count = dp_tensor_count(value);
        double row;

        if (value->ndim >= 2 && layers == MAX_LAYERS)
            return INFINITY;
        if (value->ndim >= 2) {
            measure_weight(value, at, &row, &column[layers]);
            a[layers + 1] = row * a[layers];
            ++layers;
        } else {
            double bias = 0;

            for (size_t i = 0; i < count; ++i)
                bias = fmax(bias, fabs((double)at[i]));
            a[layers] += bias;
        }
        at += count;
    }
    if (factor > 1)
        most = (double)(rows * (size_t)model->classes) * delta * a[layers];
    for (int l = layers - 1; l >= 0; --l) {
        most =
            fmax(most, fmax(a[l + 1], (double)(rows * model->positions) * delta * fmax(a[l], 1)));
        delta *= column[l];
    }
    return most + 2;
}
