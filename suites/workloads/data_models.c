/* data_models.c: the parameters of the models that are not chains of linear layers.
 *
 * mixed, cnn: small integers, but for the wide rows of mixed's table; cnn's most of them 0, so that
 * all sums are exact in float. rnn, lstm: dyadic fractions, the recurrent ones small, so that a
 * bound on the rounding of eight steps stays small; rnn's are few instead, because a gradient that
 * goes back through sums of many small terms of either sign is soon less than the bound. capsnet:
 * integers up to its capsules, then dyadic fractions, so large that the rounds of its routing
 * differ and so small that their bound stays small. The probe's are those of workload.h: no row has
 * more than some 16 that are not 0. */
#include "workload.h"

/* How a parameter's numbers are drawn: 1 of `every` is not 0, and then +-1..most times unit. */
struct law {
    size_t count;
    unsigned every, most;
    double unit;
};

#define LAWS 7

/* The probe: 1 of `every` is not 0, and then a fraction of all bits times unit. */
static const struct law probe_laws[WORKLOAD_CAPSNET + 1][LAWS] = {
    [WORKLOAD_MIXED] = {{.every = 1, .unit = 1},
                        {.every = 2, .unit = 1},
                        {.every = 1, .unit = 0x1p-4}},
    [WORKLOAD_CNN] = {{.every = 3, .unit = 0x1p-1},
                      {.every = 1, .unit = 0x1p-4},
                      {.every = 64, .unit = 0x1p-1},
                      {.every = 1, .unit = 0x1p-4},
                      {.every = 64, .unit = 0x1p-2},
                      {.every = 1, .unit = 0x1p-4}},
    [WORKLOAD_RNN] = {{.every = 2, .unit = 0x1p-1},
                      {.every = 64, .unit = 0x1p-2},
                      {.every = 1, .unit = 0x1p-4},
                      {.every = 1, .unit = 0x1p-4},
                      {.every = 16, .unit = 1},
                      {.every = 1, .unit = 0x1p-4}},
    [WORKLOAD_LSTM] = {{.every = 2, .unit = 0x1p-1},
                       {.every = 64, .unit = 0x1p-2},
                       {.every = 1, .unit = 0x1p-4},
                       {.every = 1, .unit = 0x1p-4},
                       {.every = 16, .unit = 1},
                       {.every = 1, .unit = 0x1p-4}},
    [WORKLOAD_CAPSNET] = {{.every = 4, .unit = 1},
                          {.every = 1, .unit = 0x1p-4},
                          {.every = 96, .unit = 0x1p-1},
                          {.every = 1, .unit = 0x1p-1},
                          {.every = 32, .unit = 0x1p-5},
                          {.every = 16, .unit = 1},
                          {.every = 1, .unit = 0x1p-4}},
};

/* By kind of model and parameter. */
static const struct law laws[WORKLOAD_CAPSNET + 1][LAWS] = {
    [WORKLOAD_MIXED] = {{WORKLOAD_TABLE * 10, 1, 3, 1}, {10 * 10, 1, 2, 1}, {10, 1, 2, 1}},
    [WORKLOAD_CNN] = {{32 * 9, 3, 1, 1},
                      {32, 1, 2, 1},
                      {64 * 288, 64, 1, 1},
                      {64, 1, 2, 1},
                      {10 * 1024, 4, 1, 1},
                      {10, 1, 2, 1}},
    [WORKLOAD_RNN] = {{128 * 8, 1, 4, 0x1p-4},
                      {128 * 128, 64, 4, 0x1p-2},
                      {128, 1, 4, 0x1p-3},
                      {128, 1, 4, 0x1p-3},
                      {10 * 128, 1, 4, 0x1p-3},
                      {10, 1, 2, 1}},
    [WORKLOAD_LSTM] = {{512 * 8, 1, 4, 0x1p-4},
                       {512 * 128, 1, 8, 0x1p-9},
                       {512, 1, 4, 0x1p-3},
                       {512, 1, 4, 0x1p-3},
                       {10 * 128, 1, 4, 0x1p-3},
                       {10, 1, 2, 1}},
    [WORKLOAD_CAPSNET] = {{32 * 9, 3, 1, 1},
                          {32, 1, 2, 1},
                          {64 * 288, 64, 1, 1},
                          {64, 1, 2, 1},
                          {32 * 10 * 16 * 8, 8, 4, 0x1p-8},
                          {10 * 160, 1, 4, 0x1p-3},
                          {10, 1, 2, 1}},
};

bool workload_is_exact(const struct workload *workload)
{
    return workload_is_chain(workload) || workload->kind == WORKLOAD_CNN ||
           workload->kind == WORKLOAD_MIXED;
}

bool workload_is_chain(const struct workload *workload)
{
    return workload->kind == WORKLOAD_MLP || workload->kind == WORKLOAD_BLOCKS;
}

size_t workload_n_params(const struct workload *workload)
{
    size_t n = 0;

    if (workload_is_chain(workload))
        return 2 * workload_layers(workload);
    while (n < LAWS && laws[workload->kind][n].count > 0)
        ++n;
    return n;
}

size_t workload_param_count(const struct workload *workload, size_t p)
{
    if (!workload_is_chain(workload))
        return p < LAWS ? laws[workload->kind][p].count : 0;
    return (p % 2 == 0 ? workload->size[p / 2] : 1) * workload->size[p / 2 + 1];
}

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* The last rows of the table are those of the wide patterns. */
static int table_bits(const struct workload_set *set, size_t row)
{
    const size_t pattern = WORKLOAD_TABLE - 1 - row;

    return pattern < WORKLOAD_WIDE ? workload_wide_input(set, pattern) : 0;
}

double workload_value(const struct workload *workload, const struct workload_set *set, size_t p,
                      size_t i)
{
    const bool probe = workload_is_probe(set);
    const struct law *law = probe ? &probe_laws[workload->kind][p] : &laws[workload->kind][p];
    uint64_t x = mix(set->seed);

    x = mix(x ^ (uint64_t)set->index);
    x = mix(x ^ (uint64_t)(1000 + p));
    x = mix(x ^ (uint64_t)i);
    if (workload->kind == WORKLOAD_MIXED && p == 0 && table_bits(set, i / 10) > 0)
        return workload_wide_number(x, table_bits(set, i / 10));
    x >>= 16;
    if (x % law->every != 0)
        return 0;
    x /= law->every;
    if (probe)
        return (double)(0x800001U | (x & 0x7fffffU)) * 0x1p-24 * law->unit;

    const double size = (double)(1 + x / 2 % law->most) * law->unit;

    return x % 2 == 0 ? size : -size;
}

void workload_fill_param(const struct workload *workload, const struct workload_set *set, size_t p,
                         float values[])
{
    if (workload_is_chain(workload) && p % 2 == 0)
        workload_fill_weights(workload, set, p / 2, values);
    else if (workload_is_chain(workload))
        workload_fill_biases(workload, set, p / 2, values);
    else
        for (size_t i = 0; i < workload_param_count(workload, p); ++i)
            values[i] = (float)workload_value(workload, set, p, i);
}
