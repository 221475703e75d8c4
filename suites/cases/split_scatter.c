/* split_scatter.c: area SPLIT, on arrays: the device of each row. */
#include "primitive.h"

#include "impls/words.h"

#define REFUSED (ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE))

/* Makes rows of 3 numbers, all different. */
static struct impl_array *rows_of_3(struct check *c, size_t rows, double first)
{
    const size_t dim[] = {rows, 3};

    return check_array(c, 2, dim, check_sequence(c, 3 * rows, first, 1));
}

/* Scatters dimension dim of x to k devices, and checks every shard. */
static void scatter_and_check(struct check *c, const struct impl_array *x, int k, int dim)
{
    const int *devices = primitive_order(c, k);
    const int at = dim < 0 ? dim + x->ndim : dim;
    size_t sizes[IMPL_MAX_DEVICES];
    const int want = check_shards(x->dim[at], k, sizes);
    int m;
    const struct impl_array *shards = primitive_scatter(c, x, devices, k, dim, &m);

    check_int(c, "number of shards", m, want);
    primitive_check_shards(c, x, at, shards, m, sizes, devices);
}

/* Checks that the session still works. */
static void scatter_still_works(struct check *c)
{
    check_note(c, "after a refusal: ");
    scatter_and_check(c, rows_of_3(c, 5, 70), check_devices(c) < 2 ? 1 : 2, 0);
    check_note(c, "%s", "");
}

/* ---- SPLIT-01, 04, 06 ------------------------------------------------------------------------ */

static void split_scatter_order(struct check *c, int k)
{
    static const size_t rows[] = {1, 3, 9, 10, 13, 17, 33};

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        const int source = (int)j % (k + 1) == k ? IMPL_HOST : (int)j % (k + 1);

        check_note(c, "K=%d N=%zu: ", k, rows[j]);
        scatter_and_check(c, check_on(rows_of_3(c, rows[j], 1 + 100 * (double)j), source), k, 0);
    }
}

/* The numbers fit in no float, and the shapes have one to five dimensions. */
static void split_scatter_types(struct check *c, int k)
{
    static const enum impl_dtype types[] = {IMPL_F64, IMPL_I32, IMPL_I64, IMPL_F32};
    static const double first[] = {1099511627777.0, 16777217.0, 1099511627779.0, 1.0};
    static const size_t dim[][IMPL_MAX_DIMS] = {
        {9, 2, 3}, {10}, {7, 1, 2, 2, 3}, {5, 0}, {11, 4, 1, 2},
    };
    static const int ndim[] = {3, 1, 5, 2, 4};

    for (int type = 0; type < 4; ++type)
        for (int shape = 0; shape < 5; ++shape) {
            size_t n = 1;

            for (int d = 0; d < ndim[shape]; ++d)
                n *= dim[shape][d];
            check_note(c, "K=%d type %s, shape %d: ", k, impl_dtype_word(types[type]), shape);
            scatter_and_check(c,
                              check_typed(c, types[type], ndim[shape], dim[shape],
                                          check_sequence(c, n, first[type], 1)),
                              k, 0);
        }
}

/* The shards have many kilobytes, more than any small staging memory holds, in one call after
 * another. */
static void split_scatter_wide(struct check *c)
{
    static const size_t dim[][3] = {{9, 33, 31}, {7, 41, 13}};
    const int most = primitive_some(c);

    for (int shape = 0; shape < 2; ++shape)
        for (int k = most; k > 0; k = k > 2 ? 2 : k - 1) {
            const size_t n = dim[shape][0] * dim[shape][1] * dim[shape][2];
            const int source = shape == 1 ? primitive_order(c, k)[k - 1] : IMPL_HOST;

            check_note(c, "K=%d, %zu rows of %zu numbers: ", k, dim[shape][0], n / dim[shape][0]);
            scatter_and_check(
                c,
                check_on(check_array(c, 3, dim[shape], check_sequence(c, n, 1 + shape, 1)), source),
                k, shape);
        }
}

