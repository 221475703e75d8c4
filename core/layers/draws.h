/* draws.h: the random numbers of dropout. They are a function of the layer's seed, the device, and
 * the number of draws so far in the run, so no state is shared. Internal to core/layers. */
#ifndef DP_DRAWS_H
#define DP_DRAWS_H

#include "../module.h"

struct dp_draws {
    double p; /* probability that an element becomes 0 */
    uint64_t seed;
};

/* Gives the key of the next draws on slot, in its memory, until the next reset of the run. */
int dp_draws_key(const struct dp_draws *draws, struct dp_run *run, struct dp_slot *slot,
                 const uint64_t **key, struct dp_error *err);
/* y = x with each element set to 0 or divided by 1 - p, as key says. y may be x. */
int dp_draws_drop(const struct dp_draws *draws, const uint64_t *key, const struct dp_tensor *x,
                  const struct dp_tensor *y, struct dp_error *err);

#endif
