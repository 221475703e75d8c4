/* determinism.c: sums are added in replica order, in whatever order the replicas finish. 1e8 + 1 -
 * 1e8 + 1 is 1 in that order, 0 backwards and pairwise, 2 in another. For a communicator that may
 * add in any order, the bound is the rounding of any order. */
#include "list.h"
#include "probes.h"

#include <math.h>

static const float order_probe[4] = {1e8f, 1.0f, -1e8f, 1.0f};

/* The sum of k summands of n numbers each: each addition rounds by at most 2^-24 of the sum of
 * magnitudes. */
static void expect_sum(struct context *c, const struct dp_group *group, const struct dp_tensor *sum,
                       size_t n, const float *const part[], int k)
{
    float *in_order = case_memory(c, n * sizeof *in_order);
    double *middle = case_memory(c, n * sizeof *middle), *bound = case_memory(c, n * sizeof *bound);
    for (size_t e = 0; e < n; ++e) {
        in_order[e] = part[0][e];
        middle[e] = bound[e] = 0;
        for (int i = 0; i < k; ++i) {
            in_order[e] = i == 0 ? part[0][e] : in_order[e] + part[i][e];
            middle[e] += (double)part[i][e];
            bound[e] += k * 0x1p-24 * fabs((double)part[i][e]);
        }
    }
    if (adds_freely(group))
        expect_within(c, "sum in any order", sum, middle, bound);
    else
        expect_bits(c, "sum in replica order", sum, in_order);
}

/* Every i has a different schedule: which replica sleeps, and how long. */
static unsigned delay(int i, int replica)
{
    return (unsigned)(i * 7 + replica * 5 + i / 4) % 3U == 0U ? (unsigned)(i + replica) % 2U : 0U;
}

static void through_the_wrapper(struct context *c)
{
    static const int order[] = {2, 0, 3, 1};
    static const float *const part[] = {&order_probe[0], &order_probe[1], &order_probe[2],
                                        &order_probe[3]};
    struct dp_group *group = open_group(c, 4);
    struct dp_slot **ids = slot_list(c, group, order, 4);
    struct inject *plan;
    struct dp_module *inject = make_inject(c, group, &plan);
    move_module(c, inject, ids[0]);
    struct dp_module *wrapper = make_parallel(
        c, inject, &(struct dp_parallel_config){.device_ids = ids, .n_device_ids = 4});
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor x = make_matrix(c, ids[0], 4, 1, sequence(c, 4, 1.0, 1.0));
    for (int i = 0; i < 100; ++i) {
        case_note(c, "schedule %d", i);
        for (int r = 0; r < 4; ++r) {
            plan->grad[r] = order_probe[r];
            plan->backward_ms[r] = delay(i, r);
        }
        dp_run_reset(run);
        dp_zero_grad(inject);
        (void)forward(c, wrapper, run, &x);
        (void)backward(c, wrapper, run, NULL);
        const struct dp_param *param = param_at(c, inject, 0);
        expect(c, param->has_grad, "no gradient");
        expect_sum(c, group, &param->grad, 1, part, 4);
    }
}

static void through_reduce_add(struct context *c)
{
    struct dp_group *group = open_group(c, 4);
    struct dp_slot **slots = slot_list(c, group, (int[]){3, 1, 0, 2}, 4);
    struct dp_run *run = open_run(c, group);
    for (size_t n = 1; n <= 70000; n = n * 9 + 1) {
        case_note(c, "n=%zu", n);
        struct dp_tensor src[4], sum;
        const float *part[4];
        for (int i = 0; i < 4; ++i) {
            float *values = case_memory(c, n * sizeof *values);
            for (size_t e = 0; e < n; ++e)
                values[e] = order_probe[i];
            part[i] = values;
            src[i] = make_tensor(c, slots[i], DP_F32, 1, &n, NULL);
            write_floats(c, &src[i], values);
        }
        struct dp_error err = {0};
        expect_ok(c, dp_reduce_add_coalesced(run, src, 1, 4, slots[2], 100, &sum, &err), &err,
                  "dp_reduce_add_coalesced");
        expect_sum(c, group, &sum, n, part, 4);
    }
}

