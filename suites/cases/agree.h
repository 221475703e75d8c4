/* agree.h: area AGREE: a vote among devices, and the table of agree_trained.c. */
#ifndef CASES_AGREE_H
#define CASES_AGREE_H

#include "check.h"

/* One result of each device. */
struct votes {
    const char *what;
    int n;
    int device[IMPL_MAX_DEVICES];
    const struct impl_array *of[IMPL_MAX_DEVICES];
};

/* All bits the same; the one that deviates is named, by majority. */
void agree_all(struct check *c, const struct votes *v);

extern const struct check_table agree_trained_table;

#endif
