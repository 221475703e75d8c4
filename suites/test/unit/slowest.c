/* slowest.c: which rank is the slowest, on hand-made launches. */
#include "points_bench.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20, RANKS = 3 };

/* Work of each rank in ns; in every tenth step it takes the time of the next rank. */
static void slowest_launch(struct bench *bench, int number, const uint64_t work[RANKS],
                           const size_t rows[RANKS])
{
    struct record_cell *cell = &bench->cell[bench->report.n_rows];
    bench_add(bench, "ddp", RANKS, 30, number, 1000);
    cr_assert(record_cell_alloc(cell, STEPS, RANKS) == 0);
    snprintf(cell->host_ranks, sizeof cell->host_ranks, "2,1");
    cell->hosts = 2;
    cell->n_shards = RANKS;
    memcpy(cell->shard, rows, RANKS * sizeof rows[0]);
    cell->flags[0] = RECORD_WARMUP;
    for (int r = 0; r < RANKS; ++r) {
        for (size_t i = 0; i < STEPS; ++i) {
            const size_t at = (size_t)r * STEPS + i;
            cell->phase_ns[RECORD_FORWARD][at] = i == 0 ? 1000000 * (uint64_t)(RANKS - r) : 10;
            cell->phase_ns[RECORD_LOSS][at] = 5;
            cell->phase_ns[RECORD_BACKWARD][at] =
                i % 10 == 9 ? work[(r + 1) % RANKS] : work[r]; /* of 19 steps: numbers 9 and 19 */
            cell->phase_ns[RECORD_REDUCE][at] = 100000 - work[r];
        }
    }
}

static struct report_slowest slowest_make(struct bench *bench)
{
    bench_make(bench);
    report_slowest_make(&bench->report);
    return bench->point[0].slowest;
}

static void slowest_end(struct bench *bench)
{
    for (size_t i = 0; i < bench->report.n_rows; ++i)
        record_cell_free(&bench->cell[i]);
    bench_close(bench);
}

static const size_t even[RANKS] = {10, 10, 10};

Test(slowest, is_named_with_its_host)
{
    struct bench *bench = bench_open("strong");
    char text[REPORT_CELL_TEXT] = "";
    for (int l = 0; l < 4; ++l)
        slowest_launch(bench, l, (const uint64_t[]){85, 85, 106}, even);
    const struct report_slowest slowest = slowest_make(bench);
    cr_assert(slowest.rank == 2 && slowest.ranks == 3 && slowest.lost == 4 &&
              slowest.launches == 4);
    cr_assert(fabs(slowest.steps - 17.0 / 19) < 1e-12, "%.17g", slowest.steps);
    cr_assert(fabs(slowest.p - 3.0 / 81) < 1e-12, "%.17g", slowest.p);
    const double own = 17 * 121 + 2 * 100, others = (2 * 100 * 17 + 2 * (100 + 121)) / 2.0;
    cr_assert(fabs(slowest.more - (own / others - 1)) < 1e-12, "%.17g", slowest.more);
    bench_cell(&bench->report, REPORT_TABLE_SLOWEST, 0, "Host", 0, text);
    cr_assert_str_eq(text, "2 of 2");
    slowest_end(bench);
}

/* A rank that is the slowest half of the time is so by chance, and one launch says nothing. */
Test(slowest, by_chance)
{
    struct bench *bench = bench_open("strong");
    slowest_launch(bench, 0, (const uint64_t[]){90, 80, 80}, even);
    cr_assert(isnan(slowest_make(bench).p) && bench->point[0].slowest.rank == 0);
    slowest_launch(bench, 1, (const uint64_t[]){80, 90, 80}, even);
    slowest_launch(bench, 2, (const uint64_t[]){90, 80, 80}, even);
    const struct report_slowest slowest = slowest_make(bench);
    cr_assert(slowest.rank == 0 && slowest.lost == 2 && slowest.launches == 3);
    cr_assert(fabs(slowest.p - 3 * 7.0 / 27) < 1e-12, "%.17g", slowest.p);
    slowest_end(bench);
}

/* More rows are more work: only ranks with the same rows are compared; if all are equal, none is
 * named. */
Test(slowest, among_equals)
{
    struct bench *bench = bench_open("strong");
    slowest_launch(bench, 0, (const uint64_t[]){90, 95, 200}, (const size_t[]){10, 10, 9});
    cr_assert(slowest_make(bench).rank == 1 && bench->point[0].slowest.ranks == 2);
    slowest_end(bench);
    bench = bench_open("strong");
    slowest_launch(bench, 0, (const uint64_t[]){90, 80, 70}, (const size_t[]){10, 9, 9});
    cr_assert(slowest_make(bench).rank == -1);
    slowest_end(bench);
    bench = bench_open("strong");
    slowest_launch(bench, 0, (const uint64_t[]){90, 90, 90}, even);
    cr_assert(slowest_make(bench).rank == -1);
    slowest_end(bench);
}
