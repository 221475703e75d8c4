/* bench/overlap.c: how much communication of DistributedDataParallel overlaps backward.
 *
 * A model of equal layers, a bucket each: all but the last one, which is complete when backward is
 * over, can be reduced beside the backward of the layers before. The batch is made so large that
 * there is backward enough. A step of each set is verified, where its numbers can be proved exact;
 * in every round the whole step must leave what that step left, and so must a step and then its
 * reduction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "command/command.h"
#include "measure/session.h"
#include "numbers/stats.h"

enum { LAYERS = WORKLOAD_MAX_SIZES - 1, WARMUP = 4, WIDTH_MIN = 8, SEED = 1 };
enum { ROWS_MIN = 256, ROWS_MAX = 16384, ENOUGH = 4 };

enum { COMPUTE, COMM, WHOLE, HIDDEN, KINDS };

struct overlap {
    const struct bench_options *options;
    struct workload workload;
    size_t bucket_bytes, rows, compared;
    struct session_verified first[WORKLOAD_SETS]; /* what the first step of each set left */
    struct text_error unverified;                 /* why these were not verified; "" */
    double *sample[KINDS], *scratch;              /* [rounds] */
    struct stats_summary summary[KINDS];
};

/* As wide as so many layers of that many bytes in all can be. */
static int choose_model(struct overlap *o, const char *command)
{
    const size_t floats = o->options->bytes / sizeof(float) / LAYERS;
    size_t width = (size_t)sqrt((double)floats), used = 0;
    char name[128], why[200];

    while (width > 0 && width * width + width > floats)
        --width;
    if (width < WIDTH_MIN) {
        command_complain(command, "--bytes: %zu are too few for %d layers, at least %zu",
                         o->options->bytes, LAYERS,
                         LAYERS * sizeof(float) * WIDTH_MIN * (WIDTH_MIN + 1));
        return EXIT_MISUSE;
    }
    o->bucket_bytes = sizeof(float) * (width * width + width);
    for (int i = 0; i <= LAYERS; ++i)
        used +=
            (size_t)snprintf(name + used, sizeof name - used, "%s%zu", i > 0 ? "," : "mlp:", width);
    if (workload_parse(name, &o->workload, why, sizeof why) == 0)
        return EXIT_PASSED;
    command_complain(command, "%s", why);
    return EXIT_FAILED;
}

static int compare_step(struct overlap *o, struct session *session, const struct verify *verify,
                        struct dp_error *err)
{
    size_t shard[DP_MAX_SLOTS], values = 0;
    struct text_error why = {""};
    const struct verify_step left = session_result(session, shard);

    o->compared += workload_params(&o->workload);
    return verify_check(verify, &left, &values, &why) == 0
               ? 0
               : dp_fail(err, DP_EFAULT, "the first step is wrong: %.160s", why.text);
}

/* One step of set k, which is not timed. */
static int first_step(struct overlap *o, struct session *session, int k, struct dp_error *err)
{
    const struct workload_set set =
        workload_batch(&o->workload, session->rows, DP_MATH_F32, SEED, k);
    struct session_times times;
    struct verify *verify = NULL;
    int status, opened;

    if ((status = session_prepare(session, k, err)) ||
        (status = session_step(session, k, &times, err)) ||
        (status = session_trace(session, err)) || (status = session_read(session, err)))
        return status;
    o->first[k] = (struct session_verified){session_digest(session), session_gradients(session)};
    opened = verify_open(&o->workload, &set, session->rows, (size_t)session->n_ranks, DP_MATH_F32,
                         &verify, &o->unverified);
    if (opened == 0)
        opened = verify_ranks(verify, &set, &o->unverified);
    if (opened == VERIFY_STARVED)
        status = dp_fail(err, DP_ENOMEM, "%.200s", o->unverified.text);
    else if (opened == 0)
        status = compare_step(o, session, verify, err);
    verify_close(verify);
    return status;
}

