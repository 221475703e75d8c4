/* fleet/page.c: the fleet as one page, index.html, in the style of the page of a report; and its
 * tables, of which the summary of a job has some. Failures come first; rows that a table leaves out
 * are counted below it.
 *
 * The page loads nothing and runs nothing. Names and values are input: they go through text_print,
 * which escapes them. */
#include "report/page.h"
#include "export/grid.h"
#include "files/text_out.h"
#include "fleet/fleet.h"

/* ---- tables ---------------------------------------------------------------------------------- */

enum { SHOWN = 100, NAMED = 8 };

static void open_table(struct grid *grid, struct text_out *out, const char *id, const char *title)
{
    grid_open(grid, out, id, title);
    grid->fold = GRID_PLAIN;
    grid->compact = true;
}

/* The first ones of n rows; a table that has none is left out. */
static int put_table(struct grid *grid, size_t n, const char *remark)
{
    int status = 0;

    if (n > 0 && grid->brief) {
        grid->rows = n;
        return grid_part(grid, SHOWN);
    }
    snprintf(grid->note, sizeof grid->note, "%s", remark);
    if (n > SHOWN)
        snprintf(grid->note, sizeof grid->note,
                 "%zu more are not shown here: --format csv or json has all.", n - SHOWN);
    if (n > 0)
        status = grid_html(grid);
    grid_close(grid);
    return status;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void status_row(struct grid *grid, const char *status, size_t nodes, bool failed,
                       const char *meaning)
{
    grid_row(grid, failed && nodes > 0 ? "failed" : "");
    grid_cell(grid, "text name", "%s", status);
    grid_cell(grid, "number", "%zu", nodes);
    grid_cell(grid, "text reason", "%s", meaning);
}

static int put_statuses(struct text_out *out, const struct fleet *fleet)
{
    static const char *const meanings[FLEET_STATUSES] = {
        [FLEET_ACCEPTED] = "keeps its limits; it passes if no number of it is outlying",
        [FLEET_REJECTED] = "a limit of it is FAIL",
        [FLEET_NOT_SHOWN] = "not measured well enough, or judged by other limits than most",
        [FLEET_BROKEN] = "its file says nothing that can be believed",
        [FLEET_MISSING] = "expected, and without a file"};
    struct grid grid;

    open_table(&grid, out, "statuses", "Status");
    grid_heading(&grid, "text name", "Status");
    grid_heading(&grid, "number", "Nodes");
    grid_heading(&grid, "text reason", "What it means");
    for (int i = 0; i < FLEET_STATUSES; ++i)
        status_row(&grid, fleet_status_words[i], fleet->count[i], i != FLEET_ACCEPTED, meanings[i]);
    status_row(&grid, "outlying", fleet->outlying, true,
               "a number of it is worse than that of the others, whatever its status is");
    return put_table(&grid, grid.rows, "");
}

/* "ACCEPTED, outlying" */
static void status_cell(struct grid *grid, const struct fleet_node *node)
{
    grid_cell(grid, "text status", "%s%s", fleet_status_words[node->status],
              node->worse > 0 ? ", outlying" : "");
}

/* Nodes that do not pass. The summary of a job also has nodes that were not expected, and shows
 * only their status. */
static int put_failing(struct text_out *out, const struct fleet *fleet)
{
    char words[FLEET_TEXT];
    struct grid grid;
    size_t n = 0;

    open_table(&grid, out, "failing", "Nodes that do not pass");
    grid_heading(&grid, "text name", grid.brief ? "node" : "Node");
    grid_heading(&grid, "text status", grid.brief ? "status" : "Status");
    grid_heading(&grid, "text reason", grid.brief ? "why" : "Why");
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        const bool unexpected = grid.brief && fleet->expects && !node->expected;

        if ((fleet_passes(node) && !unexpected) || n++ >= SHOWN)
            continue;
        fleet_node_words(node, words);
        grid_row(&grid, "failed");
        grid_cell(&grid, "text name", "%s", node->name);
        if (grid.brief)
            grid_cell(&grid, "text status", "%s", fleet_status_words[node->status]);
        else
            status_cell(&grid, node);
        grid_cell(&grid, "text reason", "%s%s", words, unexpected ? " (not expected)" : "");
    }
    return put_table(&grid, n, "");
}

