/* split_model.c: area SPLIT, in models: which rows each replica gets. */
#include "golden.h"
#include "primitive.h"

#define TAG_REPLICA "{\"kind\":\"tag_replica\"}"
#define TAG_SIZE    "{\"kind\":\"tag_dim\",\"dim\":0}"
#define AFFINE      "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"

/* Makes one forward of the column first, first + 1, ..; row i of shard s must return as itself plus
 * 1000 * (s + 1), or plus 1000 * the rows of s. */
static void tagged_rows(struct check *c, struct impl_model *model, size_t rows, int k, bool sizes)
{
    const double first = 3 + (double)rows;
    double *want = check_memory(c, rows * sizeof *want);
    size_t size[IMPL_MAX_DEVICES], i = 0;
    const int m = check_shards(rows, k, size);
    const size_t shape[] = {rows, 1};
    const struct impl_array *y;

    for (int s = 0; s < m; ++s)
        for (size_t r = 0; r < size[s]; ++r, ++i)
            want[i] = first + (double)i + 1000 * (sizes ? (double)size[s] : s + 1.0);
    check_note(c, "K=%d N=%zu: ", k, rows);
    y = check_forward(c, model, check_counted(c, rows, first, 1));
    check_shape(c, "output", y, 2, shape);
    check_values(c, sizes ? "x + 1000 * rows of its shard" : "x + 1000 * (its replica + 1)", y,
                 rows, want);
}

static void split_model_rows(struct check *c, int k)
{
    static const size_t rows[] = {1, 3, 9, 10, 13, 17, 33};
    const int *ids = primitive_order(c, k);
    struct impl_model *who = check_parallel(c, k, ids, "", TAG_REPLICA);
    struct impl_model *how_many = check_parallel(c, k, ids, "", TAG_SIZE);

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        tagged_rows(c, who, rows[j], k, false);
        tagged_rows(c, how_many, rows[j], k, true);
    }
}

/* Batches grow and shrink: no data of an earlier one may be left. */
static void split_model_changing(struct check *c, int k)
{
    static const size_t rows[] = {10, 1, 17, 2, 9, 9, 3, 16, 5};
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", AFFINE "," TAG_REPLICA);

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        const size_t n = rows[j];
        double *want = check_memory(c, n * sizeof *want);
        const double *g = check_sequence(c, n, 5, 2);
        const struct impl_array *x = check_needs_grad(check_counted(c, n, -4, 3));
        const struct impl_array *y = check_forward(c, model, x);

        check_note(c, "K=%d N=%zu: ", k, n);
        for (size_t r = 0; r < n; ++r)
            want[r] = 2 * g[r];
        check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)), n,
                     want);
        check_grad_is(c, model, 1, primitive_sum(g, 0, n));
        check_zero_grad(c, model);
    }
}

/* ---- SPLIT-02, 04 ---------------------------------------------------------------------------- */

/* A sum per replica makes a vector with as many elements as replicas ran. */
static void replicas_seen(struct check *c, int k, size_t rows)
{
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", AFFINE ",{\"kind\":\"sum\"}");
    const double *x = check_sequence(c, rows, 11, 3);
    size_t size[IMPL_MAX_DEVICES], first = 0, shape[1];
    const int m = check_shards(rows, k, size);
    double want[IMPL_MAX_DEVICES];
    const struct impl_array *y;

    for (int s = 0; s < m; first += size[s++])
        want[s] = 2 * primitive_sum(x, first, size[s]) + (double)size[s];
    shape[0] = (size_t)m;
    check_note(c, "K=%d N=%zu: ", k, rows);
    y = check_forward(c, model, check_column(c, rows, x));
    check_shape(c, "one sum for each replica", y, 1, shape);
    check_values(c, "the sums", y, shape[0], want);
    check_model_close(c, model);
}

static void split_model_idle(struct check *c)
{
    static const struct {
        int k;
        size_t rows;
    } pairs[] = {{3, 4}, {4, 5}, {4, 6}, {4, 9}, {4, 10}, {8, 9}, {8, 10}, {8, 17}, {8, 49}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && pairs[i].k <= check_devices(c); ++i)
        replicas_seen(c, pairs[i].k, pairs[i].rows);
}

