/* cli/main.c: the program lockstep: a table of subcommands, nothing else. */
#define _GNU_SOURCE /* environ */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "command/command.h"
#include "compare/compare.h"
#include "files/files.h"
#include "fleet/fleet.h"
#include "forecast/forecast.h"
#include "record/json.h"
#include "report/page.h"
#include "soak/soak.h"
#include "sweep/sweep.h"
#include "text/text.h"
#include "validate/validate.h"

struct command {
    const char *name; /* two words: a part of the command that the first one names */
    int (*main)(int argc, char **argv);
    const char *help; /* NULL: it is a worker process, and users do not start it */
};

static const struct command commands[] = {
    {"devices", devices_main, "list devices, core sets, caches, memory and versions"},
    {"tutorial", tutorial_main, "print the sizes that PyTorch's data-parallel tutorial prints"},
    {"check", check_main, "test an implementation of data parallelism, rule by rule"},
    {"sweep", sweep_main, "measure and verify workloads x device counts x batches"},
    {"sweep limits", sweep_limits_main, "measure how far a step is from what the cores can do"},
    {"report", report_main, "turn records into a page, figures and a table"},
    {"compare", compare_main, "compare two builds in pairs, or two files of records"},
    {"compare baseline", baseline_main, "keep a history of a machine, to compare with"},
    {"validate", validate_main, "accept or reject a machine by the limits of a profile"},
    {"validate learn", validate_learn_main, "learn a profile from sessions of a machine"},
    {"validate check", validate_check_main, "show that each limit of a profile can fail"},
    {"soak", soak_main, "repeat one step, and compare it with the known answer"},
    {"soak selftest", selftest_main, "show that soak finds every fault that a device can have"},
    {"fleet", fleet_main, "compare the verdicts of many nodes, find bad ones"},
    {"forecast", forecast_main, "forecast the time of steps on more ranks"},
    {"train", train_main, "train a model on real data, and compare device lists"},
    {"cell", cell_main, NULL},
    {"workload", workload_main, NULL},
    {"rank", rank_main, NULL},
    {"trainee", trainee_main, NULL},
    {"place", place_main, NULL},
};

enum { COMMANDS = sizeof commands / sizeof commands[0], NAME_BYTES = 64 };

/* Commands of version 1.0 that have another name now. */
static const struct {
    const char *name, *now;
} renamed[] = {
    {"baseline", "`lockstep compare baseline`"},
    {"profile", "`lockstep validate learn` and `lockstep validate check`"},
    {"selftest", "`lockstep soak selftest`"},
    {"bench limits", "`lockstep sweep limits`"},
    {"bench copies", "`lockstep sweep limits`, and on GPUs `lockstep sweep --mode dp --parts T`"},
    {"bench overlap", "`lockstep sweep --mode ddp`"},
    {"bench", "`lockstep sweep limits`, and `lockstep sweep` with --parts or --mode ddp"},
};

static const char about[] = "Benchmark and conformance suite for data-parallel training.";

static const struct argp_option own_options[] = {
    {.name = "help", .key = 'h', .doc = "show the commands"},
    {.name = "version", .doc = "show the version, the commit and the kind of build"},
    {0}};

static void show_help(void)
{
    printf("Usage: lockstep COMMAND [OPTION...]\n%s\n\n", about);
    for (int i = 0; i < COMMANDS; ++i)
        if (commands[i].help)
            printf("  %-17s %s\n", commands[i].name, commands[i].help);
    printf("\n  lockstep COMMAND --help   options of a command\n");
    for (int i = 0; own_options[i].name; ++i)
        printf("  lockstep --%-14s %s\n", own_options[i].name, own_options[i].doc);
}

/* Prints the parts of the help; see command/dump.c. */
static void dump(void)
{
    printf("about\t%s\n", about);
    for (int i = 0; i < COMMANDS; ++i)
        if (commands[i].help)
            printf("command\t%s\t%s\n", commands[i].name, commands[i].help);
    command_dump_options(own_options);
}

/* hwloc keeps only variables whose effect it reports, and two that change no answer:
 * HWLOC_THISSYSTEM makes it call another machine's topology this one's. The width of help can keep
 * argp in a loop, and POSIX takes no options after files: the README's commands have some. */
static bool is_dropped(const char *variable)
{
    static const char *const kept[] = {
        "SYNTHETIC=", "XMLFILE=", "FSROOT=", "CPUID_PATH=", "HIDE_ERRORS=", "PLUGINS_PATH="};

    if (strncmp(variable, "HWLOC_", 6) != 0)
        return strncmp(variable, "ARGP_HELP_FMT=", 14) == 0 ||
               strncmp(variable, "POSIXLY_CORRECT=", 16) == 0;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i)
        if (strncmp(variable + 6, kept[i], strlen(kept[i])) == 0)
            return false;
    return true;
}

