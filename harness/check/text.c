/* check/text.c: the result for people: a block for each case that did not pass, then a table; and
 * the page of a CI job. */
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "export/grid.h"
#include "files/files.h"
#include "words.h"

enum { COLUMNS = 80, VERDICT = 7, TOTAL = 9, MARKDOWN_SHOWN = 50, AREA_NUMBERS = CHECK_BROKEN + 3 };

/* Prints the name in a column, and the text next to it. */
static void print_named(FILE *stream, int column, const char *name, const char *text)
{
    fprintf(stream, "%-*s ", column, name);
    command_wrap(stream, text, (size_t)column + 1, (size_t)column + 1, COLUMNS);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The numbers of an area are its rules that were tested, its cases, and its cases of each verdict.
 * False: it has no case, and is not shown. */
static bool fill_area_row(const struct runner_area_sums *row, size_t numbers[AREA_NUMBERS])
{
    numbers[0] = row->rule[RULES_OBSERVED] + row->rule[RULES_REPORTED];
    numbers[1] = row->cases;
    memcpy(numbers + 2, row->verdict, sizeof row->verdict);
    return row->cases > 0;
}

void runner_table(struct grid *grid, struct text_out *out, int which,
                  const struct runner_options *options, const struct runner_result result[],
                  size_t n, const struct runner_sums *sums)
{
    static const struct {
        const char *id, *title, *headings;
    } tables[] = {[RUNNER_FAILURES] = {"failed", "Failed and broken",
                                       "verdict|cases|rule|what was found|one of them again"},
                  [RUNNER_KNOWN] = {"known", "Known failures", "cases|why|which"},
                  [RUNNER_BY_AREA] = {"areas", "Areas", "area|is about"},
                  [RUNNER_SKIPPED] = {"skipped", "Skipped", "cases|why|which"}};
    const bool failures = which == RUNNER_FAILURES, areas = which == RUNNER_BY_AREA;
    size_t numbers[AREA_NUMBERS];
    char words[8 * RUNNER_TEXT];

    grid_open(grid, out, tables[which].id, tables[which].title);
    grid_headings(grid, "text", tables[which].headings);
    if (areas)
        grid_headings(grid, "number", "rules|cases|pass|fail|skip|broken");
    for (size_t i = 0; i <= sums->n && areas; ++i) {
        const size_t *bad = sums->row[i].verdict;

        if (!fill_area_row(&sums->row[i], numbers))
            continue;
        if (i == sums->n)
            grid_line(grid);
        grid_row(grid, bad[CHECK_FAIL] + bad[CHECK_BROKEN] > 0 ? "failed" : "good");
        grid_cell(grid, "text name", "%s", sums->row[i].name);
        grid_cell(grid, "text", "%s", check_words(sums->row[i].name));
        for (int k = 0; k < AREA_NUMBERS; ++k)
            grid_cell(grid, "number", "%zu", numbers[k]);
    }
    if (areas)
        return;
    for (size_t i = 0; i < n; ++i) {
        size_t count, lead = i;

        if (result[i].verdict == CHECK_PASS || runner_failed(&result[i]) != failures ||
            result[i].known != (which == RUNNER_KNOWN) || runner_first_alike(result, i) != i)
            continue;
        char *const ids = runner_alike(result, n, &lead, &count);
        const struct runner_result *one = &result[lead];

        grid_row(grid, failures ? "failed" : "");
        if (failures) {
            grid_cell(grid, "text", "%s", runner_verdict_words[one->verdict]);
            grid_cell(grid, "text name names", "%s", ids);
            grid_cell(grid, "text reason", "%s (%s): %s", one->test->rule,
                      runner_obligation(one->test, true), one->sentence);
            runner_found(one, words);
            grid_cell(grid, "text reason", "%s", words);
            runner_command(options, one->test->id, words);
            grid_cell(grid, "text command", "%s", runner_area_of(one->test->rule) ? words : "");
        } else {
            grid_cell(grid, "text", "%zu", count);
            grid_cell(grid, one->known ? "text reason linked" : "text reason", "%s", one->reason);
            grid_cell(grid, "text reason names", "%s", one->unasked ? "all others" : ids);
        }
        free(ids);
    }
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* Prints all cases that failed in the same way, which the most telling one leads; or that were
 * skipped for one reason, after a word in the column of totals. */
static void print_alike(FILE *stream, const struct runner_run *run, size_t i, const char *skipped)
{
    size_t n;
    char *ids = runner_alike(run->result, run->n, &i, &n);
    const struct runner_result *result = &run->result[i];
    const struct check_case *test = result->test;
    /* A layer for PyTorch offers what it has the methods for; its author claims nothing. */
    const char *why = run->options->spec.torch
                          ? "Required because the layer offers '%s' (suites/ADAPTERS.md)."
                          : "You claim '%s'; leave it out if you do not offer this.";
    uint64_t optional = test->obligation == MAY ? test->needs : 0;
    char text[8 * RUNNER_TEXT], *rest;

    if (!runner_failed(result)) {
        snprintf(text, sizeof text, "%zu case%s: %s", n, n == 1 ? "" : "s", result->reason);
        print_named(stream, TOTAL, skipped, text);
        /* A list of what --exitfirst left out would have all the rest. */
        if (!result->unasked)
            print_named(stream, TOTAL, "", ids);
        free(ids);
        return;
    }
    fprintf(stream, "%-7s %s (%s%s)\n", runner_verdict_words[result->verdict], test->id,
            runner_obligation(test, true), test->evidence == REPORTED ? "; by its own report" : "");
    runner_found(result, text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        print_named(stream, VERDICT, "", line);
    snprintf(text, sizeof text, "%s: %s", test->rule, result->sentence);
    if (result->sentence[0] != '\0')
        print_named(stream, VERDICT, "", text);
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        optional &=
            test->profiles & runner_profiles[p].bit ? ~runner_profiles[p].required : UINT64_MAX;
    snprintf(text, sizeof text, why, impl_capability_word(optional & (~optional + 1)));
    if (optional != 0)
        print_named(stream, VERDICT, "", text);
    /* The command stays on one line, so that it can be copied. */
    if (runner_area_of(test->rule)) {
        runner_command(run->options, test->id, text);
        fprintf(stream, "%*s", VERDICT + 1, "");
        text_write(stream, TEXT_PLAIN, text, sizeof text);
        fputc('\n', stream);
    }
    snprintf(text, sizeof text, "%zu in the same way:", n);
    if (n > 1) {
        print_named(stream, VERDICT, "", text);
        print_named(stream, VERDICT, "", ids);
    }
    fputc('\n', stream);
    free(ids);
}

static void print_totals(FILE *stream, const struct runner_run *run,
                         const struct runner_area_sums *total)
{
    const struct runner_result *first = NULL;
    bool unwatched = false, unseen = false;
    char text[2 * RUNNER_TEXT], claims[2][RUNNER_TEXT / 2] = {"", ""};
    const char *skipped = "skipped";
    const size_t each = run->options->world.per_process;
    size_t n = 0, cases = 0;

    fputc('\n', stream);
    fprintf(stream, "rules     %zu tested: %zu observed, %zu only reported (--rules lists all)\n",
            total->rule[RULES_OBSERVED] + total->rule[RULES_REPORTED], total->rule[RULES_OBSERVED],
            total->rule[RULES_REPORTED]);
    if (run->is.about.devices > 0) {
        check_counts_text(run->is.about.devices, run->options->seed, text, sizeof text);
        print_named(stream, TOTAL, "counts", text);
    }
    snprintf(text, sizeof text,
             each > 0 ? "at most %zu ranks of a model in each of two or more, started by '%s'"
                      : "%zu for a model, or one for each rank where it has fewer, started by '%s'",
             each > 0 ? each : run->options->world.processes, run->options->launcher);
    if (run->options->launcher[0] != '\0')
        print_named(stream, TOTAL, "processes", text);
    /* A capability that is not claimed is not tested, and no failure says so: the author of the
     * implementation is to read it here. */
    for (int i = 0; i < RUNNER_CAPABILITIES; ++i)
        text_list(claims[run->is.about.capabilities >> i & 1], sizeof claims[0], ", ",
                  impl_capability_word((uint64_t)1 << i));
    snprintf(text, sizeof text, "%s%s%s", claims[1][0] != '\0' ? claims[1] : "nothing",
             claims[0][0] != '\0' ? "; not claimed (not tested): " : "", claims[0]);
    if (run->options->spec.kind != IMPL_SPEC_REFERENCE)
        print_named(stream, TOTAL, "claimed", text);
    for (size_t i = 0; i < run->n; ++i)
        if (run->result[i].verdict == CHECK_SKIP && runner_first_alike(run->result, i) == i) {
            print_alike(stream, run, i, skipped);
            skipped = "";
        }
    /* Processes that an implementation left running, and those that could not be found. */
    for (size_t i = 0; i < run->n; ++i) {
        const struct strays *left = &run->result[i].strays;

        first = left->n > 0 && !first ? &run->result[i] : first;
        n += left->n;
        cases += left->n > 0;
        unwatched = unwatched || left->unwatched != 0;
        unseen = unseen || left->unseen != 0;
    }
    if (first) {
        snprintf(text, sizeof text,
                 "%zu process%s, left running by %zu case%s, %s killed; the first: '%s', by %s. "
                 "What the implementation starts it has to end, at the latest when it is closed; "
                 "with --only %s you can watch it",
                 n, n == 1 ? "" : "es", cases, cases == 1 ? "" : "s", n == 1 ? "was" : "were",
                 first->strays.name, first->test->id, first->test->id);
    }
    const struct {
        bool holds;
        const char *text;
    } cautions[] = {
        {first, text},
        {unseen, "a process was left running that could not be found and killed: /proc does not "
                 "show it"},
        {unwatched, "processes that are left running cannot be found on this system: it has no "
                    "PR_SET_CHILD_SUBREAPER"},
        {run->traceable, "the implementation could have looked into the suite and written a "
                         "result: this system has no PR_SET_DUMPABLE"},
        {run->options->same_process, "the implementation ran in the processes of the cases "
                                     "(--same-process), and could have written a result"}};

    for (size_t i = 0; i < sizeof cautions / sizeof cautions[0]; ++i)
        if (cautions[i].holds)
            print_named(stream, TOTAL, "caution", cautions[i].text);
}

void runner_text(FILE *stream, const struct runner_run *run)
{
    char sentence[RUNNER_TEXT], text[2 * RUNNER_TEXT];
    const char *word = runner_verdict(run, sentence);
    struct runner_sums sums;
    size_t n[AREA_NUMBERS];
    bool failed = false;

    if (run->cause[0] != '\0') { /* one reason for all cases */
        snprintf(text, sizeof text, "%s; %zu case%s not run", sentence, run->n,
                 run->n == 1 ? " was" : "s were");
        print_named(stream, VERDICT, word, text);
        return;
    }
    for (size_t i = 0; i < run->n; ++i)
        if (runner_failed(&run->result[i]) && runner_first_alike(run->result, i) == i) {
            print_alike(stream, run, i, "");
            failed = true;
        }
    snprintf(text, sizeof text, "%s (%.1f s)", sentence, run->seconds);
    if (failed && run->options->exitfirst) { /* the rest is about what did not run */
        print_named(stream, TOTAL, word, text);
        return;
    }
    runner_sums_of(run, &sums);
    fputs("area    is about                          rules cases  pass  fail  skip broken\n",
          stream);
    for (size_t i = 0; i <= sums.n; ++i)
        if (fill_area_row(&sums.row[i], n))
            fprintf(stream, "%-7s %-33s %5zu %5zu %5zu %5zu %5zu %6zu\n", sums.row[i].name,
                    check_words(sums.row[i].name), n[0], n[1], n[2], n[3], n[4], n[5]);
    print_totals(stream, run, &sums.row[sums.n]);
    print_named(stream, TOTAL, word, text);
}

/* ---- Markdown, for the page of a CI job ------------------------------------------------------ */

void runner_markdown(FILE *stream, const struct runner_run *run)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char sentence[RUNNER_TEXT];
    const char *word = runner_verdict(run, sentence);
    struct runner_sums sums;
    struct grid grid;

    text_print(&out, "### Conformance: %s\n\n%s.\n", word, sentence);
    if (run->cause[0] != '\0')
        return;
    runner_sums_of(run, &sums);
    for (int t = 0; t < RUNNER_TABLES; ++t) {
        runner_table(&grid, &out, t, run->options, run->result, run->n, &sums);
        grid.compact = true;
        if (grid.rows > 0) {
            fprintf(stream, "\n#### %s\n", grid.title);
            grid_part(&grid, MARKDOWN_SHOWN);
        } else
            grid_close(&grid);
    }
}
