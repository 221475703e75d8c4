/* distributed_sync.c: DistributedDataParallel: no_sync, unused parameters, and ranks with fewer
 * batches. */
#include "list.h"
#include "probes.h"
#include "ranks.h"

#include <math.h>

/* ---- no_sync ----------------------------------------------------------------------------- */

/* Two micro-steps; the second reduces: 1, 10 and 2, 20 give 16.5. */
static void no_sync(struct context *c)
{
    const struct ranks_batch first = {{1, 1}, {{1}, {10}}, {1, 1}};
    const struct ranks_batch second = {{1, 1}, {{2}, {20}}, {1, 1}};
    for (int way = 0; way < 3; ++way) {
        struct ranks ranks;
        case_release(c);
        case_note(c, "way %d", way);
        ranks_line(c, &ranks, 2, NULL);
        for (int turn = 0; turn < 3; ++turn) {
            dp_ddp_zero_grad(ranks.ddp);
            dp_ddp_no_sync(ranks.ddp, way != 2); /* 2: both reduce, the same comes out */
            ranks_pass(c, &ranks, &first);
            ranks_expect(c, &ranks, 0, 0, true, way == 2 ? 5.5 : 1.0);
            ranks_expect(c, &ranks, 1, 0, true, way == 2 ? 5.5 : 10.0);
            dp_ddp_no_sync(ranks.ddp, false);
            if (way == 1) { /* read at forward: what backward finds does not count */
                struct dp_tensor out[2 * DP_MAX_IO];
                dp_ddp_reset(ranks.ddp);
                ranks_forward(c, &ranks, &second, NULL, out);
                dp_ddp_no_sync(ranks.ddp, true);
                ranks_backward(c, &ranks, &second);
            } else {
                ranks_pass(c, &ranks, &second);
            }
            ranks_expect_all(c, &ranks, 0, true, 16.5);
            ranks_expect_all(c, &ranks, 1, true, 2.0);
        }
    }
}

/* A gradient from before the step is reduced, too, also if a rank had none. */
static void prefilled(struct context *c)
{
    const struct ranks_batch batch = {{1, 1, 1, 1}, {{1}, {10}, {-4}, {5}}, {1, 1, 1, 1}};
    struct ranks ranks;
    ranks_line(c, &ranks, 4, NULL);
    ranks_write(c, &ranks, 1, 0, true, 100);
    ranks_write(c, &ranks, 3, 0, true, 60);
    ranks_pass(c, &ranks, &batch);
    ranks_expect_all(c, &ranks, 0, true, 3 + 40);
    ranks_equal(c, &ranks);
}

/* Two forwards, then their backwards in reverse order: each backward reduces the gradients that
 * exist then. */
static void two_forwards(struct context *c)
{
    const struct ranks_batch first = {{1, 1}, {{1}, {3}}, {1, 1}};
    const struct ranks_batch second = {{1, 1}, {{4}, {8}}, {1, 1}};
    struct ranks ranks;
    struct dp_tensor out[2 * DP_MAX_IO];
    ranks_line(c, &ranks, 2, NULL);
    ranks_forward(c, &ranks, &first, NULL, out);
    ranks_forward(c, &ranks, &second, NULL, out);
    ranks_backward(c, &ranks, &second);
    ranks_expect_all(c, &ranks, 0, true, 6);
    ranks_backward(c, &ranks, &first);
    ranks_expect_all(c, &ranks, 0, true, 8);
    ranks_expect_all(c, &ranks, 1, true, 2);
}

/* ---- unused parameters ------------------------------------------------------------------- */

/* y = w[rank % 2] x, and a parameter "idle" that no module uses. */
static void open_choice(struct context *c, struct ranks *ranks, bool find_unused)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *model = make_scale(c, group, 2);
    struct dp_param *idle;
    struct dp_error err = {0};
    const struct dp_ddp_config config = {.find_unused = find_unused};
    expect_ok(c, dp_module_add_param(model, "idle", DP_F32, 1, (size_t[]){1}, &idle, &err), &err,
              "dp_module_add_param");
    ranks_open(c, ranks, group, model, 2, &config);
}

