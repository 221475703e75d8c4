/* fleet/words.c: what all forms of a fleet's judgement say alike; and what it comes to. */
#include "fleet/fleet.h"

#include <string.h>

#include "command/command.h"
#include "numbers/stats.h"
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
        fleet->rule.relative += fleet_passes(node) && !node->absolute;
        fleet->unexpected += fleet->expects && !node->expected;
    }
    /* The outlying numbers of a node are in order, the worst one first. */
    for (size_t i = fleet->n_outliers; i-- > 0;)
        if (fleet->outlier[i].is_worse)
            fleet->node[fleet->outlier[i].node - fleet->node].worst = &fleet->outlier[i];
}

int fleet_exit(const struct fleet *fleet)
{
    const size_t *count = fleet->count;

    if (count[FLEET_REJECTED] + count[FLEET_BROKEN] + count[FLEET_MISSING] + fleet->outlying > 0)
        return EXIT_FAILED;
    return count[FLEET_NOT_SHOWN] > 0 ? FLEET_EXIT_NOT_SHOWN : EXIT_PASSED;
}

/* ---- words -------------------------------------------------------------------------------- */

void fleet_count_words(const struct fleet *fleet, char text[FLEET_TEXT])
{
    int at = snprintf(text, FLEET_TEXT, "%zu node%s:", fleet->n, fleet->n == 1 ? "" : "s");

    for (int i = 0, n = 0; i < FLEET_STATUSES; ++i)
        if (fleet->count[i] > 0)
            at += snprintf(text + at, FLEET_TEXT - (size_t)at, "%s %zu %s", n++ > 0 ? "," : "",
                           fleet->count[i], fleet_status_words[i]);
    if (fleet->outlying > 0)
        snprintf(text + at, FLEET_TEXT - (size_t)at, "; %zu outlying", fleet->outlying);
}

const char *fleet_fact_of(const struct fleet_node *node, const char *what)
{
    for (size_t i = 0; i < node->n_facts; ++i)
        if (strcmp(node->fact[i].what, what) == 0)
            return node->fact[i].value;
    return "";
}

void fleet_basis_words(const struct fleet *fleet, char text[2 * FLEET_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < FLEET_BASIS; ++i)
        text_add(text, 2 * FLEET_TEXT, "%s %.*s", fleet_basis[i].before,
                 strpbrk(fleet_basis[i].what, "._") ? 12 : 80,
                 fleet->basis[i] ? fleet->basis[i] : "unknown");
    text_add(text, 2 * FLEET_TEXT, ". Measured %s to %s.", fleet->first ? fleet->first : "unknown",
             fleet->last ? fleet->last : "unknown");
    if (!fleet->basis[0])
        snprintf(text, 2 * FLEET_TEXT, "No node has a verdict that can be read.");
}

const char *fleet_state_words(const struct fleet_node *node)
{
    if (node->status != FLEET_ACCEPTED || node->worse == 0)
        return fleet_status_words[node->status];
    return "OUTLYING: worse than its neighbours (keeps its limits)";
}

void fleet_worse_words(const struct fleet_outlier *outlier, char text[], size_t bytes)
{
    const struct fleet_limit *limit = outlier->limit;

    snprintf(text, bytes, "%.*s ", (int)strcspn(limit->name, " "), limit->name);
    quantity_add_difference(outlier->value, outlier->median, limit->kind, text, bytes);
    text_add(text, bytes, " the others");
    if (outlier->device >= 0)
        text_add(text, bytes, ", device %d", outlier->device);
}

void fleet_advice_words(const struct fleet_node *node, char text[2 * FLEET_TEXT])
{
    bool known = node->shown[0] != '\0' && !strstr(node->shown, validate_no_reason);
    char shown[VALIDATE_TEXT];

    text[0] = '\0';
    snprintf(shown, sizeof shown, "%.319s", node->shown);
    for (size_t i = 0; i < node->worse && !known; ++i) {
        const struct fleet_outlier *worst = &node->worst[i];
        const struct profile_limit limit = {.row = worst->limit->row};
        const struct validate_judged judged = {
            .limit = &limit, .device = worst->device, .launches = 1};

        known = limit.row && validate_own_reason(&judged, shown);
    }
    if (node->shown[0] != '\0' || node->worse > 0)
        text_add(text, 2 * FLEET_TEXT, "likely cause: %s",
                 known                    ? shown
                 : node->shown[0] != '\0' ? node->shown
                                          : validate_no_reason);
    if (node->action[0] != '\0')
        text_add(text, 2 * FLEET_TEXT, "%sdo: %s", text[0] != '\0' ? "; " : "", node->action);
}

