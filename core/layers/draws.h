/* draws.h: the random draws of dropout. Which ones a layer makes is a function of its seed, the
 * device and how many draws its run has made: nothing is shared. Internal to core/layers. */
#ifndef DP_DRAWS_H
#define DP_DRAWS_H

#include "../module.h"

struct dp_draws {
    double p; /* of an element to be 0 */
    uint64_t seed;
};

/* The key of the next draws on slot, in its memory until the run's next reset. */
int dp_draws_key(const struct dp_draws *draws, struct dp_run *run, struct dp_slot *slot,
                 const uint64_t **key, struct dp_error *err);
/* y = x with each element 0 or divided by 1 - p, as key says; y may be x. */
int dp_draws_drop(const struct dp_draws *draws, const uint64_t *key, const struct dp_tensor *x,
                  const struct dp_tensor *y, struct dp_error *err);

#endif
