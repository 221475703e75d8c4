/* numbers/line.c: see numbers/line.h. */
#include "numbers/line.h"

#include <math.h>
#include <stdbool.h>

static double distance(const struct line *line, double x, double y)
{
    return fabs(1 - (line->alpha + line->beta * x) / y);
}

/* No further than to least: who has as much is not chosen. */
static double sum_of_distances(const struct line *line, const double x[], const double y[],
                               size_t n, double least)
{
    double sum = 0;

    for (size_t i = 0; i < n && sum < least; ++i)
        sum += distance(line, x[i], y[i]);
    return sum;
}

static bool can_be_fitted(const double x[], const double y[], size_t n)
{
    bool can = true;

    for (size_t i = 0; i < n; ++i)
        can = can && isfinite(x[i]) && isfinite(y[i]) && y[i] > 0;
    return can;
}

struct line line_fit(const double x[], const double y[], size_t n)
{
    struct line best = {NAN, NAN};
    double least = INFINITY;

    for (size_t i = 0; can_be_fitted(x, y, n) && i < n; ++i)
        for (size_t k = i + 1; k < n; ++k) {
            const double beta = (y[k] - y[i]) / (x[k] - x[i]);
            const struct line line = {y[i] - beta * x[i], beta};
            const double sum = sum_of_distances(&line, x, y, n, least);

            if (sum < least) { /* two points of one x have none: it is not a number */
                least = sum;
                best = line;
            }
        }
    return best;
}

/* Takes the line if it has less than the best one. Two points of one x have none: no number is
 * less.
 */
static void try_line(const struct line *line, const double x[], const double y[], size_t n,
                     struct line *best, double *least)
{
    const double sum = sum_of_distances(line, x, y, n, *least);

    if (line->alpha >= 0 && line->beta >= 0 && sum < *least) {
        *least = sum;
        *best = *line;
    }
}

/* The least is at a corner of what is allowed: through two points, or through one and level or from
 * 0. */
struct line line_fit_rising(const double x[], const double y[], size_t n)
{
    struct line best = {NAN, NAN};
    double least = INFINITY;

    if (!can_be_fitted(x, y, n))
        return best;
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = i + 1; k < n; ++k) {
            const double beta = (y[k] - y[i]) / (x[k] - x[i]);

            try_line(&(struct line){y[i] - beta * x[i], beta}, x, y, n, &best, &least);
        }
        try_line(&(struct line){y[i], 0}, x, y, n, &best, &least);
        try_line(&(struct line){0, y[i] / x[i]}, x, y, n, &best, &least);
    }
    return best;
}

double line_off(const struct line *line, const double x[], const double y[], size_t n, size_t *at)
{
    double most = NAN;

    *at = 0;
    for (size_t i = 0; i < n; ++i) {
        const double off = distance(line, x[i], y[i]);

        if (isnan(off))
            return NAN;
        if (!(off <= most)) {
            most = off;
            *at = i;
        }
    }
    return most;
}
