/* tutorial.c: the model of PyTorch's data-parallel tutorial: one linear layer. */
#include "descriptor.h"

static void add(struct workload_parts *parts, const struct workload *workload)
{
    workload_add_linear(parts, workload->size[0], workload->size[1]);
}

const struct workload_descriptor workload_tutorial = {
    .name = "tutorial",
    .n_sizes = 2,
    .size = {5, 2},
    .add = add,
    .chain = true,
    .peer = true,
    .exact = true,
    .wide_bits = 19,
    .lr = 0.1,
    .positions = 1,
};
