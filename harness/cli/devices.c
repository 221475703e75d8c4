/* cli/devices.c: shows the slots of a device list and the machine they are on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_info.h"
#include "command/command.h"
#include "launch/launcher.h"
#include "machine/node.h"
#include "text/alloc.h"
#include "text/text.h"

enum { COLUMNS = 80, KEY_RESOURCES = 256, KEY_TREE, KEY_LAUNCHER, KEY_PROCESSES };

struct devices_options {
    char devices[64], backend[32], communicator[32], launcher[LAUNCHER_BYTES];
    bool resources, tree;
    size_t unbound, format, required, processes;
};
static const char *const formats[] = {"text", "json"}, *const binds[] = {"cores", "none"};

static const struct command_option option_table[] = {
    {"devices", 'd', "LIST", COMMAND_DEVICES_DOC ", or host (default: one virtual device per core)",
     COMMAND_TEXT, COMMAND_FIELD(struct devices_options, devices), .group = COMMAND_WHAT},
    COMMAND_BACKEND_ROW(struct devices_options, backend),
    COMMAND_COMMUNICATOR_ROW(struct devices_options, communicator),
    {"bind", 'n', "cores|none", "bind each worker to cores (default) or not", COMMAND_CHOICE,
     .offset = offsetof(struct devices_options, unbound), .most = 2, .names = binds,
     .group = COMMAND_RARE},
    COMMAND_REQUIRE_ROW(struct devices_options),
    {"ctest-resources", KEY_RESOURCES, NULL,
     "print the GPUs as a resource specification for ctest --resource-spec-file, one slot for "
     "each; goes with --require-devices only",
     COMMAND_FLAG, .offset = offsetof(struct devices_options, resources), .group = COMMAND_RARE},
    {"tree", KEY_TREE, NULL,
     "draw the node instead: packages, NUMA nodes, GPUs with their links, network ports",
     COMMAND_FLAG, .offset = offsetof(struct devices_options, tree), .group = COMMAND_WHAT},
    {"launcher", KEY_LAUNCHER, "COMMAND",
     "show instead what each of several processes sees, differences first; goes with --processes "
     "and --format only: " LAUNCHER_DOC,
     COMMAND_TEXT, COMMAND_FIELD(struct devices_options, launcher), .group = COMMAND_WHAT},
    {"processes", KEY_PROCESSES, "N", "with --launcher: how many (default 2)", COMMAND_SIZE,
     .offset = offsetof(struct devices_options, processes), .least = 1, .most = MSG_PROCESSES,
     .group = COMMAND_WHAT},
    {"format", 'f', "text|json", "format of the output (default text)", COMMAND_CHOICE,
     .offset = offsetof(struct devices_options, format), .most = 2, .names = formats,
     .group = COMMAND_WHERE_TO},
    {0}};

/* An option that excludes all others but two. */
static error_t check_alone(const struct argp_state *state, const char *option, int one, int other)
{
    for (const struct command_option *o = option_table; o->name; ++o)
        if (strcmp(o->name, option) != 0 && o->key != one && o->key != other &&
            command_seen(state, o->name))
            return command_bad_option(state, "--%s and --%s exclude each other", option, o->name);
    return 0;
}

static error_t devices_option(int key, char *arg, struct argp_state *state)
{
    struct devices_options *options = command_input(state);

    if (key != ARGP_KEY_END)
        return command_key(key, arg, state);
    /* The resources are all GPUs, whatever a list names, in one format. */
    if (options->resources)
        return check_alone(state, "ctest-resources", COMMAND_REQUIRE, COMMAND_REQUIRE);
    /* Nothing of this process is shown then. */
    if (options->launcher[0] != '\0')
        return check_alone(state, "launcher", KEY_PROCESSES, 'f');
    return options->processes > 0
               ? command_bad_option(state, "--processes %zu needs --launcher", options->processes)
               : 0;
}

/* "16 GiB", "512 KiB", "unknown". */
static const char *bytes_text(uint64_t bytes, char *text, size_t capacity)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        ++unit;
    }
    if (bytes == 0)
        snprintf(text, capacity, "unknown");
    else
        snprintf(text, capacity, "%.4g %s", value, units[unit]);
    return text;
}

