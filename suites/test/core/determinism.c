/* determinism.c: random numbers are added in replica order. For a communicator that may add in any
 * order, the bound is the rounding of any order. */
#include "list.h"

#include <math.h>

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

/* Random floats give the bits of ((a + b) + c) + ..., with every communicator. Replica i is on slot
 * i + 1, and the last on slot 0: the order is that of replicas, not of slots. */
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
                src[i] =
                    make_tensor(c, dp_group_slot(group, (i + 1) % k), DP_F32, 1, &sizes[s], NULL);
                write_floats(c, &src[i], part[i]);
            }
            expect_ok(c,
                      dp_reduce_add_coalesced(open_run(c, group), src, 1, k,
                                              dp_group_slot(group, k - 1), DP_BUFFER_BYTES, &sum,
                                              &c->err),
                      "dp_reduce_add_coalesced");
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
        expect_ok(c,
                  dp_reduce_add_coalesced(open_run(c, group), src, 1, k, dp_group_slot(group, 0),
                                          100, &sum, &c->err),
                  "dp_reduce_add_coalesced");
        expect_bits(c, "sum of -0", &sum, want);
    }
}

static const struct test_case cases[] = {
    {"determinism/random-sums", "DET-01 DET-05", random_sums},
    {"determinism/signed-zero", "DET-01 DET-02", signed_zero},
};
const struct case_table determinism_cases = {cases, sizeof cases / sizeof cases[0]};
