/* bench/limits.c: how far the parts of a training step are from what the cores can do. Ceilings and
 * steps take turns, so that other work on the machine meets all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/limits.h"
#include "command/command.h"
#include "plan/plan.h"

const char *const limits_rate_names[LIMITS_RATES] = {
    [LIMITS_FMA] = "multiply-adds", [LIMITS_READ] = "memory read", [LIMITS_COPY] = "memory copied"};
const char *const limits_phase_names[DP_PHASES] = {
    [DP_PHASE_SCATTER] = "scatter",   [DP_PHASE_REPLICATE] = "replicate",
    [DP_PHASE_FORWARD] = "forward",   [DP_PHASE_GATHER] = "gather",
    [DP_PHASE_BACKWARD] = "backward", [DP_PHASE_REDUCE] = "reduce",
    [DP_PHASE_LOSS] = "loss",         [DP_PHASE_UPDATE] = "update"};
const char *const limits_share_names[LIMITS_SHARES] = {[LIMITS_PRODUCTS] = "products",
                                                       [LIMITS_OTHERS] = "other kernels",
                                                       [LIMITS_TRANSFERS] = "transfers",
                                                       [LIMITS_REST] = "none of them"};

const char *limits_transposes(const struct dp_kernel_row *row)
{
    static const char *const names[2][2] = {{"nn", "nt"}, {"tn", "tt"}};

    if (strncmp(row->name, "convolution", 11) == 0)
        return row->name[11] == '\0' ? "conv" : "grad";
    return row->product ? names[row->transpose_a][row->transpose_b] : "";
}

double limits_product_rate(const struct limits_steps *s, int part)
{
    const struct dp_kernel_row *r = &s->part[part];
    const double work = 2.0 * (double)r->multiplies * (double)s->count[part];
    const double ns = s->mean[LIMITS_PART + part];

    return r->product && ns > 0 ? work / ns : 0;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Rows of gpt are sequences, of which few can be verified. */
static size_t rows_of(const struct workload *workload)
{
    enum { CHAIN = 2048, TOKENS = 8, OTHERS = 512 };

    if (workload_is_chain(workload))
        return CHAIN;
    return workload_tokens(workload) > 0 ? TOKENS : OTHERS;
}

/* As a sweep refuses it. */
static int check_batch(const struct limits *l, const struct cell_config *config,
                       struct dp_error *err)
{
    const uint64_t bytes = l->machine.usable_bytes;
    const struct plan_room room = {.cores = true, .bytes = bytes > 0 ? (double)bytes : NAN};
    struct text_error why = {""};

    return plan_check_cell(config, &room, &why) == 0
               ? 0
               : dp_fail(err, DP_EINVAL, "--batch: %.200s", why.text);
}

static int open_workload(struct limits *l, int i, struct dp_error *err)
{
    const struct bench_options *o = l->options;
    struct limits_workload *w = &l->workload[i];
    const int devices = dp_group_size(l->group);
    struct cell_config config = {.n_devices = devices, .mode = CELL_DP};
    struct dp_shard shard;
    char why[200];
    int status;

    if (workload_parse(o->workload[i], &w->workload, why, sizeof why))
        return dp_fail(err, DP_EINVAL, "--workload: %s", why);
    w->rows = o->rows > 0 ? o->rows : rows_of(&w->workload);
    if ((status = dp_split(w->rows, devices, 0, &shard, err)))
        return status;
    snprintf(config.devices, sizeof config.devices, "%s", o->devices);
    config.workload = w->workload;
    config.rows = w->rows;
    if ((status = check_batch(l, &config, err)))
        return status;
    status = limits_steps_open(&w->way[LIMITS_AT_ONCE], l->group, &config, o->rounds * LIMITS_STEPS,
                               err);
    config.mode = CELL_PLAIN;
    config.rows = shard.rows;
    return status ? status
                  : limits_steps_open(&w->way[LIMITS_ALONE], l->group, &config,
                                      o->rounds * LIMITS_STEPS, err);
}

