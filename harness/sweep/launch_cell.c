/* sweep/launch_cell.c: makes a launch: a worker process, or several that a launcher starts. Judges
 * how they ended.
 *
 * A launcher may end with status 0 although a process failed, and print anything. So a launch
 * of several processes passes only with the last message of every process. */
#include "sweep/sweep.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "launch/launcher.h"
#include "record/record.h"
#include "text/alloc.h"

_Static_assert(PROGRAM_OUTPUT_BYTES == RECORD_LINE_BYTES, "a worker prints one record");

/* The command line of a worker, "lockstep cell ..."; the strings that it points to are in the same
 * object. */
enum { LAUNCH_ARGUMENTS = 2 * CELL_OPTIONS + 3, LAUNCH_NAME_BYTES = 32 };
struct launch_command {
    char *argument[LAUNCH_ARGUMENTS];
    char program[sizeof "lockstep"], command[sizeof "cell"];
    char name[CELL_OPTIONS][LAUNCH_NAME_BYTES], value[CELL_OPTIONS][CELL_VALUE_BYTES];
};
_Static_assert((int)LAUNCH_ARGUMENTS <= (int)LAUNCHER_OWN, "the command line of a cell has room");

static void launch_command(const struct cell_config *config, struct launch_command *line)
{
    int n = 0;

    *line = (struct launch_command){.program = "lockstep", .command = "cell"};
    line->argument[n++] = line->program;
    line->argument[n++] = line->command;
    for (size_t i = 0; i < CELL_OPTIONS; ++i) {
        if (!cell_option_write(i, config, line->value[i]))
            continue;
        snprintf(line->name[i], sizeof line->name[i], "--%s", cell_option_name(i));
        line->argument[n++] = line->name[i];
        if (cell_option_value(i))
            line->argument[n++] = line->value[i];
    }
    line->argument[n] = NULL;
}

