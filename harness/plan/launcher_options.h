/* plan/launcher_options.h: the options for ranks in processes that a launcher starts, for commands
 * that start them once. */
#ifndef HARNESS_RECORD_LAUNCHER_OPTIONS_H
#define HARNESS_RECORD_LAUNCHER_OPTIONS_H

#include <stddef.h>

#include "command/command.h"
#include "launch/launcher.h"

struct launcher_options {
    char launcher[LAUNCHER_BYTES]; /* "": all ranks are in this process */
    size_t per_process;            /* devices per process; 0: not given */
    double timeout;                /* seconds that a process waits for another; 0: not given */
};

/* The entries of these options in a table. text says which command has its ranks in processes. */
enum { LAUNCHER_KEY = 528, LAUNCHER_KEY_EACH, LAUNCHER_KEY_TIMEOUT };
#define LAUNCHER_OPTIONS(text)                                                                     \
    {.name = "launcher",                                                                           \
     .key = LAUNCHER_KEY,                                                                          \
     .arg = "COMMAND",                                                                             \
     .doc = text " with its ranks in several processes: mpirun, srun, or a command of words, in "  \
                 "which {n} is the number of processes"},                                          \
        {.name = "per-process",                                                                    \
         .key = LAUNCHER_KEY_EACH,                                                                 \
         .arg = "D",                                                                               \
         .doc = "with --launcher: devices of each process (default 1); --devices are those of "    \
                "all"},                                                                            \
    {                                                                                              \
        .name = "timeout", .key = LAUNCHER_KEY_TIMEOUT, .arg = "S",                                \
        .doc = "with --launcher: seconds that a process waits for another one (default 60)"        \
    }

/* Reads the value of the option with one of these keys. */
error_t launcher_option(int key, const char *arg, const struct argp_state *state,
                        struct launcher_options *options);

/* Prints one line on stderr, and where the options are explained. Returns EXIT_MISUSE. */
int launcher_refuse(const char *command, const char *text);
/* Checks the options, and fills in those that were not given. --per-process and --timeout need a
 * launcher, and the launcher must be able to start processes. The devices must be virtual ones, at
 * least as many as required, and the same number in each process. Returns 0, or an exit status
 * after a line. */
int launcher_options_check(const char *command, struct launcher_options *options,
                           const char *devices, size_t required);

#endif
