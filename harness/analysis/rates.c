/* analysis/rates.c: the most that a device can do, which shares refer to: the product rate, which
 * is measured, and the peak, which the user states. */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

/* ---- devices ------------------------------------------------------------------------------ */

static const char *slot_model(const struct record_slot *slot)
{
    return slot->model[0] != '\0' ? slot->model : slot->kind;
}

const char *report_device_model(const struct record_run *run)
{
    for (int i = 1; i < run->n_slots; ++i)
        if (strcmp(slot_model(&run->slot[i]), slot_model(&run->slot[0])) != 0)
            return NULL;
    return slot_model(&run->slot[0]);
}

bool report_same_devices(const struct report_row *a, const struct report_row *b)
{
    const char *x = report_device_model(a->run), *y = report_device_model(b->run);

    return x && y && strcmp(x, y) == 0 && strcmp(a->cell->key.dtype, b->cell->key.dtype) == 0;
}

/* ---- the product rate --------------------------------------------------------------------- */

static double rate_of_point(const struct report_point *point, int metric)
{
    return point->verified > 0 && !report_oversubscribed(point) && !report_simulated(point->middle)
               ? report_middle(point, metric)
               : (double)NAN;
}

/* Products of `sweep --parts` have the math of their cell, and do not depend on its workload. */
double report_rate_in_parts(const struct report *report, const struct report_row *like)
{
    double most = NAN;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_row *row = report->point[i].row;

        if (isfinite(report_middle(&report->point[i], REPORT_IN_PARTS)) &&
            report_same_devices(row, like) &&
            strcmp(row->cell->key.backend, like->cell->key.backend) == 0)
            most = fmax(most, rate_of_point(&report->point[i], REPORT_IN_PARTS));
    }
    return most;
}

void report_rates_make(struct report *report)
{
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];
        const struct report_row *row = group->point->row;
        struct report_rate rate = {NAN, false};

        for (size_t i = 0; i < group->n; ++i)
            rate.most = fmax(rate.most, rate_of_point(&group->point[i], REPORT_PRODUCTS));
        if (!(rate.most > 0.0)) {
            rate.in_parts = true;
            rate.most = report_simulated(row) ? (double)NAN : report_rate_in_parts(report, row);
            rate.most = rate.most > 0.0 ? rate.most : (double)NAN;
        }
        for (size_t i = 0; i < group->n + group->n_cores; ++i) {
            group->point[i].product_rate = rate;
            group->point[i].stated_peak = report->peak > 0.0 ? report->peak : (double)NAN;
        }
    }
}

/* ---- tokens ------------------------------------------------------------------------------- */

double report_tokens_work(const struct report_point *point)
{
    const struct record_cell *cell = point->row->cell;

    return report_middle(point, REPORT_TOKENS) * cell->flops_per_token /
           (double)cell->key.n_devices;
}

double report_tokens_share(const struct report_point *point)
{
    return report_tokens_work(point) / point->product_rate.most;
}

/* A simulated time is not the time of a device that has a peak. */
double report_peak_share(const struct report_point *point)
{
    return report_simulated(point->row) ? (double)NAN
                                        : report_tokens_work(point) / point->stated_peak;
}
