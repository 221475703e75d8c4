/* data_wide.c: the rows of an exact workload whose numbers have many bits, and how many.
 *
 * Of so many rows at most WORKLOAD_WIDE have wide inputs and as many wide upstream; both never meet
 * in one row, whose gradients are their products. */
#include <math.h>

#include "descriptor.h"

/* A row's numbers have at least so many bits, however many wide rows came before it. */
enum { LEAST_BITS = 2 };

/* Sums are below it. */
static const double FLOAT_LIMIT = 0x1p24;

double workload_operand_limit(enum dp_math math)
{
    static const double limits[DP_MATHS] = {
        [DP_MATH_F32] = 0x1p24, [DP_MATH_TF32] = 0x1p11, [DP_MATH_BF16] = 0x1p8};

    return (unsigned)math < DP_MATHS ? limits[math] : 0;
}

/* Forward a layer adds up two entries, backward as many as a column has: of many most cancel out.
 * After some layers of two entries ReLUs cut off about what is added. This is no proof: a reference
 * that finds a sum too large asks for less, see workload_narrow. */
static struct workload_growth growth_of(const struct workload *workload)
{
    struct workload_growth growth = {1, 1};
    int twos = 0;

    for (size_t l = 1; l < workload_layers(workload); ++l) {
        const size_t in = workload->size[l], out = workload->size[l + 1];
        const size_t entries = 2 * ((out + in - 1) / in); /* of a column */
        const double terms = (double)entries;
        const double rest = fmin(terms, 4 * sqrt(terms));

        twos += terms == 2;
        growth.results *= terms == 2 && twos > 4 ? 1.25 : rest;
        growth.terms = fmax(growth.terms, terms / rest);
    }
    return growth;
}

/* Above the sums of |terms| of a chain with numbers of so many bits. Wide rows: 2 times twice the
 * widest input, and 5 times twice the widest upstream, which is a quarter; or that once, of all
 * terms; 256: their biases and the rows that have the fewest bits. Others: 2 times 2, times the
 * inputs and biases, about 4. */
static double most_of(int bits, size_t rows, struct workload_growth growth)
{
    const double wide = fmax(7, growth.terms) * (double)(1 << bits);

    return (wide + 256 + 16 * (double)rows) * growth.results;
}

/* As many bits as fit; 0: fewer than the other rows have. */
static int widest(const struct workload *workload, size_t rows, enum dp_math math)
{
    const struct workload_growth growth =
        workload_is_chain(workload) ? growth_of(workload) : workload->is->growth;
    int bits = workload->is->wide_bits;

    while (bits > 0 &&
           !(most_of(bits, rows, growth) < FLOAT_LIMIT &&
             ((double)(1 << bits) + 2) * growth.results <= workload_operand_limit(math)))
        --bits;
    return bits > LEAST_BITS + 1 ? bits : 0;
}

void workload_narrow(struct workload_set *set)
{
    set->wide = set->wide > LEAST_BITS + 2 ? set->wide - 1 : 0;
}

struct workload_set workload_batch(const struct workload *workload, size_t rows, enum dp_math math,
                                   uint64_t seed, int index)
{
    struct workload_set set = workload_set(seed, index);

    if (workload->is->period[index] > 0)
        set.period = workload->is->period[index];
    if (!workload_is_exact(workload))
        return set;
    set.wide = widest(workload, rows, math);
    set.stride = (rows + WORKLOAD_WIDE - 1) / WORKLOAD_WIDE;
    if (set.stride < 2)
        set.stride = 2;
    return set;
}

/* Which of its kind it is: wide inputs first, then wide upstream; 2 * WORKLOAD_WIDE: not wide. */
static size_t wide_pattern(const struct workload_set *set, size_t row)
{
    if (set->wide > 0 && row % set->stride == 0)
        return row / set->stride;
    if (set->wide > 0 && row % set->stride == set->stride / 2)
        return WORKLOAD_WIDE + row / set->stride;
    return 2 * WORKLOAD_WIDE;
}

bool workload_is_wide(const struct workload_set *set, size_t row)
{
    return wide_pattern(set, row) < 2 * WORKLOAD_WIDE;
}

size_t workload_pattern(const struct workload_set *set, size_t row)
{
    if (set->wide == 0)
        return row % set->period;
    return workload_is_wide(set, row) ? wide_pattern(set, row)
                                      : 2 * WORKLOAD_WIDE + row % set->period;
}

size_t workload_patterns(const struct workload_set *set, size_t rows)
{
    const size_t narrow = rows < set->period ? rows : set->period;

    return set->wide > 0 ? 2 * WORKLOAD_WIDE + narrow : narrow;
}

static int wide_bits_of(int widest, size_t before)
{
    const int bits = widest - (int)before;

    return bits > LEAST_BITS ? bits : LEAST_BITS;
}

int workload_wide_input(const struct workload_set *set, size_t pattern)
{
    return set->wide > 0 && pattern < WORKLOAD_WIDE ? wide_bits_of(set->wide, pattern) : 0;
}

int workload_wide_upstream(const struct workload_set *set, size_t pattern)
{
    const size_t before = pattern - WORKLOAD_WIDE;

    return set->wide > 0 && pattern >= WORKLOAD_WIDE && before < WORKLOAD_WIDE
               ? wide_bits_of(set->wide - 2, before)
               : 0;
}

double workload_wide_number(uint64_t hash, int bits)
{
    const uint64_t top = UINT64_C(1) << (bits - 1);
    const double size = (double)(top | (hash >> 32 & (top - 1)) | 1);

    return hash >> 16 & 1 ? size : -size;
}
