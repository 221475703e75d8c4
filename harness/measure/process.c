/* measure/process.c: runs one of several processes that measure a cell together. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "command/command.h"
#include "dp_mpi.h"
#include "launch/guard.h"
#include "measure/measure.h"
#include "record/record.h"

struct process {
    const struct cell_config *config;
    struct dp_mpi *mpi;
    struct guard guard;
};

/* Opens MPI. All processes must run the same program with the same cell. */
static int open_mpi(struct process *p, struct dp_error *err)
{
    const struct cell_config *config = p->config;
    char plan[128];
    struct record_cell cell;

    cell_identify(config, &cell);
    snprintf(plan, sizeof plan, "run %s, cell %s, seed %llu", config->run_id, cell.cell_id,
             (unsigned long long)config->seed);
    const struct dp_mpi_config how = {
        .processes = cell_processes(config),
        .deadline_ms = config->timeout > 0 ? (unsigned)(config->timeout * 500) : 0,
        .start_ms = config->timeout > 0 ? (unsigned)(config->timeout * 500) : 0,
        .build = BUILD_VERSION " " BUILD_SOURCE,
        .plan = plan};
    return dp_mpi_open(&how, &p->mpi, err);
}

int process_run(const struct cell_config *config)
{
    struct process p = {
        .config = config,
        .guard = {.speaker = {.fd = STDOUT_FILENO, .process = MSG_UNKNOWN_PROCESS}}};
    struct record_cell cell = {.status = RECORD_BROKEN};
    struct dp_error err = {0};
    char text[MSG_TEXT_BYTES];

    if (guard_start(&p.guard, config->timeout)) {
        (void)message_send(&p.guard.speaker, MSG_ENDED, "broken: a process cannot start a thread");
        return EXIT_FAILED;
    }
    if (open_mpi(&p, &err)) {
        (void)guard_say(&p.guard, MSG_ENDED, err.text);
        _exit(EXIT_FAILED);
    }
    int status = guard_say_begun(&p.guard, p.mpi);

    if (status == 0) {
        cell_measure(config, NULL, p.mpi, &cell);
        /* The first process also sends the record, which is that of all. */
        if (dp_mpi_rank(p.mpi) == 0) {
            char *record = record_cell_text(&cell);

            status = record ? guard_say_parts(&p.guard, record, strlen(record)) : -1;
            free(record);
        }
        snprintf(text, sizeof text, "%s %s", record_status_names[cell.status], cell.reason);
        if (status == 0)
            status = guard_say(&p.guard, MSG_ENDED, text);
    } else {
        dp_mpi_abort(p.mpi);
    }
    status = status == 0 && cell.status == RECORD_OK ? EXIT_PASSED : EXIT_FAILED;
    record_cell_free(&cell);
    /* MPI ends only if all processes have come to the end; else that would wait. */
    if (dp_mpi_close(p.mpi, &err) != 0)
        status = EXIT_FAILED;
    fflush(NULL);
    _exit(status);
}
