/* primitives.c: scatter with help, gradients that a gathered tensor wants, and broadcasts of
 * tensors that are adjacent in memory. */
#include "list.h"

/* There are so many bytes that the replicas without rows help the others: every byte arrives once,
 * with any number of helpers, from any place, and also in a transfer that cannot be cut. */
static void helped(struct context *c)
{
    enum { height = 7, wide = 1501 };
    static const size_t sizes[][4] = {{0, 3, 0, 4}, {0, 0, 0, 7}, {7, 0, 0, 0},
                                      {0, 7, 0, 0}, {1, 0, 6, 0}, {2, 0, 1, 4}};
    for (size_t i = 0; i < 12 * (sizeof sizes / sizeof sizes[0]); ++i) {
        case_release(c);
        const size_t *size = sizes[i / 12];
        const int source = (int)(i % 4), dim = (int)(i % 3 == 1);
        case_note(c, "sizes %zu,%zu,%zu,%zu dim=%d source=%d", size[0], size[1], size[2], size[3],
                  dim, source);
        struct dp_group *group = open_group(c, 4);
        struct dp_slot **slots = slot_list(c, group, (int[]){2, 0, 3, 1}, 4);
        struct dp_slot *from = source < 3 ? dp_group_slot(group, source) : dp_group_host(group);
        const size_t high = dim == 0 ? height : wide, across = dim == 0 ? wide : height;
        const struct dp_tensor x =
            make_matrix(c, from, high, across, sequence(c, (size_t)height * wide, 1.0, 1.0));
        struct dp_tensor shards[4];
        int n = -1;
        expect_ok(c, dp_scatter(open_run(c, group), &x, slots, 4, dim, size, shards, &n, &c->err),
                  "dp_scatter");
        expect(c, n == 4, "%d shards", n);
        size_t first = 0;
        for (int s = 0; s < 4; ++s) {
            double *want = case_memory(c, (size_t)height * wide * sizeof *want);
            const size_t shard_rows = dim == 0 ? size[s] : wide;
            const size_t columns = dim == 0 ? wide : size[s];
            for (size_t e = 0; e < shard_rows * columns; ++e) {
                const size_t row = e / columns + (dim == 0 ? first : 0);
                const size_t column = e % columns + (dim == 0 ? 0 : first);
                want[e] = 1.0 + (double)(row * across + column);
            }
            expect_matrix(c, "shard", &shards[s], slots[s], shard_rows, columns, want);
            first += size[s];
        }
    }
}

/* The result wants a gradient when any part does. */
static void needs_grad(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot **slots = first_slots(c, group, 2);
    for (int wanted = 0; wanted < 4; ++wanted) {
        case_note(c, "parts %#x", (unsigned)wanted);
        struct dp_tensor parts[2], out;
        for (int i = 0; i < 2; ++i) {
            parts[i] = make_matrix(c, slots[i], 2, 3, sequence(c, 6, 1.0, 1.0));
            parts[i].needs_grad = (wanted >> i & 1) != 0;
        }
        expect_ok(c, dp_gather(open_run(c, group), parts, 2, 0, slots[1], &out, &c->err),
                  "dp_gather");
        expect(c, out.needs_grad == (wanted != 0), "needs_grad is %d", (int)out.needs_grad);
    }
}

/* Tensors that are sent are views of one array: adjacent ones, a gap, the reverse order of memory,
 * one view twice. The replicas are not in the order of their slots. */
static void neighbours(struct context *c)
{
    static const size_t rows[][2] = {{0, 10},  {10, 10}, {20, 1}, {30, 10}, {25, 5},
                                     {10, 10}, {0, 40},  {40, 0}, {39, 1}};
    static const size_t buffers[] = {1, 39, 40, 41, 100, DP_BUFFER_BYTES};
    enum { VIEWS = sizeof rows / sizeof rows[0] };
    for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; ++b) {
        case_release(c);
        case_note(c, "buffer %zu", buffers[b]);
        struct dp_group *group = open_group(c, 3);
        struct dp_slot **slots = slot_list(c, group, (int[]){2, 0, 1}, 3);
        const struct dp_tensor whole =
            make_tensor(c, slots[0], DP_F32, 1, (size_t[]){40}, sequence(c, 40, 1.0, 1.0));
        struct dp_tensor src[VIEWS], copies[3 * VIEWS];
        for (int j = 0; j < VIEWS; ++j) {
            expect_ok(c, dp_tensor_rows(&whole, rows[j][0], rows[j][1], &src[j], &c->err),
                      "dp_tensor_rows");
        }
        expect_ok(c,
                  dp_broadcast_coalesced(open_run(c, group), src, VIEWS, slots, 3, buffers[b],
                                         copies, &c->err),
                  "dp_broadcast_coalesced");
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < VIEWS; ++j) {
                expect_shape(c, "copy", &copies[i * VIEWS + j], 1, &rows[j][1]);
                expect_values(c, "copy", &copies[i * VIEWS + j],
                              sequence(c, rows[j][1], 1.0 + (double)rows[j][0], 1.0));
            }
        }
    }
}

static const struct test_case cases[] = {
    {"scatter/helped", "SPLIT-01 SPLIT-07", helped},
    {"gather/needs-grad", "GRAD-09", needs_grad},
    {"coalesce/neighbours", "COAL-02 COAL-08", neighbours},
};
const struct case_table primitives_cases = {cases, sizeof cases / sizeof cases[0]};
