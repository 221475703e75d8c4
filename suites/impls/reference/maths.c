/* maths.c: the loops of maths.h. */
#include "maths.h"

#include <stddef.h>
#include <string.h>

void loop_affine(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->n; ++i) {
        const float product = m->a[0] * m->x[i];
        m->y[i] = m->b ? product + m->b[0] : product;
    }
}

void loop_scale_twice(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->n; ++i)
        m->y[i] = m->a[0] * (m->a[0] * m->x[i]);
}

void loop_shift(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->n; ++i)
        m->y[i] = m->x[i] * m->factor + m->first + m->second;
}

void loop_multiply(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->n; ++i)
        m->y[i] = m->factor * (m->x[i] * m->a[i]);
}

void loop_multiply_back(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->n; ++i)
        m->y[i] = (m->factor * m->x[i]) * m->a[i];
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void maths_put(const struct math *m, size_t i, float value)
{
    m->y[i] = m->accumulate ? m->y[i] + value : value;
}

static float maths_sum_of(const float *x, size_t n)
{
    float sum = 0.0f;

    for (size_t i = 0; i < n; ++i)
        sum += x[i];
    return sum;
}

void loop_sum(const void *args)
{
    const struct math *m = args;

    maths_put(m, 0, maths_sum_of(m->x, m->n));
}

void loop_mean(const void *args)
{
    const struct math *m = args;

    maths_put(m, 0, maths_sum_of(m->x, m->n) / (float)m->n);
}

void loop_dot(const void *args)
{
    const struct math *m = args;
    float sum = 0.0f;

    for (size_t i = 0; i < m->n; ++i)
        sum += m->x[i] * m->a[i];
    maths_put(m, 0, sum);
}

void loop_tied_grad(const void *args)
{
    const struct math *m = args;
    float outer = 0.0f, inner = 0.0f;

    for (size_t i = 0; i < m->n; ++i) {
        outer += m->x[i] * (m->b[0] * m->a[i]);
        inner += (m->x[i] * m->b[0]) * m->a[i];
    }
    maths_put(m, 0, outer + inner);
}

void loop_number(const void *args)
{
    const struct math *m = args;

    maths_put(m, 0, m->first);
}

void loop_spread(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->n; ++i)
        m->y[i] = m->x[0] / m->factor;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void loop_centre(const void *args)
{
    const struct math *m = args;

    for (size_t j = 0; j < m->columns; ++j) {
        float sum = 0.0f;

        for (size_t i = 0; i < m->rows; ++i)
            sum += m->x[i * m->columns + j];
        for (size_t i = 0; i < m->rows; ++i)
            m->y[i * m->columns + j] = m->x[i * m->columns + j] - sum / (float)m->rows;
    }
}

void loop_double_rows(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->rows; ++i)
        for (size_t j = 0; j < m->columns; ++j)
            m->y[i * m->columns + j] = m->x[i / 2 * m->columns + j];
}

void loop_fold_rows(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->rows; ++i)
        for (size_t j = 0; j < m->columns; ++j) {
            const size_t at = i * m->columns + j, two = 2 * i * m->columns + j;
            const float both = m->a ? m->a[two] + m->a[two + m->columns] : 0.0f;

            m->y[at] = m->x ? m->x[at] + both : both;
        }
}

void loop_pad_rows(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->rows * m->columns; ++i)
        m->y[i] = i < m->n ? m->x[i] : 0.0f;
}

void loop_sum_rows(const void *args)
{
    const struct math *m = args;

    for (size_t j = 0; j < m->columns; ++j) {
        float sum = 0.0f;

        for (size_t i = 0; i < m->rows; ++i)
            sum += m->x[i * m->columns + j];
        m->y[j] = sum;
    }
}

void loop_spread_rows(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->rows * m->columns; ++i)
        m->y[i] = m->x[i % m->columns];
}

void loop_widen(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->rows * m->columns; ++i)
        m->y[i] = m->x[i / m->columns];
}

void loop_widen_back(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->rows; ++i)
        m->y[i] = maths_sum_of(m->x + i * m->columns, m->columns);
}

void loop_look_up(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->rows; ++i)
        for (size_t j = 0; j < m->columns; ++j)
            m->y[i * m->columns + j] = m->x[(size_t)m->index[i] * m->columns + j];
}

void loop_look_up_back(const void *args)
{
    const struct math *m = args;

    for (size_t at = 0; at < m->rows * m->columns; ++at) {
        float sum = 0.0f;

        for (size_t i = 0; i < m->n; ++i)
            if ((size_t)m->index[i] == at / m->columns)
                sum += m->x[i * m->columns + at % m->columns];
        maths_put(m, at, sum);
    }
}

void loop_add(const void *args)
{
    const struct math *m = args;

    for (size_t i = 0; i < m->n; ++i)
        maths_put(m, i, m->x[i]);
}

/* ---- what they use --------------------------------------------------------------------------- */

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
    void (*loop)(const void *args);
    enum count x, a, b, index, y;
} users[] = {
    {loop_affine, N, ONE, ONE, NONE, N},
    {loop_scale_twice, N, ONE, NONE, NONE, N},
    {loop_shift, N, NONE, NONE, NONE, N},
    {loop_multiply, N, N, NONE, NONE, N},
    {loop_multiply_back, N, N, NONE, NONE, N},
    {loop_sum, N, NONE, NONE, NONE, ONE},
    {loop_mean, N, NONE, NONE, NONE, ONE},
    {loop_dot, N, N, NONE, NONE, ONE},
    {loop_tied_grad, N, N, ONE, NONE, ONE},
    {loop_number, NONE, NONE, NONE, NONE, ONE},
    {loop_spread, ONE, NONE, NONE, NONE, N},
    {loop_centre, CELLS, NONE, NONE, NONE, CELLS},
    {loop_double_rows, HALF, NONE, NONE, NONE, CELLS},
    {loop_fold_rows, CELLS, TWICE, NONE, NONE, CELLS},
    {loop_pad_rows, N, NONE, NONE, NONE, CELLS},
    {loop_sum_rows, CELLS, NONE, NONE, NONE, COLUMNS},
    {loop_spread_rows, COLUMNS, NONE, NONE, NONE, CELLS},
    {loop_widen, ROWS, NONE, NONE, NONE, CELLS},
    {loop_widen_back, CELLS, NONE, NONE, NONE, ROWS},
    {loop_look_up, N, NONE, NONE, ROWS, CELLS},
    {loop_look_up_back, N_ROWS, NONE, NONE, N, CELLS},
    {loop_add, N, NONE, NONE, NONE, N},
};

int math_uses(void (*loop)(const void *args), const struct math *m, struct dp_use uses[])
{
    size_t u = 0;

    while (u + 1 < sizeof users / sizeof users[0] && users[u].loop != loop)
        ++u;
    const struct dp_use list[] = {
        {offsetof(struct math, x), elements(m, users[u].x) * sizeof *m->x, DP_READS},
        {offsetof(struct math, a), elements(m, users[u].a) * sizeof *m->a, DP_READS},
        {offsetof(struct math, b), elements(m, users[u].b) * sizeof *m->b, DP_READS},
        {offsetof(struct math, index), elements(m, users[u].index) * sizeof *m->index, DP_READS},
        {offsetof(struct math, y), elements(m, users[u].y) * sizeof *m->y,
         m->accumulate ? DP_READS | DP_WRITES : DP_WRITES},
    };
    memcpy(uses, list, sizeof list);
    return sizeof list / sizeof list[0];
}
