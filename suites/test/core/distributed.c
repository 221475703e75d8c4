/* distributed.c: DistributedDataParallel: long parameters, ranks that are compared, buffers that
 * stay, and misuse. */
#include "list.h"
#include "probes.h"
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the mean ---------------------------------------------------------------------------- */

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
        expect_ok(c, dp_ddp_forward(ranks.ddp, in, 1, NULL, out, &n_out, &c->err), "forward");
        expect_ok(c, dp_ddp_backward(ranks.ddp, grad, 1, NULL, 0, &c->err), "backward");
        for (int r = 0; r < 3; ++r) {
            struct dp_ddp_param param;
            expect_ok(c, dp_ddp_param(ranks.ddp, r, 0, &param, &c->err), "dp_ddp_param");
            expect_sum(c, group, &param.grad, want);
        }
    }
}

/* ---- what is sent ------------------------------------------------------------------------ */

/* One bit of one element differs, anywhere in a long parameter. */
static void compared(struct context *c)
{
    static const size_t places[] = {0, 65535, 65536, 89999};
    struct dp_group *group = open_group(c, 2);
    struct ranks ranks;
    struct dp_ddp_param param;
    char name[32];
    ranks_open(c, &ranks, group, make_linear(c, group, 300, 300, false), 2, NULL);
    ranks_equal(c, &ranks);
    expect_ok(c, dp_ddp_param(ranks.ddp, 1, 0, &param, &c->err), "dp_ddp_param");
    const size_t n = dp_tensor_count(&param.value);
    const float *right = read_floats(c, &param.value);
    float *wrong = case_memory(c, n * sizeof *wrong);
    for (size_t k = 0; k < sizeof places / sizeof places[0]; ++k) {
        memcpy(wrong, right, n * sizeof *wrong);
        wrong[places[k]] = nextafterf(wrong[places[k]], INFINITY);
        write_floats(c, &param.value, wrong);
        (void)snprintf(name, sizeof name, "element %zu of the value", places[k]);
        expect_error(c, dp_ddp_compare(ranks.ddp, &c->err), DP_EFAULT, "rank 1", name);
    }
    write_floats(c, &param.value, right);
    ranks_equal(c, &ranks);
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
        expect(c, dp_ddp_compare(ranks.ddp, &c->err) == 0, "%s", c->err.text); /* without buffers */
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

static void distributed_refused(struct context *c, struct dp_module *module,
                                struct dp_slot *const slots[], int n, int status,
                                const char *needle)
{
    const struct dp_ddp_config config = {0};
    struct dp_ddp *ddp = NULL;
    expect_error(c, dp_ddp_open(module, slots, n, &config, &ddp, &c->err), status, needle, NULL);
}

static void misuse(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    struct dp_slot *zero = dp_group_slot(group, 0), *one = dp_group_slot(group, 1);
    struct dp_tensor out[2 * DP_MAX_IO];
    int n_out;
    distributed_refused(c, linear, (struct dp_slot *[]){zero, one}, 2, DP_EDEVICE, "weight");
    move_module(c, linear, zero);
    distributed_refused(c, linear, (struct dp_slot *[]){zero, one}, 0, DP_EINVAL, "0 ranks");
    distributed_refused(c, linear, (struct dp_slot *[]){zero, zero}, 2, DP_EINVAL, "ranks 0 and 1");
    distributed_refused(c, linear, (struct dp_slot *[]){dp_group_host(group), one}, 2, DP_EINVAL,
                        "rank 0");
    param_at(c, linear, 0)->frozen = param_at(c, linear, 1)->frozen = true;
    distributed_refused(c, linear, (struct dp_slot *[]){zero, one}, 2, DP_EINVAL,
                        "no parameter to train");
    param_at(c, linear, 0)->frozen = false;
    struct ranks ranks;
    ranks_open(c, &ranks, group, linear, 2, NULL);
    expect_error(c, dp_ddp_backward(ranks.ddp, NULL, 0, NULL, 0, &c->err), DP_EINVAL,
                 "without a forward", NULL);
    const struct dp_tensor none[2] = {{0}};
    expect_error(c, dp_ddp_forward(ranks.ddp, none, 1, NULL, out, &n_out, &c->err), DP_EINVAL,
                 "input 0 of rank 0", NULL);
}

static const struct test_case cases[] = {
    {"distributed/lengths", "DDP-05", lengths},
    {"distributed/compared", "DDP-07", compared},
    {"distributed/buffers", "DDP-08", buffers},
    {"distributed/misuse", "DDP-29", misuse},
};
const struct case_table distributed_cases = {cases, sizeof cases / sizeof cases[0]};