void fleet_node_words(const struct fleet_node *node, char text[2 * FLEET_TEXT])
{
    char advice[2 * FLEET_TEXT];

    snprintf(text, 2 * FLEET_TEXT, "%s", node->why);
    if (text[0] == '\0' && node->worse > 0)
        fleet_worse_words(node->worst, text, 2 * FLEET_TEXT);
    if (node->why[0] == '\0' && node->worse > 1)
        text_add(text, 2 * FLEET_TEXT, "; %zu more of its numbers %s worse", node->worse - 1,
                 text_are(node->worse - 1));
    fleet_advice_words(node, advice);
    if (advice[0] != '\0')
        text_add(text, 2 * FLEET_TEXT, "; %s", advice);
}

const char *fleet_node_link(const struct fleet *fleet, const struct fleet_node *node)
{
    return fleet->linked && fleet_name_is_safe(node->file) ? node->file : "";
}

void fleet_outlier_words(const struct fleet_outlier *outlier, char text[2 * FLEET_TEXT])
{
    const enum quantity_kind kind = outlier->limit->kind;
    char value[QUANTITY_TEXT], median[QUANTITY_TEXT];

    snprintf(text, 2 * FLEET_TEXT, "%.200s", outlier->limit->name);
    if (outlier->device >= 0)
        text_add(text, 2 * FLEET_TEXT, ", device %d", outlier->device);
    text_add(text, 2 * FLEET_TEXT, ": ");
    quantity_add_difference(outlier->value, outlier->median, kind, text, 2 * FLEET_TEXT);
    text_add(text, 2 * FLEET_TEXT, " the other %zu nodes: %s, and the median is %s%s",
             outlier->nodes - 1, quantity_words(outlier->value, kind, value),
             quantity_words(outlier->median, kind, median),
             outlier->is_worse ? "" : " (better: is it measured as the others are?)");
}

const char *fleet_value_words(const char *value, char text[FLEET_VALUE])
{
    const size_t digits = strspn(value, "0123456789abcdef");

    snprintf(text, FLEET_VALUE, "%.*s%.160s", digits < 40 ? 0 : 12, value,
             value + (digits < 40 ? 0 : digits));
    return text;
}

bool fleet_differences_words(const struct fleet *fleet, const struct fleet_node *node,
                             char text[2 * FLEET_TEXT])
{
    bool decides = false;

    text[0] = '\0';
    for (size_t i = 0; i < fleet->n_drifts; ++i) {
        const struct fleet_drift *drift = &fleet->drift[i];
        char value[FLEET_VALUE], most[FLEET_VALUE];

        if (drift->node != node)
            continue;
        decides |= drift->decides;
        text_add(text, 2 * FLEET_TEXT, "%s%.100s is %s, most have %s", text[0] != '\0' ? "; " : "",
                 drift->what, fleet_value_words(drift->value ? drift->value : "unknown", value),
                 fleet_value_words(drift->majority ? drift->majority : "none", most));
    }
    return decides;
}

