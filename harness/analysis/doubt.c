/* analysis/doubt.c: whether a number of a point may be called certain. The answer, badges, tables
 * and figures all ask here. And the number in words, with the mark of one that may not. */
#include "analysis/analysis.h"

#include <math.h>

bool report_unmeasured(const struct report_value *value)
{
    return value->range >= REPORT_LAUNCHES &&
           (value->hi - value->lo > value->middle || (value->lo < 0.5 && value->hi > 2));
}

const char *report_ratio_words(const struct report_value *value, char text[32])
{
    return report_unmeasured(value) ? "not measured well enough"
                                    : report_ratio(value->middle, text);
}

bool report_beyond(const struct report_point *point)
{
    const struct report_value *value = &point->value[REPORT_EFFICIENCY];
    const double least = value->range == REPORT_INTERVAL ? value->lo : value->middle;

    return least > (2 - REPORT_AT_BOUND) * point->bound;
}

double report_widening(double alike)
{
    return sqrt((1 + alike) / (1 - alike));
}

struct stats_interval report_widened(const struct report_point *point, int metric)
{
    const struct report_value *value = &point->value[metric];
    const double times = report_widening(point->alike);

    return (struct stats_interval){.lo = value->middle - times * (value->middle - value->lo),
                                   .hi = value->middle + times * (value->hi - value->middle)};
}

/* The point that a ratio is against, or the point itself; NULL: there is none. */
static const struct report_point *report_against(const struct report_point *point, int metric)
{
    return metric == REPORT_OF_CORES ? point->cores
           : metric == REPORT_BESIDE ? point->peer
           : report_is_ratio(metric) ? point->base
                                     : point;
}

const char *report_doubt_mark(const struct report_point *point, int metric)
{
    const bool judged = metric <= REPORT_BESIDE && isfinite(report_middle(point, metric)) &&
                        !(report_is_ratio(metric) && report_against(point, metric) == point);

    return judged && report_doubt_of(point, metric) ? "?" : "";
}

size_t report_count_disturbed(const struct report_point *point, int metric)
{
    const struct report_point *base = report_against(point, metric);
    struct report_pair pair;
    size_t n = 0;

    for (size_t at[2] = {0}; base && report_pair_next(point, base, at, &pair);)
        n += report_disturbed(pair.row) || report_disturbed(pair.base);
    return n;
}

enum report_doubt report_doubt_of(const struct report_point *point, int metric)
{
    const struct report_value *value = &point->value[metric];
    const bool ratio = report_is_ratio(metric);
    const struct report_point *base = report_against(point, metric);
    const struct stats_interval widened = report_widened(point, metric);
    /* The widest interval: about 10 % to each side. It is relative, because a width in points of
     * what is possible would pass any slow setting; a share may be near 0, and has half of all. */
    const double width = metric == REPORT_HIDDEN ? 0.5 : 0.2 * value->middle;

    if (report_point_failed(point) || (base && report_point_failed(base)))
        return REPORT_DOUBT_FAILED;
    if (value->range != REPORT_INTERVAL)
        return REPORT_DOUBT_FEW;
    if (ratio && report_beyond(point))
        return REPORT_DOUBT_BEYOND;
    if ((double)report_count_disturbed(point, metric) > REPORT_DISTURBED_MOST * (double)value->n)
        return REPORT_DOUBT_DISTURBED;
    return widened.hi - widened.lo < width ? REPORT_CERTAIN : REPORT_DOUBT_WIDE;
}

const char *report_metric_words(const struct report_point *point, int metric,
                                char text[REPORT_CELL_TEXT])
{
    const struct report_value *value = &point->value[metric];
    const struct report_value *time = &point->value[REPORT_HIDDEN_TIME];
    const bool known = isfinite(value->middle) != 0, base = point->base == point;

    if (metric == REPORT_SPEEDUP && base)
        return "base";
    if (metric == REPORT_EFFICIENCY && (base || !known))
        return "-";
    if (report_is_ratio(metric) && report_unmeasured(value))
        return metric == REPORT_EFFICIENCY ? "-" : report_ratio_words(value, text);
    text[0] = '\0';
    if (metric != REPORT_HIDDEN || !known || !report_doubt_of(point, metric))
        report_add(text, metric == REPORT_EFFICIENCY ? "%s%s of %.2f" : "%s%s",
                   report_metric_of(metric)->number(value->middle, WORD),
                   report_doubt_mark(point, metric), point->bound);
    else if (time->range == REPORT_INTERVAL)
        report_add(text, "not resolved: reduction %s, noise of the step %s",
                   report_time(report_middle(point, REPORT_COMM), WORD),
                   report_time((time->hi - time->lo) / 2.0, WORD));
    else
        report_add(text, "not resolved: reduction %s, too few launches for an interval",
                   report_time(report_middle(point, REPORT_COMM), WORD));
    return text;
}

/* A ratio may have fewer pairs than there are launches; the text says so. */
const char *report_metric_range_words(const struct report_point *point, int metric,
                                      char text[REPORT_CELL_TEXT])
{
    const struct report_value *value = &point->value[metric];
    const bool ratio = report_is_ratio(metric);

    if (ratio && (point->base == point || !isfinite(value->middle)))
        return "-";
    text[0] = '\0';
    report_add(text, "%s", report_range_words(value, report_metric_of(metric)->number, PHRASE));
    if (ratio && value->n != point->verified)
        report_add(text, " (%zu pair%s)", value->n, text_s(value->n));
    return text;
}
