/* values_kept.c: copies keep every bit: minus zero, infinities, NaN, denormal numbers, integers
 * that fit in no double. */
#include "primitive.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 12 };

static const float single[N] = {-0.0F,        INFINITY, 0.0F,         -INFINITY,     NAN,  FLT_MAX,
                                -FLT_MIN / 4, -0.0F,    FLT_TRUE_MIN, -FLT_TRUE_MIN, 1.0F, -NAN};
static const double twice[N] = {-0.0,        (double)INFINITY, 0.0,     -(double)INFINITY,
                                (double)NAN, DBL_MAX,          -5e-324, -0.0,
                                DBL_MIN / 8, 1 + DBL_EPSILON,  -1e300,  4e-320};
static const int32_t small[N] = {INT32_MIN, INT32_MAX, -1, 0,  16777217, -16777217,
                                 1,         7,         9,  -9, 2,        3};
static const int64_t large[N] = {INT64_MIN,
                                 INT64_MAX,
                                 -1,
                                 0,
                                 INT64_C(9007199254740993),
                                 INT64_C(-9007199254740993),
                                 INT64_C(36028797018963969),
                                 INT64_C(1) << 53,
                                 INT64_C(4611686018427387905),
                                 16777217,
                                 INT64_C(9007199254740995),
                                 5};

static const struct {
    enum impl_dtype dtype;
    const void *data;
} lists[] = {{IMPL_F32, single}, {IMPL_F64, twice}, {IMPL_I32, small}, {IMPL_I64, large}};
enum { LISTS = sizeof lists / sizeof lists[0] };

/* Returns n elements of list number `list`, from index `first` on, as a vector. */
static struct impl_array *piece(struct check *c, int list, size_t first, size_t n)
{
    struct impl_array *array = check_typed(c, lists[list].dtype, 1, &n, check_sequence(c, n, 0, 0));
    const size_t each = check_dtype_bytes(array->dtype);

    memcpy(array->data, (const char *)lists[list].data + first * each, n * each);
    return array;
}

static void is_piece(struct check *c, const char *what, const struct impl_array *got, int list,
                     size_t first, size_t n)
{
    const struct impl_array *want = piece(c, list, first, n);
    const size_t each = check_dtype_bytes(want->dtype);

    check_int(c, check_text(c, "%s: its type", what), (long long)got->dtype,
              (long long)want->dtype);
    check_shape(c, what, got, 1, &n);
    for (size_t i = 0; i < n; ++i)
        check_true(c,
                   memcmp((const char *)got->data + i * each, (const char *)want->data + i * each,
                          each) == 0,
                   "%s: element %zu is %.17g, must have the bits of %.17g", what, i,
                   check_element(got, i), check_element(want, i));
}

/* ---- SPLIT-14, GATH-14 ----------------------------------------------------------------------- */

static void values_scatter(struct check *c, int k)
{
    for (int list = 0; list < LISTS; ++list)
        for (int place = IMPL_HOST; place < 1; ++place) {
            const int *ids = mixed_ids(k);
            size_t size[IMPL_MAX_DEVICES], first = 0;
            struct impl_scatter op = {.devices = ids, .n = k};
            const int m = check_shards(N, k, size);

            check_note(c, "K=%d, list %d, from %d: ", k, list, place);
            op.input = check_on(piece(c, list, 0, N), place < 0 ? place : ids[0]);
            op.shards = check_output(c, k, N * sizeof(double));
            check_scatter(c, &op);
            check_int(c, "shards", op.n_shards, m);
            for (int s = 0; s < m; first += size[s++])
                is_piece(c, check_text(c, "shard %d", s), &op.shards[s], list, first, size[s]);
        }
}

static void values_gather(struct check *c, int k)
{
    for (int list = 0; list < LISTS; ++list)
        for (int place = IMPL_HOST; place < 1; ++place) {
            const int *ids = mixed_ids(k);
            struct impl_array *parts = check_memory(c, (size_t)k * sizeof *parts);
            struct impl_gather op = {.parts = parts, .device = place < 0 ? place : ids[k - 1]};
            size_t size[IMPL_MAX_DEVICES], first = 0;

            op.n = check_shards(N, k, size);
            check_note(c, "K=%d, list %d, to %d: ", k, list, op.device);
            for (int s = 0; s < op.n; first += size[s++])
                parts[s] = *check_on(piece(c, list, first, size[s]), ids[s]);
            op.out = check_output(c, 1, N * sizeof(double));
            check_gather(c, &op);
            is_piece(c, "the result", op.out, list, 0, N);
        }
}

