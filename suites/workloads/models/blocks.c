/* blocks.c: linear 10-20, 20-20, 20-20, nothing between; the middle one is what is wrapped. */
#include "descriptor.h"

static void add(struct workload_parts *parts, const struct workload *workload)
{
    (void)workload;
    workload_add_linear(parts, 10, 20);
    workload_add_linear(parts, 20, 20);
    workload_wrap_last(parts);
    workload_add_linear(parts, 20, 20);
}

const struct workload_descriptor workload_blocks = {
    .name = "blocks",
    .n_sizes = 4,
    .size = {10, 20, 20, 20},
    .add = add,
    .chain = true,
    .straight = true,
    .inside = true,
    .exact = true,
    .wide_bits = 19,
    .lr = 0.1,
    .positions = 1,
};
