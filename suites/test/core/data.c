/* data.c: the numbers that cases use, and where a batch is cut. The split here is written
 * independently, by counting, so that it cannot share a mistake with that of core. */
#include "context.h"

const double *sequence(struct context *c, size_t n, double first, double step)
{
    double *list = case_memory(c, n * sizeof *list);
    for (size_t i = 0; i < n; ++i)
        list[i] = first + step * (double)i;
    return list;
}

/* splitmix64. */
static uint64_t data_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

const double *integers(struct context *c, size_t n, uint64_t seed)
{
    double *list = case_memory(c, n * sizeof *list);
    for (size_t i = 0; i < n; ++i) {
        const uint64_t bits = data_next(&seed);
        const double size = (double)(1 + (bits >> 8) % 8);
        list[i] = (bits & 1) != 0 ? size : -size;
    }
    return list;
}

const float *randoms(struct context *c, size_t n, uint64_t seed)
{
    float *list = case_memory(c, n * sizeof *list);
    for (size_t i = 0; i < n; ++i)
        list[i] = (float)((double)(data_next(&seed) >> 11) / 0x1p52 - 1.0);
    return list;
}

size_t shard_rows(size_t rows, int k, int s)
{
    size_t piece = 0;
    while (piece * (size_t)k < rows)
        ++piece;
    const size_t before = piece * (size_t)s;
    const size_t left = before < rows ? rows - before : 0;
    return left < piece ? left : piece;
}
