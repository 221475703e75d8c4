/* fleet/text.c: the fleet for people, in lines of at most 80 columns. */
#include "fleet/fleet.h"

#include "command/command.h"

#include <stdarg.h>

enum { COLUMNS = 80, INDENT = 11, SHOWN = 40 };

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

/* What is left out is counted: nothing may look like all there is. */
static void say_rest(FILE *stream, size_t n, const char *what)
{
    if (n > SHOWN)
        say(stream, "%10s %zu more %s are not shown: --format csv or json has all", "...",
            n - SHOWN, what);
}

static void say_nodes(FILE *stream, const struct fleet *fleet)
{
    static const enum fleet_status order[] = {FLEET_REJECTED, FLEET_BROKEN, FLEET_MISSING,
                                              FLEET_NOT_SHOWN};
    char words[FLEET_TEXT];

    for (size_t s = 0; s < sizeof order / sizeof order[0]; ++s) {
        size_t said = 0;

        for (size_t i = 0; i < fleet->n && said < SHOWN; ++i) {
            const struct fleet_node *node = &fleet->node[i];

            if (node->status != order[s])
                continue;
            ++said;
            fleet_node_words(node, words);
            say(stream, "%-10s %s: %s", fleet_status_words[node->status], node->name, words);
        }
        say_rest(stream, fleet->count[order[s]], "of these nodes");
    }
}

static void say_outliers(FILE *stream, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    for (size_t i = 0; i < fleet->n_outliers && i < SHOWN; ++i) {
        fleet_outlier_words(&fleet->outlier[i], words);
        say(stream, "%-10s %s: %s", "OUTLYING", fleet->outlier[i].node->name, words);
    }
    say_rest(stream, fleet->n_outliers, "numbers");
}

static void say_drift(FILE *stream, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    for (size_t i = 0; i < fleet->n_drifts && i < SHOWN; ++i) {
        fleet_drift_words(&fleet->drift[i], words);
        say(stream, "%-10s %s: %s", "DRIFT", fleet->drift[i].node->name, words);
    }
    say_rest(stream, fleet->n_drifts, "differences");
    for (size_t i = 0; i < fleet->n_splits && i < SHOWN; ++i) {
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
    size_t said = 0;

    for (size_t i = 0; i < fleet->n && said < SHOWN; ++i) {
        if (!fleet->expects || fleet->node[i].expected)
            continue;
        ++said;
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
