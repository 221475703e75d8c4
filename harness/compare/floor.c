/* compare/floor.c: what a launch is summed up as: the fast end of its steps after the warm-up.
 *
 * Noise of a machine only adds to a step, so that its fast end is what the program takes. How far
 * out it can be taken is a matter of how many steps there are. */
#include "compare/compare.h"

#include "numbers/stats.h"

#include <stdlib.h>

const char *const compare_floor_words[COMPARE_FLOORS] = {"5th percentile", "10th percentile",
                                                         "minimum, few"};
static const double quantiles[COMPARE_FLOORS] = {0.05, 0.10, 0};

enum compare_floor compare_floor_rule(size_t steps)
{
    return steps >= COMPARE_P05_STEPS   ? COMPARE_P05
           : steps >= COMPARE_P10_STEPS ? COMPARE_P10
                                        : COMPARE_LEAST;
}

double compare_floor(const struct record_cell *cell, enum compare_floor rule, size_t fewest,
                     double steps[])
{
    const size_t most = rule == COMPARE_LEAST ? fewest : cell->n_valid;
    size_t n = 0;

    if (rule == COMPARE_P05)
        return cell->p05_ns;
    for (size_t i = 0; i < cell->n_samples && n < most; ++i)
        if ((cell->flags[i] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0)
            steps[n++] = (double)cell->t_step_ns[i];
    stats_sort(steps, n);
    return stats_quantile(steps, n, quantiles[rule]);
}
