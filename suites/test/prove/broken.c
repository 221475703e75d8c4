/* prove/broken.c: the program of the simulations with one rule of the judging broken, which it must
 * notice: this shows how good the simulations are.
 *
 *   PROVE_BREAK=holm       cells do not share the errors that are allowed
 *   PROVE_BREAK=margin     the tests are against no margin
 *   PROVE_BREAK=timid      the tests are against three times the margin
 *   PROVE_BREAK=interval   intervals are half as wide */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/stats.h"

void __real_rank_holm(const double p[], size_t m, double adjusted[]);
void __wrap_rank_holm(const double p[], size_t m, double adjusted[]);
double __real_rank_signed_p(const double d[], size_t n, double margin);
double __wrap_rank_signed_p(const double d[], size_t n, double margin);
struct stats_interval __real_stats_median_interval(const double sorted[], size_t n, double level);
struct stats_interval __wrap_stats_median_interval(const double sorted[], size_t n, double level);

static bool breaks(const char *rule)
{
    const char *const broken = getenv("PROVE_BREAK");

    return broken && strcmp(broken, rule) == 0;
}

void __wrap_rank_holm(const double p[], size_t m, double adjusted[])
{
    __real_rank_holm(p, m, adjusted);
    if (breaks("holm"))
        memcpy(adjusted, p, m * sizeof p[0]);
}

double __wrap_rank_signed_p(const double d[], size_t n, double margin)
{
    const double times = breaks("margin") ? 0 : breaks("timid") ? 3 : 1;

    return __real_rank_signed_p(d, n, times * margin);
}

struct stats_interval __wrap_stats_median_interval(const double sorted[], size_t n, double level)
{
    struct stats_interval interval = __real_stats_median_interval(sorted, n, level);

    if (breaks("interval")) {
        const double middle = (interval.lo + interval.hi) / 2;

        interval.lo = (interval.lo + middle) / 2;
        interval.hi = (interval.hi + middle) / 2;
    }
    return interval;
}
