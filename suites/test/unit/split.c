/* split.c: dp_split and dp_split_count have the closed form of the rules, also for the most rows,
 * and refuse what is no shard. The tables of the rules are cases of SPLIT-01 to SPLIT-06. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dp.h"

#define MAX_ROWS    600
#define MAX_DEVICES 40

static size_t ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
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
    static const size_t large[] = {1000003, SIZE_MAX - 1, SIZE_MAX};
    for (int devices = 1; devices <= MAX_DEVICES; ++devices) {
        for (size_t rows = 0; rows <= MAX_ROWS; ++rows)
            check_pair(rows, devices);
        for (size_t i = 0; i < sizeof large / sizeof large[0]; ++i)
            check_pair(large[i], devices);
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
