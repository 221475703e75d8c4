/* sweep/options.c: the options of sweep: those of a plan (plan/plan.h), and those that only a sweep
 * has. */
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "command/command.h"
#include "launch/launcher.h"
#include "sweep/sweep.h"

enum { TIMEOUT_MAX = 86400, TABLE_MAX = 64 };

/* Options of a sweep that do not change what is measured. */
static const struct command_option own_options[] = {
    {"out", 'o', "FILE", "JSON Lines (default: results/local/sweep-UTC.jsonl)", COMMAND_TEXT,
     COMMAND_FIELD(struct sweep_options, out), .group = COMMAND_WHERE_TO},
    {"resume", 'r', NULL, "make only the launches not yet verified in --out FILE", COMMAND_FLAG,
     .offset = offsetof(struct sweep_options, resume), .group = COMMAND_WHERE_TO},
    COMMAND_REQUIRE_ROW(struct sweep_options),
    {"format", 'f', REPORT_FORMAT_NAMES,
     "at the end print the numbers as `lockstep report` does, and not the name of the file",
     .kind = COMMAND_OWN, .group = COMMAND_RARE},
    {"strict", 0, NULL, "exit with 1 if the answer is not certain", COMMAND_FLAG,
     .offset = offsetof(struct sweep_options, strict), .group = COMMAND_RARE},
    {"verbose", 'v', NULL, "at the end also say where the time went", COMMAND_FLAG,
     .offset = offsetof(struct sweep_options, verbose), .group = COMMAND_RARE},
    {"wait", 'W', NULL, "wait for cores that another sweep is bound to (default: refuse to start)",
     COMMAND_FLAG, .offset = offsetof(struct sweep_options, wait), .group = COMMAND_RARE},
    {"timeout", 'T', "SECONDS",
     "a launch that takes longer is killed (default: 120, or 60 and ten times --seconds)",
     COMMAND_REAL, .offset = offsetof(struct sweep_options, timeout), .from = 0.1,
     .to = TIMEOUT_MAX, .group = COMMAND_RARE},
    {"trace", 'F', "FILE",
     "more steps of the first launch of each cell as Chrome trace JSON, for Perfetto", COMMAND_TEXT,
     COMMAND_FIELD(struct sweep_options, trace), .group = COMMAND_RARE},
    {"launcher", 'L', "COMMAND",
     "start each launch as several processes, joined by MPI; with --mode ddp (then the default) or "
     "collective: " LAUNCHER_DOC,
     COMMAND_TEXT, COMMAND_FIELD(struct sweep_options, launcher), .group = COMMAND_RARE},
    {"nccl-tests", 'N', "COMMAND",
     "a command line of nccl-tests, like 'all_reduce_perf -b 8 -e 128M -f 2 -g 8', in place of "
     "the options that it stands for",
     .group = COMMAND_RARE},
};

static const struct plan_option *find_option(int key, const char *name)
{
    for (size_t i = 0; i < PLAN_OPTIONS; ++i)
        if (name ? strcmp(plan_option_table[i].name, name) == 0 : plan_option_table[i].key == key)
            return &plan_option_table[i];
    return NULL;
}

static error_t parse_planned(const struct plan_option *option, const char *arg,
                             const struct argp_state *state)
{
    struct sweep_options *options = command_input(state);
    struct text_error why = {""};

    if ((!option->ask || option->ask(arg, &why) == 0) &&
        option->read(option, arg, &options->plan, &why) == 0)
        return 0;
    return command_bad_option(state, "--%s: %s", option->name, why.text);
}

/* Parses the options that no kind of command_option is for. */
static error_t sweep_option(int key, char *arg, struct argp_state *state)
{
    struct sweep_options *options = command_input(state);
    const struct plan_option *planned = find_option(key, NULL);
    const char *names[REPORT_FORMATS];
    struct nccl_options stands_for;
    struct text_error why = {""};
    error_t status = 0;

    if (planned)
        return parse_planned(planned, arg, state);
    switch (key) {
    case 'f':
        for (size_t i = 0; i < REPORT_FORMATS; ++i)
            names[i] = report_format_name(i);
        return command_choice(state, "format", "format", arg, names, REPORT_FORMATS,
                              &options->format);
    case 'N':
        /* An option that is also given directly counts as given twice. */
        if (nccl_tests_options(arg, &stands_for, &why))
            return command_bad_option(state, "--nccl-tests: %s", why.text);
        for (size_t i = 0; i < stands_for.n && status == 0; ++i) {
            status = command_give(state, stands_for.row[i].name);
            if (status == 0)
                status = parse_planned(find_option(0, stands_for.row[i].name),
                                       stands_for.row[i].value, state);
        }
        return status;
    default:
        return command_key(key, arg, state);
    }
}

