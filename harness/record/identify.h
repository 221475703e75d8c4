/* record/identify.h: makes the record of a cell before it runs. */
#ifndef HARNESS_RECORD_IDENTIFY_H
#define HARNESS_RECORD_IDENTIFY_H

#include "plan/cell.h"
#include "record/record.h"

/* Fills the identity of a cell in its record. The status is RECORD_BROKEN until the result is
 * known. */
void cell_identify(const struct cell_config *config, struct record_cell *cell);

#endif
