/* check/launched.c: the options for ranks in processes. With them the implementation under test is
 * the reference in a command that answers through pipes (check/rank_pool.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "check/rank_protocol.h"
#include "check/runner.h"
#include "command/command.h"
#include "command/device_list.h"
#include "files/launcher_messages.h"

enum { LAUNCHED_PROCESSES = 2, OPERATION_SECONDS = 60, SLOWER = 4, PATH_BYTES = 512 };

static int refuse(const char *command, const char *text)
{
    command_complain(command, "%s", text);
    return command_misuse(command);
}

static int check_together(const char *command, const struct runner_options *options)
{
    /* These options choose another implementation, or another way to test, than the reference in
     * processes. */
    const struct {
        bool given;
        const char *name;
    } others[] = {{options->impl[0] != '\0', "--impl"},
                  {options->impl_options[0] != '\0', "--impl-options"},
                  {options->communicator[0] != '\0', "--communicator"},
                  {options->mutants, "--mutants"},
                  {options->same_process, "--same-process"}};
    const int devices = options->has_devices ? device_list_count(options->devices) : 8;
    struct dp_kind_row kind;
    struct text_error why;

    if (options->processes > 0 && options->per_process > 0)
        return refuse(command, "--processes and --per-process: one at a time");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
        if (others[i].given) {
            command_complain(command, "--launcher is for the reference: it does not go with %s",
                             others[i].name);
            return command_misuse(command);
        }
    if (options->profile[0] != '\0' && options->profiles != PROFILE_DDP)
        return refuse(command, "--launcher: the other profiles are of one process; allowed is "
                               "--profile ddp");
    if (launcher_check(options->launcher, &why)) {
        command_complain(command, "--launcher: %s", why.text);
        return command_misuse(command);
    }
    if (options->has_devices &&
        (!dp_kind_of(options->devices, &kind) || (kind.flags & DP_KIND_CORES) == 0 || devices < 1))
        return refuse(command, "--launcher: the devices are virtual ones, like --devices virt:8");
    if (options->processes <= (size_t)devices && options->per_process <= (size_t)devices)
        return 0;
    command_complain(command, "--%s %zu: there are %d devices",
                     options->per_process > 0 ? "per-process" : "processes",
                     options->per_process > 0 ? options->per_process : options->processes, devices);
    return command_misuse(command);
}

/* The specification puts this text in single quotes, so it may not have any. */
static int write_spec(const char *command, struct runner_options *options)
{
    const bool slow = BUILD_SANITIZERS[0] != '\0';
    char self[PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const int seconds = OPERATION_SECONDS * (slow ? SLOWER : 1);
    const bool each = options->per_process > 0;

    self[length > 0 ? length : 0] = '\0';
    if (length <= 0 || length == sizeof self - 1 || strchr(self, '\'') ||
        strchr(options->launcher, '\''))
        return refuse(command, "--launcher: neither the command nor the path of this program can "
                               "have a quotation mark in it, nor be longer than 500 characters");
    const int n = snprintf(options->world, sizeof options->world,
                           "exec@%d:exec '%s' world --launcher '%s' --limit %d --%s %zu", seconds,
                           self, options->launcher, RANK_WAIT_SECONDS * (slow ? SLOWER : 1),
                           each ? "per-process" : "processes",
                           each ? options->per_process : options->processes);

    return n > 0 && (size_t)n < sizeof options->world
               ? 0
               : refuse(command, "--launcher: the command is too long");
}

int runner_launched(const char *command, struct runner_options *options)
{
    int status;

    if (options->launcher[0] == '\0')
        return options->processes > 0 || options->per_process > 0
                   ? refuse(command, "--processes and --per-process need --launcher")
                   : 0;
    status = check_together(command, options);
    if (status)
        return status;
    options->profiles = PROFILE_DDP;
    if (options->processes == 0 && options->per_process == 0)
        options->processes = LAUNCHED_PROCESSES;
    return write_spec(command, options);
}

const char *runner_spec(const struct runner_options *options)
{
    return options->launcher[0] != '\0' ? options->world : options->impl;
}

void runner_processes(const struct runner_options *options, char text[RUNNER_TEXT])
{
    if (options->per_process > 0)
        snprintf(text, RUNNER_TEXT,
                 "at most %zu ranks of a model in each of two or more, started by '%s'",
                 options->per_process, options->launcher);
    else
        snprintf(text, RUNNER_TEXT,
                 "%zu for a model, or one for each rank where it has fewer, started by '%s'",
                 options->processes, options->launcher);
}
