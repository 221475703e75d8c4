/* pairs.c: tests of the conclusions from pairs. The differences are made up, so that the truth is
 * known. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare/pairs.h"
#include "machine/machine.h"
#include "numbers/rank.h"
#include "prove/simulate.h"

enum { CELLS = SIMULATE_CELLS, PAIRS = SIMULATE_PAIRS, SEEDS = 100 };

/* Makes cells whose NEW takes `ratio` times as long, with pairs that have this much noise. */
static void pairs_make(uint64_t seed, double ratio, double noise, double d[CELLS * PAIRS])
{
    simulate_pairs(SIMULATE_GAUSS, seed, CELLS, PAIRS, ratio, noise, d);
}

static void judge(const double d[], struct pairs_judged cell[CELLS], struct pairs_judged *all)
{
    const struct pairs_data data = {d, CELLS, PAIRS, NULL, 1};

    memset(cell, 0, CELLS * sizeof cell[0]);
    pairs_judge(&data, cell, all);
    pairs_power(&data, cell, all);
}

static size_t pairs_count(const struct pairs_judged cell[CELLS], enum pairs_verdict verdict)
{
    size_t n = 0;

    for (int c = 0; c < CELLS; ++c)
        n += cell[c].verdict == verdict;
    return n;
}

/* Fewer runs of the simulation that `scripts/prove power-sim` makes. */
Test(pairs, a_slowdown_is_found)
{
    struct simulate_power found;

    cr_assert_eq(simulate_power(1.05, SEEDS, &found), 0);
    cr_expect_geq(found.slower, 85 * SEEDS * CELLS / 100, "%zu cells", found.slower);
    cr_expect_eq(found.faster + found.alike, 0);
    cr_expect_eq(found.global_slower, SEEDS, "%zu comparisons", found.global_slower);
    cr_expect_geq(found.near, 95, "%zu estimates", found.near);
}

/* In the other direction it is found to be faster. */
Test(pairs, a_speedup_is_found)
{
    struct simulate_power found;

    cr_assert_eq(simulate_power(1 / 1.05, SEEDS, &found), 0);
    cr_expect_geq(found.faster, 85 * SEEDS * CELLS / 100, "%zu cells", found.faster);
    cr_expect_eq(found.slower, 0);
    cr_expect_eq(found.global_faster, SEEDS, "%zu comparisons", found.global_faster);
}

/* The table "How many pairs" of docs/compare.md: with that many pairs each cell is found even if
 * one pair is wrong, in the other direction and by more than all others; with one fewer none is
 * found. */
Test(pairs, bears_a_spoilt_pair)
{
    static const size_t table[][2] = {{1, 11}, {4, 14}, {12, 16}, {42, 19}, {105, 20}};
    enum { MOST_CELLS = 105, MOST_PAIRS = 20 };
    static double d[MOST_CELLS * MOST_PAIRS];
    static struct pairs_judged cell[MOST_CELLS];
    struct pairs_judged all;

    for (size_t row = 0; row < sizeof table / sizeof table[0]; ++row)
        for (size_t fewer = 0; fewer < 2; ++fewer) {
            const size_t cells = table[row][0], pairs = table[row][1] - fewer;
            const struct pairs_data data = {d, cells, pairs, NULL, 1};
            size_t found = 0;

            for (size_t i = 0; i < cells * pairs; ++i)
                d[i] = i % pairs == i / pairs % pairs ? -0.2 : 0.05 + 1e-5 * (double)(i % pairs);
            memset(cell, 0, sizeof cell);
            pairs_judge(&data, cell, &all);
            for (size_t c = 0; c < cells; ++c)
                found += cell[c].verdict == PAIRS_REGRESSED;
            cr_expect_eq(found, fewer ? 0 : cells, "%zu of %zu cells, %zu pairs", found, cells,
                         pairs);
        }
}

/* There are no more alarms than the level allows, however large the noise is. */
Test(pairs, equal_programs_alarm_nobody)
{
    static const double noises[] = {0.005, 0.02, 0.1};
    double d[CELLS * PAIRS];
    struct pairs_judged cell[CELLS], all;

    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; ++i) {
        size_t alarms = 0;

        for (uint64_t seed = 0; seed < SEEDS; ++seed) {
            pairs_make(seed, 1, noises[i], d);
            judge(d, cell, &all);
            alarms += pairs_count(cell, PAIRS_REGRESSED) + pairs_count(cell, PAIRS_IMPROVED) > 0 ||
                      all.verdict == PAIRS_REGRESSED || all.verdict == PAIRS_IMPROVED;
        }
        cr_expect_leq(alarms, 5, "%zu of %d at noise %g", alarms, SEEDS, noises[i]);
    }
}

