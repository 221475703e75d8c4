/* forecast/fit.c: curves through what was measured.
 *
 * Every curve is that of numbers/stats.h: the least sum of relative distances. So what was planted
 * is found exactly, and a point that was disturbed bends nothing. No row, no transfer and no byte
 * takes less than no time: the noise of few points would make it so, and times far away negative.
 */
#include "forecast/forecast.h"

#include "numbers/stats.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Numbers of which one is made from the other by a division are the same here. */
static bool is_same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void fit_curve(const double x[], const double y[], size_t n, struct fit_curve *curve)
{
    bool one = true;

    *curve = (struct fit_curve){.alpha = NAN, .beta = NAN, .only = NAN, .n = n};
    for (size_t i = 1; i < n; ++i)
        one = one && is_same(x[i], x[0]);
    if (n > 0 && one) {
        double sorted[FIT_POINTS];

        memcpy(sorted, y, n * sizeof *y);
        curve->alpha = stats_median(sorted, n);
        curve->beta = 0;
        curve->only = x[0];
    } else if (n > 0) {
        const struct line line = line_fit(x, y, n, true);

        curve->alpha = line.alpha;
        curve->beta = line.beta;
    }
}

/* NaN where it is not known. */
static double fit_at(const struct fit_curve *curve, double x)
{
    if (!isnan(curve->only) && !is_same(x, curve->only))
        return NAN;
    return curve->alpha + curve->beta * x;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double between_0_and_1(double x)
{
    return x > 0 ? least(x, 1) : 0;
}

/* At each point one of the two is what holds, so the best pair is among those of the points. */
static void fit_hidden(const struct fit_point point[], size_t n, size_t skip, size_t model,
                       struct fit_model *fit)
{
    const struct fit_point *of[FIT_POINTS];
    double best = INFINITY;
    size_t used = 0;

    for (size_t i = 0; i < n; ++i)
        if (i != skip && point[i].model == model && point[i].ranks > 1)
            of[used++] = &point[i];
    fit->share = fit->cover = NAN;
    for (size_t i = 0; i < used; ++i)
        for (size_t k = 0; k < used; ++k) {
            const double share = between_0_and_1(of[i]->hidden / of[i]->comm);
            const double cover = between_0_and_1(of[k]->hidden / of[k]->compute);
            double off = 0; /* by which part the steps would be off with these two, added up */

            for (size_t j = 0; j < used; ++j) {
                const double hidden = least(share * of[j]->comm, cover * of[j]->compute);

                off += fabs(of[j]->hidden - hidden) / of[j]->step;
            }
            if (off < best) {
                best = off;
                fit->share = share;
                fit->cover = cover;
            }
        }
}

void fit_model(const struct fit_point point[], size_t n, size_t skip, size_t model,
               struct fit_model *fit)
{
    double x[FIT_POINTS], y[FIT_POINTS];

    for (int kind = 0; kind < FIT_KINDS; ++kind) {
        size_t of_kind = 0;

        for (size_t i = 0; i < n; ++i) {
            if (i == skip || point[i].model != model ||
                !(kind == FIT_ALL || (kind == FIT_SEVERAL) == (point[i].ranks > 1)))
                continue;
            x[of_kind] = (double)point[i].shard;
            y[of_kind++] = point[i].compute;
        }
        fit_curve(x, y, of_kind, &fit->compute[kind]);
    }
    /* The time of a reduction is its transfers times that of one. Both sides are divided by their
     * number: relative distances stay what they are. */
    size_t used = 0;

    for (size_t i = 0; i < n; ++i) {
        if (i == skip || point[i].ranks < 2)
            continue;
        x[used] = point[i].traffic.bytes / point[i].traffic.transfers;
        y[used++] = point[i].comm / point[i].traffic.transfers;
    }
    fit_curve(x, y, used, &fit->transfer);
    fit_hidden(point, n, skip, model, fit);
}

struct fit_time fit_time(const struct fit_model *fit, int ranks, size_t shard,
                         struct fit_traffic traffic)
{
    struct fit_time time = {
        .compute = fit_at(&fit->compute[ranks > 1 ? FIT_SEVERAL : FIT_ONE], (double)shard)};

    if (isnan(time.compute))
        time.compute = fit_at(&fit->compute[FIT_ALL], (double)shard);
    if (ranks > 1) {
        time.comm = traffic.transfers * fit_at(&fit->transfer, traffic.bytes / traffic.transfers);
        time.hidden = isnan(fit->share) ? (double)NAN
                                        : least(fit->share * time.comm, fit->cover * time.compute);
    }
    time.step = time.compute + time.comm - time.hidden;
    return time;
}
