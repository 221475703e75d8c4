/* check/check.c: `lockstep check`: probes the implementation, runs the cases, writes the result. */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_info.h"
#include "check/pool.h"
#include "check/record.h"
#include "check/runner.h"
#include "command/command.h"
#include "command/device_list.h"
#include "files/files.h"
#include "launch/child.h"
#include "launch/watch.h"
#include "load.h"
#include "text/alloc.h"

/* Late devices run everything as late as events allow with the schedule 0, and with another one
 * some of it early. A wait that is missing may be found with one of them only. So every seed has
 * the schedule 0 before that of the seed. */
static int run_cases(const char *command, struct runner_run *run)
{
    const uint64_t schedules[] = {0, run->options->seed};
    const enum runner_mode mode =
        run->is.process && !run->options->isolate ? RUNNER_SHARED : RUNNER_EACH;
    struct runner_result **results = cli_alloc(run->n, sizeof *results);
    struct runner_job *jobs = cli_alloc(run->n, sizeof *jobs);
    int status = runner_know(command, run, false);

    for (size_t s = run->options->seed == 0; status == 0 && !run->interrupted && s < 2; ++s) {
        size_t n = 0, used = 0;
        bool over = false; /* there is a failure: of another schedule, or what the profile lacks */

        /* One without a reason is still to be run. */
        for (size_t i = 0; i < run->n && run->options->exitfirst; ++i)
            over = over || (run->result[i].reason[0] != '\0' && runner_failed(&run->result[i]));

        /* One that passed with another schedule is to be run, too. */
        for (size_t i = 0; i < run->n; ++i) {
            struct runner_result *result = &run->result[i];

            if (result->reason[0] != '\0' || result->strays.n > 0)
                continue;
            if (over) {
                runner_unask(result, false);
                continue;
            }
            result->verdict = CHECK_BROKEN;
            results[used++] = result;
        }
        /* Each is a job; or a process has whole areas, as starting one takes longer than a case. */
        for (size_t i = 0; i < used; ++i) {
            if (mode == RUNNER_EACH || n == 0 ||
                (jobs[n - 1].n >= used / run->options->jobs &&
                 runner_area_of(results[i]->test->rule) !=
                     runner_area_of(results[i - 1]->test->rule))) {
                jobs[n] = runner_job_of(run->options, run->options->impl);
                jobs[n].schedule = schedules[s];
                jobs[n].mode = mode;
                jobs[n].process = run->is.process;
                jobs[n].expected = &run->is.about;
                jobs[n++].result = results + i;
            }
            ++jobs[n - 1].n;
        }
        status = runner_jobs(command, run->options, jobs, n, run->n);
        if (status != EXIT_INTERRUPTED)
            continue;
        runner_interrupt(jobs, n, s == 0);
        run->interrupted = true;
        status = 0;
    }
    free(results);
    free(jobs);
    return status == 0 ? runner_know(command, run, run->cause[0] == '\0') : status;
}

/* Writes the result in a format; path: of its file, "" for standard output. */
static int write_result(const char *command, const struct runner_run *run, size_t format,
                        FILE *stream, const char *path)
{
    void (*const text)(FILE *, const struct runner_run *) =
        run->options->copies > 0 && run->cause[0] == '\0' ? runner_copies_text : runner_text;
    const struct {
        void (*own)(FILE *, const struct runner_run *); /* NULL: a shared format */
        enum export_format shared;
    } formats[RUNNER_FORMATS] = {[RUNNER_FORMAT_TEXT] = {.own = text},
                                 [RUNNER_FORMAT_JUNIT] = {.shared = EXPORT_JUNIT},
                                 [RUNNER_FORMAT_MD] = {.own = runner_markdown},
                                 [RUNNER_FORMAT_CSV] = {.shared = EXPORT_CSV},
                                 [RUNNER_FORMAT_OPENMETRICS] = {.shared = EXPORT_OPENMETRICS},
                                 [RUNNER_FORMAT_ANNOTATIONS] = {.shared = EXPORT_ANNOTATIONS}};
    struct text_error err = {""};
    int status = 0;

    if (format == RUNNER_FORMAT_JSON)
        status = runner_json(stream, run, &err);
    else if (!formats[format].own)
        status = runner_export(stream, run, formats[format].shared, &err);
    else
        formats[format].own(stream, run);
    if (status != 0)
        return command_refuse(command, "%s", err.text);
    /* The result is read back, as the program that gets it later has to be able to. An error of
     * writing is reported when the file is closed. */
    if (path[0] == '\0' || format != RUNNER_FORMAT_JSON || fflush(stream) != 0)
        return 0;
    struct check_record *const record = check_record_read(path, &err);

    if (!record)
        status =
            command_refuse(command, "--out: nothing could read the result again: %s", err.text);
    check_record_free(record);
    return status;
}

