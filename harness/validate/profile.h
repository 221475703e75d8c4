/* validate/profile.h: profiles: what a machine has to reach to be accepted, in YAML.
 *
 * A profile says which machines it is for, what a file of records has to have, and limits. A limit
 * is a metric at a place, with a bound and a unit, the statistic of a launch that is held against
 * it, and where the number is from. What a reader cannot check is refused: an unknown key, a number
 * without a unit, a limit without a source or a date. */
#ifndef HARNESS_PROFILE_H
#define HARNESS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/text.h"
#include "validate/metrics.h"

enum { PROFILE_LIMITS = 256, PROFILE_UNKNOWN = 64 };

/* Which machines: each that is given has to hold. NULL, 0: any. */
struct profile_match {
    char *machine_class; /* as records have it: SHA-256 of what a program's speed depends on */
    char *cpu_model, *gpu_model; /* as records have them */
    uint64_t gpus, cores;
};

/* What a file of records has to have. */
struct profile_requires {
    uint64_t launches; /* of each cell; 0: as many as a limit takes */
    char *conformance; /* cases that have to pass, as of `lockstep check --profile`; NULL: none */
};

/* Where a metric is taken: all cells with these. NULL, 0: any. */
struct profile_place {
    char *workload; /* as records have it: "mlp:256,256,256" */
    char *mode;     /* plain, dp, ddp */
    char *backend, *communicator, *math;
    uint64_t devices, batch;
    uint64_t chain;       /* of metrics of steps 0 is that each was timed by itself, not any */
    uint64_t host_inputs; /* 1: of steps that carry their batch from the host; 0: not any */
    char *bytes;          /* "16 GiB": of what is copied or reduced */
};

struct profile_limit {
    /* As the file has it. */
    char *metric, *statistic, *min, *max;
    char *expected; /* what a machine that is all right shows; NULL: not known */
    char *peak;     /* what the hardware cannot exceed; NULL: not known */
    char *sibling;  /* the best that the class of machine below can show; NULL: not known */
    char *kind;     /* binding: decides; advisory: is printed */
    char *source, *date, *evidence;
    struct profile_place at;
    /* What that means. */
    int line; /* of the file, where the limit begins */
    const struct validate_metric *row;
    enum validate_statistic by;
    bool binding;
    double least, most; /* base units; -inf, +inf: no such bound */
    double healthy;     /* expected; NaN: not known */
    double peak_at;     /* peak; NaN: not known */
    double sibling_at;  /* sibling; NaN: not known */
    double at_bytes;    /* of its place; NaN: it names none */
};

struct profile {
    char *schema, *name, *about;
    struct profile_match match;
    struct profile_requires requires;
    struct profile_limit *limit;
    unsigned n_limits;
    char **unknown; /* what has no number, and why: so that nobody takes it for forgotten */
    unsigned n_unknown;
};

#define PROFILE_SCHEMA "lockstep/profile/1.0"

/* Reads a profile and refuses what is wrong with it: "FILE:LINE: why". 0, then the caller frees it;
 * or -1. */
int profile_read(const char *path, struct profile **profile, struct text_error *why);
void profile_free(struct profile *profile);

/* Finds a file, or a shipped profile by its name: path. 0, or -1 after the complaint. */
enum { PROFILE_PATH = 1024 };
int profile_find(const char *command, const char *name, char path[PROFILE_PATH]);
extern const struct shipped profile_shipped;

/* "max 4.1 ms" */
void profile_bound_words(const struct profile_limit *limit, char text[96]);

#endif
