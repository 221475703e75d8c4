/* numbers/tolerance.h: what nearly all of a population reaches, from a few of it. */
#ifndef HARNESS_TOLERANCE_H
#define HARNESS_TOLERANCE_H

#include <stddef.h>

/* k, so that mean + k * standard deviation of n values of a normal distribution is above `content`
 * of that distribution in `confidence` of all samples; both between 0.5 and 1. NaN: n is below 2.
 */
double tolerance_factor(size_t n, double content, double confidence);

#endif