void fleet_unjudged_words(const struct fleet *fleet, char text[FLEET_TEXT])
{
    size_t passing = 0, unjudged = 0, lack[FLEET_TESTS] = {0};
    char none[FLEET_CAUSE] = "", some[FLEET_TEXT / 2] = "", part[FLEET_CAUSE];

    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        const bool passes = fleet_passes(node);

        passing += passes;
        unjudged += passes && node->unjudged;
        for (size_t t = 0; t < FLEET_TESTS; ++t)
            lack[t] += passes && node->lacks[t];
    }
    for (size_t t = 0; t < FLEET_TESTS; ++t) {
        snprintf(part, sizeof part, "%zu did not run %s", lack[t], fleet_tests[t]);
        if (lack[t] > 0 && lack[t] == passing)
            text_list(none, sizeof none, ", ", fleet_tests[t]);
        else if (lack[t] > 0)
            text_list(some, sizeof some, ", ", part);
    }
    snprintf(part, sizeof part, "soak judged no speed on %zu", unjudged);
    if (unjudged > 0)
        text_list(some, sizeof some, ", ", part);
    text[0] = '\0';
    if (none[0] != '\0' || some[0] != '\0')
        snprintf(text, FLEET_TEXT, " (of those that pass, %s%s%s%s)",
                 none[0] != '\0' ? "none ran " : "", none,
                 none[0] != '\0' && some[0] != '\0' ? "; " : "", some);
}

bool fleet_next(const struct fleet *fleet, enum fleet_list list, struct fleet_item *item)
{
    static const enum fleet_status statuses[] = {[FLEET_LIST_REJECTED] = FLEET_REJECTED,
                                                 [FLEET_LIST_BROKEN] = FLEET_BROKEN,
                                                 [FLEET_LIST_MISSING] = FLEET_MISSING,
                                                 [FLEET_LIST_NOT_SHOWN] = FLEET_NOT_SHOWN};
    const struct fleet_node *node = NULL;
    size_t *const at = &item->at;
    char most[FLEET_VALUE];

    item->name = "";
    if (list == FLEET_LIST_OUTLIERS && *at < fleet->n_outliers) {
        const struct fleet_outlier *outlier = &fleet->outlier[(*at)++];

        node = outlier->node;
        item->failed = outlier->is_worse;
        fleet_outlier_words(outlier, item->words);
    } else if (list == FLEET_LIST_SPLITS && *at < fleet->n_splits) {
        const struct fleet_split *split = &fleet->split[(*at)++];

        item->failed = split->decides;
        snprintf(item->words, sizeof item->words,
                 "%.100s: %zu values, and none is that of more than half; %zu nodes have %s",
                 split->what, split->values, split->have,
                 fleet_value_words(split->most ? split->most : "none", most));
        return true;
    } else {
        while (*at < fleet->n && !node) {
            const struct fleet_node *one = &fleet->node[(*at)++];

            if (list == FLEET_LIST_UNEXPECTED ? fleet->expects && !one->expected
                : list == FLEET_LIST_DRIFT
                    ? one->drifts > 0
                    : list < FLEET_LIST_OUTLIERS && one->status == statuses[list])
                node = one;
        }
        item->failed =
            list != FLEET_LIST_DRIFT || fleet_differences_words(fleet, node, item->words);
        if (list == FLEET_LIST_UNEXPECTED)
            snprintf(item->words, sizeof item->words, "it has a verdict, and is not expected");
        else if (node && list < FLEET_LIST_OUTLIERS)
            fleet_node_words(node, item->words);
    }
    item->name = node ? node->name : "";
    return node != NULL;
}

void fleet_rule_words(const struct fleet *fleet, char text[2 * FLEET_TEXT])
{
    const struct fleet_rule *rule = &fleet->rule;

    text[0] = '\0';
    if (rule->comparisons > 0)
        text_add(text, 2 * FLEET_TEXT,
                 "%zu number%s compared over %zu nodes. A node is named if it is more than %.0f %% "
                 "worse and chance explains it in at most 1 of %.0f fleets.",
                 rule->series - rule->small, rule->series - rule->small == 1 ? " was" : "s were",
                 rule->nodes, 100 * OUTLIER_EFFECT, 1 / OUTLIER_ALPHA);
    if (rule->small > 0)
        text_add(text, 2 * FLEET_TEXT,
                 "%s%zu number%s not compared, because fewer than %d nodes have %s.",
                 text[0] != '\0' ? " " : "", rule->small, rule->small == 1 ? " was" : "s were",
                 OUTLIER_LEAST, rule->small == 1 ? "it" : "them");
    if (rule->relative > 0)
        text_add(text, 2 * FLEET_TEXT,
                 " Nodes are compared with each other and with learned limits: that all are slow "
                 "alike would not show.");
}
