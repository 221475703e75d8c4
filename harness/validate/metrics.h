/* validate/metrics.h: what a limit can be about, a row each: its unit, which way is better, and how
 * a launch says it. */
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
    bool counted; /* the same in every launch: no statistic */
    bool fact;    /* of the host: no speed, and a worse host has `worst` of it */
    double worst;
    bool by_device; /* each device is judged by itself */
    bool of_steps;  /* of how long they take: those of a chain are others */
    bool has_base;  /* it is a ratio, to the same launch of the plain program */
    bool in_parts;  /* a launch knows it if the parts of the machine were measured, too: that one */
    enum record_part part;
    /* Of a launch of point, in base units, of that device where by_device; NaN: unknown. steps:
     * room for the samples of row, and RECORD_MOST_PARTS. */
    double (*of)(const struct report_point *point, const struct report_row *row, int device,
                 enum validate_statistic by, double steps[]);
    /* The same of copies from a device to another one, of which `of` is the slowest; or NULL. */
    double (*of_pair)(const struct report_row *row, int from, int to, enum validate_statistic by,
                      double steps[]);
    /* Of a bandwidth: what was carried. Another size is another number. NULL: no size. */
    double (*bytes)(const struct report_row *row);
};

enum { VALIDATE_METRICS = 22 };
extern const struct validate_metric validate_metrics[VALIDATE_METRICS];

/* NULL: there is none of that name. */
const struct validate_metric *validate_metric_find(const char *name);

/* The host, as the records of a launch know it; NaN: they do not. validate/host.c */
double validate_memlock(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
double validate_shm(const struct report_point *point, const struct report_row *row, int device,
                    enum validate_statistic by, double steps[]);
double validate_balancing(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_threads(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
/* 1: the governor is performance; 0: it is another. */
double validate_governor(const struct report_point *point, const struct report_row *row, int device,
                         enum validate_statistic by, double steps[]);
double validate_foreign(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
double validate_stolen(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[]);

#endif
