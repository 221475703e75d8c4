/* onednn.h: the parts of the program lockstep-core-onednn. */
#ifndef TEST_CORE_ONEDNN_H
#define TEST_CORE_ONEDNN_H

#include <stdbool.h>

struct dp_slot;

/* How many of so many convolutions it made, all right; -1: one was not, and it was said. */
int try_convolutions(struct dp_slot *slot, int *of);
/* Whether there were primitives and convolutions, none of which may round more than a sum in float
 * does; what is wrong was said. */
bool asked_strictly(void);

#endif
