/* sweep/limits_peak.c: chains of fused multiply-adds, the same loop for each width of registers.
 * CHAINS of them hide the latency of all CPUs (4 to 5 cycles, two a cycle), and leave registers for
 * the operands. This file alone is compiled with -ffp-contract=fast: the sums are integers below
 * 2^24, which both ways of rounding leave alone. */
#include "sweep/limits.h"

#include <string.h>

enum { CHAINS = 12, READS = 8 };

typedef uint64_t words4 __attribute__((vector_size(32)));

/* The loop in registers of that many bytes, with the instructions of the attribute that follows. */
#define PEAK_LOOP(name, bytes, ...)                                                                \
    typedef float floats_of_##name __attribute__((vector_size(bytes)));                            \
    __VA_ARGS__ static void name(size_t times, float factor, float term, float sums[])             \
    {                                                                                              \
        floats_of_##name sum[CHAINS];                                                              \
                                                                                                   \
        memcpy(sum, sums, sizeof sum);                                                             \
        for (size_t t = 0; t < times; ++t)                                                         \
            for (int i = 0; i < CHAINS; ++i)                                                       \
                sum[i] = sum[i] * factor + term;                                                   \
        memcpy(sums, sum, sizeof sum);                                                             \
    }

PEAK_LOOP(run_any, 16, )

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
PEAK_LOOP(run_avx512, 64, __attribute__((target("avx512f"))))
PEAK_LOOP(run_avx2, 32, __attribute__((target("avx2,fma"))))

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static const struct peak peaks[] = {{"AVX-512", 16 * CHAINS, has_avx512, run_avx512},
                                    {"AVX2 with FMA", 8 * CHAINS, has_avx2, run_avx2},
                                    {"SSE2", 4 * CHAINS, always, run_any}};
#else
static const struct peak peaks[] = {{"128 bits", 4 * CHAINS, always, run_any}};
#endif

const struct peak *peak_of_cpu(void)
{
    const struct peak *peak = peaks;

    while (!peak->here())
        ++peak;
    return peak;
}

uint64_t peak_read(const uint64_t x[], size_t n)
{
    const size_t step = READS * sizeof(words4) / sizeof *x;
    words4 sum[READS] = {{0}};
    uint64_t all = 0;
    size_t at = 0;

    for (; n - at >= step; at += step)
        for (int i = 0; i < READS; ++i) {
            words4 next;

            memcpy(&next, x + at + (size_t)i * 4, sizeof next);
            sum[i] += next;
        }
    for (; at < n; ++at)
        all += x[at];
    for (int i = 0; i < READS; ++i)
        all += sum[i][0] + sum[i][1] + sum[i][2] + sum[i][3];
    return all;
}
