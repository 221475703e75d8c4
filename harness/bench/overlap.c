/* bench/overlap.c: how much communication of DistributedDataParallel overlaps backward.
 *
 * A model of equal layers, a bucket each. All buckets but the last one, which is complete when
 * backward is over, can be reduced during the backward of the layers before. The batch is made so
 * large that there is backward enough. A step without its reduction, the reduction alone and the
 * whole step take turns.
 *
 * A step of each set is verified, where its numbers can be proved exact, and is the same in all
 * processes. In every round the whole step must leave the results of that step, and so must a step
 * followed by its reduction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/overlap.h"
#include "command/command.h"
#include "measure/probe_step.h"

/* ---- ranks of this process ------------------------------------------------------------------- */

enum { WIDTH_MIN = 8, SEED = 1 };

/* As wide as so many layers of that many bytes in all can be. */
int overlap_model(size_t bytes, struct workload *workload, size_t *bucket_bytes,
                  struct dp_error *err)
{
    const size_t floats = bytes / sizeof(float) / OVERLAP_LAYERS;
    size_t width = (size_t)sqrt((double)floats);
    char name[128] = "", why[200];

    while (width > 0 && width * width + width > floats)
        --width;
    if (width < WIDTH_MIN)
        return dp_fail(err, DP_EINVAL, "--bytes: %zu are too few for %d layers, at least %zu",
                       bytes, OVERLAP_LAYERS,
                       OVERLAP_LAYERS * sizeof(float) * WIDTH_MIN * (WIDTH_MIN + 1));
    *bucket_bytes = sizeof(float) * (width * width + width);
    for (int i = 0; i <= OVERLAP_LAYERS; ++i)
        text_add(name, sizeof name, "%s%zu", i > 0 ? "," : "mlp:", width);
    if (workload_parse(name, workload, why, sizeof why) == 0)
        return 0;
    return dp_fail(err, DP_EFAULT, "%s", why);
}

int overlap_ranks_open(struct overlap_ranks *ranks, struct dp_group *group, size_t bytes,
                       size_t rows, struct overlap_first *first, struct dp_error *err)
{
    struct cell_config *config = &ranks->config;
    int status;

    overlap_ranks_close(ranks);
    *first = (struct overlap_first){.compared = 0};
    ranks->group = group;
    *config = (struct cell_config){.seed = SEED,
                                   .rows = rows * (size_t)dp_group_world(group),
                                   .mode = CELL_DDP,
                                   .n_devices = dp_group_world(group)};
    if ((status = overlap_model(bytes, &config->workload, &config->bucket_bytes, err)) ||
        (status = session_open(&ranks->session, group, config, err)))
        return status;
    if (!dp_ddp_overlaps(ranks->session.ddp))
        return dp_fail(err, DP_EINVAL,
                       "communicator '%s' of backend '%s' reduces after backward, not during it; "
                       "use the backend cpu",
                       dp_group_communicator(group), dp_group_backend(group));
    /* A step of each set, which is not timed. */
    for (int k = 0; k < WORKLOAD_SETS && status == 0; ++k) {
        struct session *session = &ranks->session;
        struct dp_error why = {0};
        size_t values;

        if ((status = measure_exact(config, k, session, &values, &first->unverified, &why)))
            return dp_fail(err, status, "the first step: %.230s", why.text);
        first->compared += values > 0 ? workload_params(&config->workload) : 0;
        ranks->first[k] =
            (struct session_verified){session_digest(session), session_gradients(session)};
        status = session_fingerprint(session, ranks->first[k].step, err);
    }
    return status;
}

void overlap_ranks_close(struct overlap_ranks *ranks)
{
    session_close(&ranks->session);
}

/* ---- a round -------------------------------------------------------------------------------- */

int overlap_ranks_round(struct overlap_ranks *ranks, size_t number, struct overlap_round *round,
                        struct dp_error *err)
{
    const int k = (int)(number % WORKLOAD_SETS);
    const struct session_verified *first = &ranks->first[k];
    struct session *session = &ranks->session;
    struct session_left left = {0};
    const int status = session_apart(session, k, number % 2 == 0, &round->times, &left, err);

