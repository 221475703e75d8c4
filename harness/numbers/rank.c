/* numbers/rank.c: distributions of sums of ranks, counted rank by rank.
 *
 * Ranks are doubled, so that the mean of two neighbours is whole. Counts are doubles: nothing is
 * subtracted but from 1, so what rounding there is stays far below any p that matters. Of signed
 * ranks the lower half of the sums is kept: sums as far above the middle have the same chances. */
#include "numbers/rank.h"
#include "numbers/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "text/alloc.h"

enum { WALSH_MOST = RANK_MOST * (RANK_MOST + 1) / 2 };

/* The part of comparisons that are drawn from the pairs. It is more than the 80 of 100 that are to
 * be found: how pairs scatter is itself known from n of them only. With this part, simulated
 * comparisons of 12 pairs find 75 to 84 of 100, whether their noise is normal or has heavy tails.
 */
static const double DRAWN = 0.9;

enum { ROUNDS = 200 };

static bool all_finite(const double x[], size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; ++i)
        finite = finite && isfinite(x[i]);
    return finite;
}

/* Twice the rank of each of x among all. */
static void double_ranks(const double x[], size_t n, size_t rank[])
{
    for (size_t i = 0; i < n; ++i) {
        size_t below = 0, same = 0;
        for (size_t j = 0; j < n; ++j) {
            below += x[j] < x[i];
            same += x[j] == x[i];
        }
        rank[i] = 2 * below + same + 1;
    }
}

/* One more rank, which is in a sum, up to *top, or not, each with chance 1/2. most: are kept. */
static void toss(double chance[], size_t *top, size_t most, size_t rank)
{
    *top += rank;
    for (size_t s = (*top < most ? *top : most) + 1; s-- > 0;)
        chance[s] = (chance[s] + (s >= rank ? chance[s - rank] : 0)) / 2;
}

double rank_signed_p(const double d[], size_t n, double margin)
{
    double size[RANK_MOST], chance[WALSH_MOST + 1] = {1}; /* doubled, the half of all sums */
    size_t rank[RANK_MOST], top = 0, sum = 0;
    if (n == 0 || n > RANK_MOST || !all_finite(d, n) || !isfinite(margin))
        return NAN;
    for (size_t i = 0; i < n; ++i)
        size[i] = fabs(d[i] - margin);
    double_ranks(size, n, rank);
    for (size_t i = 0; i < n; ++i) {
        if (size[i] > 0) {
            toss(chance, &top, WALSH_MOST, rank[i]);
            sum += d[i] > margin ? rank[i] : 0;
        }
    }
    const bool upper = sum > top - sum;
    double p = 0;
    for (size_t s = 0; s < (upper ? top - sum + 1 : sum); ++s)
        p += chance[s];
    return upper ? p : 1 - p;
}

/* How many of the lowest sums are outside of an interval, and with how much chance. */
static size_t tail_of(const double chance[], size_t top, double level, double *outside)
{
    size_t k = 0;
    for (*outside = 0; k <= top && *outside + chance[k] <= (1 - level) / 2; ++k)
        *outside += chance[k];
    return k;
}

/* From sorted values, of which so many lie below the shift as a sum that has such a tail says. */
static struct rank_estimate estimate(const double sorted[], size_t n, size_t k, double outside,
                                     double level)
{
    struct rank_estimate found = {
        .middle = stats_quantile(sorted, n, 0.5), .lo = NAN, .hi = NAN, .coverage = NAN};
    if (!(level > 0 && level < 1) || k == 0 || k > n - k)
        return found;
    found.valid = true;
    found.lo = sorted[k - 1];
    found.hi = sorted[n - k];
    found.coverage = 1 - 2 * outside;
    return found;
}

static const struct rank_estimate UNKNOWN = {.middle = NAN, .lo = NAN, .hi = NAN, .coverage = NAN};

struct rank_estimate rank_signed_estimate(const double d[], size_t n, double level)
{
    double mean[WALSH_MOST + 1] = {1}, outside; /* first the chances of sums */
    size_t means = 0, top = 0;
    if (n == 0 || n > RANK_MOST || !all_finite(d, n))
        return UNKNOWN;
    for (size_t i = 0; i < n; ++i)
        toss(mean, &top, WALSH_MOST, i + 1);
    const size_t k = tail_of(mean, top, level, &outside);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j)
            mean[means++] = d[i] / 2 + d[j] / 2;
    stats_sort(mean, means);
    return estimate(mean, means, k, outside, level);
}

double rank_detectable(const double d[], size_t n, double margin, double least, double alpha)
{
    double drawn[RANK_MOST], takes[ROUNDS];
    uint64_t state = 1;
    if (n < 2 || n > RANK_MOST || !all_finite(d, n))
        return NAN;
    const double middle = rank_signed_estimate(d, n, 0.5).middle;
    const double wider = sqrt((double)n / (double)(n - 1));
    for (size_t round = 0; round < ROUNDS; ++round) {
        for (size_t i = 0; i < n; ++i) {
            const uint64_t bits = random_next(&state);
            const double x = (d[(size_t)((bits >> 1) % n)] - middle) * wider;
            drawn[i] = bits & 1 ? -x : x;
        }
        /* The test rejects where this bound, moved by the effect, is above the margin. */
        const struct rank_estimate bound = rank_signed_estimate(drawn, n, 1 - 2 * alpha);
        takes[round] = fmax(margin - bound.lo, least - bound.middle);
        if (!bound.valid)
            return NAN;
    }
    stats_sort(takes, ROUNDS);
    return stats_quantile(takes, ROUNDS, DRAWN);
}