static void unused(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{8}, {6}}, {1, 1}};
    struct ranks ranks;
    open_choice(c, &ranks, true);
    for (int turn = 0; turn < 3; ++turn) {
        case_note(c, "turn %d", turn);
        dp_ddp_zero_grad(ranks.ddp);
        ranks_pass(c, &ranks, &batch);
        ranks_expect_all(c, &ranks, 0, true, 4);
        ranks_expect_all(c, &ranks, 1, true, 3);
        ranks_expect_none(c, &ranks, 0, 2);
        ranks_expect_none(c, &ranks, 1, 2);
    }
    ranks_write(c, &ranks, 0, 2, true, 123);
    ranks_write(c, &ranks, 1, 2, true, 45);
    ranks_pass(c, &ranks, &batch);
    ranks_expect(c, &ranks, 0, 2, true, 123);
    ranks_expect(c, &ranks, 1, 2, true, 45);
    ranks_expect_all(c, &ranks, 0, true, 8);
}

/* A parameter is reduced alone, after a no_sync in which each rank used a different one. A gradient
 * that a rank does not have counts as zeros, whatever its memory holds. */
static void unused_alone(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{8}, {6}}, {1, 1}};
    struct ranks ranks;
    struct dp_error err = {0};
    open_choice(c, &ranks, true);
    for (int i = 0; i < 3; ++i) {
        ranks_write(c, &ranks, 0, i, true, NAN);
        ranks_write(c, &ranks, 1, i, true, NAN);
    }
    dp_ddp_zero_grad(ranks.ddp);
    dp_ddp_no_sync(ranks.ddp, true);
    ranks_pass(c, &ranks, &batch);
    expect_ok(c, dp_ddp_reduce(ranks.ddp, &err), &err, "dp_ddp_reduce");
    ranks_expect_all(c, &ranks, 0, true, 4);
    ranks_expect_all(c, &ranks, 1, true, 3);
    ranks_expect_none(c, &ranks, 0, 2);
    ranks_expect_none(c, &ranks, 1, 2);
}

/* A parameter was used in no_sync only: its gradient has accumulated, so it is reduced. */
static void unused_later(struct context *c)
{
    const struct ranks_batch some = {{1, 1}, {{8}, {6}}, {1, 1}};
    struct ranks ranks;
    struct inject *plan;
    struct dp_group *group = open_group(c, 2);
    struct dp_module *model = make_sequential(
        c, group,
        (struct dp_module *[]){make_linear(c, group, 1, 1, false), make_inject(c, group, &plan)},
        2);
    const struct dp_ddp_config config = {.find_unused = true};
    ranks_open(c, &ranks, group, model, 2, &config);
    plan->grad[0] = 2;
    plan->grad[1] = 4;
    dp_ddp_no_sync(ranks.ddp, true);
    ranks_pass(c, &ranks, &some);
    dp_ddp_no_sync(ranks.ddp, false);
    ranks_pass(c, &ranks, &some);
    ranks_expect_all(c, &ranks, 0, true, 14);
    ranks_expect_all(c, &ranks, 1, true, 6);
}

static void unused_refused(struct context *c)
{
    struct ranks ranks;
    struct dp_tensor in[2], out[2 * DP_MAX_IO];
    struct dp_error err = {0};
    int n_out;
    open_choice(c, &ranks, false);
    for (int turn = 0; turn < 2; ++turn) {
        case_note(c, "turn %d", turn);
        err.status = 0;
        dp_ddp_reset(ranks.ddp);
        for (int r = 0; r < 2; ++r)
            in[r] = make_matrix(c, dp_group_slot(ranks.group, r), 1, 1, (double[]){1});
        expect_ok(c, dp_ddp_forward(ranks.ddp, in, 1, NULL, out, &n_out, &err), &err, "forward");
        expect_error(c, dp_ddp_backward(ranks.ddp, NULL, 0, NULL, 0, &err), DP_EINVAL, &err,
                     "1 'other'", "2 'idle'");
        expect(c, err.has_replica && err.replica == 0, "replica %d is named", err.replica);
    }
}

