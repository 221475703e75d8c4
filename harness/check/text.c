/* check/text.c: the result for people: a block for each case that did not pass, then a table. */
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "files/memory_file.h"
#include "text/text.h"

enum { COLUMNS = 80, INDENT = 8 };

static void wrap_indented(FILE *stream, const char *text)
{
    fprintf(stream, "%*s", INDENT, "");
    command_wrap(stream, text, INDENT, INDENT, COLUMNS);
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
    fprintf(stream, "%-7s ", "SKIP");
    command_wrap(stream, head, INDENT, INDENT, COLUMNS);
    wrap_indented(stream, memory_file_close(&ids) == 0 ? ids.text : "(no memory to name them)");
    fputc('\n', stream);
    free(ids.text);
}

static void print_sums(FILE *stream, const struct runner_area_sums *sums)
{
    fprintf(stream, "%-7s%5d %7d %7d %3d %5zu %4zu %4zu %4zu %6zu %8d %8d\n", sums->name,
            sums->rules, sums->covered, sums->pending, sums->not_applicable, sums->cases,
            sums->verdict[CHECK_PASS], sums->verdict[CHECK_FAIL], sums->verdict[CHECK_SKIP],
            sums->verdict[CHECK_BROKEN], sums->observed, sums->reported);
}

static void caution(FILE *stream, const char *text)
{
    fprintf(stream, "%-9s ", "caution");
    command_wrap(stream, text, 10, 10, COLUMNS);
}

/* Warns of processes that an implementation left running, and of those that could not be found. */
static void warn_of_strays(FILE *stream, const struct runner_run *run)
{
    const struct runner_result *first = NULL;
    bool unwatched = false, unseen = false;
    char text[RUNNER_TEXT];
    size_t n = 0, cases = 0;

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
        caution(stream, text);
    }
    if (unseen)
        caution(stream, "a process was left running that could not be found and killed: /proc does "
                        "not show it");
    if (unwatched)
        caution(stream, "processes that are left running cannot be found on this system: it has no "
                        "PR_SET_CHILD_SUBREAPER");
    if (run->traceable)
        caution(stream, "the implementation could have looked into the suite and written a "
                        "result: this system has no PR_SET_DUMPABLE");
    if (run->options->same_process)
        caution(stream, "the implementation ran in the processes of the cases (--same-process), "
                        "and could have written a result");
}

static void print_totals(FILE *stream, const struct runner_run *run)
{
    char sentence[RUNNER_TEXT], text[2 * RUNNER_TEXT];
    struct runner_area_sums sums;
    const char *word = runner_verdict(run, sentence);

    runner_totals(run, &sums);
    fprintf(stream,
            "\nrules     %d of %d covered, %d pending, %d not applicable (--rules says why)\n",
            sums.covered, sums.rules, sums.pending, sums.not_applicable);
    fprintf(stream, "evidence  %d rules observed, %d only reported, %d untested here\n",
            sums.observed, sums.reported, sums.rules - sums.observed - sums.reported);
    if (run->is.about.devices > 0) {
        check_counts_text(run->is.about.devices, run->options->seed, text, sizeof text);
        fprintf(stream, "%-9s ", "counts");
        command_wrap(stream, text, 10, 10, COLUMNS);
    }
    if (run->options->launcher[0] != '\0') {
        if (run->options->world.per_process > 0)
            snprintf(text, sizeof text,
                     "at most %zu ranks of a model in each of two or more, started by '%s'",
                     run->options->world.per_process, run->options->launcher);
        else
            snprintf(text, sizeof text,
                     "%zu for a model, or one for each rank where it has fewer, started by '%s'",
                     run->options->world.processes, run->options->launcher);
        fprintf(stream, "%-9s ", "processes");
        command_wrap(stream, text, 10, 10, COLUMNS);
    }
    snprintf(text, sizeof text, "%s (%.1f s)", sentence, run->seconds);
    warn_of_strays(stream, run);
    fprintf(stream, "%-9s ", word);
    command_wrap(stream, text, 10, 10, COLUMNS);
}

/* The page must say that a profile is not complete yet. */
static void print_pending(FILE *stream, const struct runner_run *run)
{
    const bool asked =
        (run->options->profiles & PROFILE_DDP) != 0 && run->options->profile[0] != '\0';
    char text[RUNNER_TEXT];

    for (int a = 0; a < check_n_areas && asked; ++a) {
        const struct check_area *area = check_areas[a];

        if (strcmp(area->name, "DDP") != 0)
            continue;
        for (int i = 0; i < area->n_excuses; ++i) {
            if (!area->excuses[i].pending)
                continue;
            snprintf(text, sizeof text, "%s: %s", area->excuses[i].rule, area->excuses[i].reason);
            fputs("PENDING ", stream);
            command_wrap(stream, text, INDENT, INDENT, COLUMNS);
        }
        fputc('\n', stream);
    }
}

void runner_text(FILE *stream, const struct runner_run *run)
{
    char sentence[RUNNER_TEXT], text[8 * RUNNER_TEXT];
    struct runner_area_sums sums;

    if (run->cause[0] != '\0') { /* one reason for all cases */
        fprintf(stream, "%-7s ", runner_verdict(run, sentence));
        snprintf(text, sizeof text, "%s; %zu case%s not run", sentence, run->n,
                 run->n == 1 ? " was" : "s were");
        command_wrap(stream, text, INDENT, INDENT, COLUMNS);
        return;
    }
    for (size_t i = 0; i < run->n; ++i)
        if (run->result[i].verdict == CHECK_SKIP)
            print_skipped(stream, run, i);
    print_pending(stream, run);
    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];
        const struct check_case *test = result->test;

        if (result->verdict != CHECK_FAIL && result->verdict != CHECK_BROKEN)
            continue;
        fprintf(stream, "%-7s %s (%s, %s, %s)\n", runner_verdict_words[result->verdict], test->id,
                test->rule, runner_obligation_words[test->obligation],
                runner_evidence_words[test->evidence]);
        wrap_indented(stream, result->reason);
        /* The command stays on one line, so that it can be copied. */
        if (runner_area_of(test->rule)) {
            runner_command(run->options, test->id, text);
            fprintf(stream, "%*s", INDENT, "");
            text_write(stream, TEXT_PLAIN, text, sizeof text);
            fputc('\n', stream);
        }
        fputc('\n', stream);
    }
    fputs("area   rules covered pending n/a cases pass fail skip broken observed reported\n",
          stream);
    for (int a = -1; a < check_n_areas; ++a) {
        const struct check_area *area = a < 0 ? NULL : check_areas[a];

        if (!runner_shows(run, area))
            continue;
        runner_sums(run, area, &sums);
        print_sums(stream, &sums);
    }
    runner_totals(run, &sums);
    print_sums(stream, &sums);
    print_totals(stream, run);
}
