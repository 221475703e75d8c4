/* grouping.c: which calls reach a communicator: how many transfers lists of tensors become, which
 * no value shows, and that nothing of another group gets there.
 *
 * To count, the communicator of the group is replaced by one that counts and forwards the call.
 * Tensors that become one transfer are adjacent in one array, on every slot. */
#include "backend.h"
#include "list.h"

enum { SLOTS = 3, MOST = 8 };

struct counting {
    struct dp_comm_ops ops; /* first: the group's pointer is to it */
    const struct dp_comm_ops *inner;
    int transfers;
};

static int grouping_move(const struct dp_team *team, const struct dp_moves moves[],
                         enum dp_phase phase, struct dp_error *err)
{
    struct counting *counting = (struct counting *)team->group->comm;
    counting->transfers += moves[1].n;
    return counting->inner->move(team, moves, phase, err);
}

static int grouping_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                           const struct dp_sum sums[], int n, enum dp_phase phase,
                           struct dp_error *err)
{
    struct counting *counting = (struct counting *)team->group->comm;
    counting->transfers += n;
    return counting->inner->reduce(team, dst_slot, sums, n, phase, err);
}

/* The group is closed by the communicator that it was opened with, so that one is put back. */
static void grouping_count(struct counting *counting, struct dp_group *group)
{
    *counting = (struct counting){.ops = *group->comm, .inner = group->comm};
    counting->ops.move = grouping_move;
    counting->ops.reduce = grouping_reduce;
    group->comm = &counting->ops;
}

/* Makes n adjacent vectors on a slot; their values begin at `first`. */
static void neighbours(struct context *c, struct dp_slot *slot, int n, const size_t sizes[],
                       double first, struct dp_tensor list[])
{
    size_t total = 0, row = 0;
    for (int i = 0; i < n; ++i)
        total += sizes[i];
    const struct dp_tensor whole =
        make_tensor(c, slot, DP_F32, 1, &total, sequence(c, total, first, 1.0));
    for (int i = 0; i < n; row += sizes[i], ++i)
        expect_ok(c, dp_tensor_rows(&whole, row, sizes[i], &list[i], &c->err), "dp_tensor_rows");
}

/* The examples of the rule at 100 floats for 1 MiB, and sizes at and around the limit. */
static void limits(struct context *c)
{
    static const struct {
        int n;
        size_t sizes[MOST];
        size_t bytes;
        int broadcast, reduce;
    } rows[] = {
        {5, {100, 100, 100, 100, 100}, 4000, 1, 1},
        {5, {100, 100, 100, 100, 100}, 1000, 2, 3},
        {4, {225, 50, 225, 50}, 1000, 2, 4},
        {8, {25, 25, 25, 25, 25, 25, 25, 25}, 199, 4, 8},
        {8, {25, 25, 25, 25, 25, 25, 25, 25}, 200, 4, 4},
        {8, {25, 25, 25, 25, 25, 25, 25, 25}, 201, 3, 4},
        {3, {10, 10, 10}, 40, 3, 3},
        {3, {10, 10, 10}, 41, 2, 3},
        {3, {1, 30, 1}, 40, 2, 3},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        case_release(c);
        case_note(c, "row %zu, limit %zu", r, rows[r].bytes);
        const int n = rows[r].n;
        struct counting counting;
        struct dp_tensor src[SLOTS * MOST], copies[SLOTS * MOST], sums[MOST];
        struct dp_group *group = open_group(c, SLOTS);
        struct dp_slot **slots = first_slots(c, group, SLOTS);
        struct dp_run *run = open_run(c, group);
        for (int i = 0; i < SLOTS; ++i)
            neighbours(c, slots[i], n, rows[r].sizes, 1.0 + i, &src[i * n]);
        grouping_count(&counting, group);
        const int moved =
            dp_broadcast_coalesced(run, src, n, slots, SLOTS, rows[r].bytes, copies, &c->err);
        const int moves = counting.transfers;
        counting.transfers = 0;
        const int added =
            dp_reduce_add_coalesced(run, src, n, SLOTS, slots[0], rows[r].bytes, sums, &c->err);
        group->comm = counting.inner;
        expect(c, moved == 0 && added == 0, "%s", c->err.text);
        expect(c, moves == rows[r].broadcast, "broadcast in %d transfers, not %d", moves,
               rows[r].broadcast);
        expect(c, counting.transfers == rows[r].reduce, "reduced in %d sums, not %d",
               counting.transfers, rows[r].reduce);
        expect_values(c, "first sum", &sums[0], sequence(c, rows[r].sizes[0], 6.0, 3.0));
    }
}