/* ---- COAL-13: sums of integers --------------------------------------------------------------- */

/* List n has 2^53 + 1 at index n and 2 elsewhere: the sums fit in no double. */
static void values_wide_sums(struct check *c, int k)
{
    const int *ids = mixed_ids(k);
    const size_t n = 8 + (size_t)k;
    struct impl_array *src = check_memory(c, (size_t)k * sizeof *src);
    struct impl_reduce op = {.src = src, .n = 1, .k = k, .device = ids[0], .poke = -1};

    for (int s = 0; s < k; ++s) {
        src[s] = *check_on(check_typed(c, IMPL_I64, 1, &n, check_sequence(c, n, 2, 0)), ids[s]);
        ((int64_t *)src[s].data)[s] = INT64_C(9007199254740993);
    }
    op.sums = check_output(c, 1, n * sizeof(int64_t));
    check_reduce(c, &op);
    check_int(c, "type of the sum", (long long)op.sums->dtype, IMPL_I64);
    check_shape(c, "sum", op.sums, 1, &n);
    for (int e = 0; e < (int)n; ++e)
        check_int(c, check_text(c, "sum %d", e), ((const int64_t *)op.sums->data)[e],
                  e < k ? INT64_C(9007199254740993) + 2 * (k - 1) : 2 * k);
}

/* ---- REPL-07, COMP-01: the sign of zero ------------------------------------------------------ */

/* A weight of -0 gives -0 for positive numbers in every replica, and 0 for negative ones. */
static void values_minus_zero(struct check *c, int k)
{
    struct impl_model *model =
        check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"affine\",\"with_bias\":false}");
    const double zero = -0.0;
    double y[N];

    for (int r = 0; r < N; ++r)
        y[r] = r < 7 ? 0.0 : -0.0;
    for (int turn = 0; turn < 2; ++turn) {
        check_note(c, "K=%d, step %d: ", k, turn);
        check_set(c, model, IMPL_VALUE, 0, &zero);
        check_bits(c, "output",
                   check_forward(c, model, check_needs_grad(check_counted(c, N, -6.5, 1))), N, y);
        check_bits(c, "input gradient", check_backward(c, model, check_counted(c, N, -6.5, 1)), N,
                   y);
    }
}

/* The numbers pass through a module that does nothing, in both directions. */
static void values_zero_sign(struct check *c, int k)
{
    static const double x[N] = {0.0, -0.0, 1, -0.0, 0.0, -2, -0.0, -0.0, 0.0, 3, -0.0, 0.0};
    struct impl_model *model = check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"identity\"}");

    check_bits(c, "output", check_forward(c, model, check_needs_grad(check_column(c, N, x))), N, x);
    check_bits(c, "input gradient", check_backward(c, model, check_column(c, N, x)), N, x);
}

static const struct check_case coalesce_cases[] = {
    {"COAL-13.wide", "COAL-13", MUST, OBSERVED, PRIM, IMPL_CAP_REDUCE, 1, .each = values_wide_sums},
};
const struct check_table values_kept_coalesce_table = CHECK_TABLE(coalesce_cases);

static const struct check_case composition_cases[] = {
    {"COMP-01.zero_sign", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = values_zero_sign},
};
const struct check_table values_kept_composition_table = CHECK_TABLE(composition_cases);

static const struct check_case gather_cases[] = {
    {"GATH-14.bits", "GATH-14", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, .each = values_gather},
};
const struct check_table values_kept_gather_table = CHECK_TABLE(gather_cases);

static const struct check_case replicate_cases[] = {
    {"REPL-07.minus_zero", "REPL-07", MUST, OBSERVED, DP, PARALLEL, 1, .each = values_minus_zero},
};
const struct check_table values_kept_replicate_table = CHECK_TABLE(replicate_cases);

static const struct check_case split_cases[] = {
    {"SPLIT-14.bits", "SPLIT-14", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = values_scatter},
};
const struct check_table values_kept_split_table = CHECK_TABLE(split_cases);
