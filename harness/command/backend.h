/* command/backend.h: what every subcommand that opens devices shares: which backends and
 * communicators may be named, and what goes together. */
#ifndef HARNESS_COMMAND_BACKEND_H
#define HARNESS_COMMAND_BACKEND_H

#include "command/command.h"
#include "text/text.h"

/* The words of all subcommands' help about them. It names each kind of devices, each backend and
 * each communicator of core. */
#define COMMAND_DEVICES_DOC     "virt:N, cuda:0-3,5 or cuda:all"
#define COMMAND_CPU_BACKEND_DOC "cpu (default), cpu-ref, cpu-cblas or cpu-onednn"
#define COMMAND_BACKEND_DOC     COMMAND_CPU_BACKEND_DOC "; on GPUs cuda (default) or cuda-staged"
#define COMMAND_CPU_COMMUNICATOR_DOC                                                               \
    "what carries data between devices: threads (default) or staged (default of cpu-ref)"
#define COMMAND_COMMUNICATOR_DOC                                                                   \
    COMMAND_CPU_COMMUNICATOR_DOC                                                                   \
    "; on GPUs peer (default), nccl, nccl+nccl or staged (default of cuda-staged)"

/* Rows of a table of struct command_option. */
#define COMMAND_BACKEND_ROW(type, member)                                                          \
    {                                                                                              \
        "backend", 'b', "NAME", COMMAND_BACKEND_DOC, COMMAND_BACKEND, COMMAND_FIELD(type, member), \
            .group = COMMAND_RARE                                                                  \
    }
#define COMMAND_COMMUNICATOR_ROW(type, member)                                                     \
    {                                                                                              \
        "communicator", 'c', "NAME", COMMAND_COMMUNICATOR_DOC, COMMAND_COMMUNICATOR,               \
            COMMAND_FIELD(type, member), .group = COMMAND_RARE                                     \
    }

/* Whether there is a backend or communicator of that name; `what` the value is called in the
 * message, which lists all. 0, or -1 and why. */
int command_backend_name(const char *what, const char *value, struct text_error *why);
int command_communicator_name(const char *what, const char *value, struct text_error *why);
/* As values of an option of that name. */
error_t command_backend(const struct argp_state *state, const char *option, const char *value,
                        char *field, size_t bytes);
error_t command_communicator(const struct argp_state *state, const char *option, const char *value,
                             char *field, size_t bytes);

/* NULL for "": of an option that was not given. */
const char *command_given(const char *text);
/* The backend that a device list has unless another one is named. */
const char *command_default_backend(const char *devices);
/* Before devices are opened: whether the communicator ("": the backend's own) serves them and can
 * do all of `can`. 0, or EXIT_MISUSE after a line that lists those that can. */
int command_check_communicator(const char *command, const char *communicator, const char *backend,
                               const char *devices, unsigned can);

#endif
