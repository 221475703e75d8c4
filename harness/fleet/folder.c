/* fleet/folder.c: the files of a folder, read on several cores, a node each; then one node of each
 * name: files that claim the same name or the same run, and nodes that should be there. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "files/parallel.h"
#include "fleet/fleet.h"
#include "record/document.h"
#include "record/json.h"

/* The size of a file: 256 limits need a quarter of it. Each thread may hold a file's values. */
enum { FILE_BYTES = 1 << 20, THREADS = 4 };

static const char ending[] = ".json";

/* ---- one file ----------------------------------------------------------------------------- */

void fleet_node_free(struct fleet_node *node)
{
    for (size_t i = 0; i < node->n_facts; ++i) {
        free(node->fact[i].what);
        free(node->fact[i].value);
    }
    for (size_t i = 0; i < node->n_limits; ++i)
        free(node->limit[i].name);
    free(node->fact);
    free(node->limit);
    free(node->number);
    node->fact = NULL;
    node->limit = NULL;
    node->number = NULL;
    node->n_facts = node->n_limits = node->n_numbers = 0;
}

static void break_node(struct fleet_node *node, const char *cause)
{
    node->status = FLEET_BROKEN;
    node->far[0] = node->action[0] = '\0';
    node->shown = NULL;
    snprintf(node->cause, sizeof node->cause, "%s", cause);
}

static void read_verdict_file(void *context, size_t i)
{
    struct fleet *fleet = context;
    struct fleet_node *node = &fleet->node[i];
    const size_t length = strlen(node->file) - (sizeof ending - 1);
    char path[4096];
    struct text_error why = {{0}};
    json_t *root = NULL;
    int status = -1;

    errno = 0;
    snprintf(node->name, sizeof node->name, "%.*s", (int)length, node->file);
    if (snprintf(path, sizeof path, "%s/%s", fleet->folder, node->file) >= (int)sizeof path)
        snprintf(why.text, sizeof why.text, "its path is too long");
    else
        root = record_json_file(path, FILE_BYTES, &why);
    if (root)
        status = fleet_verdict(root, node, &why);
    json_decref(root);
    /* An error of this process, not of a file. */
    node->starved |= record_memory_failed() ||
                     (!root && (errno == ENOMEM || errno == EMFILE || errno == ENFILE));
    node->nameable = fleet_name_is_safe(node->name);
    if (status == 0 && !node->nameable)
        snprintf(why.text, sizeof why.text,
                 "its name is not safe in a list of nodes: letters, digits, '.', '_' and '-' are "
                 "allowed");
    if (status == 0 && node->nameable)
        return;
    fleet_node_free(node);
    memset(node->identity, 0, sizeof node->identity);
    break_node(node, !root         ? "its file cannot be read"
                     : status != 0 ? "its verdict is incomplete, or its numbers are against it"
                                   : "its name is not safe");
    snprintf(node->why, sizeof node->why, "%.100s: %.200s", node->file, why.text);
}

/* ---- the folder --------------------------------------------------------------------------- */

static int by_file(const void *left, const void *right)
{
    const struct fleet_node *a = left, *b = right;

    return strcmp(a->file, b->file);
}

