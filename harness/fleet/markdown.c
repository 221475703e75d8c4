/* fleet/markdown.c: the fleet for the page of a job: what is the matter, in tables. */
#include "fleet/fleet.h"

#include "files/text_out.h"

enum { SHOWN = 100 };

static void rest(struct text_out *out, size_t n)
{
    if (n > SHOWN)
        text_print(out, "\n%zu more are not shown.\n", n - SHOWN);
}

static void nodes(struct text_out *out, const struct fleet *fleet)
{
    char words[FLEET_TEXT];
    size_t n = 0;

    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];

        if (fleet_passes(node) && (!fleet->expects || node->expected))
            continue;
        if (n == 0)
            text_print(out, "\n| node | status | why |\n|---|---|---|\n");
        if (n++ >= SHOWN)
            continue;
        fleet_node_words(node, words);
        text_print(out, "| %s | %s | %s%s |\n", node->name, fleet_status_words[node->status], words,
                   fleet->expects && !node->expected ? " (not expected)" : "");
    }
    rest(out, n);
}

static void outliers(struct text_out *out, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    if (fleet->n_outliers > 0)
        text_print(out, "\n| outlying | number |\n|---|---|\n");
    for (size_t i = 0; i < fleet->n_outliers && i < SHOWN; ++i) {
        fleet_outlier_words(&fleet->outlier[i], words);
        text_print(out, "| %s | %s |\n", fleet->outlier[i].node->name, words);
    }
    rest(out, fleet->n_outliers);
}

static void drift(struct text_out *out, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];

    if (fleet->n_drifts > 0)
        text_print(out, "\n| differs from most | in what |\n|---|---|\n");
    for (size_t i = 0; i < fleet->n_drifts && i < SHOWN; ++i) {
        fleet_drift_words(&fleet->drift[i], words);
        text_print(out, "| %s | %s |\n", fleet->drift[i].node->name, words);
    }
    rest(out, fleet->n_drifts);
    for (size_t i = 0; i < fleet->n_splits && i < SHOWN; ++i) {
        fleet_split_words(&fleet->split[i], words);
        text_print(out, "%s* No majority: %s\n", i == 0 ? "\n" : "", words);
    }
    rest(out, fleet->n_splits);
}

int fleet_markdown(FILE *stream, const struct fleet *fleet)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char words[2 * FLEET_TEXT], counts[FLEET_TEXT];

    fleet_count_words(fleet, counts);
    text_print(&out, "### %s\n", counts);
    nodes(&out, fleet);
    outliers(&out, fleet);
    drift(&out, fleet);
    fleet_rule_words(fleet, words);
    text_print(&out, "\n%s\n", words);
    return 0;
}
