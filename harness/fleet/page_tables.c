/* fleet/page_tables.c: the tables of the page. What fails comes first; what a table leaves out is
 * counted below it. */
#include "fleet/page.h"

#include "report/html_table.h"

enum { SHOWN = 100, NAMED = 8, CELLS = 7 };

struct column {
    const char *class, *name;
};

static void begin(struct html_table *table, struct text_out *out, enum html_fold fold,
                  const char *id, const char *title, const struct column *column, size_t n)
{
    html_table_begin(table, out, fold, id, title, "");
    for (size_t i = 0; i < n; ++i)
        html_table_heading(table, column[i].class, column[i].name);
}

static void put(struct html_table *table, bool failed, const struct column *column, size_t n,
                const char *const cell[])
{
    html_table_row(table, failed ? "failed" : "");
    for (size_t i = 0; i < n; ++i)
        html_table_cell(table, column[i].class, cell[i]);
    html_table_row_end(table);
}

static int end(struct html_table *table, size_t n, const char *remark)
{
    char words[160];

    if (n <= SHOWN)
        return html_table_end(table, remark);
    snprintf(words, sizeof words, "%zu more are not shown here: --format csv or json has all.",
             n - SHOWN);
    return html_table_end(table, words);
}

/* ---- nodes -------------------------------------------------------------------------------- */

int fleet_page_statuses(struct text_out *out, const struct fleet *fleet)
{
    static const struct column columns[] = {
        {"text name", "Status"}, {"number", "Nodes"}, {"text reason", "What it means"}};
    static const char *const meanings[FLEET_STATUSES] = {
        [FLEET_ACCEPTED] = "keeps its limits; it passes if no number of it is outlying",
        [FLEET_REJECTED] = "a limit of it is FAIL",
        [FLEET_NOT_SHOWN] = "not measured well enough, or judged by other limits than most",
        [FLEET_BROKEN] = "its file says nothing that can be believed",
        [FLEET_MISSING] = "expected, and without a file"};
    struct html_table table;
    char count[24];

    begin(&table, out, HTML_PLAIN, "statuses", "Status", columns, 3);
    for (int i = 0; i < FLEET_STATUSES; ++i) {
        snprintf(count, sizeof count, "%zu", fleet->count[i]);
        put(&table, i != FLEET_ACCEPTED && fleet->count[i] > 0, columns, 3,
            (const char *const[]){fleet_status_words[i], count, meanings[i]});
    }
    snprintf(count, sizeof count, "%zu", fleet->outlying);
    put(&table, fleet->outlying > 0, columns, 3,
        (const char *const[]){"outlying", count,
                              "a number of it is worse than that of the others, whatever its "
                              "status is"});
    return html_table_end(&table, "");
}

/* "ACCEPTED, outlying" */
static void status_words(const struct fleet_node *node, char text[40])
{
    snprintf(text, 40, "%s%s", fleet_status_words[node->status],
             node->worse > 0 ? ", outlying" : "");
}

int fleet_page_failing(struct text_out *out, const struct fleet *fleet)
{
    static const struct column columns[] = {
        {"text name", "Node"}, {"text status", "Status"}, {"text reason", "Why"}};
    struct html_table table;
    char words[FLEET_TEXT], status[40];
    size_t n = 0;

    for (size_t i = 0; i < fleet->n; ++i)
        n += !fleet_passes(&fleet->node[i]);
    if (n == 0)
        return 0;
    n = 0;
    begin(&table, out, HTML_PLAIN, "failing", "Nodes that do not pass", columns, 3);
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];

        if (fleet_passes(node) || n++ >= SHOWN)
            continue;
        fleet_node_words(node, words);
        status_words(node, status);
        put(&table, true, columns, 3, (const char *const[]){node->name, status, words});
    }
    return end(&table, n, "");
}

int fleet_page_nodes(struct text_out *out, const struct fleet *fleet)
{
    static const struct column columns[CELLS] = {{"text name", "Node"}, {"text status", "Status"},
                                                 {"text", "Passes"},    {"number", "Worse"},
                                                 {"number", "Differs"}, {"text", "File"},
                                                 {"text reason", "Why"}};
    struct html_table table;

    begin(&table, out, HTML_FOLDED, "nodes", "All nodes", columns, CELLS);
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        char words[FLEET_TEXT], status[40], worse[24], drifts[24];

        fleet_node_words(node, words);
        status_words(node, status);
        snprintf(worse, sizeof worse, "%zu", node->worse);
        snprintf(drifts, sizeof drifts, "%zu", node->drifts);
        put(&table, !fleet_passes(node), columns, CELLS,
            (const char *const[]){node->name, status,
                                  !fleet_passes(node)                 ? "no"
                                  : fleet->expects && !node->expected ? "yes, not expected"
                                                                      : "yes",
                                  worse, drifts, node->file, words});
    }
    return html_table_end(&table, "Worse: numbers that are outlying and worse. Differs: facts in "
                                  "which it differs from most.");
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* The largest device that any number is about; -1: none. */
static int last_device(const struct fleet *fleet)
{
    int last = -1;

    for (size_t i = 0; i < fleet->n; ++i)
        for (size_t k = 0; k < fleet->node[i].n_numbers; ++k)
            if (fleet->node[i].number[k].device > last)
                last = fleet->node[i].number[k].device;
    return last;
}

