/* faults.h: faults on purpose, requested by a device list. A fault is an operation that fails with
 * an error; a silent fault goes wrong without one. Internal to core/; a part of the seam,
 * backend.h. */
#ifndef DP_FAULTS_H
#define DP_FAULTS_H

#include "dp.h"

/* Operations of devices and communicators that can fail. */
enum dp_fault {
    DP_FAULT_ALLOC,
    DP_FAULT_LAUNCH,
    DP_FAULT_CALL,
    DP_FAULT_WAIT,
    DP_FAULT_FINISH,
    DP_FAULT_SYNC,
    DP_FAULT_MOVE,
    DP_FAULT_REDUCE,
    DP_FAULT_BROADCAST,
    DP_FAULT_ALLREDUCE,
    DP_FAULT_POLL,
    DP_FAULTS
};

/* Silent faults of a device. */
enum dp_silent_fault {
    DP_SILENT_FAULT_FLIP,   /* one bit of a result flips, once */
    DP_SILENT_FAULT_FLIPS,  /* three bits of one number flip, once */
    DP_SILENT_FAULT_ROW,    /* from then on a bit of 16 neighbours is always 1 */
    DP_SILENT_FAULT_NAN,    /* a result is NaN, once */
    DP_SILENT_FAULT_DROP,   /* its contribution to a reduction is missing, once */
    DP_SILENT_FAULT_DOUBLE, /* its contribution is added twice */
    DP_SILENT_FAULT_STALE,  /* its contribution is that of the step before */
    DP_SILENT_FAULT_SLOW,   /* from then on its launches take longer */
    DP_SILENT_FAULT_LINK,   /* from then on copies between it and the next device are slow */
    DP_SILENT_FAULT_DEAD,   /* from then on its launches fail */
    DP_SILENT_FAULT_HANG,   /* its next launch never ends */
    /* One copy from it to another device is wrong; step counts these copies. */
    DP_SILENT_FAULT_COPY_FLIP,  /* a bit flips */
    DP_SILENT_FAULT_COPY_ZERO,  /* zeros arrive */
    DP_SILENT_FAULT_COPY_DROP,  /* nothing arrives: the destination keeps what it had */
    DP_SILENT_FAULT_COPY_STALE, /* the bytes of the copy before arrive */
    DP_SILENT_FAULTS
};
struct dp_silent_fault_spec {
    enum dp_silent_fault silent_fault;
    uint64_t step;    /* step of ranks or of a DataParallel, from 1; 0: no fault */
    int device;       /* place in the list */
    unsigned percent; /* of slow faults; 0: the default */
    int to;           /* of faults of copies: the place of the other device */
};

/* faulty.c: wraps the slots and the communicator of an open group. One operation fails once: its
 * call number `at`, counted over all slots from dp_faults_arm on; 0: none. finish and sync do their
 * work and then fail; the others fail without doing anything. */
struct dp_faults;
const char *dp_fault_name(enum dp_fault fault);
int dp_faults_open(struct dp_group *group, enum dp_fault fault, struct dp_error *err);
void dp_faults_arm(struct dp_group *group, uint64_t at);
bool dp_faults_hit(const struct dp_group *group);

/* silent_fault.c: wraps the slots and the communicator of an open group whose devices run their
 * work at once. dp_silent_fault_step: a step begins. dp_silent_fault_result: the result of a
 * standalone collective, which is the only result of its step. dp_silent_fault_ended: as
 * dp_group_faulty. */
struct dp_silent_faults;
const char *dp_silent_fault_name(enum dp_silent_fault silent_fault);
bool dp_silent_fault_copies(enum dp_silent_fault silent_fault);
int dp_silent_fault_open(struct dp_group *group, const struct dp_silent_fault_spec *spec,
                         struct dp_error *err);
void dp_silent_fault_close(struct dp_group *group);
void dp_silent_fault_step(struct dp_group *group);
void dp_silent_fault_result(struct dp_group *group, void *const by_slot[], size_t bytes);
int dp_silent_fault_ended(const struct dp_group *group, struct dp_error *err);

#endif
