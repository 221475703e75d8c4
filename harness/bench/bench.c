/* bench/bench.c: the subcommand bench: options, devices, exit status. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/backend.h"
#include "command/command.h"
#include "machine/provenance.h"
#include "text/options.h"
#include "workload.h"

enum { ROUNDS_MAX = 100000, BATCH_MAX = 1 << 20 };

struct arguments {
    struct bench_options options;
    size_t required; /* devices */
    bool named;
};
#define AT(member) offsetof(struct arguments, options.member)

static const char *const names[BENCH_NAMES] = {"copies", "overlap", "limits"};
static const char *const formats[] = {
    [BENCH_TEXT] = "text", [BENCH_TSV] = "tsv", [BENCH_JSON] = "json"};

static const struct command_option option_table[] = {
    {"devices", 'd', "LIST",
     COMMAND_DEVICES_DOC
     ", at least two; cuda:0,0 are two slots on one GPU (default: one virtual device per core; of "
     "overlap virt:2+500us, whose transfers take half a millisecond longer, or with --launcher "
     "virt:2); limits takes one, too",
     COMMAND_TEXT, COMMAND_FIELD(struct arguments, options.devices)},
    LAUNCHER_OPTIONS("overlap"),
    COMMAND_BACKEND_ROW(struct arguments, options.backend),
    COMMAND_COMMUNICATOR_ROW(struct arguments, options.communicator),
    COMMAND_REQUIRE_ROW(struct arguments),
    {"bytes", 's', "SIZE", "size of the model (default 12Mi, for overlap 1Mi)", COMMAND_SIZE,
     .offset = AT(bytes), .least = 4, .most = (size_t)1 << 30},
    {"workload", 'w', "W",
     "of limits: a workload, as sweep takes it; may be repeated (default: "
     "mlp:1024,1024,1024,1024, cnn and lstm)",
     .repeated = true},
    {"batch", 'n', "N",
     "of limits: rows for all devices (default 2048 for mlp, 8 for gpt, else 512)", COMMAND_SIZE,
     .offset = AT(rows), .least = 1, .most = BATCH_MAX},
    {"rounds", 'r', "N", "timed rounds (default 40, for overlap 20, for limits 11)", COMMAND_SIZE,
     .offset = AT(rounds), .least = 1, .most = ROUNDS_MAX},
    {"format", 'f', "FORMAT", "text (default), tsv, or of limits json, which report takes",
     COMMAND_CHOICE, .offset = AT(format), .most = 3, .names = formats},
    {0}};

static error_t parse_name(struct arguments *a, const char *arg, const struct argp_state *state)
{
    struct text_error why;
    size_t index;

    if (a->named)
        return command_bad_option(state, "unexpected argument '%.60s'", arg);
    if (option_name("benchmark", arg, names, BENCH_NAMES, &index, &why))
        return command_bad_option(state, "%s", why.text);
    a->named = true;
    a->options.name = (enum bench_name)index;
    return 0;
}

static error_t parse_workload(struct bench_options *o, const char *arg,
                              const struct argp_state *state)
{
    struct workload workload;
    char why[200];

    if (o->n_workloads == BENCH_WORKLOADS)
        return command_bad_option(state, "--workload: more than %d", BENCH_WORKLOADS);
    if (workload_parse(arg, &workload, why, sizeof why))
        return command_bad_option(state, "--workload: %s", why);
    o->workload[o->n_workloads++] = arg;
    return 0;
}

/* Options of one benchmark are refused by the others. */
static error_t check_options(const struct arguments *a, const struct argp_state *state)
{
    const struct bench_options *o = &a->options;
    const bool limits = o->name == BENCH_LIMITS;

    if (!a->named)
        return command_bad_option(state, "which benchmark? known: copies, overlap, limits");
    if (o->bytes % sizeof(float) != 0)
        return command_bad_option(state, "--bytes: %zu is not a multiple of 4, the size of a float",
                                  o->bytes);
    if (!limits && (o->n_workloads > 0 || o->rows > 0))
        return command_bad_option(state, "--%s is for limits, not for %s",
                                  o->n_workloads > 0 ? "workload" : "batch", names[o->name]);
    if (!limits && o->format == BENCH_JSON)
        return command_bad_option(state, "--format json is for limits, not for %s", names[o->name]);
    if (limits && o->bytes > 0)
        return command_bad_option(state, "--bytes is not for limits, whose models are workloads");
    return 0;
}

static error_t parse_other(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = command_input(state);

    switch (key) {
    case LAUNCHER_KEY:
    case LAUNCHER_KEY_EACH:
    case LAUNCHER_KEY_TIMEOUT:
        return launcher_option(key, arg, state, &a->options.processes);
    case 'w':
        return parse_workload(&a->options, arg, state);
    case ARGP_KEY_ARG:
        return parse_name(a, arg, state);
    case ARGP_KEY_END:
        return check_options(a, state);
    default:
        return command_key(key, arg, state);
    }
}