/* ---- tied parameters --------------------------------------------------------------------- */

/* One weight is used before and after another module: it is ready after its second use in backward,
 * and the reduction has both parts. y = w (w x): dw = 2 w x. */
static void tied(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{8}, {6}}, {1, 1}};
    struct ranks ranks;
    struct dp_group *group = open_group(c, 2);
    struct dp_module *scale = make_scale(c, group, 1);
    struct dp_param *weight = param_at(c, scale, 0);
    struct dp_module *model =
        make_sequential(c, group,
                        (struct dp_module *[]){scale, make_linear(c, group, 1, 1, false),
                                               make_tied_scale(c, group, weight)},
                        3);
    const struct dp_ddp_config config = {.first_bucket_bytes = 4, .bucket_bytes = 4};
    write_values(c, &param_at(c, model, 0)->value, (double[]){3.0});
    write_values(c, &param_at(c, model, 1)->value, (double[]){1.0});
    ranks_open(c, &ranks, group, model, 2, &config);
    for (int turn = 0; turn < 3; ++turn) {
        case_note(c, "turn %d", turn);
        dp_ddp_zero_grad(ranks.ddp);
        ranks_pass(c, &ranks, &batch);
        ranks_expect_all(c, &ranks, 0, true, 6.0 * 7);
        ranks_expect_all(c, &ranks, 1, true, 9.0 * 7);
    }
    int list[2] = {-1, -1};
    expect(c, dp_ddp_buckets(ranks.ddp) == 2, "%d buckets", dp_ddp_buckets(ranks.ddp));
    expect(c, dp_ddp_bucket_params(ranks.ddp, 0, list, 2) == 1 && list[0] == 1,
           "bucket 0 has parameter %d, the tied one is ready last", list[0]);
}

/* ---- join -------------------------------------------------------------------------------- */

struct loop {
    int ranks, batches[4], last;
    double x[4];
};

static const struct loop loops[] = {
    {2, {3, 5}, 1, {50, 50}},
    {2, {4, 2}, 0, {30, 70}},
    {4, {1, 4, 2, 3}, 1, {30, 70, -10, 6}},
    {4, {3, 2, 3, 1}, 2, {30, 70, -10, 6}},
    {4, {2, 2, 2, 2}, 3, {30, 70, -10, 6}},
};

/* Runs one turn: the active ranks hold the sum of their gradients over the divisor. Returns false
 * if no rank had a batch. */
static bool join_turn(struct context *c, struct ranks *ranks, const struct loop *loop, int turn,
                      bool by_active, double *mean)
{
    struct ranks_batch batch = {.rows = {0}};
    int active = 0;
    double sum = 0.0;
    for (int r = 0; r < loop->ranks; ++r) {
        batch.rows[r] = turn < loop->batches[r];
        batch.x[r][0] = loop->x[r];
        batch.g[r] = 1.0;
        active += batch.rows[r];
        sum += batch.rows[r] ? loop->x[r] : 0.0;
    }
    *mean = sum / (by_active ? active : loop->ranks);
    if (active == 0)
        return false;
    ranks_pass(c, ranks, &batch);
    for (int r = 0; r < loop->ranks; ++r) {
        if (batch.rows[r])
            ranks_expect(c, ranks, r, 0, true, *mean);
    }
    return true;
}

