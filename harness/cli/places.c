/* cli/places.c: starts processes that say where they are, and prints the differences first; and
 * `lockstep place`, one of these processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "dp_mpi.h"
#include "launch/launcher.h"
#include "machine/machine.h"
#include "machine/node.h"
#include "text/alloc.h"
#include "text/text.h"

enum { COLUMNS = 80 };
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

/* Each process has sent its last message, and it was good. Returns 0, or -1 and why not; "": a stop
 * was requested. */
static int ask_places(const char *launcher, int n, struct record_place place[],
                      struct text_error *why)
{
    char number[24], text[MSG_NAME_BYTES + 120];
    char *own[] = {"place", "--processes", number, "--limit", LIMIT, NULL};
    struct text_error unread = {""};
    struct launched run;
    int failed, status = 0;

    snprintf(number, sizeof number, "%d", n);
    if (launcher_run(launcher, n, own, LAUNCH_OUTPUT, limit_seconds, &run, why) ||
        run.program.interrupted) {
        launched_free(&run);
        return -1;
    }
    if ((failed = first_failed_process(run.messages, "ok")) >= 0) {
        launcher_process_name(run.messages, failed, text);
        status = text_fail(why, "%s: %.300s", text, run.messages->process[failed].ended);
    } else if (run.messages->nobody[0] != '\0') {
        status = text_fail(why, "%.300s", run.messages->nobody);
    } else if (first_unfinished_process(run.messages, text, sizeof text) >= 0) {
        status = text_fail(why, "%s%s", text, run.program.timed_out ? ", within " LIMIT " s" : "");
    } else if (run.program.timed_out || run.program.status != 0) {
        status = text_fail(why, "all processes ended well, but not the launcher");
    }
    for (int p = 0; p < n && status == 0; ++p) {
        const struct launcher_process *process = &run.messages->process[p];

        place[p].pid = process->pid;
        snprintf(place[p].host, sizeof place[p].host, "%.63s", process->host);
        snprintf(place[p].library, sizeof place[p].library, "%.95s", process->library);
        text_clean(place[p].host, '?');
        text_clean(place[p].library, '?');
        if (record_run_parse(process->parts ? process->parts : "", &place[p].run, &unread))
            status = text_fail(why, "what process %d says of itself: %.300s", p, unread.text);
        else
            record_clean(record_run_fields, &place[p].run);
    }
    launched_free(&run);
    return status;
}

int places_show(const char *command, char *launcher, size_t processes, bool json)
{
    static const char *const facts[] = {"program_version", "git_sha", "compiler", "blas",
                                        "kernel",          "libc",    "cpu_model"};
    struct text_error why = {""};

    if (launcher_check(launcher, &why))
        return command_refuse(command, "--launcher: %s", why.text);
    struct record_place *place = cli_alloc(processes, sizeof *place);

    if (ask_places(launcher, (int)processes, place, &why)) {
        if (why.text[0] != '\0')
            command_complain(command, "--launcher: %s", why.text);
        free(place);
        return EXIT_FAILED;
    }
    int status = EXIT_PASSED;

    if (json) {
        char *text = record_places_text(launcher, place, (int)processes);

        if (text)
            puts(text);
        else
            status = command_refuse(command, "what the processes say has no form in JSON");
        free(text);
    } else {
        print_differences(place, (int)processes);
        printf("\nProcesses\n  %-8s %-24s %-8s %s\n", "process", "host", "pid", "cores");
        for (size_t p = 0; p < processes; ++p)
            printf("  %-8zu %-24s %-8ld %s\n", p, place[p].host, place[p].pid,
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

/* Other builds are what is looked for, so none is refused. */
int place_main(int argc, char **argv)
{
    const struct command_syntax syntax = {.options = option_table};
    const struct dp_group_config config = {.devices = "virt:1", .bind = true};
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
    struct record_run *run = cli_alloc(1, sizeof *run);
    struct dp_group *group = NULL;
    struct dp_machine machine;
    char *text = NULL;

    /* The header of records that a sweep would write here, with one device, which has all cores
     * that the launcher left to this process. */
    if (dp_machine_read(&machine, &err) == 0 && dp_group_open(&config, &group, &err) == 0 &&
        provenance_read(group, &machine, run) == 0) {
        run->launches = 1; /* a header is read back only if it can be that of a sweep */
        snprintf(run->scaling, sizeof run->scaling, "strong");
        text = record_run_text(run);
    }
    dp_group_close(group);
    free(run);
    status = text ? guard_say(&guard, MSG_PART, text) : -1;
    free(text);
    if (status)
        (void)guard_say(&guard, MSG_ENDED, err.text);
    else
        status = guard_say(&guard, MSG_ENDED, "ok");
    guard_leave(mpi, status == 0 ? EXIT_PASSED : EXIT_FAILED);
}
