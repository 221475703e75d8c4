/* capsnet.c: 8 x 8 images: conv 1-32 3x3, relu, conv 32-64 3x3 stride 2, as 32 capsules of 8; 10
 * capsules of 16 in 3 rounds, linear 160-10. Integers up to its capsules, then dyadic fractions, so
 * large that the rounds of its routing differ and so small that their bound stays small. */
#include "descriptor.h"

static void add(struct workload_parts *parts, const struct workload *workload)
{
    const struct dp_capsule_config config = {32, 10, 8, 16, 3};

    (void)workload;
    workload_add_view(parts, 3, (const size_t[]){1, 8, 8});
    workload_add_conv(parts, 1, 32, 1, 0, true);
    workload_add_relu(parts);
    workload_add_conv(parts, 32, 64, 2, 0, true);
    workload_add_view(parts, 2, (const size_t[]){32, 8});
    workload_add_capsule(parts, &config);
    workload_add_view(parts, 0, NULL);
    workload_add_linear(parts, 160, 10);
}

const struct workload_descriptor workload_capsnet = {
    .name = "capsnet",
    .n_sizes = 2,
    .size = {64, 10},
    .add = add,
    .law = {{32 * 9, 3, 1, 1, false},
            {32, 1, 2, 1, false},
            {64 * 288, 64, 1, 1, false},
            {64, 1, 2, 1, false},
            {32 * 10 * 16 * 8, 8, 4, 0x1p-8, false},
            {10 * 160, 1, 4, 0x1p-3, false},
            {10, 1, 2, 1, false}},
    .probe = {{.every = 4, .unit = 1},
              {.every = 1, .unit = 0x1p-4},
              {.every = 96, .unit = 0x1p-1},
              {.every = 1, .unit = 0x1p-1},
              {.every = 32, .unit = 0x1p-5},
              {.every = 16, .unit = 1},
              {.every = 1, .unit = 0x1p-4}},
    .products = 2 * 36 * 9 * 32 + 3 * (4 * 288 * 64 + 32 * 10 * 16 * 8 + 1600),
    .lr = 0.2,
};
