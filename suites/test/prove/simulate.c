/* prove/simulate.c: noise from fixed seeds, and its judgement by the product's own code. */
#include "prove/simulate.h"

#include <math.h>
#include <string.h>

#include "compare/pairs.h"
#include "numbers/rank.h"
#include "numbers/stats.h"

static const double NOISE = 0.02, PI = 3.141592653589793;

const char *const simulate_noise_names[SIMULATE_NOISES] = {[SIMULATE_GAUSS] = "gauss",
                                                           [SIMULATE_T2] = "t2",
                                                           [SIMULATE_CONTAMINATED] = "contaminated",
                                                           [SIMULATE_AR8] = "autoregressive .8",
                                                           [SIMULATE_DRIFT] = "drift in the pair",
                                                           [SIMULATE_AR5] = "autoregressive .5"};

struct source {
    enum simulate_noise model;
    uint64_t state;
    double last; /* of the launch before, where that matters */
};

/* Splitmix64. */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Returns a number in (0, 1). */
static double simulate_next_uniform(uint64_t *state)
{
    return ((double)(next_bits(state) >> 12) + 0.5) / 4503599627370496.0;
}

/* Returns a normal number by the method of Box and Muller. */
static double simulate_next_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(simulate_next_uniform(state)));

    return radius * cos(2 * PI * simulate_next_uniform(state));
}

static double next_of_series(struct source *source, double share)
{
    source->last =
        share * source->last + sqrt(1 - share * share) * simulate_next_normal(&source->state);
    return source->last;
}

/* Returns the noise of the next launch; which: 0 and 1 are the first and the second of a pair. */
static double next_launch(struct source *source, int which)
{
    double normal;

    switch (source->model) {
    case SIMULATE_AR8:
        return next_of_series(source, 0.8);
    case SIMULATE_AR5:
        return next_of_series(source, 0.5);
    case SIMULATE_T2:
        normal = simulate_next_normal(&source->state);
        return normal / sqrt(-log(simulate_next_uniform(&source->state)));
    case SIMULATE_CONTAMINATED:
        normal = simulate_next_normal(&source->state);
        return simulate_next_uniform(&source->state) < 0.1 ? 10 * normal : normal;
    case SIMULATE_DRIFT:
        return simulate_next_normal(&source->state) + 2 * which;
    case SIMULATE_GAUSS:
    case SIMULATE_NOISES:
        break;
    }
    return simulate_next_normal(&source->state);
}

static struct source open_source(enum simulate_noise model, uint64_t seed)
{
    struct source source = {.model = model, .state = seed};

    source.state = next_bits(&source.state) + (uint64_t)model;
    source.last = simulate_next_normal(&source.state); /* a series has no beginning */
    return source;
}

/* The blocks follow each other, as they are run. */
void simulate_pairs(enum simulate_noise model, uint64_t seed, size_t cells, size_t pairs,
                    double ratio, double noise, double d[])
{
    struct source source = open_source(model, seed);

    for (size_t pair = 0; pair < pairs; ++pair)
        for (size_t c = 0; c < cells; ++c) {
            const double order = (next_bits(&source.state) & 1) != 0 ? 1 : -1;
            const double first = next_launch(&source, 0), second = next_launch(&source, 1);

            d[c * pairs + pair] = log(ratio) + order * (second - first) * noise / sqrt(2);
        }
}

static int simulate_judge(const double d[], size_t cells, struct pairs_judged cell[],
                          struct pairs_judged *all)
{
    memset(cell, 0, cells * sizeof cell[0]);
    pairs_judge(&(struct pairs_data){d, cells, SIMULATE_PAIRS, NULL, 1}, cell, all);
    return 0;
}

static bool is_shown(double p, double other, double alpha)
{
    return p <= alpha || other <= alpha;
}

/* both: an alarm counts in either direction. */
static bool alarms(const struct pairs_judged cell[], size_t cells, const struct pairs_judged *all,
                   bool both)
{
    bool found = is_shown(all->p_slower, both ? all->p_faster : 1, PAIRS_ALPHA_ALL);

    for (size_t c = 0; c < cells; ++c)
        found = found || is_shown(cell[c].p_slower, both ? cell[c].p_faster : 1, PAIRS_ALPHA_CELLS);
    return found;
}

/* A test of d beyond the margin is one of d - log(margin) beyond nothing, and the other way round.
 */
int simulate_alarms(enum simulate_noise model, size_t cells, size_t runs,
                    struct simulate_alarms *found)
{
    double d[SIMULATE_CELLS_MOST * SIMULATE_PAIRS];
    struct pairs_judged cell[SIMULATE_CELLS_MOST], all;

