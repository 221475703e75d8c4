/* check/options.c: the command line of `lockstep check`. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/runner.h"
#include "command/backend.h"
#include "command/command.h"
#include "files/launcher_messages.h"
#include "files/parallel.h"
#include "text/options.h"

enum { MOST_BY_DEFAULT = 4 };

enum {
    JOBS_MAX = 32,
    LIMIT_MAX = 3600,
    KEY_RULES = 256,
    KEY_REQUIRE,
    KEY_MUTANTS,
    KEY_CAUGHT,
    KEY_EVERY,
    KEY_ISOLATE,
    KEY_SAME,
    KEY_LAUNCHER,
    KEY_PROCESSES,
    KEY_EACH
};

static const struct argp_option option_table[] = {
    {.name = "impl",
     .key = 'i',
     .arg = "SPEC",
     .doc = "reference (default), mutant:NAME, a path to a shared object (with a '/'), or "
            "exec:COMMAND"},
    {.name = "impl-options",
     .key = 'O',
     .arg = "TEXT",
     .doc = "a text that the implementation reads"},
    {.name = "backend", .key = 'b', .arg = "NAME", .doc = "of the reference: " COMMAND_BACKEND_DOC},
    {.name = "communicator",
     .key = 'c',
     .arg = "NAME",
     .doc = "of the reference: " COMMAND_COMMUNICATOR_DOC},
    {.name = "devices",
     .key = 'd',
     .arg = "LIST",
     .doc = "a device list that the implementation understands (reference: virt:8)"},
    {.name = "launcher",
     .key = KEY_LAUNCHER,
     .arg = "COMMAND",
     .doc = "of the reference: ranks are in several processes, joined by MPI: mpirun, srun, or a "
            "command of words like 'mpiexec -n {n}'; {n} is their number. Only --profile ddp (then "
            "the default)"},
    {.name = "processes",
     .key = KEY_PROCESSES,
     .arg = "N",
     .doc = "with --launcher: processes of a model (default 2; of one with fewer ranks as many as "
            "ranks)"},
    {.name = "per-process",
     .key = KEY_EACH,
     .arg = "D",
     .doc = "with --launcher: ranks of each process at most, instead of a number of processes"},
    {.name = "profile",
     .key = 'p',
     .arg = "NAME,..",
     .doc =
         "primitives, dataparallel, ddp or all (default: primitives,dataparallel, and ddp if the "
         "implementation declares it; with --only, --area or --mutants: all)"},
    {.name = "area", .key = 'a', .arg = "NAME,..", .doc = "only cases of these areas"},
    {.name = "only",
     .key = 'o',
     .arg = "GLOB,..",
     .doc = "only cases whose id or rule matches: SPLIT-01, 'GRAD-*', SPLIT-01.sizes"},
    {.name = "list", .key = 'l', .doc = "print the cases, run nothing"},
    {.name = "rules", .key = KEY_RULES, .doc = "print every rule and whether cases cover it"},
    {.name = "seed",
     .key = 's',
     .arg = "S",
     .doc =
         "seed of the cases' data and schedules (default 0). Every case has the schedule 0 first"},
    {.name = "jobs",
     .key = 'j',
     .arg = "J",
     .doc = "run J cases at a time (default 1; mutants, and the reference on virtual devices: one "
            "for each core, at most 4)"},
    {.name = "limit",
     .key = 'L',
     .arg = "SECONDS",
     .doc = "time limit of each case (default 10, or what the case asks for; for exec: six times "
            "that)"},
    {.name = "isolate",
     .key = KEY_ISOLATE,
     .doc = "with exec: start the process again for each case, not for each area"},
    {.name = "same-process",
     .key = KEY_SAME,
     .doc = "with a shared object: run it in the process of the cases, for a debugger; it could "
            "then forge a result"},
    {.name = "require-devices",
     .key = KEY_REQUIRE,
     .arg = "N",
     .doc = "fewer than N devices is a failure"},
    {.name = "format",
     .key = 'f',
     .arg = "text|json|junit|md|csv|openmetrics|annotations",
     .doc = "format of the results (default text): md for a job's summary, annotations for GitHub "
            "Actions"},
    {.name = "out",
     .key = 'w',
     .arg = "FILE",
     .doc = "write the results to FILE; the text still goes to standard output"},
    {.name = "mutants",
     .key = KEY_MUTANTS,
     .doc = "mutation-test the suite: print which cases catch which planted bug"},
    {.name = "until-caught",
     .key = KEY_CAUGHT,
     .doc = "with --mutants: stop each mutant at its first catch"},
    {.name = "every-run",
     .key = KEY_EVERY,
     .doc = "with --mutants: run each case on each mutant, also where the case never asks for the "
            "bug and so cannot see it"},
    {0}};

static error_t copy_text(const struct argp_state *state, const char *name, char *field,
                         size_t bytes, const char *arg)
{
    if (arg[0] == '\0')
        return command_bad_option(state, "--%s is empty", name);
    return command_field(state, name, arg, field, bytes);
}

static error_t parse_profiles(const struct argp_state *state, const char *arg,
                              struct runner_options *options)
{
    const char *names[RUNNER_PROFILES + 1];
    char list[sizeof options->profile], *rest = NULL;
    size_t index = 0;
    error_t status = copy_text(state, "profile", options->profile, sizeof options->profile, arg);

    for (int i = 0; i < RUNNER_PROFILES; ++i)
        names[i] = runner_profiles[i].name;
    names[RUNNER_PROFILES] = "all";
    memcpy(list, options->profile, sizeof list);
    for (char *name = strtok_r(list, ",", &rest); name && status == 0;
         name = strtok_r(NULL, ",", &rest)) {
        status =
            command_choice(state, "profile", "profile", name, names, RUNNER_PROFILES + 1, &index);
        if (status == 0 && index == RUNNER_PROFILES)
            options->profiles = PROFILE_PRIMITIVES | PROFILE_DATAPARALLEL | PROFILE_DDP;
        else if (status == 0)
            options->profiles |= runner_profiles[index].bit;
    }
    if (status == 0 && options->profiles == 0)
        return command_bad_option(state, "--profile: '%.40s' names no profile", arg);
    return status;
}

static const char *reference_option(const struct runner_options *options)
{
    return options->backend[0] != '\0' ? "--backend" : "--communicator";
}

/* These options choose the backend and the communicator of the reference. */
static error_t parse_reference(int key, const char *arg, const struct argp_state *state,
                               struct runner_options *options)
{
    const error_t status =
        key == 'b'
            ? command_backend(state, "backend", arg, options->backend, sizeof options->backend)
            : command_communicator(state, "communicator", arg, options->communicator,
                                   sizeof options->communicator);

