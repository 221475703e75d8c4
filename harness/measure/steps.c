/* measure/steps.c: runs warm-up and measured steps of a cell. */
#include "measure/measure.h"

#include <string.h>

#include "machine/node.h"

static double seconds_by_cell(const struct steps *steps, uint64_t start_ns)
{
    return (double)(session_now(steps->session) - start_ns) / 1e9;
}

/* A clock and a count decide when the warm-up ends, never the times of the steps. */
int steps_run(struct steps *steps)
{
    const struct cell_limits *limits = steps->limits;
    struct record_cell *cell = steps->cell;
    struct usage_units units;
    int status = 0;

    cell_warmup_rule(limits, cell->warmup_rule);
    while (steps->n < CELL_WARMUP_MAX &&
           (steps->n < limits->warmup_steps ||
            seconds_by_cell(steps, cell->t_start_ns[0]) < limits->warmup_seconds))
        if (steps->run(steps->self, true))
            return -1;
    cell->steady_state = true;
    cell->warmup_steps = steps->n;
    if (steps->ready && steps->ready(steps->self))
        return -1;
    usage_find_units("", steps->session->group, &units);
    node_watch_begin(steps->gpus);

    const struct usage_reading begin = usage_read("", &units);
    const uint64_t start = session_now(steps->session);

    for (size_t n = 0; n < limits->max_steps && status == 0; ++n) {
        if (n >= limits->min_steps && seconds_by_cell(steps, start) >= limits->seconds)
            break;
        status = steps->run(steps->self, false);
    }

    const struct usage_reading end = usage_read("", &units);

    node_watch_end(steps->gpus);
    usage_note(&begin, &end, &units, cell);
    cell->cpu_hz = usage_hz("", &units);
    return status ? -1 : 0;
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
    if (cell->first_bad_step > (long)steps->n)
        cell->first_bad_step = (long)steps->n;
    if (steps->n > 0)
        cell->t_start_ns[0] = 0;
}
