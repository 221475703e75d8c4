/* analysis/drift.c: whether the machine stayed the same while a run was measured. Each launch is
 * compared with the median of its cell. The difference should depend neither on the time nor on the
 * previous launch.
 *
 * There are two permutation tests, seeded by the run: one of the slope of the blocks over their
 * time, where whole blocks are permuted, and one of the similarity of successive launches. */
#include "analysis/analysis.h"

#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_OF_CELL = 3, /* launches: a median of fewer is one of them, or between two */
    LEAST_BLOCKS = 5,  /* fewer blocks have too few permutations to show anything at 5 % */
    LEAST_LAUNCHES = 20,
    ROUNDS = 999
};

/* A launch: when it began, and log(its median step / the median step of its cell). */
struct launch {
    double at; /* hours since 1970 */
    size_t order;
    int block;
    double off;
};

/* The launches of a run. x and y have capacity for one number per launch. */
struct sitting {
    struct launch *launch;
    size_t n;
    double *x, *y;
};

static bool is_of(const struct report_row *row, const struct record_run *run)
{
    return row->verified && strcmp(row->run->run_id, run->run_id) == 0;
}

static void add_point(const struct report_point *point, const struct record_run *run,
                      struct sitting *sitting)
{
    size_t n = 0;
    double middle;

    for (size_t i = 0; i < point->n; ++i)
        if (is_of(&point->row[i], run))
            sitting->x[n++] = log(point->row[i].cell->median_ns);
    if (n < LEAST_OF_CELL)
        return;
    middle = stats_median(sitting->x, n);
    for (size_t i = 0; i < point->n; ++i) {
        const struct record_cell *cell = point->row[i].cell;

        if (is_of(&point->row[i], run))
            sitting->launch[sitting->n++] =
                (struct launch){(double)cell->start_epoch_ns / 3.6e12, cell->order_index,
                                cell->key.launch, log(cell->median_ns) - middle};
    }
}

static int compare_times(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    if (a->at < b->at || a->at > b->at)
        return a->at < b->at ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int compare_blocks(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    return a->block != b->block ? (a->block > b->block) - (a->block < b->block)
                                : compare_times(left, right);
}

/* Writes the mean of each block to y, and its mean time to x. It sorts the launches by block. */
static size_t find_blocks(struct sitting *sitting)
{
    size_t blocks = 0;

    qsort(sitting->launch, sitting->n, sizeof sitting->launch[0], compare_blocks);
    for (size_t i = 0, n; i < sitting->n; i += n, ++blocks) {
        double at = 0.0, off = 0.0;

        for (n = 0; i + n < sitting->n && sitting->launch[i + n].block == sitting->launch[i].block;
             ++n) {
            at += sitting->launch[i + n].at - sitting->launch[0].at;
            off += sitting->launch[i + n].off;
        }
        sitting->x[blocks] = at / (double)n;
        sitting->y[blocks] = off / (double)n;
    }
    return blocks;
}

/* scratch has capacity for one number per launch. */
static struct report_drift drift_of(struct sitting *sitting, uint64_t seed, double scratch[])
{
    struct report_drift drift = {.change = NAN, .change_p = NAN, .lag1 = NAN, .lag1_p = NAN};
    const size_t blocks = find_blocks(sitting);
    double *x = sitting->x, *y = sitting->y;

    drift.blocks = blocks;
    drift.launches = sitting->n;
    if (blocks >= LEAST_BLOCKS) {
        drift.change = expm1(permute_slope(y, blocks, x) * (x[blocks - 1] - x[0]));
        drift.change_p = permute_test(y, blocks, permute_slope, x, ROUNDS, seed, scratch);
    }
    qsort(sitting->launch, sitting->n, sizeof sitting->launch[0], compare_times);
    /* If records do not say when a launch began, the order is not known. */
    if (sitting->n < LEAST_LAUNCHES ||
        !(sitting->launch[0].at < sitting->launch[sitting->n - 1].at))
        return drift;
    for (size_t i = 0; i < sitting->n; ++i)
        y[i] = sitting->launch[i].off;
    drift.lag1 = permute_lag1(y, sitting->n, NULL);
    drift.lag1_p = permute_test(y, sitting->n, permute_lag1, NULL, ROUNDS, seed, scratch);
    return drift;
}

int report_drift_make(struct report *report)
{
    const size_t room = report->n_rows + 1;
    struct sitting sitting = {calloc(room, sizeof *sitting.launch), 0,
                              calloc(room, sizeof *sitting.x), calloc(room, sizeof *sitting.y)};
    double *scratch = calloc(room, sizeof *scratch);
    const int status = sitting.launch && sitting.x && sitting.y && scratch ? 0 : -1;

    for (size_t r = 0; status == 0 && r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;

        sitting.n = 0;
        for (size_t i = 0; i < report->n_points; ++i)
            add_point(&report->point[i], run, &sitting);
        report->run[r].drift = drift_of(&sitting, run->seed, scratch);
    }
    free(sitting.launch);
    free(sitting.x);
    free(sitting.y);
    free(scratch);
    return status;
}
