/* fleet/folder.c: the files of a folder, read on several cores, a node each. */
#include "fleet/fleet.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "files/parallel.h"
#include "record/json.h"
#include "record/memory.h"

/* Of a file: 256 limits need a quarter of it. Threads: each may hold a file's values. */
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

static void read_file(const char *folder, struct fleet_node *node)
{
    char path[4096];
    struct text_error why = {{0}};
    json_t *root = NULL;
    int status = -1;

    errno = 0;
    const size_t length = strlen(node->file) - (sizeof ending - 1);

    snprintf(node->name, sizeof node->name, "%.*s", (int)length, node->file);
    if (snprintf(path, sizeof path, "%s/%s", folder, node->file) >= (int)sizeof path)
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
    node->status = FLEET_BROKEN;
    snprintf(node->why, sizeof node->why, "%.100s: %.200s", node->file, why.text);
}

static void read_one(void *context, size_t i)
{
    struct fleet *fleet = context;

    read_file(fleet->folder, &fleet->node[i]);
}

/* ---- the folder --------------------------------------------------------------------------- */

/* Hidden files are those that are being written. */
static bool is_verdict(const char *name)
{
    const size_t length = strlen(name), end = sizeof ending - 1;

    return name[0] != '.' && length > end && length < FLEET_NAME &&
           strcmp(name + length - end, ending) == 0;
}

static int list_files(DIR *folder, struct fleet *fleet, struct text_error *why)
{
    const struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        if (!is_verdict(entry->d_name))
            continue;
        if (fleet->n == FLEET_NODES)
            return text_fail(why, "'%.180s' has more than %d verdicts (*.json)", fleet->folder,
                             FLEET_NODES);
        snprintf(fleet->node[fleet->n++].file, FLEET_NAME, "%s", entry->d_name);
    }
    if (fleet->n > 0)
        return 0;
    return text_fail(why, "'%.180s' has no verdict: no file NAME.json", fleet->folder);
}

static int by_file(const void *left, const void *right)
{
    const struct fleet_node *a = left, *b = right;

    return strcmp(a->file, b->file);
}

int fleet_read(const char *path, struct fleet *fleet, struct text_error *why)
{
    DIR *folder = opendir(path);
    int status;

    *fleet = (struct fleet){.folder = path, .node = calloc(FLEET_NODES, sizeof *fleet->node)};
    if (!folder || !fleet->node) {
        snprintf(why->text, sizeof why->text, "cannot read the folder '%.180s': %s", path,
                 strerror(errno));
        if (folder)
            closedir(folder);
        return -1;
    }
    status = list_files(folder, fleet, why);
    closedir(folder);
    if (status != 0)
        return -1;
    qsort(fleet->node, fleet->n, sizeof *fleet->node, by_file);
    parallel_each(fleet->n, THREADS < parallel_cores() ? THREADS : parallel_cores(), read_one,
                  fleet);
    for (size_t i = 0; i < fleet->n && status == 0; ++i)
        status = fleet->node[i].starved ? -1 : 0;
    if (status != 0)
        snprintf(why->text, sizeof why->text,
                 "no memory for the verdicts, or no files can be opened");
    return status;
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
