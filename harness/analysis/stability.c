/* analysis/stability.c: whether times stayed the same: how far launches lie apart, whether steps
 * still became faster while they were measured, and whether the machine drifted during a run. */
#include "analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc.h"

/* ---- noise: how far launches lie apart, and the smallest change that such files can show ------
 */

void report_noise_make(struct report *report)
{
    const size_t training = report->n_points, all = training + report->collectives->n_points;
    double *off = cli_alloc(report->n_all, sizeof *off);
    double *launches = cli_alloc(all, sizeof *launches);
    size_t n = 0, cells = 0;

    report->noise = (struct report_noise){.spread = NAN, .least = NAN};
    for (size_t i = 0; i < all; ++i) {
        const struct report_point *point =
            i < training ? &report->point[i] : &report->collectives->point[i - training];

        if (point->verified == 0)
            continue;
        ++report->noise.cells;
        report->noise.open += report_doubt_of(point, REPORT_STEP) != REPORT_CERTAIN;
        if (point->base && point->base != point) {
            ++report->noise.ratios;
            report->noise.open_ratios += report_doubt_of(point, REPORT_SPEEDUP) != REPORT_CERTAIN;
        }
        if (point->verified < REPORT_LEAST_OF_CELL)
            continue;
        launches[cells++] = (double)point->verified;
        for (size_t k = 0; k < point->n; ++k)
            if (point->row[k].verified)
                off[n++] =
                    fabs(log(point->row[k].cell->median_ns / report_middle(point, REPORT_STEP)));
    }
    if (n > 0) {
        /* For a normal distribution, 1.4826 times the median distance is a standard deviation. */
        report->noise.spread = 1.4826 * stats_median(off, n);
        /* The one-sided level is 0.05 and the power 0.8; 1.05 is for a rank test instead of means.
         */
        report->noise.least =
            expm1((stats_normal_width(0.90) + stats_normal_width(0.60)) * 1.05 *
                  report->noise.spread * sqrt(2.0 / stats_median(launches, cells)));
    }
    free(off);
    free(launches);
}

/* ---- settling: whether steps were still becoming faster while they were measured --------------
 *
 * It is judged after the measurement and across launches. One launch shows mostly noise, and a
 * launch that chose by its own times when to begin would also choose its result. */

/* True only if the whole interval is above REPORT_SETTLED. */
bool report_settles(const struct report_point *point)
{
    return point->settling.valid && point->settling.lo > log(1 + REPORT_SETTLED);
}

