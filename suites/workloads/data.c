/* data.c: the numbers of a workload, functions of seed, set and place only.
 *
 * Everything is an integer, so that sums are exact in float and do not depend on order,
 * kernel or device count. Inputs and upstream are never 0: a lost row always shows. The probe's are
 * fractions with the last bit of a float set. */
#include "descriptor.h"

#include <string.h>

enum stream {
    STREAM_MAP,
    STREAM_SIGN,
    STREAM_BIAS,
    STREAM_INPUT,
    STREAM_UPSTREAM,
    STREAM_SCALE,
    STREAM_TOKEN
};

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t data_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static uint64_t data_draw(const struct workload_set *set, enum stream stream, size_t a, size_t b)
{
    uint64_t x = data_mix(set->seed);

    x = data_mix(x ^ (uint64_t)set->index);
    x = data_mix(x ^ (uint64_t)stream);
    x = data_mix(x ^ (uint64_t)a);
    return data_mix(x ^ (uint64_t)b);
}

static int draw_below(const struct workload_set *set, enum stream stream, size_t a, size_t b,
                      unsigned n)
{
    return (int)((data_draw(set, stream, a, b) >> 16) % n);
}

struct workload_set workload_set(uint64_t seed, int index)
{
    /* Two primes: whatever the batch, shards that hold the same rows in one set do not in the
     * other. */
    static const size_t periods[WORKLOAD_SETS] = {127, 113};

    return (struct workload_set){
        .seed = seed, .index = index, .period = periods[index], .stride = 1, .wide = 0};
}

struct workload_set workload_probe(const struct workload *workload, uint64_t seed, size_t rows,
                                   size_t devices)
{
    /* Enough to tell shards apart, so few that sums over them hardly round. */
    enum { PERIOD = 13, LIVE = 16 };
    const size_t live = devices > LIVE ? devices : LIVE;
    const size_t period = workload->is->period[WORKLOAD_PROBE];

    return (struct workload_set){.seed = seed,
                                 .index = WORKLOAD_PROBE,
                                 .period = period > 0 ? period : PERIOD,
                                 .stride = (rows + live - 1) / live};
}

bool workload_is_probe(const struct workload_set *set)
{
    return set->index == WORKLOAD_PROBE;
}

