/* record/identify.h: the records of a cell, before it is run. */
#ifndef HARNESS_RECORD_IDENTIFY_H
#define HARNESS_RECORD_IDENTIFY_H

#include "plan/cell.h"
#include "record/record.h"

/* Identity of a cell in its records; the status is RECORD_BROKEN until somebody knows better. */
void cell_identify(const struct cell_config *config, struct record_cell *cell);

#endif