/* Returns the verdict of one cell in which all pairs have that ratio, among cells whose pairs have
 * 1. */
static enum pairs_verdict verdict_of(double ratio)
{
    double d[CELLS * PAIRS] = {0};
    struct pairs_judged cell[CELLS], all;

    for (int i = 0; i < PAIRS; ++i)
        d[i] = log(ratio);
    judge(d, cell, &all);
    cr_expect_eq(all.verdict, PAIRS_EQUIVALENT, "the others are alike");
    for (int c = 1; c < CELLS; ++c)
        cr_expect_eq(cell[c].verdict, PAIRS_EQUIVALENT);
    cr_expect_float_eq(cell[0].ratio, ratio, 1e-12);
    return cell[0].verdict;
}

Test(pairs, margins)
{
    cr_expect_eq(verdict_of(1), PAIRS_EQUIVALENT);
    cr_expect_eq(verdict_of(1.005), PAIRS_EQUIVALENT);
    cr_expect_eq(verdict_of(1.019), PAIRS_EQUIVALENT, "shown, but less than delta");
    cr_expect_eq(verdict_of(1.021), PAIRS_REGRESSED);
    cr_expect_eq(verdict_of(1.5), PAIRS_REGRESSED);
    cr_expect_eq(verdict_of(1 / 1.019), PAIRS_EQUIVALENT);
    cr_expect_eq(verdict_of(1 / 1.021), PAIRS_IMPROVED);
}

/* A difference that is not shown is not called equivalent, and the text says which one could have
 * been found. */
Test(pairs, noise_is_inconclusive)
{
    double d[CELLS * PAIRS];
    struct pairs_judged cell[CELLS], all;

    pairs_make(7, 1.05, 0.3, d);
    judge(d, cell, &all);
    cr_expect_eq(pairs_count(cell, PAIRS_INCONCLUSIVE), CELLS);
    for (int c = 0; c < CELLS; ++c) {
        cr_expect_gt(cell[c].detectable, 1.1);
        cr_expect_gt(cell[c].needed, PAIRS);
        cr_expect_leq(cell[c].lo, cell[c].ratio);
        cr_expect_geq(cell[c].hi, cell[c].ratio);
        cr_expect_float_eq(cell[c].level, 1 - 0.04 / CELLS, 1e-12, "simultaneous");
    }
}

/* Returns whether another comparison with the same noise finds the change that this one says of the
 * cell, if no other cell is slower. */
static bool finds(double d[PAIRS], double detectable)
{
    for (int i = 0; i < PAIRS; ++i)
        d[i] += log(detectable);
    return rank_signed_p(d, PAIRS, log(PAIRS_MARGIN)) <= PAIRS_ALPHA_CELLS / CELLS &&
           rank_signed_estimate(d, PAIRS, 0.5).middle >= log(PAIRS_DELTA);
}

/* It is found in about 80 of 100 comparisons, also if the noise has heavy tails. */
Test(pairs, finds_what_it_says)
{
    static const enum simulate_noise noises[] = {SIMULATE_GAUSS, SIMULATE_T2,
                                                 SIMULATE_CONTAMINATED};
    enum { RUNS = 30 };
    double d[CELLS * PAIRS];
    struct pairs_judged cell[CELLS], all;

    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; ++i) {
        int found = 0;

        for (uint64_t seed = 0; seed < RUNS; ++seed) {
            simulate_pairs(noises[i], seed, CELLS, PAIRS, 1, 0.02, d);
            judge(d, cell, &all);
            simulate_pairs(noises[i], seed + RUNS, CELLS, PAIRS, 1, 0.02, d);
            for (int c = 0; c < CELLS; ++c)
                found += finds(&d[c * PAIRS], cell[c].detectable);
        }
        cr_expect_geq(found, 70 * RUNS * CELLS / 100, "%s: %d of %d",
                      simulate_noise_names[noises[i]], found, RUNS * CELLS);
        cr_expect_leq(found, 90 * RUNS * CELLS / 100, "%s: %d of %d",
                      simulate_noise_names[noises[i]], found, RUNS * CELLS);
    }
}