static int one_round(struct overlap *o, struct session *session, size_t round,
                     struct session_apart *times, struct dp_error *err)
{
    const int k = (int)(round % WORKLOAD_SETS);
    struct session_left left = {0};
    const int status = session_apart(session, k, round % 2 == 0, times, &left, err);

    if (status)
        return status;
    if (left.whole != left.parts)
        return dp_fail(err, DP_EFAULT,
                       "round %zu: the whole step's gradients are not those of a step and its "
                       "reduction",
                       round);
    if (left.step != o->first[k].step || left.parts != o->first[k].gradients)
        return dp_fail(err, DP_EFAULT, "round %zu, set %d: not what the first step left", round, k);
    o->compared += 2 * (size_t)session->n_ranks * workload_params(&o->workload);
    return 0;
}

static int all_rounds(struct overlap *o, struct session *session, struct dp_error *err)
{
    for (size_t round = 0; round < o->options->rounds; ++round) {
        struct session_apart times = {0};
        const int status = one_round(o, session, round, &times, err);

        if (status)
            return status;
        o->sample[COMPUTE][round] = times.compute_ns;
        o->sample[COMM][round] = times.comm_ns;
        o->sample[WHOLE][round] = times.whole_ns;
        o->sample[HIDDEN][round] = stats_hidden(times.compute_ns, times.comm_ns, times.whole_ns, 0);
    }
    return 0;
}

/* Below six rounds there is no interval: the range is shown, under its own name. */
static void bounds(const struct stats_summary *s, double *lo, double *hi)
{
    *lo = s->ci.valid ? s->ci.lo : s->min;
    *hi = s->ci.valid ? s->ci.hi : s->max;
}

static void print_tsv(const struct overlap *o)
{
    const struct stats_summary *s = o->summary;
    double lo, hi;

    bounds(&s[HIDDEN], &lo, &hi);
    printf("name\tdevices\tbackend\tmodel_bytes\tbucket_bytes\trows\trounds\tcompared\tcompute_ns\t"
           "comm_ns\twhole_ns\tratio\tratio_lo\tratio_hi\tbounds\tcoverage\n");
    printf("overlap\t%s\t%s\t%zu\t%zu\t%zu\t%zu\t%zu\t", o->options->devices, o->options->backend,
           LAYERS * o->bucket_bytes, o->bucket_bytes, o->rows, o->options->rounds, o->compared);
    printf("%.0f\t%.0f\t%.0f\t%.6f\t%.6f\t%.6f\t%s\t%.4f\n", s[COMPUTE].median, s[COMM].median,
           s[WHOLE].median, s[HIDDEN].median, lo, hi, s[HIDDEN].ci.valid ? "interval" : "range",
           s[HIDDEN].ci.valid ? s[HIDDEN].ci.coverage : 0);
}

static void print_text(const struct overlap *o)
{
    static const char *const names[] = {"step without reduction", "reduction alone", "whole step"};
    const struct stats_summary *s = o->summary;
    double lo, hi;

    printf("%d layers of %zu x %zu, a bucket each of %zu bytes, on %s;\n%zu rows per rank, %zu "
           "rounds\n",
           LAYERS, o->workload.size[0], o->workload.size[0], o->bucket_bytes, o->options->devices,
           o->rows, o->options->rounds);
    printf("%-24s %9s  %s\n", "", "ms", s[WHOLE].ci.valid ? "95 % interval" : "range");
    for (int i = COMPUTE; i <= WHOLE; ++i) {
        bounds(&s[i], &lo, &hi);
        printf("%-24s %9.3f  %.3f .. %.3f\n", names[i], s[i].median / 1e6, lo / 1e6, hi / 1e6);
    }
    bounds(&s[HIDDEN], &lo, &hi);
    printf("%-24s %7.1f %%  %.1f .. %.1f\n", "hidden", 100 * s[HIDDEN].median, 100 * lo, 100 * hi);
    printf("Medians of rounds. Hidden, round by round: (step without + reduction - whole)\n"
           "/ reduction; %.1f %% if all but the last bucket are hidden. %zu gradients\n"
           "compared, all equal. Noise puts it below 0 and above 100 %%, too.\n",
           100.0 * (LAYERS - 1) / LAYERS, o->compared);
    if (o->unverified.text[0] != '\0')
        printf("Compared with each other only, not with the reference: %s\n", o->unverified.text);
}

