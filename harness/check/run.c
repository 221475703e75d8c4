/* check/run.c: what a check and a kill matrix share: the file of --out, and jobs that run while one
 * line on stderr, which is rewritten if stderr is a terminal, shows the progress. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/pool.h"
#include "command/command.h"
#include "text/alloc.h"

/* ---- files of the result --------------------------------------------------------------------- */

static int complain_of_out(const char *command, const char *path, const char *what)
{
    return command_refuse(command, "cannot write '%.400s': %s", path, what);
}

int runner_out_open(const char *command, const struct runner_options *options,
                    struct whole_file out[RUNNER_FORMATS])
{
    struct stat status;

    for (int f = 0; f < RUNNER_FORMATS; ++f) {
        const char *path = options->out[f];

        if (path[0] == '\0')
            continue;
        /* The new file replaces the old one, so the old one must not be a device. */
        int failed = lstat(path, &status) == 0 ? 0 : errno;

        if (failed != ENOENT && (failed != 0 || !S_ISREG(status.st_mode)))
            return complain_of_out(command, path,
                                   failed != 0 ? strerror(failed) : "it is not a regular file");
        if ((failed = whole_open(&out[f], path)) != 0)
            return complain_of_out(command, path, strerror(failed));
    }
    return 0;
}

int runner_out_close(const char *command, struct whole_file out[RUNNER_FORMATS])
{
    for (int f = 0; f < RUNNER_FORMATS; ++f) {
        const int failed = out[f].file ? whole_close(&out[f]) : 0;

        if (failed != 0)
            return complain_of_out(command, out[f].path, strerror(failed));
    }
    return 0;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

int runner_jobs(const char *command, const struct runner_options *options, struct runner_job jobs[],
                size_t n, size_t total)
{
    struct runner_progress progress = {.terminal = isatty(STDERR_FILENO) != 0,
                                       .silent = options->mutants,
                                       .exitfirst = options->exitfirst,
                                       .done = total,
                                       .total = total};
    for (size_t j = 0; j < n && total > 0; ++j)
        progress.done -= jobs[j].n;
    const int status = runner_pool(jobs, n, options->jobs, &progress);
    const char *why = strerror(errno);

    if (progress.terminal && progress.done > 0)
        fputs("\r\033[K", stderr);
    if (status < 0)
        return command_refuse(command, "no process can be started: %s", why);
    if (status > 0 && total > 0)
        command_complain(command, "interrupted after %zu of %zu verdicts%s", progress.done, total,
                         options->mutants ? "; nothing was written" : "");
    else if (status > 0)
        command_complain(command, "interrupted");
    return status > 0 ? EXIT_INTERRUPTED : 0;
}

struct runner_job runner_job_of(const struct runner_options *options, const char *spec)
{
    return (struct runner_job){
        .spec = spec,
        .impl_options = options->impl_options,
        .devices = options->devices,
        .seed = options->seed,
        .schedule = options->seed,
        .world = options->launcher[0] != '\0' ? &options->world : NULL,
        .library = impl_spec_read(spec).kind == IMPL_SPEC_LIBRARY,
        .same_process = options->same_process,
        .required = options->require_devices,
        .limit_s = options->limit_s,
    };
}

int runner_probe(const char *command, const char *spec, struct runner_run *run)
{
    struct runner_job *job = cli_alloc(1, sizeof *job);
    const struct runner_options *options = run->options;

    *job = runner_job_of(options, spec);
    job->mode = RUNNER_PROBE;
    /* This is known before it is loaded, and starting it may take long. */
    job->process = job->world || impl_spec_read(spec).kind == IMPL_SPEC_COMMAND;

    const int status = runner_jobs(command, options, job, 1, 0);

    run->is = job->is;
    run->caused = job->blame ? CHECK_FAIL : CHECK_BROKEN;
    memcpy(run->cause, job->cause, sizeof run->cause);
    run->profiles = options->profiles;
    if (options->by_default && run->cause[0] == '\0' &&
        (run->is.about.capabilities & IMPL_CAP_DDP) == 0)
        run->profiles &= ~(unsigned)PROFILE_DDP;
    free(job);
    return status;
}

void runner_find_devices(const char *command, struct runner_run *run)
{
    const struct runner_options *options = run->options;
    const struct impl_about *about = &run->is.about;
    const bool few = (size_t)about->devices < options->require_devices;
    char asked[48] = "--devices cuda:all";

    if (!few && (about->devices > 0 || strcmp(options->devices, "cuda:all") != 0))
        return;
    if (few)
        snprintf(asked, sizeof asked, "--require-devices %zu", options->require_devices);
    snprintf(run->cause, sizeof run->cause, "%s: %s has %.0d%s", asked, about->name, about->devices,
             about->devices > 0 ? "" : "no devices, only the host");
    if (about->devices == 0 && about->gpu_software[0] != '\0')
        text_add(run->cause, sizeof run->cause, " (%s)", about->gpu_software);
    run->caused = few ? CHECK_FAIL : CHECK_SKIP;
    command_complain(command, "%s", run->cause);
}

void runner_run_free(struct runner_run *run)
{
    free(run->requirement);
    free(run->result);
}
