/* fleet/write.c: the fleet for people (lines of at most 80 columns), for the page of a job
 * (Markdown), as a line for each node (CSV, RFC 4180), and for a scheduler (two lists of names). */
#include <stdarg.h>
#include <string.h>

#include "command/command.h"
#include "files/text_out.h"
#include "fleet/fleet.h"

/* ---- text ------------------------------------------------------------------------------------ */

enum { COLUMNS = 80, INDENT = 11, SHOWN_IN_TEXT = 40 };

static void say(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(FILE *stream, const char *format, ...)
{
    char text[4 * FLEET_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    command_wrap(stream, text, 0, INDENT, COLUMNS);
}

/* Rows that are left out are counted, so that a part does not look like all there is. */
static void say_rest(FILE *stream, size_t n, const char *what)
{
    if (n > SHOWN_IN_TEXT)
        say(stream, "%10s %zu more %s are not shown: --format csv or json has all", "...",
            n - SHOWN_IN_TEXT, what);
}

static void say_nodes(FILE *stream, const struct fleet *fleet)
{
    static const enum fleet_status order[] = {FLEET_REJECTED, FLEET_BROKEN, FLEET_MISSING,
                                              FLEET_NOT_SHOWN};
    char words[FLEET_TEXT];

    for (size_t s = 0; s < sizeof order / sizeof order[0]; ++s) {
        size_t messages = 0;

        for (size_t i = 0; i < fleet->n && messages < SHOWN_IN_TEXT; ++i) {
            const struct fleet_node *node = &fleet->node[i];

            if (node->status != order[s])
                continue;
            ++messages;
            fleet_node_words(node, words);
            say(stream, "%-10s %s: %s", fleet_status_words[node->status], node->name, words);
        }
        say_rest(stream, fleet->count[order[s]], "of these nodes");
    }
}

static void say_outliers(FILE *stream, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    for (size_t i = 0; i < fleet->n_outliers && i < SHOWN_IN_TEXT; ++i) {
        fleet_outlier_words(&fleet->outlier[i], words);
        say(stream, "%-10s %s: %s", "OUTLYING", fleet->outlier[i].node->name, words);
    }
    say_rest(stream, fleet->n_outliers, "numbers");
}

static void say_drift(FILE *stream, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    for (size_t i = 0; i < fleet->n_drifts && i < SHOWN_IN_TEXT; ++i) {
        fleet_drift_words(&fleet->drift[i], words);
        say(stream, "%-10s %s: %s", "DRIFT", fleet->drift[i].node->name, words);
    }
    say_rest(stream, fleet->n_drifts, "differences");
    for (size_t i = 0; i < fleet->n_splits && i < SHOWN_IN_TEXT; ++i) {
        fleet_split_words(&fleet->split[i], words);
        say(stream, "%-10s %s", "SPLIT", words);
    }
    say_rest(stream, fleet->n_splits, "facts without a majority");
}

int fleet_text(FILE *stream, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT], counts[FLEET_TEXT];

    say_nodes(stream, fleet);
    say_outliers(stream, fleet);
    say_drift(stream, fleet);
    size_t messages = 0;

    for (size_t i = 0; i < fleet->n && messages < SHOWN_IN_TEXT; ++i) {
        if (!fleet->expects || fleet->node[i].expected)
            continue;
        ++messages;
        say(stream, "%-10s %s: it has a verdict, and is not expected", "UNEXPECTED",
            fleet->node[i].name);
    }
    say_rest(stream, fleet->unexpected, "nodes");
    fleet_rule_words(fleet, words);
    command_wrap(stream, words, 0, 0, COLUMNS);
    fleet_count_words(fleet, counts);
    command_wrap(stream, counts, 0, 0, COLUMNS);
    return 0;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

enum { SHOWN = 100 };

static void print_splits(struct text_out *out, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    for (size_t i = 0; i < fleet->n_splits && i < SHOWN; ++i) {
        fleet_split_words(&fleet->split[i], words);
        text_print(out, "%s* No majority: %s\n", i == 0 ? "\n" : "", words);
    }
    if (fleet->n_splits > SHOWN)
        text_print(out, "\n%zu more are not shown.\n", fleet->n_splits - SHOWN);
}

int fleet_markdown(FILE *stream, const struct fleet *fleet)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char words[2 * FLEET_TEXT], counts[FLEET_TEXT];

    fleet_count_words(fleet, counts);
    text_print(&out, "### %s\n", counts);
    const int status = fleet_tables(&out, fleet);

    print_splits(&out, fleet);
    fleet_rule_words(fleet, words);
    text_print(&out, "\n%s\n", words);
    return status;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

int fleet_csv(FILE *stream, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];
    size_t at = 0;

    fputs("node,status,passes,expected,worse_numbers,better_numbers,differences,file,reason,"
          "outlier\r\n",
          stream);
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        /* The worst number of each node comes first, and nodes are in the order of names in both.
         */
        while (at < fleet->n_outliers && fleet->outlier[at].node < node)
            ++at;
        const struct fleet_outlier *outlier =
            at < fleet->n_outliers && fleet->outlier[at].node == node ? &fleet->outlier[at] : NULL;

        text_write_field(stream, node->name);
        fprintf(stream, ",\"%s\",%s,%s,%zu,%zu,%zu,", fleet_status_words[node->status],
                fleet_passes(node) ? "yes" : "no",
                !fleet->expects  ? ""
                : node->expected ? "yes"
                                 : "no",
                node->worse, node->better, node->drifts);
        text_write_field(stream, node->file);
        fputc(',', stream);
        text_write_field(stream, node->why);
        fputc(',', stream);
        words[0] = '\0';
        if (outlier)
            fleet_outlier_words(outlier, words);
        text_write_field(stream, words);
        fputs("\r\n", stream);
    }
    return 0;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int write_list(const char *folder, const char *name, const struct fleet *fleet, bool passing,
                      struct text_error *why)
{
    struct text_out out;

    if (text_open(&out, folder, name, TEXT_PLAIN, why) != 0)
        return -1;
    for (size_t i = 0; i < fleet->n; ++i)
        if (fleet->node[i].nameable && fleet_passes(&fleet->node[i]) == passing)
            text_print(&out, "%s\n", fleet->node[i].name);
    return text_close(&out, why);
}

int fleet_lists(const char *folder, const struct fleet *fleet, struct text_error *why)
{
    if (text_folder_own(folder, why) != 0)
        return -1;
    /* The old list that lets nodes in must be gone first. */
    text_remove(folder, "passing_nodes.txt");
    text_remove(folder, "failing_nodes.txt");
    text_remove(folder, "index.html");
    return write_list(folder, "failing_nodes.txt", fleet, false, why) == 0
               ? write_list(folder, "passing_nodes.txt", fleet, true, why)
               : -1;
}