/* Writes the files, and in any case what goes to standard output. */
static int write_results(const char *command, const struct runner_run *run,
                         struct whole_file out[RUNNER_FORMATS])
{
    int status = 0;

    for (size_t f = 0; f < RUNNER_FORMATS && status == 0; ++f)
        if (out[f].file)
            status = write_result(command, run, f, out[f].file, out[f].temporary);
    const int shown = write_result(command, run, run->options->format, stdout, "");

    status = status == 0 ? shown : status;
    return status == 0 ? runner_out_close(command, out) : status;
}

/* Returns an exit status if the list is wrong. If the built-in implementation lacks these GPUs, or
 * copies the two devices that they need, the run has the cause. A new process looks for them,
 * because CUDA does not work in a child that was forked after it was started, and the cases are
 * forked. */
static int gpus_there(const char *command, struct runner_run *run)
{
    const struct runner_options *options = run->options;
    const struct dp_group_config config = {.devices = options->devices};
    struct dp_group *group = NULL;
    struct dp_kind_row kind;
    char line[RUNNER_TEXT];
    int status = 0, ended = EXIT_FAILED;

    if (options->spec.kind != IMPL_SPEC_REFERENCE || !dp_kind_of(options->devices, &kind) ||
        ((kind.flags & DP_KIND_GPU) == 0 && options->copies == 0))
        return 0;
    FILE *said = tmpfile(); /* what the child complains of, for the result as well */
    const pid_t child = child_fork(CHILD_SAME_GROUP);

    if (child == 0) {
        if (said)
            dup2(fileno(said), STDERR_FILENO);
        ended = command_open_group(command, &config, options->require_devices, &group);
        if (ended == 0 && options->copies > 0 && dp_group_size(group) < 2) {
            command_complain(command, "--copies: '%s' has fewer than two devices",
                             options->devices);
            ended = EXIT_SKIPPED;
        }
        dp_group_close(group);
        _exit(ended);
    }
    if (child < 0 || child_wait(child, &status) || !WIFEXITED(status))
        command_complain(command, "cannot find out whether there are GPUs");
    else
        ended = WEXITSTATUS(status);
    snprintf(run->cause, sizeof run->cause, "the devices '%s' are not there", options->devices);
    for (int ok = said && fseek(said, 0, SEEK_SET) == 0; ok && fgets(line, sizeof line, said);) {
        fputs(line, stderr);
        line[strcspn(line, "\n")] = '\0';
        text_clean(line, '?');
        const char *why = strstr(line, ": ");
        snprintf(run->cause, sizeof run->cause, "%s", why ? why + 2 : line);
    }
    if (said)
        fclose(said);
    if (ended == 0 || ended == EXIT_MISUSE) {
        run->cause[0] = '\0';
        return ended;
    }
    run->caused = ended == EXIT_SKIPPED ? CHECK_SKIP : CHECK_BROKEN;
    if (ended == EXIT_FAILED)
        run->caused = CHECK_FAIL;
    run->profiles = options->profiles;
    return 0;
}

/* A pass does not count if an operation of the devices fails on purpose. */
static void note_fault(struct runner_run *run)
{
    static const char *const words[][2] = {
        {"", ""},
        {"; but no case failed on '", "': that call was in none, or nothing came of it"},
        {"; the fault of '", "' makes it slow and changes no result: lockstep soak or lockstep "
                             "validate finds it"}};
    const char *devices = run->options->devices;
    const bool slows = device_list_fault_slows(devices);

    run->unfelt = !slows && runner_exit(run) == EXIT_PASSED && device_list_faulty(devices);
    const int which = slows ? 2 : run->unfelt;

    snprintf(run->fault, sizeof run->fault, "%s%.*s%s", words[which][0], 64 * (which > 0), devices,
             words[which][1]);
}

