/* sweep/sweep.h: the options of a sweep, the devices that they name, and its launches. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "files/files.h"
#include "plan/cell.h"
#include "plan/plan.h"
#include "record/record.h"

struct sweep_options {
    struct plan_options plan;
    char out[512];                                           /* "": a new file in results/local */
    char trace[512];                                         /* "": no trace */
    char launcher[sizeof((struct record_run *)0)->launcher]; /* "": none */
    size_t format; /* format of the numbers that it prints; REPORT_FORMATS: none */
    bool resume;
    bool wait;       /* waits for cores that another sweep has */
    bool verbose;    /* says where the time went */
    bool strict;     /* an answer that is not certain is a failure */
    double timeout;  /* seconds per launch */
    size_t required; /* devices */
};

/* Runs the subcommand; argv[0] is "lockstep sweep". Returns an exit status. */
int sweep_main(int argc, char **argv);
/* The same of "lockstep sweep limits": sweep/limits.c. */
int sweep_limits_main(int argc, char **argv);

/* Parses the options. Devices, backend, warm-up and time-out get defaults if they were not given;
 * other options stay empty. Returns 0 or an exit status. */
int sweep_parse(int argc, char **argv, struct sweep_options *options);

/* Fills the part of the header about the devices and the machine. Returns 0, or an exit status
 * after a message. */
int sweep_devices(const char *command, const struct sweep_options *options, struct record_run *run);

/* ---- what it ends with: sweep/result.c ---- */

/* Prints what the records of a file at path say: a line for each setting of collectives; with
 * --verbose where the time went; how much faster several devices are than one, how sure that is,
 * and the command that reports more. */
void sweep_result(FILE *to, const struct report *report, const char *path,
                  const struct sweep_options *options);

/* ---- locks of cores: sweep/core_locks.c ---- */

/* A lock on each processing unit that devices are bound to, for as long as they are measured: two
 * measurements on one core would disturb each other.
 *
 * A lock is a flock on /run/lock/lockstep-core-N, or on /tmp/lockstep-core-N if that one cannot be
 * opened. It ends with the process, however that ends. The files stay: if a process removed one
 * that another process has just opened, the two could each lock a different file. */
struct core_locks {
    int *fd; /* NULL: none */
    int n;
    bool waited;            /* waited for another process */
    struct text_error note; /* for the record: another folder, no lock; "": nothing to note */
};

/* Locks the cores of the bound slots of a run, in ascending order, so that of two sweeps that wait
 * for each other one goes on. If another process has a core, it waits until that process ends, with
 * a line on stderr, or else refuses with one. If there can be no locks, it goes on without them,
 * and notes it. root is "", or a folder that has another /run/lock and /tmp. Returns 0 or an exit
 * status, EXIT_INTERRUPTED after a signal. The caller fills locks with zeros before, and releases
 * them in any case. */
int core_locks_take(const char *root, const char *command, const struct record_run *run, bool wait,
                    struct core_locks *locks);
void core_locks_release(struct core_locks *locks);

/* ---- a launch, which is a separate process: sweep/launch_cell.c ---- */

/* Makes one launch by `PROGRAM cell` (NULL: by this program), and fills its record in any case:
 * with the record that the worker sent, or with how it ended. Returns 0; or 1 if a stop was
 * requested first (the worker was killed, there is no record). Frees nothing. *trace: gets the line
 * that the worker sent before its record (measure/trace.c), NULL if there is none; the caller frees
 * it. trace NULL: no trace is asked for. */
int launch_cell(const char *program, const struct cell_config *config, double timeout_seconds,
                struct record_cell *cell, char **trace);

/* The same of several processes, which a launcher starts. The record is the one that the first
 * process sent, if all processes have begun and have ended well, and the launcher, too. Else it
 * names the process that has not. */
int launched_cell(const char *launcher, const struct cell_config *config, double timeout_seconds,
                  struct record_cell *cell);

/* ---- what a person sees of it on stderr: sweep/progress.c ---- */

struct progress {
    size_t disturbed;  /* launches of this session that were disturbed */
    bool terminal;     /* one line that is rewritten, with time left; else a line per launch */
    size_t name_width; /* room for the names of workloads, in all lines */
    bool numbered;     /* names that are too long end with their number in the plan */
    const struct plan_options *plan;
    size_t done, total;
    double started; /* seconds on the monotonic clock */
    size_t finished_here;
};

/* cell: those of the plan. done: the number of launches that earlier sessions have finished. The
 * plan must stay until the end. */
void progress_open(struct progress *progress, const struct plan_options *plan,
                   const struct cell_config cell[], size_t done);
void progress_begin(struct progress *progress, const struct cell_config *config);
void progress_cell(struct progress *progress, const struct record_cell *cell);
/* Ends the rewritten line. */
void progress_close(struct progress *progress);

/* ---- its trace, a file that appears whole at its end: sweep/trace_file.c ---- */

struct trace_file {
    struct text_out out; /* without a file: there is no trace */
    size_t launches;     /* number of launches in it */
    bool made;           /* it is closed, and the file exists */
};

/* Opens a trace; path "": opens nothing. A file that is no trace is not replaced. Returns 0, or -1
 * and the reason. */
int trace_file_open(struct trace_file *trace, const char *path, struct text_error *err);
/* Adds the line of one launch (measure/trace.c). */
void trace_file_add(struct trace_file *trace, const char *events);
/* Closes a trace. Returns 0, or -1 and the reason why there is no new file. If the trace is not
 * open, it returns 0. */
int trace_file_close(struct trace_file *trace, struct text_error *err);
/* Drops the trace, if it is open. */
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

/* Translates a command line like "all_reduce_perf -b 8 -e 128M -f 2 -g 8", with the path of the
 * program or without it. Sizes are rounded up so that every rank has a whole block; if none are
 * given, those of nccl-tests are taken. Other values that are not given keep the defaults of a
 * sweep. Returns 0, or -1 and the reason: an option is not supported here, or unknown. */
int nccl_tests_options(const char *command, struct nccl_options *options, struct text_error *why);

#endif
