/* validate/need.c: finds the cells that have to be measured for the limits of a profile. */
#include "validate/validate.h"

#include <string.h>

/* With this number of launches a limit can be judged, also on a day that is not quite calm. */
enum { USUAL_LAUNCHES = 8 };

static void add_needed(struct validate_need *need, const struct profile_place *cell)
{
    for (size_t i = 0; i < need->n; ++i)
        if (validate_is_cell(&need->cell[i], cell))
            return;
    need->cell[need->n++] = *cell;
    if (cell->devices > need->devices)
        need->devices = cell->devices;
}

/* Checks a value that limits may leave out, and of which a sweep has only one. */
static int agree_on(const char *what, const char **all, const char *one, struct text_error *why)
{
    if (!*all)
        *all = one;
    if (!one || strcmp(*all, one) == 0)
        return 0;
    return text_fail(
        why,
        "its limits have two values of %s, '%.60s' and '%.60s': one sweep has one of them, "
        "so measure each by lockstep sweep",
        what, *all, one);
}

static int add_limit(struct validate_need *need, const struct profile_limit *limit,
                     struct text_error *why)
{
    const struct profile_place *at = &limit->at;
    const bool alone = at->mode && strcmp(at->mode, "plain") == 0;
    struct profile_place cell = {.workload = at->workload,
                                 .mode = at->mode,
                                 .devices = alone ? 1 : at->devices,
                                 .batch = at->batch,
                                 .chain = at->chain,
                                 .host_inputs = at->host_inputs};
    bool measured = false; /* a cell of the limit is already, in chains or not */

    if (agree_on("backend", &need->backend, at->backend, why) != 0 ||
        agree_on("communicator", &need->communicator, at->communicator, why) != 0 ||
        agree_on("math", &need->math, at->math, why) != 0)
        return -1;
    if (!cell.workload || !cell.mode || cell.devices == 0 || cell.batch == 0)
        return 0;
    need->parts = need->parts || limit->row->in_parts;
    for (size_t i = 0; i < need->n; ++i)
        measured = measured || validate_limit_has(limit, &need->cell[i]);
    if (!measured)
        add_needed(need, &cell);
    cell.mode = "plain";
    cell.devices = 1;
    if (limit->row->has_base)
        add_needed(need, &cell);
    return 0;
}

int validate_need(const struct profile *profile, struct validate_need *need, struct text_error *why)
{
    *need = (struct validate_need){.n = 0};
    /* Limits that allow both single steps and chains come last. */
    for (int choose = 0; choose < 2; ++choose)
        for (unsigned i = 0; i < profile->n_limits; ++i)
            if ((validate_limit_takes(&profile->limit[i], 0) &&
                 validate_limit_takes(&profile->limit[i], 1)) == (choose == 1) &&
                add_limit(need, &profile->limit[i], why) != 0)
                return -1;
    if (need->n == 0)
        return text_fail(
            why, "none of its limits says what to measure: one has to name workload, mode, devices "
                 "and batch");
    need->launches = profile->requires.launches > 0 ? (size_t)profile->requires.launches
                                                    : (size_t)USUAL_LAUNCHES;
    /* The cells and devices of a limit share its error, so each of them takes more launches. */
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
    return 0;
}