/* Memory of late devices is not in order for the bench's own code, and their times mean nothing. */
int bench_check_devices(const char *command, struct dp_group *group, struct bench_options *options,
                        int n)
{
    const char *devices = options->devices;
    const bool limits = options->name == BENCH_LIMITS;
    struct dp_slot_info info;

    if (n < (limits ? 1 : 2))
        return command_refuse(command, "--devices: '%s' has %s", devices,
                              limits ? "no devices" : "fewer than 2 devices to copy between");
    dp_slot_describe(dp_group_slot(group, 0), &info);
    if (limits && !(info.flags & DP_KIND_CORES))
        return command_refuse(command, "--devices: limits is for CPUs, '%s' is not; use virt:N",
                              devices);
    if (info.lag)
        return command_refuse(command, "--devices: '%s' runs late on purpose; use virt:N", devices);
    if (options->name != BENCH_OVERLAP && (info.delay_ns > 0 || info.delay_rate > 0))
        return command_refuse(command, "--devices: '%s' has slow transfers on purpose; use virt:N",
                              devices);
    options->gpus = (info.flags & DP_KIND_GPU) != 0;
    options->simulated = provenance_simulated(group);
    snprintf(options->backend, sizeof options->backend, "%s", dp_group_backend(group));
    return EXIT_PASSED;
}

/* Fills in options that were not given. */
static void complete(struct bench_options *options)
{
    static const size_t rounds[BENCH_NAMES] = {40, 20, 11};
    static const char *const workloads[] = {"mlp:1024,1024,1024,1024", "cnn", "lstm"};

    if (options->bytes == 0)
        options->bytes = (size_t)(options->name == BENCH_OVERLAP ? 1 : 12) << 20;
    if (options->rounds == 0)
        options->rounds = rounds[options->name];
    for (int i = 0; i < 3 && options->n_workloads == i && options->name == BENCH_LIMITS; ++i)
        options->workload[options->n_workloads++] = workloads[i];
    if (options->devices[0] == '\0' && options->name == BENCH_OVERLAP)
        snprintf(options->devices, sizeof options->devices,
                 options->processes.launcher[0] == '\0' ? "virt:2+500us" : "virt:2");
    else if (options->devices[0] == '\0')
        command_default_devices(options->devices, sizeof options->devices);
}

static int (*const run[BENCH_NAMES])(const char *command, struct dp_group *group,
                                     const struct bench_options *options) = {
    bench_copies, bench_overlap, bench_limits};

int bench_main(int argc, char **argv)
{
    const struct command_syntax syntax = {
        .options = option_table,
        .other = parse_other,
        .args_doc = "copies|overlap|limits",
        .doc =
            "Times a part of a step against a peer, in turns, and checks every result."
            "\vcopies: replicate and reduce of a model against memcpy by the same threads, or on "
            "GPUs against copies from device to device between the same slots.\n"
            "overlap: a step of DistributedDataParallel without its reduction, the reduction "
            "alone, and the whole step: how much communication backward hides.\n"
            "limits: what the cores can do at most, and how far each matrix product and each phase "
            "of a step is from it.\n\n"
            "Exit status: 0 all results right, 1 one was wrong, or a device or a process is "
            "missing, 2 misuse, 77 skipped: cuda:all where there are no GPUs, 130 --launcher was "
            "interrupted. Speed never changes it."};
    struct arguments arguments = {0};
    struct bench_options *options = &arguments.options;
    struct dp_group *group = NULL;
    int status;

    if ((status = command_read(&syntax, argc, argv, &arguments)))
        return status;
    complete(options);
    if ((status = bench_check_launched(argv[0], options, arguments.required)))
        return status;
    if (options->processes.launcher[0] != '\0')
        return bench_launched(argv[0], options);
    const struct dp_group_config config = {.devices = options->devices,
                                           .backend = command_given(options->backend),
                                           .communicator = command_given(options->communicator),
                                           .bind = true};

    if ((status = command_check_communicator(
             argv[0], options->communicator, options->backend, options->devices,
             DP_COMM_PARALLEL |
                 (options->name == BENCH_OVERLAP ? DP_COMM_RANKS | DP_COMM_OVERLAP : 0))))
        return status;
    if ((status = command_open_group(argv[0], &config, arguments.required, &group)))
        return status;
    if ((status = bench_check_devices(argv[0], group, options, dp_group_size(group))) == 0)
        status = run[options->name](argv[0], group, options);
    status = command_ended(argv[0], group, status);
    dp_group_close(group);
    return status;
}
