/* mlp.c: linear layers with bias, ReLU between them; their widths follow the name. */
#include "descriptor.h"

static void add(struct workload_parts *parts, const struct workload *workload)
{
    const size_t layers = workload_layers(workload);

    for (size_t l = 0; l < layers; ++l) {
        workload_add_linear(parts, workload->size[l], workload->size[l + 1]);
        if (l + 1 < layers)
            workload_add_relu(parts);
    }
}

const struct workload_descriptor workload_mlp = {
    .name = "mlp",
    .add = add,
    .chain = true,
    .peer = true,
    .exact = true,
    .wide_bits = 19,
    .lr = 0.1,
    .positions = 1,
};
