/* report/gpus.c: what the GPUs of launches said about themselves, and the picture of the node. */
#include "report/page.h"

#include <string.h>

#include "machine/node.h"
#include "machine/tree.h"

static const char *const note_words[RECORD_NOTES] = {
    [RECORD_NOTE_POWER_CAP] = "a GPU was at its power limit, as GPUs that are all right are",
    [RECORD_NOTE_CORRECTED] = "memory errors of a GPU were corrected",
    [RECORD_NOTE_LINKS] = "NVLinks of a GPU had errors, or were down",
    [RECORD_NOTE_FOREIGN] = "processes of others computed on a GPU"};

static void say(struct text_out *out, const char *before, const char *after, const char *text)
{
    fputs(before, out->file);
    text_print(out, "%s", text);
    fputs(after, out->file);
}

/* Launches that were watched are those whose cells have GPUs. */
static void say_note(struct text_out *out, const struct report *report, enum record_gpu_note which,
                     const char *before, const char *after)
{
    char first[RECORD_NODE_TEXT] = "", note[RECORD_NODE_TEXT], text[REPORT_CELL_TEXT];
    size_t watched = 0, n = 0;

    for (size_t i = 0; i < report->n_all; ++i) {
        const struct record_cell *cell = report->row[i].cell;

        watched += cell->n_gpus > 0;
        if (!record_gpu_note(cell, which, note))
            continue;
        if (n++ == 0)
            memcpy(first, note, sizeof first);
    }
    if (n == 0)
        return;
    snprintf(text, sizeof text, "In %zu of %zu launches %s. The first: %.200s.", n, watched,
             note_words[which], first);
    say(out, before, after, text);
}

static void say_invalid(struct text_out *out, const struct report *report, const char *before,
                        const char *after)
{
    char why[RECORD_NODE_TEXT], first[RECORD_NODE_TEXT] = "", text[REPORT_CELL_TEXT];
    size_t n = 0;

    for (size_t i = 0; i < report->n_all; ++i) {
        if (strcmp(report->row[i].state, REPORT_INVALID) != 0)
            continue;
        record_gpu_doubt(report->row[i].cell, why);
        if (n++ == 0)
            memcpy(first, why, sizeof first);
    }
    if (n == 0)
        return;
    snprintf(text, sizeof text,
             "%zu of %zu launches are " REPORT_INVALID
             " for timing and in no number here, because of what their GPUs said. The first: "
             "%.200s.",
             n, report->n_all, first);
    say(out, before, after, text);
}

/* Of each node once: resumed runs are in several files. */
static void say_node(struct text_out *out, const struct report *report, const char *before,
                     const char *after)
{
    char note[RECORD_NODE_TEXT], text[REPORT_CELL_TEXT];

    for (size_t r = 0; r < report->n_runs; ++r) {
        int at = 0;

        while (node_note(report->run[r].run, &at, note)) {
            snprintf(text, sizeof text, "When run %.8s began: %.200s.", report->run[r].run->run_id,
                     note);
            say(out, before, after, text);
        }
    }
}

void report_gpu_cautions(struct text_out *out, const struct report *report, const char *before,
                         const char *after)
{
    say_invalid(out, report, before, after);
    for (int which = 0; which < RECORD_NOTES; ++which)
        say_note(out, report, (enum record_gpu_note)which, before, after);
    say_node(out, report, before, after);
}

void report_node(struct text_out *out, const struct record_run *run)
{
    if (run->node.n_numa + run->node.n_gpus + run->node.n_nics == 0)
        return;
    fputs("<dt>Node</dt><dd><pre class=\"node\">", out->file);
    node_tree(out->file, TEXT_HTML, run);
    fputs("</pre></dd>\n", out->file);
}
