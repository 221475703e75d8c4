/* split.c: tests of dp_split and dp_split_count [SPLIT-01 .. SPLIT-06].
 *
 * The expected values are the closed form and the tables of the rules, written again here. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dp.h"

#define MAX_ROWS    600
#define MAX_DEVICES 40

static size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static void check_pair(size_t rows, int devices)
{
    const size_t k = (size_t)devices;
    const size_t c = ceil_div(rows, k);
    const size_t m = rows == 0 ? k : ceil_div(rows, c);
    cr_assert(dp_split_count(rows, devices) == (int)m, "%zu rows on %d: %d shards, want %zu", rows,
              devices, dp_split_count(rows, devices), m);
    size_t next = 0;
    for (size_t s = 0; s < m; ++s) {
        struct dp_shard shard = {SIZE_MAX, SIZE_MAX};
        const size_t want = s + 1 < m ? c : rows - c * (m - 1);
        const int status = dp_split(rows, devices, (int)s, &shard, NULL);
        cr_assert(status == DP_OK && shard.first == next && shard.rows == want,
                  "%zu rows on %d, shard %zu: status %d, rows %zu from %zu, want %zu from %zu",
                  rows, devices, s, status, shard.rows, shard.first, want, next);
        next += shard.rows;
    }
    cr_assert(next == rows, "%zu rows on %d: %zu rows in the shards", rows, devices, next);
}

Test(split, closed_form)
{
    for (size_t rows = 0; rows <= MAX_ROWS; ++rows)
        for (int devices = 1; devices <= MAX_DEVICES; ++devices)
            check_pair(rows, devices);
}

struct split_row {
    size_t rows;
    int devices, shards;
    size_t size, last; /* of all but the last shard, and of that one */
};

/* SPLIT-01, 02, 04, 05, 06: the pairs where floor, even and this split differ are among them. */
static const struct split_row table[] = {
    {30, 2, 2, 15, 15},
    {30, 3, 3, 10, 10},
    {30, 8, 8, 4, 2},
    {10, 1, 1, 10, 10},
    {10, 2, 2, 5, 5},
    {10, 3, 3, 4, 2},
    {10, 4, 4, 3, 1},
    {10, 8, 5, 2, 2},
    {13, 2, 2, 7, 6},
    {7, 3, 3, 3, 1},
    {100, 8, 8, 13, 9},
    {127, 8, 8, 16, 15},
    {65, 8, 8, 9, 2},
    {1000003, 8, 8, 125001, 124996},
    {9, 8, 5, 2, 1},
    {17, 8, 6, 3, 2},
    {36, 7, 6, 6, 6},
    {30, 7, 6, 5, 5},
    {16, 7, 6, 3, 1},
    {9, 4, 3, 3, 3},
    {6, 4, 3, 2, 2},
    {5, 4, 3, 2, 1},
    {4, 3, 2, 2, 2},
    {1, 8, 1, 1, 1},
    {2, 3, 2, 1, 1},
    {3, 8, 3, 1, 1},
    {0, 8, 8, 0, 0},
    {0, 4, 4, 0, 0},
    {0, 1, 1, 0, 0},
    {SIZE_MAX, 1, 1, SIZE_MAX, SIZE_MAX},
    {SIZE_MAX, 2, 2, SIZE_MAX / 2 + 1, SIZE_MAX / 2},
};

Test(split, table_of_the_rules)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        const struct split_row *row = &table[i];
        const int m = dp_split_count(row->rows, row->devices);
        cr_assert(m == row->shards, "%zu rows on %d: %d shards, want %d", row->rows, row->devices,
                  m, row->shards);
        for (int s = 0; s < m; ++s) {
            struct dp_shard shard = {0, 0};
            const size_t want = s == m - 1 ? row->last : row->size;
            cr_assert(dp_split(row->rows, row->devices, s, &shard, NULL) == DP_OK);
            cr_assert(shard.rows == want, "%zu rows on %d, shard %d: %zu rows, want %zu", row->rows,
                      row->devices, s, shard.rows, want);
        }
    }
}

/* SPLIT-02: with q = N div K and r = N mod K, m < K exactly if r >= 1 and q + r <= K - 1. */
Test(split, when_a_device_stays_idle)
{
    for (int devices = 1; devices <= MAX_DEVICES; ++devices) {
        const size_t k = (size_t)devices;
        for (size_t rows = 1; rows <= MAX_ROWS; ++rows) {
            const bool idle = rows % k >= 1 && rows / k + rows % k <= k - 1;
            cr_assert((dp_split_count(rows, devices) < devices) == idle, "%zu rows on %d", rows,
                      devices);
        }
    }
}

/* SPLIT-03: there are (K-1)(K-2)/2 such N >= K, the largest is (K-1)^2. */
Test(split, how_often_a_device_stays_idle)
{
    for (int devices = 2; devices <= 25; ++devices) {
        const size_t k = (size_t)devices;
        size_t found = 0, largest = 0;
        for (size_t rows = k; rows <= MAX_ROWS; ++rows) {
            if (dp_split_count(rows, devices) < devices) {
                ++found;
                largest = rows;
            }
        }
        cr_assert(found == (k - 1) * (k - 2) / 2, "%d devices: %zu", devices, found);
        cr_assert(largest == (devices == 2 ? 0 : (k - 1) * (k - 1)), "%d devices: %zu", devices,
                  largest);
    }
}

static void check_refused(size_t rows, int devices, int s, const char *named)
{
    struct dp_shard shard = {77, 77};
    struct dp_error err;
    memset(&err, 0, sizeof err);
    cr_assert(dp_split(rows, devices, s, &shard, &err) == DP_EINVAL && err.status == DP_EINVAL,
              "%zu rows on %d, shard %d", rows, devices, s);
    cr_assert(strstr(err.text, named), "\"%s\" does not name %s", err.text, named);
    cr_assert(shard.first == 77 && shard.rows == 77, "the result of a refused call was written");
}

Test(split, bad_arguments)
{
    cr_assert(dp_split_count(10, 0) == 0 && dp_split_count(10, -3) == 0);
    check_refused(10, 0, 0, "0 devices");
    check_refused(10, -3, 0, "-3");
    check_refused(10, 8, 5, "5");
    check_refused(10, 8, -1, "-1");
    check_refused(0, 4, 4, "4");
}
