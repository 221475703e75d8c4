/* sweep/options.c: the option table of sweep. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "sweep/sweep.h"
#include "text/options.h"
#include "workload_list.h"

enum { STEPS_MAX = 100000, SECONDS_MAX = 3600, TIMEOUT_MAX = 86400 };

static error_t copy_text(const struct argp_state *state, const char *name, char *field,
                         size_t bytes, const char *arg)
{
    if (command_copy(field, bytes, arg) == 0)
        return 0;
    return command_bad_option(state, "%s: longer than %zu characters", name, bytes - 1);
}

static error_t parse_list(const struct argp_state *state, const char *name, const char *arg,
                          size_t max, size_t list[], size_t capacity, size_t *n)
{
    struct text_error why;

    if (option_sizes(arg, 1, max, list, capacity, n, &why) == 0)
        return 0;
    return command_bad_option(state, "%s: %s", name, why.text);
}

static error_t parse_buckets(const struct argp_state *state, const char *arg,
                             struct plan_options *plan)
{
    struct text_error why;

    if (option_sizes(arg, 0, PLAN_MAX_BUCKET, plan->bucket, PLAN_MAX_BUCKETS, &plan->n_buckets,
                     &why) == 0)
        return 0;
    return command_bad_option(state, "--bucket: %s", why.text);
}

static error_t parse_seconds(const struct argp_state *state, const char *name, const char *arg,
                             double min, double max, double *seconds)
{
    struct text_error why;

    if (option_real(arg, min, max, seconds, &why) == 0)
        return 0;
    return command_bad_option(state, "%s: %s seconds", name, why.text);
}

static error_t parse_steps(const struct argp_state *state, const char *arg,
                           struct cell_limits *limits)
{
    const char *colon = strchr(arg, ':');
    struct text_error why = {""};
    char min[80];

    if (!colon || (size_t)(colon - arg) >= sizeof min)
        return command_bad_option(state, "--steps: '%.40s' is not MIN:MAX", arg);
    memcpy(min, arg, (size_t)(colon - arg));
    min[colon - arg] = '\0';
    if (option_size(min, 1, STEPS_MAX, &limits->min_steps, &why) ||
        option_size(colon + 1, 1, STEPS_MAX, &limits->max_steps, &why))
        return command_bad_option(state, "--steps: %s", why.text);
    if (limits->min_steps > limits->max_steps)
        return command_bad_option(state, "--steps: %zu is more than %zu", limits->min_steps,
                                  limits->max_steps);
    return 0;
}

static error_t add_workload(const struct argp_state *state, const char *arg,
                            struct plan_options *plan)
{
    char why[200];
    struct workload *workload = &plan->workload[plan->n_workloads];

    if (plan->n_workloads == PLAN_MAX_WORKLOADS)
        return command_bad_option(state, "--workload: at most %d are allowed", PLAN_MAX_WORKLOADS);
    if (workload_parse(arg, workload, why, sizeof why))
        return command_bad_option(state, "--workload: %s", why);
    for (size_t i = 0; i < plan->n_workloads; ++i)
        if (strcmp(plan->workload[i].name, workload->name) == 0)
            return command_bad_option(state, "--workload: %s is there twice", workload->name);
    ++plan->n_workloads;
    return 0;
}

/* "plain", "dp", "ddp" or several of them, in any order. */
static error_t parse_modes(const struct argp_state *state, const char *arg,
                           struct plan_options *plan)
{
    const char *p = arg;

    for (;;) {
        const size_t length = strcspn(p, ",");
        char name[64];
        size_t index = 0;
        error_t status;

        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name,
                 p);
        if ((status =
                 command_choice(state, "mode", "mode", name, cell_mode_names, CELL_MODES, &index)))
            return status;
        plan->mode[index] = true;
        p += length;
        if (*p++ == '\0')
            return 0;
    }
}

static error_t parse_launches(const struct argp_state *state, const char *arg, size_t *launches)
{
    struct text_error why;

    if (option_size(arg, 1, PLAN_MAX_LAUNCHES, launches, &why) == 0)
        return 0;
    return command_bad_option(state, "--launches: %s", why.text);
}

static error_t parse_seed(const struct argp_state *state, const char *arg,
                          struct plan_options *plan)
{
    struct text_error why;
    size_t seed;