/* From 1/2 to 1, with all 24 bits of a float, the last one set. */
static double fraction(const struct workload_set *set, enum stream stream, size_t a, size_t b)
{
    return (double)(0x800001U | (data_draw(set, stream, a, b) >> 40 & 0x7fffffU)) * 0x1p-24;
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

void workload_weight(const struct workload *workload, const struct workload_set *set, size_t layer,
                     size_t row, struct workload_entry entry[2])
{
    const size_t width = workload->size[layer];

    for (size_t i = 0; i < 2; ++i) {
        size_t factor = 1 + (size_t)(data_draw(set, STREAM_MAP, layer, 2 * i) % width);
        const size_t offset = (size_t)(data_draw(set, STREAM_MAP, layer, 2 * i + 1) % width);

        /* A factor coprime to the width makes the map a permutation of the columns. */
        while (common_divisor(factor, width) != 1)
            factor = factor % width + 1;
        entry[i].column = (factor * row + offset) % width;
        entry[i].value = draw_below(set, STREAM_SIGN, layer, 2 * row + i, 2) == 0 ? 1 : -1;
        if (workload_is_probe(set))
            entry[i].value = fraction(set, STREAM_SIGN, layer, 2 * row + i) / 2;
    }
    /* A sum of two fractions would be rounded. */
    if (workload_is_probe(set) && entry[0].column == entry[1].column)
        entry[1].value = 0;
}

double workload_bias(const struct workload_set *set, size_t layer, size_t row)
{
    if (workload_is_probe(set))
        return fraction(set, STREAM_BIAS, layer, row) / 16;
    return draw_below(set, STREAM_BIAS, layer, row, 5) - 2;
}

double workload_input(const struct workload_set *set, size_t pattern, size_t column)
{
    const int bits = workload_wide_input(set, pattern);

    if (workload_is_probe(set))
        return fraction(set, STREAM_INPUT, pattern, column);
    if (bits > 0)
        return workload_wide_number(data_draw(set, STREAM_INPUT, pattern, column), bits);

    const int value = draw_below(set, STREAM_INPUT, pattern, column, 6); /* -3..-1, 1..3 */

    return value < 3 ? value - 3 : value - 2;
}

double workload_upstream(const struct workload_set *set, size_t pattern, size_t column)
{
    const int bits = workload_wide_upstream(set, pattern);

    if (workload_is_probe(set))
        return fraction(set, STREAM_UPSTREAM, pattern, column);
    if (bits > 0)
        return workload_wide_number(data_draw(set, STREAM_UPSTREAM, pattern, column), bits);

    const int value = draw_below(set, STREAM_UPSTREAM, pattern, column, 4); /* -2, -1, 1, 2 */

    return value < 2 ? value - 2 : value - 1;
}

int workload_number(const struct workload_set *set, size_t pattern)
{
    if (workload_wide_input(set, pattern) > 0)
        return WORKLOAD_TABLE - 1 - (int)pattern;
    return draw_below(set, STREAM_INPUT, pattern, 0,
                      set->wide > 0 ? WORKLOAD_TABLE - WORKLOAD_WIDE : WORKLOAD_TABLE);
}

int workload_token(const struct workload *workload, const struct workload_set *set, size_t pattern,
                   size_t i)
{
    return draw_below(set, STREAM_TOKEN, pattern, i, (unsigned)workload->size[GPT_VOCABULARY]);
}

int workload_scale(const struct workload_set *set, size_t row)
{
    if (workload_is_probe(set))
        return row % set->stride == 0;
    if (workload_is_wide(set, row))
        return 1;
    return 1 + draw_below(set, STREAM_SCALE, row, 0, 3);
}

void workload_fill_weights(const struct workload *workload, const struct workload_set *set,
                           size_t layer, float values[])
{
    const size_t in = workload->size[layer], out = workload->size[layer + 1];

    memset(values, 0, in * out * sizeof *values);
    for (size_t i = 0; i < out; ++i) {
        struct workload_entry entry[2];

        workload_weight(workload, set, layer, i, entry);
        for (int e = 0; e < 2; ++e)
            values[i * in + entry[e].column] += (float)entry[e].value;
    }
}

void workload_fill_biases(const struct workload *workload, const struct workload_set *set,
                          size_t layer, float values[])
{
    for (size_t i = 0; i < workload->size[layer + 1]; ++i)
        values[i] = (float)workload_bias(set, layer, i);
}

/* A function for the numbers of a pattern. */
typedef double number_fn(const struct workload_set *set, size_t pattern, size_t column);

/* Rows repeat: a number is drawn once for each pattern, and then copied from a period before. */
static void fill_rows(const struct workload_set *set, size_t rows, size_t width, number_fn *number,
                      float values[])
{
    for (size_t n = 0; n < rows; ++n) {
        const size_t pattern = workload_pattern(set, n);
        float *row = values + n * width;

        if (n >= set->period && workload_pattern(set, n - set->period) == pattern) {
            memcpy(row, row - set->period * width, width * sizeof *row);
            continue;
        }
        for (size_t j = 0; j < width; ++j)
            row[j] = (float)number(set, pattern, j);
    }
}

void workload_fill_inputs(const struct workload *workload, const struct workload_set *set,
                          size_t rows, float values[])
{
    fill_rows(set, rows, workload->size[0], workload_input, values);
}

/* An upstream number has no more bits than a float, so its product is rounded once. */
void workload_fill_upstream(const struct workload *workload, const struct workload_set *set,
                            size_t rows, float values[])
{
    const size_t width = workload->size[workload->n_sizes - 1];

    fill_rows(set, rows, width, workload_upstream, values);
    for (size_t n = 0; n < rows; ++n) {
        const float scale = (float)workload_scale(set, n);

        for (size_t j = 0; j < width; ++j)
            values[n * width + j] *= scale;
    }
}
