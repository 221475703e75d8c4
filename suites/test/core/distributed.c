/* distributed.c: DistributedDataParallel: the mean over ranks, and which data are sent. */
#include "list.h"
#include "probes.h"
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the mean ---------------------------------------------------------------------------- */

static void mean(struct context *c)
{
    for (int n = 1; n <= 8; n *= 2) {
        struct ranks ranks;
        struct ranks_batch batch = {.rows = {0}};
        case_release(c);
        ranks_line(c, &ranks, n, NULL);
        for (int turn = 1; turn <= 3; ++turn) {
            case_note(c, "R=%d turn %d", n, turn);
            for (int r = 0; r < n; ++r) {
                batch.rows[r] = 1;
                batch.x[r][0] = r;
                batch.g[r] = turn;
            }
            dp_ddp_zero_grad(ranks.ddp);
            ranks_pass(c, &ranks, &batch);
            ranks_expect_all(c, &ranks, 0, true, turn * (n - 1) / 2.0);
            ranks_expect_all(c, &ranks, 1, true, turn);
        }
    }
}

/* Gradients per row are 1, 2, 3 and 10, as (1, 2, 3), (10); and 1, 2, 3, 2 and 10, whose mean is
 * exact. */
static void unequal(struct context *c)
{
    static const struct {
        struct ranks_batch batch;
        double want;
        const char *what;
    } rows[] = {
        {{{4, 1}, {{1, 2, 3, 2}, {10}}, {0.25, 1}}, 6, "mean losses"},
        {{{3, 1}, {{1, 2, 3}, {10}}, {1, 1}}, 8, "sums"},
        {{{3, 1}, {{1, 2, 3}, {10}}, {0.5, 0.5}}, 4, "means scaled by R n / N"},
        {{{2, 2}, {{1, 2}, {3, 10}}, {0.5, 0.5}}, 4, "means of equal batches"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        struct ranks ranks;
        case_release(c);
        case_note(c, "%s", rows[k].what);
        ranks_line(c, &ranks, 2, NULL);
        ranks_pass(c, &ranks, &rows[k].batch);
        ranks_expect_all(c, &ranks, 0, true, rows[k].want);
    }
}

/* Each rank multiplies before the ranks are added in their order: three ranks show that, and so do
 * sums that are no floats. */
static void division(struct context *c)
{
    for (int n = 2; n <= 5; ++n) {
        for (int top = 0; top < 2; ++top) {
            struct ranks ranks;
            struct ranks_batch batch = {.rows = {0}};
            const float scale = (float)(1.0 / n);
            float want = 0.0f;
            case_release(c);
            case_note(c, "R=%d%s", n, top ? " large" : "");
            ranks_line(c, &ranks, n, NULL);
            for (int r = 0; r < n; ++r) {
                const float x = top ? ldexpf(1.0f, 127) : 1.1f * (float)(r + 7);
                const float product = scale * x;
                want = r == 0 ? product : want + product;
                batch.rows[r] = 1;
                batch.x[r][0] = x;
                batch.g[r] = 1.0;
            }
            ranks_pass(c, &ranks, &batch);
            ranks_expect_all(c, &ranks, 0, true, want);
        }
    }
}

/* Expects the sum in rank order. If the communicator may add in another order, each of the two
 * additions may round a number below 1 differently: that is the bound. */
static void expect_sum(struct context *c, const struct dp_group *group,
                       const struct dp_tensor *tensor, const float want[])
{
    struct dp_communicator_row row;
    if (!dp_communicator_of(dp_group_communicator(group), &row) ||
        !(row.can & DP_COMM_FREE_ORDER)) {
        expect_bits(c, "gradient", tensor, want);
        return;
    }
    const size_t n = dp_tensor_count(tensor);
    double *middle = case_memory(c, n * sizeof *middle), *bound = case_memory(c, n * sizeof *bound);
    for (size_t i = 0; i < n; ++i) {
        middle[i] = (double)want[i];
        bound[i] = 0x1p-23;
    }
    expect_within(c, "gradient", tensor, middle, bound);
}

/* Parameters are longer than one block of a kernel, and their ends fit no block. */
static void lengths(struct context *c)
{
    static const size_t width[] = {1, 15, 1023, 1025, 4097};
    for (size_t k = 0; k < sizeof width / sizeof width[0]; ++k) {
        const size_t n = width[k];
        struct ranks ranks;
        struct dp_tensor in[3], out[3 * DP_MAX_IO], grad[3];
        struct dp_error err = {0};
        float *want;
        int n_out;
        case_release(c);
        case_note(c, "n=%zu", n);
        want = case_memory(c, n * sizeof *want);
        struct dp_group *group = open_group(c, 3);
        ranks_open(c, &ranks, group, make_linear(c, group, n, 1, false), 3, NULL);
        for (int r = 0; r < 3; ++r) {
            struct dp_slot *slot = dp_group_slot(group, r);
            const float *x = randoms(c, n, 100 * n + (size_t)r);
            in[r] = make_matrix(c, slot, 1, n, NULL);
            write_floats(c, &in[r], x);
            grad[r] = make_matrix(c, slot, 1, 1, (double[]){1.0});
            for (size_t i = 0; i < n; ++i) {
                const float product = (float)(1.0 / 3.0) * x[i];
                want[i] = r == 0 ? product : want[i] + product;
            }
        }
        expect_ok(c, dp_ddp_forward(ranks.ddp, in, 1, NULL, out, &n_out, &err), &err, "forward");
        expect_ok(c, dp_ddp_backward(ranks.ddp, grad, 1, NULL, 0, &err), &err, "backward");
        for (int r = 0; r < 3; ++r) {
            struct dp_ddp_param param;
            expect_ok(c, dp_ddp_param(ranks.ddp, r, 0, &param, &err), &err, "dp_ddp_param");
            expect_sum(c, group, &param.grad, want);
        }
    }
}

/* ---- what is sent ------------------------------------------------------------------------ */

static void broadcast_once(struct context *c)
{
    struct ranks ranks;
    struct ranks_batch batch = {{1, 1, 1, 1}, {{1}, {10}, {-4}, {5}}, {1, 1, 1, 1}};
    ranks_line(c, &ranks, 4, NULL);
    ranks_expect_all(c, &ranks, 0, false, 2.0);
    ranks_expect_all(c, &ranks, 1, false, 1.0);
    for (int r = 0; r < 4; ++r)
        ranks_write(c, &ranks, r, 0, false, 3 + 5 * r);
    ranks_pass(c, &ranks, &batch);
    ranks_step(c, &ranks, 0.5f, 0.0f);
    for (int r = 0; r < 4; ++r)
        ranks_expect(c, &ranks, r, 0, false, 3 + 5 * r - 0.5 * 3.0);
    struct dp_error err = {0};
    expect_error(c, dp_ddp_compare(ranks.ddp, &err), DP_EFAULT, &err, "rank 1", "parameter 0");
}

/* One bit of one element differs, anywhere in a long parameter. */
static void compared(struct context *c)
{
    static const size_t places[] = {0, 65535, 65536, 89999};
    struct dp_group *group = open_group(c, 2);
    struct ranks ranks;
    struct dp_ddp_param param;
    struct dp_error err = {0};
    char name[32];
    ranks_open(c, &ranks, group, make_linear(c, group, 300, 300, false), 2, NULL);
    ranks_equal(c, &ranks);
    expect_ok(c, dp_ddp_param(ranks.ddp, 1, 0, &param, &err), &err, "dp_ddp_param");
    const size_t n = dp_tensor_count(&param.value);
    const float *right = read_floats(c, &param.value);
    float *wrong = case_memory(c, n * sizeof *wrong);
    for (size_t k = 0; k < sizeof places / sizeof places[0]; ++k) {
        err.status = 0;
        memcpy(wrong, right, n * sizeof *wrong);
        wrong[places[k]] = nextafterf(wrong[places[k]], INFINITY);
        write_floats(c, &param.value, wrong);
        (void)snprintf(name, sizeof name, "element %zu of the value", places[k]);
        expect_error(c, dp_ddp_compare(ranks.ddp, &err), DP_EFAULT, &err, "rank 1", name);
    }
    write_floats(c, &param.value, right);
    ranks_equal(c, &ranks);
}

/* Outputs and input gradients belong to the rank; inputs may be anywhere. */
static void own_batches(struct context *c)
{
    struct ranks ranks;
    struct dp_tensor in[3], out[3 * DP_MAX_IO], grad_out[3], grad_in[3];
    struct dp_error err = {0};
    int n_out = 0;
    ranks_line(c, &ranks, 3, NULL);
    for (int r = 0; r < 3; ++r) {
        struct dp_slot *at =
            r == 0 ? dp_group_host(ranks.group) : dp_group_slot(ranks.group, 3 - r);
        const size_t rows = 2 + (size_t)r;
        in[r] = make_matrix(c, at, rows, 1, sequence(c, rows, 10 * r, 1));
        in[r].needs_grad = r != 2;
        grad_out[r] =
            make_matrix(c, dp_group_slot(ranks.group, r), rows, 1, sequence(c, rows, r, 1));
    }
    expect_ok(c, dp_ddp_forward(ranks.ddp, in, 1, NULL, out, &n_out, &err), &err, "forward");
    expect(c, n_out == 1, "%d outputs", n_out);
    for (int r = 0; r < 3; ++r) {
        const size_t rows = 2 + (size_t)r;
        expect_matrix(c, "output", &out[r * DP_MAX_IO], dp_group_slot(ranks.group, r), rows, 1,
                      sequence(c, rows, 20 * r + 1, 2));
    }
    expect_ok(c, dp_ddp_backward(ranks.ddp, grad_out, 1, grad_in, 1, &err), &err, "backward");
    for (int r = 0; r < 2; ++r) {
        const size_t rows = 2 + (size_t)r;
        expect_matrix(c, "input gradient", &grad_in[r], in[r].slot, rows, 1,
                      sequence(c, rows, 2 * r, 2));
    }
    expect(c, grad_in[2].slot == NULL, "an unwanted input gradient");
}

static struct dp_module *network(struct context *c, struct dp_group *group)
{
    struct dp_module *model = make_sequential(
        c, group,
        (struct dp_module *[]){make_linear(c, group, 5, 7, true), make_relu(c, group),
                               make_linear(c, group, 7, 3, true)},
        3);
    struct dp_error err = {0};
    expect_ok(c, dp_module_init(model, 11, &err), &err, "dp_module_init");
    return model;
}

/* Ten steps on data whose sums are not exact: the same bits on all ranks, in small buckets too. */
static void same_bits(struct context *c)
{
    for (int n = 2; n <= 6; n += 2) {
        struct ranks ranks;
        struct dp_tensor in[RANKS_MOST], out[RANKS_MOST * DP_MAX_IO], grad[RANKS_MOST];
        struct dp_error err = {0};
        int n_out;
        case_release(c);
        struct dp_group *group = open_group(c, n);
        const struct dp_ddp_config config = {.first_bucket_bytes = 8, .bucket_bytes = 64};
        ranks_open(c, &ranks, group, network(c, group), n, &config);
        for (int turn = 0; turn < 10; ++turn) {
            case_note(c, "R=%d step %d", n, turn);
            for (int r = 0; r < n; ++r) {
                const uint64_t seed = 16 * (uint64_t)turn + (uint64_t)r;
                const size_t rows = 1 + (size_t)(r + turn) % 4;
                in[r] = make_matrix(c, dp_group_slot(group, r), rows, 5, NULL);
                grad[r] = make_matrix(c, dp_group_slot(group, r), rows, 3, NULL);
                write_floats(c, &in[r], randoms(c, rows * 5, seed));
                write_floats(c, &grad[r], randoms(c, rows * 3, 1000 + seed));
            }
            dp_ddp_reset(ranks.ddp);
            expect_ok(c, dp_ddp_forward(ranks.ddp, in, 1, NULL, out, &n_out, &err), &err,
                      "forward");
            expect_ok(c, dp_ddp_backward(ranks.ddp, grad, 1, NULL, 0, &err), &err, "backward");
            ranks_equal(c, &ranks);
            expect_ok(c, dp_ddp_step(ranks.ddp, 0.05f, 0.9f, 0.01f, &err), &err, "step");
            ranks_equal(c, &ranks);
            dp_ddp_zero_grad(ranks.ddp);
        }
    }
}

/* ---- buffers ----------------------------------------------------------------------------- */

static void counters_are(struct context *c, struct ranks *ranks, const double want[])
{
    for (int r = 0; r < ranks->n; ++r)
        ranks_expect(c, ranks, r, 2, false, want[r]);
}

/* The model counts its forwards in a buffer, in place; each rank's starts elsewhere. */
static void buffers(struct context *c)
{
    const struct ranks_batch batch = {{1, 1}, {{1}, {2}}, {1, 1}};
    for (int keep = 0; keep < 2; ++keep) {
        struct ranks ranks;
        struct dp_tensor out[2 * DP_MAX_IO];
        struct dp_error err = {0};
        case_release(c);
        case_note(c, "keep %d", keep);
        struct dp_group *group = open_group(c, 2);
        struct dp_module *model = make_sequential(
            c, group,
            (struct dp_module *[]){make_linear(c, group, 1, 1, true), make_counter(c, group)}, 2);
        const struct dp_ddp_config config = {.keep_buffers = keep == 1};
        ranks_open(c, &ranks, group, model, 2, &config);
        ranks_write(c, &ranks, 0, 2, false, 10);
        ranks_write(c, &ranks, 1, 2, false, 20);
        ranks_pass(c, &ranks, &batch);
        counters_are(c, &ranks, keep ? (double[]){11, 21} : (double[]){11, 11});
        expect(c, dp_ddp_compare(ranks.ddp, &err) == 0, "%s", err.text); /* without buffers */
        ranks_write(c, &ranks, 1, 2, false, 50);
        dp_ddp_grad_mode(ranks.ddp, false);
        ranks_forward(c, &ranks, &batch, NULL, out); /* the one before had gradients */
        counters_are(c, &ranks, keep ? (double[]){12, 51} : (double[]){12, 12});
        ranks_write(c, &ranks, 1, 2, false, 60);
        dp_ddp_grad_mode(ranks.ddp, true);
        dp_ddp_no_sync(ranks.ddp, true);
        ranks_pass(c, &ranks, &batch); /* the one before had none */
        counters_are(c, &ranks, (double[]){13, 61});
        dp_ddp_no_sync(ranks.ddp, false);
        ranks_pass(c, &ranks, &batch); /* the one before was in no_sync */
        counters_are(c, &ranks, (double[]){14, 62});
        ranks_pass(c, &ranks, &batch);
        counters_are(c, &ranks, keep ? (double[]){15, 63} : (double[]){15, 15});
    }
}

/* ---- misuse ------------------------------------------------------------------------------ */

static void refused(struct context *c, struct dp_module *module, struct dp_slot *const slots[],
                    int n, int status, const char *needle)
{
    const struct dp_ddp_config config = {0};
    struct dp_ddp *ddp = NULL;
    struct dp_error err = {0};
    expect_error(c, dp_ddp_open(module, slots, n, &config, &ddp, &err), status, &err, needle, NULL);
}

static void misuse(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    struct dp_slot *zero = dp_group_slot(group, 0), *one = dp_group_slot(group, 1);
    struct dp_tensor out[2 * DP_MAX_IO];
    struct dp_error err = {0};
    int n_out;
    refused(c, linear, (struct dp_slot *[]){zero, one}, 2, DP_EDEVICE, "weight");
    move_module(c, linear, zero);
    refused(c, linear, (struct dp_slot *[]){zero, one}, 0, DP_EINVAL, "0 ranks");
    refused(c, linear, (struct dp_slot *[]){zero, zero}, 2, DP_EINVAL, "ranks 0 and 1");
    refused(c, linear, (struct dp_slot *[]){dp_group_host(group), one}, 2, DP_EINVAL, "rank 0");
    param_at(c, linear, 0)->frozen = param_at(c, linear, 1)->frozen = true;
    refused(c, linear, (struct dp_slot *[]){zero, one}, 2, DP_EINVAL, "no parameter to train");
    param_at(c, linear, 0)->frozen = false;
    struct ranks ranks;
    ranks_open(c, &ranks, group, linear, 2, NULL);
    expect_error(c, dp_ddp_backward(ranks.ddp, NULL, 0, NULL, 0, &err), DP_EINVAL, &err,
                 "without a forward", NULL);
    err.status = 0;
    const struct dp_tensor none[2] = {{0}};
    expect_error(c, dp_ddp_forward(ranks.ddp, none, 1, NULL, out, &n_out, &err), DP_EINVAL, &err,
                 "input 0 of rank 0", NULL);
}

/* A rank fails: the error names it, and the next step is as if nothing had happened. */
static void failures(struct context *c)
{
    const struct ranks_batch batch = {{1, 1, 1, 1}, {{1}, {10}, {-4}, {5}}, {1, 1, 1, 1}};
    for (int way = 0; way < 2; ++way) {
        struct ranks ranks;
        struct probe *probe;
        struct dp_tensor out[4 * DP_MAX_IO], in[4];
        struct dp_error err = {0};
        int n_out, status;
        case_release(c);
        case_note(c, "%s", way ? "backward" : "forward");
        struct dp_group *group = open_group(c, 4);
        struct dp_module *model =
            make_sequential(c, group,
                            (struct dp_module *[]){make_linear(c, group, 1, 1, false),
                                                   make_probe(c, group, &probe)},
                            2);
        ranks_open(c, &ranks, group, model, 4, NULL);
        ranks_pass(c, &ranks, &batch);
        probe->fail_status = DP_EFAULT;
        probe->fail_forward = way == 0 ? 4 : 0;
        probe->fail_backward = way == 1 ? 4 : 0;
        for (int r = 0; r < 4; ++r)
            in[r] = make_matrix(c, dp_group_slot(group, r), 1, 1, batch.x[r]);
        status = dp_ddp_forward(ranks.ddp, in, 1, NULL, out, &n_out, &err);
        if (way == 1) {
            expect_ok(c, status, &err, "forward");
            status = dp_ddp_backward(ranks.ddp, NULL, 0, NULL, 0, &err);
        }
        expect_error(c, status, DP_EFAULT, &err, "replica 2", NULL);
        probe->fail_forward = probe->fail_backward = 0;
        dp_ddp_zero_grad(ranks.ddp);
        ranks_pass(c, &ranks, &batch);
        ranks_expect_all(c, &ranks, 0, true, 3.0);
    }
}

static const struct test_case cases[] = {
    {"distributed/mean", "DDP-01", mean},
    {"distributed/unequal", "DDP-02 DDP-03 DDP-04", unequal},
    {"distributed/division", "DDP-05", division},
    {"distributed/lengths", "DDP-05", lengths},
    {"distributed/broadcast", "DDP-07", broadcast_once},
    {"distributed/compared", "DDP-07", compared},
    {"distributed/own", "DDP-27 DDP-28", own_batches},
    {"distributed/same-bits", "DET-07", same_bits},
    {"distributed/buffers", "DDP-08", buffers},
    {"distributed/misuse", "DDP-29", misuse},
    {"distributed/failures", "ERR-08", failures},
};
const struct case_table distributed_cases = {cases, sizeof cases / sizeof cases[0]};
