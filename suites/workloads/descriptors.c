/* descriptors.c: the descriptors of all workloads except gpt (gpt.c). Data are whole numbers where
 * all sums are exact in float, else dyadic fractions, which are so small that a bound on their
 * rounding stays narrow. */
#include "descriptor.h"

/* The model of PyTorch's data-parallel tutorial: one linear layer. */
static void add_tutorial(struct workload_parts *parts, const struct workload *workload)
{
    workload_add_linear(parts, workload->size[0], workload->size[1]);
}

const struct workload_descriptor workload_tutorial = {
    .name = "tutorial",
    .n_sizes = 2,
    .size = {5, 2},
    .add = add_tutorial,
    .chain = true,
    .peer = true,
    .exact = true,
    .wide_bits = 19,
    .lr = 0.1,
    .positions = 1,
};

/* Linear layers with bias, ReLU between them; their widths follow the name. */
static void add_mlp(struct workload_parts *parts, const struct workload *workload)
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
    .add = add_mlp,
    .chain = true,
    .peer = true,
    .exact = true,
    .wide_bits = 19,
    .lr = 0.1,
    .positions = 1,
};

/* Linear 10-20, 20-20, 20-20, nothing between; the middle one is what is wrapped. */
static void add_blocks(struct workload_parts *parts, const struct workload *workload)
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
    .add = add_blocks,
    .chain = true,
    .straight = true,
    .inside = true,
    .exact = true,
    .wide_bits = 19,
    .lr = 0.1,
    .positions = 1,
};

/* Embedding(1000, 10) on the host, moved, linear 10-10 on the devices, which is wrapped. Small
 * integers, but for the wide rows of its table. */
static void add_mixed(struct workload_parts *parts, const struct workload *workload)
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
    .add = add_mixed,
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

/* 8 x 8 images: conv 1-32 3x3 padding 1, relu, conv 32-64 the same, relu, max-pool 2, linear
 * 1024-10. Small integers, most of them 0, so that all sums are exact in float. */
static void add_cnn(struct workload_parts *parts, const struct workload *workload)
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
    .add = add_cnn,
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

/* 8 steps of 8 features, 128 hidden units, the last step's to linear 128-10. Dyadic fractions; the
 * recurrent ones are few, because a gradient that goes back through sums of many small terms of
 * either sign is soon less than the bound on their rounding. */
static void add_rnn(struct workload_parts *parts, const struct workload *workload)
{
    (void)workload;
    workload_add_recurrent(parts, false);
}

const struct workload_descriptor workload_rnn = {
    .name = "rnn",
    .n_sizes = 2,
    .size = {64, 10},
    .add = add_rnn,
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

/* 8 steps of 8 features, 128 hidden units, the last step's to linear 128-10. Dyadic fractions, the
 * recurrent ones small, so that a bound on the rounding of eight steps stays small. */
static void add_lstm(struct workload_parts *parts, const struct workload *workload)
{
    (void)workload;
    workload_add_recurrent(parts, true);
}

const struct workload_descriptor workload_lstm = {
    .name = "lstm",
    .n_sizes = 2,
    .size = {64, 10},
    .add = add_lstm,
    .peer = true,
    .law = {{512 * 8, 1, 4, 0x1p-4, false},
            {512 * 128, 1, 8, 0x1p-9, false},
            {512, 1, 4, 0x1p-3, false},
            {512, 1, 4, 0x1p-3, false},
            {10 * 128, 1, 4, 0x1p-3, false},
            {10, 1, 2, 1, false}},
    .probe = {{.every = 2, .unit = 0x1p-1},
              {.every = 64, .unit = 0x1p-2},
              {.every = 1, .unit = 0x1p-4},
              {.every = 1, .unit = 0x1p-4},
              {.every = 16, .unit = 1},
              {.every = 1, .unit = 0x1p-4}},
    .products = 4 * (2 * 8 * 8 * 128 + 3 * 7 * 128 * 128) + 3 * 128 * 10,
    .lr = 0.2,
};

/* 8 x 8 images: conv 1-32 3x3, relu, conv 32-64 3x3 stride 2, as 32 capsules of 8; 10 capsules of
 * 16 in 3 rounds, linear 160-10. Integers up to its capsules, then dyadic fractions, so large that
 * the rounds of its routing differ and so small that their bound stays small. */
static void add_capsnet(struct workload_parts *parts, const struct workload *workload)
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
    .add = add_capsnet,
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

/* 8 x 8 images: conv 1-32 3x3 stride 2 padding 1, relu, then twice x + relu(batch norm(conv 32-32
 * 3x3 padding 1 without bias)), linear 512-10. Integers up to the first batch norm. Weights have
 * either sign: then a batch norm's deviation is about as large as what it normalises. A weight of a
 * block is used in 16 places of a row, so sums over a large batch still have narrow bounds. */
static void add_block(struct workload_parts *parts)
{
    workload_add_conv(parts, 32, 32, 1, 1, false);
    workload_add_norm(parts, 32);
    workload_add_relu(parts);
    workload_skip_last(parts, 3);
}

static void add_resnet(struct workload_parts *parts, const struct workload *workload)
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
    .add = add_resnet,
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