size_t rank_pairs_needed(double detectable, size_t n, double margin, double alpha, double effect)
{
    const double root = (detectable - margin) / (effect - margin);
    const double least = ceil(-log2(alpha)), pairs = ceil((double)n * root * root);
    if (!(effect > margin) || !(pairs <= 1e9) || !(least <= 1e9))
        return 0;
    return (size_t)fmax(least, pairs);
}

/* Choices of k of n ranks by their sum, 0 to *top; caller: free. Row j of the table counts choices
 * of j. */
static double *count_choices(const size_t rank[], size_t n, size_t k, size_t *top)
{
    size_t largest = 0;
    for (size_t i = 0; i < n; ++i)
        largest = rank[i] > largest ? rank[i] : largest;
    *top = k * largest;
    const size_t width = *top + 1;
    double *table = cli_alloc((k + 1) * width, sizeof table[0]);
    table[0] = 1;
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = i + 1 < k ? i + 1 : k; j > 0; --j) {
            double *to = table + j * width + rank[i];
            const double *from = table + (j - 1) * width;
            for (size_t s = 0; s < width - rank[i]; ++s)
                to[s] += from[s];
        }
    }
    for (size_t s = 0; s < width; ++s)
        table[s] = table[k * width + s];
    return table;
}

/* n of n + m, exact up to rounding. */
static double choices(size_t n, size_t m)
{
    double c = 1;
    for (size_t i = 1; i <= n; ++i)
        c = c * (double)(m + i) / (double)i;
    return c;
}

double rank_sum_p(const double a[], size_t n, const double b[], size_t m)
{
    double x[2 * RANK_MOST];
    size_t rank[2 * RANK_MOST], sum = 0, top;
    if (n == 0 || m == 0 || n > RANK_MOST || m > RANK_MOST || !all_finite(a, n) ||
        !all_finite(b, m))
        return NAN;
    if (n > m) { /* both tails count, so the smaller sample can be the one that is chosen */
        return rank_sum_p(b, m, a, n);
    }
    for (size_t i = 0; i < n + m; ++i)
        x[i] = i < n ? a[i] : b[i - n];
    double_ranks(x, n + m, rank);
    for (size_t i = 0; i < n; ++i)
        sum += rank[i];
    double *count = count_choices(rank, n + m, n, &top);
    double below = 0, above = 0;
    for (size_t s = 0; s <= top; ++s) {
        below += s <= sum ? count[s] : 0;
        above += s >= sum ? count[s] : 0;
    }
    free(count);
    return fmin(2 * fmin(below, above) / choices(n, m), 1);
}

double rank_sum_least_p(size_t n, size_t m)
{
    return n == 0 || m == 0 || n > RANK_MOST || m > RANK_MOST ? NAN : fmin(2 / choices(n, m), 1);
}

struct rank_estimate rank_sum_shift(const double a[], size_t n, const double b[], size_t m,
                                    double level)
{
    const size_t k = n < m ? n : m, least = k * (k + 1) / 2;
    size_t rank[2 * RANK_MOST], top, differences = 0;
    double outside;
    if (n == 0 || m == 0 || n > RANK_MOST || m > RANK_MOST || !all_finite(a, n) ||
        !all_finite(b, m))
        return UNKNOWN;
    for (size_t i = 0; i < n + m; ++i)
        rank[i] = i + 1;
    double *count = count_choices(rank, n + m, k, &top);
    double *difference = cli_alloc(n * m, sizeof difference[0]);
    for (size_t i = 0; i < n * m; ++i)
        difference[differences++] = b[i / n] - a[i % n];
    /* So many pairs the right way round as the sum is above its least. */
    for (size_t s = least; s <= top; ++s)
        count[s] /= choices(n, m);
    stats_sort(difference, differences);
    const size_t outer = tail_of(count + least, n * m, level, &outside);
    const struct rank_estimate shift = estimate(difference, differences, outer, outside, level);
    free(count);
    free(difference);
    return shift;
}

struct ranked {
    double p;
    size_t index;
};

static int by_p(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    return stats_order(a->p, b->p);
}

void rank_holm(const double p[], size_t m, double adjusted[])
{
    struct ranked *order = cli_alloc(m, sizeof order[0]);
    double most = 0;
    for (size_t i = 0; i < m; ++i) {
        order[i] = (struct ranked){p[i], i};
    }
    qsort(order, m, sizeof order[0], by_p);
    for (size_t i = 0; i < m; ++i) {
        most = fmin(fmax(most, (double)(m - i) * order[i].p), 1);
        adjusted[order[i].index] = isnan(order[i].p) ? order[i].p : most;
    }
    free(order);
}
