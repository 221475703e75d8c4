/* numbers/line.h: a straight line through times that span decades. Pure functions on arrays; no
 * allocation. */
#ifndef HARNESS_LINE_H
#define HARNESS_LINE_H

#include <stddef.h>

/* y = alpha + beta x; both NaN: there is none. */
struct line {
    double alpha, beta;
};

/* The line with the least sum of |1 - line / y|, of those through two of the points: one of them
 * always has the least of all lines. Distances are parts of y, so that a time of a microsecond
 * counts as much as one of a second; and they are not squared, so that a few points that lie far
 * above, of a machine that was busy, do not bend it. None: fewer than two different x, or a number
 * that is not finite, or a y that is not positive. Time n^3. */
struct line line_fit(const double x[], const double y[], size_t n);

/* The same of lines that neither begin below 0 nor fall: of costs that cannot be negative. Where
 * the best of all lines does, the best one left is level, or begins at 0. */
struct line line_fit_rising(const double x[], const double y[], size_t n);

/* The largest |1 - line / y|, and *at, its index. NaN: n is 0, or one of them is. */
double line_off(const struct line *line, const double x[], const double y[], size_t n, size_t *at);

#endif