static int print(struct overlap *o, const char *command)
{
    for (int i = 0; i < KINDS; ++i)
        o->summary[i] = stats_summarise(o->sample[i], o->options->rounds, o->scratch);
    if (!isfinite(o->summary[HIDDEN].min) || !isfinite(o->summary[HIDDEN].max)) {
        command_complain(command, "a round took no measurable time: there is no result");
        return EXIT_FAILED;
    }
    if (o->options->format == BENCH_TSV)
        print_tsv(o);
    else
        print_text(o);
    return EXIT_PASSED;
}

/* Warms up; *enough: a step takes some times as long as its reduction, or there is no larger batch.
 * The fastest of both count, which other work disturbs least; the first two rounds have one bucket.
 */
static int warm_up(struct overlap *o, struct session *session, bool *enough, struct dp_error *err)
{
    double compute = INFINITY, comm = INFINITY;
    int status = 0;

    for (size_t round = 0; status == 0 && round < WARMUP; ++round) {
        struct session_apart times = {0};

        status = one_round(o, session, round, &times, err);
        compute = round > 1 ? fmin(compute, times.compute_ns) : compute;
        comm = round > 1 ? fmin(comm, times.comm_ns) : comm;
    }
    *enough = compute >= ENOUGH * comm || 2 * o->rows > ROWS_MAX;
    return status;
}

/* With so many rows per rank; *done: these were enough, and the rounds were run. */
static int try_rows(struct overlap *o, struct dp_group *group, bool *done, struct dp_error *err)
{
    const struct cell_config config = {.workload = o->workload,
                                       .seed = SEED,
                                       .rows = o->rows * (size_t)dp_group_size(group),
                                       .mode = CELL_DDP,
                                       .bucket_bytes = o->bucket_bytes};
    struct session session;
    int status = session_open(&session, group, &config, err);

    if (status == 0)
        status = session_open_sets(&session, &config, err);
    o->compared = 0;
    o->unverified.text[0] = '\0';
    if (status == 0 && !dp_ddp_overlaps(session.ddp))
        status = dp_fail(err, DP_EINVAL,
                         "communicator '%s' of backend '%s' reduces after backward, not during it; "
                         "use the backend cpu",
                         dp_group_communicator(group), dp_group_backend(group));
    for (int k = 0; k < WORKLOAD_SETS && status == 0; ++k)
        status = first_step(o, &session, k, err);
    if (status == 0)
        status = warm_up(o, &session, done, err);
    if (status == 0 && *done)
        status = all_rounds(o, &session, err);
    session_close(&session);
    return status;
}

static int measure(struct overlap *o, const char *command, struct dp_group *group)
{
    struct dp_error err = {0};
    bool done = false;
    int status = 0;

    for (o->rows = ROWS_MIN; status == 0 && !done; o->rows *= done ? 1 : 2)
        status = try_rows(o, group, &done, &err);
    return status ? command_core_error(command, &err) : print(o, command);
}

int bench_overlap(const char *command, struct dp_group *group, const struct bench_options *options)
{
    struct overlap o = {.options = options};
    int status = choose_model(&o, command);
    bool complete = true;

    if (status)
        return status;
    o.scratch = calloc(options->rounds, sizeof *o.scratch);
    for (int i = 0; i < KINDS; ++i) {
        o.sample[i] = calloc(options->rounds, sizeof *o.sample[i]);
        complete = complete && o.sample[i];
    }
    if (complete && o.scratch) {
        status = measure(&o, command, group);
    } else {
        command_complain(command, "no memory for %zu rounds", options->rounds);
        status = EXIT_FAILED;
    }
    free(o.scratch);
    for (int i = 0; i < KINDS; ++i)
        free(o.sample[i]);
    return status;
}
