/* kernels_ref_table.c: the portable kernels of tables (embedding) and of dropout. */
#include "kernels_ref.h"

#include <math.h>

static bool is_row(int32_t index, size_t rows)
{
    return index >= 0 && (size_t)index < rows;
}

void dp_ref_lookup(const void *args)
{
    const struct dp_lookup *g = args;
    for (size_t n = 0; n < g->n; ++n) {
        const bool known = is_row(g->index[n], g->rows);
        const float *row = g->table + (known ? (size_t)g->index[n] : 0) * g->cols;
        for (size_t c = 0; c < g->cols; ++c)
            g->y[n * g->cols + c] = known ? row[c] : NAN;
    }
}

void dp_ref_lookup_grad(const void *args)
{
    const struct dp_lookup *g = args;
    for (size_t i = 0; !g->accumulate && i < g->rows * g->cols; ++i)
        g->table[i] = 0.0f;
    for (size_t n = 0; n < g->n; ++n) {
        if (!is_row(g->index[n], g->rows))
            continue;
        for (size_t c = 0; c < g->cols; ++c)
            g->table[(size_t)g->index[n] * g->cols + c] += g->y[n * g->cols + c];
    }
}

void dp_ref_store(const void *args)
{
    const struct dp_store *g = args;
    *g->dst = g->value;
}

void dp_ref_fold(const void *args)
{
    const struct dp_fold *g = args;
    uint32_t *restrict marks = g->marks;
    for (size_t first = 0; first < g->n; first += DP_FOLD_MARKS) {
        const uint32_t *restrict x = g->x + first;
        const size_t n = g->n - first < DP_FOLD_MARKS ? g->n - first : DP_FOLD_MARKS;
        for (size_t j = 0; j < n; ++j) {
            const uint32_t mark = (marks[j] ^ x[j]) * 0x9e3779b1u;
            marks[j] = mark ^ mark >> 15;
        }
    }
}

static uint64_t ref_table_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void dp_ref_dropout(const void *args)
{
    const struct dp_dropout_args *g = args;
    for (size_t i = 0; i < g->n; ++i) {
        const uint64_t draw = ref_table_mix(*g->key + (i + 1) * 0x9e3779b97f4a7c15u) >> 32;
        g->y[i] = draw < g->limit ? g->x[i] * g->scale : 0.0f;
    }
}
