/* check/export.c: the results as a set of cells for other programs: a case is a cell.
 *
 * Only a case that passed has numbers. How much another one compared, and how long it took, has no
 * meaning. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/runner.h"
#include "text/alloc.h"

/* ---- what tells cases apart ------------------------------------------------------------------ */

static const char *const part_names[] = {"case", "area", "rule", "obligation", "evidence"};

static struct export_part case_part(size_t which)
{
    return (struct export_part){.name = part_names[which]};
}

static void part_text(const void *key, size_t which, char text[EXPORT_KEY_BYTES])
{
    const struct check_case *test = key;
    const char *const words[] = {test->id, runner_area_name(test), test->rule,
                                 runner_obligation_words[test->obligation],
                                 runner_evidence_words[test->evidence]};

    snprintf(text, EXPORT_KEY_BYTES, "%s", words[which]);
}

static const struct export_parts case_parts = {sizeof part_names / sizeof part_names[0], case_part,
                                               part_text};

/* ---- the set --------------------------------------------------------------------------------- */

enum { COMPARED, SECONDS, METRICS };

static const struct export_metric metrics[METRICS] = {
    [COMPARED] = {.name = "compared", .unit = "values", .exact = true},
    [SECONDS] = {.name = "time", .unit = "seconds", .exact = true}};

int runner_export(FILE *stream, const struct runner_run *run, enum export_format format,
                  struct text_error *err)
{
    static const enum export_state states[] = {[CHECK_PASS] = EXPORT_PASSED,
                                               [CHECK_FAIL] = EXPORT_FAILED,
                                               [CHECK_SKIP] = EXPORT_OPEN,
                                               [CHECK_BROKEN] = EXPORT_BROKEN};
    struct export_set set = {
        .title = "lockstep check",
        .by_group = true,
        .all_rows = true,
        .explained = true,
        .seconds = run->seconds,
        .prefix = "lockstep_check_",
        .flag = "passed",
        .flag_help = "1: every expectation of the case held, and there was at least one.",
        .parts = &case_parts,
        .verdicts = runner_verdict_words,
        .n_verdicts = CHECK_BROKEN + 1,
        .metric = metrics,
        .n_metrics = METRICS,
        .counted = "failed_or_broken",
    };
    char command[8 * RUNNER_TEXT], sentence[RUNNER_TEXT], found[2 * RUNNER_TEXT];
    const bool blocks = format == EXPORT_ANNOTATIONS; /* of failures, as in the text */
    const char *word = runner_verdict(run, sentence), *layer = run->options->spec.name;
    char file[RUNNER_TEXT] = "";

    export_open(&set, run->n);
    /* The file of a layer for PyTorch, if it is here: "my_layer.py" of torch:my_layer:MyDDP. */
    if (run->options->spec.torch && layer)
        snprintf(file, sizeof file - 3, "%.*s", (int)strcspn(layer, ":"), layer);
    const size_t length = strlen(file);

    if (length < 3 || strcmp(file + length - 3, ".py") != 0) {
        for (char *dot = file; (dot = strchr(dot, '.'));)
            *dot = '/';
        memcpy(file + length, ".py", 4);
    }
    set.file = length > 0 && access(file, R_OK) == 0 ? file : NULL;
    snprintf(set.summary, sizeof set.summary, "%s: %.900s", word, sentence);
    /* Results that belong to no area come first: the others stand area by area. */
    for (size_t k = 0; k < 2 * run->n; ++k) {
        size_t i = k % run->n, alike = 1;
        const struct runner_result *result = &run->result[i];

        if ((k < run->n) != (runner_area_of(result->test->rule) == NULL) ||
            (blocks && (!runner_failed(result) || runner_first_alike(run->result, i) != i)))
            continue;
        char *const ids = blocks ? runner_alike(run->result, run->n, &i, &alike) : NULL;
        const size_t room = sizeof command + 4 * RUNNER_TEXT + (ids ? strlen(ids) : 0);

        result = &run->result[i];
        const struct check_case *test = result->test;
        struct export_cell *cell = export_add(&set, test->id);

        cell->key = test;
        cell->group = runner_area_name(test);
        cell->state = states[result->verdict];
        cell->verdict = result->verdict;
        cell->has_numbers = result->verdict == CHECK_PASS;
        cell->seconds = result->seconds;
        cell->value[COMPARED].middle = (double)result->compared;
        cell->value[SECONDS].middle = result->seconds;
        cell->title = run->interrupted && result->verdict == CHECK_BROKEN
                          ? "the run was interrupted, so cases have no verdict"
                          : result->sentence;
        snprintf(cell->why, sizeof cell->why, "%s", result->reason);
        if (cell->state != EXPORT_FAILED && cell->state != EXPORT_BROKEN)
            continue;
        /* The reason of a failure, its rule in words, and the command that repeats it. */
        ++set.count;
        cell->file = result->stale > 0 ? run->options->known : NULL;
        cell->line = result->stale;
        cell->detail = cli_bytes(room);
        runner_command(run->options, test->id, command);
        runner_found(result, found);
        snprintf(cell->detail, room, "%s\n%s (%s): %s\n%s", found, test->rule,
                 runner_obligation(test, true), result->sentence, command);
        if (alike > 1)
            text_add(cell->detail, room, "\n%zu in the same way: %s", alike, ids);
        free(ids);
    }
    const int status = export_write(stream, format, &set, err);

    export_close(&set);
    return status;
}