static int check_implementation(const char *command, const struct runner_options *options,
                                const struct check_case *const tests[], size_t n,
                                struct whole_file out[RUNNER_FORMATS])
{
    const uint64_t begin_ns = watch_clock_ns();
    const struct dp_group_config config = {
        .devices = "virt:1", .backend = options->backend[0] != '\0' ? options->backend : NULL};
    static const struct check_case copies = {
        .id = "COPY.all", .rule = "COPY", .profiles = PROFILE_PRIMITIVES};
    const struct check_case *const all_copies[] = {&copies}, *const * all[] = {tests, all_copies};
    const size_t many[] = {n, 1};
    const bool copying = options->copies > 0;
    struct runner_run *const run = cli_alloc(1, sizeof *run);
    struct dp_group *group = NULL;
    struct dp_kind_row kind;
    int status;

    run->options = options;
    /* Makes this process, and so those of the cases, not traceable: foreign code could write
     * results. A sanitizer traces its own process to look for leaks. */
    if ((options->spec.kind == IMPL_SPEC_COMMAND || options->spec.kind == IMPL_SPEC_LIBRARY) &&
        BUILD_SANITIZERS[0] == '\0')
        run->traceable =
            prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0;
    /* Loads the libraries of a group once. The processes of the cases are copies of this one, and
     * loading would take a sixth of the time of each. If it fails here, each of them fails and says
     * why. */
    if (options->spec.kind == IMPL_SPEC_REFERENCE &&
        (!dp_kind_of(options->devices, &kind) || (kind.flags & DP_KIND_GPU) == 0) &&
        dp_group_open(&config, &group, NULL) == 0)
        dp_group_close(group);
    status = gpus_there(command, run);
    if (status == 0 && run->cause[0] == '\0')
        status = options->copies > 0 ? runner_copies(command, run)
                                     : runner_probe(command, options->impl, run);
    if (status == EXIT_INTERRUPTED && options->copies == 0) {
        run->interrupted = true;
        snprintf(run->cause, sizeof run->cause, "the run was interrupted");
        status = 0;
    }
    if (status == 0 && run->cause[0] == '\0')
        runner_find_devices(command, run);
    if (status == 0 && run->n == 0)
        runner_prepare(run, all[copying], many[copying]);
    if (status == 0 && options->copies == 0)
        status = run_cases(command, run);
    if (status == 0) {
        runner_require_devices(run);
        note_fault(run);
        run->seconds = (double)(watch_clock_ns() - begin_ns) / 1e9;
        status = write_results(command, run, out);
        if (status == 0)
            status = runner_exit(run);
    }
    runner_run_free(run);
    free(run);
    return status;
}

/* Keeps those of the tests that failed in a result: --only @FILE. */
static int keep_failed(const char *command, const char *path, const struct check_case *tests[],
                       size_t *n)
{
    struct text_error why;
    struct check_record *const before = check_record_read(path, &why);
    const size_t asked = *n;

    if (!before)
        return command_refuse(command, "--only: %s", why.text);
    *n = 0;
    for (size_t i = 0; i < asked; ++i)
        for (size_t j = 0; j < before->n_cases; ++j)
            if (runner_failed(&before->result[j]) && strcmp(before->cases[j].id, tests[i]->id) == 0)
                tests[(*n)++] = tests[i];
    check_record_free(before);
    return *n > 0 ? 0
                  : command_refuse(command, "--only: none of these cases failed in '%.300s'", path);
}

int check_main(int argc, char **argv)
{
    struct runner_options *options = cli_alloc(1, sizeof *options);
    const struct check_case **tests = NULL;
    struct whole_file *const out = cli_alloc(RUNNER_FORMATS, sizeof *out);
    int status = runner_parse(argc, argv, options);
    uint64_t areas;
    size_t n = 0;

    if (status == 0 && options->rules) {
        status = runner_areas(argv[0], options, &areas);
        if (status == 0)
            runner_rules(stdout, areas);
    } else if (status == 0) {
        status = runner_select(argv[0], options, &tests, &n);
        if (status == 0 && options->only[0] == '@')
            status = keep_failed(argv[0], options->only + 1, tests, &n);
        if (status == 0 && options->list) {
            void (*const list)(FILE *, const struct check_case *const[], size_t) =
                options->format == RUNNER_FORMAT_JSON ? runner_list_json : runner_list;

            list(stdout, tests, n);
        } else if (status == 0) {
            stop_watch_signals(); /* before there is a file that a signal would leave */
            status = runner_out_open(argv[0], options, out);
            if (status == 0)
                status = options->mutants ? runner_mutants(argv[0], options, tests, n, out)
                                          : check_implementation(argv[0], options, tests, n, out);
            for (size_t f = 0; f < RUNNER_FORMATS; ++f)
                if (out[f].file)
                    whole_discard(&out[f]);
        }
    }
    free(tests);
    free(out);
    free(options);
    return status;
}
