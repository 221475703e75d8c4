/* check/text.c: the result for people: a block for each case that did not pass, then a table; and
 * the page of a CI job. */
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "files/memory_file.h"
#include "files/text_out.h"
#include "text/text.h"

enum { COLUMNS = 80, VERDICT = 7, TOTAL = 9, MARKDOWN_SHOWN = 50 };

/* Prints the name in a column, and the text next to it. */
static void print_named(FILE *stream, int column, const char *name, const char *text)
{
    fprintf(stream, "%-*s ", column, name);
    command_wrap(stream, text, (size_t)column + 1, (size_t)column + 1, COLUMNS);
}

/* All cases that were skipped for one reason are one block; the first of them stands for it. */
static void print_skipped(FILE *stream, const struct runner_run *run, size_t first)
{
    const char *reason = run->result[first].reason;
    char head[RUNNER_TEXT + 64];
    struct memory_file ids;
    size_t n = 0;

    for (size_t i = 0; i < first; ++i)
        if (run->result[i].verdict == CHECK_SKIP && strcmp(run->result[i].reason, reason) == 0)
            return;
    const int opened = memory_file_open(&ids);

    for (size_t i = first; i < run->n; ++i)
        if (run->result[i].verdict == CHECK_SKIP && strcmp(run->result[i].reason, reason) == 0) {
            if (opened == 0)
                fprintf(ids.to, "%s%s", n > 0 ? " " : "", run->result[i].test->id);
            ++n;
        }
    snprintf(head, sizeof head, "%zu case%s: %s", n, n == 1 ? "" : "s", reason);
    print_named(stream, VERDICT, "SKIP", head);
    print_named(stream, VERDICT, "",
                memory_file_close(&ids) == 0 ? ids.text : "(no memory to name them)");
    fputc('\n', stream);
    free(ids.text);
}

static void print_totals(FILE *stream, const struct runner_run *run,
                         const struct runner_area_sums *total)
{
    const struct runner_result *first = NULL;
    bool unwatched = false, unseen = false;
    char sentence[RUNNER_TEXT], text[2 * RUNNER_TEXT];
    const char *word = runner_verdict(run, sentence);
    size_t n = 0, cases = 0;

    fprintf(stream,
            "\nrules     %d of %d covered, %d pending, %d not applicable (--rules says why)\n",
            total->covered, total->rules, total->pending, total->not_applicable);
    fprintf(stream, "evidence  %d rules observed, %d only reported, %d untested here\n",
            total->observed, total->reported, total->rules - total->observed - total->reported);
    if (run->is.about.devices > 0) {
        check_counts_text(run->is.about.devices, run->options->seed, text, sizeof text);
        print_named(stream, TOTAL, "counts", text);
    }
    if (run->options->world.per_process > 0)
        snprintf(text, sizeof text,
                 "at most %zu ranks of a model in each of two or more, started by '%s'",
                 run->options->world.per_process, run->options->launcher);
    else
        snprintf(text, sizeof text,
                 "%zu for a model, or one for each rank where it has fewer, started by '%s'",
                 run->options->world.processes, run->options->launcher);
    if (run->options->launcher[0] != '\0')
        print_named(stream, TOTAL, "processes", text);
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
                 "%zu process%s, left running by %zu case%s, %s killed; the first: '%s', by %s", n,
                 n == 1 ? "" : "es", cases, cases == 1 ? "" : "s", n == 1 ? "was" : "were",
                 first->strays.name, first->test->id);
        print_named(stream, TOTAL, "caution", text);
    }
    if (unseen)
        print_named(stream, TOTAL, "caution",
                    "a process was left running that could not be found and killed: /proc does "
                    "not show it");
    if (unwatched)
        print_named(stream, TOTAL, "caution",
                    "processes that are left running cannot be found on this system: it has no "
                    "PR_SET_CHILD_SUBREAPER");
    if (run->traceable)
        print_named(stream, TOTAL, "caution",
                    "the implementation could have looked into the suite and written a "
                    "result: this system has no PR_SET_DUMPABLE");
    if (run->options->same_process)
        print_named(stream, TOTAL, "caution",
                    "the implementation ran in the processes of the cases (--same-process), "
                    "and could have written a result");
    snprintf(text, sizeof text, "%s (%.1f s)", sentence, run->seconds);
    print_named(stream, TOTAL, word, text);
}