/* A cell about which nothing is known is not hidden, and it does not make the others easier to
 * show. */
Test(pairs, invalid_stays_invalid)
{
    double d[CELLS * PAIRS];
    struct pairs_judged cell[CELLS] = {{.verdict = PAIRS_INVALID, .reason = "not verified"}}, all;
    struct pairs_judged whole[CELLS], whole_all;

    pairs_make(3, 1.05, 0.02, d);
    judge(d, whole, &whole_all);
    d[0] = NAN;
    d[PAIRS] = INFINITY;
    pairs_judge(&(struct pairs_data){d, CELLS, PAIRS, NULL, 1}, cell, &all);
    cr_expect_eq(cell[0].verdict, PAIRS_INVALID);
    cr_expect_str_eq(cell[0].reason, "not verified");
    cr_expect_eq(cell[1].verdict, PAIRS_INVALID);
    cr_expect_str_eq(cell[1].reason, "a time is not a number");
    cr_expect(isnan(cell[1].ratio) && isnan(cell[1].p_slower));
    cr_expect_eq(all.verdict, PAIRS_REGRESSED, "of the others");
    for (int c = 2; c < CELLS; ++c)
        cr_expect_geq(cell[c].p_slower, whole[c].p_slower);
    for (int i = 0; i < CELLS * PAIRS; ++i)
        d[i] = NAN;
    judge(d, cell, &all);
    cr_expect_eq(pairs_count(cell, PAIRS_INVALID), CELLS);
    cr_expect_eq(all.verdict, PAIRS_INVALID);
    cr_expect_str_eq(all.reason, "no cell is valid");
}

Test(pairs, pairs_that_so_many_cells_take)
{
    double d[CELLS * PAIRS];
    struct pairs_judged cell[CELLS] = {{.reason = ""}}, all;

    cr_expect_eq(pairs_least(1, 1), 8);
    cr_expect_eq(pairs_least(10, 1), 8);
    cr_expect_eq(pairs_least(12, 1), 9);
    cr_expect_eq(pairs_least(42, 1), 11);
    cr_expect_eq(pairs_least(160, 1), 12);
    cr_expect_eq(pairs_least(12, 2), 10, "half of the errors");
    pairs_make(1, 2, 0.001, d);
    pairs_judge(&(struct pairs_data){d, CELLS, 8, NULL, 1}, cell, &all);
    cr_expect_eq(pairs_count(cell, PAIRS_INVALID), CELLS);
    cr_expect_str_eq(cell[0].reason, "8 pairs; for one of 12 cells it takes 9 to 60");
    memset(cell, 0, sizeof cell);
    pairs_judge(&(struct pairs_data){d, CELLS, 9, NULL, 1}, cell, &all);
    cr_expect_eq(pairs_count(cell, PAIRS_REGRESSED), CELLS);
}

/* Two interim analyses are wrong no more often than one: each has half of the errors. 24 pairs of a
 * cell take the exact distribution of 2^24 signs, so most runs have a single cell. */
Test(pairs, looks_share_the_errors)
{
    enum { RUNS = 4000, FEW = 300 };
    size_t alarmed;

    for (int model = SIMULATE_GAUSS; model <= SIMULATE_CONTAMINATED; ++model) {
        cr_assert_eq(simulate_looks((enum simulate_noise)model, 1, RUNS, &alarmed), 0);
        cr_expect_leq((double)alarmed, PAIRS_ALPHA_CELLS * RUNS, "one cell, %s: %zu of %d",
                      simulate_noise_names[model], alarmed, RUNS);
        cr_expect_geq((double)alarmed, 0.5 * PAIRS_ALPHA_CELLS * RUNS, "it can alarm: %zu",
                      alarmed);
    }
    cr_assert_eq(simulate_looks(SIMULATE_GAUSS, CELLS, FEW, &alarmed), 0);
    cr_expect_leq((double)alarmed, (PAIRS_ALPHA_CELLS + PAIRS_ALPHA_ALL) * FEW, "%d cells: %zu",
                  CELLS, alarmed);
}

