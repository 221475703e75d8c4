/* verify/recurrent.h: what the references of rnn and lstm share: a cell over eight steps, the last
 * state to a linear layer. */
#ifndef HARNESS_VERIFY_RECURRENT_H
#define HARNESS_VERIFY_RECURRENT_H

#include "verify/sums.h"

enum { STEPS = 8, FEATURES = 8, HIDDEN = 128, MOST_GATES = 512 };

struct recurrent_cell;

/* One pattern's states; da are the gradients of the gates' sums. gate and c are lstm's. */
struct recurrent {
    const struct recurrent_cell *cell;
    struct bounded gate[STEPS][MOST_GATES], c[STEPS][HIDDEN], h[STEPS][HIDDEN];
    struct bounded da[STEPS][MOST_GATES];
};

struct recurrent_cell {
    size_t gates; /* of a step, all hidden units' */
    /* h[t] from x and what is before it. */
    void (*forward)(const struct reference_arrays *d, struct recurrent *m, const struct bounded *x,
                    int t);
    /* da of all steps, from dh of the last; dh is changed. */
    void (*backward)(const struct reference_arrays *d, struct recurrent *m,
                     struct bounded dh[HIDDEN]);
};

/* The sum of gate k's terms: W_ih x + W_hh h + b_ih + b_hh. */
struct bounded recurrent_sum(const struct reference_arrays *d, const struct recurrent *m,
                             const struct bounded *x, int t, size_t k);
int recurrent_fill(struct verify *v, const struct workload_set *set,
                   const struct recurrent_cell *cell, struct text_error *why);

#endif
