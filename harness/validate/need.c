/* validate/need.c: finds the cells that have to be measured for the limits of a profile. */
#include "validate/measure.h"

#include "validate/validate.h"

#include <string.h>

/* With this number of launches a limit can be judged, also on a day that is not quite calm. */
enum { USUAL_LAUNCHES = 8 };

static bool fits(const char *wanted, const char *is)
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

    return validate_limit_takes(limit, cell->chain) && fits(at->workload, cell->workload) &&
           fits(at->mode, cell->mode) && (at->devices == 0 || at->devices == cell->devices) &&
           (at->batch == 0 || at->batch == cell->batch) && at->host_inputs == cell->host_inputs;
}

bool validate_is_cell(const struct validate_cell *a, const struct validate_cell *b)
{
    return strcmp(a->workload, b->workload) == 0 && strcmp(a->mode, b->mode) == 0 &&
           a->devices == b->devices && a->batch == b->batch && a->chain == b->chain &&
           a->host_inputs == b->host_inputs;
}

static void add(struct validate_need *need, const struct validate_cell *cell)
{
    for (size_t i = 0; i < need->n; ++i)
        if (validate_is_cell(&need->cell[i], cell))
            return;
    need->cell[need->n++] = *cell;
    if (cell->devices > need->devices)
        need->devices = cell->devices;
}

/* Checks a value that limits may leave out, and of which a sweep has only one. */
static int agree(const char *what, const char **all, const char *one, struct text_error *why)
{
    if (!one || (*all && strcmp(*all, one) == 0))
        return 0;
    if (!*all) {
        *all = one;
        return 0;
    }
    return text_fail(
        why,
        "its limits have two values of %s, '%.60s' and '%.60s': one sweep has one of them, "
        "so measure each by lockstep sweep",
        what, *all, one);
}

/* Whether a cell of the limit is measured already, in chains or not. */
static bool is_there(const struct validate_need *need, const struct profile_limit *limit)
{
    for (size_t i = 0; i < need->n; ++i)
        if (validate_limit_has(limit, &need->cell[i]))
            return true;
    return false;
}

static bool may_choose(const struct profile_limit *limit)
{
    return validate_limit_takes(limit, 0) && validate_limit_takes(limit, 1);
}

static int add_limit(struct validate_need *need, const struct profile_limit *limit,
                     struct text_error *why)
{
    const struct profile_place *at = &limit->at;
    const bool alone = at->mode && strcmp(at->mode, "plain") == 0;
    const struct validate_cell cell = {at->workload, at->mode,  alone ? 1 : at->devices,
                                       at->batch,    at->chain, at->host_inputs};

    if (agree("backend", &need->backend, at->backend, why) != 0 ||
        agree("communicator", &need->communicator, at->communicator, why) != 0 ||
        agree("math", &need->math, at->math, why) != 0)
        return -1;
    if (!cell.workload || !cell.mode || cell.devices == 0 || cell.batch == 0)
        return 0;
    need->parts = need->parts || limit->row->in_parts;
    if (!is_there(need, limit))
        add(need, &cell);
    if (limit->row->has_base)
        add(need, &(struct validate_cell){cell.workload, "plain", 1, cell.batch, cell.chain,
                                          cell.host_inputs});
    return 0;
}

/* Counts launches. The cells and devices of a limit share its error, so each of them takes more
 * launches. */
static void count_launches(const struct profile *profile, struct validate_need *need)
{
    need->launches = profile->requires.launches > 0 ? (size_t)profile->requires.launches
                                                    : (size_t)USUAL_LAUNCHES;
    for (unsigned i = 0; i < profile->n_limits; ++i) {
        const struct profile_limit *limit = &profile->limit[i];
        size_t units = 0, takes;

        for (size_t c = 0; c < need->n; ++c)
            if (validate_limit_has(limit, &need->cell[c]))
                units += limit->row->by_device ? (size_t)need->cell[c].devices : 1;
        takes = units > 0 && !limit->row->counted ? validate_launches_for(units) : 0;
        if (takes > need->launches)
            need->launches = takes;
    }
}

int validate_need(const struct profile *profile, struct validate_need *need, struct text_error *why)
{
    *need = (struct validate_need){.n = 0};
    /* Limits that allow both single steps and chains come last. */
    for (int choose = 0; choose < 2; ++choose)
        for (unsigned i = 0; i < profile->n_limits; ++i)
            if (may_choose(&profile->limit[i]) == (choose == 1) &&
                add_limit(need, &profile->limit[i], why) != 0)
                return -1;
    if (need->n == 0)
        return text_fail(
            why, "none of its limits says what to measure: one has to name workload, mode, devices "
                 "and batch");
    count_launches(profile, need);
    return 0;
}
