/* analysis/settling.c: whether steps were still becoming faster while they were measured.
 *
 * It is judged after the measurement and across launches. One launch shows mostly noise, and a
 * launch that chose by its own times when to begin would also choose its result. */
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "numbers/stats.h"

static double of_launch(const struct record_cell *cell, double steps[], double scratch[])
{
    size_t n = 0;

    for (size_t i = 0; i < cell->n_samples; ++i)
        if ((cell->flags[i] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0)
            steps[n++] = (double)cell->t_step_ns[i];
    return stats_settling(steps, n, scratch);
}

/* True only if the whole interval is above REPORT_SETTLED. */
bool report_settles(const struct report_point *point)
{
    return point->settling.valid && point->settling.lo > log(1 + REPORT_SETTLED);
}

int report_settling_make(struct report *report)
{
    size_t most = 1;

    for (size_t i = 0; i < report->n_rows; ++i)
        most = report->row[i].cell->n_samples > most ? report->row[i].cell->n_samples : most;

    double *steps = calloc(most, sizeof *steps), *scratch = calloc(most, sizeof *scratch);
    double *launch = calloc(report->n_rows + 1, sizeof *launch);
    const bool enough = steps && scratch && launch;

    for (size_t p = 0; enough && p < report->n_points; ++p) {
        struct report_point *point = &report->point[p];
        size_t n = 0;

        for (size_t i = 0; i < point->n; ++i) {
            const double value = point->row[i].verified
                                     ? of_launch(point->row[i].cell, steps, scratch)
                                     : (double)NAN;

            if (isfinite(value))
                launch[n++] = value;
        }
        point->settling = stats_mean_interval(launch, n, &point->settled_by);
    }
    free(steps);
    free(scratch);
    free(launch);
    return enough ? 0 : -1;
}
