/* validate/metrics.h: the metrics that a limit can be about, a table row each: the unit, which
 * direction is better, and how the value of a launch is found. */
#ifndef HARNESS_VALIDATE_METRICS_H
#define HARNESS_VALIDATE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/analysis.h"
#include "text/quantity.h"
#include "validate/statistic.h"

struct validate_metric {
    const char *name, *means;
    enum quantity_kind kind;
    bool higher;  /* is better */
    bool counted; /* it is the same in every launch, so it has no statistic */
    bool fact;    /* it is a fact of the host, not a speed; a worse host has the value `worst` */
    double worst;
    bool by_device; /* each device is judged separately */
    bool of_steps;  /* it is a time of steps, which is another one in a chain */
    bool has_base;  /* it is a ratio to the same launch of the plain program */
    bool in_parts;  /* it exists if the parts of the machine were measured, too, with `part` */
    enum record_part part;
    /* Returns the value of a launch of point in base units, for that device if by_device; NaN:
     * unknown. steps: workspace for the samples of row, and RECORD_MOST_PARTS. */
    double (*of)(const struct report_point *point, const struct report_row *row, int device,
                 enum validate_statistic by, double steps[]);
    /* The same for copies from one device to another, of which `of` is the slowest; or NULL. */
    double (*of_pair)(const struct report_row *row, int from, int to, enum validate_statistic by,
                      double steps[]);
    /* For a bandwidth: the bytes that were carried. Bandwidths of different sizes are not
     * comparable. NULL: it has no size. */
    double (*bytes)(const struct report_row *row);
};

enum { VALIDATE_METRICS = 22 };
extern const struct validate_metric validate_metrics[VALIDATE_METRICS];

/* Finds a metric by its name; NULL: there is none. */
const struct validate_metric *validate_metric_find(const char *name);

/* Facts of the host, from the record of a launch; NaN: the record does not have them
 * (validate/host.c). */
double validate_memlock(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
double validate_shm(const struct report_point *point, const struct report_row *row, int device,
                    enum validate_statistic by, double steps[]);
double validate_balancing(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_threads(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
/* Returns 1 if the governor is performance, 0 if it is another one. */
double validate_governor(const struct report_point *point, const struct report_row *row, int device,
                         enum validate_statistic by, double steps[]);
double validate_foreign(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
double validate_stolen(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[]);

#endif
