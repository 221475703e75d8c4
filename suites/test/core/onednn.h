/* onednn.h: the parts of the program lockstep-core-onednn. */
#ifndef TEST_CORE_ONEDNN_H
#define TEST_CORE_ONEDNN_H

#include <stdbool.h>

struct dp_slot;

/* Returns how many convolutions oneDNN made, all right, and in *of how many were tried; -1: one was
 * wrong, and was printed. */
int try_convolutions(struct dp_slot *slot, int *of);
/* Returns whether there were primitives and convolutions, none of which may round more than a sum
 * in float does; errors were printed. */
bool asked_strictly(void);

#endif
