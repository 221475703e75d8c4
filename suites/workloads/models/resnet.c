/* resnet.c: 8 x 8 images: conv 1-32 3x3 stride 2 padding 1, relu, then twice x + relu(batch
 * norm(conv 32-32 3x3 padding 1 without bias)), linear 512-10. Integers up to the first batch norm.
 * Weights have either sign: then a batch norm's deviation is about as large as what it normalises.
 * A weight of a block is used in 16 places of a row, so sums over a large batch still have narrow
 * bounds. */
#include "descriptor.h"

static void add_block(struct workload_parts *parts)
{
    workload_add_conv(parts, 32, 32, 1, 1, false);
    workload_add_norm(parts, 32);
    workload_add_relu(parts);
    workload_skip_last(parts, 3);
}

static void add(struct workload_parts *parts, const struct workload *workload)
{
    (void)workload;
    workload_add_view(parts, 3, (const size_t[]){1, 8, 8});
    workload_add_conv(parts, 1, 32, 2, 1, true);
    workload_add_relu(parts);
    add_block(parts);
    add_block(parts);
    workload_add_view(parts, 0, NULL);
    workload_add_linear(parts, 512, 10);
}

const struct workload_descriptor workload_resnet = {
    .name = "resnet",
    .n_sizes = 2,
    .size = {64, 10},
    .add = add,
    .shards = true,
    .peer = true,
    .law = {{32 * 9, 3, 1, 1, false},
            {32, 1, 2, 1, false},
            {32 * 32 * 9, 32, 1, 1, false},
            {32, 1, 4, 0x1p-2, false},
            {32, 1, 4, 0x1p-2, false},
            {32 * 32 * 9, 32, 1, 1, false},
            {32, 1, 4, 0x1p-2, false},
            {32, 1, 4, 0x1p-2, false},
            {10 * 512, 4, 1, 1, false},
            {10, 1, 2, 1, false}},
    .probe = {{.every = 3, .unit = 0x1p-1},
              {.every = 1, .unit = 0x1p-4},
              {.every = 32, .unit = 0x1p-1},
              {.every = 1, .unit = 1},
              {.every = 1, .unit = 0x1p-2},
              {.every = 32, .unit = 0x1p-1},
              {.every = 1, .unit = 1},
              {.every = 1, .unit = 0x1p-2},
              {.every = 64, .unit = 0x1p-2},
              {.every = 1, .unit = 0x1p-4}},
    .products = 2 * 16 * 9 * 32 + 3 * (2 * 16 * 288 * 32 + 512 * 10),
    .lr = 0.02,
};
