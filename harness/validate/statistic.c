/* validate/statistic.c: computes the statistics of the samples of a launch. */
#include "validate/statistic.h"

#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>

const char *const validate_statistic_names[VALIDATE_STATISTICS] = {"floor", "typical", "cost",
                                                                   "tail", "least"};

double validate_sum_up(double times[], size_t n, enum validate_statistic by)
{
    static const double quantile[VALIDATE_STATISTICS] = {0.05, 0.5, 0, 0.95, 0};
    double sum = 0.0;

    if (n == 0)
        return (double)NAN;
    if (by == VALIDATE_COST) {
        for (size_t i = 0; i < n; ++i)
            sum += times[i];
        return sum / (double)n;
    }
    stats_sort(times, n);
    return stats_quantile(times, n, quantile[by]);
}
