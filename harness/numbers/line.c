/* numbers/line.c: see numbers/stats.h. */
#include "numbers/stats.h"

#include <math.h>
#include <stdbool.h>

static double distance(const struct line *line, double x, double y)
{
    return fabs(1 - (line->alpha + line->beta * x) / y);
}

/* Takes the line if it has less than the best one. Two points of one x have none: no number is
 * less.
 */
static void try_line(const struct line *line, const double x[], const double y[], size_t n,
                     struct line *best, double *least)
{
    double sum = 0;

    for (size_t i = 0; i < n && sum < *least; ++i)
        sum += distance(line, x[i], y[i]);
    if (sum < *least) {
        *least = sum;
        *best = *line;
    }
}

/* The least is at a corner of what is allowed: through two points, or through one and level or from
 * 0. */
static struct line best_line(const double x[], const double y[], size_t n, bool rising)
{
    struct line best = {NAN, NAN};
    double least = INFINITY;

    for (size_t i = 0; i < n; ++i)
        if (!(isfinite(x[i]) && isfinite(y[i]) && y[i] > 0))
            return best;
    for (size_t i = 0; i < n; ++i) {
        const struct line level = {y[i], 0}, from_0 = {0, y[i] / x[i]};

        for (size_t k = i + 1; k < n; ++k) {
            const double beta = (y[k] - y[i]) / (x[k] - x[i]);
            const struct line line = {y[i] - beta * x[i], beta};

            if (!rising || (line.alpha >= 0 && beta >= 0))
                try_line(&line, x, y, n, &best, &least);
        }
        if (rising)
            try_line(&level, x, y, n, &best, &least);
        if (rising && from_0.beta >= 0)
            try_line(&from_0, x, y, n, &best, &least);
    }
    return best;
}

struct line line_fit(const double x[], const double y[], size_t n)
{
    return best_line(x, y, n, false);
}

struct line line_fit_rising(const double x[], const double y[], size_t n)
{
    return best_line(x, y, n, true);
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