/* "  name       value"; a long value goes on in the next line. */
static void print_long(const char *name, const char *value)
{
    const int used = printf("  %-10s ", name);

    command_wrap(stdout, value, (size_t)used, (size_t)used, COLUMNS);
}

static void print_devices(const struct record_devices *d)
{
    printf("\nDevices    %s, backend %s, communicator %s%s\n", d->devices, d->backend,
           d->communicator, d->oversubscribed ? ", oversubscribed" : "");
    if (d->n_slots == 0) {
        printf("  none: modules run on the host, without data parallelism\n");
        return;
    }
    struct dp_slot_info s = {.flags = 0};
    char memory[32];

    printf("  %-4s %-12s %-5s %-6s %-5s %s\n", "slot", "name", "kind", "NUMA", "bound",
           "processing units");
    for (int i = 0; i < d->n_slots; ++i) {
        char numa[16] = "-";

        dp_slot_describe(dp_group_slot(d->group, i), &s);
        if (s.numa_node >= 0)
            snprintf(numa, sizeof numa, "%d", s.numa_node);
        const int used = printf("  %-4d %-12s %-5s %-6s %-5s ", s.index, s.name, s.kind, numa,
                                s.bound ? "yes" : "no");

        command_wrap(stdout, s.cores[0] != '\0' ? s.cores : "-", (size_t)used, (size_t)used,
                     COLUMNS);
    }
    /* The GPUs of the list: their models, and whether their workers are on cores next to them. */
    for (int i = 0; i < d->n_slots; ++i) {
        dp_slot_describe(dp_group_slot(d->group, i), &s);
        if (s.model[0] == '\0')
            continue;
        printf("  %-12s ", s.name);
        text_write(stdout, TEXT_PLAIN, s.model, 30);
        printf(", %s, PCI %s, %s\n", bytes_text(s.memory_bytes, memory, sizeof memory), s.bus,
               s.near ? "cores next to it" : "cores: a share of all");
    }
    if ((s.flags & DP_KIND_GPU) == 0)
        return;
    if (strcmp(d->communicator, "peer-staged") == 0)
        puts("  no peer access between some of them: their transfers go through the host");
    if (d->oversubscribed)
        puts("  several slots on one GPU or core: evidence of correctness, not of performance");
}

static int show_node(const char *command, struct dp_group *group, const struct dp_machine *machine,
                     const struct record_run *run, const struct devices_options *options)
{
    struct record_devices devices = {.devices = options->devices,
                                     .backend = dp_group_backend(group),
                                     .communicator = dp_group_communicator(group),
                                     .oversubscribed = dp_group_oversubscribed(group),
                                     .machine = machine,
                                     .group = group,
                                     .n_slots = dp_group_size(group),
                                     .run = run};

    if (options->format == 1) {
        char *text = record_devices_text(&devices);

        if (!text) {
            fprintf(stderr, "%s: out of memory\n", command);
            return EXIT_FAILED;
        }
        puts(text);
        free(text);
        return EXIT_PASSED;
    }
    if (options->tree) {
        node_tree(stdout, TEXT_PLAIN, run);
        return EXIT_PASSED;
    }
    char memory[32], l1[32], l2[32], l3[32];

    printf("Machine%s\n",
           machine->foreign ? ": not this one; hwloc was told of another: nothing is measured on it"
                            : "");
    print_long("processor", machine->cpu_model);
    printf("  cores      %d core%s, %d processing unit%s, %d package%s, %d NUMA node%s\n",
           machine->cores, text_s((size_t)machine->cores), machine->pus,
           text_s((size_t)machine->pus), machine->packages, text_s((size_t)machine->packages),
           machine->numa_nodes, text_s((size_t)machine->numa_nodes));
    printf("  usable     %d core%s, %d processing unit%s\n", machine->usable_cores,
           text_s((size_t)machine->usable_cores), machine->usable_pus,
           text_s((size_t)machine->usable_pus));
    printf("  memory     %s, ", bytes_text(machine->memory_bytes, memory, sizeof memory));
    printf("%s usable\n", bytes_text(machine->usable_bytes, memory, sizeof memory));
    printf("  caches     L1d %s, L2 %s, L3 %s (one of each)\n",
           bytes_text(machine->l1d_bytes, l1, sizeof l1),
           bytes_text(machine->l2_bytes, l2, sizeof l2),
           bytes_text(machine->l3_bytes, l3, sizeof l3));
    print_devices(&devices);
    node_print(stdout, run);
    char gpus[400], visible[96], build[200], found[300], text[600];

    printf("\nVersions\n");
    print_long("lockstep", BUILD_VERSION ", commit " BUILD_GIT BUILD_GIT_NOTE);
    snprintf(build, sizeof build, "%s, %s%s%s", BUILD_COMPILER, BUILD_TYPE,
             BUILD_SANITIZERS[0] != '\0' ? ", sanitizers " : "", BUILD_SANITIZERS);
    print_long("build", build);
    printf("  hwloc      %s\n", machine->hwloc_version);
    print_long("BLAS", run->blas);
    dp_gpus(gpus, 300);
    command_visible(visible);
    strcat(gpus, visible);
    print_long("CUDA", gpus);
    if (dp_nccl_library(found, sizeof found) == 0)
        snprintf(text, sizeof text, "%s, for communicator nccl", found);
    else
        snprintf(text, sizeof text, "%s; when this was built: %.250s", found, BUILD_NCCL);
    print_long("NCCL", text);
    return EXIT_PASSED;
}