/* If there are two interim analyses, a result of one needs half of the p. */
Test(pairs, a_look_has_half)
{
    double d[PAIRS];

    for (int i = 0; i < PAIRS; ++i)
        d[i] = log(PAIRS_MARGIN) + 0.03 + i * 1e-4;
    /* The ranks 12 and 2 have the other sign: p is 0.026. */
    d[PAIRS - 1] = log(PAIRS_MARGIN) - 0.04;
    d[1] = log(PAIRS_MARGIN) - 0.0301;
    for (size_t looks = 1; looks <= PAIRS_LOOKS_MOST; ++looks) {
        const struct pairs_data data = {d, 1, PAIRS, NULL, looks};
        struct pairs_judged cell = {.verdict = PAIRS_INCONCLUSIVE}, all = cell;

        pairs_judge(&data, &cell, &all);
        cr_expect(cell.p_slower > 0.02 && cell.p_slower < 0.04, "p %g", cell.p_slower);
        cr_expect_eq(cell.verdict, looks == 1 ? PAIRS_REGRESSED : PAIRS_INCONCLUSIVE);
        cr_expect_float_eq(cell.level, 1 - PAIRS_ALPHA_CELLS / (double)looks, 1e-12);
        cr_expect_float_eq(all.level, 1 - PAIRS_ALPHA_ALL / (double)looks, 1e-12);
    }
}

/* An interim analysis ends the comparison if it fails, or if nothing is open. */
Test(pairs, settled)
{
    struct pairs pairs = {.all = {.verdict = PAIRS_EQUIVALENT}};

    pairs.count[PAIRS_EQUIVALENT] = pairs.count[PAIRS_INVALID] = 1;
    cr_expect(pairs_settled(&pairs));
    pairs.all.verdict = PAIRS_INCONCLUSIVE;
    cr_expect_not(pairs_settled(&pairs));
    pairs.all.verdict = PAIRS_EQUIVALENT;
    pairs.count[PAIRS_INCONCLUSIVE] = pairs.count[PAIRS_IMPROVED] = 1;
    cr_expect_not(pairs_settled(&pairs), "a cell is open");
    pairs.same = true;
    cr_expect(pairs_settled(&pairs), "a false alarm");
    pairs.same = false;
    pairs.count[PAIRS_REGRESSED] = 1;
    cr_expect(pairs_settled(&pairs), "it fails, whatever comes");
    pairs.count[PAIRS_REGRESSED] = 0;
    pairs.all.verdict = PAIRS_REGRESSED;
    cr_expect(pairs_settled(&pairs));
}

Test(pairs, exit_statuses)
{
    struct pairs pairs = {.options.strict = false, .all = {.verdict = PAIRS_EQUIVALENT}};

    pairs.count[PAIRS_EQUIVALENT] = pairs.count[PAIRS_IMPROVED] = 3;
    cr_expect_eq(pairs_exit(&pairs), 0);
    pairs.count[PAIRS_INCONCLUSIVE] = 1;
    cr_expect_eq(pairs_exit(&pairs), 0);
    pairs.options.strict = true;
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INCONCLUSIVE);
    pairs.count[PAIRS_INVALID] = 1;
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID);
    pairs.count[PAIRS_REGRESSED] = 1;
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_REGRESSED);
    pairs.count[PAIRS_REGRESSED] = pairs.count[PAIRS_INVALID] = 0;
    pairs.all.verdict = PAIRS_REGRESSED;
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_REGRESSED, "all together are enough");
    pairs.all.verdict = PAIRS_INVALID;
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID);
}

/* A program is compared with itself: verdicts in both directions are false alarms. */
Test(pairs, false_alarms)
{
    struct pairs pairs = {.all = {.verdict = PAIRS_IMPROVED}};

    pairs.count[PAIRS_IMPROVED] = 1;
    cr_expect_eq(pairs_false_alarms(&pairs), 0, "two programs");
    cr_expect_eq(pairs_exit(&pairs), 0);
    pairs.same = true;
    cr_expect_eq(pairs_false_alarms(&pairs), 2);
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID);
    pairs.count[PAIRS_IMPROVED] = 0;
    pairs.count[PAIRS_REGRESSED] = 1;
    pairs.all.verdict = PAIRS_EQUIVALENT;
    cr_expect_eq(pairs_false_alarms(&pairs), 1);
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID, "no program is slower than itself");
    pairs.count[PAIRS_REGRESSED] = 0;
    cr_expect_eq(pairs_false_alarms(&pairs), 0);
    cr_expect_eq(pairs_exit(&pairs), 0);
}

