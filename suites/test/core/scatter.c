/* scatter.c: how a batch is cut: which rows go where, and which pieces are copies. Each row holds
 * its number, so a piece that is shifted, padded or swapped shows. */
#include "list.h"

static struct dp_tensor *scatter(struct context *c, struct dp_run *run,
                                 const struct dp_tensor *input, struct dp_slot *const slots[],
                                 int n, int dim, const size_t sizes[], int want)
{
    struct dp_tensor *shards = case_memory(c, (size_t)n * sizeof *shards);
    struct dp_error err = {0};
    int got = -1;
    expect_ok(c, dp_scatter(run, input, slots, n, dim, sizes, shards, &got, &err), &err,
              "dp_scatter");
    expect(c, got == want, "%d shards, want %d", got, want);
    return shards;
}

static void refuse(struct context *c, const struct dp_tensor *input, int n, int dim,
                   const size_t sizes[], const char *needle)
{
    struct dp_group *group = dp_slot_group(input->slot);
    struct dp_tensor shards[4];
    struct dp_error err = {0};
    int got = -1;
    const int status = dp_scatter(open_run(c, group), input, first_slots(c, group, n), n, dim,
                                  sizes, shards, &got, &err);
    expect_error(c, status, DP_EINVAL, &err, needle, NULL);
    expect(c, got == -1, "a failing scatter set the number of shards to %d", got);
}

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
        const struct dp_tensor *shards = scatter(c, open_run(c, group), &x, slots, 4, dim, size, 4);
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

static void wrong_sizes(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    const struct dp_tensor x =
        make_matrix(c, dp_group_slot(group, 0), 6, 1, sequence(c, 6, 1.0, 1.0));
    refuse(c, &x, 2, 0, (size_t[]){2, 3}, "6");
    refuse(c, &x, 2, 0, (size_t[]){4, 4}, "6");
    refuse(c, &x, 2, 0, (size_t[]){SIZE_MAX, 7}, NULL); /* adds up to 6 modulo 2^64 */
    refuse(c, &x, 3, 0, (size_t[]){0, 0, 0}, "6");
}

static void wrong_dim(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *slot = dp_group_slot(group, 0);
    const struct dp_tensor x = make_matrix(c, slot, 4, 4, sequence(c, 16, 1.0, 1.0));
    const struct dp_tensor one = make_tensor(c, slot, DP_F32, 0, NULL, sequence(c, 1, 7.0, 0.0));
    refuse(c, &x, 2, 2, NULL, "2");
    refuse(c, &x, 2, -3, NULL, "-3");
    refuse(c, &one, 2, 0, NULL, NULL);
    refuse(c, &one, 2, -1, NULL, NULL);
    refuse(c, &x, 0, 0, NULL, NULL);
}

/* A piece that is already at its place is the input itself; all others are copies. */
static void view_or_copy(struct context *c)
{
    for (int home = -1; home < 3; ++home) {
        case_release(c);
        case_note(c, "input on %d", home);
        struct dp_group *group = open_group(c, 3);
        struct dp_slot **slots = first_slots(c, group, 3);
        struct dp_slot *slot = home < 0 ? dp_group_host(group) : slots[home];
        const struct dp_tensor x = make_matrix(c, slot, 6, 1, sequence(c, 6, 1.0, 1.0));
        const struct dp_tensor *shards = scatter(c, open_run(c, group), &x, slots, 3, 0, NULL, 3);
        for (int s = 0; s < 3; ++s) {
            const bool same = shards[s].data == (float *)x.data + 2 * s;
            expect(c, same == (s == home), "shard %d is %s", s, same ? "a view" : "a copy");
            write_values(c, &shards[s], sequence(c, 2, 100.0 * s + 100.0, 0.0));
        }
        double want[6];
        for (int i = 0; i < 6; ++i) {
            want[i] = i / 2 == home ? 100.0 * home + 100.0 : 1.0 + i;
        }
        expect_values(c, "input afterwards", &x, want);
    }
}

static void dtypes(struct context *c)
{
    static const enum dp_dtype list[] = {DP_F32, DP_F64, DP_I32, DP_I64};
    for (int i = 0; i < 4; ++i) {
        case_release(c);
        case_note(c, "dtype %d", (int)list[i]);
        struct dp_group *group = open_group(c, 2);
        struct dp_slot **slots = first_slots(c, group, 2);
        const struct dp_tensor x =
            make_tensor(c, slots[0], list[i], 1, (size_t[]){5}, sequence(c, 5, -2.0, 1.0));
        const struct dp_tensor *shards = scatter(c, open_run(c, group), &x, slots, 2, 0, NULL, 2);
        expect(c, shards[1].dtype == list[i], "dtype changed to %d", (int)shards[1].dtype);
        expect_values(c, "shard 0", &shards[0], sequence(c, 3, -2.0, 1.0));
        expect_values(c, "shard 1", &shards[1], sequence(c, 2, 1.0, 1.0));
    }
}

static const struct test_case cases[] = {
    {"scatter/helped", "SPLIT-01 SPLIT-07", helped},
    {"scatter/wrong-sizes", "SPLIT-07", wrong_sizes},
    {"scatter/wrong-dim", "SPLIT-09", wrong_dim},
    {"scatter/view-or-copy", "SPLIT-12", view_or_copy},
    {"scatter/dtypes", "SPLIT-01", dtypes},
};
const struct case_table scatter_cases = {cases, sizeof cases / sizeof cases[0]};
