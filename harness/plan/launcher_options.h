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

/* The rows of these options in a table. text says which command has its ranks in processes; the
 * struct launcher_options is a member of the type. */
enum { LAUNCHER_KEY = 528, LAUNCHER_KEY_EACH, LAUNCHER_KEY_TIMEOUT };
#define LAUNCHER_OPTIONS(text, type, member)                                                       \
    {"launcher",                                                                                   \
     LAUNCHER_KEY,                                                                                 \
     "COMMAND",                                                                                    \
     text ": run the ranks in several processes, joined by MPI: " LAUNCHER_DOC,                    \
     COMMAND_TEXT,                                                                                 \
     COMMAND_FIELD(type, member.launcher),                                                         \
     .group = COMMAND_RARE},                                                                       \
        {"per-process",                                                                            \
         LAUNCHER_KEY_EACH,                                                                        \
         "N",                                                                                      \
         "with --launcher: devices of each process (default 1); --devices are those of all",       \
         COMMAND_SIZE,                                                                             \
         .offset = offsetof(type, member.per_process),                                             \
         .least = 1,                                                                               \
         .most = DP_MAX_SLOTS,                                                                     \
         .group = COMMAND_RARE},                                                                   \
    {                                                                                              \
        "timeout", LAUNCHER_KEY_TIMEOUT, "SECONDS",                                                \
            "with --launcher: seconds that a process waits for another one (default 60)",          \
            COMMAND_REAL, .offset = offsetof(type, member.timeout), .from = 1, .to = 86400,        \
                          .group = COMMAND_RARE                                                    \
    }

/* Checks the options, and fills in those that were not given. --per-process and --timeout need a
 * launcher, and the launcher must be able to start processes. The devices must be virtual ones, at
 * least as many as required, and the same number in each process. Returns 0, or an exit status
 * after a line. */
int launcher_options_check(const char *command, struct launcher_options *options,
                           const char *devices, size_t required);

#endif
