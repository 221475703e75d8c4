/* validate/mutate.c: shows that a limit can fail. A limit in the wrong unit, or one that lost a
 * digit, accepts every machine, and that would not be noticed. So each limit is tried on a machine
 * that gets slower. */
#include "validate/validate.h"

#include <math.h>

/* A machine at less than a third of its speed is broken, whatever is measured. */
static const double WORST = 1.0 / 0.3;
/* A machine that is faster than it can be is another machine. */
static const double BEST = 1.1;

/* The bound that a slower machine reaches; NaN: there is none, because no value is less than 0. */
static double bound_of(const struct profile_limit *limit)
{
    const double bound = limit->row->higher ? limit->least : limit->most;

    return isfinite(bound) && (bound > 0.0 || !limit->row->higher) ? bound : (double)NAN;
}

/* Compares the bound with a number of the same class of machine. what: the end of a text like "the
 * %s that is expected". */
static void by_number(const struct profile_limit *limit, double number, const char *what,
                      struct validate_firing *firing)
{
    const double bound = bound_of(limit);
    const double slower = limit->row->higher ? number / bound : bound / number;
    char is[QUANTITY_TEXT], other[QUANTITY_TEXT];

    quantity_words(bound, limit->row->kind, is);
    quantity_words(number, limit->row->kind, other);
    firing->factor = slower;
    firing->fires = slower <= WORST && slower >= 1.0 / BEST;
    if (!firing->fires)
        snprintf(firing->why, sizeof firing->why,
                 "%s is %.3g times the %s that %s: a limit is within 0.3 and 1.1 of it, or it is "
                 "of another unit, or lost a digit",
                 is, bound / number, other, what);
}

static int by_records(const struct profile *profile, const struct report *report,
                      const struct profile_limit *limit, struct validate_firing *firing)
{
    const struct validate validate = {.profile = profile, .report = report, .allow_dirty = true};
    struct validate_judged judged;

    firing->fires = false;
    for (double factor = 1.0; factor <= WORST * 1.001; factor += factor < 1.2 ? 0.01 : 0.05) {
        if (validate_judge_limit(&validate, limit, factor, &judged) != 0)
            return -1;
        if (judged.verdict == VALIDATE_FAIL) {
            firing->fires = true;
            firing->factor = factor;
            return 0;
        }
    }
    snprintf(firing->why, sizeof firing->why,
             judged.why[0] != '\0' ? "it stays %s even at %s: %.200s" : "it stays %s even at %s",
             validate_verdict_words[judged.verdict],
             limit->row->fact ? "its worst" : "0.3 of the speed", judged.why);
    return 0;
}

/* Compares the bound with the class of machine below. A limit that those machines keep is that of
 * the previous model, and useless for this class. */
static void by_sibling(const struct profile_limit *limit, struct validate_firing *firing)
{
    const double bound = bound_of(limit), sibling = limit->sibling_at;
    char is[QUANTITY_TEXT], other[QUANTITY_TEXT];

    if (limit->row->higher ? !(sibling >= bound) : !(sibling <= bound))
        return;
    firing->fires = false;
    snprintf(firing->why, sizeof firing->why,
             "the class of machine below can show %s and keeps %s: it is no limit of this one",
             quantity_words(sibling, limit->row->kind, other),
             quantity_words(bound, limit->row->kind, is));
}

/* Judges the limit by its own text. */
static void by_itself(const struct profile_limit *limit, struct validate_firing *firing)
{
    *firing = (struct validate_firing){.factor = NAN};
    if (isnan(bound_of(limit)))
        snprintf(firing->why, sizeof firing->why,
                 "it has no %s: %s of %s is worse, and never fails",
                 limit->row->higher ? "min above 0" : "max", limit->row->higher ? "less" : "more",
                 limit->metric);
    if (firing->why[0] == '\0' && isfinite(limit->peak_at))
        by_number(limit, limit->peak_at, "the hardware can reach", firing);
    if (firing->why[0] == '\0' && isfinite(limit->healthy))
        by_number(limit, limit->healthy, "is expected", firing);
    if (firing->why[0] == '\0' && isfinite(limit->sibling_at))
        by_sibling(limit, firing);
}

bool validate_is_wrong(const struct profile_limit *limit, char why[VALIDATE_TEXT])
{
    struct validate_firing firing;

    by_itself(limit, &firing);
    if (firing.why[0] != '\0')
        snprintf(why, VALIDATE_TEXT, "%s", firing.why);
    return firing.why[0] != '\0';
}

int validate_mutate(const struct profile *profile, const struct report *report,
                    const struct profile_limit *limit, struct validate_firing *firing)
{
    by_itself(limit, firing);
    if (firing->why[0] != '\0')
        return 0;
    if (report)
        return by_records(profile, report, limit, firing);
    if (isnan(limit->healthy) && isnan(limit->peak_at))
        snprintf(firing->why, sizeof firing->why,
                 "nothing shows that it can fail: give it `expected` or `peak`, or name records");
    return 0;
}
