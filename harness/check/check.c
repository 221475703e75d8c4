/* check/check.c: `lockstep check`: probes the implementation, runs the cases, writes the result. */
#include <errno.h>
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
#include "files/stop.h"
#include "launch/child.h"
#include "load.h"
#include "record/document.h"

int runner_stopped(const char *command, int status, struct runner_progress *progress)
{
    const char *why = strerror(errno);

    if (status == 0)
        return 0;
    if (progress)
        runner_progress_close(progress);
    if (status < 0)
        return command_refuse(command, "no process can be started: %s", why);
    if (progress)
        command_complain(command, "interrupted after %zu of %zu verdicts; nothing was written",
                         progress->done, progress->total);
    else
        command_complain(command, "interrupted");
    return EXIT_INTERRUPTED;
}

/* NULL: all ranks are in one process. */
static const struct world_plan *world_of(const struct runner_options *options)
{
    return options->launcher[0] != '\0' ? &options->world : NULL;
}

int runner_probe(const char *command, const char *spec, struct runner_run *run)
{
    struct runner_job *job = calloc(1, sizeof *job);
    const struct runner_options *options = run->options;
    const enum impl_spec_kind kind = impl_spec_read(spec).kind;
    int status;

    if (!job)
        return command_refuse(command, "out of memory");
    *job = (struct runner_job){.spec = spec,
                               .impl_options = options->impl_options,
                               .devices = options->devices,
                               .seed = options->seed,
                               .schedule = options->seed,
                               .mode = RUNNER_PROBE,
                               .world = world_of(options),
                               /* This is known before it is loaded, and starting it may take
                                * long. */
                               .process = kind == IMPL_SPEC_COMMAND || world_of(options),
                               .library = kind == IMPL_SPEC_LIBRARY,
                               .same_process = options->same_process,
                               .limit_s = options->limit_s};
    status = runner_stopped(command, runner_pool(job, 1, 1, NULL), NULL);
    run->is = job->is;
    run->blame = job->blame;
    memcpy(run->cause, job->cause, sizeof run->cause);
    run->profiles = options->profiles;
    if (options->by_default && run->cause[0] == '\0' &&
        (run->is.about.capabilities & IMPL_CAP_DDP) == 0)
        run->profiles &= ~(unsigned)PROFILE_DDP;
    free(job);
    return status;
}

/* Makes jobs of the results that are to be run: each alone, or all of an area for one process.
 * Those that passed with another schedule are to be run, too. */
static size_t make_jobs(const struct runner_run *run, uint64_t schedule, struct runner_job jobs[],
                        struct runner_result *results[])
{
    const bool together = run->is.process && !run->options->isolate;
    const struct check_area *last = NULL;
    size_t n = 0, used = 0;

    for (size_t i = 0; i < run->n; ++i) {
        const struct check_area *area = runner_area_of(run->result[i].test->rule);

        if (run->result[i].reason[0] != '\0' || run->result[i].strays.n > 0)
            continue;
        run->result[i].verdict = CHECK_BROKEN;
        if (n == 0 || !together || area != last)
            jobs[n++] = (struct runner_job){.spec = run->options->impl,
                                            .impl_options = run->options->impl_options,
                                            .devices = run->options->devices,
                                            .seed = run->options->seed,
                                            .schedule = schedule,
                                            .mode = together ? RUNNER_SHARED : RUNNER_EACH,
                                            .world = world_of(run->options),
                                            .process = run->is.process,
                                            .library = run->options->spec.kind == IMPL_SPEC_LIBRARY,
                                            .same_process = run->options->same_process,
                                            .expected = &run->is.about,
                                            .limit_s = run->options->limit_s,
                                            .result = results + used};
        results[used++] = &run->result[i];
        ++jobs[n - 1].n;
        last = area;
    }
    return n;
}

/* Late devices run everything as late as events allow with the schedule 0, and with another one
 * some of it early. A wait that is missing may be found with one of them only. So every seed has
 * the schedule 0 before that of the seed. */
