/* fleet/json.c: the fleet for programs: lockstep/fleet/1.0.
 *
 * What jansson cannot add for want of memory shows at the end (record/memory.h). */
#include "fleet/fleet.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/outlier.h"
#include "record/memory.h"

/* A name of a file may be anything, even no UTF-8. */
static json_t *text(const char *value)
{
    char *copy = value ? strdup(value) : NULL;
    json_t *string;

    if (!value)
        return json_null();
    if (copy)
        text_clean(copy, '?');
    string = copy ? json_string(copy) : NULL;
    free(copy);
    return string ? string : json_string("?");
}

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(size_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *nodes(const struct fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];

        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "node", text(node->name),
                      "file", node->file[0] != '\0' ? text(node->file) : json_null(), "status",
                      fleet_status_words[node->status], "passes", fleet_passes(node), "expected",
                      fleet->expects ? json_boolean(node->expected) : json_null(), "reason",
                      text(node->why), "worse_numbers", count(node->worse), "better_numbers",
                      count(node->better), "differences", count(node->drifts)));
    }
    return array;
}

static json_t *outliers(const struct fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->n_outliers; ++i) {
        const struct fleet_outlier *outlier = &fleet->outlier[i];

        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "node",
                      text(outlier->node->name), "number", text(outlier->limit->name), "device",
                      outlier->device < 0 ? json_null() : json_integer(outlier->device), "unit",
                      text(outlier->limit->unit), "value", real(outlier->value), "median",
                      real(outlier->median), "lo", real(outlier->lo), "hi", real(outlier->hi),
                      "nodes", count(outlier->nodes), "worse", outlier->is_worse));
    }
    return array;
}

static json_t *drift(const struct fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->n_drifts; ++i) {
        const struct fleet_drift *one = &fleet->drift[i];

        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o, s:o, s:b}", "node", text(one->node->name),
                                        "what", text(one->what), "value", text(one->value),
                                        "majority", text(one->majority), "decides", one->decides));
    }
    return array;
}

static json_t *splits(const struct fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->n_splits; ++i) {
        const struct fleet_split *split = &fleet->split[i];

        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o, s:o, s:b}", "what", text(split->what),
                                        "values", count(split->values), "most", text(split->most),
                                        "nodes", count(split->have), "decides", split->decides));
    }
    return array;
}

static json_t *counts(const struct fleet *fleet)
{
    json_t *object = json_object();

    for (int i = 0; i < FLEET_STATUSES; ++i)
        json_object_set_new(object, fleet_status_words[i], count(fleet->count[i]));
    json_object_set_new(object, "outlying", count(fleet->outlying));
    json_object_set_new(object, "unexpected", count(fleet->unexpected));
    return object;
}

int fleet_json(FILE *stream, const struct fleet *fleet)
{
    const struct fleet_rule *rule = &fleet->rule;
    json_t *root = json_pack(
        "{s:s, s:o, s:i, s:o, s:{s:f, s:f, s:i, s:o, s:o, s:o}, s:o, s:o, s:o, s:o}", "schema",
        "lockstep/fleet/1.0", "folder", text(fleet->folder), "exit", fleet_exit(fleet), "counts",
        counts(fleet), "rule", "alpha", OUTLIER_ALPHA, "effect", OUTLIER_EFFECT, "least_nodes",
        OUTLIER_LEAST, "numbers", count(rule->series), "not_compared", count(rule->small),
        "comparisons", count(rule->comparisons), "nodes", nodes(fleet), "outliers", outliers(fleet),
        "drift", drift(fleet), "no_majority", splits(fleet));
    char *document = record_memory_text(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));

    if (!document)
        return -1;
    fprintf(stream, "%s\n", document);
    free(document);
    return 0;
}
