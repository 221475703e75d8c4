/* verify/transformer.c: layer norm, GELU and softmax in numbers with bounds. */
#include "verify/bounded_matrix.h"

#include <math.h>
#include <stdlib.h>

static const double U = BOUNDED_U, EPS = 1e-5;

/* ---- layer norm ------------------------------------------------------------------------------ */

int layer_norm_open(struct layer_norm *norm, size_t rows, size_t width)
{
    const int status = bounded_matrix_open(&norm->hat, rows, width);

    norm->root = verify_numbers(2, rows);
    return status || !norm->root ? -1 : 0;
}

void layer_norm_close(struct layer_norm *norm)
{
    bounded_matrix_close(&norm->hat);
    free(norm->root);
    norm->root = NULL;
}

void layer_norm_forward(struct layer_norm *norm, const double *weight, const double *bias,
                        const struct bounded_matrix *x, struct bounded_matrix *y)
{
    const size_t n = x->width;
    const double width = (double)n;

    for (size_t t = 0; t < x->rows; ++t) {
        const double *v = x->v + t * n, *e = x->e + t * n;
        double mean = 0, mean_away = 0, squares = 0, squares_away = 0;

        for (size_t j = 0; j < n; ++j) {
            mean += v[j] / width;
            mean_away += e[j] / width;
            squares_away += e[j] * e[j] / width;
        }
        for (size_t j = 0; j < n; ++j)
            squares += (v[j] - mean) * (v[j] - mean) / width;

        /* The root is the length of a vector, so it is away by no more than the length of the
         * vector of errors. */
        const double root = sqrt(squares + EPS), away = sqrt(squares_away), least = root - away;

        norm->root[t] = root;
        norm->root[norm->hat.rows + t] = away;
        for (size_t j = 0; j < n; ++j) {
            const double v_hat = (v[j] - mean) / root;
            const double carried = (e[j] + mean_away + fabs(v_hat) * away) / least;
            /* A step keeps mean and 1 / root as floats. */
            const double rounded = 2 * U * fabs(mean) / root + 8 * U * fabs(v_hat);
            const struct bounded hat = {v_hat, least > 0 ? carried + rounded : INFINITY};

            bounded_matrix_put(&norm->hat, t * n + j, hat);
            bounded_matrix_put(y, t * n + j,
                               bounded_plus(bounded_times(hat, (struct bounded){weight[j], 0}),
                                            (struct bounded){bias[j], 0}));
        }
    }
}

/* Computes (g - mean of g - hat times mean of (g hat)) / root, where g is the weight times dy. */
void layer_norm_backward(const struct layer_norm *norm, const double *weight,
                         const struct bounded_matrix *dy, struct bounded_matrix *dx)
{
    const size_t n = dy->width;

    for (size_t t = 0; t < dy->rows; ++t) {
        const double root = norm->root[t], away = norm->root[norm->hat.rows + t];
        struct bounded mean = {0, 0}, slope = {0, 0};

        for (size_t j = 0; j < n; ++j) {
            const struct bounded hat = bounded_matrix_at(&norm->hat, t * n + j),
                                 d = bounded_matrix_at(dy, t * n + j);
            const double g = d.v * weight[j] / (double)n, e = d.e * fabs(weight[j]) / (double)n;

            mean.v += g;
            mean.e += e;
            slope.v += g * hat.v;
            slope.e += fabs(g) * hat.e + e * fabs(hat.v) + e * hat.e;
        }
        for (size_t j = 0; j < n; ++j) {
            const struct bounded hat = bounded_matrix_at(&norm->hat, t * n + j),
                                 d = bounded_matrix_at(dy, t * n + j);
            const double g = d.v * weight[j], v = (g - mean.v - hat.v * slope.v) / root;
            const double carried = d.e * fabs(weight[j]) + mean.e + fabs(hat.v) * slope.e +
                                   hat.e * fabs(slope.v) + hat.e * slope.e;
            const double size = fabs(g) + fabs(mean.v) + fabs(hat.v * slope.v) + carried;

            bounded_matrix_put(
                dx, t * n + j,
                (struct bounded){v, (carried + fabs(v) * away + 8 * U * size) / (root - away)});
        }
    }
}

void layer_norm_gradients(const struct row_sum_bound *share, const struct layer_norm *norm,
                          const struct bounded_matrix *dy, struct reference_array *weight,
                          struct reference_array *bias)
{
    for (size_t i = 0; i < dy->rows * dy->width; ++i)
        row_sum_bound_add(share,
                          bounded_times(bounded_matrix_at(dy, i), bounded_matrix_at(&norm->hat, i)),
                          i % dy->width, weight);
    bounded_matrix_bias_gradient(share, dy, bias);
}

/* ---- GELU ------------------------------------------------------------------------------------ */

static const double ROOT_2_PI = 0.79788456080286535588, CUBIC = 0.044715;

static double gate(double x)
{
    return tanh(ROOT_2_PI * (x + CUBIC * x * x * x));
}

static double slope(double x)
{
    const double t = gate(x);

    return (1 + t) / 2 + x / 2 * (1 - t * t) * ROOT_2_PI * (1 + 3 * CUBIC * x * x);
}

/* The second derivative of GELU is below 0.8 everywhere. */
static const double CURVE = 0.8;

void gelu_forward(const struct bounded_matrix *x, struct bounded_matrix *y)
{
    for (size_t i = 0; i < x->rows * x->width; ++i) {
        const struct bounded a = bounded_matrix_at(x, i);
        const double carried = (fabs(slope(a.v)) + CURVE * a.e) * a.e;

        bounded_matrix_put(
            y, i,
            (struct bounded){a.v * (1 + gate(a.v)) / 2, carried + 8 * U * (fabs(a.v) + carried)});
    }
}

void gelu_backward(const struct bounded_matrix *x, struct bounded_matrix *dy)
{
    for (size_t i = 0; i < x->rows * x->width; ++i) {
        const struct bounded a = bounded_matrix_at(x, i);

        bounded_matrix_put(dy, i,
                           bounded_times(bounded_matrix_at(dy, i),
                                         (struct bounded){slope(a.v), CURVE * a.e + 12 * U}));
    }
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* There are n + 26 roundings, of the sum, its two exp and the quotient, as bounded_softmax says. If
 * two numbers are more than 80 apart, exp may be cut off to 0. */
double softmax_away(double away, double wide, double n)
{
    return wide < 80 ? expm1(away + 2 * U * wide + (n + 26) * U) : INFINITY;
}
