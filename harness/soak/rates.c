/* soak/rates.c: how fast each device is compared with the others, and whether that changed.
 *
 * Iterations are put into blocks of 8, at most SOAK_BLOCKS of them: when there are more, two become
 * one.
 * The number of a device in a block is the least time that a step took there, as the logarithm of
 * its ratio to the median of the other devices' in the same block. What slows all devices alike is
 * therefore in no number, and what other programs take from some iterations is not either.
 *
 * SLOW: the one-sided bound of the middle of a device's numbers (Hodges and Lehmann, exact signed
 * ranks, 5 % for all devices together) is above 1 + spread. NOT SHOWN: the middle is above it, the
 * bound is not. CLOCK DROPPED: of the last third of its blocks against the first third, the bound
 * of the shift is above 1 + spread. */
#include "soak/soak.h"

#include <math.h>
#include <stdio.h>

#include "numbers/rank.h"
#include "numbers/stats.h"

static const double BURST_SECONDS = 10;
static const double ALPHA = 0.05;
/* Waking a thread is a good part of a shorter step. */
static const double LEAST_NS = 1e6;
enum { LEAST_BLOCKS = 12, LEAST_EACH = 8 };

const char *const soak_speed_words[SOAK_SPEEDS] = {[SOAK_UNJUDGED] = "not judged",
                                                   [SOAK_EVEN] = "as the others",
                                                   [SOAK_UNSHOWN] = "not shown",
                                                   [SOAK_SLOW] = "SLOW",
                                                   [SOAK_DROPPED_CLOCK] = "CLOCK DROPPED"};

/* ---- collecting -------------------------------------------------------------------------- */

static void join(const struct soak_rates *rates, struct soak_block *to,
                 const struct soak_block *from)
{
    to->n += from->n;
    for (int d = 0; d < rates->devices; ++d) {
        to->floor[d] = fmin(to->floor[d], from->floor[d]);
        to->sum[d] += from->sum[d];
    }
}

void soak_rates_add(struct soak_rates *rates, uint64_t iteration, double seconds,
                    const double busy_ns[])
{
    struct soak_block one = {.n = 1, .first = iteration};
    double *sum = seconds <= BURST_SECONDS ? rates->burst_sum : rates->rest_sum;

    if (iteration == 1)
        return; /* memory is touched for the first time, and libraries are loaded */
    rates->each = rates->each == 0 ? LEAST_EACH : rates->each;
    for (int d = 0; d < rates->devices; ++d) {
        one.floor[d] = one.sum[d] = busy_ns[d];
        sum[d] += busy_ns[d];
    }
    ++*(seconds <= BURST_SECONDS ? &rates->burst_n : &rates->rest_n);
    if (rates->n > 0 && rates->block[rates->n - 1].n < rates->each) {
        join(rates, &rates->block[rates->n - 1], &one);
        return;
    }
    if (rates->n == SOAK_BLOCKS) {
        for (size_t b = 0; b < SOAK_BLOCKS / 2; ++b) {
            struct soak_block both = rates->block[2 * b];

            join(rates, &both, &rates->block[2 * b + 1]);
            rates->block[b] = both;
        }
        rates->n = SOAK_BLOCKS / 2;
        rates->each *= 2;
    }
    rates->block[rates->n++] = one;
}

/* ---- judging ----------------------------------------------------------------------------- */

/* Two-sided interval whose either end is a bound at ALPHA for all devices together. */
static double level_of(const struct soak_rates *rates)
{
    return 1 - 2 * ALPHA / rates->devices;
}

static void judge_device(const struct soak_rates *rates, int device, double limit,
                         struct soak_rate *rate)
{
    double x[SOAK_BLOCKS + 1];
    /* The last block may have had less time to find its least. */
    const bool cut = rates->n > 0 && rates->block[rates->n - 1].n < rates->each;
    const size_t n = rates->n - cut;
    struct rank_estimate middle;

    if (rates->devices < 2)
        snprintf(rate->why, sizeof rate->why, "there is one device");
    else if (n < LEAST_BLOCKS)
        snprintf(rate->why, sizeof rate->why, "%zu timed iterations, %d needed",
                 rates->burst_n + rates->rest_n, LEAST_BLOCKS * LEAST_EACH);
    else if (rates->block[0].floor[device] < LEAST_NS)
        snprintf(rate->why, sizeof rate->why, "a step of %.2g ms, %g needed",
                 rates->block[0].floor[device] / 1e6, LEAST_NS / 1e6);
    if (rate->why[0] != '\0')
        return;
    for (size_t b = 0; b < n; ++b) {
        double others[DP_MAX_SLOTS];
        size_t count = 0;

        for (int d = 0; d < rates->devices; ++d)
            if (d != device)
                others[count++] = rates->block[b].floor[d];
        x[b] = log(rates->block[b].floor[device] / stats_median(others, count));
    }
    middle = rank_signed_estimate(x, n, level_of(rates));
    rate->ratio = exp(middle.middle);
    snprintf(rate->why, sizeof rate->why, "its times have no bounds");
    if (!middle.valid)
        return;
    rate->lo = exp(middle.lo);
    rate->hi = exp(middle.hi);
    rate->speed = SOAK_EVEN;
    if (middle.middle > limit)
        rate->speed = middle.lo > limit ? SOAK_SLOW : SOAK_UNSHOWN;
    const size_t third = n / 3;
    const struct rank_estimate shift =
        rank_sum_shift(x, third, x + n - third, third, level_of(rates));

    if (shift.valid && shift.lo > limit) {
        rate->speed = SOAK_DROPPED_CLOCK;
        rate->drop = exp(shift.middle);
        /* Where the mean of the later blocks is furthest from that of the earlier ones, in its
         * errors.
         */
        double all = 0, before = 0, best = -1;
        size_t at = 0;

        for (size_t b = 0; b < n; ++b)
            all += x[b];
        for (size_t b = 1; b < n; ++b) {
            before += x[b - 1];

            const double left = (double)b, right = (double)(n - b);
            const double step = (all - before) / right - before / left;

            if (step > 0 && step * sqrt(left * right) > best) {
                best = step * sqrt(left * right);
                at = b;
            }
        }
        rate->since = rates->block[at].first;
    }
}

void soak_rates_judge(const struct soak_rates *rates, double spread, struct soak_rate rate[])
{
    const double none = (double)NAN;

    for (int d = 0; d < rates->devices; ++d) {
        rate[d] = (struct soak_rate){
            .burst_ns = rates->burst_n > 0 ? rates->burst_sum[d] / (double)rates->burst_n : none,
            .sustained_ns = rates->rest_n > 0 ? rates->rest_sum[d] / (double)rates->rest_n : none,
            .ratio = none,
            .lo = none,
            .hi = none};
        judge_device(rates, d, log(1 + spread), &rate[d]);
    }
}
