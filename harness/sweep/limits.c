/* sweep/limits.c: `lockstep sweep limits`: how far the parts of a training step are from what the
 * cores can do. Ceilings and steps take turns, so that other work on the machine meets all of
 * them. */
#include "sweep/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "plan/plan.h"
#include "sweep/sweep.h"
#include "text/alloc.h"

enum { ROUNDS_MAX = 100000, BATCH_MAX = 1 << 20 };

/* ---- measuring ------------------------------------------------------------------------------ */

static int open_workload(struct limits *l, int i, struct dp_error *err)
{
    /* Rows of gpt are sequences, of which few can be verified. */
    enum { CHAIN = 2048, TOKENS = 8, OTHERS = 512 };
    const struct limits_options *o = l->options;
    const size_t room = o->rounds * LIMITS_STEPS;
    struct limits_workload *w = &l->workload[i];
    const int devices = dp_group_size(l->group);
    const uint64_t bytes = l->machine.usable_bytes;
    const struct plan_room memory = {.cores = true, .bytes = bytes > 0 ? (double)bytes : NAN};
    struct cell_config config = {.n_devices = devices, .mode = CELL_DP};
    struct text_error refused = {""};
    struct dp_shard shard;
    char why[200];
    int status;

    if (workload_parse(o->workload[i], &w->workload, why, sizeof why))
        return dp_fail(err, DP_EINVAL, "--workload: %s", why);
    w->rows = o->rows > 0                         ? o->rows
              : workload_is_chain(&w->workload)   ? CHAIN
              : workload_tokens(&w->workload) > 0 ? TOKENS
                                                  : OTHERS;
    if ((status = dp_split(w->rows, devices, 0, &shard, err)))
        return status;
    snprintf(config.devices, sizeof config.devices, "%s", o->devices);
    config.workload = w->workload;
    config.rows = w->rows;
    if (plan_check_cell(&config, &memory, &refused) != 0) /* as a sweep refuses it */
        return dp_fail(err, DP_EINVAL, "--batch: %.200s", refused.text);
    if ((status = limits_steps_open(&w->way[ROOF_AT_ONCE], l->group, &config, room, err)))
        return status;
    config.mode = CELL_PLAIN;
    config.rows = shard.rows;
    return limits_steps_open(&w->way[ROOF_ALONE], l->group, &config, room, err);
}

/* Measures all, and prints it. Returns an exit status. */
static int measure_limits(const char *command, struct limits *l)
{
    const size_t rounds = l->options->rounds, format = l->options->format;
    double *all = cli_alloc((ROOF_RATES * ROOF_WAYS + 1) * rounds, sizeof *all);
    struct dp_error err = {0};
    int status = dp_machine_read(&l->machine, &err);

    l->scratch = all;
    for (int r = 0; r < ROOF_RATES; ++r)
        for (int way = 0; way < ROOF_WAYS; ++way)
            l->rate[r][way] = all + (size_t)(1 + r * ROOF_WAYS + way) * rounds;
    if (status == 0)
        status = ceilings_open(&l->ceilings, l->group, &err);
    for (l->n = 0; status == 0 && l->n < l->options->n_workloads; ++l->n)
        status = open_workload(l, l->n, &err);
    /* The order changes with each round. */
    for (size_t round = 0; status == 0 && round < rounds; ++round) {
        for (int i = 0; status == 0 && i < ROOF_RATES * ROOF_WAYS; ++i) {
            const enum roof_way way = (enum roof_way)(((size_t)i + round) % ROOF_WAYS);
            const enum roof_rate what = (enum roof_rate)(i / ROOF_WAYS);

            status = ceilings_measure(&l->ceilings, what, way, &l->rate[what][way][round], &err);
        }
        for (int i = 0; status == 0 && i < l->n * ROOF_WAYS; ++i)
            status = limits_steps_round(
                &l->workload[i / ROOF_WAYS].way[((size_t)i + round) % ROOF_WAYS], &err);
    }
    if (status)
        return command_core_error(command, &err);
    l->roof.devices = l->ceilings.devices;
    for (int r = 0; r < ROOF_RATES; ++r)
        for (int way = 0; way < ROOF_WAYS; ++way) {
            const struct stats_summary s = stats_summarise(l->rate[r][way], rounds, l->scratch);

            l->roof.rate[r][way] = (struct roof_range){s.median, s.min, s.max};
        }
    for (int i = 0; i < l->n; ++i)
        for (int way = 0; way < ROOF_WAYS; ++way)
            limits_steps_summarise(&l->workload[i].way[way]);
    if (format == LIMITS_TEXT)
        limits_print(l);
    else if (format == LIMITS_TSV)
        limits_print_tsv(l);
    else if (limits_print_json(l) != 0) {
        command_complain(command, "the machine cannot be read");
        return EXIT_FAILED;
    }
    return EXIT_PASSED;
}

/* ---- the command ---------------------------------------------------------------------------- */

static const char *const formats[LIMITS_FORMATS] = {
    [LIMITS_TEXT] = "text", [LIMITS_TSV] = "tsv", [LIMITS_JSON] = "json"};

struct arguments {
    struct limits_options options;
    size_t required; /* devices */
};
#define AT(member) offsetof(struct arguments, options.member)

