/* rnn.c: 8 steps of 8 features, 128 hidden units, the last step's to linear 128-10. Dyadic
 * fractions; the recurrent ones are few, because a gradient that goes back through sums of many
 * small terms of either sign is soon less than the bound on their rounding. */
#include "descriptor.h"

static void add(struct workload_parts *parts, const struct workload *workload)
{
    (void)workload;
    workload_add_recurrent(parts, false);
}

const struct workload_descriptor workload_rnn = {
    .name = "rnn",
    .n_sizes = 2,
    .size = {64, 10},
    .add = add,
    .law = {{128 * 8, 1, 4, 0x1p-4, false},
            {128 * 128, 64, 4, 0x1p-2, false},
            {128, 1, 4, 0x1p-3, false},
            {128, 1, 4, 0x1p-3, false},
            {10 * 128, 1, 4, 0x1p-3, false},
            {10, 1, 2, 1, false}},
    .probe = {{.every = 2, .unit = 0x1p-1},
              {.every = 64, .unit = 0x1p-2},
              {.every = 1, .unit = 0x1p-4},
              {.every = 1, .unit = 0x1p-4},
              {.every = 16, .unit = 1},
              {.every = 1, .unit = 0x1p-4}},
    .products = 2 * 8 * 8 * 128 + 3 * (7 * 128 * 128 + 128 * 10),
    .lr = 0.02,
};