    options->has_backend = true;
    if (status == 0 && options->impl_options[0] != '\0')
        return command_bad_option(state, "%s and --impl-options are the same thing here",
                                  reference_option(options));
    return status;
}

/* Options whose text is kept as it is. */
static const struct {
    int key;
    const char *name;
    size_t offset, bytes;
} texts[] = {
#define TEXT(key, name, member)                                                                    \
    {                                                                                              \
        key, name, offsetof(struct runner_options, member),                                        \
            sizeof((struct runner_options){.jobs = 0}.member)                                      \
    }
    TEXT('i', "impl", impl),       TEXT('O', "impl-options", impl_options),
    TEXT('d', "devices", devices), TEXT('a', "area", area),
    TEXT('o', "only", only),       TEXT('w', "out", out),
};

/* Options without a value. */
static const struct {
    int key;
    size_t offset;
} flags[] = {
    {'l', offsetof(struct runner_options, list)},
    {KEY_RULES, offsetof(struct runner_options, rules)},
    {KEY_ISOLATE, offsetof(struct runner_options, isolate)},
    {KEY_MUTANTS, offsetof(struct runner_options, mutants)},
    {KEY_CAUGHT, offsetof(struct runner_options, until_caught)},
    {KEY_EVERY, offsetof(struct runner_options, every_run)},
    {KEY_SAME, offsetof(struct runner_options, same_process)},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    static const char *const formats[] = {"text", "json",        "junit",      "md",
                                          "csv",  "openmetrics", "annotations"};
    struct runner_options *options = state->input;
    error_t status = command_once(state, option_table, key, &options->seen);
    struct text_error why;
    size_t number = 0;

    if (status)
        return status;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; ++i)
        if (key == flags[i].key) {
            *((bool *)((char *)options + flags[i].offset)) = true;
            return 0;
        }
    if (key == 'O' && options->has_backend)
        return command_bad_option(state, "%s and --impl-options are the same thing here",
                                  reference_option(options));
    options->has_devices = options->has_devices || key == 'd';
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        if (key == texts[i].key)
            return copy_text(state, texts[i].name, (char *)options + texts[i].offset,
                             texts[i].bytes, arg);
    switch (key) {
    case KEY_LAUNCHER:
        launcher_text(arg, options->launcher);
        return strlen(arg) < sizeof options->launcher && arg[0] != '\0'
                   ? 0
                   : command_bad_option(state, "--launcher: empty, or longer than %zu characters",
                                        sizeof options->launcher - 1);
    case 'b':
    case 'c':
        return parse_reference(key, arg, state, options);
    case 'p':
        return parse_profiles(state, arg, options);
    case 'f':
        status = command_choice(state, "format", "format", arg, formats, RUNNER_FORMATS, &number);
        options->format = (enum runner_format)number;
        return status;
    case 's':
        status = command_size(state, "seed", arg, 0, INT64_MAX, &number);
        options->seed = number;
        options->has_seed = true;
        return status;
    case 'j':
        return command_size(state, "jobs", arg, 1, JOBS_MAX, &options->jobs);
    case KEY_PROCESSES:
        return command_size(state, "processes", arg, 2, MSG_PROCESSES, &options->processes);
    case KEY_EACH:
        return command_size(state, "per-process", arg, 1, IMPL_MAX_DEVICES, &options->per_process);
    case KEY_REQUIRE:
        return command_size(state, "require-devices", arg, 0, IMPL_MAX_DEVICES,
                            &options->require_devices);
    case 'L':
        return option_real(arg, 0.05, LIMIT_MAX, &options->limit_s, &why) == 0
                   ? 0
                   : command_bad_option(state, "--limit: %s seconds", why.text);
    default:
        return command_key(key, arg, state);
    }
}

