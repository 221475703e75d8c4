/* criterion.c: runs the same cases, each in a separate process, so that a crash or a hang ends one
 * case only. Criterion starts its children anew, so a parameter may only hold values: here the
 * position in the list of cases. The exit status is that of suites/test/unit/verdict.c. */
#include "list.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <stdio.h>
#include <stdlib.h>

#define CAPACITY 512

static struct criterion_test_params all_cases(void)
{
    static size_t index[CAPACITY];
    const size_t n = case_count();
    if (n > CAPACITY) {
        (void)fprintf(stderr, "%zu cases, room for %d\n", n, CAPACITY);
        exit(2);
    }
    for (size_t i = 0; i < n; ++i)
        index[i] = i;
    return cr_make_param_array(size_t, index, n);
}

static void run_index(size_t i, const char *backend)
{
    const struct test_case *test = case_at(i);
    const struct case_settings settings = {.backend = backend};
    struct case_result result;
    case_run(test, &settings, &result);
    if (result.verdict == VERDICT_SKIP)
        cr_skip_test("%s: %s", test->name, result.message);
    cr_assert(result.verdict == VERDICT_PASS,
              "%s [%s]: %s; repeat: lockstep-core-cases --backend %s --only '%s'", test->name,
              test->rules, result.message, backend, test->name);
}

ParameterizedTestParameters(cpu, run)
{
    return all_cases();
}

ParameterizedTest(size_t *index, cpu, run, .timeout = 60)
{
    run_index(*index, "cpu");
}

ParameterizedTestParameters(cpu_ref, run)
{
    return all_cases();
}

ParameterizedTest(size_t *index, cpu_ref, run, .timeout = 60)
{
    run_index(*index, "cpu-ref");
}
