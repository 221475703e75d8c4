/* check/options.c: the command line of `lockstep check`. */
#define _GNU_SOURCE /* program_invocation_name */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "command/device_list.h"
#include "files/files.h"
#include "launch/launcher.h"
#include "words.h"

enum { MOST_BY_DEFAULT = 4, PROCESSES_BY_DEFAULT = 2, COMMAND_BYTES = 8 * RUNNER_TEXT };
#define ALL_PROFILES   (PROFILE_PRIMITIVES | PROFILE_DATAPARALLEL | PROFILE_DDP)
#define ONLY_REFERENCE "--launcher is for the reference: it does not go with "

enum { JOBS_MAX = 32, LIMIT_MAX = 3600 };

static const char *const formats[] = {"text", "json",        "junit",      "md",
                                      "csv",  "openmetrics", "annotations"};
/* The ends of the names of their files; "/": none. */
static const char *const endings[RUNNER_FORMATS] = {"", ".json", ".xml", ".md", ".csv", "/", "/"};

#define OPTION(member) COMMAND_FIELD(struct runner_options, member)
#define VALUE(member)  .offset = offsetof(struct runner_options, member)
static const struct command_option option_table[] = {
    {"impl", 'i', "SPEC",
     "reference (default), mutant:NAME, a path to a shared object (with a '/'), exec:COMMAND, "
     "torch (PyTorch's own layer), or torch:MODULE:NAME (yours)",
     COMMAND_TEXT, OPTION(impl), .group = COMMAND_WHAT},
    {"impl-options", 'O', "TEXT", "text for the implementation (default: none)", COMMAND_TEXT,
     OPTION(impl_options), .group = COMMAND_RARE},
    {"backend", 'b', "NAME", "of the reference: " COMMAND_BACKEND_DOC, COMMAND_BACKEND,
     OPTION(backend), .group = COMMAND_RARE},
    {"communicator", 'c', "NAME", "of the reference: " COMMAND_COMMUNICATOR_DOC,
     COMMAND_COMMUNICATOR, OPTION(communicator), .group = COMMAND_RARE},
    {"devices", 'd', "LIST",
     "a device list that the implementation understands (reference: virt:8)", COMMAND_TEXT,
     OPTION(devices), .group = COMMAND_WHAT},
    {"launcher", 0, "COMMAND",
     "of the reference, with --profile ddp (then the default): run the ranks in several processes, "
     "joined by MPI: " LAUNCHER_DOC,
     COMMAND_TEXT, OPTION(launcher), .group = COMMAND_RARE},
    {"processes", 0, "N",
     "with --launcher: number of processes (default 2; never more than a model has ranks)",
     COMMAND_SIZE, VALUE(world.processes), .least = 2, .most = MSG_PROCESSES,
     .group = COMMAND_RARE},
    {"per-process", 0, "N",
     "with --launcher: at most so many ranks in a process; not with --processes", COMMAND_SIZE,
     VALUE(world.per_process), .least = 1, .most = IMPL_MAX_DEVICES, .group = COMMAND_RARE},
    {"profile", 'p', "NAME,..",
     "primitives, dataparallel, ddp or all (default: ddp for torch:..; else the first two, and ddp "
     "if declared; with --only, --area or --mutants: all)",
     COMMAND_TEXT, OPTION(profile), .group = COMMAND_WHAT},
    {"area", 'a', "NAME,..", "only cases of these areas, like SPLIT or DDP", COMMAND_TEXT,
     OPTION(area), .group = COMMAND_WHAT},
    {"only", 'o', "GLOB,..", "cases like 'GRAD-*'; @a.json: those that failed there", COMMAND_TEXT,
     OPTION(only), .group = COMMAND_WHAT},
    {"known", 0, "FILE",
     "known failures, a line each: CASE, the failure as far as the wrong number and its bits, '#', "
     "why. They are skipped; another failure of the case fails, as does a pass",
     COMMAND_TEXT, OPTION(known), .group = COMMAND_RARE},
    {"copies", 0, "KIB",
     "instead: copy up to KIB KiB (like 32768) between all devices (default: cuda:all), and "
     "compare each byte",
     COMMAND_SIZE, VALUE(copies), .least = 1, .most = 1 << 20, .group = COMMAND_WHAT},
    {"list", 'l', NULL, "print the cases, run nothing; text or --format json", COMMAND_FLAG,
     VALUE(list), .group = COMMAND_WHAT},
    {"rules", 0, NULL, "print every rule and whether cases cover it", COMMAND_FLAG, VALUE(rules),
     .group = COMMAND_WHAT},
    {"exitfirst", 'x', NULL, "stop at the first case that fails or is broken", COMMAND_FLAG,
     VALUE(exitfirst), .group = COMMAND_RARE},
    {"seed", 's', "N",
     "seed of the cases' data and schedules (default 0). Every case has the schedule 0 first",
     COMMAND_SIZE, VALUE(seed), .most = INT64_MAX, .group = COMMAND_RARE},
    {"jobs", 'j', "N",
     "run N cases at a time (default 1; mutants, and the reference on virtual devices: one for "
     "each core, at most 4)",
     COMMAND_SIZE, VALUE(jobs), .least = 1, .most = JOBS_MAX, .group = COMMAND_RARE},
    {"timeout", 'L', "SECONDS",
     "time limit of each case (default 10, or what the case asks for; for exec: six times "
     "that)",
     COMMAND_REAL, VALUE(limit_s), .from = 0.05, .to = LIMIT_MAX, .was = "limit",
     .group = COMMAND_RARE},
    {"isolate", 0, NULL, "with exec: start the process again for each case", COMMAND_FLAG,
     VALUE(isolate), .group = COMMAND_RARE},
    {"same-process", 0, NULL,
     "with a shared object: run it in the process of the cases, for a debugger; it could "
     "then forge a result",
     COMMAND_FLAG, VALUE(same_process), .group = COMMAND_RARE},
    {"require-devices", 0, "N", "exit with 1 if there are fewer than N devices (default 0)",
     COMMAND_SIZE, VALUE(require_devices), .most = IMPL_MAX_DEVICES, .group = COMMAND_RARE},
    {"require-capabilities", 0, "NAME,..",
     "exit with 1 if the implementation does not have all of these, like join,find_unused",
     COMMAND_TEXT, OPTION(required), .group = COMMAND_RARE},
    {"format", 'f', "text|json|junit|md|csv|openmetrics|annotations",
     "default text. Several, to files: --format junit:a.xml --format md:a.md (a job's summary)",
     COMMAND_OWN, .repeated = true, .group = COMMAND_WHERE_TO},
    {"out", 'w', "FILE", "write the results to FILE.json, .xml, .md or .csv", COMMAND_TEXT,
     OPTION(to), .group = COMMAND_WHERE_TO},
    {"mutants", 0, NULL, "mutation-test the suite: print which cases catch which planted bug",
     COMMAND_FLAG, VALUE(mutants), .group = COMMAND_RARE},
    {"until-caught", 0, NULL, "with --mutants: stop each mutant at its first catch", COMMAND_FLAG,
     VALUE(until_caught), .group = COMMAND_RARE},
    {"every-run", 0, NULL,
     "with --mutants: run each case on each mutant, also where it never reaches the planted bug",
     COMMAND_FLAG, VALUE(every_run), .group = COMMAND_RARE},
    {0}};