static void split_scatter_few(struct check *c, int k)
{
    for (int rows = 1; rows < k; ++rows) {
        const int *devices = primitive_order(c, k);
        const struct impl_array *x = rows_of_3(c, (size_t)rows, 40);
        size_t sizes[IMPL_MAX_DEVICES];
        const struct impl_array *shards;
        int m;

        for (int s = 0; s < rows; ++s)
            sizes[s] = 1;
        check_note(c, "K=%d N=%d: ", k, rows);
        shards = primitive_scatter(c, x, devices, k, 0, &m);
        check_int(c, "number of shards", m, rows);
        primitive_check_shards(c, x, 0, shards, m, sizes, devices);
    }
}

static void split_scatter_ceil(struct check *c)
{
    static const struct {
        size_t rows;
        int k, m;
        size_t sizes[8];
    } pairs[] = {
        {7, 3, 3, {3, 3, 1}},
        {10, 4, 4, {3, 3, 3, 1}},
        {5, 4, 3, {2, 2, 1}},
        {30, 8, 8, {4, 4, 4, 4, 4, 4, 4, 2}},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && pairs[i].k <= check_devices(c); ++i) {
        const int *devices = primitive_order(c, pairs[i].k);
        const struct impl_array *x = rows_of_3(c, pairs[i].rows, 1);
        const struct impl_array *shards;
        int m;

        check_note(c, "K=%d N=%zu: ", pairs[i].k, pairs[i].rows);
        shards = primitive_scatter(c, x, devices, pairs[i].k, 0, &m);
        check_int(c, "number of shards", m, pairs[i].m);
        primitive_check_shards(c, x, 0, shards, m, pairs[i].sizes, devices);
    }
}

/* ---- SPLIT-05 -------------------------------------------------------------------------------- */

static void split_scatter_no_rows(struct check *c, int k)
{
    const struct impl_array *none = rows_of_3(c, 0, 0);
    static const size_t sizes[IMPL_MAX_DEVICES];
    int m;
    const int *devices = primitive_order(c, k);
    const struct impl_array *shards = primitive_scatter(c, none, devices, k, 0, &m);

    check_note(c, "K=%d N=0: ", k);
    check_int(c, "number of shards", m, k);
    primitive_check_shards(c, none, 0, shards, m, sizes, devices);
    scatter_and_check(c, rows_of_3(c, 2 * (size_t)k + 1, 9), k, 0);
}

static void split_scatter_no_rows_refused(struct check *c, int k)
{
    const struct impl_array *none = rows_of_3(c, 0, 0);
    struct impl_array *shards;
    int m;

    check_refused(c, "a scatter of no rows",
                  primitive_try_scatter(c, none, primitive_order(c, k), k, 0, NULL, &shards, &m),
                  REFUSED);
    scatter_still_works(c);
}

/* ---- SPLIT-07, 08: explicit sizes ------------------------------------------------------------ */

struct explicit_sizes {
    int k;
    size_t sizes[4];
};

/* Cuts both dimensions of a square into the sizes. */
static void follow_sizes(struct check *c, const struct explicit_sizes *wanted)
{
    const int *devices = primitive_order(c, wanted->k);
    size_t n = 0, dim[2];
    struct impl_array *shards;
    int m;

    for (int i = 0; i < wanted->k; ++i)
        n += wanted->sizes[i];
    dim[0] = dim[1] = n;
    for (int cut = 0; cut < 2; ++cut) {
        const struct impl_array *x = check_array(c, 2, dim, check_sequence(c, n * n, 1, 1));
        const int status =
            primitive_try_scatter(c, x, devices, wanted->k, cut, wanted->sizes, &shards, &m);

        check_note(c, "sizes %zu, %zu, .. in dimension %d: ", wanted->sizes[0], wanted->sizes[1],
                   cut);
        if (status != IMPL_OK)
            check_fail(c, "scatter failed (%s): %s", impl_status_word(status),
                       check_error(c)->text);
        check_int(c, "number of shards", m, wanted->k);
        primitive_check_shards(c, x, cut, shards, m, wanted->sizes, devices);
    }
}