/* All of them, folded up. */
static int put_nodes(struct text_out *out, const struct fleet *fleet)
{
    static const char *const columns[][2] = {{"text name", "Node"}, {"text status", "Status"},
                                             {"text", "Passes"},    {"number", "Worse"},
                                             {"number", "Differs"}, {"text", "File"},
                                             {"text reason", "Why"}};
    char words[FLEET_TEXT];
    struct grid grid;

    open_table(&grid, out, "nodes", "All nodes");
    grid.fold = GRID_FOLDED;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        grid_heading(&grid, columns[i][0], columns[i][1]);
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];

        fleet_node_words(node, words);
        grid_row(&grid, fleet_passes(node) ? "" : "failed");
        grid_cell(&grid, "text name", "%s", node->name);
        status_cell(&grid, node);
        grid_cell(&grid, "text", "%s",
                  !fleet_passes(node)                 ? "no"
                  : fleet->expects && !node->expected ? "yes, not expected"
                                                      : "yes");
        grid_cell(&grid, "number", "%zu", node->worse);
        grid_cell(&grid, "number", "%zu", node->drifts);
        grid_cell(&grid, "text", "%s", node->file);
        grid_cell(&grid, "text reason", "%s", words);
    }
    return put_table(&grid, 1,
                     "Worse: numbers that are outlying and worse. Differs: facts in which it "
                     "differs from most.");
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* How many numbers are outlying at each place in a node, and whose: "node001, node007 and 3
 * more". */
static int put_positions(struct text_out *out, const struct fleet *fleet)
{
    struct grid grid;
    int last = -1; /* the largest device that any number is about */

    for (size_t i = 0; i < fleet->n; ++i)
        for (size_t k = 0; k < fleet->node[i].n_numbers; ++k)
            if (fleet->node[i].number[k].device > last)
                last = fleet->node[i].number[k].device;
    open_table(&grid, out, "positions", "Outlying numbers by device position");
    grid_heading(&grid, "text name", "Position");
    grid_heading(&grid, "number", "Worse");
    grid_heading(&grid, "number", "Better");
    grid_heading(&grid, "text reason", "Nodes that are worse there");
    for (int device = -1; device <= last; ++device) {
        const struct fleet_node *before = NULL;
        char words[2 * FLEET_TEXT] = "";
        size_t count[2] = {0, 0}, n = 0;

        /* Outliers are in the order of nodes. */
        for (size_t i = 0; i < fleet->n_outliers; ++i) {
            const struct fleet_outlier *outlier = &fleet->outlier[i];

            if (outlier->device != device)
                continue;
            ++count[outlier->is_worse];
            if (!outlier->is_worse || outlier->node == before)
                continue;
            before = outlier->node;
            if (n++ < NAMED)
                text_add(words, sizeof words, "%s%.60s", n > 1 ? ", " : "", before->name);
        }
        if (n > NAMED)
            text_add(words, sizeof words, " and %zu more", n - NAMED);
        grid_row(&grid, count[true] > 0 ? "failed" : "");
        if (device >= 0)
            grid_cell(&grid, "text name", "device %d", device);
        else
            grid_cell(&grid, "text name", "the whole node");
        grid_cell(&grid, "number", "%zu", count[true]);
        grid_cell(&grid, "number", "%zu", count[false]);
        grid_cell(&grid, "text reason", "%s", words);
    }
    return put_table(
        &grid, grid.rows,
        "A number of a device is compared with the same device of all nodes. So a position "
        "that is slow everywhere is not here.");
}

/* ---- what is outlying, and what differs --------------------------------------------------- */

/* Adds the first items of a list. Returns how many there are. */
static size_t add_items(struct grid *grid, const struct fleet *fleet, enum fleet_list list)
{
    struct fleet_item item = {.at = 0};
    size_t n = 0;

    while (fleet_next(fleet, list, &item)) {
        if (n++ >= SHOWN)
            continue;
        grid_row(grid, item.failed ? "failed" : "");
        grid_cell(grid, "text name", "%s", item.name[0] != '\0' ? item.name : "no majority");
        grid_cell(grid, "text reason", "%s", item.words);
    }
    return n;
}

static int put_outliers(struct text_out *out, const struct fleet *fleet)
{
    struct grid grid;

    open_table(&grid, out, "outliers", "Outlying numbers");
    grid_heading(&grid, "text name", grid.brief ? "outlying" : "Node");
    grid_heading(&grid, "text reason", grid.brief ? "number" : "Number");
    return put_table(&grid, add_items(&grid, fleet, FLEET_LIST_OUTLIERS), "");
}

