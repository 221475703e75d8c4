/* plan/launcher_options.h: the options of ranks in processes that a launcher starts, for commands
 * that start them once. */
#ifndef HARNESS_RECORD_LAUNCHER_OPTIONS_H
#define HARNESS_RECORD_LAUNCHER_OPTIONS_H

#include <stddef.h>

#include "command/command.h"
#include "plan/launcher.h"

struct launcher_options {
    char launcher[LAUNCHER_BYTES]; /* ""; the ranks are in this process */
    size_t per_process;            /* devices of each; 0: not given */
    double timeout;                /* seconds that one waits for another; 0: not given */
};

/* Their entries in a table; doc: what has its ranks in processes. */
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

/* The value of the option of one of these keys. */
error_t launcher_option(int key, const char *arg, const struct argp_state *state,
                        struct launcher_options *options);

/* One line on stderr, and where the options are explained: EXIT_MISUSE. */
int launcher_refuse(const char *command, const char *text);
/* Whether --per-process and --timeout have a launcher; it can start processes, and there is one for
 * every few of these devices, which are virtual ones, and as many as required. Fills in what was
 * not given. 0, or an exit status after a line. */
int launcher_options_check(const char *command, struct launcher_options *options,
                           const char *devices, size_t required);

#endif
