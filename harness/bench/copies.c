/* bench/copies.c: replicate and reduce of a model through core's public functions, and the peer:
 * memcpy by the same threads, or on GPUs, whose memory threads cannot touch, copies of core from
 * the first slot to each other one.
 *
 * A module of this file holds the parameters; its forward, which dp_apply runs on the workers, does
 * a round's work there: gradients, comparisons, and the peer's memcpy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "command/command.h"
#include "measure/parts.h"
#include "measure/session.h"
#include "numbers/stats.h"

enum { PARAM_BYTES = 4 << 20, PARAMS_MAX = 256, WARMUP_ROUNDS = 3 };

enum job { JOB_GRADIENTS, JOB_COMPARE, JOB_MEMCPY };

/* One thing that is timed: as many samples of it as of the peer, sample r of both from round r. */
enum { REPLICATE, REDUCE, LINES };
struct bench_line {
    const char *name, *peer;
    double work, peer_work; /* bytes read and written by one call */
    double *ns, *peer_ns;   /* [rounds] */
};

struct copies {
    struct dp_group *group;
    int n; /* devices */
    struct dp_module *module;
    struct dp_replicas *replicas;
    struct dp_param *param[PARAMS_MAX];
    int n_params;
    struct dp_tensor from, to[DP_MAX_SLOTS]; /* of the peer: one copy on every further device */
    float *host[DP_MAX_SLOTS];               /* of a worker: as long as the longest parameter */
    bool gpus;
    enum job job;
    size_t round;
    size_t compared[DP_MAX_SLOTS], different[DP_MAX_SLOTS]; /* by the worker of that device */
};

/* Small integers: sums over all devices are exact. Other ones in every round and device. */
static float number(size_t round, int owner, int param, size_t i)
{
    return (float)((i * 31 + round * 7 + (size_t)owner * 13 + (size_t)param * 3) % 251) - 125.0f;
}

static int fill_gradients(struct copies *c, struct dp_run *run, struct dp_error *err)
{
    const int r = dp_run_replica(run);
    int status = 0;

    for (int p = 0; p < c->n_params && status == 0; ++p) {
        struct dp_tensor grad;
        bool accumulate;

        dp_run_grad(run, c->param[p], &grad, &accumulate);
        const size_t n = dp_tensor_count(&grad);

        for (size_t i = 0; i < n; ++i)
            c->host[r][i] = number(c->round, 1 + r, p, i);
        status = dp_tensor_write(&grad, c->host[r], err);
    }
    return status;
}

/* The part of the peer's that is parameter p, from its element first on. */
static struct dp_tensor part_of(const struct copies *c, const struct dp_tensor *whole, int p,
                                size_t first)
{
    struct dp_tensor part = *whole;

    part.dim[0] = dp_tensor_count(&c->param[p]->value);
    part.data = (float *)whole->data + first;
    return part;
}

static int count_differences(struct copies *c, int r, int p, const struct dp_tensor *got,
                             struct dp_error *err)
{
    const size_t n = dp_tensor_count(got);
    const int status = dp_tensor_read(c->host[r], got, err);

    for (size_t i = 0; i < n && status == 0; ++i)
        c->different[r] += !(c->host[r][i] == number(c->round, 0, p, i));
    c->compared[r] += n;
    return status;
}

/* This device's replica, and its copy by the peer. */
static int compare(struct copies *c, struct dp_run *run, struct dp_error *err)
{
    const int r = dp_run_replica(run);
    size_t first = 0;
    int status = 0;

    for (int p = 0; p < c->n_params && status == 0; ++p) {
        const struct dp_tensor *value = dp_run_value(run, c->param[p]);

        status = count_differences(c, r, p, value, err);
        if (r > 0 && status == 0) {
            const struct dp_tensor part = part_of(c, &c->to[r], p, first);

            status = count_differences(c, r, p, &part, err);
        }
        first += dp_tensor_count(value);
    }
    return status;
}

