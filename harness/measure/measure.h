/* measure/measure.h: a cell, measured and verified. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include "record/cell.h"

/* Fills cell in any case. Frees nothing of it. */
void cell_measure(const struct cell_config *config, struct record_cell *cell);

#endif
