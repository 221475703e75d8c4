/* cli/places.c: starts processes that say where they are, and prints the differences first; and
 * `lockstep place`, one of these processes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/places.h"
#include "command/command.h"
#include "dp_mpi.h"
#include "launch/guard.h"
#include "launch/launcher.h"
#include "launch/launcher_messages.h"
#include "launch/program.h"
#include "machine/places.h"
#include "machine/provenance.h"
#include "text/text.h"

enum { COLUMNS = 80, GRACE_SECONDS = 8 };
#define LIMIT "60"
static const double limit_seconds = 60;

/* ---- words ----------------------------------------------------------------------------------- */

static void print_differences(const struct record_place place[], int n)
{
    const struct record_field *field = NULL;
    int found = 0;

    printf("Differences between processes\n");
    if (record_places_libraries(place, n)) {
        printf("  MPI library\n");
        for (int p = 0; p < n; ++p)
            printf("    %d: %s\n", p, place[p].library);
        ++found;
    }
    for (; (field = record_places_differ(place, n, field)); ++found) {
        printf("  %s\n", field->words);
        /* "0, 2: VALUE" of all that have a value, where the first of them is. */
        for (int p = 0; p < n; ++p) {
            char who[200] = "", value[1024], other[1024], line[1400];
            bool said = false;

            record_place_show(field, &place[p], value, sizeof value);
            for (int q = 0; q < n; ++q) {
                record_place_show(field, &place[q], other, sizeof other);
                if (strcmp(value, other) != 0)
                    continue;
                said = said || q < p;
                text_add(who, sizeof who, "%s%d", who[0] != '\0' ? ", " : "", q);
            }
            if (said)
                continue;
            snprintf(line, sizeof line, "%s: %s", who, value);
            const int used = printf("    ");

            command_wrap(stdout, line, (size_t)used, 6, COLUMNS);
        }
    }
    if (found == 0)
        printf("  none, of builds, libraries, settings and machines\n");
}

/* ---- what was said --------------------------------------------------------------------------- */

/* Each process has had the last word, and it was good. */
static int judge(const char *command, const struct launch_output *output,
                 const struct launcher_messages *messages)
{
    char text[MSG_NAME_BYTES + 120], who[MSG_NAME_BYTES];

    for (int p = 0; p < messages->n; ++p)
        if (messages->process[p].has[MSG_ENDED] && strcmp(messages->process[p].ended, "ok") != 0) {
            launcher_process_name(messages, p, who);
            command_complain(command, "--launcher: %s: %.300s", who, messages->process[p].ended);
            return -1;
        }
    if (messages->nobody[0] != '\0')
        command_complain(command, "--launcher: %.300s", messages->nobody);
    else if (first_unfinished_process(messages, text, sizeof text) >= 0)
        command_complain(command, "--launcher: %s%s", text,
                         output->timed_out ? ", within " LIMIT " s" : "");
    else if (output->timed_out || output->status != 0)
        command_complain(command, "--launcher: all processes ended well, but not the launcher");
    else
        return 0;
    return -1;
}

static int read_places(const char *command, const struct launcher_messages *messages,
                       struct record_place place[])
{
    struct text_error why = {""};

    for (int p = 0; p < messages->n; ++p) {
        const struct launcher_process *process = &messages->process[p];

        record_place_begun(&place[p], process->begun);
        text_clean(place[p].host, '?');
        text_clean(place[p].library, ' ');
        if (record_run_parse(process->parts ? process->parts : "", &place[p].run, &why)) {
            command_complain(command, "--launcher: what process %d says of itself: %.300s", p,
                             why.text);
            return -1;
        }
        record_clean(record_run_fields, &place[p].run);
    }
    return 0;
}

