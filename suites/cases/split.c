/* split.c: area SPLIT: the number of shards, and their rows. */
#include "primitive.h"

#include "impls/words.h"

#include <stdio.h>

enum { SHOWN = 12 };

/* Returns "3, 3, 3, 1", for example. */
static const char *sizes_text(struct check *c, const size_t size[], int n)
{
    const size_t room = 24 * (SHOWN + 1);
    char *text = check_memory(c, room);
    size_t used = 0;

    for (int i = 0; i < n && i < SHOWN; ++i)
        used += (size_t)snprintf(text + used, room - used, "%s%zu", i > 0 ? ", " : "", size[i]);
    if (n > SHOWN)
        snprintf(text + used, room - used, ", ...");
    return text;
}

static void must_be(struct check *c, size_t rows, int devices, const size_t want[], int m)
{
    struct impl_split op = {.rows = rows, .devices = devices};
    bool same;

    check_split(c, &op);
    same = op.n == m;
    for (int i = 0; same && i < m; ++i)
        same = op.size[i] == want[i];
    check_true(c, same, "%zu rows on %d devices: %d shards (%s), must be %d (%s)", rows, devices,
               op.n, sizes_text(c, op.size, op.n), m, sizes_text(c, want, m));
}

static void must_be_the_formula(struct check *c, size_t rows, int devices)
{
    size_t want[IMPL_MAX_DEVICES];
    const int m = check_shards(rows, devices, want);

    must_be(c, rows, devices, want, m);
}

/* ---- SPLIT-01 -------------------------------------------------------------------------------- */

static void sizes_small(struct check *c)
{
    for (int devices = 1; devices <= 16; ++devices)
        for (size_t rows = 1; rows <= 72; ++rows)
            must_be_the_formula(c, rows, devices);
}

static void sizes_large(struct check *c)
{
    static const size_t rows[] = {100, 127, 128, 129, 255, 256, 257, 1000, 4097, 65, 1000003};
    static const int devices[] = {1, 2, 3, 5, 8, 17, 31, 32, 33, 63, 64};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (size_t j = 0; j < sizeof devices / sizeof devices[0]; ++j)
            must_be_the_formula(c, rows[i], devices[j]);
    for (int k = 2; k <= IMPL_MAX_DEVICES; ++k) {
        const size_t square = (size_t)k * (size_t)k;
        must_be_the_formula(c, square, k);
        must_be_the_formula(c, square + 1, k);
        must_be_the_formula(c, square - 1, k);
    }
}

struct known {
    size_t rows;
    int devices, m;
    size_t most, last; /* all but the last have `most` rows */
};

static void must_be_known(struct check *c, const struct known known[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        size_t want[IMPL_MAX_DEVICES];

        for (int s = 0; s < known[i].m; ++s)
            want[s] = s + 1 < known[i].m ? known[i].most : known[i].last;
        must_be(c, known[i].rows, known[i].devices, want, known[i].m);
    }
}

static void sizes_known(struct check *c)
{
    static const struct known known[] = {
        {30, 2, 2, 15, 15}, {30, 3, 3, 10, 10},  {30, 8, 8, 4, 2}, {10, 2, 2, 5, 5},
        {10, 3, 3, 4, 2},   {10, 4, 4, 3, 1},    {13, 2, 2, 7, 6}, {7, 3, 3, 3, 1},
        {100, 8, 8, 13, 9}, {127, 8, 8, 16, 15}, {65, 8, 8, 9, 2}, {1000003, 8, 8, 125001, 124996},
    };

    must_be_known(c, known, sizeof known / sizeof known[0]);
}

/* ---- SPLIT-02 .. SPLIT-06 -------------------------------------------------------------------- */

static void fewer_known(struct check *c)
{
    static const struct known known[] = {
        {10, 8, 5, 2, 2}, {9, 8, 5, 2, 1},  {17, 8, 6, 3, 2}, {36, 7, 6, 6, 6},
        {30, 7, 6, 5, 5}, {16, 7, 6, 3, 1}, {9, 4, 3, 3, 3},  {6, 4, 3, 2, 2},
        {5, 4, 3, 2, 1},  {4, 3, 2, 2, 2},  {49, 8, 7, 7, 7}, {50, 8, 8, 7, 1},
    };

    must_be_known(c, known, sizeof known / sizeof known[0]);
}

