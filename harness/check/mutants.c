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
#include <string.h>
#include <sys/mman.h>

#include "check/matrix.h"
#include "check/pool.h"
#include "command/command.h"
#include "launch/child.h"
#include "mutants/mutants.h"
#include "record/document.h"

static const char CLEAN[] = "mutant:none";

static int out_of_memory(const char *command)
{
    return command_refuse(command, "out of memory");
}

/* Runs of the same cases on several specs, as jobs. */
struct runs {
    const char *const *spec;
    struct runner_result *const *result; /* of each spec: one for each case */
    size_t n_specs, n, each;             /* n cases, in jobs of `each` cases */
    atomic_uchar *note; /* the bugs that case i asks for: row i of mutant_n. NULL: not noted */
    /* The same: spec k is bug k, and only cases that ask for it are run. NULL: all. */
    const atomic_uchar *asked;
    size_t n_run; /* out: the number of runs, of all specs */
};

/* Lists the cases that ask for the bug of the mutant; those of its rule come first. Returns how
 * many there are. */
static size_t order_cases(const struct runs *runs, size_t spec, struct runner_result *list[])
{
    const char *name = strchr(runs->spec[spec], ':') + 1, *rule = "";
    struct runner_result *result = runs->result[spec];
    size_t k = 0;

    for (int i = 0; i < mutant_n; ++i)
        if (strcmp(mutant_list[i].name, name) == 0)
            rule = mutant_list[i].rule;
    for (int own = 1; own >= 0; --own)
        for (size_t i = 0; i < runs->n; ++i)
            if (runner_names_rule(rule, result[i].test->rule) == (own == 1) &&
                (!runs->asked || atomic_load(&runs->asked[i * (size_t)mutant_n + spec]) != 0))
                list[k++] = &result[i];
    return k;
}

/* Returns the number of jobs. */
static size_t make_kill_jobs(const struct runner_options *options, struct runs *runs,
                             struct runner_job jobs[], struct runner_result *list[])
{
    size_t n_jobs = 0;

    runs->n_run = 0;
    for (size_t s = 0; s < runs->n_specs; ++s, list += runs->n) {
        const size_t n = order_cases(runs, s, list);

        for (size_t first = 0; first < n; first += runs->each)
            jobs[n_jobs++] = (struct runner_job){
                .spec = runs->spec[s],
                .impl_options = options->impl_options,
                .devices = options->devices,
                .seed = options->seed,
                .schedule = options->seed,
                .mode = RUNNER_EACH,
                .limit_s = options->limit_s,
                .until_caught = options->until_caught,
                .note = runs->note ? runs->note + first * (size_t)mutant_n : NULL,
                .result = list + first,
                .n = n - first < runs->each ? n - first : runs->each};
        runs->n_run += n;
    }
    return n_jobs;
}

static int run_specs(const char *command, const struct runner_options *options, struct runs *runs)
{
    const size_t per_spec = (runs->n + runs->each - 1) / runs->each;
    struct runner_job *jobs = calloc(runs->n_specs * per_spec, sizeof *jobs);
    struct runner_result **list = calloc(runs->n_specs * runs->n, sizeof *list);
    struct runner_progress progress;
    const struct runner_watcher watcher = {runner_progress_verdict, &progress};
    size_t n_jobs;
    int status;

    if (!jobs || !list) {
        free(jobs);
        free(list);
        return out_of_memory(command);
    }
    n_jobs = make_kill_jobs(options, runs, jobs, list);
    runner_progress_open(&progress, options->until_caught ? 0 : runs->n_run);
    status = runner_stopped(command, runner_pool(jobs, n_jobs, options->jobs, &watcher), &progress);
    if (status == 0)
        runner_progress_close(&progress);
    free(jobs);
    free(list);
    return status;
}

static size_t each_of(const struct runner_options *options, size_t n, size_t parts)
{
    return options->isolate ? 1 : (n + parts - 1) / parts;
}

/* Runs all cases without a bug, because only a case that passes without a bug can catch one. */
static int run_clean(const char *command, const struct runner_matrix *matrix,
                     struct runner_run *clean, atomic_uchar *note)
{
    struct runner_options options = *clean->options;
    const char *const specs[] = {CLEAN};
    struct runs runs = {.spec = specs, .result = &clean->result, .n_specs = 1, .note = note};
    int status, exit_status;

    snprintf(options.impl, sizeof options.impl, "%s", CLEAN);
    clean->options = &options;
    options.profile[0] = '\0'; /* cases whose needs are not claimed were already left out */
    clean->profiles = 0;
    options.until_caught = false;
    status = runner_prepare(clean, matrix->test, matrix->n_tests) ? out_of_memory(command) : 0;
    runs.n = clean->n;
    runs.each = each_of(&options, clean->n, options.jobs);
    if (status == 0)
        status = run_specs(command, &options, &runs);
    exit_status = status == 0 ? runner_exit(clean) : 0;
    if (exit_status != 0) {
        runner_text(stdout, clean);
        command_complain(command, "the mutant without a bug must pass before bugs are switched on");
        status = exit_status;
    }
    runner_run_free(clean);
    clean->options = matrix->options;
    return status;
}