int fleet_read(const char *path, struct fleet *fleet, struct text_error *why)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int status = 0;

    *fleet = (struct fleet){.folder = path, .node = calloc(FLEET_NODES, sizeof *fleet->node)};
    if (!folder || !fleet->node) {
        status = text_fail(why, "cannot read the folder '%.180s': %s", path, strerror(errno));
        if (folder)
            closedir(folder);
        return status;
    }
    while (status == 0 && (entry = readdir(folder)) != NULL) {
        const char *const name = entry->d_name;
        const size_t length = strlen(name), end = sizeof ending - 1;

        /* Hidden files are those that are being written. */
        if (name[0] == '.' || length <= end || length >= FLEET_NAME ||
            strcmp(name + length - end, ending) != 0)
            continue;
        if (fleet->n == FLEET_NODES)
            status =
                text_fail(why, "'%.180s' has more than %d verdicts (*.json)", path, FLEET_NODES);
        else
            snprintf(fleet->node[fleet->n++].file, FLEET_NAME, "%s", name);
    }
    closedir(folder);
    if (status != 0)
        return -1;
    qsort(fleet->node, fleet->n, sizeof *fleet->node, by_file);
    parallel_each(fleet->n, THREADS < parallel_cores() ? THREADS : parallel_cores(),
                  read_verdict_file, fleet);
    for (size_t i = 0; i < fleet->n; ++i)
        if (fleet->node[i].starved)
            return text_fail(why, "no memory for the verdicts, or no files can be opened");
    return 0;
}

void fleet_free(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->n; ++i)
        fleet_node_free(&fleet->node[i]);
    free(fleet->node);
    free(fleet->drift);
    free(fleet->split);
    free(fleet->outlier);
    *fleet = (struct fleet){.folder = NULL};
}

/* ---- one name ----------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct fleet_node *a = left, *b = right;
    const int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->file, b->file);
}

/* ---- who should be there ------------------------------------------------------------------ */

static int by_text(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;

    return strcmp(*a, *b);
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
        else {
            struct fleet_node *missing = &node[fleet->n++];

            *missing =
                (struct fleet_node){.status = FLEET_MISSING, .nameable = true, .expected = true};
            snprintf(missing->name, sizeof missing->name, "%s", name);
            snprintf(missing->why, sizeof missing->why, "it is expected, and has no verdict");
        }
    }
    qsort(node, fleet->n, sizeof *node, by_name);
    return 0;
}

int fleet_join(struct fleet *fleet, const struct fleet_names *names)
{
    static const char *const identity_words[FLEET_IDENTITIES] = {"run", "start of a machine",
                                                                 "digest of samples"};
    /* It cannot be told which file of a node is right. The first stays for all of them. */
    size_t kept = 0, end;
    char cause[FLEET_CAUSE];

    qsort(fleet->node, fleet->n, sizeof *fleet->node, by_name);
    for (size_t i = 0; i < fleet->n; i = end) {
        struct fleet_node *first = &fleet->node[i];

        for (end = i + 1; end < fleet->n && strcmp(first->name, fleet->node[end].name) == 0; ++end)
            fleet_node_free(&fleet->node[end]);
        if (end - i > 1) {
            snprintf(first->why, sizeof first->why, "%zu files are of this node: %.100s and %.100s",
                     end - i, first->file, first[1].file);
            break_node(first, "several files are of this node");
        }
        if (kept != i) {
            fleet->node[kept] = *first;
            *first = (struct fleet_node){.name = ""};
        }
        ++kept;
    }
    fleet->n = kept;
    /* A copied file would speak for a node that was not measured. */
    for (size_t i = 0; i < FLEET_IDENTITIES * fleet->n; ++i) {
        const size_t identity = i / fleet->n, own = i % fleet->n;
        struct fleet_node *node = &fleet->node[own];
        const struct fleet_node *other = NULL;
        const char *is = node->identity[identity];
        size_t n = 1;

        for (size_t k = 0; is[0] != '\0' && k < fleet->n; ++k)
            if (k != own && strcmp(is, fleet->node[k].identity[identity]) == 0) {
                other = other ? other : &fleet->node[k];
                ++n;
            }
        if (!other || node->status == FLEET_BROKEN)
            continue;
        snprintf(node->why, sizeof node->why, "%zu nodes have one %s, %s: this file and %.200s", n,
                 identity_words[identity], is, other->file);
        snprintf(cause, sizeof cause, "%.40s has the same %s", other->name,
                 identity_words[identity]);
        break_node(node, cause);
    }
    return names ? add_expected(fleet, names) : 0;
}
