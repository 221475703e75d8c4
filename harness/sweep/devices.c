/* sweep/devices.c: opens the devices of a sweep once, to know their number and to describe them.
 *
 * A separate process does it: CUDA frees its memory on a GPU only when the process ends. That
 * memory would be missing for the launches, and a GPU in exclusive mode would refuse every one
 * of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/command.h"
#include "launch/child.h"
#include "machine/machine.h"
#include "machine/node.h"
#include "sweep/sweep.h"

static int find_devices(const char *command, const struct sweep_options *options,
                        struct record_run *run)
{
    const struct plan_options *plan = &options->plan;
    struct dp_group_config config = {.devices = plan->devices,
                                     .backend = plan->backend,
                                     .communicator =
                                         plan->n_communicators > 0 ? plan->communicator[0] : NULL,
                                     .math = plan->math,
                                     .bind = plan->bind};
    struct dp_group *group = NULL;
    struct dp_error err = {0};
    struct dp_machine machine;
    int status;

    if (dp_machine_read(&machine, &err))
        return command_core_error(command, &err);
    if ((status = command_open_group(command, &config, options->required, &group)))
        return status;
    if (provenance_read(group, &machine, run) ||
        node_read("", NULL, node_has_gpus(plan->devices), run)) {
        command_complain(
            command, "cannot identify this machine: too little memory or too few file descriptors");
        status = EXIT_FAILED;
    }
    dp_group_close(group);
    group = NULL;
    /* Opens the devices with each other communicator, and adds the name that it reports there, and
     * the version of its library. */
    for (size_t i = 1; status == 0 && i < plan->n_communicators; ++i) {
        const size_t used = strlen(run->communicator), room = sizeof run->communicator - used;
        int n = 0;

        config.communicator = plan->communicator[i];
        status = command_open_group(command, &config, 0, &group);
        if (status == 0)
            n = snprintf(run->communicator + used, room, ",%s", dp_group_communicator(group));
        if (status == 0 && strlen(dp_group_software(group)) > strlen(run->gpu_software))
            snprintf(run->gpu_software, sizeof run->gpu_software, "%s", dp_group_software(group));
        dp_group_close(group);
        group = NULL;
        if (n < 0 || (size_t)n >= room)
            return command_refuse(command, "--communicator: too many names for a record");
    }
    return status;
}

int sweep_devices(const char *command, const struct sweep_options *options, struct record_run *run)
{
    char *at = (char *)run, *const end = at + sizeof *run;
    int ends[2], status = 0;
    ssize_t n = 1;

    const pid_t child = child_pipe(ends) == 0 ? child_fork(CHILD_SAME_GROUP) : -1;

    if (child == 0) {
        close(ends[0]);
        status = find_devices(command, options, run);
        while (status == 0 && at < end) {
            n = write(ends[1], at, (size_t)(end - at));
            if (n < 0 && errno != EINTR) {
                command_complain(command, "cannot list the devices: %s", strerror(errno));
                exit(EXIT_FAILED);
            }
            at += n > 0 ? n : 0;
        }
        exit(status);
    }
    if (child < 0) {
        command_complain(command, "cannot start a process to look for the devices");
        return EXIT_FAILED;
    }
    close(ends[1]);
    while (at < end && (n > 0 || (n < 0 && errno == EINTR))) {
        n = read(ends[0], at, (size_t)(end - at));
        at += n > 0 ? n : 0;
    }
    close(ends[0]);
    if (child_wait(child, &status) == 0 && WIFEXITED(status) &&
        (WEXITSTATUS(status) != 0 || at == end))
        return WEXITSTATUS(status);
    command_complain(command, "devices '%s': the process that looked for them broke down",
                     options->plan.devices);
    return EXIT_FAILED;
}
