/* measure/main.c: the worker process of a sweep: it measures one cell and prints one record on
 * stdout, and before it the line of its trace, if one was asked for.
 *
 * Every failure of a cell is in its record; the exit status is 0 whenever a record was written. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "build_info.h"
#include "command/command.h"
#include "dp_mpi.h"
#include "launch/launcher.h"
#include "measure/measure.h"
#include "plan/plan.h"

enum { FIRST_KEY = 256 }; /* number of option 0; it is above all letters */

static error_t parse_cell_option(int key, char *arg, struct argp_state *state)
{
    struct cell_config *config = state->input;

    if (key < FIRST_KEY || key >= FIRST_KEY + CELL_OPTIONS)
        return command_key(key, arg, state);
    if (cell_option_read((size_t)(key - FIRST_KEY), arg, config) == 0)
        return 0;
    return command_bad_option(state, "cannot use '%.60s'", arg);
}

/* Runs one of several processes that a launcher has started. It measures its part of the cell, and
 * sends messages about it on standard output (launch/launcher.h): that it has begun, that
 * it has ended; the first process also sends the record. If a signal ends it, or the time-out of
 * the cell, or because its launcher is gone, it sends that and ends. Returns an exit status. */
static int process_run(const struct cell_config *config)
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

        status = record ? guard_say(&guard, MSG_PART, record) : -1;
        free(record);
    }
    snprintf(text, sizeof text, "%s %s", record_status_names[cell.status], cell.reason);
    if (status == 0)
        status = guard_say(&guard, MSG_ENDED, text);
    status = status == 0 && cell.status == RECORD_OK ? EXIT_PASSED : EXIT_FAILED;
    record_cell_free(&cell);
    guard_leave(mpi, status);
}

int cell_main(int argc, char **argv)
{
    struct argp_option table[CELL_OPTIONS + 1];
    const struct argp argp = {.options = table,
                              .parser = parse_cell_option,
                              .doc = "Worker of sweep: measures one cell, prints its record."};
    struct cell_config config = {.backend = "cpu",
                                 .limits = {.seconds = 1, .min_steps = 10, .max_steps = 2000}};
    struct record_cell cell = {.status = RECORD_BROKEN};
    size_t n = 0;
    int status;
    char *text;

    for (int i = 0; i < CELL_OPTIONS; ++i)
        if (cell_option_name((size_t)i)[0] != '\0')
            table[n++] = (struct argp_option){.name = cell_option_name((size_t)i),
                                              .key = FIRST_KEY + i,
                                              .arg = cell_option_value((size_t)i)};
    table[n] = (struct argp_option){0};
    if ((status = command_parse(&argp, argc, argv, &config)))
        return status;
    prctl(PR_SET_NAME, "lockstep cell"); /* it was started as /proc/self/exe */
    if ((config.mode == CELL_COLLECTIVE ? config.size_bytes == 0
                                        : config.workload.n_sizes == 0 || config.rows == 0) ||
        config.n_devices == 0 || config.limits.max_steps == 0 ||
        config.limits.min_steps > config.limits.max_steps || !(config.limits.seconds >= 0)) {
        fprintf(stderr, "%s: needs --workload, --devices, --count, --rows and sensible limits\n",
                argv[0]);
        return EXIT_MISUSE;
    }
    if (config.per_process > 0)
        return process_run(&config);
    cell_measure(&config, config.trace ? stdout : NULL, NULL, &cell);
    text = record_cell_text(&cell);
    if (text)
        puts(text);
    else
        fprintf(stderr, "%s: out of memory for the record\n", argv[0]);
    free(text);
    record_cell_free(&cell);
    return text ? EXIT_PASSED : EXIT_FAILED;
}
