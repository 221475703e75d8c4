/* fleet/join.c: one node of each name: files that claim the same name or the same run, and nodes
 * that should be there. */
#include "fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

/* ---- one name ----------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct fleet_node *a = left, *b = right;
    const int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->file, b->file);
}

/* ---- one run ------------------------------------------------------------------------------ */

static const char *const identity_words[FLEET_IDENTITIES] = {"run", "start of a machine",
                                                             "digest of samples"};

/* A file that was copied would speak for a node that nobody measured. */
static void find_copies(const struct fleet *fleet, int identity)
{
    for (size_t i = 0; i < fleet->n; ++i) {
        struct fleet_node *node = &fleet->node[i];
        const struct fleet_node *other = NULL;
        const char *is = node->identity[identity];
        size_t n = 1;

        for (size_t j = 0; is[0] != '\0' && j < fleet->n; ++j)
            if (j != i && strcmp(is, fleet->node[j].identity[identity]) == 0) {
                other = other ? other : &fleet->node[j];
                ++n;
            }
        if (!other || node->status == FLEET_BROKEN)
            continue;
        snprintf(node->why, sizeof node->why, "%zu nodes have one %s, %s: this file and %.200s", n,
                 identity_words[identity], is, other->file);
        node->status = FLEET_BROKEN;
    }
}

/* ---- who should be there ------------------------------------------------------------------ */

static int by_text(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;

    return strcmp(*a, *b);
}

static void add_missing(struct fleet_node *node, const char *name)
{
    *node = (struct fleet_node){.status = FLEET_MISSING, .nameable = true, .expected = true};
    snprintf(node->name, sizeof node->name, "%s", name);
    snprintf(node->why, sizeof node->why, "it is expected, and has no verdict");
}

static int add_expected(struct fleet *fleet, const struct fleet_names *names)
{
    struct fleet_node *node = realloc(fleet->node, (fleet->n + names->n) * sizeof *node);
    size_t found = fleet->n, at = 0;

    if (!node)
        return -1;
    fleet->node = node;
    fleet->expects = true;
    qsort(names->name, names->n, sizeof names->name[0], by_text);
    for (size_t k = 0; k < names->n; ++k) {
        const char *name = names->name[k];

        if (k > 0 && strcmp(name, names->name[k - 1]) == 0)
            continue;
        while (at < found && strcmp(node[at].name, name) < 0)
            ++at;
        if (at < found && strcmp(node[at].name, name) == 0)
            node[at].expected = true;
        else
            add_missing(&node[fleet->n++], name);
    }
    qsort(node, fleet->n, sizeof *node, by_name);
    return 0;
}

int fleet_join(struct fleet *fleet, const struct fleet_names *names)
{
    /* Which of its files is the right one, nobody can tell. The first stays for all of them. */
    size_t kept = 0, end;

    qsort(fleet->node, fleet->n, sizeof *fleet->node, by_name);
    for (size_t i = 0; i < fleet->n; i = end) {
        struct fleet_node *first = &fleet->node[i];

        for (end = i + 1; end < fleet->n && strcmp(first->name, fleet->node[end].name) == 0; ++end)
            fleet_node_free(&fleet->node[end]);
        if (end - i > 1) {
            snprintf(first->why, sizeof first->why, "%zu files are of this node: %.100s and %.100s",
                     end - i, first->file, first[1].file);
            first->status = FLEET_BROKEN;
        }
        if (kept != i) {
            fleet->node[kept] = *first;
            *first = (struct fleet_node){.name = ""};
        }
        ++kept;
    }
    fleet->n = kept;
    for (int i = 0; i < FLEET_IDENTITIES; ++i)
        find_copies(fleet, i);
    return names ? add_expected(fleet, names) : 0;
}