/* Slice r of every copy. */
static void copy_slice(const struct copies *c, int r)
{
    const size_t n = dp_tensor_count(&c->from), each = (n / (size_t)c->n + 16) / 16 * 16;
    const size_t first = (size_t)r * each;

    if (first >= n)
        return;
    for (int d = 1; d < c->n; ++d)
        memcpy((float *)c->to[d].data + first, (const float *)c->from.data + first,
               (n - first < each ? n - first : each) * sizeof(float));
}

static int forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                   int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct copies *c = dp_module_self(module);

    (void)in, (void)n_in, (void)out;
    *n_out = 0;
    switch (c->job) {
    case JOB_GRADIENTS:
        return fill_gradients(c, run, err);
    case JOB_COMPARE:
        return compare(c, run, err);
    case JOB_MEMCPY:
        copy_slice(c, dp_run_replica(run));
        break;
    }
    return 0;
}

static int run_job(struct copies *c, enum job job, struct dp_error *err)
{
    struct dp_call call[DP_MAX_SLOTS];
    struct dp_tensor out[DP_MAX_IO];

    c->job = job;
    for (int i = 0; i < c->n; ++i)
        call[i] = (struct dp_call){c->module, dp_replicas_run(c->replicas, i), NULL, 0, out, 0};
    return dp_apply(call, c->n, err);
}

static int open_params(struct copies *c, size_t bytes, struct dp_error *err)
{
    const size_t total = bytes / sizeof(float), most = PARAM_BYTES / sizeof(float);
    int status = 0;

    for (size_t done = 0; done < total && status == 0; done += most) {
        const size_t n = total - done < most ? total - done : most;
        char name[32];

        snprintf(name, sizeof name, "part%d", c->n_params);
        status = dp_module_add_param(c->module, name, DP_F32, 1, &n, &c->param[c->n_params++], err);
    }
    return status ? status : dp_module_to(c->module, dp_group_slot(c->group, 0), err);
}

static int open_copies(struct copies *c, const struct bench_options *options, struct dp_error *err)
{
    static const struct dp_module_ops ops = {"bench", forward, measure_no_backward, NULL};
    const size_t total = options->bytes / sizeof(float);
    struct dp_slot *slot[DP_MAX_SLOTS];
    int status;

    for (int i = 0; i < c->n; ++i) {
        slot[i] = dp_group_slot(c->group, i);
        if (!(c->host[i] = malloc(PARAM_BYTES)))
            return dp_fail(err, DP_ENOMEM, "no memory for %d bytes", PARAM_BYTES);
    }
    if ((status = dp_module_open(c->group, &ops, c, NULL, 0, &c->module, err)) ||
        (status = open_params(c, options->bytes, err)) ||
        (status = dp_replicas_open(c->module, slot, c->n, &c->replicas, err)) ||
        (status = dp_tensor_alloc(slot[0], DP_F32, 1, &total, &c->from, err)))
        return status;
    for (int i = 0; i < c->n && status == 0; ++i) {
        dp_run_grad_mode(dp_replicas_run(c->replicas, i), false);
        if (i > 0)
            status = dp_tensor_alloc(slot[i], DP_F32, 1, &total, &c->to[i], err);
    }
    return status;
}

/* The model and what the peer copies: the same numbers. */
static int write_values(struct copies *c, struct dp_error *err)
{
    size_t first = 0;

    for (int p = 0; p < c->n_params; ++p) {
        const struct dp_tensor part = part_of(c, &c->from, p, first);
        const size_t n = dp_tensor_count(&part);
        int status;

        for (size_t i = 0; i < n; ++i)
            c->host[0][i] = number(c->round, 0, p, i);
        if ((status = dp_tensor_write(&c->param[p]->value, c->host[0], err)) ||
            (status = dp_tensor_write(&part, c->host[0], err)))
            return status;
        first += n;
    }
    return 0;
}

typedef int timed_fn(struct copies *c, struct dp_error *err);

static int replicate(struct copies *c, struct dp_error *err)
{
    const int status = dp_replicate(c->replicas, c->n, err);

    return status ? status : dp_group_wait(c->group, err);
}

static int reduce(struct copies *c, struct dp_error *err)
{
    const int status = dp_reduce(c->replicas, c->n, err);

    return status ? status : dp_group_wait(c->group, err);
}

