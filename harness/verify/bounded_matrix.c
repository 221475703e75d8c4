/* verify/bounded_matrix.c: matrices of numbers with bounds. */
#include "verify/bounded_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"

int bounded_matrix_open(struct bounded_matrix *matrix, size_t rows, size_t width)
{
    *matrix = (struct bounded_matrix){rows, width, verify_numbers(rows, width),
                                      verify_numbers(rows, width)};
    return matrix->v && matrix->e ? 0 : -1;
}

void bounded_matrix_close(struct bounded_matrix *matrix)
{
    free(matrix->v);
    free(matrix->e);
    *matrix = (struct bounded_matrix){0};
}

struct bounded bounded_matrix_at(const struct bounded_matrix *matrix, size_t i)
{
    return (struct bounded){matrix->v[i], matrix->e[i]};
}

void bounded_matrix_put(const struct bounded_matrix *matrix, size_t i, struct bounded value)
{
    matrix->v[i] = value.v;
    matrix->e[i] = value.e;
}

void bounded_matrix_add(struct bounded_matrix *to, const struct bounded_matrix *from)
{
    for (size_t i = 0; i < to->rows * to->width; ++i)
        bounded_matrix_put(to, i,
                           bounded_plus(bounded_matrix_at(to, i), bounded_matrix_at(from, i)));
}

void bounded_matrix_copy(struct bounded_matrix *to, const struct bounded_matrix *from)
{
    memcpy(to->v, from->v, from->rows * from->width * sizeof *to->v);
    memcpy(to->e, from->e, from->rows * from->width * sizeof *to->e);
}

void bounded_matrix_operands(struct bounded_matrix *matrix, struct maths_variant variant)
{
    for (size_t i = 0; variant.math != DP_MATH_F32 && i < matrix->rows * matrix->width; ++i)
        matrix->v[i] = maths_operand(variant, matrix->v[i]);
}

/* ---- products -------------------------------------------------------------------------------- */

int sparse_open(struct sparse *sparse, const double *w, size_t outs, size_t ins, bool transposed,
                struct maths_variant variant)
{
    const size_t rows = transposed ? ins : outs, columns = transposed ? outs : ins;
    const size_t row = transposed ? 1 : ins, column = transposed ? ins : 1;
    size_t n = 0;

    for (size_t i = 0; i < outs * ins; ++i)
        n += w[i] != 0;
    *sparse = (struct sparse){.outs = rows,
                              .from = calloc(rows + 1, sizeof *sparse->from),
                              .column = calloc(n + 1, sizeof *sparse->column),
                              .value = calloc(n + 1, sizeof *sparse->value)};
    if (!sparse->from || !sparse->column || !sparse->value)
        return -1;
    n = 0;
    for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < columns; ++j) {
            if (w[i * row + j * column] == 0)
                continue;
            sparse->column[n] = j;
            sparse->value[n++] = maths_operand(variant, w[i * row + j * column]);
        }
        sparse->from[i + 1] = n;
    }
    return 0;
}

void sparse_close(struct sparse *sparse)
{
    free(sparse->from);
    free(sparse->column);
    free(sparse->value);
    *sparse = (struct sparse){0};
}

struct product {
    const struct sparse *sparse;
    const double *bias;
    const struct bounded_matrix *x, *y;
};

static void multiply_row(void *context, size_t t)
{
    const struct product *p = context;
    const struct sparse *sparse = p->sparse;

    for (size_t i = 0; i < sparse->outs; ++i) {
        struct bounded_sum sum = {.v = 0};

        for (size_t k = sparse->from[i]; k < sparse->from[i + 1]; ++k)
            bounded_sum_add(&sum, (struct bounded){sparse->value[k], 0},
                            bounded_matrix_at(p->x, t * p->x->width + sparse->column[k]));
        if (p->bias)
            bounded_sum_add_one(&sum, (struct bounded){p->bias[i], 0});
        bounded_matrix_put(p->y, t * p->y->width + i, bounded_sum_done(&sum));
    }
}

void sparse_product(const struct sparse *sparse, const double *bias, const struct bounded_matrix *x,
                    struct bounded_matrix *y)
{
    struct product product = {sparse, bias, x, y};

    parallel_each(x->rows, parallel_cores(), multiply_row, &product);
}

/* ---- gradients of weights -------------------------------------------------------------------- */