static void split_explicit_sizes(struct check *c)
{
    static const struct explicit_sizes all[] = {
        {2, {2, 4}},    {2, {5, 1}},    {2, {1, 6}},       {3, {1, 4, 2}},
        {3, {5, 1, 1}}, {3, {1, 1, 3}}, {4, {1, 1, 6, 2}}, {4, {3, 1, 2, 1}},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0] && all[i].k <= check_devices(c); ++i)
        follow_sizes(c, &all[i]);
}

/* The last list adds up to 6 if the sum wraps around. */
static void split_explicit_sum(struct check *c)
{
    static const struct explicit_sizes all[] = {
        {2, {2, 3}},    {2, {2, 5}},       {2, {6, 6}},
        {3, {1, 2, 2}}, {4, {3, 1, 1, 2}}, {3, {INT64_MAX, INT64_MAX, 8}},
    };
    const struct impl_array *x = rows_of_3(c, 6, 1);
    struct impl_array *shards;
    int m;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        if (all[i].k > check_devices(c))
            continue;
        check_note(c, "sizes %zu, %zu, .. of 6 rows: ", all[i].sizes[0], all[i].sizes[1]);
        check_refused(c, "a scatter into sizes that do not add up",
                      primitive_try_scatter(c, x, primitive_order(c, all[i].k), all[i].k, 0,
                                            all[i].sizes, &shards, &m),
                      REFUSED);
        scatter_still_works(c);
    }
    follow_sizes(c, &(const struct explicit_sizes){2, {2, 4}});
}

static void split_zero_size(struct check *c)
{
    static const struct explicit_sizes all[] = {
        {2, {0, 4}}, {2, {4, 0}}, {3, {2, 0, 3}}, {3, {0, 0, 2}}, {4, {1, 0, 0, 3}},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0] && all[i].k <= check_devices(c); ++i)
        follow_sizes(c, &all[i]);
}

static void split_zero_size_refused(struct check *c)
{
    static const size_t sizes[2][2] = {{0, 4}, {4, 0}};
    const struct impl_array *x = rows_of_3(c, 4, 1);
    struct impl_array *shards;
    int m;

    for (int i = 0; i < 2; ++i) {
        check_refused(
            c, "a shard size of 0",
            primitive_try_scatter(c, x, primitive_order(c, 2), 2, 0, sizes[i], &shards, &m),
            REFUSED);
        follow_sizes(c, &(const struct explicit_sizes){2, {1, 3}});
    }
}

/* ---- SPLIT-09, 10 ---------------------------------------------------------------------------- */

static void split_scalar(struct check *c, int k)
{
    static const double value = 5;
    struct impl_array *x = check_array(c, 0, NULL, &value);
    struct impl_array *shards;
    int m;

    for (int device = IMPL_HOST; device < 1; ++device) {
        const int status = primitive_try_scatter(c, check_on(x, device), primitive_order(c, k), k,
                                                 0, NULL, &shards, &m);

        check_note(c, "K=%d: ", k);
        check_refused(c, "a scatter of a 0-dimensional array", status, REFUSED);
        scatter_still_works(c);
    }
}

static void split_negative(struct check *c, int k)
{
    static const size_t dim[] = {5, 7, 10}, square[] = {4, 4};

    for (int d = -3; d < 3; ++d) {
        check_note(c, "K=%d dim %d: ", k, d);
        scatter_and_check(c, check_array(c, 3, dim, check_sequence(c, 350, 1, 1)), k, d);
    }
    check_note(c, "K=%d dim -2 of 4x4: ", k);
    scatter_and_check(c, check_array(c, 2, square, check_sequence(c, 16, 1, 1)), k, -2);
}

static void split_range(struct check *c, int k)
{
    static const int dims[] = {2, -3, 5, -1000, 1 << 30};
    const struct impl_array *x = rows_of_3(c, 6, 1);
    struct impl_array *shards;
    int m;

    for (size_t j = 0; j < sizeof dims / sizeof dims[0]; ++j) {
        const int status =
            primitive_try_scatter(c, x, primitive_order(c, k), k, dims[j], NULL, &shards, &m);

        check_note(c, "K=%d: ", k);
        check_refused(c, check_text(c, "dim %d of 2 dimensions", dims[j]), status, REFUSED);
        scatter_still_works(c);
    }
}

