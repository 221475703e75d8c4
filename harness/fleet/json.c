/* fleet/json.c: the fleet for programs: lockstep/fleet/1.0. */
#include "fleet/fleet.h"

#include <jansson.h>

#include "numbers/stats.h"
#include "record/json.h"

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
            nodes,
            json_pack("{s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}",
                      "measured_utc", value_cleaned(fleet_fact_of(node, "measured_utc")), "steps",
                      value_cleaned(node->steps), "node", value_cleaned(node->name), "file",
                      node->file[0] != '\0' ? value_cleaned(node->file) : json_null(), "status",
                      fleet_status_words[node->status], "passes", fleet_passes(node), "expected",
                      fleet->expects ? json_boolean(node->expected) : json_null(), "reason",
                      value_cleaned(node->why), "advice", value_cleaned(advice), "worse_numbers",
                      value_count(node->worse), "better_numbers", value_count(node->better),
                      "differences", value_count(node->drifts)));
    }
    for (size_t i = 0; i < fleet->n_outliers; ++i) {
        const struct fleet_outlier *outlier = &fleet->outlier[i];

        json_array_append_new(
            outliers, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "node",
                                value_cleaned(outlier->node->name), "number",
                                value_cleaned(outlier->limit->name), "device",
                                outlier->device < 0 ? json_null() : json_integer(outlier->device),
                                "unit", value_cleaned(outlier->limit->unit), "value",
                                value_real(outlier->value), "median", value_real(outlier->median),
                                "lo", value_real(outlier->lo), "hi", value_real(outlier->hi),
                                "nodes", value_count(outlier->nodes), "worse", outlier->is_worse));
    }
    for (size_t i = 0; i < fleet->n_drifts; ++i) {
        const struct fleet_drift *one = &fleet->drift[i];

        json_array_append_new(
            drift, json_pack("{s:o, s:o, s:o, s:o, s:b}", "node", value_cleaned(one->node->name),
                             "what", value_cleaned(one->what), "value", value_cleaned(one->value),
                             "majority", value_cleaned(one->majority), "decides", one->decides));
    }
    for (size_t i = 0; i < fleet->n_splits; ++i) {
        const struct fleet_split *split = &fleet->split[i];

        json_array_append_new(
            splits,
            json_pack("{s:o, s:o, s:o, s:o, s:b}", "what", value_cleaned(split->what), "values",
                      value_count(split->values), "most", value_cleaned(split->most), "nodes",
                      value_count(split->have), "decides", split->decides));
    }
    document_print(
        stream,
        json_pack("{s:s, s:o, s:i, s:o, s:{s:f, s:f, s:i, s:o, s:o, s:o}, s:o, s:o, s:o, s:o}",
                  "schema", "lockstep/fleet/1.0", "folder", value_cleaned(fleet->folder), "exit",
                  fleet_exit(fleet), "counts", counts, "rule", "alpha", OUTLIER_ALPHA, "effect",
                  OUTLIER_EFFECT, "least_nodes", OUTLIER_LEAST, "numbers",
                  value_count(rule->series), "not_compared", value_count(rule->small),
                  "comparisons", value_count(rule->comparisons), "nodes", nodes, "outliers",
                  outliers, "drift", drift, "no_majority", splits));
}