/* "node001, node007 and 3 more": outliers are in the order of nodes. */
static void whose_words(const struct fleet *fleet, int device, char text[2 * FLEET_TEXT])
{
    const struct fleet_node *before = NULL;
    size_t n = 0, at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < fleet->n_outliers; ++i) {
        const struct fleet_outlier *outlier = &fleet->outlier[i];

        if (outlier->device != device || !outlier->is_worse || outlier->node == before)
            continue;
        before = outlier->node;
        if (n++ < NAMED)
            at += (size_t)snprintf(text + at, 2 * FLEET_TEXT - at, "%s%.60s", n > 1 ? ", " : "",
                                   before->name);
    }
    if (n > NAMED)
        snprintf(text + at, 2 * FLEET_TEXT - at, " and %zu more", n - NAMED);
}

int fleet_page_positions(struct text_out *out, const struct fleet *fleet)
{
    static const struct column columns[] = {{"text name", "Position"},
                                            {"number", "Worse"},
                                            {"number", "Better"},
                                            {"text reason", "Nodes that are worse there"}};
    const int last = last_device(fleet);
    struct html_table table;

    begin(&table, out, HTML_PLAIN, "positions", "Outlying numbers by device position", columns, 4);
    for (int device = -1; device <= last; ++device) {
        char place[24] = "the whole node", worse[24], better[24], words[2 * FLEET_TEXT];
        size_t count[2] = {0, 0};

        for (size_t i = 0; i < fleet->n_outliers; ++i)
            if (fleet->outlier[i].device == device)
                ++count[fleet->outlier[i].is_worse];
        if (device >= 0)
            snprintf(place, sizeof place, "device %d", device);
        snprintf(worse, sizeof worse, "%zu", count[true]);
        snprintf(better, sizeof better, "%zu", count[false]);
        whose_words(fleet, device, words);
        put(&table, count[true] > 0, columns, 4,
            (const char *const[]){place, worse, better, words});
    }
    return html_table_end(&table, "A number of a device is compared with the same device of all "
                                  "nodes. So a position that is slow everywhere is not here.");
}

int fleet_page_outliers(struct text_out *out, const struct fleet *fleet)
{
    static const struct column columns[] = {{"text name", "Node"}, {"text reason", "Number"}};
    struct html_table table;
    char words[2 * FLEET_TEXT];

    if (fleet->n_outliers == 0)
        return 0;
    begin(&table, out, HTML_PLAIN, "outliers", "Outlying numbers", columns, 2);
    for (size_t i = 0; i < fleet->n_outliers && i < SHOWN; ++i) {
        fleet_outlier_words(&fleet->outlier[i], words);
        put(&table, fleet->outlier[i].is_worse, columns, 2,
            (const char *const[]){fleet->outlier[i].node->name, words});
    }
    return end(&table, fleet->n_outliers, "");
}

int fleet_page_drift(struct text_out *out, const struct fleet *fleet)
{
    static const struct column columns[] = {{"text name", "Node"}, {"text reason", "In what"}};
    struct html_table table;
    char words[2 * FLEET_TEXT];

    if (fleet->n_drifts + fleet->n_splits == 0)
        return 0;
    begin(&table, out, HTML_PLAIN, "drift", "Differences from most", columns, 2);
    for (size_t i = 0; i < fleet->n_drifts && i < SHOWN; ++i) {
        fleet_drift_words(&fleet->drift[i], words);
        put(&table, fleet->drift[i].decides, columns, 2,
            (const char *const[]){fleet->drift[i].node->name, words});
    }
    for (size_t i = 0; i < fleet->n_splits && i < SHOWN; ++i) {
        fleet_split_words(&fleet->split[i], words);
        put(&table, fleet->split[i].decides, columns, 2,
            (const char *const[]){"no majority", words});
    }
    return end(&table, fleet->n_drifts > fleet->n_splits ? fleet->n_drifts : fleet->n_splits,
               "Only another profile or other limits decide.");
}