static int show(const char *command, const char *launcher, const struct launch_output *output,
                int n, bool json)
{
    struct record_place *place = calloc((size_t)n, sizeof *place);
    struct text_error why = {""};
    struct launcher_messages *messages = calloc(1, sizeof *messages);
    int status = EXIT_FAILED;

    if (!place || !messages || output->no_memory) {
        command_complain(command, "out of memory");
        free(place);
        free(messages);
        return EXIT_FAILED;
    }
    if (launcher_messages_read(output->text ? output->text : "", n, messages, &why))
        command_complain(command, "--launcher: what it printed cannot be used: %.200s", why.text);
    else if (judge(command, output, messages) == 0 && read_places(command, messages, place) == 0)
        status = EXIT_PASSED;
    launcher_messages_free(messages);
    free(messages);
    if (status == EXIT_PASSED && json) {
        char *text = record_places_text(launcher, place, n);

        if (text)
            puts(text);
        else
            command_complain(command, "out of memory");
        status = text ? EXIT_PASSED : EXIT_FAILED;
        free(text);
    } else if (status == EXIT_PASSED) {
        print_differences(place, n);
        static const char *const facts[] = {"program_version", "git_sha", "compiler", "blas",
                                            "kernel",          "libc",    "cpu_model"};

        printf("\nProcesses\n  %-8s %-24s %-8s %s\n", "process", "host", "pid", "cores");
        for (int p = 0; p < n; ++p)
            printf("  %-8d %-24s %-8ld %s\n", p, place[p].host, place[p].pid,
                   place[p].run.n_slots > 0 ? place[p].run.slot[0].cores : "-");
        printf("\nOf process 0\n");
        printf("  %-12s %s\n", "MPI library", place[0].library);
        for (size_t f = 0; f < sizeof facts / sizeof facts[0]; ++f) {
            const struct record_field *field = record_find(record_run_fields, facts[f]);
            char value[1024];

            if (!field)
                continue;
            record_place_show(field, &place[0], value, sizeof value);
            const int used = printf("  %-12s ", field->words);

            command_wrap(stdout, value, (size_t)used, (size_t)used, COLUMNS);
        }
    }
    free(place);
    return status;
}

int places_show(const char *command, const char *launcher, size_t processes, bool json)
{
    char number[24];
    char *own[] = {"place", "--processes", number, "--limit", LIMIT, NULL};
    struct launch_output output;
    struct launcher words;
    struct text_error why = {""};

    snprintf(number, sizeof number, "%zu", processes);
    if (launcher_check(launcher, &why) ||
        launcher_words(launcher, (int)processes, own, &words, &why))
        return command_refuse(command, "--launcher: %s", why.text);
    if (launch_program(&(struct launch_how){.program = words.word[0],
                                            .argument = words.word,
                                            .seconds = limit_seconds,
                                            .grace = GRACE_SECONDS},
                       &output)) {
        command_complain(command, "--launcher: '%s' cannot be started: %s", words.word[0],
                         strerror(errno));
        return EXIT_FAILED;
    }
    const int status =
        output.interrupted ? EXIT_FAILED : show(command, launcher, &output, (int)processes, json);

    free(output.text);
    return status;
}

/* ---- one of the processes -------------------------------------------------------------------- */

enum { KEY_PROCESSES = 256, KEY_LIMIT };

struct place_options {
    size_t processes;
    double limit;
};

static const struct command_option option_table[] = {
    {"processes", KEY_PROCESSES, "N", "that there have to be", COMMAND_SIZE,
     .offset = offsetof(struct place_options, processes), .least = 1, .most = MSG_PROCESSES},
    {"limit", KEY_LIMIT, "S", "seconds for all of it", COMMAND_REAL,
     .offset = offsetof(struct place_options, limit), .from = 0.1, .to = 86400},
    {0}};

/* The header of records that a sweep would write here, with one device, which has all cores that
 * the launcher left to this process. NULL and why. Caller frees. */
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

/* Other builds are what is looked for, so none is refused. */
int place_main(int argc, char **argv)
{
    const struct command_syntax syntax = {.options = option_table};
    struct place_options options = {.processes = 1, .limit = 60};
    struct dp_error err = {.text = "this machine cannot be read"};
    struct guard guard;
    int status;

    if ((status = command_read(&syntax, argc, argv, &options)))
        return status;
    const unsigned ms = (unsigned)(options.limit * 500);
    const struct dp_mpi_config how = {
        .processes = (int)options.processes, .deadline_ms = ms, .start_ms = ms, .plan = "devices"};
    struct dp_mpi *mpi = guard_open(&guard, options.limit, &how);
    char *text = describe(&err);

    status = text ? guard_say_parts(&guard, text, strlen(text)) : -1;
    free(text);
    if (status)
        (void)guard_say(&guard, MSG_ENDED, err.text);
    else
        status = guard_say(&guard, MSG_ENDED, "ok");
    guard_leave(mpi, status == 0 ? EXIT_PASSED : EXIT_FAILED);
}
