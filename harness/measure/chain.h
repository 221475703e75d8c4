/* measure/chain.h: chains of steps of a session, one behind the other, each with the parameters
 * that the one before left: how training runs, and how a machine works for long.
 *
 * A chain is first run step by step, with a digest of all that each step leaves; then it is timed
 * as a whole. In both, each device folds the bits of what a step leaves there into marks
 * (measure/marks.h), behind the step. A timed chain must have the same marks, and its last step the
 * same digest. So every value of every timed step is covered, also one that no later step depends
 * on.
 *
 * The verifier knows the first step alone: behind it numbers are rounded. So a chain begins with
 * the verified step, and the rest of it is compared with itself, run another way. */
#ifndef HARNESS_MEASURE_CHAIN_H
#define HARNESS_MEASURE_CHAIN_H

#include "measure/marks.h"

struct chain {
    struct session *session;
    size_t length;
    bool traced; /* phases are measured while it runs */
    struct marks marks;
    struct chain_set {
        float rate;      /* of learning; 0: not run step by step */
        uint64_t digest; /* of the last step */
        struct marks_digest marks;
    } set[WORKLOAD_SETS];
};

/* Plain data; the caller closes it in any case, before the session. */
int chain_open(struct chain *chain, struct session *session, size_t length, struct dp_error *err);
void chain_close(struct chain *chain);
/* Runs the chain of set k step by step, if it was not yet. Its first step must leave what the
 * verified one left. DP_EFAULT: it does not; or a step leaves numbers that are none, or what the
 * one before left. */
int chain_learn(struct chain *chain, int k, const struct session_verified *verified,
                struct dp_error *err);
/* Runs it without a stop. times: of all of it. 0, then chain_check. */
int chain_run(struct chain *chain, int k, struct session_times *times, struct dp_error *err);
/* Whether the chain that was just run gave what it gave step by step: DP_EFAULT and the first
 * difference. */
int chain_check(struct chain *chain, int k, struct dp_error *err);

#endif
