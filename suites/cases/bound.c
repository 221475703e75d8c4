/* bound.c: matrices of numbers with bounds. */
#include "bound.h"

#include "impls/words.h"

#include <float.h>
#include <math.h>

/* ---- numbers --------------------------------------------------------------------------------- */

static double rounding(double magnitude)
{
    return (double)FLT_EPSILON * magnitude;
}

static struct bound bound_times(struct bound a, struct bound b)
{
    const double value = a.value * b.value;

    return (struct bound){value, fabs(a.value) * b.off + fabs(b.value) * a.off + a.off * b.off +
                                     rounding(fabs(value))};
}

/* A sum of n terms, which may be added in any order. */
struct sum {
    double value, off, magnitude;
    size_t n;
};

static void bound_add(struct sum *sum, struct bound term)
{
    sum->value += term.value;
    sum->off += term.off;
    sum->magnitude += fabs(term.value);
    ++sum->n;
}

static struct bound bound_total(const struct sum *sum)
{
    return (struct bound){sum->value, sum->off + (double)sum->n * rounding(sum->magnitude)};
}

/* ---- matrices -------------------------------------------------------------------------------- */

static struct bound_matrix empty(struct check *c, size_t rows, size_t columns)
{
    struct bound_matrix m = {rows, columns, NULL};

    m.at = check_memory(c, (rows * columns + 1) * sizeof *m.at);
    return m;
}

struct bound_matrix bound_given(struct check *c, size_t rows, size_t columns, const double values[])
{
    const struct bound_matrix m = empty(c, rows, columns);

    for (size_t i = 0; i < rows * columns; ++i)
        m.at[i].value = values[i];
    return m;
}

struct bound_matrix bound_taken(struct check *c, const struct impl_array *array)
{
    const size_t n = check_elements(array), columns = array->ndim == 2 ? array->dim[1] : n;
    const struct bound_matrix m = empty(c, columns > 0 ? n / columns : 0, columns);

    for (size_t i = 0; i < m.rows * m.columns; ++i)
        m.at[i].value = check_element(array, i);
    return m;
}

static struct bound_matrix bound_turned(struct check *c, const struct bound_matrix *m)
{
    const struct bound_matrix turned = empty(c, m->columns, m->rows);

    for (size_t i = 0; i < m->rows; ++i)
        for (size_t j = 0; j < m->columns; ++j)
            turned.at[j * m->rows + i] = m->at[i * m->columns + j];
    return turned;
}

static struct bound_matrix bound_product(struct check *c, const struct bound_matrix *a,
                                         const struct bound_matrix *b)
{
    const struct bound_matrix product = empty(c, a->rows, b->columns);

    for (size_t i = 0; i < a->rows; ++i)
        for (size_t j = 0; j < b->columns; ++j) {
            struct sum sum = {0};

            for (size_t k = 0; k < a->columns; ++k)
                bound_add(&sum, bound_times(a->at[i * a->columns + k], b->at[k * b->columns + j]));
            product.at[i * b->columns + j] = bound_total(&sum);
        }
    return product;
}

struct bound_matrix bound_linear(struct check *c, const struct bound_matrix *x,
                                 const struct bound_matrix *weight, const struct bound_matrix *bias)
{
    const struct bound_matrix turned = bound_turned(c, weight), y = bound_product(c, x, &turned);

    for (size_t i = 0; bias && i < y.rows * y.columns; ++i) {
        struct sum sum = {0};

        bound_add(&sum, y.at[i]);
        bound_add(&sum, bias->at[i % y.columns]);
        y.at[i] = bound_total(&sum);
    }
    return y;
}

struct bound_matrix bound_relu(struct check *c, const struct bound_matrix *x)
{
    const struct bound_matrix y = empty(c, x->rows, x->columns);

    for (size_t i = 0; i < x->rows * x->columns; ++i)
        y.at[i] = (struct bound){x->at[i].value > 0 ? x->at[i].value : 0, x->at[i].off};
    return y;
}

/* If x may be on either side of 0, so may be the gradient. */
static struct bound_matrix bound_relu_back(struct check *c, const struct bound_matrix *x,
                                           const struct bound_matrix *g)
{
    const struct bound_matrix dx = empty(c, x->rows, x->columns);

    for (size_t i = 0; i < x->rows * x->columns; ++i) {
        const bool open = x->at[i].off > 0 && fabs(x->at[i].value) <= x->at[i].off;

        dx.at[i] = x->at[i].value > 0 ? g->at[i] : (struct bound){0, 0};
        if (open)
            dx.at[i].off = fabs(g->at[i].value) + g->at[i].off;
    }
    return dx;
}

struct bound_matrix bound_scaled(struct check *c, const struct bound_matrix *m, double factor,
                                 double summand)
{
    const struct bound_matrix scaled = empty(c, m->rows, m->columns);

    for (size_t i = 0; i < m->rows * m->columns; ++i) {
        struct sum sum = {0};

        bound_add(&sum, bound_times(m->at[i], (struct bound){factor, 0}));
        bound_add(&sum, (struct bound){summand, 0});
        scaled.at[i] = bound_total(&sum);
    }
    return scaled;
}

