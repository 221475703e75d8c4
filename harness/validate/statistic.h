/* validate/statistic.h: the statistics of the samples of a launch. */
#ifndef HARNESS_VALIDATE_STATISTIC_H
#define HARNESS_VALIDATE_STATISTIC_H

#include <stddef.h>

enum validate_statistic {
    VALIDATE_FLOOR,   /* their 5th percentile: the time of the program itself */
    VALIDATE_TYPICAL, /* their median */
    VALIDATE_COST,    /* their mean: stalls count */
    VALIDATE_TAIL,    /* their 95th percentile */
    VALIDATE_LEAST,   /* the shortest: for few samples on a busy machine */
    VALIDATE_STATISTICS
};
extern const char *const validate_statistic_names[VALIDATE_STATISTICS];

/* Computes the statistic of n times, which it may sort; NaN: there are none. */
double validate_sum_up(double times[], size_t n, enum validate_statistic by);

#endif
