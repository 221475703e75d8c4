/* measure/steps.c: runs warm-up and measured steps of a cell. */
#include "measure/steps.h"

#include <string.h>

#include "machine/watch.h"
#include "measure/session.h"
#include "measure/usage.h"

static uint64_t now(const struct steps *steps)
{
    return steps->now ? steps->now(steps->self) : session_clock_ns();
}

static double seconds_since(const struct steps *steps, uint64_t start_ns)
{
    return (double)(now(steps) - start_ns) / 1e9;
}

/* Runs the warm-up. A clock and a count decide when it ends, never the times of the steps. */
static int warm_up(struct steps *steps)
{
    const struct cell_limits *limits = steps->limits;
    struct record_cell *cell = steps->cell;

    cell_warmup_rule(limits, cell->warmup_rule);
    while (steps->n < CELL_WARMUP_MAX &&
           (steps->n < limits->warmup_steps ||
            seconds_since(steps, cell->t_start_ns[0]) < limits->warmup_seconds))
        if (steps->run(steps->self, true))
            return -1;
    cell->steady_state = true;
    cell->warmup_steps = steps->n;
    return 0;
}

static int run_measured(struct steps *steps)
{
    const struct cell_limits *limits = steps->limits;
    const uint64_t start = now(steps);

    for (size_t n = 0; n < limits->max_steps; ++n) {
        if (n >= limits->min_steps && seconds_since(steps, start) >= limits->seconds)
            break;
        if (steps->run(steps->self, false))
            return -1;
    }
    return 0;
}

static int measured_steps(struct steps *steps)
{
    struct usage_units units;

    usage_find_units("", steps->group, &units);
    node_watch_begin(steps->gpus);

    const struct usage_reading begin = usage_read("", &units);
    const int status = run_measured(steps);
    const struct usage_reading end = usage_read("", &units);

    node_watch_end(steps->gpus);
    usage_note(&begin, &end, &units, steps->cell);
    steps->cell->cpu_hz = usage_hz("", &units);
    return status;
}

int steps_run(struct steps *steps)
{
    return warm_up(steps) || (steps->ready && steps->ready(steps->self)) || measured_steps(steps)
               ? -1
               : 0;
}

void steps_note(struct steps *steps, uint64_t start_ns, uint64_t step_ns, bool warmup)
{
    struct record_cell *cell = steps->cell;
    const size_t step = steps->n++;

    /* The start of the first sample is made relative at the end. */
    cell->t_start_ns[step] = step == 0 ? start_ns : start_ns - cell->t_start_ns[0];
    cell->t_step_ns[step] = step_ns;
    cell->flags[step] = warmup ? RECORD_WARMUP : 0;
}

static void trim_ranks(const struct record_cell *cell, uint64_t *times, size_t steps)
{
    for (int r = 1; times && r < cell->n_ranks; ++r)
        memmove(times + (size_t)r * steps, times + (size_t)r * cell->n_samples,
                steps * sizeof(uint64_t));
}

void steps_trim(struct steps *steps)
{
    struct record_cell *cell = steps->cell;

    for (int phase = 0; phase < RECORD_PHASES; ++phase)
        trim_ranks(cell, cell->phase_ns[phase], steps->n);
    trim_ranks(cell, cell->matmul_ns, steps->n);
    cell->n_samples = steps->n;
    if (steps->n > 0)
        cell->t_start_ns[0] = 0;
}
