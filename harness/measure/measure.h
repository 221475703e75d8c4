/* measure/measure.h: a cell, measured and verified. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include <stdio.h>

#include "record/cell.h"

/* Fills cell in any case. Frees nothing of it. trace: gets the line of measure/trace.h behind the
 * measurement of a cell that went well; NULL: nothing is traced. */
void cell_measure(const struct cell_config *config, FILE *trace, struct record_cell *cell);

#endif