/* Random floats give the bits of ((a + b) + c) + ..., with every communicator. */
static void random_sums(struct context *c)
{
    static const size_t sizes[] = {1, 3, 64, 1000, 20011};
    for (int k = 1; k <= 8; ++k) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            case_release(c);
            case_note(c, "K=%d n=%zu", k, sizes[s]);
            struct dp_group *group = open_group(c, k);
            struct dp_tensor src[8], sum;
            const float *part[8];
            for (int i = 0; i < k; ++i) {
                part[i] = randoms(c, sizes[s], 31U * (unsigned)i + sizes[s]);
                src[i] = make_tensor(c, dp_group_slot(group, i), DP_F32, 1, &sizes[s], NULL);
                write_floats(c, &src[i], part[i]);
            }
            struct dp_error err = {0};
            expect_ok(c,
                      dp_reduce_add_coalesced(open_run(c, group), src, 1, k,
                                              dp_group_slot(group, k - 1), DP_BUFFER_BYTES, &sum,
                                              &err),
                      &err, "dp_reduce_add_coalesced");
            expect_sum(c, group, &sum, sizes[s], part, k);
        }
    }
}

/* -0 + -0 is -0: a sum that starts from +0 gives +0. */
static void signed_zero(struct context *c)
{
    static const float want[3] = {-0.0f, -0.0f, -0.0f};
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct dp_group *group = open_group(c, k);
        struct dp_tensor src[4], sum;
        for (int i = 0; i < k; ++i) {
            src[i] = make_tensor(c, dp_group_slot(group, i), DP_F32, 1, (size_t[]){3}, NULL);
            write_floats(c, &src[i], want);
        }
        struct dp_error err = {0};
        expect_ok(c,
                  dp_reduce_add_coalesced(open_run(c, group), src, 1, k, dp_group_slot(group, 0),
                                          100, &sum, &err),
                  &err, "dp_reduce_add_coalesced");
        expect_bits(c, "sum of -0", &sum, want);
    }
}

/* The data are real and replicas are delayed in twenty ways; output, input gradient and parameter
 * gradients have the same bits every time. */
static void same_bits(struct context *c)
{
    struct dp_group *group = open_group(c, 4);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct probe *probe;
    struct dp_module *parts[] = {make_linear(c, group, 13, 9, true), make_tanh(c, group),
                                 make_probe(c, group, &probe), make_linear(c, group, 9, 5, true)};
    struct dp_module *model = make_sequential(c, group, parts, 4);
    struct dp_error err = {0};
    expect_ok(c, dp_module_init(model, 42, &err), &err, "dp_module_init");
    move_module(c, model, slot);
    struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    struct dp_tensor x = make_matrix(c, slot, 30, 13, NULL);
    const struct dp_tensor upstream = make_matrix(c, slot, 30, 5, NULL);
    write_floats(c, &x, randoms(c, 390, 1));
    write_floats(c, &upstream, randoms(c, 150, 2));
    x.needs_grad = true;
    const float *want[6] = {NULL};
    const int alike = adds_freely(group) ? 2 : 6; /* entries from 2 on are gradients */
    for (int i = 0; i < 20; ++i) {
        case_note(c, "schedule %d", i);
        for (int r = 0; r < 4; ++r) {
            probe->queued = i % 2 != 0;
            probe->forward_ms[r] = i == 0 ? 0 : delay(i, r);
            probe->backward_ms[r] = i == 0 ? 0 : delay(i + 1, r);
        }
        dp_run_reset(run);
        dp_zero_grad(model);
        const struct dp_tensor y = forward(c, wrapper, run, &x);
        const struct dp_tensor dx = backward(c, wrapper, run, &upstream);
        for (int t = 0; t < alike; ++t) {
            const struct dp_tensor *tensor = t == 0   ? &y
                                             : t == 1 ? &dx
                                                      : &param_at(c, model, t - 2)->grad;
            want[t] = i == 0 ? read_floats(c, tensor) : want[t];
            expect_bits(c, "tensor", tensor, want[t]);
        }
    }
}

static const struct test_case cases[] = {
    {"determinism/through-the-wrapper", "DET-01 DET-04", through_the_wrapper},
    {"determinism/through-reduce-add", "DET-01", through_reduce_add},
    {"determinism/random-sums", "DET-01 DET-05", random_sums},
    {"determinism/signed-zero", "DET-01 DET-02", signed_zero},
    {"determinism/same-bits", "DET-04 DET-06", same_bits},
};
const struct case_table determinism_cases = {cases, sizeof cases / sizeof cases[0]};
