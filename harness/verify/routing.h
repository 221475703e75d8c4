/* verify/routing.h: routing by agreement with bounds, of the capsules of the model capsnet (Sabour,
 * Frosst and Hinton, Dynamic Routing Between Capsules). */
#ifndef HARNESS_VERIFY_ROUTING_H
#define HARNESS_VERIFY_ROUTING_H

#include "verify/bounded.h"

enum { CAPSULES_IN = 32, CAPSULES_OUT = 10, CAPSULE_IN = 8, CAPSULE_OUT = 16, ROUNDS = 3 };

/* The numbers of one pattern. share: those of the last round. */
struct routing {
    struct bounded vote[CAPSULES_IN][CAPSULES_OUT][CAPSULE_OUT];
    struct bounded share[CAPSULES_IN][CAPSULES_OUT];
    struct bounded s[CAPSULES_OUT][CAPSULE_OUT], v[CAPSULES_OUT][CAPSULE_OUT];
};

/* Computes share, s and v from the votes. */
void routing_forward(struct routing *r);
/* Computes the gradient of s from that of v; the gradient of a vote is the gradient of s times its
 * share. */
void routing_backward(const struct routing *r, const struct bounded *dv,
                      struct bounded ds[CAPSULES_OUT][CAPSULE_OUT]);

#endif