/* A pair is disturbed if one share of one launch is above its limit, and undisturbed only if all
 * are known. */
Test(pairs, disturbed)
{
    static const struct {
        double old[REPORT_STEAL_SOURCES], fresh[REPORT_STEAL_SOURCES];
        bool disturbed, unknown;
    } table[] = {{{0.3, 0.02}, {0, 0}, false, false}, {{0.31, 0}, {0, 0}, true, false},
                 {{0, 0}, {0.31, NAN}, true, false},  {{0, 0.021}, {0, 0}, true, false},
                 {{0, 0}, {NAN, 0.03}, true, false},  {{0, 0}, {0, NAN}, false, true},
                 {{NAN, NAN}, {0, 0}, false, true}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        struct pairs_disturbed found = {.pairs = 0};
        struct pairs_pair pair = {.first = PAIRS_OLD};

        memcpy(pair.launch[PAIRS_OLD].elsewhere, table[i].old, sizeof table[i].old);
        memcpy(pair.launch[PAIRS_NEW].elsewhere, table[i].fresh, sizeof table[i].fresh);
        pairs_disturbed_add(&pair, &found);
        cr_expect_eq(found.pairs, table[i].disturbed, "row %zu", i);
        cr_expect_eq(found.unknown, table[i].unknown, "row %zu", i);
        cr_expect_eq(found.by[0] + found.by[1], table[i].disturbed, "row %zu", i);
    }
}

/* A program that is the first to count something has changed nothing; one that no longer counts it
 * has. */
Test(pairs, exact_numbers_of_later_programs)
{
    struct exact_changes *changes = exact_room(1);
    struct record_cell old = {.bytes_per_step = 96, .kernels_per_step = NAN};
    struct record_cell fresh = {.bytes_per_step = 96, .kernels_per_step = 40};

    cr_assert_not_null(changes);
    for (int turn = 0; turn < 2; ++turn) {
        struct exact_side side[PAIRS_ARMS] = {{.launches = 0}};

        exact_add(&side[PAIRS_OLD], turn == 0 ? &old : &fresh);
        exact_add(&side[PAIRS_NEW], turn == 0 ? &fresh : &old);
        exact_compare(side, 0, NULL, changes);
        cr_assert_eq(changes->n, (size_t)turn, "turn %d: %zu", turn, changes->n);
    }
    cr_expect_str_eq(changes->change[0].metric->name, "kernels_per_step");
    cr_expect_str_eq(changes->change[0].value[PAIRS_OLD], "40");
    cr_expect_str_eq(changes->change[0].value[PAIRS_NEW], "unknown");
    free(changes);
}

/* Makes one cell of 12 pairs, of which the first `disturbed` were disturbed. */
static void disturb(struct pairs_pair pair[PAIRS], int disturbed)
{
    memset(pair, 0, PAIRS * sizeof pair[0]);
    for (int i = 0; i < disturbed; ++i)
        pair[i].launch[PAIRS_NEW].elsewhere[0] = 0.5;
}

/* A quarter of the pairs may be disturbed, and one more is too many. */
Test(pairs, too_disturbed)
{
    struct pairs_pair pair[PAIRS];
    struct pairs pairs = {.cells = 1, .n = PAIRS, .pair = pair};
    char why[COMPARE_TEXT] = "";

    disturb(pair, 3);
    cr_expect_not(pairs_too_disturbed(&pairs, 0, why));
    cr_expect_str_eq(why, "");
    disturb(pair, 4);
    cr_expect(pairs_too_disturbed(&pairs, 0, why));
    cr_expect_eq(strncmp(why, "disturbed: 4 of 12 pairs", 24), 0, "%s", why);
    pairs.options.allow_disturbed = true;
    cr_expect_not(pairs_too_disturbed(&pairs, 0, why));
}