static int peer(struct copies *c, struct dp_error *err)
{
    int status = c->gpus ? 0 : run_job(c, JOB_MEMCPY, err);

    for (int d = 1; d < c->n && c->gpus && status == 0; ++d)
        status = dp_tensor_copy(&c->to[d], &c->from, err);
    return status || !c->gpus ? status : dp_group_wait(c->group, err);
}

static int timed(struct copies *c, timed_fn *function, double *ns, struct dp_error *err)
{
    dp_group_barrier(c->group);

    const uint64_t begin = session_clock_ns();
    const int status = function(c, err);

    *ns = (double)(session_clock_ns() - begin);
    return status;
}

/* The order alternates: the second finds other data in the caches. */
static int both(struct copies *c, timed_fn *function, double *ns, double *peer_ns,
                struct dp_error *err)
{
    const bool first = c->round % 2 == 0;
    int status = first ? timed(c, function, ns, err) : timed(c, peer, peer_ns, err);

    if (status == 0)
        status = first ? timed(c, peer, peer_ns, err) : timed(c, function, ns, err);
    return status;
}

/* Calls both functions, replicate and reduce, each next to the peer, and compares their results.
 * times[l]: of line l, times[LINES + l]: of its peer. */
static int one_round(struct copies *c, double times[2 * LINES], struct dp_error *err)
{
    int status;

    if ((status = write_values(c, err)) ||
        (status = both(c, replicate, &times[REPLICATE], &times[LINES + REPLICATE], err)) ||
        (status = run_job(c, JOB_COMPARE, err)))
        return status;
    dp_zero_grad(c->module);
    if ((status = run_job(c, JOB_GRADIENTS, err)) ||
        (status = both(c, reduce, &times[REDUCE], &times[LINES + REDUCE], err)) ||
        (status = run_job(c, JOB_COMPARE, err)))
        return status;
    for (int p = 0; p < c->n_params; ++p) {
        const struct dp_param *param = c->param[p];
        const size_t n = dp_tensor_count(&param->grad);

        if ((status = dp_tensor_read(c->host[0], &param->grad, err)))
            return status;
        for (size_t i = 0; i < n; ++i) {
            float sum = 0;

            for (int r = 0; r < c->n; ++r)
                sum += number(c->round, 1 + r, p, i);
            c->different[0] += !param->has_grad || !(c->host[0][i] == sum);
        }
        c->compared[0] += n;
    }
    return 0;
}

/* ---- output --------------------------------------------------------------------------------- */

void bench_bounds(const struct stats_summary *summary, double *lo, double *hi)
{
    *lo = summary->ci.valid ? summary->ci.lo : summary->min;
    *hi = summary->ci.valid ? summary->ci.hi : summary->max;
}

