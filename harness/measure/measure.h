/* measure/measure.h: a cell, measured and verified. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include <stdio.h>

#include "record/cell.h"

/* Fills cell in any case. Frees nothing of it. trace: gets the line of measure/trace.h behind the
 * measurement of a cell that went well; NULL: nothing is traced. mpi: of the
 * processes that measure it together, each its own devices, all the same; NULL: this one alone. */
struct dp_mpi;
void cell_measure(const struct cell_config *config, FILE *trace, struct dp_mpi *mpi,
                  struct record_cell *cell);

#endif
