/* numbers/permute.c: permutation tests: what an order says, against what random orders say. No
 * distribution is assumed, only that without an effect every order is as likely as any other. */
#include "numbers/stats.h"

#include <math.h>
#include <string.h>

#include "numbers/random.h"

double permute_test(const double x[], size_t n, permute_statistic_fn *statistic,
                    const void *context, size_t rounds, uint64_t seed, double scratch[])
{
    const double seen = fabs(statistic(x, n, context));
    size_t as_far = 1; /* the order of x itself */
    if (isnan(seen))
        return NAN;
    memcpy(scratch, x, n * sizeof x[0]);
    for (size_t i = 0; i < rounds; ++i) {
        for (size_t k = n; k > 1; --k) {
            const size_t j = (size_t)(random_next(&seed) % k);
            const double other = scratch[j];
            scratch[j] = scratch[k - 1];
            scratch[k - 1] = other;
        }
        /* An order that is the same but for rounding is as far. */
        as_far += fabs(statistic(scratch, n, context)) >= seen * (1 - 1e-9);
    }
    return (double)as_far / (double)(rounds + 1);
}

double permute_slope(const double x[], size_t n, const void *context)
{
    const double *at = context;
    const double middle = stats_mean(at, n), mean = stats_mean(x, n);
    double above = 0, below = 0;
    for (size_t i = 0; i < n; ++i) {
        above += (at[i] - middle) * (x[i] - mean);
        below += (at[i] - middle) * (at[i] - middle);
    }
    return below > 0 ? above / below : NAN;
}

double permute_lag1(const double x[], size_t n, const void *context)
{
    const double mean = stats_mean(x, n);
    double products = 0, squares = 0;
    (void)context;
    for (size_t i = 0; i < n; ++i) {
        squares += (x[i] - mean) * (x[i] - mean);
        products += i + 1 < n ? (x[i] - mean) * (x[i + 1] - mean) : 0;
    }
    return squares > 0 ? products / squares : NAN;
}
