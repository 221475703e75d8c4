/* bench/launched.c: the options of ranks in processes. */
#include <string.h>

#include "bench/overlap.h"
#include "command/backend.h"
#include "command/device_list.h"

/* What is of one process alone. NULL: nothing of it was asked for. */
static const char *find_other(const struct bench_options *o)
{
    if (o->name != BENCH_OVERLAP)
        return "--launcher is for overlap: the copies of DataParallel are of one process";
    if (o->communicator[0] != '\0')
        return "--launcher does not go with --communicator, which is mpi between processes";
    return NULL;
}

int bench_check_launched(const char *command, struct bench_options *o, size_t required)
{
    const char *other = o->processes.launcher[0] != '\0' ? find_other(o) : NULL;

    return other ? launcher_refuse(command, other)
                 : launcher_options_check(command, &o->processes, o->devices, required);
}

/* Sizes and devices that are wrong are found here, before there are processes, each of which would
 * say so. */
int bench_launched(const char *command, struct bench_options *options)
{
    char own[sizeof options->devices];
    const struct dp_group_config config = {.devices = own,
                                           .backend = command_given(options->backend)};
    struct dp_group *group = NULL;
    struct workload workload;
    struct dp_error err = {0};
    size_t bucket_bytes;
    int status;

    if (overlap_model(options->bytes, &workload, &bucket_bytes, &err))
        return command_core_error(command, &err);
    if (device_list_first(options->devices, options->processes.per_process, own, sizeof own)) {
        command_complain(command, "--devices: '%s' is too long", options->devices);
        return command_misuse(command);
    }
    if ((status = command_open_group(command, &config, 0, &group)))
        return status;
    status = bench_check_devices(command, group, options, device_list_count(options->devices));
    dp_group_close(group);
    return status ? status : overlap_launched(command, options, own);
}
