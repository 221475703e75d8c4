/* validate/parts.h: the values of a launch about parts of the machine: products, copies,
 * reductions. Each is NaN if the launch did not measure it. steps: workspace for
 * RECORD_MOST_PARTS. */
#ifndef HARNESS_VALIDATE_PARTS_H
#define HARNESS_VALIDATE_PARTS_H

#include "analysis/analysis.h"
#include "validate/statistic.h"

double validate_product(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
/* The time of a device for a product over the median of the others in that launch. */
double validate_product_spread(const struct report_point *point, const struct report_row *row,
                               int device, enum validate_statistic by, double steps[]);
/* The product, and that ratio, in the last half of the time in which all devices compute at
 * once. */
double validate_sustained(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_sustained_spread(const struct report_point *point, const struct report_row *row,
                                 int device, enum validate_statistic by, double steps[]);
/* The copy from one device to another. */
double validate_pair(const struct report_row *row, int from, int to, enum validate_statistic by,
                     double steps[]);
/* The slowest copy from device to another one. */
double validate_copy(const struct report_point *point, const struct report_row *row, int device,
                     enum validate_statistic by, double steps[]);
double validate_copy_bytes(const struct report_row *row);
/* The copy between the host and device, in the slower direction. */
double validate_host_copy(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_host_bytes(const struct report_row *row);
/* The copy within device: both the bytes that are read and those that are written count. */
double validate_memory(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[]);
double validate_memory_bytes(const struct report_row *row);
/* The reduction of all gradients of a ddp cell, when it runs alone. */
double validate_allreduce(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_allreduce_bytes(const struct report_row *row);

#endif