/* A difference that only the disturbed pairs show is not shown. */
Test(pairs, shown_twice)
{
    enum { DISTURBED = 3 };
    struct pairs_pair pair[PAIRS];
    struct pairs pairs = {.cells = 1, .n = PAIRS, .pair = pair};
    double d[PAIRS];
    const struct pairs_data data = {d, 1, PAIRS, NULL, 1};

    disturb(pair, DISTURBED);
    for (int i = 0; i < PAIRS; ++i)
        d[i] = log(1.05) + i * 1e-4;
    for (int slower = 0; slower < 2; ++slower) {
        struct pairs_judged cell = {.verdict = PAIRS_INCONCLUSIVE}, all = cell;

        /* 8 of 9 are not enough, 11 of 12 are. */
        d[PAIRS - 1] = slower ? log(1.06) : -log(1.2);
        pairs.options.allow_disturbed = false;
        pairs_judge_twice(&pairs, &data, &cell, &all);
        cr_expect_eq(cell.verdict, slower ? PAIRS_REGRESSED : PAIRS_INCONCLUSIVE);
        cr_expect_str_eq(cell.reason, slower ? ""
                                             : "with all pairs REGRESSED, without the disturbed "
                                               "ones INCONCLUSIVE");
        pairs.options.allow_disturbed = true;
        cell = all = (struct pairs_judged){.verdict = PAIRS_INCONCLUSIVE};
        pairs_judge_twice(&pairs, &data, &cell, &all);
        cr_expect_eq(cell.verdict, PAIRS_REGRESSED);
    }
}

/* Sums up cells whose floors and means are these times as long in NEW. */
static void sum_up(const double floors[], const double means[], size_t cells, struct pairs *pairs)
{
    *pairs = (struct pairs){.cells = cells, .n = PAIRS, .looks = 1};
    cr_assert_eq(machine_instance("", pairs->instance), 0);
    pairs->pair = calloc(cells * PAIRS, sizeof pairs->pair[0]);
    pairs->judged = calloc(cells, sizeof pairs->judged[0]);
    pairs->cost = calloc(cells, sizeof pairs->cost[0]);
    pairs->side = calloc(PAIRS_ARMS * cells, sizeof pairs->side[0]);
    cr_assert(pairs->pair && pairs->judged && pairs->cost && pairs->side);
    for (size_t i = 0; i < cells * PAIRS; ++i)
        for (int arm = 0; arm < PAIRS_ARMS; ++arm) {
            struct pairs_launch *launch = &pairs->pair[i].launch[arm];

            launch->status = RECORD_OK;
            launch->floor_ns = arm == PAIRS_NEW ? 1e6 * floors[i % cells] : 1e6;
            launch->cost_ns = arm == PAIRS_NEW ? 2e6 * means[i % cells] : 2e6;
        }
    pairs_sum_up(pairs);
}

static void forget_all(struct pairs *pairs)
{
    free(pairs->pair);
    free(pairs->judged);
    free(pairs->cost);
    free(pairs->side);
    free(pairs->sorted);
    free(pairs->changes);
}

/* Rare stalls show in the cost, with an interval and a p, and never fail a comparison; a better
 * cost never excuses a failure. */
Test(pairs, cost_is_no_gate)
{
    static const double alike[] = {1, 1, 1}, slower[] = {1.05, 1.05, 1}, half[] = {0.5, 1, 1};
    struct pairs pairs;

    sum_up(alike, slower, 3, &pairs);
    pairs.options.strict = true;
    cr_expect_eq(pairs.count[PAIRS_EQUIVALENT], 3);
    cr_expect_eq(pairs.count_cost[PAIRS_REGRESSED], 2);
    cr_expect_eq(pairs.count_cost[PAIRS_EQUIVALENT], 1);
    cr_expect_eq(pairs.all_cost.verdict, PAIRS_REGRESSED, "the median of the cells");
    cr_expect_eq(pairs.all.verdict, PAIRS_EQUIVALENT);
    cr_expect_float_eq(pairs.cost[0].ratio, 1.05, 1e-12);
    cr_expect_float_eq(pairs.cost[0].level, 1 - PAIRS_ALPHA_CELLS / 3, 1e-12);
    cr_expect_float_eq(pairs.cost[1].p_slower, 3 / exp2(PAIRS), 1e-12, "by Holm, of this family");
    cr_expect_eq(pairs_exit(&pairs), 0, "no gate");
    pairs.same = true;
    cr_expect_eq(pairs_false_alarms(&pairs), 0);
    forget_all(&pairs);

    sum_up(slower, half, 3, &pairs);
    cr_expect_eq(pairs.count[PAIRS_REGRESSED], 2);
    cr_expect_eq(pairs.count_cost[PAIRS_IMPROVED], 1);
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_REGRESSED);
    forget_all(&pairs);
}