    *found = (struct simulate_alarms){.without = 0};
    for (size_t run = 0; run < runs; ++run) {
        simulate_pairs(model, run, cells, SIMULATE_PAIRS, 1, NOISE, d);
        if (simulate_judge(d, cells, cell, &all) != 0)
            return -1;
        found->beyond += alarms(cell, cells, &all, true);
        for (size_t i = 0; i < cells * SIMULATE_PAIRS; ++i)
            d[i] += log(PAIRS_MARGIN);
        if (simulate_judge(d, cells, cell, &all) != 0)
            return -1;
        found->without += alarms(cell, cells, &all, false);
    }
    return 0;
}

int simulate_looks(enum simulate_noise model, size_t cells, size_t runs, size_t *alarmed)
{
    enum { LOOKS = 2, PAIRS = LOOKS * SIMULATE_PAIRS };
    double d[SIMULATE_CELLS_MOST * PAIRS], seen[SIMULATE_CELLS_MOST * PAIRS];
    struct pairs_judged cell[SIMULATE_CELLS_MOST], all;

    *alarmed = 0;
    for (size_t run = 0; run < runs; ++run) {
        bool found = false;

        simulate_pairs(model, run, cells, PAIRS, PAIRS_MARGIN, NOISE, d);
        for (size_t look = 1; look <= LOOKS; ++look) {
            const size_t pairs = look * SIMULATE_PAIRS;

            for (size_t i = 0; i < cells * pairs; ++i)
                seen[i] = d[i / pairs * PAIRS + i % pairs];
            memset(cell, 0, cells * sizeof cell[0]);
            pairs_judge(&(struct pairs_data){seen, cells, pairs, NULL, LOOKS}, cell, &all);
            /* The level of the tests is that of the intervals. Delta is not asked. */
            found = found || all.p_slower <= 1 - all.level;
            for (size_t c = 0; c < cells; ++c)
                found = found || cell[c].p_slower <= (1 - cell[c].level) * (double)cells;
        }
        *alarmed += found;
    }
    return 0;
}

int simulate_power(double ratio, size_t runs, struct simulate_power *found)
{
    double d[SIMULATE_CELLS * SIMULATE_PAIRS];
    struct pairs_judged cell[SIMULATE_CELLS], all;

    *found = (struct simulate_power){.slower = 0};
    for (size_t run = 0; run < runs; ++run) {
        simulate_pairs(SIMULATE_GAUSS, run, SIMULATE_CELLS, SIMULATE_PAIRS, ratio, NOISE, d);
        if (simulate_judge(d, SIMULATE_CELLS, cell, &all) != 0)
            return -1;
        for (int c = 0; c < SIMULATE_CELLS; ++c) {
            found->slower += cell[c].verdict == PAIRS_REGRESSED;
            found->faster += cell[c].verdict == PAIRS_IMPROVED;
            found->alike += cell[c].verdict == PAIRS_EQUIVALENT;
        }
        found->global_slower += all.verdict == PAIRS_REGRESSED;
        found->global_faster += all.verdict == PAIRS_IMPROVED;
        found->near += fabs(all.ratio - ratio) < 0.01 && all.lo < ratio && all.hi > ratio;
    }
    return 0;
}

/* Sorts a small array. */
static void sort(double x[], size_t n)
{
    for (size_t i = 1; i < n; ++i) {
        const double value = x[i];
        size_t at = i;

        for (; at > 0 && x[at - 1] > value; --at)
            x[at] = x[at - 1];
        x[at] = value;
    }
}

size_t simulate_median_covered(enum simulate_noise model, size_t n, size_t runs)
{
    double x[RANK_MOST];
    size_t covered = 0;

    for (size_t run = 0; run < runs; ++run) {
        struct source source = open_source(model, run);

        for (size_t i = 0; i < n; ++i)
            x[i] = next_launch(&source, 0);
        sort(x, n);

        const struct stats_interval interval = stats_median_interval(x, n, 0.95);

        covered += interval.valid && interval.lo <= 0 && interval.hi >= 0;
    }
    return covered;
}

size_t simulate_shift_covered(enum simulate_noise model, size_t n, size_t runs)
{
    double d[RANK_MOST];
    size_t covered = 0;

    for (size_t run = 0; run < runs; ++run) {
        simulate_pairs(model, run, 1, n, 1, NOISE, d);

        const struct rank_estimate shift = rank_signed_estimate(d, n, 0.95);

        covered += shift.valid && shift.lo <= 0 && shift.hi >= 0;
    }
    return covered;
}
