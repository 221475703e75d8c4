/* validate/measure.h: what a profile needs to be judged, and its measurement. */
#ifndef HARNESS_VALIDATE_MEASURE_H
#define HARNESS_VALIDATE_MEASURE_H

#include "plan/plan.h"
#include "validate/profile.h"

/* A cell that limits are about. */
struct validate_cell {
    const char *workload, *mode;
    uint64_t devices, batch, chain, host_inputs;
};

struct validate_need {
    struct validate_cell cell[2 * PROFILE_LIMITS]; /* each once; a ratio needs its base, too */
    size_t n;
    size_t launches;                           /* of each cell, that all limits can be judged */
    uint64_t devices;                          /* the most of a cell */
    const char *backend, *communicator, *math; /* of all cells; NULL: any */
    bool parts;                                /* of the machine, behind the steps of each cell */
};

/* The cells that limits name in full: workload, mode, devices and batch. A limit that leaves one
 * out is judged by the cells of others. 0, or -1 and why: there are none, or no single sweep has
 * them all. */
int validate_need(const struct profile *profile, struct validate_need *need,
                  struct text_error *why);
/* Whether a limit is about the cell. */
bool validate_limit_has(const struct profile_limit *limit, const struct validate_cell *cell);
/* Whether a limit may be held against steps in such chains; 0: each by itself. What is not of steps
 * is the same behind both. */
bool validate_limit_takes(const struct profile_limit *limit, uint64_t chain);
/* Whether both are the same. */
bool validate_is_cell(const struct validate_cell *a, const struct validate_cell *b);

struct validate_request {
    const char *devices; /* NULL: what the profile is for, else one virtual device per core */
    const char *bind;    /* as of a sweep; NULL: its default */
    const char *out;     /* the file; it is made */
    const char *cases;   /* the file of `lockstep check`, if the profile requires it */
    double minutes;      /* 0: as long as it takes */
    bool wait;           /* for cores that a sweep has */
};

/* conformance.c: runs the cases on those devices, for at most so long, and path is their result in
 * JSON, if they came to an end. 0, or an exit status after the complaint; EXIT_INTERRUPTED after a
 * signal. */
int validate_check(const char *command, const char *cases, const char *devices, double seconds,
                   const char *path);

/* Measures it, launch after launch of each cell, until all is done or the time is over; then no
 * launch is kept that was under way. Refuses a machine that the profile is not for before it
 * measures. 0, or an exit status after the complaint; EXIT_INTERRUPTED after a signal. */
int validate_measure(const char *command, const struct validate_request *request,
                     const struct profile *profile, const struct validate_need *need);

#endif
