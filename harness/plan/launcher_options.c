/* plan/launcher_options.c: reads and checks the options for ranks in several processes. */
#include "plan/launcher_options.h"

#include <string.h>

#include "command/device_list.h"
#include "launch/launcher_messages.h"
#include "schema/structs.h"

_Static_assert(LAUNCHER_BYTES == sizeof((struct record_run *)0)->launcher, "a field of records");

static const double timeout_seconds = 60;

int launcher_options_check(const char *command, struct launcher_options *options,
                           const char *devices, size_t required)
{
    const int n = device_list_count(devices);
    struct dp_kind_row kind;
    struct text_error why;

    if (options->launcher[0] == '\0')
        return options->per_process > 0 || options->timeout > 0
                   ? command_refuse_call(command, "--per-process and --timeout need --launcher")
                   : 0;
    if (launcher_check(options->launcher, &why))
        return command_refuse_call(command, "--launcher: %s", why.text);
    options->per_process = options->per_process > 0 ? options->per_process : 1;
    options->timeout = options->timeout > 0 ? options->timeout : timeout_seconds;
    if (!dp_kind_of(devices, &kind) || (kind.flags & DP_KIND_CORES) == 0 || n < 1)
        return command_refuse_call(
            command, "--launcher: the devices are virtual ones, like --devices virt:8");
    if (device_list_faulty(devices))
        return command_refuse_call(command, "--launcher: devices do not fail on purpose there");
    if ((size_t)n % options->per_process != 0)
        return command_refuse_call(command, "--per-process %zu: %d devices are no multiple of it",
                                   options->per_process, n);
    if ((size_t)n / options->per_process > MSG_PROCESSES)
        return command_refuse_call(command,
                                   "--launcher: %zu processes are too many; allowed are %d",
                                   (size_t)n / options->per_process, MSG_PROCESSES);
    if ((size_t)n >= required)
        return 0;
    command_complain(command, "--require-devices %zu: '%s' has %d", required, devices, n);
    return EXIT_FAILED;
}
