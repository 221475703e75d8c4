/* analysis/values.c: medians over launches with their intervals, and pairs of launches of two
 * points. */
#include "analysis/analysis.h"

#include <math.h>

static const double LEVEL = 0.95;

const struct report_value report_unknown = {
    .middle = NAN, .lo = NAN, .hi = NAN, .range = REPORT_NONE, .coverage = NAN};

struct report_value report_value_of(double values[], size_t n)
{
    struct report_value value = report_unknown;
    struct stats_interval interval;

    stats_sort(values, n);
    interval = stats_median_interval(values, n, LEVEL);
    value.middle = stats_quantile(values, n, 0.5);
    value.n = n;
    if (interval.valid) {
        value.range = REPORT_INTERVAL;
        value.lo = interval.lo;
        value.hi = interval.hi;
        value.coverage = interval.coverage;
    } else if (n > 1) {
        value.range = REPORT_LAUNCHES;
        value.lo = values[0];
        value.hi = values[n - 1];
    }
    return value;
}

struct report_value report_inverse(const struct report_value *value, double over)
{
    struct report_value inverse = *value;

    inverse.middle = over / value->middle;
    inverse.lo = over / value->hi;
    inverse.hi = over / value->lo;
    return inverse;
}

/* Both points are ordered by launch, run and session, so one pass over both finds the equal ones.
 */
bool report_pair_next(const struct report_point *point, const struct report_point *base,
                      size_t at[2], struct report_pair *pair)
{
    while (at[0] < point->n && at[1] < base->n) {
        const struct report_row *a = &point->row[at[0]], *b = &base->row[at[1]];
        const int order = report_launch_order(a, b);

        at[0] += order <= 0;
        at[1] += order >= 0;
        if (order == 0 && a->verified && b->verified) {
            *pair = (struct report_pair){a, b};
            return true;
        }
    }
    return false;
}
