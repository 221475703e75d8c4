/* train/launched.c: checks the options of ranks in processes. */
#include "command/command.h"
#include "train/train.h"

int train_check_launched(const char *command, struct train_options *o)
{
    const bool launched = o->processes.launcher[0] != '\0';

    /* These options are only for a training in one process. */
    if (launched && o->dp)
        return launcher_refuse(command, "--launcher is for ranks: it does not go with --mode dp");
    if (launched && o->communicator[0] != '\0')
        return launcher_refuse(command, "--launcher does not go with --communicator, which is mpi "
                                        "between processes");
    o->ddp = o->ddp || launched;
    return launcher_options_check(command, &o->processes, o->devices, o->required);
}
