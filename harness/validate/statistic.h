/* validate/statistic.h: what the samples of a launch are summed up as. */
#ifndef HARNESS_VALIDATE_STATISTIC_H
#define HARNESS_VALIDATE_STATISTIC_H

#include <stddef.h>

enum validate_statistic {
    VALIDATE_FLOOR,   /* their 5th percentile: what the program takes */
    VALIDATE_TYPICAL, /* their median */
    VALIDATE_COST,    /* their mean: stalls count */
    VALIDATE_TAIL,    /* their 95th percentile */
    VALIDATE_LEAST,   /* the shortest: of few samples on a busy machine */
    VALIDATE_STATISTICS
};
extern const char *const validate_statistic_names[VALIDATE_STATISTICS];

/* Of n times, which are sorted; NaN: there are none. */
double validate_sum_up(double times[], size_t n, enum validate_statistic by);

#endif