static int run_cases(const char *command, struct runner_run *run)
{
    const uint64_t schedules[] = {0, run->options->seed};
    struct runner_result **results = calloc(run->n + 1, sizeof *results);
    struct runner_job *jobs = calloc(run->n + 1, sizeof *jobs);
    struct runner_progress progress;
    const struct runner_watcher watcher = {runner_progress_verdict, &progress};
    int status = 0;

    if (!results || !jobs) {
        command_complain(command, "out of memory");
        status = EXIT_MISUSE;
    }
    for (size_t s = run->options->seed == 0; status == 0 && s < 2; ++s) {
        const size_t n = make_jobs(run, schedules[s], jobs, results);
        size_t total = 0;

        for (size_t i = 0; i < n; ++i)
            total += jobs[i].n;
        runner_progress_open(&progress, total);
        status =
            runner_stopped(command, runner_pool(jobs, n, run->options->jobs, &watcher), &progress);
        if (status == 0)
            runner_progress_close(&progress);
    }
    free(results);
    free(jobs);
    return status;
}

static int write_result(const char *command, const struct runner_run *run, struct whole_file *out)
{
    static const struct {
        void (*own)(FILE *, const struct runner_run *); /* NULL: a shared format */
        enum export_format shared;
    } formats[RUNNER_FORMATS] = {[RUNNER_FORMAT_TEXT] = {.own = runner_text},
                                 [RUNNER_FORMAT_JUNIT] = {.shared = EXPORT_JUNIT},
                                 [RUNNER_FORMAT_MD] = {.own = runner_markdown},
                                 [RUNNER_FORMAT_CSV] = {.shared = EXPORT_CSV},
                                 [RUNNER_FORMAT_OPENMETRICS] = {.shared = EXPORT_OPENMETRICS},
                                 [RUNNER_FORMAT_ANNOTATIONS] = {.shared = EXPORT_ANNOTATIONS}};
    const size_t format = run->options->format;
    struct text_error err = {"out of memory for the result"};
    FILE *stream = out->file ? out->file : stdout;
    struct check_record record;
    int status = 0;

    if (format == RUNNER_FORMAT_JSON) {
        status = runner_json(stream, run);
        if (status != 0 && !record_memory_failed())
            snprintf(err.text, sizeof err.text,
                     "which machine this is could not be read, for want of memory or of files");
    } else if (!formats[format].own) {
        status = runner_export(stream, run, formats[format].shared, &err);
    } else {
        formats[format].own(stream, run);
    }
    if (out->file)
        runner_text(stdout, run);
    if (status != 0 || record_memory_failed())
        return command_refuse(command, "%s", err.text);
    /* The result is read back, as the program that gets it later has to be able to. An error of
     * writing is reported when the file is closed. */
    if (!out->file || format != RUNNER_FORMAT_JSON || fflush(out->file) != 0)
        return 0;
    if (check_record_read(out->temporary, &record, &err))
        return command_refuse(command, "--out: nothing could read the result again: %s", err.text);
    check_record_free(&record);
    return 0;
}

/* Whether the built-in implementation has these GPUs. A new process looks for them, because CUDA
 * does not work in a child that was forked after it was started, and the cases are forked. */
static int gpus_there(const char *command, const struct runner_options *options)
{
    const struct dp_group_config config = {.devices = options->devices};
    struct dp_group *group = NULL;
    struct dp_kind_row kind;
    int status = 0, ended = EXIT_FAILED;

    if (options->spec.kind != IMPL_SPEC_REFERENCE || !dp_kind_of(options->devices, &kind) ||
        (kind.flags & DP_KIND_GPU) == 0)
        return 0;
    const pid_t child = child_fork(CHILD_SAME_GROUP);

    if (child == 0) {
        ended = command_open_group(command, &config, options->require_devices, &group);
        dp_group_close(group);
        _exit(ended);
    }
    if (child < 0 || child_wait(child, &status) || !WIFEXITED(status))
        command_complain(command, "cannot find out whether there are GPUs");
    else
        ended = WEXITSTATUS(status);
    return ended;
}

/* Loads the libraries of a group once. The processes of the cases are copies of this one, and
 * loading would take a sixth of the time of each. If it fails here, each of them fails and says
 * why. */
