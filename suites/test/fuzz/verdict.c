/* verdict.c: the verdict of a node, as `lockstep fleet` reads it, and a fleet of nodes that all
 * have it. */
#include "fuzz.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "fleet/fleet.h"
#include "record/json.h"

enum { NODES = 9 };

static void check_node(const struct fleet_node *node)
{
    fuzz_must(node->status <= FLEET_NOT_SHOWN, "a file says that it is broken or missing");
    fuzz_must((node->status == FLEET_ACCEPTED) == (node->why[0] == '\0'), "a status without why");
    if (node->why[0] != '\0')
        fuzz_must_show(node->why);
    fuzz_must(node->n_facts > 0 && node->n_facts <= FLEET_FACTS, "no facts, or too many");
    fuzz_must(node->n_limits <= FLEET_LIMITS, "too many limits");
    for (size_t i = 0; i < node->n_numbers; ++i) {
        const struct fleet_number *number = &node->number[i];

        fuzz_must(number->limit < node->n_limits, "a number of no limit");
        fuzz_must(number->device >= -1 && number->device < FLEET_DEVICES, "no such device");
        fuzz_must(isfinite(number->value) && number->value >= 0, "a number that is none");
        fuzz_must(number->lo <= number->value && number->value <= number->hi,
                  "an interval beside its number");
    }
}

/* Nodes that are all alike differ in nothing. */
static void check_fleet(const struct fleet_node *node)
{
    static void (*const forms[])(FILE *, const struct fleet *) = {fleet_text, fleet_json, fleet_csv,
                                                                  fleet_markdown};
    static const int exits[] = {0, 1, 3};
    struct fleet_node nodes[NODES];
    struct fleet fleet = {.folder = "folder", .node = nodes, .n = NODES};
    FILE *nowhere = fopen("/dev/null", "w");

    fuzz_must(nowhere != NULL, "no /dev/null");
    for (int i = 0; i < NODES; ++i) {
        nodes[i] = *node;
        snprintf(nodes[i].name, sizeof nodes[i].name, "node%d", i);
    }
    fleet_find_drift(&fleet);
    fleet_find_outliers(&fleet);
    fleet_count(&fleet);
    fuzz_must(fleet.n_drifts == 0 && fleet.n_splits == 0, "a node differs from itself");
    fuzz_must(fleet.n_outliers == 0 && fleet.rule.small == 0, "a node is not like itself");
    fuzz_must(fleet.count[node->status] == NODES && fleet_exit(&fleet) == exits[node->status],
              "another status");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i)
        forms[i](nowhere, &fleet);
    fuzz_must(!ferror(nowhere), "a form that cannot be written");
    fclose(nowhere);
    fleet.node = NULL;
    fleet.n = 0;
    fleet_free(&fleet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fleet_node node = {.file = "file.json"};
    struct text_error why = {""};
    json_error_t error;
    json_t *root = record_json_text((const char *)data, bytes, &error);

    if (!root)
        return 0;
    if (fleet_verdict(root, &node, &why) == 0) {
        check_node(&node);
        check_fleet(&node);
    } else {
        fuzz_must(!node.starved, "no memory");
        text_clean(why.text, '?');
        fuzz_must_show(why.text);
    }
    json_decref(root);
    fleet_node_free(&node);
    return 0;
}
