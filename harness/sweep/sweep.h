/* sweep/sweep.h: the options of a sweep, and the devices that they name. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "files/text_out.h"
#include "plan/cell.h"
#include "plan/plan.h"
#include "record/output.h"
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

/* Prints records in a format, as report_print does: a room after this one has it. */
typedef int sweep_print_fn(const char *command, const struct report *report, size_t format,
                           size_t *with_numbers);
/* The subcommand; argv[0] is "lockstep sweep". Returns an exit status. */
int sweep_main(int argc, char **argv, sweep_print_fn *print);

/* Parses and completes nothing: what was not given stays empty. 0 or an exit status. */
int sweep_parse(int argc, char **argv, struct sweep_options *options);

/* What the manifest says of the devices and the machine. 0 or an exit status, with a message. */
int sweep_devices(const char *command, const struct sweep_options *options, struct record_run *run);

/* ---- the table of collectives, as nccl-tests orders it: sweep/collectives.c ---- */

/* A planned cell and what came of it. */
struct collectives_cell {
    const struct cell_config *config;
    double median_ns; /* NaN: it is not verified */
};

/* A line for each, its launches as one: their median, and how many of them are verified. Sorts
 * cells. Nothing where they are no collectives. */
void collectives_print(FILE *to, struct collectives_cell cells[], size_t n);

/* ---- a cell of several processes, which a launcher starts: sweep/launched.c ---- */

/* As launch_cell, through the launcher: the record is what the first process sent, if all processes
 * have begun, have ended well, and the launcher, too. Else it names who has not. */
int launched_cell(const char *launcher, const struct cell_config *config, double timeout_seconds,
                  struct record_cell *cell);

/* ---- its numbers for other programs: sweep/numbers.c ---- */

/* Prints what `lockstep report --format` prints of the file, which is read to output->file. 0, or
 * EXIT_MISUSE after one line. */
int sweep_print_numbers(const char *command, struct output *output, size_t format,
                        sweep_print_fn *print);

/* ---- what a person sees of it on stderr: sweep/progress.c ---- */

struct progress {
    bool terminal;  /* one line that is rewritten, with time left; else a line per cell */
    int name_width; /* of the workloads */
    const struct plan_options *plan;
    size_t done, total;
    size_t launches; /* of every cell */
    bool weak;       /* batches are shown as rows per device */
    double started;  /* seconds on the monotonic clock */
    size_t finished_here;
};

/* done: cells that an earlier sitting has finished. The plan is used until the end. */
void progress_open(struct progress *progress, const struct plan_options *plan, size_t done);
void progress_begin(struct progress *progress, const struct cell_config *config);
void progress_cell(struct progress *progress, const struct record_cell *cell);
/* Leaves the rewritten line. */
void progress_close(struct progress *progress);

/* ---- its trace, a file that appears whole at its end: sweep/trace_file.c ---- */

struct trace_file {
    struct text_out out; /* without a file: there is no trace */
    size_t cells;        /* that it has */
    bool made;           /* it is closed, and there */
};

/* path "": opens nothing. Another file than a trace is not replaced. 0, or -1 and why. */
int trace_file_open(struct trace_file *trace, const char *path, struct text_error *err);
/* The line of one cell: measure/trace.h. */
void trace_file_add(struct trace_file *trace, const char *events);
/* 0, or -1 and why there is no such file, or still the old one. Of a trace that is not open: 0. */
int trace_file_close(struct trace_file *trace, struct text_error *err);
/* Gives it up, if it is open. */
void trace_file_discard(struct trace_file *trace);

/* ---- a command line of nccl-tests as options of a sweep: sweep/nccl_tests.c ---- */

enum { NCCL_OPTIONS_MOST = 8, NCCL_VALUE = 1024 };

/* Names and values of options of the plan. */
struct nccl_options {
    struct {
        const char *name;
        char value[NCCL_VALUE];
    } row[NCCL_OPTIONS_MOST];
    size_t n;
};

/* "all_reduce_perf -b 8 -e 128M -f 2 -g 8", with the program's path or without it. Sizes are
 * rounded up to what every rank has a block of, and nccl-tests' own where none are given; what else
 * is not given stays a sweep's own. 0, or -1 and why: what is asked for cannot be had here, or is
 * not known. */
int nccl_tests_options(const char *command, struct nccl_options *options, struct text_error *why);

#endif
