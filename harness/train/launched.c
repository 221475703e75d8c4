/* train/launched.c: the options of ranks in processes. */
#include "command/command.h"
#include "command/device_list.h"
#include "files/said.h"
#include "train/train.h"

static const double timeout_seconds = 60;

static int refuse(const char *command, const char *text)
{
    command_complain(command, "%s", text);
    return command_misuse(command);
}

/* What a training in one process alone has. NULL: nothing of it was asked for. */
static const char *find_other(const struct train_options *o)
{
    const struct {
        bool given;
        const char *text;
    } rows[] = {
        {o->dp, "--launcher is for ranks: it does not go with --mode dp"},
        {o->against[0] != '\0', "--launcher and --against exclude each other"},
        {o->communicator[0] != '\0', "--launcher does not go with --communicator, which is "
                                     "mpi between processes"},
        {device_list_faulty(o->devices), "--launcher: devices do not fail on purpose there"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (rows[i].given)
            return rows[i].text;
    return NULL;
}

/* As many devices in each process. */
static int check_devices(const char *command, const struct train_options *o)
{
    const int devices = device_list_count(o->devices);
    struct dp_kind_row kind;

    if (!dp_kind_of(o->devices, &kind) || (kind.flags & DP_KIND_CORES) == 0 || devices < 1)
        return refuse(command, "--launcher: the devices are virtual ones, like --devices virt:8");
    if ((size_t)devices % o->per_process != 0) {
        command_complain(command, "--per-process %zu: %d devices are no multiple of it",
                         o->per_process, devices);
        return command_misuse(command);
    }
    if ((size_t)devices / o->per_process > SAID_PROCESSES) {
        command_complain(command, "--launcher: %zu processes are too many; allowed are %d",
                         (size_t)devices / o->per_process, SAID_PROCESSES);
        return command_misuse(command);
    }
    if ((size_t)devices >= o->required)
        return 0;
    command_complain(command, "--require-devices %zu: '%s' has %d", o->required, o->devices,
                     devices);
    return EXIT_FAILED;
}

int train_check_launched(const char *command, struct train_options *o)
{
    struct text_error why;
    const char *other;

    if (o->launcher[0] == '\0' && (o->per_process > 0 || o->timeout > 0))
        return refuse(command, "--per-process and --timeout need --launcher");
    if (o->launcher[0] == '\0')
        return 0;
    if ((other = find_other(o)))
        return refuse(command, other);
    if (launcher_check(o->launcher, &why)) {
        command_complain(command, "--launcher: %s", why.text);
        return command_misuse(command);
    }
    o->ddp = true;
    o->per_process = o->per_process > 0 ? o->per_process : 1;
    o->timeout = o->timeout > 0 ? o->timeout : timeout_seconds;
    return check_devices(command, o);
}