    if (option_size(arg, 0, SIZE_MAX - 1, &seed, &why))
        return command_bad_option(state, "--seed: %s", why.text);
    plan->seed = seed;
    plan->has_seed = true;
    return 0;
}

static error_t parse_out(const struct argp_state *state, const char *arg,
                         struct sweep_options *options)
{
    if (arg[0] == '\0')
        return command_bad_option(state, "--out is empty: name a file");
    return copy_text(state, "--out", options->out, sizeof options->out, arg);
}

/* The options that are one of two names. */
static error_t parse_names(int key, const char *arg, const struct argp_state *state,
                           struct plan_options *plan)
{
    static const char *const binds[] = {"none", "cores"};
    static const char *const graphs[] = {"on", "off"};
    static const char *const scalings[] = {"strong", "weak"};
    const char *maths[DP_MATHS];
    size_t index = 0;
    error_t status;

    switch (key) {
    case 'b':
        status = command_choice(state, "backend", "backend", arg, command_backends,
                                COMMAND_BACKENDS, &index);
        return status ? status
                      : copy_text(state, "--backend", plan->backend, sizeof plan->backend,
                                  command_backends[index]);
    case 'G':
        status = command_choice(state, "graphs", "choice", arg, graphs, 2, &index);
        plan->no_graphs = index == 1;
        return status;
    case 'x':
        for (index = 0; index < DP_MATHS; ++index)
            maths[index] = dp_math_name((enum dp_math)index);
        status = command_choice(state, "math", "math", arg, maths, DP_MATHS, &index);
        plan->math = (enum dp_math)index;
        return status;
    case 'S':
        status = command_choice(state, "scaling", "scaling", arg, scalings, 2, &index);
        plan->weak = index == 1;
        return status;
    default:
        status = command_choice(state, "bind", "binding", arg, binds, 2, &index);
        plan->bind = index == 1;
        return status;
    }
}

static error_t parse_value(int key, char *arg, struct argp_state *state)
{
    struct sweep_options *options = state->input;
    struct plan_options *plan = &options->plan;

    switch (key) {
    case 'd':
        return copy_text(state, "--devices", plan->devices, sizeof plan->devices, arg);
    case 'b':
    case 'G':
    case 'S':
    case 'x':
    case 'B':
        return parse_names(key, arg, state, plan);
    case 'M':
        return parse_modes(state, arg, plan);
    case 'l':
        return parse_launches(state, arg, &plan->launches);
    case 'c':
        return parse_list(state, "--counts", arg, PLAN_MAX_COUNTS, plan->count, PLAN_MAX_COUNTS,
                          &plan->n_counts);
    case 'k':
        return parse_buckets(state, arg, plan);
    case 'n':
        return parse_list(state, "--batch", arg, PLAN_MAX_ROWS, plan->batch, PLAN_MAX_BATCHES,
                          &plan->n_batches);
    case 'w':
        return add_workload(state, arg, plan);
    case 'o':
        return parse_out(state, arg, options);
    case 'r':
        options->resume = true;
        return 0;
    case 's':
        return parse_seed(state, arg, plan);
    case 't':
        return parse_seconds(state, "--seconds", arg, 0.001, SECONDS_MAX, &plan->limits.seconds);
    case 'm':
        return parse_steps(state, arg, &plan->limits);
    case COMMAND_REQUIRE:
        return command_require(state, arg, &options->required);
    case 'T':
        return parse_seconds(state, "--timeout", arg, 0.1, TIMEOUT_MAX, &options->timeout);
    default:
        return command_key(key, arg, state);
    }
}

