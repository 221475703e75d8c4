/* analysis/fits.c: fits alpha and beta of collectives, the line through the times of the sizes of a
 * collective.
 *
 * Each launch gets a separate line, through its median times; the result is the median over the
 * launches. So a disturbed launch counts once, and the interval is one over launches. Whether the
 * line holds is judged by what is shown: the medians of alpha and beta are compared with the median
 * time of each size. For small sizes other things than the number of bytes decide, so the smallest
 * sizes are left out until the line holds. At least REPORT_FIT_LEAST sizes and more than half of
 * all must remain: times that bend over all sizes have no line. */
#include "analysis/analysis.h"

#include "numbers/stats.h"
#include "plan/plan.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The points of one line, ordered by size. */
struct sizes {
    struct report_point *point[PLAN_MAX_SIZES];
    double bytes[PLAN_MAX_SIZES];
    size_t n, all;        /* all also counts the points for which there was no capacity */
    double *alpha, *beta; /* capacity for one number per launch */
};

/* Fits the line through all sizes from index from on. Returns false if no launch has all of them.
 */
static bool fit_from(const struct sizes *sizes, size_t from, struct report_fit *fit)
{
    const struct report_point *first = sizes->point[from];
    const size_t used = sizes->n - from;
    double time[PLAN_MAX_SIZES];
    size_t n = 0, at;

    for (size_t l = 0; l < first->n; ++l) {
        if (!first->row[l].verified)
            continue;
        /* The median steps of the same launch; NaN: it is not verified at that size. */
        for (size_t i = 0; i < used; ++i) {
            const struct report_point *point = sizes->point[from + i];
            size_t k = 0;

            while (k < point->n && !(point->row[k].verified &&
                                     report_launch_order(&point->row[k], &first->row[l]) == 0))
                ++k;
            time[i] = k < point->n ? report_number_of(&point->row[k], REPORT_STEP) : (double)NAN;
        }

        const struct line line = line_fit(sizes->bytes + from, time, used, false);

        sizes->alpha[n] = line.alpha;
        sizes->beta[n] = line.beta;
        n += isfinite(line.alpha) && isfinite(line.beta);
    }
    for (size_t i = 0; i < used; ++i)
        time[i] = report_middle(sizes->point[from + i], REPORT_STEP);
    fit->alpha = report_value_of(sizes->alpha, n);
    fit->beta = report_value_of(sizes->beta, n);
    fit->used = used;
    fit->from = first->key->size_bytes;
    fit->off = line_off(&(struct line){fit->alpha.middle, fit->beta.middle}, sizes->bytes + from,
                        time, used, &at);
    fit->off_at = sizes->point[from + at]->key->size_bytes;
    return n > 0;
}

static enum report_fit_state fit_sizes(const struct sizes *sizes, struct report_fit *fit)
{
    struct report_fit part = *fit;

    if (sizes->all > sizes->n)
        return REPORT_FIT_MANY;
    if (sizes->n < REPORT_FIT_LEAST)
        return REPORT_FIT_FEW;
    if (!fit_from(sizes, 0, fit))
        return REPORT_FIT_APART;
    for (size_t from = 0; sizes->n - from >= REPORT_FIT_LEAST && 2 * (sizes->n - from) > sizes->n;
         ++from)
        if (fit_from(sizes, from, &part) && part.off <= REPORT_FIT_LIMIT) {
            *fit = part;
            return REPORT_FIT_HOLDS;
        }
    return REPORT_FIT_NO_LINE; /* off is then the distance of the line through all sizes */
}

bool report_fit_grows(const struct report_fit *fit)
{
    return fit->beta.middle > 0 && !(fit->beta.lo <= 0);
}

void report_fits_make(struct report *own)
{
    struct report_point *const point = own->point;
    struct sizes sizes = {.alpha = cli_alloc(own->n_rows, sizeof *sizes.alpha),
                          .beta = cli_alloc(own->n_rows, sizeof *sizes.beta)};
    bool *taken = cli_alloc(own->n_points, sizeof *taken);

    own->fit = cli_alloc(own->n_points, sizeof *own->fit);
    for (size_t first = 0; first < own->n_points; ++first) {
        const struct record_key *key = point[first].key;
        struct report_fit *fit = &own->fit[own->n_fits];

        /* Collects the verified points of one line, which are on no other line yet. Points on the
         * same number of devices follow each other. */
        sizes.n = sizes.all = 0;
        for (size_t i = first; i < own->n_points && point[i].key->n_devices == key->n_devices;
             ++i) {
            if (taken[i] || point[i].verified == 0 ||
                !report_same_group(point[first].row, point[i].row) ||
                strcmp(key->devices, point[i].key->devices) != 0)
                continue;
            taken[i] = true;
            if (sizes.all++ == PLAN_MAX_SIZES)
                continue;
            sizes.bytes[sizes.n] = (double)point[i].key->size_bytes;
            sizes.point[sizes.n++] = &point[i];
        }
        if (sizes.n == 0)
            continue;
        *fit = (struct report_fit){.point = sizes.point[sizes.n - 1], .sizes = sizes.all};
        fit->state = fit_sizes(&sizes, fit);
        ++own->n_fits;
        for (size_t i = sizes.n - fit->used; i < sizes.n && fit->state == REPORT_FIT_HOLDS; ++i) {
            sizes.point[i]->value[REPORT_ALPHA] = fit->alpha;
            /* A time that does not grow with the bytes has no bandwidth. */
            if (report_fit_grows(fit))
                sizes.point[i]->value[REPORT_BETA] = report_inverse(&fit->beta, 1e9);
        }
    }
    free(taken);
    free(sizes.alpha);
    free(sizes.beta);
}