/* Checks the reference once, before every case opens it. */
static int check_reference(const char *command, struct runner_options *options)
{
    const bool ranks = options->profile[0] != '\0' && options->profiles & PROFILE_DDP;
    const unsigned can = DP_COMM_PARALLEL | (ranks ? DP_COMM_RANKS : 0);

    if (!options->has_backend)
        return 0;
    snprintf(options->impl_options, sizeof options->impl_options, "%s%s%s", options->backend,
             options->communicator[0] != '\0' ? "/" : "", options->communicator);
    return options->communicator[0] != '\0'
               ? command_check_communicator(command, options->communicator, options->backend,
                                            options->devices, can)
               : 0;
}

static int refuse(const char *command, const char *text)
{
    command_complain(command, "%s", text);
    return command_misuse(command);
}

static int check_mutant_options(const char *command, const struct runner_options *options)
{
    if (options->mutants && (options->impl[0] != '\0' || options->has_backend))
        return refuse(command, "--mutants tests the mutants: not with --impl, --backend or "
                               "--communicator");
    if (options->mutants && options->format != RUNNER_FORMAT_TEXT &&
        options->format != RUNNER_FORMAT_JSON)
        return refuse(command, "--mutants: the format is text or json");
    if (options->until_caught && !options->mutants)
        return refuse(command, "--until-caught goes with --mutants");
    if (options->every_run && !options->mutants)
        return refuse(command, "--every-run goes with --mutants");
    if (options->until_caught && options->isolate)
        return refuse(command, "--until-caught and --isolate: one at a time");
    return 0;
}