void report_settling_make(struct report *report)
{
    size_t most = 1;

    for (size_t i = 0; i < report->n_rows; ++i)
        most = report->row[i].cell->n_samples > most ? report->row[i].cell->n_samples : most;

    double *steps = cli_alloc(most, sizeof *steps), *scratch = cli_alloc(most, sizeof *scratch);
    double *launch = cli_alloc(report->n_rows, sizeof *launch);

    for (size_t p = 0; p < report->n_points; ++p) {
        struct report_point *point = &report->point[p];
        size_t n = 0;

        for (size_t i = 0; i < point->n; ++i) {
            const struct record_cell *cell = point->row[i].cell;
            size_t valid = 0;

            for (size_t k = 0; k < cell->n_samples && point->row[i].verified; ++k)
                if ((cell->flags[k] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0)
                    steps[valid++] = (double)cell->t_step_ns[k];
            const double value =
                point->row[i].verified ? stats_settling(steps, valid, scratch) : (double)NAN;

            if (isfinite(value))
                launch[n++] = value;
        }
        point->settling = stats_mean_interval(launch, n, &point->settled_by);
    }
    free(steps);
    free(scratch);
    free(launch);
}

/* ---- drift: whether the machine stayed the same while a run was measured ----------------------
 *
 * Each launch is compared with the median of its cell. The difference should depend neither on the
 * time nor on the previous launch. There are two permutation tests, seeded by the run: one of the
 * slope of the blocks over their time, where whole blocks are permuted, and one of the similarity
 * of successive launches. */

enum {
    LEAST_BLOCKS = 5, /* fewer blocks have too few permutations to show anything at 5 % */
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
struct launches {
    struct launch *launch;
    size_t n;
    double *x, *y;
};

static bool is_of_run(const struct report_row *row, const struct record_run *run)
{
    return row->verified && strcmp(row->run->run_id, run->run_id) == 0;
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

/* scratch has capacity for one number per launch. */
static struct report_drift drift_of(struct launches *session, uint64_t seed, double scratch[])
{
    struct report_drift drift = {.change = NAN, .change_p = NAN, .lag1 = NAN, .lag1_p = NAN};
    double *x = session->x, *y = session->y;
    size_t blocks = 0;

    /* y becomes the mean of each block, and x its mean time. */
    qsort(session->launch, session->n, sizeof session->launch[0], compare_blocks);
    for (size_t i = 0, n; i < session->n; i += n, ++blocks) {
        double at = 0.0, off = 0.0;

        for (n = 0; i + n < session->n && session->launch[i + n].block == session->launch[i].block;
             ++n) {
            at += session->launch[i + n].at - session->launch[0].at;
            off += session->launch[i + n].off;
        }
        x[blocks] = at / (double)n;
        y[blocks] = off / (double)n;
    }
    drift.blocks = blocks;
    drift.launches = session->n;
    if (blocks >= LEAST_BLOCKS) {
        drift.change = expm1(permute_slope(y, blocks, x) * (x[blocks - 1] - x[0]));
        drift.change_p = permute_test(y, blocks, permute_slope, x, ROUNDS, seed, scratch);
    }
    qsort(session->launch, session->n, sizeof session->launch[0], compare_times);
    /* If records do not say when a launch began, the order is not known. */
    if (session->n < LEAST_LAUNCHES ||
        !(session->launch[0].at < session->launch[session->n - 1].at))
        return drift;
    for (size_t i = 0; i < session->n; ++i)
        y[i] = session->launch[i].off;
    drift.lag1 = permute_lag1(y, session->n, NULL);
    drift.lag1_p = permute_test(y, session->n, permute_lag1, NULL, ROUNDS, seed, scratch);
    return drift;
}

void report_drift_make(struct report *report)
{
    const size_t n_rows = report->n_rows;
    struct launches session = {.launch = cli_alloc(n_rows, sizeof *session.launch),
                               .x = cli_alloc(n_rows, sizeof *session.x),
                               .y = cli_alloc(n_rows, sizeof *session.y)};
    double *scratch = cli_alloc(n_rows, sizeof *scratch);

    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;

        session.n = 0;
        for (size_t i = 0; i < report->n_points; ++i) {
            const struct report_point *point = &report->point[i];
            size_t n = 0;

            for (size_t k = 0; k < point->n; ++k)
                if (is_of_run(&point->row[k], run))
                    session.x[n++] = log(point->row[k].cell->median_ns);
            if (n < REPORT_LEAST_OF_CELL)
                continue;
            const double middle = stats_median(session.x, n);

            for (size_t k = 0; k < point->n; ++k) {
                const struct record_cell *cell = point->row[k].cell;

                if (is_of_run(&point->row[k], run))
                    session.launch[session.n++] =
                        (struct launch){(double)cell->start_epoch_ns / 3.6e12, cell->order_index,
                                        cell->key.launch, log(cell->median_ns) - middle};
            }
        }
        const struct report_drift drift = drift_of(&session, run->seed, scratch);

        report->run[r].drift = drift;
        for (size_t i = 0; i < report->n_points && drift.lag1_p <= REPORT_SHOWN; ++i)
            for (size_t k = 0; k < report->point[i].n; ++k)
                if (is_of_run(&report->point[i].row[k], run))
                    report->point[i].alike = fmax(report->point[i].alike, drift.lag1);
    }
    free(session.launch);
    free(session.x);
    free(session.y);
    free(scratch);
}