/* Reads "FORMAT" or "FORMAT:FILE". */
static error_t parse_format(const char *arg, struct argp_state *state)
{
    struct runner_options *options = command_input(state);
    const char *file = strchr(arg, ':');
    char name[64];
    size_t format;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, ":"), arg);

    const error_t status =
        command_choice(state, "format", "format", name, formats, RUNNER_FORMATS, &format);

    if (status)
        return status;
    if (file && (file[1] == '\0' || options->out[format][0] != '\0'))
        return command_bad_option(state, "--format: '%s' %s", name,
                                  file[1] == '\0' ? "has no file after ':'" : "has two files");
    if (file)
        return command_field(state, "format", file + 1, options->out[format], RUNNER_TEXT);
    if (options->format < RUNNER_FORMATS)
        return command_bad_option(state,
                                  "--format: '%s' and '%s' would both go to standard output; "
                                  "name a file, like %s:FILE",
                                  formats[options->format], name, name);
    options->format = format;
    return 0;
}

static error_t parse_check_option(int key, char *arg, struct argp_state *state)
{
    struct runner_options *options = command_input(state);

    if (key == 'f')
        return parse_format(arg, state);
    if (key != ARGP_KEY_END)
        return command_key(key, arg, state);
    for (const struct command_option *o = option_table; options->copies > 0 && o->name; ++o)
        if (command_seen(state, o->name) &&
            !text_has_word("copies,devices,backend,communicator,require-devices,seed,format,out",
                           o->name))
            return command_bad_option(state, "--copies and --%s exclude each other", o->name);
    if (options->known[0] != '\0' &&
        (options->list || options->rules || options->mutants || options->exitfirst))
        return command_bad_option(state,
                                  "--known: not with --list, --rules, --mutants or --exitfirst");
    options->has_seed = command_seen(state, "seed");
    options->has_devices = command_seen(state, "devices") || options->copies > 0;
    if (!command_seen(state, "devices") && options->copies > 0)
        snprintf(options->devices, sizeof options->devices, "cuda:all");
    options->has_backend = options->backend[0] != '\0' || options->communicator[0] != '\0';
    /* --out is for the format without a file. With files alone, the text is shown. */
    const char *const dot = strrchr(options->to, '.'), *const ending = dot ? dot : "";
    size_t shown = RUNNER_FORMATS - 1;

    while (shown > RUNNER_FORMAT_TEXT && strcmp(ending, endings[shown]) != 0)
        --shown;
    if (options->format < RUNNER_FORMATS)
        shown = options->format;
    options->format = options->to[0] != '\0' ? (size_t)RUNNER_FORMAT_TEXT : shown;
    if (options->to[0] != '\0' && options->out[shown][0] != '\0')
        return command_bad_option(state, "--out: '%s' has two files", formats[shown]);
    if (options->to[0] != '\0')
        memcpy(options->out[shown], options->to, sizeof options->to);
    options->formats = 1u << options->format;
    for (size_t f = 0; f < RUNNER_FORMATS; ++f) {
        if (options->out[f][0] == '\0')
            continue;
        options->files = true;
        options->formats |= 1u << f;
        for (size_t before = 0; before < f; ++before)
            if (strcmp(options->out[f], options->out[before]) == 0)
                return command_bad_option(state, "--format: '%s' and '%s' have one file, '%.200s'",
                                          formats[before], formats[f], options->out[f]);
    }
    return 0;
}

