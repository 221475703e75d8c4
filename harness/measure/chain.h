/* measure/chain.h: chains of steps of a session, one after the other, each with the parameters that
 * the one before left. Training runs like that, and it shows how a machine works for a long time.
 *
 * A chain is first run step by step, with a digest of all results of each step; then it is timed as
 * a whole. In both, each device folds the bits of the results that a step has there into a digest
 * (measure/marks.h), after the step. A timed chain must have the same digests there, and its last
 * step the same digest. So every value of every timed step is covered, also one that no later step
 * depends on.
 *
 * The verifier knows the first step only: after it, numbers are rounded. So a chain begins with the
 * verified step, and the rest of it is compared with itself, run another way. */
#ifndef HARNESS_MEASURE_CHAIN_H
#define HARNESS_MEASURE_CHAIN_H

#include "measure/marks.h"

struct chain {
    struct session *session;
    size_t length;
    bool traced; /* phases are measured while it runs */
    struct marks marks;
    struct chain_set {
        double rate;     /* learning rate; 0: not run step by step */
        uint64_t digest; /* of the last step */
        struct marks_digest marks;
    } set[WORKLOAD_SETS];
};

/* It is plain data; the caller closes it in any case, before the session. */
int chain_open(struct chain *chain, struct session *session, size_t length, struct dp_error *err);
void chain_close(struct chain *chain);
/* Runs the chain of set k step by step, if that was not done yet. Its first step must have the
 * results of the verified one. DP_EFAULT: it does not; or a step has results that are no numbers,
 * or the same results as the step before. */
int chain_learn(struct chain *chain, int k, const struct session_verified *verified,
                struct dp_error *err);
/* Runs the chain without a stop. times: those of the whole chain. If it returns 0, call
 * chain_check. */
int chain_run(struct chain *chain, int k, struct session_times *times, struct dp_error *err);
/* Checks that the chain that was just run has the results that it had step by step. DP_EFAULT names
 * the first difference. */
int chain_check(struct chain *chain, int k, struct dp_error *err);

#endif