static int open_all(struct limits *l, struct dp_error *err)
{
    const size_t rounds = l->options->rounds;
    int status = dp_machine_read(&l->machine, err);

    if (status)
        return status;
    l->scratch = calloc(rounds, sizeof *l->scratch);
    for (int r = 0; r < LIMITS_RATES; ++r)
        for (int way = 0; way < LIMITS_WAYS; ++way)
            if (!(l->rate[r][way] = calloc(rounds, sizeof *l->rate[r][way])))
                return dp_fail(err, DP_ENOMEM, "no memory for %zu rounds", rounds);
    if (!l->scratch)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rounds", rounds);
    status = ceilings_open(&l->ceilings, l->group, err);
    for (l->n = 0; status == 0 && l->n < l->options->n_workloads; ++l->n)
        status = open_workload(l, l->n, err);
    return status;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* The order changes with each round. */
static int one_round(struct limits *l, size_t round, struct dp_error *err)
{
    int status = 0;

    for (int i = 0; status == 0 && i < LIMITS_RATES * LIMITS_WAYS; ++i) {
        const enum limits_way way = (enum limits_way)(((size_t)i + round) % LIMITS_WAYS);
        const enum limits_rate what = (enum limits_rate)(i / LIMITS_WAYS);

        status = ceilings_measure(&l->ceilings, what, way, &l->rate[what][way][round], err);
    }
    for (int i = 0; status == 0 && i < l->n * LIMITS_WAYS; ++i)
        status = limits_steps_round(
            &l->workload[i / LIMITS_WAYS].way[((size_t)i + round) % LIMITS_WAYS], err);
    return status;
}

static int measure(struct limits *l, struct dp_error *err)
{
    int status = open_all(l, err);

    for (size_t round = 0; status == 0 && round < l->options->rounds; ++round)
        status = one_round(l, round, err);
    for (int r = 0; status == 0 && r < LIMITS_RATES; ++r)
        for (int way = 0; way < LIMITS_WAYS; ++way)
            l->summary[r][way] = stats_summarise(l->rate[r][way], l->options->rounds, l->scratch);
    for (int i = 0; status == 0 && i < l->n; ++i)
        for (int way = 0; way < LIMITS_WAYS; ++way)
            limits_steps_summarise(&l->workload[i].way[way]);
    return status;
}

int bench_limits(const char *command, struct dp_group *group, const struct bench_options *options)
{
    struct limits *l = calloc(1, sizeof *l);
    struct dp_error err = {0};
    int status = EXIT_PASSED;

    if (!l) {
        command_complain(command, "no memory for the limits");
        return EXIT_FAILED;
    }
    l->options = options;
    l->group = group;
    if (measure(l, &err))
        status = command_core_error(command, &err);
    else if (options->format == BENCH_TSV)
        limits_print_tsv(l);
    else if (options->format == BENCH_JSON && limits_print_json(l) != 0) {
        command_complain(command, "no memory for the JSON, or the machine cannot be read");
        status = EXIT_FAILED;
    } else if (options->format == BENCH_TEXT)
        limits_print(l);
    for (int i = 0; i < BENCH_WORKLOADS; ++i)
        for (int way = 0; way < LIMITS_WAYS; ++way)
            limits_steps_close(&l->workload[i].way[way]);
    ceilings_close(&l->ceilings);
    for (int r = 0; r < LIMITS_RATES; ++r)
        for (int way = 0; way < LIMITS_WAYS; ++way)
            free(l->rate[r][way]);
    free(l->scratch);
    free(l);
    return status;
}

/* ---- operations and bytes of a phase, and of a product by itself ----------------------------- */

static struct roof_range range_of(const struct limits_steps *s, int kind)
{
    return (struct roof_range){s->mean[kind], s->lo[kind], s->hi[kind]};
}

struct roof_work limits_product_work(const struct limits_steps *s, int part)
{
    const struct dp_kernel_row *r = &s->part[part];
    const double count = (double)s->count[part];

    return (struct roof_work){.kind = ROOF_COMPUTES,
                              .flops = 2 * count * (double)r->multiplies,
                              .bytes = count * (double)r->bytes,
                              .ns = range_of(s, LIMITS_PART + part)};
}

struct roof_work limits_phase_work(const struct limits_workload *w, enum dp_phase phase)
{
    /* Value and gradient are read, and the value is written; AdamW has two states, too. */
    enum { SGD_BYTES = 12, ADAMW_BYTES = 28 };
    const struct workload_end *end = workload_end(&w->workload);
    const struct limits_steps *s = &w->way[LIMITS_AT_ONCE];
    struct roof_work work = {.kind = ROOF_COMPUTES, .ns = range_of(s, LIMITS_PHASE + (int)phase)};

    if (phase == DP_PHASE_UPDATE) {
        work.kind = ROOF_UPDATES;
        work.bytes = (double)workload_params(&w->workload) * (end->adamw ? ADAMW_BYTES : SGD_BYTES);
    } else if (phase != DP_PHASE_FORWARD && phase != DP_PHASE_BACKWARD && phase != DP_PHASE_LOSS) {
        work.kind = ROOF_CARRIES;
        work.bytes = s->phase_bytes[phase];
    }
    for (int i = 0; i < s->n_parts && work.kind == ROOF_COMPUTES; ++i)
        if (s->part[i].product && s->part[i].phase == phase) {
            const struct roof_work product = limits_product_work(s, i);

            work.flops += product.flops;
            work.bytes += product.bytes;
        }
    return work;
}

struct roof_ceilings limits_ceilings(const struct limits *l)
{
    struct roof_ceilings c = {.devices = l->ceilings.devices};

    for (int r = 0; r < LIMITS_RATES; ++r)
        for (int way = 0; way < LIMITS_WAYS; ++way) {
            const struct stats_summary *s = &l->summary[r][way];

            c.rate[r][way] = (struct roof_range){s->median, s->min, s->max};
        }
    return c;
}
