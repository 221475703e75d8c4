/* verify/recurrent.h: the part that the references of rnn and lstm share: a cell over eight steps,
 * whose last state goes to a linear layer. */
#ifndef HARNESS_VERIFY_RECURRENT_H
#define HARNESS_VERIFY_RECURRENT_H

#include "verify/sums.h"

enum { STEPS = 8, FEATURES = 8, HIDDEN = 128, MOST_GATES = 512 };

/* The states of one pattern; da are the gradients of the sums of the gates. Only lstm uses gate and
 * c. */
struct recurrent {
    struct bounded gate[STEPS][MOST_GATES], c[STEPS][HIDDEN], h[STEPS][HIDDEN];
    struct bounded da[STEPS][MOST_GATES];
};

struct recurrent_cell {
    size_t gates; /* gates of a step, for all hidden units together */
    /* Computes h[t] from x and the state before it. */
    void (*forward)(const struct reference_arrays *d, struct recurrent *m, const struct bounded *x,
                    int t);
    /* Computes da of all steps from dh of the last one; it changes dh. */
    void (*backward)(const struct reference_arrays *d, struct recurrent *m,
                     struct bounded dh[HIDDEN]);
};

/* The sum of gate k: W_ih x + W_hh h + b_ih + b_hh. */
struct bounded recurrent_sum(const struct reference_arrays *d, const struct recurrent *m,
                             const struct bounded *x, int t, size_t k);
/* The pattern of both workloads: their context is the cell. */
void recurrent_pattern(void *model, struct verify_sums *s, size_t r);

#endif
