/* validate/limit.c: a limit by its own text: which cells it is about, and whether it is useless. A
 * limit in the wrong unit, or one that lost a digit, accepts every machine, and that would not be
 * noticed. */
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
    return !wanted || !is || strcmp(wanted, is) == 0;
}

bool validate_limit_takes(const struct profile_limit *limit, uint64_t chain)
{
    return limit->at.chain == chain || (limit->at.chain == 0 && !limit->row->of_steps);
}

bool validate_limit_has(const struct profile_limit *limit, const struct profile_place *cell)
{
    const struct profile_place *at = &limit->at;

    return validate_limit_takes(limit, cell->chain) &&
           is_wanted_text(at->workload, cell->workload) && is_wanted_text(at->mode, cell->mode) &&
           (at->devices == 0 || at->devices == cell->devices) &&
           (at->batch == 0 || at->batch == cell->batch) && at->host_inputs == cell->host_inputs &&
           is_wanted_text(at->backend, cell->backend) &&
           is_wanted_text(at->communicator, cell->communicator) &&
           is_wanted_text(at->math, cell->math);
}

bool validate_is_cell(const struct profile_place *a, const struct profile_place *b)
{
    return strcmp(a->workload, b->workload) == 0 && strcmp(a->mode, b->mode) == 0 &&
           a->devices == b->devices && a->batch == b->batch && a->chain == b->chain &&
           a->host_inputs == b->host_inputs;
}

struct profile_place validate_place_of(const struct record_key *key)
{
    return (struct profile_place){.workload = key->workload,
                                  .mode = key->mode,
                                  .backend = key->backend,
                                  .communicator = key->communicator,
                                  .math = key->dtype,
                                  .devices = (uint64_t)key->n_devices,
                                  .batch = key->global_batch,
                                  .chain = key->chain,
                                  .host_inputs = key->host_inputs};
}

/* ---- whether it can fail -------------------------------------------------------------------- */

/* A machine that is faster than it can be is another machine. */
static const double BEST = 1.1;

double validate_limit_itself(const struct profile_limit *limit, char why[VALIDATE_TEXT])
{
    /* Numbers of the same class of machine. what: the end of a text like "the %s that is expected".
     */
    const struct {
        double number;
        const char *what;
    } known[] = {{limit->peak_at, "the hardware can reach"}, {limit->healthy, "is expected"}};
    const enum quantity_kind kind = limit->row->kind;
    const bool higher = limit->row->higher;
    const double bound = higher ? limit->least : limit->most, sibling = limit->sibling_at;
    char is[QUANTITY_TEXT], other[QUANTITY_TEXT];

    double factor = NAN;

    why[0] = '\0';
    quantity_words(bound, kind, is);
    /* A slower machine reaches no bound of 0, because no value is less. */
    if (!isfinite(bound) || (higher && bound <= 0))
        snprintf(why, VALIDATE_TEXT, "it has no %s: %s of %s is worse, and never fails",
                 higher ? "min above 0" : "max", higher ? "less" : "more", limit->metric);
    for (size_t i = 0; i < sizeof known / sizeof known[0] && why[0] == '\0'; ++i) {
        const double number = known[i].number;

        if (!isfinite(number))
            continue;
        factor = higher ? number / bound : bound / number;
        if (!(factor <= VALIDATE_WORST && factor >= 1.0 / BEST))
            snprintf(why, VALIDATE_TEXT,
                     "%s is %.3g times the %s that %s: a limit is within 0.3 and 1.1 of it, or it "
                     "is of another unit, or lost a digit",
                     is, bound / number, quantity_words(number, kind, other), known[i].what);
    }
    /* A limit that the class of machine below keeps is that of the previous model, and useless for
     * this class. */
    if (why[0] == '\0' && isfinite(sibling) && (higher ? sibling >= bound : sibling <= bound))
        snprintf(why, VALIDATE_TEXT,
                 "the class of machine below can show %s and keeps %s: it is no limit of this one",
                 quantity_words(sibling, kind, other), is);
    return factor;
}
