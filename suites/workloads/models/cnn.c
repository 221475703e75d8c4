/* cnn.c: 8 x 8 images: conv 1-32 3x3 padding 1, relu, conv 32-64 the same, relu, max-pool 2, linear
 * 1024-10. Small integers, most of them 0, so that all sums are exact in float. */
#include "descriptor.h"

static void add(struct workload_parts *parts, const struct workload *workload)
{
    (void)workload;
    workload_add_view(parts, 3, (const size_t[]){1, 8, 8});
    workload_add_conv(parts, 1, 32, 1, 1, true);
    workload_add_relu(parts);
    workload_add_conv(parts, 32, 64, 1, 1, true);
    workload_add_relu(parts);
    workload_add_pool(parts);
    workload_add_view(parts, 0, NULL);
    workload_add_linear(parts, 1024, 10);
}

const struct workload_descriptor workload_cnn = {
    .name = "cnn",
    .n_sizes = 2,
    .size = {64, 10},
    .add = add,
    .peer = true,
    .law = {{32 * 9, 3, 1, 1, false},
            {32, 1, 2, 1, false},
            {64 * 288, 64, 1, 1, false},
            {64, 1, 2, 1, false},
            {10 * 1024, 4, 1, 1, false},
            {10, 1, 2, 1, false}},
    .probe = {{.every = 3, .unit = 0x1p-1},
              {.every = 1, .unit = 0x1p-4},
              {.every = 64, .unit = 0x1p-1},
              {.every = 1, .unit = 0x1p-4},
              {.every = 64, .unit = 0x1p-2},
              {.every = 1, .unit = 0x1p-4}},
    .products = 2 * 64 * 9 * 32 + 3 * (64 * 288 * 64 + 1024 * 10),
    .exact = true,
    .wide_bits = 14,
    .growth = {40, 1},
    .lr = 0.1,
    .positions = 64,
};