/* The summary of a job has a list of what has no majority; see fleet/write.c. */
static int put_drift(struct text_out *out, const struct fleet *fleet)
{
    struct grid grid;
    size_t n, splits = 0;

    open_table(&grid, out, "drift", "Differences from most");
    grid_heading(&grid, "text name", grid.brief ? "differs from most" : "Node");
    grid_heading(&grid, "text reason", grid.brief ? "in what" : "In what");
    n = add_items(&grid, fleet, FLEET_LIST_DRIFT);
    if (!grid.brief)
        splits = add_items(&grid, fleet, FLEET_LIST_SPLITS);
    return put_table(&grid, splits > n ? splits : n,
                     "Only another profile or other limits decide.");
}

/* ---- all of them -------------------------------------------------------------------------- */

int fleet_tables(struct text_out *out, const struct fleet *fleet)
{
    int status;

    if (out->form == TEXT_MARKDOWN) {
        status = put_failing(out, fleet);
        status |= put_outliers(out, fleet);
        return status | put_drift(out, fleet);
    }
    text_print(out, "<div class=\"cards\">\n");
    status = put_statuses(out, fleet);
    status |= put_failing(out, fleet);
    status |= put_positions(out, fleet);
    status |= put_outliers(out, fleet);
    status |= put_drift(out, fleet);
    text_print(out, "</div>\n");
    return status | put_nodes(out, fleet);
}

/* ---- the page ----------------------------------------------------------------------------- */

int fleet_page(const char *folder, const struct fleet *fleet, struct text_error *why)
{
    static const enum report_tone tones[] = {
        [0] = REPORT_GOOD, [1] = REPORT_RED, [2] = REPORT_RED, [3] = REPORT_AMBER};
    const bool open = fleet->n_outliers + fleet->rule.small > 0 || fleet->rule.comparisons == 0;
    size_t passing = 0, differ = 0, judged = 0;
    struct report_badge badge[3];
    struct text_out out;

    for (size_t i = 0; i < fleet->n; ++i) {
        passing += fleet_passes(&fleet->node[i]);
        differ += fleet->node[i].drifts > 0;
        judged += fleet->node[i].status < FLEET_BROKEN;
    }
    badge[0].tone = tones[fleet_exit(fleet)];
    snprintf(badge[0].head, sizeof badge[0].head, "%zu of %zu nodes pass", passing, fleet->n);
    fleet_count_words(fleet, badge[0].words);
    badge[1].tone = fleet->outlying > 0 ? REPORT_RED : open ? REPORT_AMBER : REPORT_GOOD;
    snprintf(badge[1].head, sizeof badge[1].head,
             fleet->rule.comparisons > 0 ? "%zu outlying node%s" : "no number was compared",
             fleet->outlying, fleet->outlying == 1 ? "" : "s");
    fleet_rule_words(fleet, badge[1].words);
    badge[2].tone = differ + fleet->n_splits > 0 || judged < fleet->n || judged < 2 ? REPORT_AMBER
                                                                                    : REPORT_GOOD;
    snprintf(badge[2].head, sizeof badge[2].head, "%zu node%s from most", differ,
             differ == 1 ? " differs" : "s differ");
    snprintf(badge[2].words, sizeof badge[2].words, "%zu in machine, program and profile.",
             fleet->n_drifts);
    if (fleet->n_splits > 0)
        text_add(badge[2].words, sizeof badge[2].words,
                 " Of %zu more no value is that of more than half of the nodes.", fleet->n_splits);
    if (text_open(&out, folder, "index.html", TEXT_HTML, why) != 0)
        return -1;
    report_head(&out, "Lockstep fleet");
    text_print(&out,
               "<header class=\"strip\">\n<div class=\"what\"><h1>Lockstep fleet</h1>\n"
               "<p><b>%zu nodes</b><br/>%s</p></div>\n<ul class=\"badges\">\n",
               fleet->n, fleet->folder);
    for (int i = 0; i < 3; ++i)
        report_badge_print(&out, &badge[i]);
    text_print(&out, "</ul>\n</header>\n");
    if (fleet_tables(&out, fleet) != 0) {
        text_discard(&out);
        return text_fail(why, "no memory for the tables of the page");
    }
    text_print(&out, "</main>\n</body>\n</html>\n");
    return text_close(&out, why);
}
