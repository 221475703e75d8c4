/* mixed.c: embedding(1000, 10) on the host, moved, linear 10-10 on the devices, which is wrapped.
 * Small integers, but for the wide rows of its table. */
#include "descriptor.h"

static void add(struct workload_parts *parts, const struct workload *workload)
{
    (void)workload;
    workload_add_table(parts, WORKLOAD_TABLE, 10);
    workload_add_move(parts);
    workload_add_linear(parts, 10, 10);
    workload_wrap_last(parts);
}

const struct workload_descriptor workload_mixed = {
    .name = "mixed",
    .n_sizes = 2,
    .size = {1, 10},
    .add = add,
    .table = true,
    .inside = true,
    .law = {{WORKLOAD_TABLE * 10, 1, 3, 1, false}, {10 * 10, 1, 2, 1, false}, {10, 1, 2, 1, false}},
    .probe = {{.every = 1, .unit = 1}, {.every = 2, .unit = 1}, {.every = 1, .unit = 0x1p-4}},
    .products = 3 * 100,
    .exact = true,
    .wide_bits = 17,
    .growth = {4, 1},
    .lr = 0.1,
    .positions = 1,
};
