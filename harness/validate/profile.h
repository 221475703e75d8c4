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

#include "files/files.h"
#include "text/text.h"
#include "validate/metrics.h"

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
