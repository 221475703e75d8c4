/* maths.c: the loops of maths.h. */
#include "maths.h"

#include <stddef.h>
#include <string.h>

/* ---- elements of y --------------------------------------------------------------------------- */

static float affine_at(const struct math *m, size_t i)
{
    const float product = m->a[0] * m->x[i];

    return m->b ? product + m->b[0] : product;
}

static float scale_twice_at(const struct math *m, size_t i)
{
    return m->a[0] * (m->a[0] * m->x[i]);
}

static float shift_at(const struct math *m, size_t i)
{
    return m->x[i] * m->factor + m->first + m->second;
}

static float multiply_at(const struct math *m, size_t i)
{
    return m->factor * (m->x[i] * m->a[i]);
}

static float multiply_back_at(const struct math *m, size_t i)
{
    return (m->factor * m->x[i]) * m->a[i];
}

static float spread_at(const struct math *m, size_t i)
{
    (void)i;
    return m->x[0] / m->factor;
}

static float pad_rows_at(const struct math *m, size_t i)
{
    return i < m->n ? m->x[i] : 0.0f;
}

static float add_at(const struct math *m, size_t i)
{
    return m->x[i];
}

/* ---- sums ------------------------------------------------------------------------------------ */

static float sum_of_n(const float *x, size_t n, size_t step)
{
    float sum = 0.0f;

    for (size_t i = 0; i < n; ++i)
        sum += x[i * step];
    return sum;
}

static float sum_at(const struct math *m, size_t i)
{
    return sum_of_n(m->x + i, m->n, 1);
}

static float mean_at(const struct math *m, size_t i)
{
    return sum_at(m, i) / (float)m->n;
}

static float dot_at(const struct math *m, size_t i)
{
    float sum = 0.0f;

    for (; i < m->n; ++i)
        sum += m->x[i] * m->a[i];
    return sum;
}

static float tied_grad_at(const struct math *m, size_t i)
{
    float outer = 0.0f, inner = 0.0f;

    for (; i < m->n; ++i) {
        outer += m->x[i] * (m->b[0] * m->a[i]);
        inner += (m->x[i] * m->b[0]) * m->a[i];
    }
    return outer + inner;
}

