/* train/launched.c: the options of ranks in processes. */
#include "command/command.h"
#include "train/train.h"

/* What a training in one process alone has. NULL: nothing of it was asked for. */
static const char *find_other(const struct train_options *o)
{
    const struct {
        bool given;
        const char *text;
    } rows[] = {{o->dp, "--launcher is for ranks: it does not go with --mode dp"},
                {o->communicator[0] != '\0', "--launcher does not go with --communicator, which is "
                                             "mpi between processes"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (rows[i].given)
            return rows[i].text;
    return NULL;
}

int train_check_launched(const char *command, struct train_options *o)
{
    const bool launched = o->processes.launcher[0] != '\0';
    const char *other = launched ? find_other(o) : NULL;

    if (other)
        return launcher_refuse(command, other);
    o->ddp = o->ddp || launched;
    return launcher_options_check(command, &o->processes, o->devices, o->required);
}