/* Checks that the options fit together, and completes those of processes. */
static int check_options(const char *command, struct sweep_options *options)
{
    const bool launched = options->launcher[0] != '\0', traced = options->trace[0] != '\0';
    struct plan_options *plan = &options->plan;
    const bool collectives = plan->mode[CELL_COLLECTIVE] || plan->n_collectives > 0;
    const struct {
        bool wrong;
        const char *what;
    } rows[] = {{launched && traced, "--launcher: --trace is of one process"},
                {traced && collectives, "--trace is of steps of models: a collective has none"},
                {options->resume && options->out[0] == '\0', "--resume needs --out FILE"}};
    struct text_error why = {""};
    struct dp_error err = {0};
    size_t i = 0;
    int status;

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; ++row)
        if (rows[row].wrong)
            return command_refuse_call(command, "%s", rows[row].what);
    for (; i < plan->n_per_process; ++i)
        if (!launched && plan->per_process[i] > 0)
            return command_refuse_call(command, "--per-process %zu needs --launcher",
                                       plan->per_process[i]);
    for (int mode = 0; launched && mode < CELL_MODES; ++mode)
        if (plan->mode[mode] && mode != CELL_DDP && mode != CELL_COLLECTIVE)
            return command_refuse_call(command,
                                       "--launcher: --mode %s is of one process; allowed with a "
                                       "launcher: ddp, collective",
                                       cell_mode_names[mode]);
    if (launched && launcher_check(options->launcher, &why))
        return command_refuse_call(command, "--launcher: %s", why.text);
    plan->mode[CELL_DDP] |= launched && !collectives;
    if (launched && plan->n_per_process == 0)
        plan->per_process[plan->n_per_process++] = 1;
    if (plan->mode[CELL_PLAIN_MT] && dp_wide_blas_check(plan->backend, plan->devices, &err))
        return command_refuse_call(command, "--mode plain-mt: %s", err.text);

    const unsigned can = (collectives ? 0 : DP_COMM_PARALLEL) |
                         (collectives || plan->mode[CELL_DDP] ? DP_COMM_RANKS : 0);

    /* Each communicator, or the default one of the backend, must support the devices and the
     * modes. */
    i = 0;
    do
        status = command_check_communicator(command,
                                            plan->n_communicators > 0 ? plan->communicator[i] : "",
                                            plan->backend, plan->devices, can);
    while (status == 0 && ++i < plan->n_communicators);
    return status;
}

int sweep_parse(int argc, char **argv, struct sweep_options *options)
{
    struct command_option table[TABLE_MAX] = {{0}};
    const struct command_syntax syntax = {
        .options = table,
        .other = sweep_option,
        .what = "What to measure",
        .doc = "Measures models or collectives on 1, 2, .. devices; every launch is verified.\v"
               "Modes: plain is the model alone on the first device; plain-mt the same on as "
               "many cores as the most devices, in one process; dp is DataParallel; ddp is "
               "DistributedDataParallel, a rank on every device. Devices can have suffixes, such "
               "as +lag, +500us and +fault:launch@3.\n\n"
               "Ends with what the records say, on standard error. Prints the name of the file on "
               "standard output, or with --format the numbers of its cells. `lockstep sweep "
               "limits` measures what the cores can do.\n\n"
               "Exit status: 0 all launches verified, 1 one failed or had too little memory, or "
               "with --strict the answer is not certain, 2 "
               "misuse, another sweep has the cores, or a launch could not be set up, 77 skipped: "
               "cuda:all where there are no GPUs, 130 interrupted (--resume goes on).\n\n"
               "Examples:\n"
               "  lockstep sweep --devices virt:2 --batch 256,4096 --launches 6 --out my.jsonl\n"
               "  lockstep sweep --collective allreduce --devices virt:4 --sizes 8:16Mi:x8"};
    size_t n = 0;

    *options = (struct sweep_options){
        .format = REPORT_FORMATS,
        .plan = {.bind = true, .limits = {.seconds = 1, .min_steps = 10, .max_steps = 2000}}};
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *row = &plan_option_table[i];

        table[n++] = (struct command_option){.name = row->name,
                                             .key = row->key,
                                             .arg = row->arg,
                                             .doc = row->doc,
                                             .repeated = row->repeats,
                                             .group = row->group};
    }
    memcpy(table + n, own_options, sizeof own_options);
    if (command_read(&syntax, argc, argv, options))
        return EXIT_MISUSE;
    struct plan_options *plan = &options->plan;
    struct cell_limits *limits = &plan->limits;
    struct dp_kind_row kind;

    /* With a launcher there are as many virtual devices as there are ranks at most, else one for
     * each core. */
    if (plan->devices[0] == '\0' && options->launcher[0] != '\0' && plan->n_counts > 0)
        snprintf(plan->devices, sizeof plan->devices, "virt:%zu", plan->count[plan->n_counts - 1]);
    else if (plan->devices[0] == '\0')
        command_default_devices(plan->devices, sizeof plan->devices);
    if (plan->backend[0] == '\0')
        snprintf(plan->backend, sizeof plan->backend, "%s", command_default_backend(plan->devices));
    /* The clocks of GPUs need a longer warm-up. A short measurement has a short one. */
    if (limits->warmup_steps == 0) {
        const bool gpu = dp_kind_of(plan->devices, &kind) && kind.flags & DP_KIND_GPU;
        const double seconds = gpu ? 2 : 0.05;

        limits->warmup_steps = gpu ? 20 : 5;
        limits->warmup_seconds = seconds < limits->seconds ? seconds : limits->seconds;
    }
    if (options->timeout <= 0)
        options->timeout = 10 * limits->seconds + 60 > 120 ? 10 * limits->seconds + 60 : 120;
    if (options->timeout <= limits->seconds)
        return command_refuse_call(argv[0], "--timeout %g must be more than --seconds %g",
                                   options->timeout, limits->seconds);
    return check_options(argv[0], options);
}
