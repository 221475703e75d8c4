/* sweep/sweep.h: the options of a sweep, and the devices that they name. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include "record/plan.h"
#include "record/record.h"

struct sweep_options {
    struct plan_options plan;
    char out[512];                                           /* "": a new file in results/local */
    char trace[512];                                         /* "": no trace */
    char launcher[sizeof((struct record_run *)0)->launcher]; /* "": none */
    size_t format; /* of the numbers that it prints; REPORT_FORMATS: none */
    bool resume;
    bool wait;       /* for cores that another sweep has */
    double timeout;  /* seconds per cell */
    size_t required; /* devices */
    uint64_t seen;   /* options that were given */
};

/* Parses and completes nothing: what was not given stays empty. 0 or an exit status. */
int sweep_parse(int argc, char **argv, struct sweep_options *options);

/* What the manifest says of the devices and the machine. 0 or an exit status, with a message. */
int sweep_devices(const char *command, const struct sweep_options *options, struct record_run *run);

#endif