/* Rates are in bytes per ns, which is GB/s. */
static void print_lines(const struct bench_options *o, const struct bench_line line[LINES],
                        size_t compared, double scratch[], double ratios[])
{
    const bool tsv = o->format == BENCH_TSV;
    double lo, hi;

    for (int i = 0; i < LINES; ++i) {
        const struct bench_line *l = &line[i];
        const struct stats_summary ns = stats_summarise(l->ns, o->rounds, scratch);
        const struct stats_summary peer_ns = stats_summarise(l->peer_ns, o->rounds, scratch);
        struct stats_summary ratio;

        for (size_t r = 0; r < o->rounds; ++r)
            ratios[r] = l->work / l->ns[r] / (l->peer_work / l->peer_ns[r]);
        ratio = stats_summarise(ratios, o->rounds, scratch);
        bench_bounds(&ratio, &lo, &hi);
        if (i == 0 && tsv)
            printf("name\tpeer\tdevices\tbackend\tmodel_bytes\trounds\tcompared\twork_bytes\t"
                   "median_ns\tmin_ns\tpeer_work_bytes\tpeer_median_ns\tpeer_min_ns\t"
                   "ratio\tratio_lo\tratio_hi\tbounds\tcoverage\tsource\n");
        else if (i == 0) {
            if (o->simulated)
                printf("SIMULATED on fake GPUs: no time here means anything\n");
            printf("Model of %zu bytes on %s, %zu rounds; %s %s\n", o->bytes, o->devices, o->rounds,
                   l->peer, o->gpus ? "between the same slots" : "by the same threads");
            printf("%-10s %9s %8s %9s %8s %8s  %s\n", "", "ms", "GB/s", l->peer, "GB/s", "ratio",
                   ratio.ci.valid ? "95 % interval" : "range");
        }
        if (tsv) {
            printf("%s\t%s\t%s\t%s\t%zu\t%zu\t%zu\t", l->name, l->peer, o->devices, o->backend,
                   o->bytes, o->rounds, compared);
            printf("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t", l->work, ns.median, ns.min, l->peer_work,
                   peer_ns.median, peer_ns.min);
            printf("%.6f\t%.6f\t%.6f\t%s\t%.4f\t%s\n", ratio.median, lo, hi,
                   ratio.ci.valid ? "interval" : "range", ratio.ci.valid ? ratio.ci.coverage : 0,
                   o->simulated ? "simulated" : "measured");
        } else
            printf("%-10s %9.3f %8.2f %9.3f %8.2f %8.3f  %.3f .. %.3f\n", l->name, ns.median / 1e6,
                   l->work / ns.median, peer_ns.median / 1e6, l->peer_work / peer_ns.median,
                   ratio.median, lo, hi);
    }
    if (!tsv)
        printf("Medians of rounds, which alternate who is first. Bytes read and bytes written\n"
               "both count; the ratio is of GB/s, round by round. %zu numbers\ncompared, all "
               "equal.\n",
               compared);
}

int bench_copies(const char *command, struct dp_group *group, const struct bench_options *options)
{
    struct copies c = {.group = group, .n = dp_group_size(group), .gpus = options->gpus};
    const double bytes = (double)options->bytes, copied = 2.0 * bytes * (c.n - 1);
    const char *peer_name = c.gpus ? "copy" : "memcpy";
    const size_t rounds = options->rounds;
    double *samples = calloc((2 * LINES + 2) * rounds, sizeof *samples);
    struct bench_line line[LINES] = {{"replicate", peer_name, copied, copied, NULL, NULL},
                                     {"reduce", peer_name, bytes * (c.n + 1), copied, NULL, NULL}};
    struct dp_error err = {0};
    size_t compared = 0;
    int status, wrong = -1;

    if (!samples) {
        command_complain(command, "no memory for %zu rounds", rounds);
        return EXIT_FAILED;
    }
    for (size_t l = 0; l < LINES; ++l) {
        line[l].ns = samples + l * rounds;
        line[l].peer_ns = samples + (LINES + l) * rounds;
    }
    status = open_copies(&c, options, &err);
    for (c.round = 0; status == 0 && c.round < WARMUP_ROUNDS + rounds; ++c.round) {
        double times[2 * LINES];

        status = one_round(&c, times, &err);
        for (size_t i = 0; status == 0 && i < 2 * LINES && c.round >= WARMUP_ROUNDS; ++i)
            samples[i * rounds + c.round - WARMUP_ROUNDS] = times[i];
    }
    for (int i = c.n - 1; i >= 0; --i) {
        compared += c.compared[i];
        wrong = c.different[i] > 0 ? i : wrong;
    }
    if (status)
        status = command_core_error(command, &err);
    else if (wrong >= 0 || compared == 0) {
        if (compared == 0)
            command_complain(command, "nothing compared; no times");
        else
            command_complain(command, "%zu of %zu numbers on %s are wrong; no times",
                             c.different[wrong], c.compared[wrong],
                             dp_slot_name(dp_group_slot(group, wrong)));
        status = EXIT_FAILED;
    } else
        print_lines(options, line, compared, samples + 2 * LINES * rounds,
                    samples + (2 * LINES + 1) * rounds);
    for (int i = 1; i < c.n; ++i)
        dp_tensor_free(&c.to[i]);
    dp_tensor_free(&c.from);
    dp_replicas_close(c.replicas);
    dp_module_close(c.module);
    for (int i = 0; i < c.n; ++i)
        free(c.host[i]);
    free(samples);
    return status;
}
