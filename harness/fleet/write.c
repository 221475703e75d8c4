/* fleet/write.c: the fleet for people (lines of at most 80 columns), for the page of a job
 * (Markdown), as a line for each node (CSV, RFC 4180), for programs (JSON), and for a scheduler
 * (two lists of names). */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "export/grid.h"
#include "fleet/fleet.h"
#include "numbers/stats.h"
#include "record/json.h"

/* ---- text ------------------------------------------------------------------------------------ */

enum { INDENT = 11, SHOWN_IN_TEXT = 40 };

void fleet_text(FILE *stream, const struct fleet *fleet)
{
    static const struct {
        const char *label, *rest;
    } lists[FLEET_LISTS] = {
        [FLEET_LIST_REJECTED] = {"REJECTED", "of these nodes"},
        [FLEET_LIST_BROKEN] = {"BROKEN", "of these nodes"},
        [FLEET_LIST_MISSING] = {"MISSING", "of these nodes"},
        [FLEET_LIST_NOT_SHOWN] = {"NOT SHOWN", "of these nodes"},
        [FLEET_LIST_OUTLIERS] = {"OUTLYING", "numbers"},
        [FLEET_LIST_DRIFT] = {"DRIFT", "differences"},
        [FLEET_LIST_SPLITS] = {"SPLIT", "facts without a majority"},
        [FLEET_LIST_UNEXPECTED] = {"UNEXPECTED", "nodes"},
    };
    char words[2 * FLEET_TEXT], counts[FLEET_TEXT], others[32], *answer = fleet_answer(fleet);
    bool any = false;

    command_wrap(stream, answer, 0, 0, 80);
    free(answer);
    fputc('\n', stream);
    for (enum fleet_list list = 0; list < FLEET_LISTS; ++list) {
        struct fleet_item item = {.at = 0};
        size_t lines = 0, left = 0;

        /* Nodes in a row that have one reason share a line. */
        for (bool more = fleet_next(fleet, list, &item); more;) {
            const struct fleet_item first = item;
            size_t same = 0;

            while ((more = fleet_next(fleet, list, &item)) && first.name[0] != '\0' &&
                   strcmp(item.words, first.words) == 0)
                ++same;
            snprintf(others, sizeof others, " and %zu more", same);
            if (lines++ < SHOWN_IN_TEXT)
                command_say(stream, INDENT, "%-10s %s%s%s%s", lists[list].label, first.name,
                            same > 0 ? others : "", first.name[0] != '\0' ? ": " : "", first.words);
            else
                left += same + 1;
        }
        any = any || lines > 0;
        /* Rows that are left out are counted, so that a part does not look like all there is. */
        if (left > 0)
            command_say(stream, INDENT,
                        "%10s %zu more %s are not shown: --format csv or json has all", "...", left,
                        lists[list].rest);
    }
    fputs(any ? "\n" : "", stream);
    fleet_rule_words(fleet, words);
    if (words[0] != '\0')
        command_say(stream, 0, "%s", words);
    fleet_basis_words(fleet, words);
    command_say(stream, 0, "%s", words);
    fleet_count_words(fleet, counts);
    command_say(stream, 0, "%s", counts);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

enum { SHOWN = 100 };

void fleet_markdown(FILE *stream, const struct fleet *fleet)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    struct fleet_item item = {.at = 0};
    char words[2 * FLEET_TEXT], counts[FLEET_TEXT], *answer = fleet_answer(fleet);
    size_t n = 0;

    fleet_count_words(fleet, counts);
    text_print(&out, "**%s**\n\n%s\n", answer, counts);
    free(answer);
    fleet_tables(&out, fleet);
    while (fleet_next(fleet, FLEET_LIST_SPLITS, &item))
        if (n++ < SHOWN)
            text_print(&out, "%s* No majority: %s\n", n == 1 ? "\n" : "", item.words);
    if (n > SHOWN)
        text_print(&out, "\n%zu more %s not shown.\n", n - SHOWN, text_are(n - SHOWN));
    fleet_rule_words(fleet, words);
    text_print(&out, "\n%s\n", words);
    fleet_basis_words(fleet, words);
    text_print(&out, "\n%s\n", words);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void fleet_csv(FILE *stream, const struct fleet *fleet)
{
    struct text_out out = {.file = stream};
    char words[2 * FLEET_TEXT];
    struct grid grid;
    size_t at = 0;

    grid_open(&grid, &out, "", "");
    grid_headings(&grid, "",
                  "node|status|passes|expected|worse_numbers|better_numbers|differences|file|"
                  "reason|outlier|measured_utc|steps");
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];

        /* The worst number of each node comes first, and nodes are in the order of names in both.
         */
        while (at < fleet->n_outliers && fleet->outlier[at].node < node)
            ++at;
        words[0] = '\0';
        if (at < fleet->n_outliers && fleet->outlier[at].node == node)
            fleet_outlier_words(&fleet->outlier[at], words);
        grid_row(&grid, "");
        grid_cell(&grid, "", "%s", node->name);
        grid_cell(&grid, "", "%s", fleet_status_words[node->status]);
        grid_cell(&grid, "number", "%s", fleet_passes(node) ? "yes" : "no");
        grid_cell(&grid, "number", "%s", !fleet->expects ? "" : node->expected ? "yes" : "no");
        grid_cell(&grid, "number", "%zu", node->worse);
        grid_cell(&grid, "number", "%zu", node->better);
        grid_cell(&grid, "number", "%zu", node->drifts);
        grid_cell(&grid, "", "%s", node->file);
        grid_cell(&grid, "", "%s", node->why);
        grid_cell(&grid, "", "%s", words);
        grid_cell(&grid, "", "%s", fleet_fact_of(node, "measured_utc"));
        grid_cell(&grid, "", "%s", node->steps);
    }
    grid_csv(&grid);
    grid_close(&grid);
}

