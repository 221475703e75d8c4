/* compare/baseline_judge.c: what one more sitting shows against those before it.
 *
 * The new sitting is held against the interval in which one more like the others would lie: it
 * takes the logarithms of sittings to be independent and normal, which six of them cannot show. A
 * few sittings therefore judge, but make no gate. */
#include "compare/baseline.h"

#include "numbers/stats.h"

#include <math.h>

/* A new sitting differs from the mean of n by this much of their standard deviation. */
static double width(size_t n, double p)
{
    return stats_t_quantile(p, n - 1) * sqrt(1 + 1 / (double)n);
}

/* About: it takes the deviation of the sittings for the true one. */
static double detectable(size_t n, double sd, size_t cells)
{
    const double found =
        log(PAIRS_MARGIN) + sd * (width(n, 1 - BASELINE_ALPHA / (double)cells) + width(n, 0.8));

    return exp(fmax(found, log(PAIRS_DELTA) + sd * width(n, 0.8)));
}

void baseline_spread(const double x[], size_t sittings, struct baseline_judged *judged)
{
    double squares = 0, sum = 0;

    judged->mean = judged->sd = NAN;
    for (size_t i = 0; i < sittings; ++i)
        sum += x[i];
    if (sittings > 0)
        judged->mean = sum / (double)sittings;
    for (size_t i = 0; i < sittings; ++i)
        squares += (x[i] - judged->mean) * (x[i] - judged->mean);
    if (sittings > 1)
        judged->sd = sqrt(squares / (double)(sittings - 1));
}

void baseline_power(size_t sittings, size_t cells, struct baseline_judged *judged)
{
    size_t least = BASELINE_LEAST, most = BASELINE_MOST;

    judged->detectable = sittings > 1 ? detectable(sittings, judged->sd, cells) : NAN;
    judged->needed = 0;
    if (!(detectable(most, judged->sd, cells) <= PAIRS_ASKED))
        return;
    /* More sittings never find less. */
    while (least < most) {
        const size_t middle = (least + most) / 2;

        if (detectable(middle, judged->sd, cells) <= PAIRS_ASKED)
            most = middle;
        else
            least = middle + 1;
    }
    judged->needed = most;
}

void baseline_judge(const double x[], size_t sittings, double fresh, size_t cells,
                    struct baseline_judged *judged)
{
    baseline_spread(x, sittings, judged);
    judged->ratio = judged->lo = judged->hi = NAN;
    judged->verdict = PAIRS_INVALID;
    if (sittings < BASELINE_LEAST || !isfinite(judged->sd) || !isfinite(fresh))
        return;
    const double half = judged->sd * width(sittings, 1 - BASELINE_ALPHA / (double)cells);

    judged->ratio = exp(fresh - judged->mean);
    judged->lo = exp(fresh - judged->mean - half);
    judged->hi = exp(fresh - judged->mean + half);
    judged->verdict = PAIRS_INCONCLUSIVE;
    if (judged->lo > PAIRS_MARGIN && judged->ratio >= PAIRS_DELTA)
        judged->verdict = PAIRS_REGRESSED;
    else if (judged->hi < 1 / PAIRS_MARGIN && judged->ratio <= 1 / PAIRS_DELTA)
        judged->verdict = PAIRS_IMPROVED;
    else if (judged->lo >= 1 / PAIRS_ALIKE && judged->hi <= PAIRS_ALIKE)
        judged->verdict = PAIRS_EQUIVALENT;
}