enum { TOGETHER = 8, BLOCK = 64, PART = 64 };

/* Adds to row i of the gradient the terms of rows first to below end of x. */
static void add_terms(double times, const struct bounded_matrix *dy, const struct bounded_matrix *x,
                      size_t first, size_t end, size_t i, double *to)
{
    for (size_t t = first; t < end; t += TOGETHER) {
        double factor[TOGETHER];
        const double *row[TOGETHER];

        for (size_t k = 0; k < TOGETHER; ++k) {
            const bool there = t + k < end;

            factor[k] = there ? times * dy->v[(t + k) * dy->width + i] : 0;
            row[k] = x->v + (there ? t + k : t) * x->width;
        }
        for (size_t j = 0; j < x->width; ++j) {
            const double a = factor[0] * row[0][j] + factor[1] * row[1][j];
            const double b = factor[2] * row[2][j] + factor[3] * row[3][j];
            const double c = factor[4] * row[4][j] + factor[5] * row[5][j];
            const double d = factor[6] * row[6][j] + factor[7] * row[7][j];

            to[j] += (a + b) + (c + d);
        }
    }
}

/* Computes, for each column, the length of its values. The lengths of the bounds follow after those
 * of all columns. */
static void find_lengths(const struct bounded_matrix *matrix, double *length)
{
    const size_t n = matrix->width;

    for (size_t i = 0; i < 2 * n; ++i)
        length[i] = 0;
    for (size_t t = 0; t < matrix->rows; ++t)
        for (size_t i = 0; i < n; ++i) {
            length[i] += matrix->v[t * n + i] * matrix->v[t * n + i];
            length[n + i] += matrix->e[t * n + i] * matrix->e[t * n + i];
        }
    for (size_t i = 0; i < 2 * n; ++i)
        length[i] = sqrt(length[i]);
}

struct gradient {
    const struct row_sum_bound *share;
    const struct bounded_matrix *dy, *x;
    const double *of_dy, *of_x; /* lengths */
    struct reference_array *grad;
};

/* Works through the rows of x in blocks of BLOCK, which stay in the cache while all PART rows of
 * this part of the gradient use them. */
static void add_part(void *context, size_t part)
{
    const struct gradient *g = context;
    const size_t first_row = part * PART, n = g->x->rows, ins = g->x->width, outs = g->dy->width;
    const size_t end_row = first_row + PART < outs ? first_row + PART : outs;

    for (size_t first = 0; first < n; first += BLOCK)
        for (size_t i = first_row; i < end_row; ++i)
            add_terms(g->share->times, g->dy, g->x, first, first + BLOCK < n ? first + BLOCK : n, i,
                      g->grad->value + i * ins);
    for (size_t i = first_row; i < end_row; ++i) {
        const double a = g->of_dy[i], a_away = g->of_dy[outs + i];

        for (size_t j = 0; j < ins; ++j) {
            const double b = g->of_x[j], b_away = g->of_x[ins + j];
            const double carried = a * b_away + a_away * b + a_away * b_away;

            g->grad->bound[i * ins + j] +=
                g->share->times * (carried + g->share->gamma * (a * b + carried));
        }
    }
}

void bounded_matrix_weight_gradient(const struct row_sum_bound *share,
                                    const struct bounded_matrix *dy, const struct bounded_matrix *x,
                                    double *room, struct reference_array *grad)
{
    double *of_dy = room, *of_x = room + 2 * dy->width;
    struct gradient gradient = {share, dy, x, of_dy, of_x, grad};

    find_lengths(dy, of_dy);
    find_lengths(x, of_x);
    parallel_each((dy->width + PART - 1) / PART, parallel_cores(), add_part, &gradient);
}

void row_sum_bound_add(const struct row_sum_bound *share, struct bounded term, size_t i,
                       struct reference_array *grad)
{
    grad->value[i] += share->times * term.v;
    grad->bound[i] += share->times * (term.e + share->gamma * (fabs(term.v) + term.e));
}

void bounded_matrix_bias_gradient(const struct row_sum_bound *share,
                                  const struct bounded_matrix *dy, struct reference_array *grad)
{
    for (size_t i = 0; i < dy->rows * dy->width; ++i)
        row_sum_bound_add(share, bounded_matrix_at(dy, i), i % dy->width, grad);
}
