/* validate/metrics.h: what a limit can be about, a row each: its unit, which way is better, and how
 * a launch says it. */
#ifndef HARNESS_VALIDATE_METRICS_H
#define HARNESS_VALIDATE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"
#include "text/quantity.h"

/* What the steps of a launch are summed up as. */
enum validate_statistic {
    VALIDATE_FLOOR,   /* their 5th percentile: what the program takes */
    VALIDATE_TYPICAL, /* their median */
    VALIDATE_COST,    /* their mean: stalls count */
    VALIDATE_TAIL,    /* their 95th percentile */
    VALIDATE_STATISTICS
};
extern const char *const validate_statistic_names[VALIDATE_STATISTICS];

struct validate_metric {
    const char *name, *means;
    enum quantity_kind kind;
    bool higher;    /* is better */
    bool counted;   /* the same in every launch: no statistic */
    bool by_device; /* each device is judged by itself */
    bool has_base;  /* it is a ratio, to the same launch of the plain program */
    /* Of a launch of point, in base units, of that device where by_device; NaN: unknown. steps:
     * room for the samples of row. NULL: no records have it yet, so its limits are UNMEASURED. */
    double (*of)(const struct report_point *point, const struct report_row *row, int device,
                 enum validate_statistic by, double steps[]);
};

enum { VALIDATE_METRICS = 12 };
extern const struct validate_metric validate_metrics[VALIDATE_METRICS];

/* NULL: there is none of that name. */
const struct validate_metric *validate_metric_find(const char *name);

#endif
