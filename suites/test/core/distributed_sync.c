/* distributed_sync.c: DistributedDataParallel: gradients that are reduced alone, tied parameters,
 * and calls that are refused. */
#include "list.h"
#include "probes.h"
#include "ranks.h"

#include <math.h>

/* ---- unused parameters ------------------------------------------------------------------- */

/* y = w[rank % 2] x, and a parameter "idle" that no module uses. */
static void open_choice(struct context *c, struct ranks *ranks, bool find_unused)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *model = make_scale(c, group, 2);
    struct dp_param *idle;
    const struct dp_ddp_config config = {.find_unused = find_unused};
    expect_ok(c, dp_module_add_param(model, "idle", DP_F32, 1, (size_t[]){1}, &idle, &c->err),
              "dp_module_add_param");
    ranks_open(c, ranks, group, model, 2, &config);
}

/* A parameter is reduced alone, after a no_sync in which each rank used a different one. A gradient
 * that a rank does not have counts as zeros, whatever its memory holds. */
static void unused_alone(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{8}, {6}}, {1, 1}};
    struct ranks ranks;
    open_choice(c, &ranks, true);
    for (int i = 0; i < 3; ++i) {
        ranks_write(c, &ranks, 0, i, true, NAN);
        ranks_write(c, &ranks, 1, i, true, NAN);
    }
    dp_ddp_zero_grad(ranks.ddp);
    dp_ddp_no_sync(ranks.ddp, true);
    ranks_pass(c, &ranks, &batch);
    expect_ok(c, dp_ddp_reduce(ranks.ddp, &c->err), "dp_ddp_reduce");
    ranks_expect_all(c, &ranks, 0, true, 4);
    ranks_expect_all(c, &ranks, 1, true, 3);
    ranks_expect_none(c, &ranks, 0, 2);
    ranks_expect_none(c, &ranks, 1, 2);
}

static void unused_refused(struct context *c)
{
    struct ranks ranks;
    struct dp_tensor in[2], out[2 * DP_MAX_IO];
    int n_out;
    open_choice(c, &ranks, false);
    for (int turn = 0; turn < 2; ++turn) {
        case_note(c, "turn %d", turn);
        dp_ddp_reset(ranks.ddp);
        for (int r = 0; r < 2; ++r)
            in[r] = make_matrix(c, dp_group_slot(ranks.group, r), 1, 1, (double[]){1});
        expect_ok(c, dp_ddp_forward(ranks.ddp, in, 1, NULL, out, &n_out, &c->err), "forward");
        expect_error(c, dp_ddp_backward(ranks.ddp, NULL, 0, NULL, 0, &c->err), DP_EINVAL,
                     "1 'other'", "2 'idle'");
        expect(c, c->seen.has_replica && c->seen.replica == 0, "replica %d is named",
               c->seen.replica);
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

/* A rank that has joined stays so. active = NULL ends the join, and the step is an ordinary one. */
static void after_join(struct context *c)
{
    struct ranks ranks;
    const struct ranks_batch all = {{1, 1}, {{30}, {70}}, {1, 1}};
    struct ranks_batch one = all;
    struct dp_tensor in[2], out[2 * DP_MAX_IO];
    int n_out;
    ranks_line(c, &ranks, 2, NULL);
    one.rows[1] = 0;
    ranks_pass(c, &ranks, &one);
    for (int r = 0; r < 2; ++r)
        in[r] = make_matrix(c, dp_group_slot(ranks.group, r), 1, 1, all.x[r]);
    expect_error(c, dp_ddp_forward(ranks.ddp, in, 1, (bool[]){true, true}, out, &n_out, &c->err),
                 DP_EINVAL, "rank 1", "again");
    ranks_step(c, &ranks, 0.0625f, 0.0f);
    ranks_expect(c, &ranks, 1, 0, false, 2.0);
    ranks_pass(c, &ranks, &all);
    ranks_expect_all(c, &ranks, 0, false, 2.0 - 0.0625 * 15);
    ranks_expect_all(c, &ranks, 0, true, 50.0);
}

static const struct test_case cases[] = {
    {"distributed-sync/unused-alone", "DDP-21 DDP-22", unused_alone},
    {"distributed-sync/unused-refused", "DDP-23", unused_refused},
    {"distributed-sync/tied", "DDP-24 REPL-09", tied},
    {"distributed-sync/after-join", "DDP-20", after_join},
};
const struct case_table distributed_sync_cases = {cases, sizeof cases / sizeof cases[0]};
