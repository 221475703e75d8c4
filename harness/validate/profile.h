/* validate/profile.h: profiles, in YAML: the values that a machine has to reach to be accepted.
 *
 * A profile names the machines that it is for, the contents that a file of records has to have, and
 * limits. A limit is a metric at a place, with a bound and a unit, the statistic of a launch that
 * is compared with it, and the source of the number. Input that cannot be checked is refused: an
 * unknown key, a number without a unit, a limit without a source or a date. */
#ifndef HARNESS_PROFILE_H
#define HARNESS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "files/files.h"
#include "text/quantity.h"
#include "text/text.h"

/* ---- the metrics that a limit can be about, a table row each: the unit, which direction is
 * better, and how the value of a launch is found: validate/metrics.c ---- */

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

/* ---- a profile ---- */

enum { PROFILE_LIMITS = 256, PROFILE_UNKNOWN = 64, PROFILE_SESSIONS = 4096 };

/* The machines that it is for: each member that is given must match. NULL, 0: any. */
struct profile_match {
    const char *machine_class; /* as records have it: SHA-256 of what sets the speed of programs */
    const char *cpu_model, *gpu_model; /* as records have them */
    uint64_t gpus, cores;
};

/* The contents that a file of records must have. */
struct profile_requires {
    uint64_t launches; /* of each cell; 0: as many as a limit needs */
    const char
        *conformance; /* cases that have to pass, as of `lockstep check --profile`; NULL: none */
};

/* The place of a metric: all cells with these values. NULL, 0: any. */
struct profile_place {
    const char *workload; /* as records have it: "mlp:256,256,256" */
    const char *mode;     /* plain, dp, ddp */
    const char *backend, *communicator, *math;
    uint64_t devices, batch;
    uint64_t chain;       /* for metrics of steps, 0 means single steps, not any */
    uint64_t host_inputs; /* 1: steps that copy their batch from the host; 0: others, not any */
    const char *bytes;    /* size of a copy or reduction, as "16 GiB" */
};

struct profile_limit {
    /* These are the texts of the file. */
    const char *metric, *statistic, *min, *max;
    const char *expected; /* value of a machine that works well; NULL: not known */
    const char *peak;     /* value that the hardware cannot exceed; NULL: not known */
    const char *sibling;  /* the best that the class of machine below can show; NULL: not known */
    const char *kind;     /* binding: it decides; advisory: it is printed */
    const char *source, *date, *evidence;
    struct profile_place at;
    /* These are the meanings of the texts. */
    int line; /* of the file, where the limit begins */
    const struct validate_metric *row;
    enum validate_statistic by;
    bool binding;
    double least, most; /* bounds in base units; -inf, +inf: no such bound */
    double healthy;     /* value of expected; NaN: not known */
    double peak_at;     /* value of peak; NaN: not known */
    double sibling_at;  /* value of sibling; NaN: not known */
    double at_bytes;    /* bytes of its place; NaN: it names none */
};

struct profile {
    char *schema, *name, *about;
    char sha256[DIGEST_HEX]; /* of the bytes of its file */
    struct profile_match match;
    struct profile_requires requires;
    struct profile_limit *limit;
    unsigned n_limits;
    char **unknown; /* metrics without a number, with reasons: not forgotten ones */
    unsigned n_unknown;
    char **learned_from; /* the runs that its limits follow from: these accept no machine by it */
    unsigned n_learned_from;
    char *not_shown; /* why no machine may be accepted by it; NULL: it may */
};

#define PROFILE_SCHEMA "lockstep/profile/1.0"

/* Reads a profile, and refuses one with an error: "FILE:LINE: why". Returns 0, then the caller
 * frees it; or -1. */
int profile_read(const char *path, struct profile **profile, struct text_error *why);
void profile_free(struct profile *profile);

/* Finds a file, or a shipped profile by its name, and gives its path. Returns 0, or -1 after the
 * complaint. */
enum { PROFILE_PATH = 1024 };
int profile_find(const char *command, const char *name, char path[PROFILE_PATH]);
extern const struct shipped profile_shipped;

/* Writes the bound, as "max 4.1 ms". */
void profile_bound_words(const struct profile_limit *limit, char text[96]);
/* Whether a binding limit is on a time or a rate. Without one a slow machine passes. */
bool profile_judges_speed(const struct profile *profile);

#endif
