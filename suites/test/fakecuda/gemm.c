/* gemm.c: the matrix product as a plain loop, so that exact data give exact results, and so that a
 * rounding of the inputs shows.
 *
 * As on a GPU, products are not rounded before they are added. The order of the sum depends on the
 * shape, as in a library that has a kernel for each. So code that expects the same bits of inexact
 * data from another batch, another split or the CPU fails here. */
#include "gemm.h"

#include "fake.h"

#include <stdlib.h>
#include <string.h>

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Rounds to nearest, ties to even, and drops the lowest bits. NaN and infinity do not change. */
static uint32_t gemm_rounded(uint32_t bits, int dropped)
{
    const uint32_t half = 1u << (dropped - 1), odd = (bits >> dropped) & 1u;
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return bits;
    return (bits + half - 1u + odd) & ~((1u << dropped) - 1u);
}

static float element(const struct fake_matrix *matrix, size_t i)
{
    if (matrix->number == FAKE_F32)
        return ((const float *)matrix->at)[i];
    return from_bits((uint32_t)((const uint16_t *)matrix->at)[i] << 16);
}

static void gemm_store(const struct fake_matrix *matrix, size_t i, float value)
{
    if (matrix->number == FAKE_F32) {
        ((float *)matrix->at)[i] = value;
        return;
    }
    const uint32_t bits = to_bits(value), quiet = value != value ? 0x400000u : 0;
    ((uint16_t *)matrix->at)[i] = (uint16_t)((gemm_rounded(bits, 16) | quiet) >> 16);
}

/* Returns the matrix as rows times cols floats without gaps, by columns. */
static float *packed(const struct fake_matrix *matrix, size_t rows, size_t cols, bool tf32)
{
    float *out = fake_memory(rows * cols * sizeof *out);
    for (size_t col = 0; col < cols; ++col) {
        for (size_t row = 0; row < rows; ++row) {
            const size_t i =
                matrix->transposed ? row * matrix->lead + col : col * matrix->lead + row;
            const float value = element(matrix, i);
            out[col * rows + row] = tf32 ? from_bits(gemm_rounded(to_bits(value), 13)) : value;
        }
    }
    return out;
}

/* Returns the index of the i-th product that is added: forwards, backwards, or the second half
 * first. */
static size_t gemm_place(const struct fake_gemm *g, size_t i)
{
    switch ((g->m + g->n + g->k) % 3) {
    case 0:
        return i;
    case 1:
        return g->k - 1 - i;
    default:
        return (i + g->k / 2) % g->k;
    }
}

void fake_gemm(const void *gemm)
{
    const struct fake_gemm *g = gemm;
    float *a = packed(&g->a, g->m, g->k, g->tf32), *b = packed(&g->b, g->k, g->n, g->tf32);
    float *sum = fake_memory(g->m * sizeof *sum);
    for (size_t col = 0; col < g->n; ++col) {
        for (size_t row = 0; row < g->m; ++row)
            sum[row] = 0.0f;
        for (size_t i = 0; i < g->k; ++i) {
            const size_t l = gemm_place(g, i);
            const double factor = (double)b[col * g->k + l];
            for (size_t row = 0; row < g->m; ++row)
                sum[row] = (float)((double)a[l * g->m + row] * factor + (double)sum[row]);
        }
        for (size_t row = 0; row < g->m; ++row) {
            const size_t i = col * g->c.lead + row;
            const float value = g->alpha * sum[row];
            gemm_store(&g->c, i, g->beta != 0.0f ? value + g->beta * element(&g->c, i) : value);
        }
    }
    free(a);
    free(b);
    free(sum);
}
