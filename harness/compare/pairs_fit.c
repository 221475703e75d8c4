/* compare/pairs_fit.c: what pairs of one program with itself say of the machine.
 *
 * Nothing is slower than itself, so all that is found is the machine's. And what it cannot find
 * here it finds nowhere: that is no fault of the comparison, but no fitness either. */
#include "compare/pairs.h"

#include <math.h>

const char *const pairs_fitness_words[PAIRS_FITNESSES] = {
    [PAIRS_FIT] = "FIT", [PAIRS_NOISY] = "TOO NOISY", [PAIRS_UNFIT] = "NOT FIT"};

/* The cell in which the smallest change that is found is the largest; unknown is larger than all.
 */
static const struct pairs_judged *find_noisiest(const struct pairs *pairs)
{
    const struct pairs_judged *noisiest = &pairs->judged[0];

    for (size_t c = 1; c < pairs->cells; ++c)
        if (!(pairs->judged[c].detectable <= noisiest->detectable))
            noisiest = &pairs->judged[c];
    return noisiest;
}

static bool finds_enough(const struct pairs_judged *judged)
{
    return judged->detectable <= PAIRS_ASKED;
}

static enum pairs_fitness say_noise(const struct pairs *pairs, char words[COMPARE_TEXT])
{
    const struct pairs_judged *noisiest = find_noisiest(pairs);
    const bool fit = finds_enough(noisiest) && finds_enough(&pairs->all);

    snprintf(words, COMPARE_TEXT,
             "no false alarm in %zu verdicts, %s %zu pairs find a change of %.1f %% in the "
             "noisiest cell, and of %.1f %% in all cells together",
             pairs->cells + 1, fit ? "and" : "but", pairs->n, 100 * (noisiest->detectable - 1),
             100 * (pairs->all.detectable - 1));
    if (!fit)
        text_add(words, COMPARE_TEXT,
                 ", where %.0f %% is asked for. Take more pairs, longer launches (--seconds) or a "
                 "quieter machine",
                 100 * (PAIRS_ASKED - 1));
    return fit ? PAIRS_FIT : PAIRS_NOISY;
}

enum pairs_fitness pairs_fit(const struct pairs *pairs, char words[COMPARE_TEXT])
{
    const size_t alarms = pairs_false_alarms(pairs), invalid = pairs->count[PAIRS_INVALID];

    if (alarms > 0)
        snprintf(words, COMPARE_TEXT,
                 "%zu of %zu verdicts are false alarms. Chance does this in at most 1 of 10 such "
                 "comparisons: measure again",
                 alarms, pairs->cells + 1);
    else if (invalid > 0 || pairs->all.verdict == PAIRS_INVALID)
        snprintf(words, COMPARE_TEXT, "%zu of %zu cells are INVALID, for reasons that stand there",
                 invalid, pairs->cells);
    else
        return say_noise(pairs, words);
    return PAIRS_UNFIT;
}
