/* validate/limit.c: a limit by its own text: which cells it is about, and whether it is useless. A
 * limit in the wrong unit, or one that lost a digit, accepts every machine, and that would not be
 * noticed. */
#include "validate/measure.h"
#include "validate/validate.h"

#include <math.h>
#include <string.h>

bool profile_judges_speed(const struct profile *profile)
{
    for (unsigned i = 0; i < profile->n_limits; ++i)
        if (profile->limit[i].binding && profile->limit[i].row->kind != QUANTITY_RATIO &&
            profile->limit[i].row->kind != QUANTITY_BYTES)
            return true;
    return false;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static bool is_wanted_text(const char *wanted, const char *is)
{
    return !wanted || strcmp(wanted, is) == 0;
}

bool validate_limit_takes(const struct profile_limit *limit, uint64_t chain)
{
    return limit->at.chain == chain || (limit->at.chain == 0 && !limit->row->of_steps);
}

bool validate_limit_has(const struct profile_limit *limit, const struct validate_cell *cell)
{
    const struct profile_place *at = &limit->at;

    return validate_limit_takes(limit, cell->chain) &&
           is_wanted_text(at->workload, cell->workload) && is_wanted_text(at->mode, cell->mode) &&
           (at->devices == 0 || at->devices == cell->devices) &&
           (at->batch == 0 || at->batch == cell->batch) && at->host_inputs == cell->host_inputs;
}

bool validate_is_cell(const struct validate_cell *a, const struct validate_cell *b)
{
    return strcmp(a->workload, b->workload) == 0 && strcmp(a->mode, b->mode) == 0 &&
           a->devices == b->devices && a->batch == b->batch && a->chain == b->chain &&
           a->host_inputs == b->host_inputs;
}

struct validate_cell validate_cell_of(const struct record_key *key)
{
    return (struct validate_cell){key->workload,     key->mode,  (uint64_t)key->n_devices,
                                  key->global_batch, key->chain, key->host_inputs};
}

bool validate_limit_is_at(const struct profile_limit *limit, const struct record_key *key)
{
    const struct profile_place *at = &limit->at;
    const struct validate_cell cell = validate_cell_of(key);

    return validate_limit_has(limit, &cell) && is_wanted_text(at->backend, key->backend) &&
           is_wanted_text(at->communicator, key->communicator) &&
           is_wanted_text(at->math, key->dtype);
}

/* ---- whether it can fail -------------------------------------------------------------------- */

/* A machine that is faster than it can be is another machine. */
static const double BEST = 1.1;

/* The bound that a slower machine reaches; NaN: there is none, because no value is less than 0. */
static double slow_bound(const struct profile_limit *limit)
{
    const double bound = limit->row->higher ? limit->least : limit->most;

    return isfinite(bound) && (bound > 0.0 || !limit->row->higher) ? bound : (double)NAN;
}

/* Compares the bound with a number of the same class of machine. what: the end of a text like "the
 * %s that is expected". */
static void compare_with(const struct profile_limit *limit, double number, const char *what,
                         struct validate_firing *firing)
{
    const double bound = slow_bound(limit);
    const double slower = limit->row->higher ? number / bound : bound / number;
    char is[QUANTITY_TEXT], other[QUANTITY_TEXT];

    quantity_words(bound, limit->row->kind, is);
    quantity_words(number, limit->row->kind, other);
    firing->factor = slower;
    firing->fires = slower <= VALIDATE_WORST && slower >= 1.0 / BEST;
    if (!firing->fires)
        snprintf(firing->why, sizeof firing->why,
                 "%s is %.3g times the %s that %s: a limit is within 0.3 and 1.1 of it, or it is "
                 "of another unit, or lost a digit",
                 is, bound / number, other, what);
}

void validate_limit_itself(const struct profile_limit *limit, struct validate_firing *firing)
{
    const double bound = slow_bound(limit), sibling = limit->sibling_at;
    char is[QUANTITY_TEXT], other[QUANTITY_TEXT];

    *firing = (struct validate_firing){.factor = NAN};
    if (isnan(bound))
        snprintf(firing->why, sizeof firing->why,
                 "it has no %s: %s of %s is worse, and never fails",
                 limit->row->higher ? "min above 0" : "max", limit->row->higher ? "less" : "more",
                 limit->metric);
    if (firing->why[0] == '\0' && isfinite(limit->peak_at))
        compare_with(limit, limit->peak_at, "the hardware can reach", firing);
    if (firing->why[0] == '\0' && isfinite(limit->healthy))
        compare_with(limit, limit->healthy, "is expected", firing);
    /* A limit that the class of machine below keeps is that of the previous model, and useless for
     * this class. */
    if (firing->why[0] == '\0' && isfinite(sibling) &&
        (limit->row->higher ? sibling >= bound : sibling <= bound)) {
        firing->fires = false;
        snprintf(firing->why, sizeof firing->why,
                 "the class of machine below can show %s and keeps %s: it is no limit of this one",
                 quantity_words(sibling, limit->row->kind, other),
                 quantity_words(bound, limit->row->kind, is));
    }
}

bool validate_is_wrong(const struct profile_limit *limit, char why[VALIDATE_TEXT])
{
    struct validate_firing firing;

    validate_limit_itself(limit, &firing);
    if (firing.why[0] != '\0')
        snprintf(why, VALIDATE_TEXT, "%s", firing.why);
    return firing.why[0] != '\0';
}
