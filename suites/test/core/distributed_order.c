/* distributed_order.c: DistributedDataParallel: which gradients are reduced together, in which
 * order, and that this overlaps with backward. */
#include "list.h"
#include "probes.h"
#include "ranks.h"

#include <string.h>
#include <time.h>

/* ---- buckets ----------------------------------------------------------------------------- */

struct layout {
    int n, bucket[4], count[4], list[4][6];
};

static void buckets_are(struct context *c, struct ranks *ranks, const struct layout *want)
{
    expect(c, dp_ddp_buckets(ranks->ddp) == want->n, "%d buckets, want %d",
           dp_ddp_buckets(ranks->ddp), want->n);
    for (int b = 0; b < want->n; ++b) {
        int list[6];
        const int n = dp_ddp_bucket_params(ranks->ddp, b, list, 6);
        expect(c, n == want->count[b], "bucket %d has %d parameters, want %d", b, n,
               want->count[b]);
        for (int i = 0; i < n; ++i)
            expect(c, list[i] == want->list[b][i], "entry %d of bucket %d is parameter %d, want %d",
                   i, b, list[i], want->list[b][i]);
    }
}

/* Opens three layers, each with a weight of 64 bytes and a bias of 16. */
static void open_layers(struct context *c, struct ranks *ranks, bool find_unused)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *layer[3];
    for (int i = 0; i < 3; ++i)
        layer[i] = make_linear(c, group, 4, 4, true);
    const struct dp_ddp_config config = {
        .first_bucket_bytes = 64, .bucket_bytes = 100, .find_unused = find_unused};
    ranks_open(c, ranks, group, make_sequential(c, group, layer, 3), 2, &config);
}

static void pass_layers(struct context *c, struct ranks *ranks)
{
    struct dp_tensor in[2], out[2 * DP_MAX_IO], grad[2];
    struct dp_error err = {0};
    int n_out;
    dp_ddp_reset(ranks->ddp);
    for (int r = 0; r < 2; ++r) {
        in[r] = make_matrix(c, dp_group_slot(ranks->group, r), 1, 4, sequence(c, 4, r, 1));
        grad[r] = make_matrix(c, dp_group_slot(ranks->group, r), 1, 4, sequence(c, 4, 2 * r, 1));
    }
    expect_ok(c, dp_ddp_forward(ranks->ddp, in, 1, NULL, out, &n_out, &err), &err, "forward");
    expect_ok(c, dp_ddp_backward(ranks->ddp, grad, 1, NULL, 0, &err), &err, "backward");
}

/* Parameters by number: the weights are 0, 2, 4, the biases 1, 3, 5. At first there is one bucket.
 * Then the buckets begin with the last layer, weight before bias, and are closed at 64 bytes, and
 * at 100. */
static void rebuilt(struct context *c)
{
    const struct layout first = {1, {0}, {6}, {{0, 1, 2, 3, 4, 5}}};
    const struct layout later = {3, {0}, {1, 4, 1}, {{4}, {0, 2, 3, 5}, {1}}};
    struct ranks ranks;
    open_layers(c, &ranks, false);
    pass_layers(c, &ranks);
    buckets_are(c, &ranks, &first);
    for (int turn = 0; turn < 3; ++turn) {
        pass_layers(c, &ranks);
        buckets_are(c, &ranks, &later);
    }
}

/* When unused parameters are searched for, buckets are cut in order of registration, and the last
 * one is reduced first. */
static void reversed(struct context *c)
{
    const struct layout always = {3, {0}, {1, 4, 1}, {{5}, {1, 2, 3, 4}, {0}}};
    struct ranks ranks;
    open_layers(c, &ranks, true);
    for (int turn = 0; turn < 3; ++turn) {
        pass_layers(c, &ranks);
        buckets_are(c, &ranks, &always);
    }
}

/* ---- order ------------------------------------------------------------------------------- */

static struct dp_ddp_bucket times_of(struct context *c, struct ranks *ranks, int r, int b)
{
    struct dp_ddp_bucket bucket = {.bytes = 0};
    struct dp_error err = {0};
    expect_ok(c, dp_ddp_bucket(ranks->ddp, r, b, &bucket, &err), &err, "dp_ddp_bucket");
    return bucket;
}

/* The last layer leaves out a parameter on each rank, which shows at the end of backward only:
 * bucket 0 has both, bucket 1, of the layer before, is complete long before and waits. */
static void index_order(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{8}, {6}}, {1, 1}};
    struct ranks ranks;
    struct dp_group *group = open_group(c, 2);
    struct dp_module *model = make_sequential(
        c, group,
        (struct dp_module *[]){make_linear(c, group, 1, 1, false), make_scale(c, group, 2)}, 2);
    const struct dp_ddp_config config = {
        .first_bucket_bytes = 4, .bucket_bytes = 8, .find_unused = true, .timed = true};
    write_values(c, &param_at(c, model, 0)->value, (double[]){2.0});
    write_values(c, &param_at(c, model, 1)->value, (double[]){3.0});
    write_values(c, &param_at(c, model, 2)->value, (double[]){5.0});
    ranks_open(c, &ranks, group, model, 2, &config);
    ranks_pass(c, &ranks, &batch);
    expect(c, dp_ddp_buckets(ranks.ddp) == 2, "%d buckets", dp_ddp_buckets(ranks.ddp));
    for (int r = 0; r < 2; ++r) {
        const struct dp_ddp_bucket zero = times_of(c, &ranks, r, 0),
                                   one = times_of(c, &ranks, r, 1);
        expect(c, one.ready_ns > 0 && one.ready_ns <= zero.ready_ns,
               "rank %d: bucket 1 is not complete first", r);
        expect(c, zero.ready_ns <= zero.launch_ns && zero.launch_ns <= one.launch_ns,
               "rank %d: bucket 1 is launched before bucket 0", r);
        expect(c, zero.launch_ns <= zero.done_ns && zero.done_ns <= one.done_ns,
               "rank %d: bucket 1 is done before bucket 0", r);
    }
    ranks_expect_all(c, &ranks, 0, true, (3.0 * 8 + 5.0 * 6) / 2);
    ranks_expect_all(c, &ranks, 1, true, 2.0 * 8 / 2);
    ranks_expect_all(c, &ranks, 2, true, 2.0 * 6 / 2);
}

/* ---- overlap ----------------------------------------------------------------------------- */

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
    struct dp_error err = {0};
    ranks_line(c, &ranks, 4, NULL);
    ranks_pass(c, &ranks, &batch);
    ranks_write(c, &ranks, 2, 0, true, 7);
    for (int turn = 0; turn < 3; ++turn) {
        expect_ok(c, dp_ddp_reduce(ranks.ddp, &err), &err, "dp_ddp_reduce");
        ranks_expect_all(c, &ranks, 0, true, 4.0);
        ranks_expect_all(c, &ranks, 1, true, 1.0);
    }
}

static const struct test_case cases[] = {
    {"distributed-order/rebuilt", "DDP-11 DDP-12", rebuilt},
    {"distributed-order/reversed", "DDP-10 DDP-11", reversed},
    {"distributed-order/index", "DDP-14", index_order},
    {"distributed-order/overlap", "DDP-15", overlap},
    {"distributed-order/who", "DDP-15", who_overlaps},
    {"distributed-order/alone", "DDP-01", alone},
};
const struct case_table distributed_order_cases = {cases, sizeof cases / sizeof cases[0]};
