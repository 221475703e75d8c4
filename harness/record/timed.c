/* record/timed.c: how the time of a file was spent, within launches and over its sessions. */
#include "record/reading.h"

#include <math.h>
#include <stdio.h>

#include "record/json.h"
#include "text/quantity.h"

/* The clocks of a launch and of the session need to agree only this well. */
static const double CLOCKS = 0.9;

static double sum_seconds(const uint64_t ns[], size_t n)
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

        timed.steps += counts ? (double)record_sample_ns(cell, i) / 1e9 : 0;
    }
    for (int turn = 0; turn < RECORD_TURNS; ++turn)
        timed.beside += sum_seconds(cell->round_ns[turn], (size_t)cell->n_rounds);
    timed.beside += sum_seconds(cell->alone_ns, (size_t)cell->n_alone);
    return timed;
}

const char *const record_cost_names[RECORD_COSTS] = {
    [RECORD_COST_PROCESS] = "process", [RECORD_COST_DEVICES] = "devices",
    [RECORD_COST_MODEL] = "model",     [RECORD_COST_REFERENCE] = "reference",
    [RECORD_COST_WARMUP] = "warm-up",  [RECORD_COST_VERIFY] = "verifying",
    [RECORD_COST_REST] = "rest"};

void record_costs_add(struct record_costs *costs, const struct record_cell *cell)
{
    const struct record_timed timed = record_timed(cell);
    const uint64_t reference = cell->reference_ns + cell->probe_ns;
    const size_t n = cell->n_samples;
    double ns[RECORD_COSTS], rest;

    if (cell->status != RECORD_OK)
        return;
    /* If only the steps of a cell were kept, it is not known when they began. */
    if (cell->launch_ns == 0 || !cell->t_start_ns) {
        ++costs->unknown;
        return;
    }
    ns[RECORD_COST_PROCESS] = (double)cell->launch_ns - (double)cell->wall_ns;
    ns[RECORD_COST_DEVICES] = (double)cell->devices_ns;
    ns[RECORD_COST_MODEL] = (double)cell->setup_ns - (double)cell->devices_ns - (double)reference;
    ns[RECORD_COST_REFERENCE] = (double)reference;
    /* The samples after the warm-up are the measured ones. */
    ns[RECORD_COST_WARMUP] = 0;
    if (cell->warmup_steps < n)
        ns[RECORD_COST_WARMUP] = (double)cell->t_start_ns[cell->warmup_steps];
    else if (n > 0)
        ns[RECORD_COST_WARMUP] =
            (double)cell->t_start_ns[n - 1] + (double)record_sample_ns(cell, n - 1);
    ns[RECORD_COST_VERIFY] = (double)cell->verify_ns;
    rest = (double)cell->launch_ns - 1e9 * (timed.steps + timed.beside);
    for (int c = 0; c < RECORD_COST_REST; ++c)
        rest -= ns[c];
    ns[RECORD_COST_REST] = rest;
    for (int c = 0; c < RECORD_COSTS; ++c)
        costs->seconds[c] += ns[c] / 1e9;
    ++costs->launches;
}

double record_cost_ms(const struct record_costs *costs, enum record_cost cost)
{
    if (costs->launches == 0 || costs->unknown > 0)
        return (double)NAN;
    return 1e3 * costs->seconds[cost] / (double)costs->launches;
}

double record_costs_ms(const struct record_costs *costs, double writing)
{
    double ms = isfinite(writing) ? 1e3 * writing / (double)costs->launches : 0;

    for (int c = 0; c < RECORD_COSTS; ++c)
        ms += record_cost_ms(costs, (enum record_cost)c);
    return ms;
}

bool record_costs_words(const struct record_costs *costs, double writing,
                        char text[RECORD_COSTS_TEXT])
{
    const double all = record_costs_ms(costs, writing);
    char time[UNITS_BYTES];

    if (!isfinite(all))
        return false;
    snprintf(text, RECORD_COSTS_TEXT, "%s of a launch:", units_time(1e6 * all, time));
    for (int c = 0; c < RECORD_COSTS; ++c)
        text_add(text, RECORD_COSTS_TEXT, "%s %s %s", c > 0 ? "," : "", record_cost_names[c],
                 units_time(1e6 * record_cost_ms(costs, (enum record_cost)c), time));
    if (isfinite(writing))
        text_add(text, RECORD_COSTS_TEXT, ", writing %s",
                 units_time(1e9 * writing / (double)costs->launches, time));
    return true;
}

static void begin_another(struct record_sittings *sittings, int sitting)
{
    if (sittings->open && sitting != sittings->at) {
        sittings->seconds = sittings->writing = (double)NAN;
        sittings->launches = 0;
    }
    sittings->at = sitting;
}

int record_check_wall(const struct record_cell *cell, double ns, struct text_error *err)
{
    return CLOCKS * (double)cell->wall_ns <= ns
               ? 0
               : record_fail(err, "\"wall_ns\" is %.17g, but its launch took %.0f ns",
                             (double)cell->wall_ns, ns);
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
    if (end->seconds < CLOCKS * sittings->launches)
        return record_fail(err, "\"seconds\" is %g, but \"wall_ns\" of its launches are %g s",
                           end->seconds, sittings->launches);
    if (end->writing > end->seconds)
        return record_fail(err, "\"writing\" is %g of \"seconds\" %g", end->writing, end->seconds);
    sittings->seconds += end->seconds;
    sittings->writing += end->writing;
    sittings->launches = 0;
    sittings->open = false;
    return 0;
}