static int make_kills(const char *command, struct runner_matrix *matrix)
{
    matrix->kill = calloc((size_t)mutant_n + 1, sizeof *matrix->kill);
    if (!matrix->kill)
        return out_of_memory(command);
    for (; matrix->n < (size_t)mutant_n; ++matrix->n) {
        struct runner_kill *kill = &matrix->kill[matrix->n];

        kill->mutant = &mutant_list[matrix->n];
        snprintf(kill->spec, sizeof kill->spec, "mutant:%.100s", kill->mutant->name);
        kill->result = calloc(matrix->n_tests + 1, sizeof *kill->result);
        if (!kill->result)
            return out_of_memory(command);
        for (size_t i = 0; i < matrix->n_tests; ++i)
            kill->result[i] =
                (struct runner_result){.test = matrix->test[i], .verdict = CHECK_BROKEN};
    }
    return 0;
}

static int run_kills(const char *command, struct runner_matrix *matrix, const atomic_uchar *asked)
{
    const char **specs = calloc(matrix->n + 1, sizeof *specs);
    struct runner_result **results = calloc(matrix->n + 1, sizeof *results);
    int status = EXIT_MISUSE;

    if (!specs || !results) {
        status = out_of_memory(command);
    } else {
        for (size_t i = 0; i < matrix->n; ++i) {
            specs[i] = matrix->kill[i].spec;
            results[i] = matrix->kill[i].result;
        }
        struct runs runs = {.spec = specs,
                            .result = results,
                            .n_specs = matrix->n,
                            .n = matrix->n_tests,
                            .each = each_of(matrix->options, matrix->n_tests, 1),
                            .asked = matrix->options->every_run ? NULL : asked};

        status = run_specs(command, matrix->options, &runs);
        matrix->runs = runs.n_run;
    }
    free(specs);
    free(results);
    return status;
}

static int write_matrix(const char *command, const struct runner_matrix *matrix,
                        struct whole_file *out)
{
    FILE *stream = out->file ? out->file : stdout;
    int status;

    if (matrix->options->format == RUNNER_FORMAT_JSON)
        runner_matrix_json(stream, matrix);
    else
        runner_matrix_text(stream, matrix);
    if (out->file)
        runner_matrix_text(stdout, matrix);
    if (record_memory_failed())
        return out_of_memory(command);
    if (out->file && matrix->options->format == RUNNER_FORMAT_JSON && fflush(out->file) == 0 &&
        !runner_matrix_holds(out->temporary, matrix))
        return command_refuse(command, "--out: nothing could read the result again");
    status = runner_out_close(command, out);
    if (status)
        return status;
    return runner_survivors(matrix) > 0 ? EXIT_FAILED : EXIT_PASSED;
}

static int run_matrix(const char *command, struct runner_matrix *matrix,
                      const struct check_case *const tests[], size_t n, struct runner_run *clean)
{
    atomic_uchar *asked;
    size_t bytes;
    int status;

    if (clean->cause[0] != '\0')
        return command_refuse(command, "%s: %s", CLEAN, clean->cause);
    if (mutant_n < 1)
        return command_refuse(command, "there are no mutants");
    matrix->test = calloc(n, sizeof *matrix->test);
    if (!matrix->test)
        return out_of_memory(command);
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
    bytes = matrix->n_tests * (size_t)mutant_n * sizeof(atomic_uchar);
    asked = child_shared_memory(bytes);
    if (!asked)
        return out_of_memory(command);
    status = run_clean(command, matrix, clean, asked);
    if (status == 0)
        status = make_kills(command, matrix);
    if (status == 0)
        status = run_kills(command, matrix, asked);
    munmap(asked, bytes);
    return status;
}

int runner_mutants(const char *command, const struct runner_options *options,
                   const struct check_case *const tests[], size_t n, struct whole_file *out)
{
    const double begin = runner_now();
    struct runner_run *clean = calloc(1, sizeof *clean);
    struct runner_matrix matrix = {.options = options};
    int status;

    if (!clean)
        return out_of_memory(command);
    clean->options = options;
    matrix.is = &clean->is;
    status = runner_probe(command, CLEAN, clean);
    if (status == 0)
        status = run_matrix(command, &matrix, tests, n, clean);
    if (status == 0) {
        runner_matrix_sum(&matrix);
        matrix.seconds = runner_now() - begin;
        status = write_matrix(command, &matrix, out);
    }
    for (size_t i = 0; i < matrix.n; ++i)
        free(matrix.kill[i].result);
    free(matrix.kill);
    free(matrix.test);
    free(clean);
    return status;
}
