/* sweep/launched.c: starts a cell through a launcher, and judges it by the messages of its
 * processes.
 *
 * A launcher may end with status 0 although a process failed, and print anything. So a cell passes
 * only with the last message of every process. */
#include "sweep/sweep.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/launcher_messages.h"
#include "plan/launcher.h"
#include "record/identify.h"
#include "sweep/launch.h"

enum { GRACE_SECONDS = 8, PATH_BYTES = 4096 };

/* ---- words ----------------------------------------------------------------------------------- */

static int fail(struct record_cell *cell, enum record_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(struct record_cell *cell, enum record_status status, const char *format, ...)
{
    va_list arguments;

    cell->status = status;
    cell->validated = false;
    va_start(arguments, format);
    vsnprintf(cell->reason, sizeof cell->reason, format, arguments);
    va_end(arguments);
    return -1;
}

/* Writes a text like "the launcher ended with status 1". */
static void how_it_ended(int status, char *text, size_t bytes)
{
    if (WIFSIGNALED(status))
        snprintf(text, bytes, "the launcher died of signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, bytes, "the launcher ended with status %d", WEXITSTATUS(status));
}

/* ---- verdicts -------------------------------------------------------------------------------- */

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

static int accept(const struct launcher_messages *messages, struct record_cell *cell)
{
    const struct launcher_process *first = &messages->process[0];
    struct record_cell sent;
    struct text_error err = {""};

    if (!first->parts)
        return fail(cell, RECORD_BROKEN, "process 0 of %d ended well, and sent no record",
                    messages->n);
    if (record_cell_parse(first->parts, &sent, &err))
        return fail(cell, RECORD_BROKEN, "the record of process 0 cannot be used: %.200s",
                    err.text);
    if (strcmp(sent.cell_id, cell->cell_id) != 0 || strcmp(sent.run_id, cell->run_id) != 0) {
        record_cell_free(&sent);
        return fail(cell, RECORD_BROKEN, "process 0 sent the record of another cell");
    }
    *cell = sent;
    return 0;
}

static int judge(const struct launch_output *output, const struct launcher_messages *messages,
                 double timeout_seconds, struct record_cell *cell)
{
    char silent[220], end[80];
    const bool some = first_unfinished_process(messages, silent, sizeof silent) >= 0;
    const int failed = find_failed(messages);

    how_it_ended(output->status, end, sizeof end);
    if (failed >= 0) {
        const char *ended = messages->process[failed].ended;
        char name[MSG_NAME_BYTES];

        launcher_process_name(messages, failed, name);
        return fail(cell, status_of(ended), "%s: %.200s", name,
                    ended + strcspn(ended, " ") + (strchr(ended, ' ') != NULL));
    }
    if (output->timed_out)
        return fail(cell, RECORD_TIMEOUT, "killed after %g s (--timeout)%s%s", timeout_seconds,
                    some ? ": " : "", some ? silent : "");
    if (messages->nobody[0] != '\0')
        return fail(cell, RECORD_BROKEN, "%.300s", messages->nobody);
    if (some)
        return fail(cell, messages->process[0].has[MSG_BEGUN] ? RECORD_CRASHED : RECORD_BROKEN,
                    "%s; %s", silent, end);
    if (output->status != 0)
        return fail(cell, RECORD_CRASHED, "all processes ended well, but %s", end);
    return accept(messages, cell);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* Notes the ranks of each host, once all processes have sent where they are. */
static void note_hosts(const struct launcher_messages *messages, const struct cell_config *config,
                       struct record_cell *cell)
{
    cell->hosts = launcher_hosts(messages, (int)config->per_process, cell->host_ranks,
                                 sizeof cell->host_ranks);
    if (cell->hosts == 0)
        return;
    const char *pid = strchr(messages->process[0].begun, ' ');
    const char *library = pid ? strchr(pid + 1, ' ') : NULL;

    snprintf(cell->mpi_library, sizeof cell->mpi_library, "%s", library ? library + 1 : "");
}

/* ---- a cell ---------------------------------------------------------------------------------- */

/* Makes the arguments of the launcher: mpirun -n 2 /path/of/lockstep cell ... NULL: that is not
 * possible. */
static char **make_argument(struct launcher *words, struct launch_command *command)
{
    const size_t n = (size_t)words->n + LAUNCH_ARGUMENTS + 1;
    char **argument = calloc(1, n * sizeof *argument + PATH_BYTES);
    char *self = argument ? (char *)(argument + n) : NULL;

    if (!argument || readlink("/proc/self/exe", self, PATH_BYTES - 1) < 0) {
        free(argument);
        return NULL;
    }
    memcpy(argument, words->word, (size_t)words->n * sizeof *argument);
    memcpy(argument + words->n, command->argument, sizeof command->argument);
    argument[words->n] = self;
    return argument;
}

static void hear(struct launch_output *output, const struct cell_config *config,
                 double timeout_seconds, struct record_cell *cell)
{
    struct text_error why = {"out of memory"};
    struct launcher_messages *messages = calloc(1, sizeof *messages);

    if (output->too_long)
        fail(cell, RECORD_BROKEN, "the launcher printed more than a record can be");
    else if (!messages || launcher_messages_read(output->text ? output->text : "",
                                                 cell_processes(config), messages, &why))
        fail(cell, RECORD_BROKEN, "what the launcher printed cannot be used: %.200s", why.text);
    else
        (void)judge(output, messages, timeout_seconds, cell);
    if (messages && !output->too_long) {
        note_hosts(messages, config, cell);
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
    char **argument = NULL;

    timed.timeout = timeout_seconds;
    cell_identify(config, cell);
    launch_command(&timed, &command);
    if (launcher_words(launcher, cell_processes(config), &words) == 0)
        argument = make_argument(&words, &command);
    if (!argument ||
        launch_gently(argument[0], argument, timeout_seconds, GRACE_SECONDS, &output) != 0) {
        fail(cell, RECORD_BROKEN, "no launcher could be started: %s", strerror(errno));
        free(argument);
        return 0;
    }
    if (!output.interrupted)
        hear(&output, config, timeout_seconds, cell);
    free(argument);
    free(output.text);
    return output.interrupted ? 1 : 0;
}
