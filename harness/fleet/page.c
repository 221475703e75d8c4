/* fleet/page.c: the fleet as one page, index.html, in the style of the page of a report.
 *
 * It loads nothing and runs nothing. Names and values are what others wrote: they go through
 * text_print, which escapes them. */
#include "fleet/fleet.h"

#include "files/text_out.h"
#include "report/page.h"

/* ---- the strip ---------------------------------------------------------------------------- */

static void strip(struct text_out *out, const struct fleet *fleet)
{
    struct report_badge badge[3];

    static const enum report_tone tones[] = {
        [0] = REPORT_GOOD, [1] = REPORT_RED, [2] = REPORT_RED, [3] = REPORT_AMBER};
    size_t passing = 0;

    for (size_t i = 0; i < fleet->n; ++i)
        passing += fleet_passes(&fleet->node[i]);
    badge[0].tone = tones[fleet_exit(fleet)];
    snprintf(badge[0].head, sizeof badge[0].head, "%zu of %zu nodes pass", passing, fleet->n);
    fleet_count_words(fleet, badge[0].words);
    const bool open = fleet->n_outliers + fleet->rule.small > 0 || fleet->rule.comparisons == 0;

    badge[1].tone = open ? REPORT_AMBER : REPORT_GOOD;
    if (fleet->outlying > 0)
        badge[1].tone = REPORT_RED;
    snprintf(badge[1].head, sizeof badge[1].head,
             fleet->rule.comparisons > 0 ? "%zu outlying node%s" : "no number was compared",
             fleet->outlying, fleet->outlying == 1 ? "" : "s");
    fleet_rule_words(fleet, badge[1].words);
    size_t nodes = 0, judged = 0;

    for (size_t i = 0; i < fleet->n; ++i) {
        nodes += fleet->node[i].drifts > 0;
        judged += fleet->node[i].status < FLEET_BROKEN;
    }
    badge[2].tone =
        nodes + fleet->n_splits > 0 || judged < fleet->n || judged < 2 ? REPORT_AMBER : REPORT_GOOD;
    snprintf(badge[2].head, sizeof badge[2].head, "%zu node%s from most", nodes,
             nodes == 1 ? " differs" : "s differ");
    if (fleet->n_splits == 0)
        snprintf(badge[2].words, sizeof badge[2].words, "%zu in machine, program and profile.",
                 fleet->n_drifts);
    else
        snprintf(badge[2].words, sizeof badge[2].words,
                 "%zu in machine, program and profile. Of %zu more no value is that of more than "
                 "half of the nodes.",
                 fleet->n_drifts, fleet->n_splits);
    text_print(out,
               "<header class=\"strip\">\n<div class=\"what\"><h1>Lockstep fleet</h1>\n"
               "<p><b>%zu nodes</b><br/>%s</p></div>\n<ul class=\"badges\">\n",
               fleet->n, fleet->folder);
    for (int i = 0; i < 3; ++i)
        report_badge_print(out, &badge[i]);
    text_print(out, "</ul>\n</header>\n");
}

/* ---- the page ----------------------------------------------------------------------------- */

int fleet_page(const char *folder, const struct fleet *fleet, struct text_error *why)
{
    struct text_out out;

    if (text_open(&out, folder, "index.html", TEXT_HTML, why) != 0)
        return -1;
    report_head(&out, "Lockstep fleet");
    strip(&out, fleet);
    if (fleet_tables(&out, fleet) != 0) {
        text_discard(&out);
        return text_fail(why, "no memory for the tables of the page");
    }
    text_print(&out, "</main>\n</body>\n</html>\n");
    return text_close(&out, why);
}