static void end_cell(struct record_cell *cell, enum record_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void end_cell(struct record_cell *cell, enum record_status status, const char *format, ...)
{
    va_list arguments;

    cell->status = status;
    cell->validated = false;
    va_start(arguments, format);
    vsnprintf(cell->reason, sizeof cell->reason, format, arguments);
    va_end(arguments);
}

/* Writes a text like "the launcher ended with status 1". */
static void how_it_ended(const char *who, int status, char *text, size_t bytes)
{
    if (WIFSIGNALED(status))
        snprintf(text, bytes, "%s died of signal %d (%s)", who, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, bytes, "%s ended with status %d", who, WEXITSTATUS(status));
}

/* Uses the record that was sent, if it is valid and of the launch that was asked for. */
static void accept_record(const char *line, const char *who, const char *whose,
                          struct record_cell *cell)
{
    struct record_cell sent;
    struct text_error err = {""};

    if (record_cell_parse(line, &sent, &err)) {
        end_cell(cell, RECORD_BROKEN, "%s cannot be used: %.200s", whose, err.text);
    } else if (strcmp(sent.cell_id, cell->cell_id) != 0 || strcmp(sent.run_id, cell->run_id) != 0) {
        record_cell_free(&sent);
        end_cell(cell, RECORD_BROKEN, "%s sent the record of another launch", who);
    } else {
        *cell = sent;
    }
}

int launch_cell(const char *program, const struct cell_config *config, double timeout_seconds,
                struct record_cell *cell, char **trace)
{
    struct launch_command line;
    const struct launch_how how = {.program = program ? program : "/proc/self/exe",
                                   .argument = line.argument,
                                   .seconds = timeout_seconds};
    struct program output;
    char end[80];

    if (trace)
        *trace = NULL;
    cell_identify(config, cell);
    launch_command(config, &line);
    if (launch_program(&how, &output) != 0) {
        end_cell(cell, RECORD_BROKEN, "no worker could be started: %s", strerror(errno));
        return 0;
    }
    how_it_ended("the worker", output.status, end, sizeof end);
    if (output.interrupted) {
        free(output.text);
        return 1;
    }
    if (output.timed_out) {
        end_cell(cell, RECORD_TIMEOUT, "killed after %g s (--timeout)", timeout_seconds);
    } else if (output.too_long) {
        end_cell(cell, RECORD_BROKEN, "the worker sent more than a record can be");
    } else if (output.status != 0) {
        end_cell(cell, RECORD_CRASHED, "%s", end);
    } else {
        /* The line of the record; there is no other line except that of a trace before it. */
        char *record = output.text;
        char *last = output.length > 0 ? output.text + output.length - 1 : NULL;
        char *stop = last ? memchr(record, '\n', output.length) : NULL;

        if (trace && stop && stop < last) {
            *stop = '\0';
            *trace = cli_copy_text(record);
            record = stop + 1;
            stop = memchr(record, '\n', (size_t)(last - stop));
        }
        if (stop && stop == last) {
            *stop = '\0';
            accept_record(record, "the worker", "the worker's record", cell);
        } else {
            end_cell(cell, RECORD_BROKEN, "the worker sent %zu bytes that are not one line",
                     output.length);
        }
    }
    free(output.text);
    return 0;
}

/* ---- several processes ----------------------------------------------------------------------- */

static void judge_processes(const struct launched *run, double timeout_seconds,
                            struct record_cell *cell)
{
    const struct launcher_messages *messages = run->messages;
    char silent[220], end[80], name[MSG_NAME_BYTES];
    const bool some = first_unfinished_process(messages, silent, sizeof silent) >= 0;
    const int failed = first_failed_process(messages, "ok ");
    enum record_status status = RECORD_BROKEN;

    how_it_ended("the launcher", run->program.status, end, sizeof end);
    if (failed >= 0) {
        const char *ended = messages->process[failed].ended;
        const size_t word = strcspn(ended, " ");

        for (int s = 0; s < RECORD_STATUSES; ++s)
            if (strlen(record_status_names[s]) == word && ended[word] == ' ' &&
                strncmp(ended, record_status_names[s], word) == 0)
                status = (enum record_status)s;
        launcher_process_name(messages, failed, name);
        end_cell(cell, status, "%s: %.200s", name, ended + word + (ended[word] == ' '));
    } else if (run->program.timed_out) {
        end_cell(cell, RECORD_TIMEOUT, "killed after %g s (--timeout)%s%s", timeout_seconds,
                 some ? ": " : "", some ? silent : "");
    } else if (messages->nobody[0] != '\0') {
        end_cell(cell, RECORD_BROKEN, "%.300s", messages->nobody);
    } else if (some) {
        end_cell(cell, messages->process[0].has[MSG_BEGUN] ? RECORD_CRASHED : RECORD_BROKEN,
                 "%s; %s", silent, end);
    } else if (run->program.status != 0) {
        end_cell(cell, RECORD_CRASHED, "all processes ended well, but %s", end);
    } else if (!messages->process[0].parts) {
        end_cell(cell, RECORD_BROKEN, "process 0 of %d ended well, and sent no record",
                 messages->n);
    } else {
        accept_record(messages->process[0].parts, "process 0", "the record of process 0", cell);
    }
}

int launched_cell(const char *launcher, const struct cell_config *config, double timeout_seconds,
                  struct record_cell *cell)
{
    struct cell_config timed = *config;
    struct launch_command command;
    struct text_error why = {""};
    struct launched run;
    int status = 0;

    timed.timeout = timeout_seconds;
    cell_identify(config, cell);
    launch_command(&timed, &command);
    if (launcher_run(launcher, cell_processes(config), command.argument + 1, LAUNCH_OUTPUT,
                     timeout_seconds, &run, &why))
        end_cell(cell, RECORD_BROKEN, "%s", why.text);
    else if (run.program.interrupted)
        status = 1;
    else
        judge_processes(&run, timeout_seconds, cell);
    /* The ranks of each host are noted once all have sent where they are. */
    if (status == 0)
        cell->hosts = launcher_hosts(run.messages, (int)config->per_process, cell->host_ranks,
                                     sizeof cell->host_ranks);
    if (status == 0 && cell->hosts > 0)
        snprintf(cell->mpi_library, sizeof cell->mpi_library, "%.95s",
                 run.messages->process[0].library);
    launched_free(&run);
    return status;
}
