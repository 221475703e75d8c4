/* check/mutants.c: runs the cases on every mutant. These are known bugs, and the cases must catch
 * them.
 *
 * One process serves all cases of a mutant, with a session for each case. This is possible because
 * the mutants are our own code, and necessary because there are thousands of runs. The matrix shows
 * every catch, so all cases are run, unless the question is only whether each mutant is caught.
 *
 * The cases first run without a bug, and the implementation notes which bugs each of them asks for.
 * A case that never asks for a bug cannot see it, so it is not run on that mutant. A case that is
 * not run catches nothing, so this can add a survivor, and never hide one. */
#include <stdlib.h>
#include <sys/mman.h>

#include "check/pool.h"
#include "command/command.h"
#include "launch/child.h"
#include "launch/watch.h"
#include "mutants/mutants.h"
#include "text/alloc.h"

#define CLEAN_SPEC "mutant:none"

/* Runs of the same cases on several specs, as jobs. */
struct runs {
    struct runner_kill *kill; /* of each spec: a result for each case */
    size_t n_specs, n, each;  /* n cases, in jobs of `each` cases */
    atomic_uchar *note; /* the bugs that case i asks for: row i of mutant_n. NULL: not noted */
    /* The same: spec k is bug k, and only cases that ask for it are run. NULL: all. */
    const atomic_uchar *asked;
    size_t n_run; /* out: the number of runs, of all specs */
};

static int run_specs(const char *command, const struct runner_options *options, struct runs *runs)
{
    const size_t per_spec = (runs->n + runs->each - 1) / runs->each;
    struct runner_job *jobs = cli_alloc(runs->n_specs * per_spec, sizeof *jobs);
    struct runner_result **list = cli_alloc(runs->n_specs * runs->n, sizeof *list), **next = list;
    size_t n_jobs = 0;

    for (size_t s = 0; s < runs->n_specs; ++s) {
        const struct runner_kill *kill = &runs->kill[s];
        size_t n = 0;

        /* The cases that ask for the bug; those of its rule come first. */
        for (int own = 1; own >= 0; --own)
            for (size_t i = 0; i < runs->n; ++i)
                if ((kill->mutant && runner_names_rule(kill->mutant->rule,
                                                       kill->result[i].test->rule)) == (own == 1) &&
                    (!runs->asked || atomic_load(&runs->asked[i * (size_t)mutant_n + s]) != 0))
                    next[n++] = &kill->result[i];
        for (size_t first = 0; first < n; first += runs->each) {
            struct runner_job *job = &jobs[n_jobs++];

            *job = runner_job_of(options, kill->spec);
            job->mode = RUNNER_EACH;
            job->until_caught = options->until_caught;
            job->note = runs->note ? runs->note + first * (size_t)mutant_n : NULL;
            job->result = next + first;
            job->n = n - first < runs->each ? n - first : runs->each;
        }
        next += n;
    }
    runs->n_run = (size_t)(next - list);
    const int status =
        runner_jobs(command, options, jobs, n_jobs, options->until_caught ? 0 : runs->n_run);

    free(jobs);
    free(list);
    return status;
}

/* Runs all cases without a bug, because only a case that passes without a bug can catch one. */
static int run_clean(const char *command, const struct runner_matrix *matrix,
                     struct runner_run *clean, atomic_uchar *note)
{
    struct runner_options options = *clean->options;
    struct runner_kill alone = {.spec = CLEAN_SPEC};

    snprintf(options.impl, sizeof options.impl, "%s", CLEAN_SPEC);
    clean->options = &options;
    options.profile[0] = '\0'; /* cases whose needs are not claimed were already left out */
    clean->profiles = 0;
    options.until_caught = false;
    runner_prepare(clean, matrix->test, matrix->n_tests);
    alone.result = clean->result;

    struct runs runs = {.kill = &alone,
                        .n_specs = 1,
                        .n = clean->n,
                        .each = options.isolate ? 1 : (clean->n + options.jobs - 1) / options.jobs,
                        .note = note};
    int status = run_specs(command, &options, &runs);
    const int exit_status = status == 0 ? runner_exit(clean) : 0;

    if (exit_status != 0) {
        runner_text(stdout, clean);
        command_complain(command, "the mutant without a bug must pass before bugs are switched on");
        status = exit_status;
    }
    runner_run_free(clean);
    clean->options = matrix->options;
    return status;
}