/* The case uses only answers of the implementation, and does not know the formula of the sizes. */
static void idle_counted(struct check *c)
{
    static const int counts[] = {2, 3, 4, 5, 6, 8, 11};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        const int k = counts[i];
        const size_t largest = (size_t)(k - 1) * (size_t)(k - 1);
        size_t last = 0;
        int idle = 0;

        for (size_t rows = (size_t)k; rows <= largest + (size_t)(2 * k); ++rows) {
            struct impl_split op = {.rows = rows, .devices = k};

            check_split(c, &op);
            if (op.n < k) {
                ++idle;
                last = rows;
            }
        }
        check_int(c, check_text(c, "batches of at least %d rows that leave one of %d idle", k, k),
                  idle, (k - 1) * (k - 2) / 2);
        check_int(c, check_text(c, "the largest of them for %d devices", k), (long long)last,
                  k == 2 ? 0 : (long long)largest);
    }
}

static void few_sizes(struct check *c)
{
    static const struct known known[] = {
        {1, 8, 1, 1, 1}, {2, 3, 2, 1, 1},  {3, 8, 3, 1, 1},    {1, 2, 1, 1, 1},
        {7, 8, 7, 1, 1}, {1, 64, 1, 1, 1}, {63, 64, 63, 1, 1}, {1, 1, 1, 1, 1},
    };

    must_be_known(c, known, sizeof known / sizeof known[0]);
}

static void no_rows_sizes(struct check *c)
{
    static const int counts[] = {8, 4, 1, 3, 2};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        const struct known known = {0, counts[i], counts[i], 0, 0};

        must_be_known(c, &known, 1);
        must_be_the_formula(c, 2 * (size_t)counts[i] + 1, counts[i]);
    }
}

static void no_rows_sizes_refused(struct check *c)
{
    for (int k = 1; k <= 8; ++k) {
        struct impl_split op = {.rows = 0, .devices = k};

        check_refused(c, "a split of no rows", check_try_split(c, &op),
                      ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE));
        must_be_the_formula(c, 2 * (size_t)k + 1, k);
    }
}

/* The pairs give different sizes for rounding down, an even distribution and rounding up. */
static void ceil_sizes(struct check *c)
{
    static const struct known known[] = {
        {10, 4, 4, 3, 1},   {30, 8, 8, 4, 2}, {5, 4, 3, 2, 1},  {7, 3, 3, 3, 1},
        {100, 8, 8, 13, 9}, {11, 4, 4, 3, 2}, {10, 3, 3, 4, 2}, {20, 6, 5, 4, 4},
    };

    must_be_known(c, known, sizeof known / sizeof known[0]);
}

/* The array is cut along the middle one of three dimensions, for types of 4 and of 8 bytes. */
static void types_along_dim(struct check *c, int k)
{
    static const enum impl_dtype types[] = {IMPL_F64, IMPL_I64, IMPL_I32};
    const size_t dim[] = {3, 10, 2};

    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        const int *devices = primitive_order(c, k);
        const struct impl_array *x =
            check_typed(c, types[t], 3, dim, check_sequence(c, 60, 16777217, 1));
        size_t size[IMPL_MAX_DEVICES];
        const int want = check_shards(dim[1], k, size);
        const struct impl_array *shards;
        int m;

        check_note(c, "K=%d, type %s: ", k, impl_dtype_word(types[t]));
        shards = primitive_scatter(c, x, devices, k, 1, &m);
        check_int(c, "number of shards", m, want);
        primitive_check_shards(c, x, 1, shards, m, size, devices);
    }
}

static const struct check_case cases[] = {
    {"SPLIT-01.sizes", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, sizes_small, 60000},
    {"SPLIT-01.large", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, sizes_large},
    {"SPLIT-01.known", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, sizes_known},
    {"SPLIT-01.types_dim", "SPLIT-01", MUST, OBSERVED, PRIM, IMPL_CAP_SCATTER, 1,
     .each = types_along_dim},
    {"SPLIT-02.fewer", "SPLIT-02", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, fewer_known},
    {"SPLIT-03.count", "SPLIT-03", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, idle_counted},
    {"SPLIT-04.sizes", "SPLIT-04", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, few_sizes},
    {"SPLIT-05.sizes", "SPLIT-05", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, no_rows_sizes, 0,
     IMPL_NO_ROWS, IMPL_EMPTY},
    {"SPLIT-05.refused", "SPLIT-05", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0,
     no_rows_sizes_refused, 0, IMPL_NO_ROWS, IMPL_REFUSE},
    {"SPLIT-06.ceil", "SPLIT-06", MUST, OBSERVED, PRIM, IMPL_CAP_SPLIT, 0, ceil_sizes},
};
const struct check_table split_table = CHECK_TABLE(cases);