static void join(struct context *c)
{
    for (size_t k = 0; k < sizeof loops / sizeof loops[0]; ++k) {
        const struct loop *loop = &loops[k];
        struct ranks ranks;
        double sum = 0.0, mean;
        case_release(c);
        ranks_line(c, &ranks, loop->ranks, NULL);
        for (int r = 0; r < loop->ranks; ++r)
            ranks_write(c, &ranks, r, 0, false, 2 + 100 * r);
        for (int turn = 0;; ++turn) {
            case_note(c, "loop %zu turn %d", k, turn);
            if (!join_turn(c, &ranks, loop, turn, false, &mean))
                break;
            ranks_step(c, &ranks, 0.0625f, 0.0f);
            sum += mean;
        }
        for (int r = 0; r < loop->ranks; ++r) /* each did its own steps */
            expect(c, loop->batches[r] > 0, "a rank without any batch");
        ranks_join_end(c, &ranks);
        ranks_expect_all(c, &ranks, 0, false, 2 + 100 * loop->last - 0.0625 * sum);
        ranks_equal(c, &ranks);
    }
}

/* The divisors are 50, 50, 50, 25, 25 with one setting, and always 50 with the other. */
static void divisors(struct context *c)
{
    static const double initial[] = {50, 50, 50, 25, 25};
    for (int by_active = 0; by_active < 2; ++by_active) {
        struct ranks ranks;
        double mean;
        case_release(c);
        const struct dp_ddp_config config = {.divide_by_active = by_active == 1};
        ranks_line(c, &ranks, 2, &config);
        for (int turn = 0; turn < 5; ++turn) {
            case_note(c, "by active %d, turn %d", by_active, turn);
            (void)join_turn(c, &ranks, &loops[0], turn, by_active == 1, &mean);
            ranks_expect(c, &ranks, 1, 0, true, by_active ? 50.0 : initial[turn]);
            ranks_step(c, &ranks, 0.0625f, 0.5f);
        }
    }
}

/* A rank that has joined stays so. active = NULL ends the join, and the step is an ordinary one. */
static void after_join(struct context *c)
{
    struct ranks ranks;
    const struct ranks_batch all = {{1, 1}, {{30}, {70}}, {1, 1}};
    struct ranks_batch one = all;
    struct dp_tensor in[2], out[2 * DP_MAX_IO];
    struct dp_error err = {0};
    int n_out;
    ranks_line(c, &ranks, 2, NULL);
    one.rows[1] = 0;
    ranks_pass(c, &ranks, &one);
    for (int r = 0; r < 2; ++r)
        in[r] = make_matrix(c, dp_group_slot(ranks.group, r), 1, 1, all.x[r]);
    expect_error(c, dp_ddp_forward(ranks.ddp, in, 1, (bool[]){true, true}, out, &n_out, &err),
                 DP_EINVAL, &err, "rank 1", "again");
    ranks_step(c, &ranks, 0.0625f, 0.0f);
    ranks_expect(c, &ranks, 1, 0, false, 2.0);
    ranks_pass(c, &ranks, &all);
    ranks_expect_all(c, &ranks, 0, false, 2.0 - 0.0625 * 15);
    ranks_expect_all(c, &ranks, 0, true, 50.0);
}

static const struct test_case cases[] = {
    {"distributed-sync/no-sync", "DDP-16 DDP-17", no_sync},
    {"distributed-sync/prefilled", "DDP-16", prefilled},
    {"distributed-sync/two-forwards", "DDP-09", two_forwards},
    {"distributed-sync/unused", "DDP-21 DDP-22", unused},
    {"distributed-sync/unused-alone", "DDP-21 DDP-22", unused_alone},
    {"distributed-sync/unused-later", "DDP-22", unused_later},
    {"distributed-sync/unused-refused", "DDP-23", unused_refused},
    {"distributed-sync/tied", "DDP-24 REPL-09", tied},
    {"distributed-sync/join", "DDP-19 DDP-20", join},
    {"distributed-sync/divisors", "DDP-19", divisors},
    {"distributed-sync/after-join", "DDP-20", after_join},
};
const struct case_table distributed_sync_cases = {cases, sizeof cases / sizeof cases[0]};