static void split_model_few(struct check *c, int k)
{
    const int *ids = primitive_order(c, k);
    struct impl_model *model = check_parallel(c, k, ids, "", "{\"kind\":\"tag_device\"}");

    for (int rows = 1; rows < k; ++rows) {
        double want[IMPL_MAX_DEVICES];

        replicas_seen(c, k, (size_t)rows);
        for (int r = 0; r < rows; ++r)
            want[r] = 7 + r + 1000.0 * (ids[r] + 1);
        check_values(c, "x + 1000 * (its device + 1)",
                     check_forward(c, model, check_counted(c, (size_t)rows, 7, 1)), (size_t)rows,
                     want);
    }
}

static void split_model_trace(struct check *c, int k)
{
    static const size_t rows[] = {10, 9, 17, 5, 1, 16};
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    const int *ids = primitive_order(c, k);
    struct impl_model *model = check_parallel(c, k, ids, "", AFFINE);

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        size_t size[IMPL_MAX_DEVICES];
        const int m = check_shards(rows[j], k, size);

        check_forward_trace(c, model, check_counted(c, rows[j], 1, 1), trace);
        check_note(c, "K=%d N=%zu: ", k, rows[j]);
        check_int(c, "replicas that ran", trace->replicas, m);
        for (int s = 0; s < m; ++s) {
            const struct impl_replica *replica = &trace->replica[s];

            check_int(c, check_text(c, "rows of replica %d", s), (long long)replica->rows,
                      (long long)size[s]);
            check_int(c, check_text(c, "device of replica %d", s), replica->device, ids[s]);
            check_int(c, check_text(c, "forwards of replica %d", s), (long long)replica->calls, 1);
        }
    }
}

/* ---- SPLIT-05, 09 ---------------------------------------------------------------------------- */

static void split_model_no_rows(struct check *c, int k)
{
    const size_t shape[] = {0, 1};
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", AFFINE);
    const struct impl_array *x = check_needs_grad(check_column(c, 0, NULL));
    const struct impl_array *y, *dx;

    check_note(c, "K=%d N=0: ", k);
    y = check_forward(c, model, x);
    check_shape(c, "output", y, 2, shape);
    dx = check_backward(c, model, primitive_upstream(c, y, NULL));
    check_shape(c, "input gradient", dx, 2, shape);
    check_grads_are(c, model, 0, 0);
    y = check_forward(c, model, check_counted(c, 10, 1, 1));
    check_values(c, "a batch of 10 afterwards", y, 10, check_sequence(c, 10, 3, 2));
}

static void split_model_scalar(struct check *c, int k)
{
    static const double value = 5;
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", AFFINE);
    const struct impl_array *x = check_array(c, 0, NULL, &value);

    check_refused(c, "a 0-dimensional input", check_try_one(c, model, x, true, true),
                  ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE));
    check_grad_none(c, model, 0);
    check_values(c, "a batch of 10 afterwards", check_forward(c, model, check_counted(c, 10, 1, 1)),
                 10, check_sequence(c, 10, 3, 2));
}

/* A batch without rows adds nothing to gradients that are there, and the next step is right. */
static void split_model_no_rows_kept(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);

    check_note(c, "K=%d N=0: ", k);
    golden_prefill(c, model);
    check_forward(c, model, golden_rows(c, 0));
    check_backward(c, model, NULL);
    check_grads_are(c, model, 1000, 123);
    golden_unharmed(c, model);
}

static const struct check_case cases[] = {
    {"SPLIT-01.rows", "SPLIT-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = split_model_rows},
    {"SPLIT-01.changing", "SPLIT-01", MUST, OBSERVED, DP, PARALLEL, 2,
     .each = split_model_changing},
    {"SPLIT-02.idle", "SPLIT-02", MUST, OBSERVED, DP, PARALLEL, 3, split_model_idle},
    {"SPLIT-02.trace", "SPLIT-02", MUST, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE, 1,
     .each = split_model_trace},
    {"SPLIT-04.model", "SPLIT-04", MUST, OBSERVED, DP, PARALLEL, 2, .each = split_model_few},
    {"SPLIT-05.model", "SPLIT-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = split_model_no_rows,
     .dialect = IMPL_NO_ROWS, .choice = IMPL_EMPTY},
    {"SPLIT-05.kept", "SPLIT-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = split_model_no_rows_kept,
     .dialect = IMPL_NO_ROWS, .choice = IMPL_EMPTY},
    {"SPLIT-09.model", "SPLIT-09", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = split_model_scalar},
};
const struct check_table split_model_table = CHECK_TABLE(cases);