/* Checks that the options fit together. Returns 0, or the exit status after a complaint. */
static int check_runner_options(const char *command, const struct runner_options *o)
{
    const char *chooser = o->backend[0] != '\0' ? "--backend" : "--communicator";
    const unsigned text = 1u << RUNNER_FORMAT_TEXT, json = 1u << RUNNER_FORMAT_JSON;
    const unsigned printed = text | (unsigned)o->list << RUNNER_FORMAT_JSON;
    const bool writes = o->files || (o->formats & ~printed) != 0;
    const bool launched = o->launcher[0] != '\0';
    const bool divided = o->world.processes > 0 || o->world.per_process > 0;
    const struct {
        bool wrong;
        const char *begin, *text; /* the first may be "" */
    } rules[] = {
        {o->has_backend && o->impl_options[0] != '\0', chooser,
         " and --impl-options are the same thing here"},
        {o->copies > 0 && (o->formats & (json | 1u << RUNNER_FORMAT_MD)) != 0, "",
         "--copies: the format is text, junit, csv, openmetrics or annotations"},
        {o->list && o->rules, "", "--list and --rules: one at a time"},
        {(o->list || o->rules) && (writes || o->mutants), "",
         "--list and --rules print and run nothing: not with a file or --mutants, and of the "
         "formats only --list with json"},
        {o->rules && (o->only[0] != '\0' || o->profile[0] != '\0'), "",
         "--rules can be narrowed with --area only"},
        {o->has_backend && o->impl[0] != '\0' && o->spec.kind != IMPL_SPEC_REFERENCE, chooser,
         " is the reference's: use --impl-options with --impl"},
        {o->same_process && o->spec.kind != IMPL_SPEC_LIBRARY, "",
         "--same-process is for a shared object: --impl ./it.so"},
        {o->mutants && (o->impl[0] != '\0' || o->has_backend), "",
         "--mutants tests the mutants: not with --impl, --backend or --communicator"},
        {o->mutants && (o->formats & ~(text | json)) != 0, "",
         "--mutants: the format is text or json"},
        {o->until_caught && !o->mutants, "", "--until-caught goes with --mutants"},
        {o->every_run && !o->mutants, "", "--every-run goes with --mutants"},
        {o->exitfirst && o->mutants, "",
         "--exitfirst stops one implementation: with --mutants it is --until-caught"},
        {o->until_caught && o->isolate, "", "--until-caught and --isolate: one at a time"},
        {divided && !launched, "", "--processes and --per-process need --launcher"},
        {o->world.processes > 0 && o->world.per_process > 0, "",
         "--processes and --per-process: one at a time"},
        /* These choose another implementation, or another way to test, than the reference in
         * processes. */
        {launched && o->impl[0] != '\0', ONLY_REFERENCE, "--impl"},
        {launched && o->impl_options[0] != '\0', ONLY_REFERENCE, "--impl-options"},
        {launched && o->communicator[0] != '\0', ONLY_REFERENCE, "--communicator"},
        {launched && o->mutants, ONLY_REFERENCE, "--mutants"},
        {launched && o->profile[0] != '\0' && o->profiles != PROFILE_DDP, "",
         "--launcher: the other profiles are of one process; allowed is --profile ddp"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i)
        if (rules[i].wrong)
            return command_refuse_call(command, "%s%s", rules[i].begin, rules[i].text);
    return 0;
}

/* Checks --launcher and the options for it, and completes them. Returns 0, or the exit status after
 * a complaint. */
static int check_launcher(const char *command, struct runner_options *options)
{
    const int devices = options->has_devices ? device_list_count(options->devices) : 8;
    const size_t processes = options->world.processes, each = options->world.per_process;
    struct dp_kind_row kind;
    struct text_error why;

    if (options->launcher[0] == '\0')
        return 0;
    options->world.launcher = options->launcher;
    options->profiles = PROFILE_DDP;
    if (processes == 0 && each == 0)
        options->world.processes = PROCESSES_BY_DEFAULT;
    if (launcher_check(options->launcher, &why))
        command_complain(command, "--launcher: %s", why.text);
    else if (options->has_devices && (!dp_kind_of(options->devices, &kind) ||
                                      (kind.flags & DP_KIND_CORES) == 0 || devices < 1))
        command_complain(command,
                         "--launcher: the devices are virtual ones, like --devices virt:8");
    else if (processes > (size_t)devices || each > (size_t)devices)
        command_complain(command, "--%s %zu: there are %d devices",
                         each > 0 ? "per-process" : "processes", each > 0 ? each : processes,
                         devices);
    else
        return 0;
    return command_misuse(command);
}

/* Several processes may run at the same time if the jobs need nothing but cores. Other devices of a
 * machine may be too few or too small for several processes; virtual devices are made of cores.
 * Mutants have only virtual devices. Ranks in processes already are several processes. */
static size_t default_jobs(const struct runner_options *options)
{
    const size_t cores = parallel_cores();
    struct dp_kind_row kind;

    if (!options->mutants &&
        (options->spec.kind != IMPL_SPEC_REFERENCE || options->launcher[0] != '\0' ||
         !dp_kind_of(options->devices, &kind) || (kind.flags & DP_KIND_CORES) == 0))
        return 1;
    return cores < MOST_BY_DEFAULT ? cores : MOST_BY_DEFAULT;
}

int runner_parse(int argc, char **argv, struct runner_options *options)
{
    const struct command_syntax syntax = {
        .options = option_table,
        .other = parse_check_option,
        .what = "What to test",
        .doc = "Tests an implementation of data parallelism, rule by rule, each case in a separate "
               "process."
               "\vIt is a failure if the implementation lacks a capability that a profile "
               "requires, or has fewer than the two devices (with ddp: ranks) that it needs. So "
               "exit status 0 means that all that the profile requires was tested, except cases "
               "that need more devices than there are (--require-devices). Optional capabilities "
               "that are not offered are not tested: the last sentence names them "
               "(--require-capabilities).\n\n"
               "Exit status: 0 PASS: all passed, but some may be skipped; 1 FAIL: a case failed, "
               "the implementation crashed or hung, there are fewer devices than required, or with "
               "--mutants a planted bug was not caught; 2 BROKEN: a case has no verdict, and the "
               "reason says why; or misuse, or nothing selected; 77 SKIP: everything was skipped, "
               "or --copies has fewer than two devices; 130 INTERRUPTED: the result has the "
               "verdicts so far, but with --mutants or --copies there is none.\n\nExamples:\n"
               "  lockstep check\n"
               "  lockstep check --impl ./my_layer.so --format junit:check.xml"};
    const char *names[RUNNER_PROFILES + 1] = {[RUNNER_PROFILES] = "all"};
    const char *capabilities[RUNNER_CAPABILITIES];
    uint64_t bits;

    *options = (struct runner_options){.format = RUNNER_FORMATS};
    /* main has replaced argv[0]. */
    snprintf(options->program, sizeof options->program, "%s",
             program_invocation_name[0] != '\0' ? program_invocation_name : "lockstep");
    text_clean(options->program, '?');
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        names[p] = runner_profiles[p].name;
    for (int i = 0; i < RUNNER_CAPABILITIES; ++i)
        capabilities[i] = impl_capability_word((uint64_t)1 << i);
    if (command_read(&syntax, argc, argv, options) ||
        runner_names(argv[0], "--require-capabilities", options->required, capabilities,
                     RUNNER_CAPABILITIES, &options->demanded) ||
        runner_names(argv[0], "--profile", options->profile, names, RUNNER_PROFILES + 1, &bits))
        return EXIT_MISUSE;
    /* Their bits are in the order of the names. */
    options->profiles = bits >> RUNNER_PROFILES ? ALL_PROFILES : (unsigned)bits;
    options->spec =
        impl_spec_read(options->impl[0] == '\0' && !options->mutants ? "reference" : options->impl);
    if (check_runner_options(argv[0], options) || check_launcher(argv[0], options))
        return EXIT_MISUSE;
    if (options->impl[0] == '\0' && !options->mutants)
        snprintf(options->impl, sizeof options->impl, "reference");
    options->part = options->only[0] != '\0' || options->area[0] != '\0';
    options->by_default = options->profiles == 0 && !options->mutants && !options->part;
    /* A layer for PyTorch has nothing but ranks. */
    if (options->profiles == 0)
        options->profiles = options->by_default && options->spec.torch && options->spec.name
                                ? PROFILE_DDP
                                : ALL_PROFILES;
    if (!options->has_devices && options->spec.kind == IMPL_SPEC_REFERENCE)
        snprintf(options->devices, sizeof options->devices, "virt:8");
    if (options->jobs == 0)
        options->jobs = default_jobs(options);
    /* The reference is checked once, before every case opens it. */
    if (!options->has_backend)
        return 0;
    const bool ranks = options->profile[0] != '\0' && options->profiles & PROFILE_DDP;

    snprintf(options->impl_options, sizeof options->impl_options, "%s%s%s", options->backend,
             options->communicator[0] != '\0' ? "/" : "", options->communicator);
    return options->communicator[0] != '\0'
               ? command_check_communicator(argv[0], options->communicator, options->backend,
                                            options->devices,
                                            DP_COMM_PARALLEL | (ranks ? DP_COMM_RANKS : 0))
               : 0;
}

/* ---- the command that repeats a case --------------------------------------------------------- */

void runner_command(const struct runner_options *options, const char *id, char text[COMMAND_BYTES])
{
    /* Options that a case depends on. */
    static const char *const names[] = {
        "impl",      "backend",     "communicator", "impl-options", "devices", "known", "launcher",
        "processes", "per-process", "seed",         "same-process", "timeout", "copies"};

    text[0] = '\0';
    text_add_shell(text, COMMAND_BYTES, options->program);
    text_add(text, COMMAND_BYTES, " check");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        const struct command_option *row = option_table;
        char number[32] = "";
        const char *word = number;

        while (strcmp(row->name, names[i]) != 0)
            ++row;
        const void *field = (const char *)options + row->offset;

        if (row->kind == COMMAND_SIZE && (*(const size_t *)field > 0 || row->key == 's'))
            snprintf(number, sizeof number, "%zu", *(const size_t *)field);
        else if (row->kind == COMMAND_REAL && *(const double *)field > 0)
            snprintf(number, sizeof number, "%g", *(const double *)field);
        else if (row->kind != COMMAND_SIZE && row->kind != COMMAND_REAL &&
                 row->kind != COMMAND_FLAG)
            word = field;
        /* Some are not given, but follow from others. */
        if ((row->key == 'i' && options->spec.kind == IMPL_SPEC_REFERENCE) ||
            (row->key == 'O' && options->has_backend) || (row->key == 's' && !options->has_seed) ||
            (row->kind == COMMAND_FLAG ? !*(const bool *)field : word[0] == '\0'))
            continue;
        text_add(text, COMMAND_BYTES, " --%s%s", row->name, row->arg ? " " : "");
        if (row->arg)
            text_add_shell(text, COMMAND_BYTES, word);
    }
    if (options->copies > 0)
        return; /* all pairs: any of them may disturb another one */
    text_add(text, COMMAND_BYTES, " --only ");
    text_add_shell(text, COMMAND_BYTES, id);
}
