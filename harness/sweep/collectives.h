/* sweep/collectives.h: the table of a sweep of collectives, as nccl-tests orders it. */
#ifndef HARNESS_SWEEP_COLLECTIVES_H
#define HARNESS_SWEEP_COLLECTIVES_H

#include <stdio.h>

#include "record/cell.h"

/* A planned cell and what came of it. */
struct collectives_cell {
    const struct cell_config *config;
    double median_ns; /* NaN: it is not verified */
};

/* A line for each, its launches as one: their median, and how many of them are verified. Sorts
 * cells. Nothing where they are no collectives. */
void collectives_print(FILE *to, struct collectives_cell cells[], size_t n);

#endif