static const struct command_option option_table[] = {
    {"devices", 'd', "LIST", "virt:N (default: one virtual device per core)", COMMAND_TEXT,
     COMMAND_FIELD(struct arguments, options.devices), .group = COMMAND_WHAT},
    {"backend", 'b', "NAME", COMMAND_CPU_BACKEND_DOC, COMMAND_BACKEND,
     COMMAND_FIELD(struct arguments, options.backend), .group = COMMAND_RARE},
    {"communicator", 'c', "NAME", COMMAND_CPU_COMMUNICATOR_DOC, COMMAND_COMMUNICATOR,
     COMMAND_FIELD(struct arguments, options.communicator), .group = COMMAND_RARE},
    COMMAND_REQUIRE_ROW(struct arguments),
    {"workload", 'w', "NAME",
     "a workload, as sweep takes it; may be repeated (default: mlp:1024,1024,1024,1024, cnn and "
     "lstm)",
     .repeated = true, .group = COMMAND_WHAT},
    {"batch", 'n', "N", "rows for all devices (default 2048 for mlp, 8 for gpt, else 512)",
     COMMAND_SIZE, .offset = AT(rows), .least = 1, .most = BATCH_MAX, .group = COMMAND_WHAT},
    {"rounds", 'r', "N", "timed rounds (default 11)", COMMAND_SIZE, .offset = AT(rounds),
     .least = 1, .most = ROUNDS_MAX, .group = COMMAND_HOW_LONG},
    {"format", 'f', "text|tsv|json", "what to print (default text); report takes json",
     COMMAND_CHOICE, .offset = AT(format), .most = LIMITS_FORMATS, .names = formats,
     .group = COMMAND_WHERE_TO},
    {0}};

static error_t parse_workload(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = command_input(state);
    struct limits_options *o = &a->options;
    struct workload workload;
    char why[200];

    if (key != 'w')
        return command_key(key, arg, state);
    if (o->n_workloads == LIMITS_WORKLOADS)
        return command_bad_option(state, "--workload: more than %d", LIMITS_WORKLOADS);
    if (workload_parse(arg, &workload, why, sizeof why))
        return command_bad_option(state, "--workload: %s", why);
    o->workload[o->n_workloads++] = arg;
    return 0;
}

int sweep_limits_main(int argc, char **argv)
{
    static const struct command_syntax syntax = {
        .options = option_table,
        .other = parse_workload,
        .what = "What to measure",
        .doc = "Measures what the cores can do at most, and how far each matrix product and each "
               "phase of a step is from it."
               "\vCeilings and verified steps take turns: alone, on the first device, and at once, "
               "on all of them.\n\n"
               "Exit status: 0 all results right; 1 one was wrong, or there are fewer devices than "
               "required; 2 misuse. Speed never changes it.\n\nExamples:\n"
               "  lockstep sweep limits --workload mlp:1024,1024\n"
               "  lockstep sweep limits --devices virt:2 --format json >limits.json"};
    static const char *const workloads[] = {"mlp:1024,1024,1024,1024", "cnn", "lstm"};
    struct arguments arguments = {.options = {.rounds = 11}};
    struct limits_options *o = &arguments.options;
    struct dp_group *group = NULL;
    struct dp_kind_row kind;
    int status;

    if ((status = command_read(&syntax, argc, argv, &arguments)))
        return status;
    for (int i = 0; i < 3 && o->n_workloads == i; ++i)
        o->workload[o->n_workloads++] = workloads[i];
    if (o->devices[0] == '\0')
        command_default_devices(o->devices, sizeof o->devices);
    if (dp_kind_of(o->devices, &kind) && !(kind.flags & DP_KIND_CORES))
        return command_refuse(
            argv[0], "--devices: '%s': limits are those of CPUs; allowed is virt:N", o->devices);
    const struct dp_group_config config = {.devices = o->devices,
                                           .backend = command_given(o->backend),
                                           .communicator = command_given(o->communicator),
                                           .bind = true};

    if ((status = command_check_communicator(argv[0], o->communicator, o->backend, o->devices,
                                             DP_COMM_PARALLEL)) ||
        (status = command_open_group(argv[0], &config, arguments.required, &group)))
        return status;
    struct dp_slot_info info = {.flags = 0};

    if (dp_group_size(group) > 0)
        dp_slot_describe(dp_group_slot(group, 0), &info);
    if (dp_group_size(group) < 1) {
        status = command_refuse(argv[0], "--devices: '%s' has no devices", o->devices);
    } else if (info.lag) {
        /* Late devices have memory that is not in order for the ceilings, and their times mean
         * nothing. */
        status =
            command_refuse(argv[0], "--devices: '%s' runs late on purpose; use virt:N", o->devices);
    } else if (info.delay_ns > 0 || info.delay_rate > 0) {
        status = command_refuse(
            argv[0], "--devices: '%s' has slow transfers on purpose; use virt:N", o->devices);
    } else {
        struct limits *l = cli_alloc(1, sizeof *l);

        snprintf(o->backend, sizeof o->backend, "%s", dp_group_backend(group));
        l->options = o;
        l->group = group;
        status = measure_limits(argv[0], l);
        for (int i = 0; i < LIMITS_WORKLOADS; ++i)
            for (int way = 0; way < ROOF_WAYS; ++way)
                limits_steps_close(&l->workload[i].way[way]);
        ceilings_close(&l->ceilings);
        free(l->scratch);
        free(l);
    }
    status = command_ended(argv[0], group, status);
    dp_group_close(group);
    return status;
}