void runner_text(FILE *stream, const struct runner_run *run)
{
    const bool asked =
        (run->options->profiles & PROFILE_DDP) != 0 && run->options->profile[0] != '\0';
    char sentence[RUNNER_TEXT], text[8 * RUNNER_TEXT];
    struct runner_sums sums;

    if (run->cause[0] != '\0') { /* one reason for all cases */
        const char *word = runner_verdict(run, sentence);

        snprintf(text, sizeof text, "%s; %zu case%s not run", sentence, run->n,
                 run->n == 1 ? " was" : "s were");
        print_named(stream, VERDICT, word, text);
        return;
    }
    for (size_t i = 0; i < run->n; ++i)
        if (run->result[i].verdict == CHECK_SKIP)
            print_skipped(stream, run, i);
    /* The page must say that a profile is not complete yet. */
    for (int a = 0; a < check_n_areas && asked; ++a) {
        const struct check_area *area = check_areas[a];

        if (strcmp(area->name, "DDP") != 0)
            continue;
        for (int i = 0; i < area->n_excuses; ++i) {
            if (!area->excuses[i].pending)
                continue;
            snprintf(text, sizeof text, "%s: %s", area->excuses[i].rule, area->excuses[i].reason);
            print_named(stream, VERDICT, "PENDING", text);
        }
        fputc('\n', stream);
    }
    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];
        const struct check_case *test = result->test;

        if (result->verdict != CHECK_FAIL && result->verdict != CHECK_BROKEN)
            continue;
        fprintf(stream, "%-7s %s (%s, %s, %s)\n", runner_verdict_words[result->verdict], test->id,
                test->rule, runner_obligation_words[test->obligation],
                runner_evidence_words[test->evidence]);
        print_named(stream, VERDICT, "", result->reason);
        /* The command stays on one line, so that it can be copied. */
        if (runner_area_of(test->rule)) {
            runner_command(run->options, test->id, text);
            fprintf(stream, "%*s", VERDICT + 1, "");
            text_write(stream, TEXT_PLAIN, text, sizeof text);
            fputc('\n', stream);
        }
        fputc('\n', stream);
    }
    fputs("area   rules covered pending n/a cases pass fail skip broken observed reported\n",
          stream);
    runner_sums_of(run, &sums);
    for (size_t i = 0; i <= sums.n; ++i) {
        const struct runner_area_sums *row = &sums.row[i];

        fprintf(stream, "%-7s%5d %7d %7d %3d %5zu %4zu %4zu %4zu %6zu %8d %8d\n", row->name,
                row->rules, row->covered, row->pending, row->not_applicable, row->cases,
                row->verdict[CHECK_PASS], row->verdict[CHECK_FAIL], row->verdict[CHECK_SKIP],
                row->verdict[CHECK_BROKEN], row->observed, row->reported);
    }
    print_totals(stream, run, &sums.row[sums.n]);
}

/* ---- Markdown, for the page of a CI job ------------------------------------------------------ */

void runner_markdown(FILE *stream, const struct runner_run *run)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char sentence[RUNNER_TEXT];
    const char *word = runner_verdict(run, sentence);
    struct runner_sums sums;
    size_t n = 0;

    text_print(&out, "### Conformance: %s\n\n%s.\n", word, sentence);
    if (run->cause[0] != '\0')
        return;
    text_print(&out, "\n| area | rules | covered | pending | n/a | cases | pass | fail | skip | "
                     "broken | observed | reported |\n"
                     "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    runner_sums_of(run, &sums);
    for (size_t i = 0; i <= sums.n; ++i) {
        const struct runner_area_sums *row = &sums.row[i];

        text_print(&out, "| %s | %d | %d | %d | %d | %zu | %zu | %zu | %zu | %zu | %d | %d |\n",
                   row->name, row->rules, row->covered, row->pending, row->not_applicable,
                   row->cases, row->verdict[CHECK_PASS], row->verdict[CHECK_FAIL],
                   row->verdict[CHECK_SKIP], row->verdict[CHECK_BROKEN], row->observed,
                   row->reported);
    }
    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];

        if (result->verdict != CHECK_FAIL && result->verdict != CHECK_BROKEN)
            continue;
        if (n == 0)
            text_print(&out, "\n| verdict | case | reason |\n|---|---|---|\n");
        if (n++ < MARKDOWN_SHOWN)
            text_print(&out, "| %s | %s | %s |\n", runner_verdict_words[result->verdict],
                       result->test->id, result->reason);
    }
    if (n > MARKDOWN_SHOWN)
        text_print(&out, "\n%zu more are not shown.\n", n - MARKDOWN_SHOWN);
}
