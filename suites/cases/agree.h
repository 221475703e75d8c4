/* agree.h: area AGREE: a vote among devices, and the table of agree_trained.c. */
#ifndef CASES_AGREE_H
#define CASES_AGREE_H

#include "check.h"

/* The same result, from each device. */
struct votes {
    const char *what;
    int n;
    int device[IMPL_MAX_DEVICES];
    const struct impl_array *of[IMPL_MAX_DEVICES];
};

/* Checks that all have the same bits. The device that deviates from the majority is named. */
void agree_all(struct check *c, const struct votes *v);

extern const struct check_table agree_trained_table;

#endif
