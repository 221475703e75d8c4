/* measure/parts.h: measures parts of a machine separately, after the steps of a cell: how fast each
 * device computes, burst and sustained, and how fast each copies to each other one, to and from the
 * host, and within its own memory. */
#ifndef HARNESS_PARTS_H
#define HARNESS_PARTS_H

#include "dp.h"
#include "plan/cell.h"
#include "record/record.h"

/* Fills cell->part, measuring for config->parts seconds each. It measures nothing if that is 0, if
 * the BLAS has the cores of all devices, or if the devices run their work late. Results of the
 * first round are compared with the known answer, bit for bit; so are those of the last round of
 * products, and all numbers that came back to the host. DP_EFAULT: they differ. */
int measure_parts(struct dp_group *group, const struct cell_config *config,
                  struct record_cell *cell, struct dp_error *err);

/* The backward of a module of which only forward is measured: it returns an error. */
int measure_no_backward(struct dp_module *module, struct dp_run *run,
                        const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                        int n_in, struct dp_error *err);

/* The part of measure_parts for copies between devices, if there are several. */
int measure_copies(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err);
/* The part of measure_parts for copies between the host and each device, and within the memory of a
 * device. */
int measure_memory(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err);

#endif
