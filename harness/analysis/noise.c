/* analysis/noise.c: how far launches lie apart, and the smallest change of a cell that such files
 * can show. */
#include "analysis/analysis.h"

#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>

int report_noise_make(struct report *report)
{
    const size_t training = report->n_points, all = training + report->collectives->n_points;
    double *off = calloc(report->n_all + 1, sizeof *off);
    double *launches = calloc(all + 1, sizeof *launches);
    size_t n = 0, cells = 0;

    report->noise = (struct report_noise){.spread = NAN, .least = NAN, .cells = all, .open = all};
    for (size_t i = 0; off && launches && i < all; ++i) {
        const struct report_point *point =
            i < training ? &report->point[i] : &report->collectives->point[i - training];
        const struct report_value *step = &point->value[REPORT_STEP];

        if (point->verified < REPORT_LEAST_OF_CELL)
            continue;
        report->noise.widest = fmax(report->noise.widest, (step->hi - step->lo) / step->middle);
        report->noise.open -= report_resolved(step, 2 * REPORT_WIDE * step->middle) ? 1 : 0;
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
    const int status = off && launches ? 0 : -1;

    free(off);
    free(launches);
    return status;
}
