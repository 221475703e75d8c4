/* data_models.c: the parameters of the models that are not chains of linear layers, by the laws of
 * their descriptors. Exact models have small integers, but for the wide rows of a table. The
 * probe's are those of workload.h: no row has more than some 16 that are not 0. */
#include "descriptor.h"

bool workload_is_exact(const struct workload *workload)
{
    return workload->is->exact;
}

bool workload_has_math(const struct workload *workload, enum dp_math math)
{
    return math == DP_MATH_F32 || workload->is->exact || workload->is->maths;
}

bool workload_is_chain(const struct workload *workload)
{
    return workload->is->chain;
}

struct workload_law workload_law(const struct workload *workload, size_t p, bool probe)
{
    const struct workload_descriptor *is = workload->is;

    if (is->sized)
        return is->sized->law(workload, p, probe);
    if (p >= WORKLOAD_LAWS)
        return (struct workload_law){.count = 0};
    return probe ? is->probe[p] : is->law[p];
}

size_t workload_n_params(const struct workload *workload)
{
    size_t n = 0;

    if (workload_is_chain(workload))
        return 2 * workload_layers(workload);
    while (n < WORKLOAD_PARAMS && workload_law(workload, n, false).count > 0)
        ++n;
    return n;
}

size_t workload_param_count(const struct workload *workload, size_t p)
{
    if (!workload_is_chain(workload))
        return workload_law(workload, p, false).count;
    return (p % 2 == 0 ? workload->size[p / 2] : 1) * workload->size[p / 2 + 1];
}

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t data_mix_all(uint64_t x)
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

/* Number i, of that law. */
static double value_by(const struct workload_law *law, const struct workload *workload,
                       const struct workload_set *set, size_t p, size_t i)
{
    uint64_t x = data_mix_all(set->seed);

    x = data_mix_all(x ^ (uint64_t)set->index);
    x = data_mix_all(x ^ (uint64_t)(1000 + p));
    x = data_mix_all(x ^ (uint64_t)i);
    if (workload->is->table && p == 0 && table_bits(set, i / 10) > 0)
        return workload_wide_number(x, table_bits(set, i / 10));
    x >>= 16;
    if (x % law->every != 0)
        return 0;
    x /= law->every;
    if (workload_is_probe(set)) {
        const double size = (double)(0x800001U | (x & 0x7fffffU)) * 0x1p-24 * law->unit;

        return law->either && x >> 23 & 1 ? -size : size;
    }

    const double size = (double)(1 + x / 2 % law->most) * law->unit;

    return x % 2 == 0 ? size : -size;
}

double workload_value(const struct workload *workload, const struct workload_set *set, size_t p,
                      size_t i)
{
    const struct workload_law law = workload_law(workload, p, workload_is_probe(set));

    return value_by(&law, workload, set, p, i);
}

void workload_fill_param(const struct workload *workload, const struct workload_set *set, size_t p,
                         float values[])
{
    if (workload_is_chain(workload) && p % 2 == 0)
        workload_fill_weights(workload, set, p / 2, values);
    else if (workload_is_chain(workload))
        workload_fill_biases(workload, set, p / 2, values);
    else {
        const struct workload_law law = workload_law(workload, p, workload_is_probe(set));

        for (size_t i = 0, n = workload_param_count(workload, p); i < n; ++i)
            values[i] = (float)value_by(&law, workload, set, p, i);
    }
}
