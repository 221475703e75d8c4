/* validate/metrics.h: the metrics that a limit can be about, a table row each: the unit, which
 * direction is better, and how the value of a launch is found. */
#ifndef HARNESS_VALIDATE_METRICS_H
#define HARNESS_VALIDATE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/analysis.h"
#include "text/quantity.h"

/* The statistics of the samples of a launch. */
enum validate_statistic {
    VALIDATE_FLOOR,   /* their 5th percentile: the time of the program itself */
    VALIDATE_TYPICAL, /* their median */
    VALIDATE_COST,    /* their mean: stalls count */
    VALIDATE_TAIL,    /* their 95th percentile */
    VALIDATE_LEAST,   /* the shortest: for few samples on a busy machine */
    VALIDATE_STATISTICS
};
/* A row for each: its name, which quantile of the samples it is (NaN: it is their mean), and the
 * member of a record that has it for steps. A statistic without a member has no value. */
struct validate_statistic_row {
    const char *name;
    double quantile;
    size_t in_cell;
};
extern const struct validate_statistic_row validate_statistics[VALIDATE_STATISTICS];

/* A value is that of a metric in a launch of a cell. */
struct validate_sample {
    const struct validate_metric *metric;
    const struct report_point *point; /* the cell */
    const struct report_row *row;     /* the launch */
    int device;                       /* for metrics that are judged by device */
    enum validate_statistic by;
    double *steps; /* workspace for the samples of row, and RECORD_MOST_PARTS */
};

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
    double (*of)(const struct validate_sample *at); /* NULL: the value is a member of the record */
    size_t in_run, in_cell;                         /* the offset of that member; 0: the other */
    /* For copies: that from the device to another one, of which `of` is the slowest; or NULL. */
    double (*of_pair)(const struct validate_sample *at, int to);
    /* For a bandwidth: the bytes that were carried. Bandwidths of different sizes are not
     * comparable. NULL: it has no size. */
    double (*bytes)(const struct validate_metric *metric, const struct report_row *row);
    /* The words say no more than a bad number of it shows: a likely cause of whatever else is bad.
     * NULL: it has causes, and is none. And the first action; NULL: that of most. */
    const char *reason, *action;
};

enum { VALIDATE_METRICS = 22 };
extern const struct validate_metric validate_metrics[VALIDATE_METRICS];

/* Finds a metric by its name; NULL: there is none. */
const struct validate_metric *validate_metric_find(const char *name);
/* Returns the value in base units; NaN: unknown. */
double validate_metric_value(const struct validate_sample *at);

#endif
