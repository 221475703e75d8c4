/* measure/process.c: runs one of several processes that measure a cell together. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_info.h"
#include "command/command.h"
#include "dp_mpi.h"
#include "launch/launcher.h"
#include "measure/measure.h"
#include "record/record.h"

int process_run(const struct cell_config *config)
{
    const unsigned ms = config->timeout > 0 ? (unsigned)(config->timeout * 500) : 0;
    struct record_cell cell = {.status = RECORD_BROKEN};
    char plan[128], text[MSG_TEXT_BYTES];
    struct guard guard;
    int status = 0;

    /* All processes must run the same program with the same cell. */
    cell_identify(config, &cell);
    snprintf(plan, sizeof plan, "run %s, cell %s, seed %llu", config->run_id, cell.cell_id,
             (unsigned long long)config->seed);
    const struct dp_mpi_config how = {.processes = cell_processes(config),
                                      .deadline_ms = ms,
                                      .start_ms = ms,
                                      .build = BUILD_VERSION " " BUILD_SOURCE,
                                      .plan = plan};
    struct dp_mpi *mpi = guard_open(&guard, config->timeout, &how);

    cell_measure(config, NULL, mpi, &cell);
    /* The first process also sends the record, which is that of all. */
    if (dp_mpi_rank(mpi) == 0) {
        char *record = record_cell_text(&cell);

        status = record ? guard_say_parts(&guard, record, strlen(record)) : -1;
        free(record);
    }
    snprintf(text, sizeof text, "%s %s", record_status_names[cell.status], cell.reason);
    if (status == 0)
        status = guard_say(&guard, MSG_ENDED, text);
    status = status == 0 && cell.status == RECORD_OK ? EXIT_PASSED : EXIT_FAILED;
    record_cell_free(&cell);
    guard_leave(mpi, status);
}
