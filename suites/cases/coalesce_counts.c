/* coalesce_counts.c: area COAL: transfers, as counted by the implementation. */
#include "coalesce.h"

/* There are at most four devices: a transfer is counted once, not once for each device. */
enum { DEVICES = 4 };

static int some_devices(const struct check *c)
{
    return check_devices(c) < DEVICES ? check_devices(c) : DEVICES;
}

/* Vectors of float: n of them, the i-th with count[i] elements. */
struct row {
    int n;
    size_t count[8];
    size_t buffer;
    int broadcast, reduce; /* transfers */
};

static const int devices[DEVICES] = {0, 1, 2, 3};

static struct impl_broadcast counted_broadcast(struct check *c, const struct kind kinds[], int n,
                                               size_t buffer)
{
    const int k = some_devices(c);
    struct impl_broadcast op = {
        .n = n, .devices = devices, .n_devices = k, .buffer_bytes = buffer, .poke = -1};

    op.src = coalesce_make(c, kinds, n, 5, 0);
    op.copies = coalesce_room(c, kinds, n, k * n);
    check_broadcast(c, &op);
    for (int t = 0; t < k * n; ++t)
        check_same(c, check_text(c, "copy %d", t), &op.copies[t], &op.src[t % n]);
    return op;
}

static struct impl_reduce counted_reduce(struct check *c, const struct kind kinds[], int n,
                                         size_t buffer)
{
    return coalesce_reduce(c, kinds, n, some_devices(c), devices, buffer);
}

static void transfers_are(struct check *c, const struct kind kinds[], int n, size_t buffer,
                          long long most)
{
    check_int(c, "transfers of broadcast",
              (long long)counted_broadcast(c, kinds, n, buffer).transfers, most);
    check_int(c, "transfers of reduce", (long long)counted_reduce(c, kinds, n, buffer).transfers,
              most);
}

static void coalesce_default_bytes(struct check *c)
{
    static const struct kind one = {IMPL_F32, 1, {3}};

    check_int(c, "default buffer of broadcast",
              (long long)counted_broadcast(c, &one, 1, 0).default_bytes, 10485760);
    check_int(c, "default buffer of reduce", (long long)counted_reduce(c, &one, 1, 0).default_bytes,
              10485760);
}

/* Broadcast appends a tensor, and closes a group that has reached the limit; reduce closes the
 * group first if the tensor would exceed the limit. These are the examples of the rule with 100
 * bytes for 1 MiB (a limit of 1000 for 10 MiB), and sizes at and next to the limit. */
static const struct row rows[] = {
    {5, {100, 100, 100, 100, 100}, 1000, 2, 3},
    {4, {225, 50, 225, 50}, 1000, 2, 4},
    {8, {25, 25, 25, 25, 25, 25, 25, 25}, 200, 4, 4},
    {8, {25, 25, 25, 25, 25, 25, 25, 25}, 201, 3, 4},
    {8, {25, 25, 25, 25, 25, 25, 25, 25}, 199, 4, 8},
    {3, {10, 10, 10}, 40, 3, 3},
    {3, {10, 10, 10}, 41, 2, 3},
    {3, {10, 10, 10}, 1, 3, 3},
    {3, {10, 10, 10}, 120, 1, 1},
    {3, {1, 30, 1}, 40, 2, 3},
};

static void groups(struct check *c)
{
    const bool broadcast = check_variant(c) == 0;

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        struct kind kinds[8];
        check_note(c, "setting %zu, limit %zu: ", r, rows[r].buffer);
        for (int t = 0; t < rows[r].n; ++t)
            kinds[t] = (struct kind){IMPL_F32, 1, {rows[r].count[t]}};
        if (broadcast)
            check_int(c, "transfers of broadcast",
                      (long long)counted_broadcast(c, kinds, rows[r].n, rows[r].buffer).transfers,
                      rows[r].broadcast);
        else
            check_int(c, "transfers of reduce",
                      (long long)counted_reduce(c, kinds, rows[r].n, rows[r].buffer).transfers,
                      rows[r].reduce);
    }
}

/* Six tensors of 40 bytes have two types in turn, and the limit is that of two tensors: each type
 * fills separate groups. */
static void coalesce_groups_of_types(struct check *c)
{
    static const struct kind kinds[] = {{IMPL_F32, 1, {10}}, {IMPL_F64, 1, {5}},
                                        {IMPL_F32, 1, {10}}, {IMPL_F64, 1, {5}},
                                        {IMPL_F32, 1, {10}}, {IMPL_F64, 1, {5}}};

    transfers_are(c, kinds, 6, 80, 4);
}

/* A tensor of 25 times the limit is one transfer. */
static void coalesce_large_alone(struct check *c)
{
    static const struct kind kinds[] = {{IMPL_F32, 1, {250}}};

    transfers_are(c, kinds, 1, 40, 1);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { COUNTS = IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE | IMPL_CAP_TRANSFERS };

static const struct check_case cases[] = {
    {"COAL-01.default", "COAL-01", MAY, REPORTED, PRIM, COUNTS, 2, coalesce_default_bytes},
    {"COAL-04.broadcast", "COAL-04", MAY, REPORTED, PRIM, COUNTS, 2, groups},
    {"COAL-04.reduce", "COAL-04", MAY, REPORTED, PRIM, COUNTS, 2, groups, .variant = 1},
    {"COAL-03.types", "COAL-03", MAY, REPORTED, PRIM, COUNTS, 2, coalesce_groups_of_types},
    {"COAL-06.one", "COAL-06", MAY, REPORTED, PRIM, COUNTS, 2, coalesce_large_alone},
};
const struct check_table coalesce_counts_table = CHECK_TABLE(cases);
