/* validate/measure.h: the cells that a profile needs to be judged, and their measurement. */
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
    size_t launches;                           /* of each cell, enough to judge all limits */
    uint64_t devices;                          /* the most that a cell has */
    const char *backend, *communicator, *math; /* of all cells; NULL: any */
    bool parts; /* parts of the machine are measured after the steps of each cell */
};

/* Finds the cells that limits name in full: workload, mode, devices and batch. A limit that leaves
 * one of these out is judged by the cells of other limits. Returns 0, or -1 and the reason: there
 * are none, or no single sweep has them all. */
int validate_need(const struct profile *profile, struct validate_need *need,
                  struct text_error *why);
/* Whether a limit is about the cell. */
bool validate_limit_has(const struct profile_limit *limit, const struct validate_cell *cell);
/* Whether a limit may be judged by steps in chains of that length; 0: single steps. Metrics that
 * are not about steps are the same after both. */
bool validate_limit_takes(const struct profile_limit *limit, uint64_t chain);
/* Whether it is about the cell of a record. */
bool validate_limit_is_at(const struct profile_limit *limit, const struct record_key *key);
struct validate_cell validate_cell_of(const struct record_key *key);
/* Whether both cells are the same. */
bool validate_is_cell(const struct validate_cell *a, const struct validate_cell *b);

struct validate_request {
    const char *devices; /* NULL: those that the profile is for, else one virtual device per core */
    const char *bind;    /* as for a sweep; NULL: its default */
    const char *out;     /* the file, which is created */
    const char *cases;   /* the file of `lockstep check`, if the profile requires it */
    double minutes;      /* 0: no limit */
    bool wait;           /* waits for cores that a sweep has */
};

/* conformance.c: runs the cases on those devices, for at most that many seconds. If they come to an
 * end, the file at path has their result in JSON. Returns 0, or an exit status after the complaint;
 * EXIT_INTERRUPTED after a signal. */
int validate_check(const char *command, const char *cases, const char *devices, double seconds,
                   const char *path);

/* Measures the cells, launch after launch of each cell, until all is done or the time is over; a
 * launch that is not finished then is dropped. It refuses a machine that the profile is not for
 * before it measures. Returns 0, or an exit status after the complaint; EXIT_INTERRUPTED after a
 * signal. */
int validate_measure(const char *command, const struct validate_request *request,
                     const struct profile *profile, const struct validate_need *need);

#endif