static float number_at(const struct math *m, size_t i)
{
    (void)i;
    return m->first;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static float sum_rows_at(const struct math *m, size_t j)
{
    return sum_of_n(m->x + j, m->rows, m->columns);
}

static float centre_at(const struct math *m, size_t i)
{
    return m->x[i] - sum_rows_at(m, i % m->columns) / (float)m->rows;
}

static float double_rows_at(const struct math *m, size_t i)
{
    return m->x[i / m->columns / 2 * m->columns + i % m->columns];
}

static float fold_rows_at(const struct math *m, size_t i)
{
    const size_t two = i / m->columns * 2 * m->columns + i % m->columns;
    const float both = m->a ? m->a[two] + m->a[two + m->columns] : 0.0f;

    return m->x ? m->x[i] + both : both;
}

static float spread_rows_at(const struct math *m, size_t i)
{
    return m->x[i % m->columns];
}

static float widen_at(const struct math *m, size_t i)
{
    return m->x[i / m->columns];
}

static float widen_back_at(const struct math *m, size_t i)
{
    return sum_of_n(m->x + i * m->columns, m->columns, 1);
}

static float look_up_at(const struct math *m, size_t i)
{
    return m->x[(size_t)m->index[i / m->columns] * m->columns + i % m->columns];
}

static float look_up_back_at(const struct math *m, size_t i)
{
    float sum = 0.0f;

    for (size_t k = 0; k < m->n; ++k)
        if ((size_t)m->index[k] == i / m->columns)
            sum += m->x[k * m->columns + i % m->columns];
    return sum;
}

/* ---- all loops ------------------------------------------------------------------------------- */

/* A number of elements, in terms of the fields of struct math. */
enum count { NONE, ONE, N, N_ROWS, ROWS, COLUMNS, CELLS, HALF, TWICE };

static size_t elements(const struct math *m, enum count count)
{
    switch (count) {
    case ONE:
        return 1;
    case N:
        return m->n;
    case N_ROWS:
        return m->n * m->columns;
    case ROWS:
        return m->rows;
    case COLUMNS:
        return m->columns;
    case CELLS:
        return m->rows * m->columns;
    case HALF:
        return m->rows / 2 * m->columns;
    case TWICE:
        return 2 * m->rows * m->columns;
    default:
        return 0;
    }
}

static const struct {
    float (*element)(const struct math *m, size_t i);
    enum count x, a, b, index, y;
} loops[] = {
    [LOOP_AFFINE] = {affine_at, N, ONE, ONE, NONE, N},
    [LOOP_SCALE_TWICE] = {scale_twice_at, N, ONE, NONE, NONE, N},
    [LOOP_SHIFT] = {shift_at, N, NONE, NONE, NONE, N},
    [LOOP_MULTIPLY] = {multiply_at, N, N, NONE, NONE, N},
    [LOOP_MULTIPLY_BACK] = {multiply_back_at, N, N, NONE, NONE, N},
    [LOOP_SUM] = {sum_at, N, NONE, NONE, NONE, ONE},
    [LOOP_MEAN] = {mean_at, N, NONE, NONE, NONE, ONE},
    [LOOP_DOT] = {dot_at, N, N, NONE, NONE, ONE},
    [LOOP_TIED_GRAD] = {tied_grad_at, N, N, ONE, NONE, ONE},
    [LOOP_NUMBER] = {number_at, NONE, NONE, NONE, NONE, ONE},
    [LOOP_SPREAD] = {spread_at, ONE, NONE, NONE, NONE, N},
    [LOOP_CENTRE] = {centre_at, CELLS, NONE, NONE, NONE, CELLS},
    [LOOP_DOUBLE_ROWS] = {double_rows_at, HALF, NONE, NONE, NONE, CELLS},
    [LOOP_FOLD_ROWS] = {fold_rows_at, CELLS, TWICE, NONE, NONE, CELLS},
    [LOOP_PAD_ROWS] = {pad_rows_at, N, NONE, NONE, NONE, CELLS},
    [LOOP_SUM_ROWS] = {sum_rows_at, CELLS, NONE, NONE, NONE, COLUMNS},
    [LOOP_SPREAD_ROWS] = {spread_rows_at, COLUMNS, NONE, NONE, NONE, CELLS},
    [LOOP_WIDEN] = {widen_at, ROWS, NONE, NONE, NONE, CELLS},
    [LOOP_WIDEN_BACK] = {widen_back_at, CELLS, NONE, NONE, NONE, ROWS},
    [LOOP_LOOK_UP] = {look_up_at, N, NONE, NONE, ROWS, CELLS},
    [LOOP_LOOK_UP_BACK] = {look_up_back_at, N_ROWS, NONE, NONE, N, CELLS},
    [LOOP_ADD] = {add_at, N, NONE, NONE, NONE, N},
};

void math_run(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < elements(m, loops[m->loop].y); ++i) {
        const float value = loops[m->loop].element(m, i);

        m->y[i] = m->accumulate ? m->y[i] + value : value;
    }
}

int math_uses(const struct math *m, struct dp_use uses[])
{
    const struct dp_use list[] = {
        {offsetof(struct math, x), elements(m, loops[m->loop].x) * sizeof *m->x, DP_READS},
        {offsetof(struct math, a), elements(m, loops[m->loop].a) * sizeof *m->a, DP_READS},
        {offsetof(struct math, b), elements(m, loops[m->loop].b) * sizeof *m->b, DP_READS},
        {offsetof(struct math, index), elements(m, loops[m->loop].index) * sizeof *m->index,
         DP_READS},
        {offsetof(struct math, y), elements(m, loops[m->loop].y) * sizeof *m->y,
         m->accumulate ? DP_READS | DP_WRITES : DP_WRITES},
    };

    memcpy(uses, list, sizeof list);
    return sizeof list / sizeof list[0];
}