int devices_main(int argc, char **argv)
{
    const struct command_syntax syntax = {
        .options = option_table,
        .other = devices_option,
        .what = "What to show",
        .doc = "Shows what is here: devices, core sets, NUMA nodes, caches, memory and library "
               "versions."
               "\vExit status: 0 shown; 1 a named device is missing, or processes see different "
               "things; 2 misuse; 77 skipped: cuda:all where there are no GPUs.\n\nExamples:\n"
               "  lockstep devices\n"
               "  lockstep devices --devices virt:4 --tree"};
    struct devices_options options = {.required = 0};
    struct dp_machine machine;
    struct dp_error err = {0};
    struct dp_group *group = NULL;
    int status;

    command_default_devices(options.devices, sizeof options.devices);
    if ((status = command_read(&syntax, argc, argv, &options)))
        return status;
    if (options.resources) {
        /* The ids are those of cuda:LIST, as this process sees the GPUs. Without any there is no
         * specification: an empty one would pass for an answer. */
        char text[300], visible[96];
        const int there = dp_gpus(text, sizeof text);

        command_visible(visible);
        if (there < 0)
            command_complain(argv[0], "%s%s", text, visible);
        if (there < 0)
            return there == DP_ENODEV && options.required == 0 ? EXIT_SKIPPED : EXIT_FAILED;
        if ((size_t)there < options.required) {
            command_complain(argv[0], "--require-devices %zu: there are %s", options.required,
                             text);
            return EXIT_FAILED;
        }
        printf("{\n  \"version\": {\"major\": 1, \"minor\": 0},\n  \"local\": [{\"gpus\": [");
        for (int i = 0; i < there; ++i)
            printf("%s\n    {\"id\": \"%d\", \"slots\": 1}", i > 0 ? "," : "", i);
        printf("\n  ]}]\n}\n");
        return EXIT_PASSED;
    }
    if (options.launcher[0] != '\0')
        return places_show(argv[0], options.launcher, options.processes > 0 ? options.processes : 2,
                           options.format == 1);
    /* Before the group binds this thread: what is usable is what it may use now. */
    if (dp_machine_read(&machine, &err))
        return command_core_error(argv[0], &err);
    const struct dp_group_config config = {.devices = options.devices,
                                           .backend = command_given(options.backend),
                                           .communicator = command_given(options.communicator),
                                           .bind = !options.unbound && !machine.foreign,
                                           .foreign = machine.foreign};

    struct record_run *run = cli_alloc(1, sizeof *run);

    memcpy(run->cpu_model, machine.cpu_model, sizeof run->cpu_model);
    if (node_read("", NULL, true, run) != 0) {
        command_complain(argv[0],
                         "cannot read this node: too little memory or too few file descriptors");
        free(run);
        return EXIT_FAILED;
    }
    status = command_open_group(argv[0], &config, options.required, &group);
    if (status == 0) {
        dp_group_blas(group, run->blas, sizeof run->blas);
        status = show_node(argv[0], group, &machine, run, &options);
    }
    dp_group_close(group);
    free(run);
    return status;
}