/* Runs the cases without a bug, then on every mutant, but for those that never ask for its bug. */
static int run_matrix(const char *command, struct runner_matrix *matrix,
                      const struct check_case *const tests[], size_t n, struct runner_run *clean)
{
    const struct runner_options *options = matrix->options;

    if (clean->cause[0] != '\0')
        return command_refuse(command, "%s: %s", CLEAN_SPEC, clean->cause);
    if (mutant_n < 1)
        return command_refuse(command, "there are no mutants");
    matrix->test = cli_alloc(n, sizeof *matrix->test);
    /* Only cases that the reference without a bug claims to pass are kept. The others say nothing
     * about bugs. */
    for (size_t i = 0; i < n; ++i) {
        if ((tests[i]->needs & ~matrix->is->about.capabilities) == 0)
            matrix->test[matrix->n_tests++] = tests[i];
        else
            ++matrix->left_out;
    }
    if (matrix->n_tests == 0)
        return command_refuse(command,
                              "no case is left that the mutants have the capabilities for");
    /* The reference without a bug notes which bugs it asks for in memory that its processes share
     * with us. */
    const size_t bytes = matrix->n_tests * (size_t)mutant_n * sizeof(atomic_uchar);
    atomic_uchar *const asked = cli_memory(child_shared_memory(bytes));
    int status = run_clean(command, matrix, clean, asked);

    matrix->kill = cli_alloc((size_t)mutant_n, sizeof *matrix->kill);
    for (; status == 0 && matrix->n < (size_t)mutant_n; ++matrix->n) {
        struct runner_kill *kill = &matrix->kill[matrix->n];

        kill->mutant = &mutant_list[matrix->n];
        snprintf(kill->spec, sizeof kill->spec, "mutant:%.100s", kill->mutant->name);
        kill->result = cli_alloc(matrix->n_tests, sizeof *kill->result);
        for (size_t i = 0; i < matrix->n_tests; ++i)
            kill->result[i] =
                (struct runner_result){.test = matrix->test[i], .verdict = CHECK_BROKEN};
    }
    struct runs runs = {.kill = matrix->kill,
                        .n_specs = matrix->n,
                        .n = matrix->n_tests,
                        .each = options->isolate ? 1 : matrix->n_tests,
                        .asked = options->every_run ? NULL : asked};

    if (status == 0)
        status = run_specs(command, options, &runs);
    matrix->runs = runs.n_run;
    munmap(asked, bytes);
    return status;
}

int runner_mutants(const char *command, const struct runner_options *options,
                   const struct check_case *const tests[], size_t n,
                   struct whole_file out[RUNNER_FORMATS])
{
    const uint64_t begin_ns = watch_clock_ns();
    const struct whole_file *text = &out[RUNNER_FORMAT_TEXT], *json = &out[RUNNER_FORMAT_JSON];
    struct runner_run *const clean = cli_alloc(1, sizeof *clean);
    struct runner_matrix matrix = {.options = options};

    clean->options = options;
    matrix.is = &clean->is;
    int status = runner_probe(command, CLEAN_SPEC, clean);

    if (status == 0)
        status = run_matrix(command, &matrix, tests, n, clean);
    if (status == 0) {
        runner_matrix_sum(&matrix);
        matrix.seconds = (double)(watch_clock_ns() - begin_ns) / 1e9;
        if (text->file)
            runner_matrix_text(text->file, &matrix);
        if (json->file)
            runner_matrix_json(json->file, &matrix);
        if (options->format == RUNNER_FORMAT_JSON)
            runner_matrix_json(stdout, &matrix);
        else
            runner_matrix_text(stdout, &matrix);
        if (json->file && fflush(json->file) == 0 && !runner_matrix_holds(json->temporary, &matrix))
            status = command_refuse(command, "--out: nothing could read the result again");
        else
            status = runner_out_close(command, out);
        if (status == 0)
            status = matrix.survivors > 0 ? EXIT_FAILED : EXIT_PASSED;
    }
    for (size_t i = 0; i < matrix.n; ++i)
        free(matrix.kill[i].result);
    free(matrix.kill);
    free(matrix.test);
    free(clean);
    return status;
}
