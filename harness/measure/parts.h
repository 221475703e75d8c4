/* measure/parts.h: parts of a machine by themselves, behind the steps of a cell: what each device
 * computes, burst and sustained, what each copies to each other one, to and from the host, and
 * within its own memory. */
#ifndef HARNESS_PARTS_H
#define HARNESS_PARTS_H

#include "dp.h"
#include "plan/cell.h"
#include "record/record.h"

/* Into cell->part, for config->parts seconds each; nothing where that is 0, where the BLAS has the
 * cores of all devices, and on devices that run their work late. Results of the first round, of
 * products those of the last one, too, and all of what came back to the host, are compared with the
 * known answer, bit for bit: DP_EFAULT. */
int measure_parts(struct dp_group *group, const struct cell_config *config,
                  struct record_cell *cell, struct dp_error *err);

/* The backward of a module whose forward alone is measured: an error. */
int measure_no_backward(struct dp_module *module, struct dp_run *run,
                        const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                        int n_in, struct dp_error *err);

/* Its part of copies, on several devices. */
int measure_copies(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err);
/* And that of copies between the host and each device, and within a device's memory. */
int measure_memory(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err);

#endif
