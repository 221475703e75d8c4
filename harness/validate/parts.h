/* validate/parts.h: what a launch shows of the parts of a machine: products, copies, reductions.
 * Each is NaN where the launch does not know it. steps: room for RECORD_MOST_PARTS. */
#ifndef HARNESS_VALIDATE_PARTS_H
#define HARNESS_VALIDATE_PARTS_H

#include "analysis/analysis.h"
#include "validate/statistic.h"

double validate_product(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
/* A device's product against the median of the others in that launch. */
double validate_product_spread(const struct report_point *point, const struct report_row *row,
                               int device, enum validate_statistic by, double steps[]);
/* The same of the last half of the time in which all devices compute at once. */
double validate_sustained(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_sustained_spread(const struct report_point *point, const struct report_row *row,
                                 int device, enum validate_statistic by, double steps[]);
/* From a device to another one. */
double validate_pair(const struct report_row *row, int from, int to, enum validate_statistic by,
                     double steps[]);
/* From device to the one that gets it slowest. */
double validate_copy(const struct report_point *point, const struct report_row *row, int device,
                     enum validate_statistic by, double steps[]);
double validate_copy_bytes(const struct report_row *row);
/* Between the host and device: the slower way. */
double validate_host_copy(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_host_bytes(const struct report_row *row);
/* Within device: of the bytes that are read and those that are written. */
double validate_memory(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[]);
double validate_memory_bytes(const struct report_row *row);
/* Of all gradients of a ddp cell, reduced alone. */
double validate_allreduce(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_allreduce_bytes(const struct report_row *row);

#endif
