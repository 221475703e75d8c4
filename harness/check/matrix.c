/* check/matrix.c: the kill matrix: its sums, as text and as JSON. */
#include "check/runner.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "mutants/mutants.h"
#include "record/json.h"

enum { COLUMNS = 80 };

static bool runner_caught(const struct runner_result *result)
{
    return result->ran && (result->verdict == CHECK_FAIL || result->verdict == CHECK_BROKEN);
}

bool runner_names_rule(const char *list, const char *rule)
{
    const size_t n = strlen(rule);

    for (const char *at = strstr(list, rule); at; at = strstr(at + 1, rule))
        if ((at == list || at[-1] == ' ' || at[-1] == ',') && strchr(", ", at[n]))
            return true;
    return false;
}

void runner_matrix_sum(struct runner_matrix *matrix)
{
    for (size_t k = 0; k < matrix->n; ++k) {
        struct runner_kill *kill = &matrix->kill[k];

        for (size_t i = 0; i < matrix->n_tests; ++i) {
            if (!runner_caught(&kill->result[i]))
                continue;
            ++kill->caught;
            kill->broken += kill->result[i].verdict == CHECK_BROKEN;
            kill->own = kill->own || runner_names_rule(kill->mutant->rule, matrix->test[i]->rule);
        }
        matrix->survivors += kill->caught == 0;
        matrix->others += kill->caught > 0 && !kill->own;
    }
}

/* Whether no mutant makes this case fail: then no run shows that it can fail. */
static bool catches_nothing(const struct runner_matrix *matrix, size_t test)
{
    for (size_t k = 0; k < matrix->n; ++k)
        if (runner_caught(&matrix->kill[k].result[test]))
            return false;
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

void runner_matrix_text(FILE *stream, const struct runner_matrix *matrix)
{
    const size_t alive = matrix->survivors, others = matrix->others;
    size_t idle = 0;
    char text[RUNNER_TEXT];

    fprintf(stream, "%-25s %-8s %4s  %s\n", "mutant", "rule", "by", "a case that caught it");
    for (size_t k = 0; k < matrix->n; ++k) {
        const struct runner_kill *kill = &matrix->kill[k];
        const char *caught = "SURVIVED";

        /* One of its rule, if there is one. */
        for (int own = 0; own < 2; ++own)
            for (size_t i = matrix->n_tests; i-- > 0;)
                if (runner_caught(&kill->result[i]) &&
                    runner_names_rule(kill->mutant->rule, matrix->test[i]->rule) >= own)
                    caught = matrix->test[i]->id;
        fprintf(stream, "%-25.60s %-8.24s %4zu%c %s\n", kill->mutant->name, kill->mutant->rule,
                kill->caught, kill->own || kill->caught == 0 ? ' ' : '!', caught);
    }
    fputc('\n', stream);
    for (size_t k = 0; k < matrix->n; ++k) {
        const struct mutant *mutant = matrix->kill[k].mutant;

        if (matrix->kill[k].caught > 0)
            continue;
        snprintf(text, sizeof text, "%.60s (%.40s): %.500s", mutant->name, mutant->rule,
                 mutant->what);
        fputs("SURVIVED  ", stream);
        command_wrap(stream, text, 10, 10, COLUMNS);
    }
    if (others > 0)
        fprintf(stream, "!         %zu caught only by cases of rules other than their own\n",
                others);
    for (size_t i = 0; i < matrix->n_tests; ++i)
        idle += catches_nothing(matrix, i);
    fprintf(stream, "cases     %zu: ", matrix->n_tests);
    if (matrix->options->until_caught)
        fputs("each mutant ran until the first case that caught it", stream);
    else
        fprintf(stream, "%zu catch no mutant", idle);
    fprintf(stream, "; %zu more need%s capabilities that the mutants lack\n", matrix->left_out,
            matrix->left_out == 1 ? "s" : "");
    if (matrix->runs < matrix->n * matrix->n_tests)
        fprintf(stream, "runs      %zu of %zu: in the others the case never asks for the bug\n",
                matrix->runs, matrix->n * matrix->n_tests);
    snprintf(text, sizeof text, "%zu of %zu mutants caught (%.1f s)", matrix->n - alive, matrix->n,
             matrix->seconds);
    fprintf(stream, "%-9s %s\n", alive > 0 ? "FAIL" : "PASS", text);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *matrix_object(const struct runner_matrix *matrix)
{
    json_t *mutants = json_array(), *idle = json_array(), *alive = json_array();

    for (size_t k = 0; k < matrix->n; ++k) {
        const struct runner_kill *kill = &matrix->kill[k];
        json_t *cases = json_array();

        for (size_t i = 0; i < matrix->n_tests; ++i)
            if (runner_caught(&kill->result[i]))
                json_array_append_new(cases, json_string(matrix->test[i]->id));
        json_array_append_new(
            mutants, json_pack("{s:s, s:s, s:s, s:I, s:I, s:b, s:o}", "name", kill->mutant->name,
                               "rule", kill->mutant->rule, "what", kill->mutant->what, "caught",
                               (json_int_t)kill->caught, "broken", (json_int_t)kill->broken,
                               "own_rule", kill->own ? 1 : 0, "cases", cases));
        if (kill->caught == 0)
            json_array_append_new(alive, json_string(kill->mutant->name));
    }
    for (size_t i = 0; i < matrix->n_tests; ++i)
        if (!matrix->options->until_caught && catches_nothing(matrix, i))
            json_array_append_new(idle, json_string(matrix->test[i]->id));
    return json_pack(
        "{s:s, s:{s:s, s:s}, s:b, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}}",
        "schema", "lockstep/mutants/1.0", "impl", "name", matrix->is->about.name, "version",
        matrix->is->about.version, "until_caught", matrix->options->until_caught ? 1 : 0, "mutants",
        mutants, "survivors", alive, "idle_cases", idle, "counts", "mutants", (json_int_t)matrix->n,
        "survivors", (json_int_t)matrix->survivors, "caught_by_other_rules",
        (json_int_t)matrix->others, "cases", (json_int_t)matrix->n_tests, "left_out",
        (json_int_t)matrix->left_out, "runs", (json_int_t)matrix->runs, "runs_left_out",
        (json_int_t)(matrix->n * matrix->n_tests - matrix->runs), "seconds",
        round(matrix->seconds * 1e3) / 1e3);
}

void runner_matrix_json(FILE *stream, const struct runner_matrix *matrix)
{
    (void)document_print(stream, matrix_object(matrix));
}

bool runner_matrix_holds(const char *path, const struct runner_matrix *matrix)
{
    json_t *want = matrix_object(matrix), *got = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    const bool same = want && json_equal(want, got);

    json_decref(want);
    json_decref(got);
    return same;
}
