/* fleet/page.c: the fleet as one page, index.html, in the style of the page of a report; and its
 * tables, of which the summary of a job has some. What to do comes first, and statistics last; rows
 * that a table leaves out are counted below it.
 *
 * The page loads nothing and runs nothing. Names and values are input: they go through text_print,
 * which escapes them. */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/grid.h"
#include "files/files.h"
#include "fleet/fleet.h"
#include "numbers/stats.h"

/* ---- tables ---------------------------------------------------------------------------------- */

/* SHORT: bytes of an answer that is set in large letters. */
enum { SHOWN = 100, SHORT = 240 };

static void open_table(struct grid *grid, struct text_out *out, const char *id, const char *title)
{
    grid_open(grid, out, id, title);
    grid->fold = GRID_PLAIN;
    grid->compact = true;
}

/* The first ones of n rows; a table that has none is left out. */
static void put_table(struct grid *grid, size_t n, const char *remark)
{
    if (n > 0 && grid->brief) {
        grid->rows = n;
        grid_part(grid, SHOWN);
        return;
    }
    snprintf(grid->note, sizeof grid->note, "%s", remark);
    if (n > SHOWN)
        snprintf(grid->note, sizeof grid->note,
                 "%zu more %s not shown here: --format csv or json has all.", n - SHOWN,
                 text_are(n - SHOWN));
    if (n > 0)
        grid_html(grid);
    grid_close(grid);
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* Adds nodes that do not pass; or all of them, folded up. The summary of a job also has nodes that
 * were not expected. */
static void put_nodes(struct text_out *out, const struct fleet *fleet, bool all)
{
    char words[2 * FLEET_TEXT];
    struct grid grid;
    size_t n = 0;

    open_table(&grid, out, all ? "nodes" : "failing", all ? "All nodes" : "Nodes that do not pass");
    grid.fold = all ? GRID_FOLDED : GRID_PLAIN;
    grid_heading(&grid, "text name", grid.brief ? "node" : "Node");
    grid_heading(&grid, "text status", grid.brief ? "status" : "Status");
    if (!grid.brief)
        grid_heading(&grid, "text", "Measured");
    if (all) {
        grid_heading(&grid, "text name", "Steps");
        grid_headings(&grid, "number", "Worse|Differs");
    }
    grid_heading(&grid, "text reason", grid.brief ? "why" : "Why");
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        const bool passes = fleet_passes(node), unexpected = fleet->expects && !node->expected;

        if (!all && ((passes && !(unexpected && grid.brief)) || n++ >= SHOWN))
            continue;
        fleet_node_words(node, words);
        grid_row(&grid, passes && all ? "" : "failed");
        grid_link(&grid, fleet_node_link(fleet, node));
        grid_cell(&grid, "text name", "%s", node->name);
        grid_cell(&grid, "text status", "%s", fleet_state_words(node));
        if (!grid.brief)
            grid_cell(&grid, "text", "%s", fleet_fact_of(node, "measured_utc"));
        if (all) {
            grid_cell(&grid, "text name", "%s", node->steps[0] != '\0' ? node->steps : "unknown");
            grid_cell(&grid, "number", "%zu", node->worse);
            grid_cell(&grid, "number", "%zu", node->drifts);
        }
        grid_cell(&grid, "text reason", "%s%s", words, unexpected ? " (not expected)" : "");
    }
    put_table(&grid, all ? 1 : n,
              all ? "Worse: numbers that are outlying and worse. Differs: facts in which it "
                    "differs from most."
                  : "");
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

/* ---- all of them -------------------------------------------------------------------------- */

void fleet_tables(struct text_out *out, const struct fleet *fleet)
{
    const bool page = out->form == TEXT_HTML;
    struct grid grid;

    text_print(out, page ? "<div class=\"cards\">\n" : "");
    put_nodes(out, fleet, false);
    open_table(&grid, out, "outliers", "Outlying numbers");
    grid_heading(&grid, "text name", grid.brief ? "outlying" : "Node");
    grid_heading(&grid, "text reason", grid.brief ? "number" : "Number");
    put_table(&grid, add_items(&grid, fleet, FLEET_LIST_OUTLIERS), "");
    open_table(&grid, out, "drift", "Differences from most");
    grid_heading(&grid, "text name", grid.brief ? "differs from most" : "Node");
    grid_heading(&grid, "text reason", grid.brief ? "in what" : "In what");
    const size_t n = add_items(&grid, fleet, FLEET_LIST_DRIFT);
    /* The summary of a job has a list of what has no majority; see fleet/write.c. */
    const size_t splits = grid.brief ? 0 : add_items(&grid, fleet, FLEET_LIST_SPLITS);
    put_table(&grid, splits > n ? splits : n,
              "Only profile, limits, cases, steps, day and the number of devices decide.");
    text_print(out, page ? "</div>\n" : "");
    if (page)
        put_nodes(out, fleet, true);
}

/* ---- a dot for each node --------------------------------------------------------------------- */

/* Pixels: of the picture, and where its lines are. Places to the right are tenths of a percent of
 * its width, so that letters are of one size on any screen. */
enum { HIGH = 190, TOP = 30, BOTTOM = 160, LEFT = 120, WIDE = 860, LABEL = 14, APART = 300 };
/* Percent: the top of a linear axis, and of any. */
static const double WIDEST = 30, MOST = 1e6;

static double percent_worse(const struct fleet_node *node)
{
    return fmax(100 * expm1(node->lag), 0);
}

static void print_label(struct text_out *out, int at, int y, bool left, const char *words)
{
    text_print(out, "<text x=\"%d.%d%%\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", at / 10, at % 10,
               y, left ? "end" : "start", words);
}

/* The height of a share of the top. Over more than a decade it is that of a logarithm, from 1 % on.
 */
static int height(double percent, double top)
{
    const double part = top > WIDEST ? log(fmax(percent, 1)) / log(top) : percent / top;

    return BOTTOM - (int)lround(fmin(part, 1) * (BOTTOM - TOP));
}

/* How much worse than the median each node is, in the number in which it is worst. Colours are
 * those of paper: the style sheet turns them round in the dark. */
static void put_dots(struct text_out *out, const struct fleet *fleet)
{
    double lines[] = {0, 100 * OUTLIER_EFFECT, 5}; /* percent; the last: the top */
    size_t nodes = 0, i = 0;
    int end[HIGH / LABEL + 1]; /* of the last name in each row of names */
    char words[64], without[2 * FLEET_TEXT] = "";

    for (size_t k = 0; k < fleet->n; ++k) {
        nodes += fleet->node[k].compared > 0;
        lines[2] = fmax(lines[2], fmin(percent_worse(&fleet->node[k]), MOST));
    }
    if (nodes == 0)
        return;
    lines[2] = 5 * ceil(lines[2] / 5);
    const bool wide = lines[2] > WIDEST;

    if (wide)
        lines[2] = pow(10, ceil(log10(lines[2])));
    text_print(out,
               "<section class=\"tables\" id=\"dots\">\n<h2>How much worse than the median each "
               "node is</h2>\n"
               "<div class=\"drawing\" role=\"img\" aria-label=\"a dot for each node\">\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" style=\"height:%dpx\" font-size=\"12\" "
               "fill=\"#535b64\">\n",
               HIGH);
    for (int line = 0; line <= 2; ++line) {
        const int y = height(lines[line], lines[2]);

        text_print(out,
                   "<line x1=\"0\" x2=\"100%%\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" "
                   "stroke-dasharray=\"%s\"/>\n",
                   y, y, line == 1 ? "#7a838d" : "#d9dde2", line == 1 ? "6,4" : "none");
        snprintf(words, sizeof words, "%g %%", lines[line]);
        if (line > 0)
            print_label(out, 0, y - 4, false, words);
    }
    for (size_t row = 0; row < sizeof end / sizeof end[0]; ++row)
        end[row] = -APART;
    for (size_t k = 0; k < fleet->n; ++k) {
        const struct fleet_node *node = &fleet->node[k];
        const double percent = fmin(percent_worse(node), MOST);
        const int at = LEFT + (int)((size_t)WIDE * (2 * i + 1) / (2 * nodes));
        const int y = height(percent, lines[2]);
        const bool passes = fleet_passes(node);
        int row = (y - 6) / LABEL;

        if (node->compared == 0) {
            text_list(without, sizeof without, ", ", node->name);
            continue;
        }
        ++i;
        text_print(out,
                   "<circle cx=\"%d.%d%%\" cy=\"%d\" r=\"%d\" fill=\"%s\"><title>%s: %d "
                   "%%</title></circle>\n",
                   at / 10, at % 10, y, passes ? 3 : 5, passes ? "#535b64" : "#a8320a", node->name,
                   (int)lround(percent));
        /* A name goes up to a row where it does not meet another one, and a line leads to it. */
        while (row > 0 && at - end[row] < APART)
            --row;
        if (passes || row == 0)
            continue;
        text_print(out,
                   "<line x1=\"%d.%d%%\" x2=\"%d.%d%%\" y1=\"%d\" y2=\"%d\" "
                   "stroke=\"#a8320a\"/>\n",
                   at / 10, at % 10, at / 10, at % 10, y, row * LABEL - 4);
        snprintf(words, sizeof words, "%.*s", LABEL, node->name);
        print_label(out, at > 600 ? at - 5 : at + 5, row * LABEL, at > 600, words);
        end[row] = at;
    }
    snprintf(words, sizeof words, "%zu nodes, by name", nodes);
    print_label(out, LEFT, BOTTOM + 22, false, words);
    text_print(
        out,
        "</svg>\n</div>\n<p class=\"remark\">A dot is a node, by its worst number. Below the "
        "dashed line (%d %%) no node is outlying. Red nodes do not pass.",
        (int)lround(100 * OUTLIER_EFFECT));
    if (wide)
        text_print(out, " The axis is logarithmic; the lowest line is 1 %% or less.");
    if (nodes < fleet->n)
        text_print(out, " Nodes without a dot: %zu, with no number that enough others have: %s",
                   fleet->n - nodes, without);
    text_print(out, "</p>\n</section>\n");
}

/* ---- the page ----------------------------------------------------------------------------- */

int fleet_page(const char *folder, const struct fleet *fleet, struct text_error *why)
{
    static const enum report_tone tones[] = {
        [0] = REPORT_GOOD, [1] = REPORT_RED, [2] = REPORT_RED, [3] = REPORT_AMBER};
    const bool open = fleet->n_outliers + fleet->rule.small > 0 || fleet->rule.comparisons == 0;
    size_t passing = 0, differ = 0, judged = 0;
    struct report_badge badge[3];
    char words[2 * FLEET_TEXT], *answer = fleet_answer(fleet);
    struct text_out out;

    for (size_t i = 0; i < fleet->n; ++i) {
        passing += fleet_passes(&fleet->node[i]);
        differ += fleet->node[i].drifts > 0;
        judged += fleet->node[i].status < FLEET_BROKEN && fleet->node[i].n_facts > 0;
    }
    badge[0].tone = tones[fleet_exit(fleet)];
    snprintf(badge[0].head, sizeof badge[0].head, "%zu of %zu nodes %s", passing, fleet->n,
             passing == 1 ? "passes" : "pass");
    fleet_count_words(fleet, badge[0].words);
    fleet_basis_words(fleet, words);
    badge[1].tone = fleet->outlying > 0 ? REPORT_RED : open ? REPORT_AMBER : REPORT_GOOD;
    snprintf(badge[1].head, sizeof badge[1].head,
             fleet->rule.comparisons > 0 ? "%zu outlying node%s" : "no number was compared",
             fleet->outlying, fleet->outlying == 1 ? "" : "s");
    snprintf(badge[1].words, sizeof badge[1].words, "%zu of %zu numbers %s compared.",
             fleet->rule.series - fleet->rule.small, fleet->rule.series,
             text_were(fleet->rule.series - fleet->rule.small));
    badge[2].tone = differ + fleet->n_splits > 0 || judged < 2 ? REPORT_AMBER : REPORT_GOOD;
    if (judged < 2)
        snprintf(badge[2].head, sizeof badge[2].head, "no nodes were compared");
    else if (differ == 0 && fleet->n_splits > 0)
        snprintf(badge[2].head, sizeof badge[2].head, "%zu fact%s without a majority",
                 fleet->n_splits, fleet->n_splits == 1 ? "" : "s");
    else
        snprintf(badge[2].head, sizeof badge[2].head, "%zu of %zu nodes differ%s from most", differ,
                 judged, differ == 1 ? "s" : "");
    snprintf(badge[2].words, sizeof badge[2].words,
             "Differences in machine, program and profile: %zu; facts without a majority: %zu.",
             fleet->n_drifts, fleet->n_splits);
    if (text_open(&out, folder, "index.html", TEXT_HTML, why) != 0) {
        free(answer);
        return -1;
    }
    report_head(&out, "Lockstep fleet");
    text_print(&out, "<p class=\"%s\" id=\"answer\" style=\"margin-bottom:1rem\">%s</p>\n",
               strlen(answer) < SHORT ? "verdict" : "lead", answer);
    free(answer);
    text_print(&out,
               "<header class=\"strip\">\n<div class=\"what\"><h1>Lockstep fleet</h1>\n"
               "<p><b>%zu node%s</b><br/>%s</p><p>%s</p></div>\n<ul class=\"badges\">\n",
               fleet->n, fleet->n == 1 ? "" : "s", fleet->folder, words);
    /* A single node is compared with no other. */
    for (int i = 0; i < (fleet->n > 1 ? 3 : 1); ++i)
        report_badge_print(&out, &badge[i]);
    text_print(&out, "</ul>\n</header>\n");
    put_dots(&out, fleet);
    fleet_tables(&out, fleet);
    fleet_rule_words(fleet, words);
    text_print(&out, "<p class=\"remark\">%s</p>\n</main>\n</body>\n</html>\n", words);
    return text_close(&out, why);
}
