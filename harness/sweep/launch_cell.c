/* sweep/launch_cell.c: runs a cell in a worker process, or through a launcher in several, and
 * judges how they ended.
 *
 * A launcher may end with status 0 although a process failed, and print anything. So a cell of
 * several processes passes only with the last message of every process. */
#include "sweep/sweep.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/launcher.h"
#include "launch/launcher_messages.h"
#include "launch/program.h"
#include "record/record.h"
#include "sweep/launch.h"

_Static_assert(PROGRAM_OUTPUT_BYTES == RECORD_LINE_BYTES, "a worker prints one record");

_Static_assert((int)LAUNCH_ARGUMENTS <= (int)LAUNCHER_OWN, "the command line of a cell has room");

enum { GRACE_SECONDS = 8 };

void launch_command(const struct cell_config *config, struct launch_command *line)
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

/* Uses the record that was sent, if it is valid and of the cell that was asked for. */
static void accept_record(const char *line, const char *who, const char *whose,
                          struct record_cell *cell)
{
    struct record_cell sent;
    struct text_error err = {""};

    if (record_cell_parse(line, &sent, &err)) {
        end_cell(cell, RECORD_BROKEN, "%s cannot be used: %.200s", whose, err.text);
    } else if (strcmp(sent.cell_id, cell->cell_id) != 0 || strcmp(sent.run_id, cell->run_id) != 0) {
        record_cell_free(&sent);
        end_cell(cell, RECORD_BROKEN, "%s sent the record of another cell", who);
    } else {
        *cell = sent;
    }
}

/* ---- one process ----------------------------------------------------------------------------- */

/* The line of the record, if there is no other line except that of a trace before it, which is cut
 * off. NULL: there are other lines. */
static char *record_line(struct launch_output *output, char **trace)
{
    char *line = output->text;
    char *end = output->length > 0 ? memchr(line, '\n', output->length) : NULL;
    const char *last = output->length > 0 ? line + output->length - 1 : NULL;

    if (trace && end && end < last) {
        *end = '\0';
        *trace = strdup(line);
        line = end + 1;
        end = memchr(line, '\n', (size_t)(last - end));
    }
    if (!end || end != last)
        return NULL;
    *end = '\0';
    return line;
}

static void judge_worker(struct launch_output *output, double timeout_seconds,
                         struct record_cell *cell, char **trace)
{
    char end[80];
    const char *line;

    how_it_ended("the worker", output->status, end, sizeof end);
    if (output->timed_out)
        end_cell(cell, RECORD_TIMEOUT, "killed after %g s (--timeout)", timeout_seconds);
    else if (output->no_memory)
        end_cell(cell, RECORD_BROKEN, "no memory for what the worker sent");
    else if (output->too_long)
        end_cell(cell, RECORD_BROKEN, "the worker sent more than a record can be");
    else if (output->status != 0)
        end_cell(cell, RECORD_CRASHED, "%s", end);
    else if (!(line = record_line(output, trace)))
        end_cell(cell, RECORD_BROKEN, "the worker sent %zu bytes that are not one line",
                 output->length);
    else
        accept_record(line, "the worker", "the worker's record", cell);
}

int launch_cell(const char *program, const struct cell_config *config, double timeout_seconds,
                struct record_cell *cell, char **trace)
{
    struct launch_command line;
    const struct launch_how how = {.program = program ? program : "/proc/self/exe",
                                   .argument = line.argument,
                                   .seconds = timeout_seconds};
    struct launch_output output;

    if (trace)
        *trace = NULL;
    cell_identify(config, cell);
    launch_command(config, &line);
    if (launch_program(&how, &output) != 0) {
        end_cell(cell, RECORD_BROKEN, "no worker could be started: %s", strerror(errno));
        return 0;
    }
    if (!output.interrupted)
        judge_worker(&output, timeout_seconds, cell, trace);
    free(output.text);
    return output.interrupted ? 1 : 0;
}

/* ---- several processes ----------------------------------------------------------------------- */

static enum record_status status_of(const char *ended)
{
    for (int s = 0; s < RECORD_STATUSES; ++s) {
        const size_t length = strlen(record_status_names[s]);

        if (strncmp(ended, record_status_names[s], length) == 0 && ended[length] == ' ')
            return (enum record_status)s;
    }
    return RECORD_BROKEN;
}

/* Finds the first process that failed for a reason that it gives itself; others only repeat that it
 * gave up. */