    if (status)
        return status;
    if (left.whole != left.parts)
        return dp_fail(err, DP_EFAULT,
                       "round %zu: the whole step's gradients are not those of a step and its "
                       "reduction",
                       number);
    if (left.step != first->step || left.parts != first->gradients)
        return dp_fail(err, DP_EFAULT, "round %zu, set %d: not what the first step left", number,
                       k);
    round->compared = 2 * (size_t)session->n_ranks * workload_params(&ranks->config.workload);
    return 0;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_tsv(const struct overlap *o)
{
    const struct stats_summary *s = o->summary, *hidden = &s[OVERLAP_HIDDEN];
    double lo, hi;

    bench_bounds(hidden, &lo, &hi);
    printf("name\tdevices\tbackend\tmodel_bytes\tbucket_bytes\trows\trounds\tcompared\tcompute_ns\t"
           "comm_ns\twhole_ns\tratio\tratio_lo\tratio_hi\tbounds\tcoverage\tprocesses\thosts\n");
    printf("overlap\t%s\t%s\t%zu\t%zu\t%zu\t%zu\t%zu\t", o->options->devices, o->options->backend,
           OVERLAP_LAYERS * o->bucket_bytes, o->bucket_bytes, o->rows, o->options->rounds,
           o->compared);
    printf("%.0f\t%.0f\t%.0f\t%.6f\t%.6f\t%.6f\t%s\t%.4f\t%d\t%d\n", s[OVERLAP_COMPUTE].median,
           s[OVERLAP_COMM].median, s[OVERLAP_WHOLE].median, hidden->median, lo, hi,
           hidden->ci.valid ? "interval" : "range", hidden->ci.valid ? hidden->ci.coverage : 0,
           o->maker->processes, o->maker->hosts);
}

static void print_text(const struct overlap *o)
{
    static const char *const names[] = {"step without reduction", "reduction alone", "whole step"};
    const struct stats_summary *s = o->summary, *hidden = &s[OVERLAP_HIDDEN];
    const struct overlap_maker *m = o->maker;
    double lo, hi;

    printf("%d layers of %zu x %zu, a bucket each of %zu bytes, on %s;\n%zu rows per rank, %zu "
           "rounds\n",
           OVERLAP_LAYERS, o->workload.size[0], o->workload.size[0], o->bucket_bytes,
           o->options->devices, o->rows, o->options->rounds);
    if (o->options->processes.launcher[0] != '\0')
        printf("%d process%s on %d host%s, %d rank%s in each%s\n", m->processes,
               m->processes > 1 ? "es" : "", m->hosts, m->hosts > 1 ? "s" : "", m->each,
               m->each > 1 ? "s" : "",
               m->oversubscribed ? "; more ranks than cores: times mean little" : "");
    printf("%-24s %9s  %s\n", "", "ms", s[OVERLAP_WHOLE].ci.valid ? "95 % interval" : "range");
    for (int i = OVERLAP_COMPUTE; i <= OVERLAP_WHOLE; ++i) {
        bench_bounds(&s[i], &lo, &hi);
        printf("%-24s %9.3f  %.3f .. %.3f\n", names[i], s[i].median / 1e6, lo / 1e6, hi / 1e6);
    }
    bench_bounds(hidden, &lo, &hi);
    printf("%-24s %7.1f %%  %.1f .. %.1f\n", "hidden", 100 * hidden->median, 100 * lo, 100 * hi);
    printf("Medians of rounds. Hidden, round by round: (step without + reduction - whole)\n"
           "/ reduction; %.1f %% if all but the last bucket are hidden. %zu gradients\n"
           "compared, all equal. Noise puts it below 0 and above 100 %%, too.\n",
           100.0 * (OVERLAP_LAYERS - 1) / OVERLAP_LAYERS, o->compared);
    if (o->first.unverified.text[0] != '\0')
        printf("Compared with each other only, not with the reference: %s\n",
               o->first.unverified.text);
}

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

/* Takes so many rows per rank and warms up. *enough: a step takes several times as long as its
 * reduction, or there is no larger batch. The fastest rounds count, which other work disturbs
 * least; the first two have one bucket. */
static int try_rows(struct overlap *o, bool *enough, struct dp_error *err)
{
    double compute = INFINITY, comm = INFINITY;
    int status = o->maker->open(o->maker->self, o->rows, &o->first, err);

    o->compared = o->first.compared;
    for (size_t round = 0; status == 0 && round < WARMUP; ++round) {
        struct session_apart times;

        status = one_round(o, round, &times, err);
        compute = round > 1 ? fmin(compute, times.compute_ns) : compute;
        comm = round > 1 ? fmin(comm, times.comm_ns) : comm;
    }
    *enough = compute >= ENOUGH * comm || 2 * o->rows > ROWS_MAX;
    return status;
}

static int measure(struct overlap *o, const char *command)
{
    const size_t rounds = o->options->rounds;
    struct dp_error err = {0};
    bool enough = false;
    int status = overlap_model(o->options->bytes, &o->workload, &o->bucket_bytes, &err);

    for (o->rows = ROWS_MIN; status == 0 && !enough; o->rows *= enough ? 1 : 2)
        status = try_rows(o, &enough, &err);
    for (size_t round = 0; status == 0 && round < rounds; ++round) {
        struct session_apart times;

        status = one_round(o, round, &times, &err);
        o->sample[OVERLAP_COMPUTE][round] = times.compute_ns;
        o->sample[OVERLAP_COMM][round] = times.comm_ns;
        o->sample[OVERLAP_WHOLE][round] = times.whole_ns;
        o->sample[OVERLAP_HIDDEN][round] =
            stats_hidden(times.compute_ns, times.comm_ns, times.whole_ns, 0);
    }
    if (status)
        return command_core_error(command, &err);
    for (int i = 0; i < OVERLAP_KINDS; ++i)
        o->summary[i] = stats_summarise(o->sample[i], rounds, o->scratch);
    if (!isfinite(o->summary[OVERLAP_HIDDEN].min) || !isfinite(o->summary[OVERLAP_HIDDEN].max)) {
        command_complain(command, "a round took no measurable time: there is no result");
        return EXIT_FAILED;
    }
    if (o->options->format == BENCH_TSV)
        print_tsv(o);
    else
        print_text(o);
    return EXIT_PASSED;
}

int overlap_run(const char *command, const struct bench_options *options,
                const struct overlap_maker *maker)
{
    double *samples = calloc((OVERLAP_KINDS + 1) * options->rounds, sizeof *samples);
    struct overlap o = {.options = options, .maker = maker, .scratch = samples};
    int status = EXIT_FAILED;

    for (size_t i = 0; samples && i < OVERLAP_KINDS; ++i)
        o.sample[i] = samples + (i + 1) * options->rounds;
    if (samples)
        status = measure(&o, command);
    else
        command_complain(command, "no memory for %zu rounds", options->rounds);
    free(samples);
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