/* ---- JSON: lockstep/fleet/1.0 --------------------------------------------------------------- */

void fleet_json(FILE *stream, const struct fleet *fleet)
{
    const struct fleet_rule *rule = &fleet->rule;
    json_t *counts = json_object(), *nodes = json_array(), *outliers = json_array();
    json_t *drift = json_array(), *splits = json_array();

    for (int i = 0; i < FLEET_STATUSES; ++i)
        json_object_set_new(counts, fleet_status_words[i], value_count(fleet->count[i]));
    json_object_set_new(counts, "outlying", value_count(fleet->outlying));
    json_object_set_new(counts, "unexpected", value_count(fleet->unexpected));
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        char advice[2 * FLEET_TEXT];

        fleet_advice_words(node, advice);
        json_array_append_new(
            nodes, value_object("measured_utc:c steps:c node:c file:k status:t passes:b expected:o "
                                "reason:c advice:c worse_numbers:n better_numbers:n differences:n",
                                fleet_fact_of(node, "measured_utc"), node->steps, node->name,
                                node->file, fleet_status_words[node->status], fleet_passes(node),
                                fleet->expects ? json_boolean(node->expected) : json_null(),
                                node->why, advice, node->worse, node->better, node->drifts));
    }
    for (size_t i = 0; i < fleet->n_outliers; ++i) {
        const struct fleet_outlier *outlier = &fleet->outlier[i];

        json_array_append_new(
            outliers,
            value_object("node:c number:c device:o unit:c value:r median:r lo:r hi:r "
                         "nodes:n worse:b",
                         outlier->node->name, outlier->limit->name,
                         outlier->device < 0 ? json_null() : json_integer(outlier->device),
                         quantity_base_unit(outlier->limit->kind), outlier->value, outlier->median,
                         outlier->lo, outlier->hi, outlier->nodes, outlier->is_worse));
    }
    for (size_t i = 0; i < fleet->n_drifts; ++i) {
        const struct fleet_drift *one = &fleet->drift[i];

        json_array_append_new(drift, value_object("node:c what:c value:c majority:c decides:b",
                                                  one->node->name, one->what, one->value,
                                                  one->majority, one->decides));
    }
    for (size_t i = 0; i < fleet->n_splits; ++i) {
        const struct fleet_split *split = &fleet->split[i];

        json_array_append_new(splits, value_object("what:c values:n most:c nodes:n decides:b",
                                                   split->what, split->values, split->most,
                                                   split->have, split->decides));
    }
    document_print(
        stream,
        value_object("schema:t folder:c exit:i counts:o rule:{alpha:r effect:r least_nodes:i "
                     "numbers:n not_compared:n comparisons:n} nodes:o outliers:o drift:o "
                     "no_majority:o",
                     "lockstep/fleet/1.0", fleet->folder, fleet_exit(fleet), counts, OUTLIER_ALPHA,
                     OUTLIER_EFFECT, OUTLIER_LEAST, rule->series, rule->small, rule->comparisons,
                     nodes, outliers, drift, splits));
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* A node that is not expected is in no list: a scheduler refuses a name that it does not know. */
static int write_list(const char *folder, const char *name, const struct fleet *fleet, bool passing,
                      struct text_error *why)
{
    struct text_out out;

    if (text_open(&out, folder, name, TEXT_PLAIN, why) != 0)
        return -1;
    for (size_t i = 0; i < fleet->n; ++i)
        if (fleet->node[i].nameable && (fleet->node[i].expected || !fleet->expects) &&
            fleet_passes(&fleet->node[i]) == passing)
            text_print(&out, "%s\n", fleet->node[i].name);
    return text_close(&out, why);
}

int fleet_clear(const char *folder, struct text_error *why)
{
    if (text_folder_own(folder, why) != 0)
        return -1;
    text_remove(folder, "passing_nodes.txt"); /* first: it lets nodes in */
    text_remove(folder, "failing_nodes.txt");
    text_remove(folder, "index.html");
    return 0;
}

int fleet_lists(const char *folder, const struct fleet *fleet, struct text_error *why)
{
    return write_list(folder, "failing_nodes.txt", fleet, false, why) == 0
               ? write_list(folder, "passing_nodes.txt", fleet, true, why)
               : -1;
}
