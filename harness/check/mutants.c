/* check/mutants.c: runs the cases on every mutant: bugs that are known must be caught.
 *
 * Here a process serves all cases of a mutant, with a session for each: the mutants are ours, and
 * there are thousands of runs. The matrix shows every catch, so nothing ends early, unless the
 * question is only whether each is caught. */
#include <stdlib.h>
#include <string.h>

#include "check/matrix.h"
#include "check/pool.h"
#include "command/command.h"
#include "mutants/mutants.h"
#include "record/memory.h"

static const char CLEAN[] = "mutant:none";

static int out_of_memory(const char *command)
{
    command_complain(command, "out of memory");
    return EXIT_MISUSE;
}

static struct runner_job new_job(const struct runner_options *options, const char *spec,
                                 struct runner_result **result, size_t n)
{
    return (struct runner_job){.spec = spec,
                               .impl_options = options->impl_options,
                               .devices = options->devices,
                               .seed = options->seed,
                               .mode = RUNNER_EACH,
                               .limit_s = options->limit_s,
                               .until_caught = options->until_caught,
                               .result = result,
                               .n = n};
}

static const char *rule_of(const char *spec)
{
    for (int i = 0; i < mutant_n; ++i)
        if (strcmp(mutant_list[i].name, strchr(spec, ':') + 1) == 0)
            return mutant_list[i].rule;
    return "";
}

/* The cases of the mutant's rule come first. */
static void order(const char *spec, struct runner_result result[], size_t n,
                  struct runner_result *list[])
{
    const char *rule = rule_of(spec);
    size_t k = 0;

    for (int own = 1; own >= 0; --own)
        for (size_t i = 0; i < n; ++i)
            if (runner_names_rule(rule, result[i].test->rule) == (own == 1))
                list[k++] = &result[i];
}

/* Runs each pair of spec[i] and results i*n .. i*n+n, in jobs of `each` cases. */
static int run_all(const char *command, const struct runner_options *options,
                   const char *const specs[], size_t n_specs, struct runner_result *const results[],
                   size_t n, size_t each)
{
    const size_t per_spec = (n + each - 1) / each;
    struct runner_job *jobs = calloc(n_specs * per_spec, sizeof *jobs);
    struct runner_result **list = calloc(n_specs * n, sizeof *list);
    struct runner_progress progress;
    const struct runner_watcher watcher = {runner_progress_verdict, &progress};
    int status;

    if (!jobs || !list) {
        free(jobs);
        free(list);
        return out_of_memory(command);
    }
    for (size_t s = 0; s < n_specs; ++s) {
        order(specs[s], results[s], n, list + s * n);
        for (size_t j = 0; j < per_spec; ++j) {
            const size_t first = j * each;

            jobs[s * per_spec + j] = new_job(options, specs[s], list + s * n + first,
                                             n - first < each ? n - first : each);
        }
    }
    runner_progress_open(&progress, options->until_caught ? 0 : n_specs * n);
    status = runner_stopped(command, runner_pool(jobs, n_specs * per_spec, options->jobs, &watcher),
                            &progress);
    if (status == 0)
        runner_progress_close(&progress);
    free(jobs);
    free(list);
    return status;
}

/* Cases that the clean one claims to pass; the others say nothing about bugs. */
static void pick_claimed(struct runner_matrix *matrix, const struct check_case *const tests[],
                         size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if ((tests[i]->needs & ~matrix->is->about.capabilities) == 0)
            matrix->test[matrix->n_tests++] = tests[i];
        else
            ++matrix->left_out;
    }
}

static size_t each_of(const struct runner_options *options, size_t n, size_t parts)
{
    return options->isolate ? 1 : (n + parts - 1) / parts;
}

/* A bug is caught only by a case that passes without it. */
static int run_clean(const char *command, const struct runner_matrix *matrix,
                     struct runner_run *clean)
{
    struct runner_options options = *clean->options;
    const char *const specs[] = {CLEAN};
    int status, exit_status;

    snprintf(options.impl, sizeof options.impl, "%s", CLEAN);
    clean->options = &options;
    options.profile[0] = '\0'; /* what it does not claim was left out */
    clean->profiles = 0;
    options.until_caught = false;
    status = runner_prepare(clean, matrix->test, matrix->n_tests) ? out_of_memory(command) : 0;
    if (status == 0)
        status = run_all(command, &options, specs, 1, &clean->result, clean->n,
                         each_of(&options, clean->n, options.jobs));
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

static int run_kills(const char *command, struct runner_matrix *matrix)
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
        status = run_all(command, matrix->options, specs, matrix->n, results, matrix->n_tests,
                         each_of(matrix->options, matrix->n_tests, 1));
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
    status = runner_out_close(command, out);
    if (status)
        return status;
    return runner_survivors(matrix) > 0 ? EXIT_FAILED : EXIT_PASSED;
}

static int run_matrix(const char *command, struct runner_matrix *matrix,
                      const struct check_case *const tests[], size_t n, struct runner_run *clean)
{
    int status;

    if (clean->cause[0] != '\0') {
        command_complain(command, "%s: %s", CLEAN, clean->cause);
        return EXIT_MISUSE;
    }
    if (mutant_n < 1) {
        command_complain(command, "there are no mutants");
        return EXIT_MISUSE;
    }
    matrix->test = calloc(n, sizeof *matrix->test);
    if (!matrix->test)
        return out_of_memory(command);
    pick_claimed(matrix, tests, n);
    if (matrix->n_tests == 0) {
        command_complain(command, "no case is left that the mutants have the capabilities for");
        return EXIT_MISUSE;
    }
    status = run_clean(command, matrix, clean);
    if (status == 0)
        status = make_kills(command, matrix);
    return status == 0 ? run_kills(command, matrix) : status;
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