/* The tensors are adjacent in the first list and not in the others: they are two sums. */
static void apart_elsewhere(struct context *c)
{
    static const size_t sizes[] = {6, 6};
    for (int turned = 0; turned < SLOTS; ++turned) {
        case_release(c);
        case_note(c, "list %d turned round", turned);
        struct dp_tensor src[SLOTS * 2], sums[2];
        struct dp_group *group = open_group(c, SLOTS);
        struct dp_slot **slots = first_slots(c, group, SLOTS);
        for (int i = 0; i < SLOTS; ++i)
            neighbours(c, slots[i], 2, sizes, 10.0, &src[i * 2]);
        const struct dp_tensor first = src[turned * 2];
        src[turned * 2] = src[turned * 2 + 1];
        src[turned * 2 + 1] = first;
        expect_ok(c,
                  dp_reduce_add_coalesced(open_run(c, group), src, 2, SLOTS, slots[0],
                                          DP_BUFFER_BYTES, sums, &c->err),
                  "dp_reduce_add_coalesced");
        /* 10.., 10.. and 16..; then 16.., 16.. and 10.. */
        expect_values(c, "sum 0", &sums[0], sequence(c, 6, 36.0, 3.0));
        expect_values(c, "sum 1", &sums[1], sequence(c, 6, 42.0, 3.0));
    }
}

/* A communicator only gets tensors of its group, with every function that calls it. */
static void foreign(struct context *c)
{
    struct dp_group *group = open_group(c, 2), *other = open_group(c, 2);
    struct dp_slot *slots[] = {dp_group_slot(group, 0), dp_group_slot(group, 1)};
    const struct dp_tensor here = make_matrix(c, slots[0], 2, 2, sequence(c, 4, 1.0, 1.0));
    const struct dp_tensor there = make_matrix(c, slots[1], 2, 2, sequence(c, 4, 1.0, 1.0));
    const struct dp_tensor theirs =
        make_matrix(c, dp_group_slot(other, 1), 2, 2, sequence(c, 4, 1.0, 1.0));
    const struct dp_team team = {group, slots, 2};
    const struct {
        const struct dp_tensor *dst, *src;
        int status;
    } rows[] = {{&there, &here, DP_OK}, {&theirs, &here, DP_EINVAL}, {&there, &theirs, DP_EINVAL}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        struct dp_move move = {rows[r].dst->slot,
                               rows[r].src->slot,
                               {rows[r].dst->data, rows[r].src->data, 16, 1, 16, 16}};
        const struct dp_moves moves[] = {{NULL, 0}, {&move, 1}};
        struct dp_error err = {0};
        const int status = dp_comm_move(&team, moves, DP_PHASE_NONE, &err);
        expect(c, status == rows[r].status, "row %zu: status %d (%s)", r, status, err.text);
    }
    const void *terms[] = {here.data, there.data};
    const struct dp_sum sum = {DP_F32, false, 4, theirs.data, terms};
    expect_error(c, dp_comm_reduce(&team, theirs.slot, &sum, 1, DP_PHASE_NONE, &c->err), DP_EINVAL,
                 "of another group", NULL);
}

/* A sum is made on a slot that has no term: a reader of the sum there waits for it. */
static void sum_elsewhere(struct context *c)
{
    enum { N = 6 };
    struct dp_group *group = open_group(c, SLOTS);
    struct dp_slot **slots = first_slots(c, group, SLOTS);
    const struct dp_team team = {group, slots, SLOTS - 1};
    const size_t n = N;
    const void *terms[SLOTS - 1];
    for (int i = 0; i < SLOTS - 1; ++i)
        terms[i] = make_tensor(c, slots[i], DP_F32, 1, &n, sequence(c, N, 1.0 + i, 1.0)).data;
    const struct dp_tensor total =
        make_tensor(c, slots[SLOTS - 1], DP_F32, 1, &n, sequence(c, N, -1.0, 0.0));
    const struct dp_sum sum = {DP_F32, false, N, total.data, terms};
    expect_ok(c, dp_comm_reduce(&team, total.slot, &sum, 1, DP_PHASE_NONE, &c->err),
              "dp_comm_reduce");
    expect_values(c, "sum", &total, sequence(c, N, 3.0, 2.0));
}

static const struct test_case cases[] = {
    {"grouping/limits", "COAL-04", limits},
    {"grouping/foreign", "ERR-01", foreign},
    {"grouping/sum-elsewhere", "DET-01", sum_elsewhere},
    {"grouping/apart-elsewhere", "COAL-02 COAL-10", apart_elsewhere},
};
const struct case_table grouping_cases = {cases, sizeof cases / sizeof cases[0]};
