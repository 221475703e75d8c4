/* distributed_order.c: DistributedDataParallel: reduction during backward, and alone. */
#include "list.h"
#include "ranks.h"

#include <string.h>
#include <time.h>

static struct dp_ddp_bucket times_of(struct context *c, struct ranks *ranks, int r, int b)
{
    struct dp_ddp_bucket bucket = {.bytes = 0};
    expect_ok(c, dp_ddp_bucket(ranks->ddp, r, b, &bucket, &c->err), "dp_ddp_bucket");
    return bucket;
}

/* The backward of a gate does not end before bucket 0 of the rank is reduced. */
struct gate {
    struct dp_ddp *ddp;
    bool closed;
    bool seen[2];
};

static int gate_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module, (void)run, (void)n_in, (void)err;
    out[0] = in[0];
    *n_out = 1;
    return 0;
}

static int gate_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    struct gate *gate = dp_module_self(module);
    const int r = dp_run_replica(run);
    (void)n_out, (void)n_in;
    grad_in[0] = grad_out[0];
    for (int i = 0; gate->closed && !gate->seen[r] && i < 20000; ++i) {
        struct dp_ddp_bucket bucket;
        const int status = dp_ddp_bucket(gate->ddp, r, 0, &bucket, err);
        if (status)
            return status;
        gate->seen[r] = bucket.done_ns > 0;
        if (!gate->seen[r])
            (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return 0;
}

static const struct dp_module_ops gate_ops = {"gate", gate_forward, gate_backward, NULL};

/* Layer, gate, layer: backward comes to the gate with the last layer's gradient, and stays there
 * until that is reduced. */
static void overlap(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{8}, {6}}, {1, 1}};
    struct gate *gate = case_memory(c, sizeof *gate);
    struct ranks ranks;
    struct dp_group *group = open_group(c, 2);
    struct dp_module *model =
        make_sequential(c, group,
                        (struct dp_module *[]){make_linear(c, group, 1, 1, false),
                                               make_module(c, group, &gate_ops, gate),
                                               make_linear(c, group, 1, 1, false)},
                        3);
    const struct dp_ddp_config config = {.first_bucket_bytes = 4, .bucket_bytes = 4, .timed = true};
    write_values(c, &param_at(c, model, 0)->value, (double[]){2.0});
    write_values(c, &param_at(c, model, 1)->value, (double[]){3.0});
    ranks_open(c, &ranks, group, model, 2, &config);
    gate->ddp = ranks.ddp;
    for (int turn = 0; turn < 3; ++turn) {
        dp_ddp_zero_grad(ranks.ddp);
        gate->closed = turn > 0 && dp_ddp_overlaps(ranks.ddp);
        gate->seen[0] = gate->seen[1] = false;
        ranks_pass(c, &ranks, &batch);
        ranks_expect_all(c, &ranks, 0, true, 3.0 * 7);
        ranks_expect_all(c, &ranks, 1, true, 2.0 * 7);
        for (int r = 0; r < 2; ++r) {
            uint64_t begin, end;
            dp_ddp_times(ranks.ddp, r, &begin, &end);
            const uint64_t launch = times_of(c, &ranks, r, 0).launch_ns;
            expect(c, begin > 0 && begin <= end && launch >= begin, "rank %d: no times", r);
            expect(c, gate->seen[r] == gate->closed, "rank %d: nothing was reduced beside it", r);
            expect(c, dp_ddp_overlaps(ranks.ddp) ? launch <= end : launch >= end,
                   "rank %d: bucket 0 was launched %s its backward ended", r,
                   dp_ddp_overlaps(ranks.ddp) ? "after" : "before");
        }
    }
    expect(c, dp_ddp_buckets(ranks.ddp) == 2, "%d buckets", dp_ddp_buckets(ranks.ddp));
}

/* A communicator that can reduce during backward does so. If a rank says that it does not overlap,
 * some memory is out of reach for its communicator. */
static void who_overlaps(struct context *c)
{
    struct ranks ranks;
    ranks_line(c, &ranks, 2, NULL);
    const char *name = dp_group_communicator(ranks.group);
    struct dp_communicator_row row = {.name = NULL};
    bool overlaps = false;
    if (dp_communicator_of(name, &row) && (!row.instead || strcmp(row.instead, name) != 0))
        overlaps = (row.can & DP_COMM_OVERLAP) != 0;
    expect(c, dp_ddp_overlaps(ranks.ddp) == overlaps, "communicator %s: overlaps is %d", name,
           dp_ddp_overlaps(ranks.ddp));
}

/* Reduces the gradients again, alone: equal numbers do not change. */
static void alone(struct context *c)
{
    const struct ranks_batch batch = {{1, 1, 1, 1}, {{1}, {10}, {-4}, {5}}, {1, 1, 1, 1}};
    struct ranks ranks;
    ranks_line(c, &ranks, 4, NULL);
    ranks_pass(c, &ranks, &batch);
    ranks_write(c, &ranks, 2, 0, true, 7);
    for (int turn = 0; turn < 3; ++turn) {
        expect_ok(c, dp_ddp_reduce(ranks.ddp, &c->err), "dp_ddp_reduce");
        ranks_expect_all(c, &ranks, 0, true, 4.0);
        ranks_expect_all(c, &ranks, 1, true, 1.0);
    }
}

static const struct test_case cases[] = {
    {"distributed-order/overlap", "DDP-15", overlap},
    {"distributed-order/who", "DDP-15", who_overlaps},
    {"distributed-order/alone", "DDP-01", alone},
};
const struct case_table distributed_order_cases = {cases, sizeof cases / sizeof cases[0]};
