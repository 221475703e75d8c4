/* bench/overlap.c: how much communication of DistributedDataParallel overlaps backward.
 *
 * A model of equal layers, a bucket each: all but the last one, which is complete when backward is
 * over, can be reduced beside the backward of the layers before. The batch is made so large that
 * there is backward enough. A step without its reduction, the reduction alone and the whole step
 * take turns. */
#include "bench/overlap.h"

#include <math.h>
#include <stdlib.h>

#include "command/command.h"

enum { WARMUP = 4, ROWS_MIN = 256, ROWS_MAX = 16384, ENOUGH = 4 };

/* ---- rounds --------------------------------------------------------------------------------- */

static int one_round(struct overlap *o, size_t number, struct session_apart *times,
                     struct dp_error *err)
{
    struct overlap_round round = {.compared = 0};
    const int status = o->maker->round(o->maker->self, number, &round, err);

    *times = round.times;
    o->compared += round.compared;
    return status;
}

static int all_rounds(struct overlap *o, struct dp_error *err)
{
    for (size_t round = 0; round < o->options->rounds; ++round) {
        struct session_apart times;
        const int status = one_round(o, round, &times, err);

        if (status)
            return status;
        o->sample[OVERLAP_COMPUTE][round] = times.compute_ns;
        o->sample[OVERLAP_COMM][round] = times.comm_ns;
        o->sample[OVERLAP_WHOLE][round] = times.whole_ns;
        o->sample[OVERLAP_HIDDEN][round] =
            stats_hidden(times.compute_ns, times.comm_ns, times.whole_ns, 0);
    }
    return 0;
}

/* Warms up; *enough: a step takes some times as long as its reduction, or there is no larger batch.
 * The fastest of both count, which other work disturbs least; the first two rounds have one bucket.
 */
static int warm_up(struct overlap *o, bool *enough, struct dp_error *err)
{
    double compute = INFINITY, comm = INFINITY;
    int status = 0;

    for (size_t round = 0; status == 0 && round < WARMUP; ++round) {
        struct session_apart times;

        status = one_round(o, round, &times, err);
        compute = round > 1 ? fmin(compute, times.compute_ns) : compute;
        comm = round > 1 ? fmin(comm, times.comm_ns) : comm;
    }
    *enough = compute >= ENOUGH * comm || 2 * o->rows > ROWS_MAX;
    return status;
}

/* With so many rows per rank; *done: these were enough, and the rounds were run. */
static int try_rows(struct overlap *o, bool *done, struct dp_error *err)
{
    int status = o->maker->open(o->maker->self, o->rows, &o->first, err);

    o->compared = o->first.compared;
    if (status == 0)
        status = warm_up(o, done, err);
    return status == 0 && *done ? all_rounds(o, err) : status;
}

static int summarise(struct overlap *o, const char *command)
{
    for (int i = 0; i < OVERLAP_KINDS; ++i)
        o->summary[i] = stats_summarise(o->sample[i], o->options->rounds, o->scratch);
    if (isfinite(o->summary[OVERLAP_HIDDEN].min) && isfinite(o->summary[OVERLAP_HIDDEN].max))
        return EXIT_PASSED;
    command_complain(command, "a round took no measurable time: there is no result");
    return EXIT_FAILED;
}

static int measure(struct overlap *o, const char *command)
{
    struct dp_error err = {0};
    bool done = false;
    int status = overlap_model(o->options->bytes, &o->workload, &o->bucket_bytes, &err);

    for (o->rows = ROWS_MIN; status == 0 && !done; o->rows *= done ? 1 : 2)
        status = try_rows(o, &done, &err);
    if (status)
        return command_core_error(command, &err);
    if ((status = summarise(o, command)) == EXIT_PASSED)
        overlap_print(o);
    return status;
}

int overlap_run(const char *command, const struct bench_options *options,
                const struct overlap_maker *maker)
{
    struct overlap o = {.options = options, .maker = maker};
    bool complete = true;
    int status = EXIT_FAILED;

    o.scratch = calloc(options->rounds, sizeof *o.scratch);
    for (int i = 0; i < OVERLAP_KINDS; ++i) {
        o.sample[i] = calloc(options->rounds, sizeof *o.sample[i]);
        complete = complete && o.sample[i];
    }
    if (complete && o.scratch)
        status = measure(&o, command);
    else
        command_complain(command, "no memory for %zu rounds", options->rounds);
    free(o.scratch);
    for (int i = 0; i < OVERLAP_KINDS; ++i)
        free(o.sample[i]);
    return status;
}

/* ---- in this process ------------------------------------------------------------------------ */

struct here {
    struct overlap_ranks ranks;
    struct dp_group *group;
    size_t bytes;
};

static int open_here(void *self, size_t rows, struct overlap_first *first, struct dp_error *err)
{
    struct here *here = self;

    return overlap_ranks_open(&here->ranks, here->group, here->bytes, rows, first, err);
}

static int round_here(void *self, size_t number, struct overlap_round *round, struct dp_error *err)
{
    struct here *here = self;

    return overlap_ranks_round(&here->ranks, number, round, err);
}

int bench_overlap(const char *command, struct dp_group *group, const struct bench_options *options)
{
    struct here *here = calloc(1, sizeof *here);
    const struct overlap_maker maker = {.self = here,
                                        .open = open_here,
                                        .round = round_here,
                                        .processes = 1,
                                        .hosts = 1,
                                        .each = dp_group_size(group),
                                        .oversubscribed = dp_group_oversubscribed(group)};
    if (!here) {
        command_complain(command, "no memory for the ranks");
        return EXIT_FAILED;
    }
    *here = (struct here){.group = group, .bytes = options->bytes};
    const int status = overlap_run(command, options, &maker);

    overlap_ranks_close(&here->ranks);
    free(here);
    return status;
}
