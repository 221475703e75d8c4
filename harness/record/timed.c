/* record/timed.c: what of a file's time was measured: within launches, and over its sittings. */
#include "record/timed.h"

#include <math.h>

#include "record/json.h"

/* The clock of a launch and that of the sitting need not agree better. */
static const double CLOCKS = 0.9;

static double sum_of(const uint64_t ns[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; ++i)
        sum += (double)ns[i] / 1e9;
    return sum;
}

struct record_timed record_timed(const struct record_cell *cell)
{
    struct record_timed timed = {0};
    if (cell->status != RECORD_OK)
        return timed;
    for (size_t i = 0; i < cell->n_samples; ++i) {
        const bool counts = (cell->flags[i] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0;
        timed.steps += counts ? (double)cell->t_step_ns[i] / 1e9 : 0;
    }
    for (int turn = 0; turn < RECORD_TURNS; ++turn)
        timed.beside += sum_of(cell->round_ns[turn], (size_t)cell->n_rounds);
    timed.beside += sum_of(cell->alone_ns, (size_t)cell->n_alone);
    return timed;
}

static void begin_another(struct record_sittings *sittings, int sitting)
{
    if (sittings->open && sitting != sittings->at) {
        sittings->seconds = (double)NAN;
        sittings->launches = 0;
    }
    sittings->at = sitting;
}

void record_sittings_cell(struct record_sittings *sittings, const struct record_cell *cell)
{
    begin_another(sittings, cell->sitting);
    sittings->open = true;
    sittings->launches += (double)cell->wall_ns / 1e9;
}

int record_sittings_end(struct record_sittings *sittings, const struct record_end *end,
                        struct text_error *err)
{
    begin_another(sittings, end->sitting);
    if (end->seconds < 0 || end->seconds < CLOCKS * sittings->launches)
        return record_fail(err, "\"seconds\" is %g, but \"wall_ns\" of its launches are %g s",
                           end->seconds, sittings->launches);
    sittings->seconds += end->seconds;
    sittings->launches = 0;
    sittings->open = false;
    return 0;
}