static int find_failed(const struct launcher_messages *messages)
{
    int found = -1;

    for (int p = messages->n - 1; p >= 0; --p) {
        const struct launcher_process *process = &messages->process[p];
        const bool failed = process->has[MSG_ENDED] && status_of(process->ended) != RECORD_OK;

        if (failed && (found < 0 || !strstr(process->ended, " has given up")))
            found = p;
    }
    return found;
}

static void judge_processes(const struct launch_output *output,
                            const struct launcher_messages *messages, double timeout_seconds,
                            struct record_cell *cell)
{
    char silent[220], end[80], name[MSG_NAME_BYTES];
    const bool some = first_unfinished_process(messages, silent, sizeof silent) >= 0;
    const int failed = find_failed(messages);

    how_it_ended("the launcher", output->status, end, sizeof end);
    if (failed >= 0) {
        const char *ended = messages->process[failed].ended;

        launcher_process_name(messages, failed, name);
        end_cell(cell, status_of(ended), "%s: %.200s", name,
                 ended + strcspn(ended, " ") + (strchr(ended, ' ') != NULL));
    } else if (output->timed_out) {
        end_cell(cell, RECORD_TIMEOUT, "killed after %g s (--timeout)%s%s", timeout_seconds,
                 some ? ": " : "", some ? silent : "");
    } else if (messages->nobody[0] != '\0') {
        end_cell(cell, RECORD_BROKEN, "%.300s", messages->nobody);
    } else if (some) {
        end_cell(cell, messages->process[0].has[MSG_BEGUN] ? RECORD_CRASHED : RECORD_BROKEN,
                 "%s; %s", silent, end);
    } else if (output->status != 0) {
        end_cell(cell, RECORD_CRASHED, "all processes ended well, but %s", end);
    } else if (!messages->process[0].parts) {
        end_cell(cell, RECORD_BROKEN, "process 0 of %d ended well, and sent no record",
                 messages->n);
    } else {
        accept_record(messages->process[0].parts, "process 0", "the record of process 0", cell);
    }
}

/* Reads what the processes sent, and notes the ranks of each host, once all have sent where they
 * are. */
static void judge_launcher(struct launch_output *output, const struct cell_config *config,
                           double timeout_seconds, struct record_cell *cell)
{
    struct text_error why = {"out of memory"};
    struct launcher_messages *messages = calloc(1, sizeof *messages);

    if (output->too_long)
        end_cell(cell, RECORD_BROKEN, "the launcher printed more than a record can be");
    else if (!messages || launcher_messages_read(output->text ? output->text : "",
                                                 cell_processes(config), messages, &why))
        end_cell(cell, RECORD_BROKEN, "what the launcher printed cannot be used: %.200s", why.text);
    else
        judge_processes(output, messages, timeout_seconds, cell);
    if (messages && !output->too_long) {
        cell->hosts = launcher_hosts(messages, (int)config->per_process, cell->host_ranks,
                                     sizeof cell->host_ranks);
        if (cell->hosts > 0) {
            const char *pid = strchr(messages->process[0].begun, ' ');
            const char *library = pid ? strchr(pid + 1, ' ') : NULL;

            snprintf(cell->mpi_library, sizeof cell->mpi_library, "%s", library ? library + 1 : "");
        }
        launcher_messages_free(messages);
    }
    free(messages);
}

int launched_cell(const char *launcher, const struct cell_config *config, double timeout_seconds,
                  struct record_cell *cell)
{
    struct cell_config timed = *config;
    struct launch_command command;
    struct launch_output output;
    struct launcher words;
    struct text_error why = {""};

    timed.timeout = timeout_seconds;
    cell_identify(config, cell);
    launch_command(&timed, &command);
    if (launcher_words(launcher, cell_processes(config), command.argument + 1, &words, &why) == 0 &&
        launch_program(&(struct launch_how){.program = words.word[0],
                                            .argument = words.word,
                                            .seconds = timeout_seconds,
                                            .grace = GRACE_SECONDS},
                       &output) != 0)
        text_fail(&why, "%s", strerror(errno));
    if (why.text[0] != '\0') {
        end_cell(cell, RECORD_BROKEN, "no launcher could be started: %s", why.text);
        return 0;
    }
    if (!output.interrupted)
        judge_launcher(&output, config, timeout_seconds, cell);
    free(output.text);
    return output.interrupted ? 1 : 0;
}
