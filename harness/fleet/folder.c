/* fleet/folder.c: the files of a folder, read on several cores, a node each; then one node of each
 * name: files that claim the same name or the same run, and nodes that should be there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"
#include "fleet/fleet.h"
#include "record/json.h"
#include "text/alloc.h"

/* The size of a file: 256 limits need a quarter of it. Each thread may hold a file's values. */
enum { FILE_BYTES = 1 << 20, THREADS = 4 };

static const char ending[] = ".json", steps_ending[] = ".steps";

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

/* A node that is REJECTED stays so, whatever else is wrong. */
static void break_node(struct fleet_node *node, const char *cause, const char *why)
{
    if (node->status == FLEET_REJECTED) {
        text_add(node->why, sizeof node->why, "; also, %s", why);
        return;
    }
    node->status = FLEET_BROKEN;
    node->far[0] = node->action[0] = node->shown[0] = '\0';
    snprintf(node->cause, sizeof node->cause, "%s", cause);
    snprintf(node->why, sizeof node->why, "%s", why);
}

static void miss_verdict(const struct fleet *fleet, struct fleet_node *node)
{
    node->status = FLEET_MISSING;
    snprintf(node->why, sizeof node->why, "it has no verdict: there is no %.90s/%.90s.json",
             fleet->folder, node->name);
}

/* Reads the verdict of a node, then its steps. */
static void read_node(void *context, size_t i)
{
    struct fleet *fleet = context;
    struct fleet_node *node = &fleet->node[i];
    const char *const dot = strrchr(node->file, '.'), *cause = NULL;
    char path[4096], steps[4096], words[FLEET_TEXT];
    struct text_error why = {{0}}, other = {{0}};
    json_t *root = NULL;

    errno = 0;
    snprintf(node->name, sizeof node->name, "%.*s", (int)(dot - node->file), node->file);
    snprintf(path, sizeof path, "%s/%s", fleet->folder, node->file);
    if (snprintf(steps, sizeof steps, "%s/%s%s", fleet->folder, node->name, steps_ending) >=
        (int)sizeof steps) {
        cause = "its file cannot be read";
        text_fail(&why, "its path is too long");
    } else if (strcmp(dot, ending) != 0) {
        miss_verdict(fleet, node);
    } else if (!(root = record_json_file(path, FILE_BYTES, &why))) {
        cause = "its file cannot be read";
    } else if (fleet_verdict(root, node, &why) != 0) {
        cause = "its verdict is incomplete, or its numbers are against it";
    }
    json_decref(root);
    /* An error of this process, not of a file. */
    node->starved |= cause && !root && (errno == ENOMEM || errno == EMFILE || errno == ENFILE);
    node->status = cause ? FLEET_BROKEN : node->status;
    if (fleet_steps(steps, node, &other) != 0 && !cause) {
        cause = "its steps cannot be read";
        why = other;
    }
    node->nameable = fleet_name_is_safe(node->name);
    if (!cause && !node->nameable) {
        cause = "its name is not safe";
        text_fail(&why, "its name is not safe in a list of nodes: letters, digits, '.', '_' and "
                        "'-' are allowed");
    }
    if (!cause)
        return;
    fleet_node_free(node);
    memset(node->identity, 0, sizeof node->identity);
    snprintf(words, sizeof words, "%.100s: %.200s", node->file, why.text);
    break_node(node, cause, words);
}

/* ---- the folder --------------------------------------------------------------------------- */

int fleet_read(const char *path, struct fleet *fleet, struct text_error *why)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int status = 0;

    *fleet = (struct fleet){.folder = path};
    if (!folder)
        return text_fail(why, "cannot read the folder '%.180s': %s", path, strerror(errno));
    fleet->node = cli_alloc(FLEET_NODES, sizeof *fleet->node);
    while (status == 0 && (entry = readdir(folder)) != NULL) {
        const char *const name = entry->d_name, *const dot = strrchr(name, '.');
        const bool has_steps = dot && strcmp(dot, steps_ending) == 0;
        char verdict[FLEET_NAME + sizeof ending];

        /* Hidden files are those that are being written. */
        if (name[0] == '.' || !dot || strlen(name) >= FLEET_NAME ||
            (strcmp(dot, ending) != 0 && !has_steps))
            continue;
        snprintf(verdict, sizeof verdict, "%.*s%s", (int)(dot - name), name, ending);
        if (has_steps && faccessat(dirfd(folder), verdict, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
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
    parallel_each(fleet->n, THREADS < parallel_cores() ? THREADS : parallel_cores(), read_node,
                  fleet);
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

void fleet_join(struct fleet *fleet, const struct fleet_names *names)
{
    static const char *const identity_words[FLEET_IDENTITIES] = {"run", "start of a machine",
                                                                 "digest of samples"};
    const size_t n_names = names ? names->n : 0;
    size_t kept = 0, end;
    char cause[FLEET_CAUSE], words[FLEET_TEXT];

    fleet->node = cli_resize(fleet->node, fleet->n + n_names, sizeof *fleet->node);
    fleet->expects = names != NULL;
    for (size_t k = 0; k < n_names; ++k) {
        struct fleet_node *node = &fleet->node[fleet->n++];

        *node = (struct fleet_node){.nameable = true, .expected = true};
        snprintf(node->name, sizeof node->name, "%s", names->name[k]);
        miss_verdict(fleet, node);
        text_add(node->why, sizeof node->why, ", and no %.60s%s", node->name, steps_ending);
    }
    /* It cannot be told which file of a node is right. One stays for all of them: the first, or one
     * that is REJECTED. A name that is expected has no file, and comes before all that have. */
    qsort(fleet->node, fleet->n, sizeof *fleet->node, by_name);
    for (size_t i = 0; i < fleet->n; i = end) {
        struct fleet_node *one = &fleet->node[i], *other = NULL;
        const bool expected = one->expected;
        size_t files = 0;

        for (end = i; end < fleet->n && strcmp(fleet->node[i].name, fleet->node[end].name) == 0;
             ++end) {
            struct fleet_node *here = &fleet->node[end];

            files += here->file[0] != '\0';
            if (files == 1 || (here->status == FLEET_REJECTED && one->status != FLEET_REJECTED)) {
                other = one;
                one = here;
            } else {
                other = here;
            }
        }
        if (files > 1) {
            snprintf(words, sizeof words, "%zu files are of this node: %.100s and %.100s", files,
                     one->file, other->file);
            break_node(one, "several files are of this node", words);
        }
        const struct fleet_node stays = *one;

        *one = (struct fleet_node){.name = ""};
        for (size_t k = i; k < end; ++k)
            fleet_node_free(&fleet->node[k]);
        fleet->node[kept] = stays;
        fleet->node[kept++].expected = expected;
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
                other = &fleet->node[k];
                ++n;
            }
        if (!other || node->status == FLEET_BROKEN || node->copied)
            continue;
        node->copied = true;
        snprintf(words, sizeof words,
                 "%zu nodes have one %s, %.16s: this file and %.100s come from one machine; only "
                 "one can be judged: remove the other%s",
                 n, identity_words[identity], is, other->file, n > 2 ? "s" : "");
        snprintf(cause, sizeof cause, "%.40s has the same %s", other->name,
                 identity_words[identity]);
        break_node(node, cause, words);
    }
}