static void load_libraries(const struct runner_options *options)
{
    const struct dp_group_config config = {
        .devices = "virt:1",
        .backend = options->backend[0] != '\0' ? options->backend : NULL,
    };
    struct dp_group *group = NULL;
    struct dp_kind_row kind;

    if (options->spec.kind == IMPL_SPEC_REFERENCE &&
        (!dp_kind_of(options->devices, &kind) || (kind.flags & DP_KIND_GPU) == 0) &&
        dp_group_open(&config, &group, NULL) == 0)
        dp_group_close(group);
}

static int check_implementation(const char *command, const struct runner_options *options,
                                const struct check_case *const tests[], size_t n,
                                struct whole_file *out)
{
    const double begin = runner_now();
    struct runner_run *run = calloc(1, sizeof *run);
    int status = EXIT_MISUSE;

    if (!run)
        return command_refuse(command, "out of memory");
    run->options = options;
    /* Makes this process, and so those of the cases, not traceable: foreign code could write
     * results. A sanitizer traces its own process to look for leaks. */
    if ((options->spec.kind == IMPL_SPEC_COMMAND || options->spec.kind == IMPL_SPEC_LIBRARY) &&
        BUILD_SANITIZERS[0] == '\0')
        run->traceable =
            prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0;
    load_libraries(options);
    status = runner_probe(command, options->impl, run);
    if (status == 0 && run->cause[0] == '\0' &&
        (size_t)run->is.about.devices < options->require_devices) {
        if (run->is.about.devices > 0)
            command_complain(command, "--require-devices %zu: %s has %d", options->require_devices,
                             run->is.about.name, run->is.about.devices);
        else
            command_complain(command, "--require-devices %zu: %s has no devices, only the host",
                             options->require_devices, run->is.about.name);
        status = EXIT_FAILED;
    }
    if (status == 0 && runner_prepare(run, tests, n)) {
        command_complain(command, "out of memory");
        status = EXIT_MISUSE;
    }
    if (status == 0)
        status = run_cases(command, run);
    if (status == 0) {
        runner_require_devices(run);
        run->seconds = runner_now() - begin;
        status = write_result(command, run, out);
        if (status == 0)
            status = runner_out_close(command, out);
        if (status == 0)
            status = runner_exit(run);
        /* A pass does not count if an operation of the devices fails on purpose. */
        if (status == EXIT_PASSED && device_list_faulty(options->devices)) {
            command_complain(command,
                             "no case failed on '%.64s': that call was in none, or nothing came "
                             "of it",
                             options->devices);
            status = EXIT_FAILED;
        }
    }
    runner_run_free(run);
    free(run);
    return status;
}

int check_main(int argc, char **argv)
{
    struct runner_options *options = calloc(1, sizeof *options);
    const struct check_case **tests = NULL;
    struct whole_file out = {.file = NULL};
    char why[RUNNER_TEXT];
    int status = EXIT_MISUSE;
    size_t n = 0;

    if (!options)
        return command_refuse(argv[0], "out of memory");
    if (runner_parse(argc, argv, options) != 0) {
        free(options);
        return EXIT_MISUSE;
    }
    if (runner_catalogue(check_areas, check_n_areas, why)) {
        command_complain(argv[0], "error in the suite itself: %s", why);
    } else if (options->rules) {
        status = runner_check_areas(argv[0], options);
        if (status == 0)
            runner_rules(stdout, options);
    } else {
        status = runner_select(argv[0], options, &tests, &n);
        if (status == 0 && options->list) {
            runner_list(stdout, tests, n);
        } else if (status == 0) {
            stop_watch_signals(); /* before there is a file that a signal would leave */
            status = runner_out_open(argv[0], options->out, &out);
            if (status == 0)
                status = gpus_there(argv[0], options);
            if (status == 0)
                status = options->mutants ? runner_mutants(argv[0], options, tests, n, &out)
                                          : check_implementation(argv[0], options, tests, n, &out);
            runner_out_discard(&out);
        }
    }
    free(tests);
    free(options);
    return status;
}
