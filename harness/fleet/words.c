/* fleet/words.c: what all forms of a fleet's judgement say alike; and what it comes to. */
#include "fleet/fleet.h"

#include <math.h>
#include <string.h>

#include "command/command.h"
#include "numbers/outlier.h"
#include "text/quantity.h"

const char *const fleet_status_words[FLEET_STATUSES] = {"ACCEPTED", "REJECTED", "NOT SHOWN",
                                                        "BROKEN", "MISSING"};

/* ---- what it comes to --------------------------------------------------------------------- */

bool fleet_passes(const struct fleet_node *node)
{
    return node->status == FLEET_ACCEPTED && node->worse == 0;
}

void fleet_count(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];

        ++fleet->count[node->status];
        fleet->outlying += node->worse > 0;
        fleet->unexpected += fleet->expects && !node->expected;
    }
}

int fleet_exit(const struct fleet *fleet)
{
    const size_t *count = fleet->count;

    if (count[FLEET_REJECTED] + count[FLEET_BROKEN] + count[FLEET_MISSING] + fleet->outlying > 0)
        return EXIT_FAILED;
    return count[FLEET_NOT_SHOWN] > 0 ? FLEET_EXIT_NOT_SHOWN : EXIT_PASSED;
}

/* ---- words -------------------------------------------------------------------------------- */

const char *fleet_number_words(double value, const char *unit, char text[64])
{
    char words[QUANTITY_TEXT];

    for (int kind = 0; kind < QUANTITY_KINDS; ++kind) {
        if (strcmp(unit, quantity_base_unit((enum quantity_kind)kind)) == 0) {
            snprintf(text, 64, "%s", quantity_words(value, (enum quantity_kind)kind, words));
            return text;
        }
    }
    snprintf(text, 64, "%.4g%s%.15s", value, unit[0] != '\0' ? " " : "", unit);
    return text;
}

void fleet_count_words(const struct fleet *fleet, char text[FLEET_TEXT])
{
    int at = snprintf(text, FLEET_TEXT, "%zu node%s:", fleet->n, fleet->n == 1 ? "" : "s");

    for (int i = 0; i < FLEET_STATUSES; ++i)
        at += snprintf(text + at, FLEET_TEXT - (size_t)at, "%s %zu %s", i > 0 ? "," : "",
                       fleet->count[i], fleet_status_words[i]);
    snprintf(text + at, FLEET_TEXT - (size_t)at, "; %zu outlying", fleet->outlying);
}

void fleet_node_words(const struct fleet_node *node, char text[FLEET_TEXT])
{
    const size_t n = node->worse;

    text[0] = '\0';
    if (node->why[0] != '\0')
        snprintf(text, FLEET_TEXT, "%s", node->why);
    else if (n > 0)
        snprintf(text, FLEET_TEXT, "%zu of its numbers %s worse than those of the others", n,
                 n == 1 ? "is" : "are");
}

void fleet_outlier_words(const struct fleet_outlier *outlier, char text[2 * FLEET_TEXT])
{
    const char *unit = outlier->limit->unit;
    const double change = 100 * (outlier->value / outlier->median - 1);
    char value[64], median[64], lo[64], hi[64], device[24] = "", percent[48] = "";

    if (isfinite(change))
        snprintf(percent, sizeof percent, ", %+.*f %%", fabs(change) < 100 ? 1 : 0, change);
    if (outlier->device >= 0)
        snprintf(device, sizeof device, ", device %d", outlier->device);
    snprintf(text, 2 * FLEET_TEXT,
             "%.200s%s: %s%s; the median of %zu nodes is %s, and those like it are within %s to "
             "%s%s",
             outlier->limit->name, device, fleet_number_words(outlier->value, unit, value), percent,
             outlier->nodes, fleet_number_words(outlier->median, unit, median),
             fleet_number_words(outlier->lo, unit, lo), fleet_number_words(outlier->hi, unit, hi),
             outlier->is_worse ? "" : " (better: is it measured as the others are?)");
}

bool fleet_next(const struct fleet *fleet, enum fleet_list list, struct fleet_item *item)
{
    static const enum fleet_status statuses[] = {[FLEET_LIST_REJECTED] = FLEET_REJECTED,
                                                 [FLEET_LIST_BROKEN] = FLEET_BROKEN,
                                                 [FLEET_LIST_MISSING] = FLEET_MISSING,
                                                 [FLEET_LIST_NOT_SHOWN] = FLEET_NOT_SHOWN};
    const struct fleet_node *node = NULL;
    size_t *const at = &item->at;

    item->name = "";
    if (list == FLEET_LIST_OUTLIERS && *at < fleet->n_outliers) {
        const struct fleet_outlier *outlier = &fleet->outlier[(*at)++];

        node = outlier->node;
        item->failed = outlier->is_worse;
        fleet_outlier_words(outlier, item->words);
    } else if (list == FLEET_LIST_DRIFT && *at < fleet->n_drifts) {
        const struct fleet_drift *drift = &fleet->drift[(*at)++];

        node = drift->node;
        item->failed = drift->decides;
        snprintf(item->words, sizeof item->words, "%.100s is %.160s, most have %.160s", drift->what,
                 drift->value ? drift->value : "unknown",
                 drift->majority ? drift->majority : "none");
    } else if (list == FLEET_LIST_SPLITS && *at < fleet->n_splits) {
        const struct fleet_split *split = &fleet->split[(*at)++];

        item->failed = split->decides;
        snprintf(item->words, sizeof item->words,
                 "%.100s: %zu values, and none is that of more than half; %zu nodes have %.160s",
                 split->what, split->values, split->have, split->most ? split->most : "none");
        return true;
    } else if (list < FLEET_LIST_OUTLIERS || list == FLEET_LIST_UNEXPECTED) {
        while (*at < fleet->n && !node) {
            const struct fleet_node *one = &fleet->node[(*at)++];

            if (list == FLEET_LIST_UNEXPECTED ? fleet->expects && !one->expected
                                              : one->status == statuses[list])
                node = one;
        }
        item->failed = true;
        if (list == FLEET_LIST_UNEXPECTED)
            snprintf(item->words, sizeof item->words, "it has a verdict, and is not expected");
        else if (node)
            fleet_node_words(node, item->words);
    }
    item->name = node ? node->name : "";
    return node != NULL;
}

void fleet_rule_words(const struct fleet *fleet, char text[2 * FLEET_TEXT])
{
    const struct fleet_rule *rule = &fleet->rule;

    snprintf(
        text, 2 * FLEET_TEXT,
        "Outliers: %zu comparisons of %zu numbers, by median and MAD with quantiles of "
        "Student's t, at %.0f %% for all of them together, and no difference below %.0f %%. Of "
        "fewer than %d nodes, and not compared: %zu number%s.",
        rule->comparisons, rule->series - rule->small, 100 * OUTLIER_ALPHA, 100 * OUTLIER_EFFECT,
        OUTLIER_LEAST, rule->small, rule->small == 1 ? "" : "s");
}