/* A program is compared with itself: if a cell needs more pairs, that is a separate exit status. */
Test(pairs, fitness)
{
    static const double alike[] = {1, 1}, apart[] = {1, 1.05};
    struct pairs pairs;
    char words[COMPARE_TEXT];

    sum_up(alike, alike, 2, &pairs);
    pairs.same = true;
    pairs.options.aa = "lockstep";
    cr_expect_eq(pairs_fit(&pairs, words), PAIRS_FIT, "%s", words);
    cr_expect_eq(pairs_exit(&pairs), 0);
    pairs.judged[1].detectable = PAIRS_ASKED + 0.001;
    cr_expect_eq(pairs_fit(&pairs, words), PAIRS_NOISY, "the noisiest cell");
    cr_expect(strstr(words, "12 pairs find a change of 5.1 % in the noisiest cell"), "%s", words);
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INCONCLUSIVE, "without --strict, too");
    pairs.judged[1].detectable = NAN;
    cr_expect_eq(pairs_fit(&pairs, words), PAIRS_NOISY, "what is not known is not found");
    pairs.judged[1].detectable = pairs.judged[0].detectable;
    pairs.all.detectable = 1.06;
    cr_expect_eq(pairs_fit(&pairs, words), PAIRS_NOISY, "all cells together");
    pairs.count[PAIRS_INVALID] = 1;
    cr_expect_eq(pairs_fit(&pairs, words), PAIRS_UNFIT);
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID);
    forget_all(&pairs);

    sum_up(apart, alike, 2, &pairs);
    pairs.same = true;
    pairs.options.aa = "lockstep";
    cr_expect_eq(pairs_fit(&pairs, words), PAIRS_UNFIT);
    cr_expect_eq(strncmp(words, "2 of 3 verdicts are false alarms", 32), 0, "%s", words);
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID);
    forget_all(&pairs);
}

/* These numbers must be the same in both arms. */
Test(pairs, exact_numbers)
{
    struct pairs pairs = {.options.exact = true, .all = {.verdict = PAIRS_INVALID}};
    struct exact_side side[PAIRS_ARMS] = {{.launches = 0}};
    struct record_cell launch = {.bytes_per_step = 96,
                                 .kernels_per_step = 40,
                                 .flops_per_step = NAN,
                                 .n_shards = 2,
                                 .shard = {4, 3},
                                 .n_peaks = 1,
                                 .peak_bytes = {7}};
    const struct exact_change *change;

    pairs.changes = exact_room(1);
    cr_assert_not_null(pairs.changes);
    exact_add(&side[PAIRS_OLD], &launch);
    exact_compare(side, 0, NULL, pairs.changes);
    cr_expect_eq(pairs.changes->n, 0, "nothing is known of NEW");
    exact_add(&side[PAIRS_NEW], &launch);
    exact_compare(side, 0, NULL, pairs.changes);
    cr_expect_eq(pairs.changes->n, 0, "they are the same, and so is what neither knows");
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID);
    launch.bytes_per_step = 97; /* in one launch of two */
    launch.n_shards = 1;
    launch.n_peaks = 0;
    exact_add(&side[PAIRS_NEW], &launch);
    exact_compare(side, 0, NULL, pairs.changes);
    change = pairs.changes->change;
    cr_assert_eq(pairs.changes->n, 3, "%zu", pairs.changes->n);
    cr_expect_str_eq(change[0].metric->name, "bytes_per_step");
    cr_expect_str_eq(change[0].value[PAIRS_OLD], "96");
    cr_expect_str_eq(change[0].value[PAIRS_NEW], "96 to 97");
    cr_expect_str_eq(change[1].where, " of device 0");
    cr_expect_str_eq(change[1].value[PAIRS_NEW], "unknown");
    cr_expect_str_eq(change[2].where, " of replica 1");
    cr_expect_str_eq(change[2].value[PAIRS_OLD], "3");
    cr_expect_eq(pairs_exit(&pairs), COMPARE_EXIT_CHANGED, "whatever the times say");
    pairs.options.exact = false;
    cr_expect_eq(pairs_exit(&pairs), PAIRS_EXIT_INVALID);
    free(pairs.changes);
}
