/* faults.h: what goes wrong on purpose, because a device list says so: with an error, or without.
 * Internal to core/; a part of the seam, backend.h. */
#ifndef DP_FAULTS_H
#define DP_FAULTS_H

#include "dp.h"

/* Operations of devices and communicators that may fail. */
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

/* What a device does wrong without an error. */
enum dp_harm {
    DP_HARM_FLIP,   /* a bit of a result, once */
    DP_HARM_FLIPS,  /* three bits of one number */
    DP_HARM_ROW,    /* from then on a bit of 16 neighbours is always 1 */
    DP_HARM_NAN,    /* a result is NaN, once */
    DP_HARM_DROP,   /* its part of a reduction is missing, once */
    DP_HARM_DOUBLE, /* is there twice */
    DP_HARM_STALE,  /* is that of the step before */
    DP_HARM_SLOW,   /* from then on its launches take longer */
    DP_HARM_LINK,   /* from then on copies between it and the next device do, both ways */
    DP_HARM_DEAD,   /* from then on they fail */
    DP_HARM_HANG,   /* the next one never ends */
    DP_HARMS
};
struct dp_harm_spec {
    enum dp_harm harm;
    uint64_t step;    /* of ranks or of a DataParallel, from 1 on; 0: none */
    int device;       /* its place in the list */
    unsigned percent; /* of DP_HARM_SLOW and DP_HARM_LINK; 0: the default */
};

/* faulty.c: wraps the slots and the communicator of an open group. One operation fails, once: call
 * number `at` of it from dp_faults_arm on, over all slots; 0: none. finish and sync fail when they
 * are done, the others do nothing. */
struct dp_faults;
const char *dp_fault_name(enum dp_fault fault);
int dp_faults_open(struct dp_group *group, enum dp_fault fault, struct dp_error *err);
void dp_faults_arm(struct dp_group *group, uint64_t at);
bool dp_faults_hit(const struct dp_group *group);

/* harm.c: wraps the slots and the communicator of an open group of devices that run their work at
 * once. dp_harm_step: a step begins. dp_harm_result: what a collective by itself has left, which is
 * all that its step computes. dp_harm_ended: as dp_group_faulty. */
struct dp_harmed;
const char *dp_harm_name(enum dp_harm harm);
int dp_harm_open(struct dp_group *group, const struct dp_harm_spec *spec, struct dp_error *err);
void dp_harm_close(struct dp_group *group);
void dp_harm_step(struct dp_group *group);
void dp_harm_result(struct dp_group *group, void *const by_slot[], size_t bytes);
int dp_harm_ended(const struct dp_group *group, struct dp_error *err);

#endif