static const struct argp_option option_table[] = {
    {.name = "devices",
     .key = 'd',
     .arg = "LIST",
     .doc = "virt:N, virt:N+lag, virt:N+500us, cuda:0-3,5 or cuda:all (default: one virtual device "
            "per core)"},
    COMMAND_REQUIRE_OPTION,
    {.name = "backend",
     .key = 'b',
     .arg = "NAME",
     .doc = "cpu (default) or cpu-ref; on GPUs cuda (default) or cuda-staged"},
    {.name = "math",
     .key = 'x',
     .arg = "NAME",
     .doc = "what operands of matrix products are rounded to: f32 (default, not at all), bf16, or "
            "on GPUs tf32"},
    {.name = "mode",
     .key = 'M',
     .arg = "LIST",
     .doc = "dp: the data-parallel wrapper; ddp: a rank on every device, DistributedDataParallel; "
            "plain: the model alone on the first device, the base case (default: plain,dp)"},
    {.name = "counts",
     .key = 'c',
     .arg = "LIST",
     .doc = "numbers of devices (default: powers of two up to all, and all)"},
    {.name = "bucket",
     .key = 'k',
     .arg = "LIST",
     .doc = "of --mode ddp: bytes at which a bucket of gradients is full, like 256Ki,1Mi,25Mi; 0 "
            "(default): PyTorch's, 1Mi for the first and 25Mi for the others"},
    {.name = "scaling",
     .key = 'S',
     .arg = "KIND",
     .doc = "strong (default): --batch is the global batch; weak: rows per device"},
    {.name = "batch",
     .key = 'n',
     .arg = "LIST",
     .doc = "batches in rows, like 10,30,32:4096:x2 (the default)"},
    {.name = "workload",
     .key = 'w',
     .arg = "NAME",
     .doc = WORKLOADS_OR ", can be repeated (default: "
                         "tutorial and mlp:1024,1024,1024,1024)"},
    {.name = "out",
     .key = 'o',
     .arg = "FILE",
     .doc = "JSON Lines (default: results/local/sweep-UTC.jsonl)"},
    {.name = "launches",
     .key = 'l',
     .arg = "L",
     .doc = "runs every cell L times, each time in a new process: L rounds over all cells, each in "
            "an order of its own (default 1; intervals need 6)"},
    {.name = "resume", .key = 'r', .doc = "run what --out FILE does not have verified yet"},
    {.name = "seed", .key = 's', .arg = "S", .doc = "of the order of cells and of the data"},
    {.name = "seconds", .key = 't', .arg = "T", .doc = "measured seconds per cell (default 1)"},
    {.name = "steps",
     .key = 'm',
     .arg = "MIN:MAX",
     .doc = "measured steps per cell (default 10:2000)"},
    {.name = "bind", .key = 'B', .arg = "HOW", .doc = "cores (default) or none"},
    {.name = "graphs",
     .key = 'G',
     .arg = "HOW",
     .doc = "on (default) or off: steps that repeat are launched as CUDA graphs; for GPUs only"},
    {.name = "timeout",
     .key = 'T',
     .arg = "S",
     .doc = "a cell that takes longer is killed (default: 120, or 60 and ten times --seconds)"},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct sweep_options *options = state->input;
    const error_t status = key == 'w' ? 0 : command_once(state, option_table, key, &options->seen);

    return status ? status : parse_value(key, arg, state);
}

/* What no option says alone. */
static int check_options(const char *command, struct sweep_options *options)
{
    const double seconds = options->plan.limits.seconds;

    if (options->resume && options->out[0] == '\0') {
        command_complain(command, "--resume needs --out FILE");
        return command_misuse(command);
    }
    if (options->timeout <= 0)
        options->timeout = 10 * seconds + 60 > 120 ? 10 * seconds + 60 : 120;
    if (options->timeout <= seconds) {
        command_complain(command, "--timeout %g must be more than --seconds %g", options->timeout,
                         seconds);
        return command_misuse(command);
    }
    return 0;
}

int sweep_parse(int argc, char **argv, struct sweep_options *options)
{
    const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .doc = "Measures workloads x device counts x batches, each cell in a process of its own "
               "and verified.\vPrints the name of the file on standard output. Exit status: 0 all "
               "cells verified, 1 a cell failed or had too little memory, 2 misuse or a cell could "
               "not be set up, 77 skipped: cuda:all where there are no GPUs, 130 interrupted "
               "(--resume goes on)."};

    *options = (struct sweep_options){.plan = {.bind = true, .limits = {1, 10, 2000}}};
    command_default_devices(options->plan.devices, sizeof options->plan.devices);
    if (command_parse(&argp, argc, argv, options))
        return EXIT_MISUSE;
    if (options->plan.backend[0] == '\0')
        snprintf(options->plan.backend, sizeof options->plan.backend, "%s",
                 command_default_backend(options->plan.devices));
    return check_options(argv[0], options);
}