/* ---- SPLIT-12 -------------------------------------------------------------------------------- */

/* Adds 1 to all shards of x, which is on the device of shard number `at` (k: on the host). The
 * source changes if that shard is a view of it, and nowhere else. */
static void change_shards(struct check *c, int k, int at, bool view)
{
    const size_t rows = 4 * (size_t)k - 1; /* shards of 4, the last of 3 */
    const int *devices = primitive_order(c, k);
    const int home = at < k ? devices[at] : IMPL_HOST;
    const struct impl_array *x = check_on(rows_of_3(c, rows, 1), home);
    double *want = check_memory(c, 3 * rows * sizeof *want);
    struct impl_scatter op = {.input = x, .devices = devices, .n = k};
    size_t sizes[IMPL_MAX_DEVICES];

    for (size_t i = 0; i < 3 * rows; ++i)
        want[i] = 1 + (double)i + (view && (int)(i / 12) == at ? 1 : 0);
    op.shards = check_output(c, k, 12 * rows);
    op.source_after = check_output(c, 1, 12 * rows);
    check_note(c, "K=%d, the source on device %d: ", k, home);
    check_scatter(c, &op);
    check_int(c, "number of shards", op.n_shards, check_shards(rows, k, sizes));
    primitive_check_shards(c, x, 0, op.shards, k, sizes, devices);
    check_values(c, "the source after 1 was added to all shards", op.source_after, 3 * rows, want);
    check_device(c, "the source", op.source_after, home);
}

static void change_on_devices(struct check *c, int k)
{
    for (int at = 0; at < k; ++at)
        change_shards(c, k, at, check_choice(c, IMPL_SHARD_0) == IMPL_VIEW);
}

static void split_host_copy(struct check *c, int k)
{
    change_shards(c, k, k, false);
}

static const struct check_case cases[] = {
    {"SPLIT-01.order", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_scatter_order},
    {"SPLIT-01.types", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_scatter_types},
    {"SPLIT-01.wide", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1, split_scatter_wide},
    {"SPLIT-04.scatter", "SPLIT-04", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 2,
     .each = split_scatter_few},
    {"SPLIT-05.scatter", "SPLIT-05", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_scatter_no_rows, .dialect = IMPL_NO_ROWS, .choice = IMPL_EMPTY},
    {"SPLIT-05.scatter_refused", "SPLIT-05", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_scatter_no_rows_refused, .dialect = IMPL_NO_ROWS, .choice = IMPL_REFUSE},
    {"SPLIT-06.scatter", "SPLIT-06", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 3, split_scatter_ceil},
    {"SPLIT-07.sizes", "SPLIT-07", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 2, split_explicit_sizes},
    {"SPLIT-07.sum", "SPLIT-07", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_SCATTER, 2,
     split_explicit_sum},
    {"SPLIT-08.accepted", "SPLIT-08", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 2, split_zero_size, 0,
     IMPL_ZERO_SIZE, IMPL_ACCEPT},
    {"SPLIT-08.refused", "SPLIT-08", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_SCATTER, 2,
     split_zero_size_refused, 0, IMPL_ZERO_SIZE, IMPL_REFUSE},
    {"SPLIT-09.scatter", "SPLIT-09", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_scalar},
    {"SPLIT-10.negative", "SPLIT-10", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_negative},
    {"SPLIT-10.range", "SPLIT-10", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_range},
    {"SPLIT-12.view", "SPLIT-12", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = change_on_devices, .dialect = IMPL_SHARD_0, .choice = IMPL_VIEW},
    {"SPLIT-12.copy", "SPLIT-12", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = change_on_devices, .dialect = IMPL_SHARD_0, .choice = IMPL_COPY},
    {"SPLIT-12.host", "SPLIT-12", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = split_host_copy},
};
const struct check_table split_scatter_table = CHECK_TABLE(cases);
