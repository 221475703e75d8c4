/* fleet/page.c: the fleet as one page, index.html, in the style of the page of a report.
 *
 * It loads nothing and runs nothing. Names and values are what others wrote: they go through
 * text_print, which escapes them. */
#include "fleet/fleet.h"

#include "files/text_out.h"
#include "report/page.h"

enum tone { GOOD, AMBER, BAD };

struct badge {
    enum tone tone;
    char head[96], words[2 * FLEET_TEXT];
};

/* ---- the strip ---------------------------------------------------------------------------- */

static void nodes_badge(const struct fleet *fleet, struct badge *badge)
{
    static const enum tone tones[] = {[0] = GOOD, [1] = BAD, [2] = BAD, [3] = AMBER};
    size_t passing = 0;

    for (size_t i = 0; i < fleet->n; ++i)
        passing += fleet_passes(&fleet->node[i]);
    badge->tone = tones[fleet_exit(fleet)];
    snprintf(badge->head, sizeof badge->head, "%zu of %zu nodes pass", passing, fleet->n);
    fleet_count_words(fleet, badge->words);
}

static void outliers_badge(const struct fleet *fleet, struct badge *badge)
{
    badge->tone = fleet->outlying > 0                         ? BAD
                  : fleet->n_outliers + fleet->rule.small > 0 ? AMBER
                                                              : GOOD;
    if (fleet->rule.comparisons == 0)
        badge->tone = AMBER;
    snprintf(badge->head, sizeof badge->head,
             fleet->rule.comparisons > 0 ? "%zu outlying node%s" : "no number was compared",
             fleet->outlying, fleet->outlying == 1 ? "" : "s");
    fleet_rule_words(fleet, badge->words);
}

static void drift_badge(const struct fleet *fleet, struct badge *badge)
{
    size_t nodes = 0;

    for (size_t i = 0; i < fleet->n; ++i)
        nodes += fleet->node[i].drifts > 0;
    badge->tone = nodes + fleet->n_splits > 0 ? AMBER : GOOD;
    snprintf(badge->head, sizeof badge->head, "%zu node%s from most", nodes,
             nodes == 1 ? " differs" : "s differ");
    if (fleet->n_splits == 0)
        snprintf(badge->words, sizeof badge->words, "%zu in machine, program and profile.",
                 fleet->n_drifts);
    else
        snprintf(badge->words, sizeof badge->words,
                 "%zu in machine, program and profile. Of %zu more no value is that of more than "
                 "half of the nodes.",
                 fleet->n_drifts, fleet->n_splits);
}

static void put_badge(struct text_out *out, const struct badge *badge)
{
    static const char *const tones[] = {"good", "amber", "bad"};
    static const char *const signs[] = {"\u2713", "!", "\u2717"};

    text_print(out,
               "<li class=\"badge %s\"><b><span aria-hidden=\"true\">%s</span> %s</b> "
               "<span class=\"why\">%s</span></li>\n",
               tones[badge->tone], signs[badge->tone], badge->head, badge->words);
}

static void strip(struct text_out *out, const struct fleet *fleet)
{
    struct badge badge[3];

    nodes_badge(fleet, &badge[0]);
    outliers_badge(fleet, &badge[1]);
    drift_badge(fleet, &badge[2]);
    text_print(out,
               "<header class=\"strip\">\n<div class=\"what\"><h1>Lockstep fleet</h1>\n"
               "<p><b>%zu nodes</b><br/>%s</p></div>\n<ul class=\"badges\">\n",
               fleet->n, fleet->folder);
    for (int i = 0; i < 3; ++i)
        put_badge(out, &badge[i]);
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
        snprintf(why->text, sizeof why->text, "no memory for the tables of the page");
        return -1;
    }
    text_print(&out, "</main>\n</body>\n</html>\n");
    return text_close(&out, why);
}
