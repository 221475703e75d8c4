/* draws.c: the keys of dropout, and the dropout by a key. */
#include "layer.h"

static uint64_t draws_mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t next_key(const struct dp_draws *l, struct dp_run *run, const struct dp_slot *slot)
{
    const int rank = dp_is_host(slot) ? -1 : slot->group->first + slot->info.index;
    const uint64_t device = (uint64_t)rank + 1u; /* the host has 0 */
    return draws_mix(draws_mix(draws_mix(l->seed) ^ device) ^ run->draws++);
}

/* The key is stored in memory of the slot before the launches of the step, so that these are the
 * same in every step. */
int dp_draws_key(const struct dp_draws *l, struct dp_run *run, struct dp_slot *slot,
                 const uint64_t **key, struct dp_error *err)
{
    struct dp_tensor place;
    const int status = dp_run_tensor(run, slot, DP_I64, 0, NULL, &place, err);
    if (status)
        return status;
    const struct dp_store args = {place.data, next_key(l, run, slot)};
    *key = place.data;
    return dp_launch_ahead(&slot->compute, DP_KERNEL_STORE, &args, sizeof args, err);
}

int dp_draws_drop(const struct dp_draws *l, const uint64_t *key, const struct dp_tensor *x,
                  const struct dp_tensor *y, struct dp_error *err)
{
    const struct dp_dropout_args args = {.y = y->data,
                                         .x = x->data,
                                         .n = dp_tensor_count(x),
                                         .key = key,
                                         .limit = (uint64_t)((1.0 - l->p) * 4294967296.0),
                                         .scale = l->p < 1.0 ? (float)(1.0 / (1.0 - l->p)) : 0.0f};
    return dp_launch(&x->slot->compute, DP_KERNEL_DROPOUT, &args, sizeof args, err);
}