/* of columns */
static struct bound_matrix bound_sums(struct check *c, const struct bound_matrix *m)
{
    const struct bound_matrix sums = empty(c, 1, m->columns);

    for (size_t j = 0; j < m->columns; ++j) {
        struct sum sum = {0};

        for (size_t i = 0; i < m->rows; ++i)
            bound_add(&sum, m->at[i * m->columns + j]);
        sums.at[j] = bound_total(&sum);
    }
    return sums;
}

/* by columns */
static struct bound_matrix bound_centred(struct check *c, const struct bound_matrix *m)
{
    const struct bound_matrix sums = bound_sums(c, m), centred = empty(c, m->rows, m->columns);
    const struct bound share = {-1 / (double)m->rows, rounding(1 / (double)m->rows)};

    for (size_t i = 0; i < m->rows * m->columns; ++i) {
        struct sum sum = {0};

        bound_add(&sum, m->at[i]);
        bound_add(&sum, bound_times(sums.at[i % m->columns], share));
        centred.at[i] = bound_total(&sum);
    }
    return centred;
}

/* Returns the sum of all a * b, or of all a if b is NULL. */
static struct bound_matrix bound_dot(struct check *c, const struct bound_matrix *a,
                                     const struct bound_matrix *b)
{
    const struct bound_matrix dot = empty(c, 1, 1);
    struct sum sum = {0};

    for (size_t i = 0; i < a->rows * a->columns; ++i)
        bound_add(&sum, b ? bound_times(a->at[i], b->at[i]) : a->at[i]);
    *dot.at = bound_total(&sum);
    return dot;
}

void bound_is(struct check *c, const char *what, const struct impl_array *got,
              const struct bound_matrix *want)
{
    const size_t n = want->rows * want->columns;

    check_true(c, got->dtype == IMPL_F32 && check_elements(got) == n,
               "%s: %zu elements of type %s, must be %zu of float32", what, check_elements(got),
               impl_dtype_word(got->dtype), n);
    for (size_t i = 0; i < n; ++i)
        check_true(c, fabs(check_element(got, i) - want->at[i].value) <= want->at[i].off,
                   "%s: element %zu is %.9g, must be %.9g within %.3g", what, i,
                   check_element(got, i), want->at[i].value, want->at[i].off);
}

/* ---- networks -------------------------------------------------------------------------------- */

enum { WEIGHT, BIAS, SECOND_WEIGHT, SECOND_BIAS };

static void linear_grads(struct check *c, const struct bound_matrix *x,
                         const struct bound_matrix *g, struct bound_matrix *weight,
                         struct bound_matrix *bias)
{
    const struct bound_matrix turned = bound_turned(c, g);

    *weight = bound_product(c, &turned, x);
    *bias = bound_sums(c, g);
}

struct bound_answer bound_net(struct check *c, const struct bound_matrix param[BOUND_PARAMS],
                              const struct bound_matrix *x, const struct bound_matrix *g)
{
    const struct bound_matrix z = bound_linear(c, x, &param[WEIGHT], &param[BIAS]);
    const struct bound_matrix h = bound_relu(c, &z),
                              up = bound_product(c, g, &param[SECOND_WEIGHT]);
    const struct bound_matrix back = bound_relu_back(c, &z, &up);
    struct bound_answer answer;

    answer.y = bound_linear(c, &h, &param[SECOND_WEIGHT], &param[SECOND_BIAS]);
    answer.dx = bound_product(c, &back, &param[WEIGHT]);
    linear_grads(c, &h, g, &answer.grad[SECOND_WEIGHT], &answer.grad[SECOND_BIAS]);
    linear_grads(c, x, &back, &answer.grad[WEIGHT], &answer.grad[BIAS]);
    return answer;
}

struct bound_answer bound_shard(struct check *c, const struct bound_matrix param[BOUND_PARAMS],
                                const struct bound_matrix *x, const struct bound_matrix *g)
{
    const double factor = param[SECOND_WEIGHT].at[0].value,
                 summand = param[SECOND_BIAS].at[0].value;
    const struct bound_matrix z = bound_linear(c, x, &param[WEIGHT], &param[BIAS]);
    const struct bound_matrix h = bound_relu(c, &z), scaled = bound_scaled(c, &h, factor, summand);
    const struct bound_matrix centred = bound_centred(c, g);
    const struct bound_matrix up = bound_scaled(c, &centred, factor, 0);
    const struct bound_matrix back = bound_relu_back(c, &z, &up);
    struct bound_answer answer;

    answer.y = bound_centred(c, &scaled);
    answer.dx = bound_product(c, &back, &param[WEIGHT]);
    answer.grad[SECOND_WEIGHT] = bound_dot(c, &centred, &h);
    answer.grad[SECOND_BIAS] = bound_dot(c, &centred, NULL);
    linear_grads(c, x, &back, &answer.grad[WEIGHT], &answer.grad[BIAS]);
    return answer;
}
