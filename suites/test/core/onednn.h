/* onednn.h: the parts of the program lockstep-core-onednn. */
#ifndef TEST_CORE_ONEDNN_H
#define TEST_CORE_ONEDNN_H

struct dp_slot;

/* How many of so many convolutions it made, all right; -1: one was not, and it was said. */
int try_convolutions(struct dp_slot *slot, int *of);

#endif
