/* report/roof.c: computes the limit of a machine, and the share of it that was reached. */
#include "report/roof.h"

#include <math.h>
#include <stdlib.h>

const char *const roof_rate_keys[ROOF_RATES] = {
    [ROOF_FMA] = "multiply_adds", [ROOF_READ] = "memory_read", [ROOF_COPY] = "memory_copied"};
const char *const roof_way_keys[ROOF_WAYS] = {[ROOF_ALONE] = "alone", [ROOF_AT_ONCE] = "at_once"};
const char *const roof_bound_words[ROOF_BOUNDS] = {[ROOF_UNKNOWN] = "not counted",
                                                   [ROOF_BY_FMA] = "multiply-adds",
                                                   [ROOF_BY_MEMORY] = "memory",
                                                   [ROOF_BY_COPIES] = "copies"};

/* The memory rate. A copy reads and also writes its bytes. */
static double memory(const struct roof_ceilings *c, enum roof_way way, bool best)
{
    const struct roof_range *read = &c->rate[ROOF_READ][way], *copy = &c->rate[ROOF_COPY][way];

    return best ? fmax(read->hi, 2 * copy->hi) : fmax(read->middle, 2 * copy->middle);
}

/* The time at the limit; 0: nothing is counted. best: it uses the best round of each ceiling. */
static double time_at(const struct roof_ceilings *c, const struct roof_work *w, bool best,
                      enum roof_bound *bound)
{
    const enum roof_way way = w->kind == ROOF_UPDATES ? ROOF_ALONE : ROOF_AT_ONCE;
    const struct roof_range *copy = &c->rate[ROOF_COPY][way], *fma = &c->rate[ROOF_FMA][way];
    const double moving = w->bytes / memory(c, way, best);
    const double computing = w->flops / (best ? fma->hi : fma->middle);

    if (!(w->bytes > 0) && !(w->flops > 0)) {
        *bound = ROOF_UNKNOWN;
        return 0;
    }
    if (w->kind == ROOF_CARRIES) {
        *bound = ROOF_BY_COPIES;
        return w->bytes / (c->devices * (best ? copy->hi : copy->middle));
    }
    *bound = computing > moving ? ROOF_BY_FMA : ROOF_BY_MEMORY;
    return fmax(computing, moving);
}

struct roof_share roof_share(const struct roof_ceilings *ceilings, const struct roof_work *work)
{
    struct roof_share share = {ROOF_UNKNOWN, (double)NAN, (double)NAN};
    enum roof_bound ignored;
    const double ns = time_at(ceilings, work, false, &share.bound);

    if (share.bound == ROOF_UNKNOWN || !(work->ns.middle > 0)) {
        share.bound = ROOF_UNKNOWN;
        return share;
    }
    share.share = ns / work->ns.middle;
    share.least = time_at(ceilings, work, true, &ignored) / work->ns.hi;
    return share;
}

void roof_free(struct roof *roof)
{
    for (size_t i = 0; roof && i < roof->n; ++i)
        free(roof->workload[i].line);
    if (roof)
        free(roof->workload);
    free(roof);
}