/* Output that could not be written must not look like success, not even that of --help, after
 * which argp exits by itself. A reader that has gone wants no words: all that was to be done is
 * done, and the program ends as any other does in a pipe. */
static void check_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    static const int reasons[] = {ENOSPC, EDQUOT, EIO, EFBIG, EPIPE, EBADF};
    struct pollfd output = {.fd = STDOUT_FILENO};
    const char *reason = "a write to it has failed"; /* errno may be that of a later call by now */
    const int why = errno;

    if (poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i)
        if (reasons[i] == why)
            reason = strerror(why);
    fprintf(stderr, "lockstep: standard output: %s\n", reason);
    _exit(EXIT_MISUSE);
}

static void print_version(void)
{
    printf("lockstep %s (%s%s, %s%s%s)\n", BUILD_VERSION, BUILD_GIT, BUILD_GIT_NOTE, BUILD_TYPE,
           BUILD_SANITIZERS[0] != '\0' ? ", sanitizers " : "", BUILD_SANITIZERS);
}

static const struct {
    const char *name;
    void (*print)(void);
} own[] = {{"--help", show_help},
           {"-h", show_help},
           {"help", show_help},
           {"--version", print_version},
           {"--dump-options", dump}};

/* argv begins with the command's name, of one word or of two: two are looked for first. */
static int run_command(int argc, char **argv)
{
    char name[NAME_BYTES];

    for (int words = argc > 1 ? 2 : 1; words > 0; --words) {
        snprintf(name, sizeof name, "%s%s%s", argv[0], words > 1 ? " " : "",
                 words > 1 ? argv[1] : "");
        for (int i = 0; i < COMMANDS; ++i) {
            if (strcmp(name, commands[i].name) != 0)
                continue;
            snprintf(name, sizeof name, "lockstep %s", commands[i].name);
            argv[words - 1] = name;
            return commands[i].main(argc - words + 1, argv + words - 1);
        }
        for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; ++i)
            if (strcmp(name, renamed[i].name) == 0)
                return command_refuse("lockstep", "'%s' is now %s", name, renamed[i].now);
    }
    char known[512] = "";

    for (int i = 0; i < COMMANDS; ++i)
        if (commands[i].help && !strchr(commands[i].name, ' '))
            text_add(known, sizeof known, "%s%s", i > 0 ? ", " : "", commands[i].name);
    return command_refuse_call("lockstep", "unknown command '%.60s'; known are %s", argv[0], known);
}

int main(int argc, char **argv)
{
    char help[] = "--help";

    /* Without this the next file opened, perhaps a file of records, would be standard output or
     * error. The null device is opened so that writing to a closed standard output still fails. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(EXIT_MISUSE);
    stop_set_signals();
    char **to = environ;

    for (char **from = environ; *from; ++from)
        if (!is_dropped(*from))
            *to++ = *from;
    *to = NULL;
    /* hwloc loads its plugins whenever a topology is read. All but hwloc_pci.so find what nothing
     * here asks hwloc for: they take longer than all the rest, wake drivers of GPUs, and the loader
     * ends the whole program where it has no memory for one of them. */
    setenv("HWLOC_PLUGINS_BLACKLIST",
           "hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,hwloc_opencl.so,"
           "hwloc_rsmi.so,hwloc_xml_libxml.so",
           0);
    /* hwloc would complain of things that it does not find, such as /sys in a container, among the
     * output of this program. They are missing in the output of `lockstep devices`, too. */
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    document_use_memory();
    if (atexit(check_output))
        return EXIT_MISUSE;
    if (argc < 2) {
        fputs("lockstep check                            is the implementation right?\n"
              "lockstep sweep --out my.jsonl             how fast is this machine?\n"
              "lockstep report my.jsonl --out my-report  a page about it\n"
              "lockstep sweep --help                     options, and two examples\n"
              "lockstep --help                           all commands\n",
              stderr);
        return EXIT_MISUSE;
    }
    if (strcmp(argv[1], "help") == 0 && (argc == 3 || argc == 4))
        return run_command(argc - 1, (char *[]){argv[2], argc == 4 ? argv[3] : help, help, NULL});
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) {
        if (strcmp(argv[1], own[i].name) != 0)
            continue;
        if (argc > 2)
            return command_refuse_call("lockstep", "unexpected argument '%.60s' after %s", argv[2],
                                       argv[1]);
        own[i].print();
        return EXIT_PASSED;
    }
    return run_command(argc - 1, argv + 1);
}