/* Checks that the options fit together. */
static int check_options(const char *command, const struct runner_options *options)
{
    const bool writes = options->format != RUNNER_FORMAT_TEXT || options->out[0] != '\0';

    if (options->list && options->rules)
        return refuse(command, "--list and --rules: one at a time");
    if ((options->list || options->rules) && (writes || options->mutants))
        return refuse(command, "--list and --rules print text and run nothing: not with --format, "
                               "--out or --mutants");
    if (options->rules && (options->only[0] != '\0' || options->profile[0] != '\0'))
        return refuse(command, "--rules can be narrowed with --area only");
    if (options->has_backend && options->impl[0] != '\0' &&
        options->spec.kind != IMPL_SPEC_REFERENCE)
        return refuse(command, options->backend[0] != '\0'
                                   ? "--backend is the reference's: use --impl-options with --impl"
                                   : "--communicator is the reference's: use --impl-options with "
                                     "--impl");
    if (options->same_process && options->spec.kind != IMPL_SPEC_LIBRARY)
        return refuse(command, "--same-process is for a shared object: --impl ./it.so");
    return options->mutants || options->until_caught || options->every_run
               ? check_mutant_options(command, options)
               : 0;
}

/* Reads argv[0] of the program as it was called, because main has replaced it here. */
static void read_program(char *text, size_t bytes)
{
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, bytes - 1);

    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = '\0';
    text_clean(text, '?');
    if (text[0] == '\0')
        snprintf(text, bytes, "lockstep");
}

/* Whether the jobs need nothing but cores, so that several processes may run at the same time.
 * Other devices of a machine may be too few or too small for several processes; virtual devices are
 * made of cores. Mutants have only virtual devices. Ranks in processes already are several
 * processes. */
static bool needs_cores_alone(const struct runner_options *options)
{
    struct dp_kind_row kind;

    if (options->mutants)
        return true;
    return options->spec.kind == IMPL_SPEC_REFERENCE && options->launcher[0] == '\0' &&
           dp_kind_of(options->devices, &kind) && (kind.flags & DP_KIND_CORES) != 0;
}

int runner_parse(int argc, char **argv, struct runner_options *options)
{
    const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .doc =
            "Tests an implementation of data parallelism, rule by rule, each case in a process "
            "of its own.\vA missing capability that a profile requires is a failure, and so are "
            "fewer devices, or ranks, than the two that it needs. So exit "
            "status 0 means that the whole profile was tested, except cases that need more devices "
            "(--require-devices). Exit status: 0 all passed (some may be "
            "skipped), 1 a case failed, the implementation crashed or hung, or there are fewer "
            "devices than required, 2 misuse, nothing "
            "selected, or a case is broken: no "
            "verdict, the reason says why; 77 everything was skipped, 130 interrupted."};

    *options = (struct runner_options){.jobs = 0};
    read_program(options->program, sizeof options->program);
    if (command_parse(&argp, argc, argv, options))
        return EXIT_MISUSE;
    options->spec =
        impl_spec_read(options->impl[0] == '\0' && !options->mutants ? "reference" : options->impl);
    if (check_options(argv[0], options) || runner_launched(argv[0], options))
        return EXIT_MISUSE;
    if (options->impl[0] == '\0' && !options->mutants)
        snprintf(options->impl, sizeof options->impl, "reference");
    if (options->profiles == 0 &&
        (options->mutants || options->only[0] != '\0' || options->area[0] != '\0'))
        options->profiles = PROFILE_PRIMITIVES | PROFILE_DATAPARALLEL | PROFILE_DDP;
    options->by_default = options->profiles == 0;
    if (options->by_default)
        options->profiles = PROFILE_PRIMITIVES | PROFILE_DATAPARALLEL | PROFILE_DDP;
    if (!options->has_devices && options->spec.kind == IMPL_SPEC_REFERENCE)
        snprintf(options->devices, sizeof options->devices, "virt:8");
    if (options->jobs == 0) {
        const size_t cores = parallel_cores();

        options->jobs = !needs_cores_alone(options) ? 1
                        : cores < MOST_BY_DEFAULT   ? cores
                                                    : MOST_BY_DEFAULT;
    }
    return check_reference(argv[0], options);
}
