/* cli/place.c: `lockstep place`: one of the processes of `lockstep devices --launcher`. It says
 * where it is, and what it runs on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "dp_mpi.h"
#include "machine/provenance.h"
#include "measure/guard.h"

enum { KEY_PROCESSES = 256, KEY_LIMIT };

struct place_options {
    size_t processes;
    double limit;
};

static const struct command_option option_table[] = {
    {"processes", KEY_PROCESSES, "N", "that there have to be", COMMAND_SIZE,
     .offset = offsetof(struct place_options, processes), .least = 1, .most = SAID_PROCESSES},
    {"limit", KEY_LIMIT, "S", "seconds for all of it", COMMAND_REAL,
     .offset = offsetof(struct place_options, limit), .from = 0.1, .to = 86400},
    {0}};

/* What records of a sweep here would begin with; of one device, which has all cores that the
 * launcher left to this process. NULL and why. Caller frees. */
static char *describe(struct dp_error *err)
{
    const struct dp_group_config config = {.devices = "virt:1", .bind = true};
    struct record_run *run = calloc(1, sizeof *run);
    struct dp_group *group = NULL;
    struct dp_machine machine;
    char *text = NULL;

    if (run && dp_machine_read(&machine, err) == 0 && dp_group_open(&config, &group, err) == 0 &&
        provenance_read(group, &machine, run) == 0) {
        run->launches = 1; /* a header is read back only if it can be that of a sweep */
        snprintf(run->scaling, sizeof run->scaling, "strong");
        text = record_run_text(run);
    }
    dp_group_close(group);
    free(run);
    return text;
}

static int tell(struct guard *guard, const struct dp_mpi *mpi)
{
    struct dp_error err = {.text = "this machine cannot be read"};
    char *text = describe(&err);
    int status = guard_say_begun(guard, mpi);

    if (status == 0 && text)
        status = guard_say_parts(guard, text, strlen(text));
    free(text);
    if (status || !text) {
        (void)guard_say(guard, SAID_ENDED, err.text);
        return -1;
    }
    return guard_say(guard, SAID_ENDED, "ok");
}

/* Other builds are what is looked for, so none is refused. */
int place_main(int argc, char **argv)
{
    const struct command_syntax syntax = {.options = option_table};
    struct place_options options = {.processes = 1, .limit = 60};
    struct guard guard = {.speaker = {.fd = STDOUT_FILENO, .process = SAID_NOBODY}};
    struct dp_error err = {0};
    struct dp_mpi *mpi = NULL;
    int status;

    if ((status = command_read(&syntax, argc, argv, &options)))
        return status;
    const unsigned ms = (unsigned)(options.limit * 500);
    const struct dp_mpi_config how = {
        .processes = (int)options.processes, .deadline_ms = ms, .start_ms = ms, .plan = "devices"};

    if (guard_start(&guard, options.limit)) {
        (void)said_write(&guard.speaker, SAID_ENDED, "a process cannot start a thread");
        return EXIT_FAILED;
    }
    if (dp_mpi_open(&how, &mpi, &err)) {
        (void)guard_say(&guard, SAID_ENDED, err.text);
        _exit(EXIT_FAILED);
    }
    status = tell(&guard, mpi);
    if (dp_mpi_close(mpi, &err) != 0)
        status = -1;
    fflush(NULL);
    _exit(status == 0 ? EXIT_PASSED : EXIT_FAILED);
}
