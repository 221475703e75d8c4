/* report/slide.c: a slide for a meeting: DataParallel and DDP against the fastest single process,
 * of each workload. It says what was measured and how sure that is, and gives no advice. */
#include "report/figure.h"
#include "report/peer.h"

#include <string.h>

/* 16:9, as its PNG has twice the pixels: 1920 x 1080. */
enum { SLIDE_WIDTH = 960, SLIDE_HEIGHT = 376, MOST_PANELS = 4, LAYERS = 2 };

/* Settings of one workload, with one batch and one number of devices: a bar each. */
struct panel {
    const struct report_group *group;
    size_t batch;
    int devices;
    const struct report_point *layer[LAYERS]; /* NULL: none */
};

/* How a bar is drawn. */
enum state { CERTAIN, DOUBTFUL, UNMEASURED };

static enum state state_of(const struct report_point *point)
{
    const int rival = report_rival(point);

    return report_unmeasured(&point->value[rival]) ? UNMEASURED
           : figure_hollow(point) || report_rival_doubt(point) ||
                   report_doubt_of(point, REPORT_SPEEDUP)
               ? DOUBTFUL
               : CERTAIN;
}

static double ratio_of(const struct report_point *point)
{
    return report_middle(point, report_rival(point));
}

/* The panels that are drawn, and the setting that is best. */
struct slide {
    struct panel panel[MOST_PANELS];
    size_t n;
    const struct report_answer *answer;
    const struct report_point *best;
};

/* Adds the settings of that batch, on so many devices or on the most (0), unless they are there; of
 * DDP the fastest bucket, or the end. */
static void panel_add(struct slide *slide, struct panel panel, const struct report_point *end)
{
    const bool most = panel.devices == 0;
    const struct report_group *group = panel.group;
    size_t same = 0;

    for (const struct report_point *point = group->point; point < group->point + group->n;
         ++point) {
        const int devices = point->key->n_devices;
        const struct report_point **of = &panel.layer[report_is_ddp(point)];

        if (!report_is_setting(slide->answer, point) || point->batch != panel.batch ||
            devices < panel.devices || (!most && devices > panel.devices))
            continue;
        if (devices > panel.devices)
            memset(panel.layer, 0, sizeof panel.layer);
        panel.devices = devices;
        if (!*of || ratio_of(point) > ratio_of(*of))
            *of = point;
    }
    while (same < slide->n &&
           (slide->panel[same].group != group || slide->panel[same].batch != panel.batch ||
            slide->panel[same].devices != panel.devices))
        ++same;
    struct panel *to = same < slide->n ? &slide->panel[same] : &panel;

    /* Both ends may be DDP with another bucket. */
    if (end && to != &panel && to->layer[report_is_ddp(end)] == slide->best && end != slide->best) {
        panel.layer[0] = NULL;
        to = &panel;
    }
    if (end)
        to->layer[report_is_ddp(end)] = end;
    if (to == &panel && panel.devices > 0 && slide->n < MOST_PANELS)
        slide->panel[slide->n++] = panel;
}

/* All settings of the record together. */
struct summary {
    const struct report_point *best, *worst; /* of those that are most certain */
    enum state least;                        /* how certain these are */
    size_t counted;                          /* how many these are */
    bool ordered;                            /* best and worst are certain, and told apart */
    size_t pays, open, known; /* it pays, that is not certain, and the fastest process is known */
};

static bool is_known(const struct report_point *point)
{
    return point->cores || !report_works_on_cores(point->row);
}

static struct summary sum_up(const struct report *report, const struct report_answer *answer)
{
    struct summary sum = {.least = UNMEASURED};

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (!report_is_setting(answer, point))
            continue;
        const enum state state = state_of(point);
        /* A setting that is less certain than another is neither end. */
        const enum state rank = state == DOUBTFUL && report_beyond(point) ? UNMEASURED : state;
        const int pays = state == CERTAIN ? report_pays(point) : 0;

        sum.known += is_known(point);
        sum.pays += pays > 0;
        sum.open += pays == 0 && is_known(point);
        if (rank < sum.least || !sum.best) {
            sum.least = rank;
            sum.best = sum.worst = point;
            sum.counted = 0;
        }
        sum.counted += rank == sum.least;
        if (rank == sum.least && ratio_of(point) > ratio_of(sum.best))
            sum.best = point;
        if (rank == sum.least && ratio_of(point) < ratio_of(sum.worst))
            sum.worst = point;
    }
    sum.ordered = sum.least == CERTAIN && report_widened(sum.best, report_rival(sum.best)).lo >
                                              report_widened(sum.worst, report_rival(sum.worst)).hi;
    return sum;
}

/* With what n settings are compared, if so many of them know the fastest process. */
static const char *against_words(size_t known, size_t n)
{
    return known == n ? "the best single process" : known > 0 ? "one process" : "one device";
}

/* "1.45 times as fast as the best single process (1.40 to 1.50; DDP on 2 devices, mlp, 256 rows)".
 * A range of few launches is "(1.40 to 1.50 in 3 launches; ..". */
static void add_setting(char text[REPORT_CELL_TEXT], const struct plot *plot,
                        const struct report_point *point)
{
    const struct report *report = figure_report(plot);
    const struct report_value *value = &point->value[report_rival(point)];
    const struct record_key *key = point->key;

    report_add(text, "%s", report_ratio_words(value, WORD));
    if (!report_unmeasured(value))
        report_add(text, " times as fast as %s", against_words(is_known(point), 1));
    report_add(text, " (");
    if (value->range != REPORT_NONE)
        report_add(text, "%s to %s", report_ratio(value->lo, WORD), report_ratio(value->hi, WORD));
    if (value->range == REPORT_LAUNCHES)
        report_add(text, " in %zu launches", value->n);
    report_add(text, "%s%s on %d device%s, %.*s%s, %zu row%s%s)",
               value->range != REPORT_NONE ? "; " : "",
               figure_style_words(plot, figure_style(point), PHRASE), key->n_devices,
               text_s((size_t)key->n_devices), report_name_length(report, key->workload),
               key->workload, report_axes_words(key, PHRASE), point->base->key->global_batch,
               text_s(point->base->key->global_batch), point->weak ? " per device" : "");
}

/* Three texts: whether several devices pay, where most, and what is not certain; where least, how
 * fast PyTorch is, and what to keep in mind; what was verified, and what is not drawn. */
static void say(struct plot_table *table, const struct report_answer *answer,
                const struct summary *sum, size_t bars)
{
    const struct report *report = figure_report(table->plot);
    const struct report_counts *counts = &report->counts;
    const size_t n = answer->settings;
    static const char *const on[] = {"", ", on virtual devices, a core each",
                                     ", on virtual devices that share cores"};
    char said[3][REPORT_CELL_TEXT] = {"", "", ""};

    if (report_simulated(sum->best->row))
        report_add(said[0], "SIMULATED: ");
    if (sum->least != CERTAIN)
        report_add(said[0], "Not certain: data parallelism is");
    else if (sum->pays > 0)
        report_add(said[0], "Data parallelism pays in %zu of %zu settings:", sum->pays, n);
    else
        report_add(said[0], sum->known == 0 ? "Data parallelism is"
                            : sum->open > 0 || sum->known < n
                                ? "Whether data parallelism pays is not certain:"
                                : "Data parallelism does not pay:");
    report_add(said[0], sum->ordered ? " at best " : " ");
    if (sum->ordered || sum->counted == 1)
        add_setting(said[0], table->plot, sum->best);
    else if (sum->least == UNMEASURED)
        report_add(said[0], "not measured well enough in any of %zu settings", n);
    else
        report_add(said[0], "%s to %s times as fast as %s in %zu of %zu settings",
                   report_ratio(ratio_of(sum->worst), WORD),
                   report_ratio(ratio_of(sum->best), WORD), against_words(sum->known, n),
                   sum->counted, n);
    if (sum->ordered && sum->counted < n)
        report_add(said[0], ", of the %zu settings that are certain", sum->counted);
    report_add(said[0], ".");
    if (answer->doubt[0] != '\0')
        report_add(said[0], " %s.", answer->doubt);
    if (sum->ordered) {
        report_add(said[1], sum->counted < n ? "Of these, at worst " : "At worst ");
        add_setting(said[1], table->plot, sum->worst);
        report_add(said[1], ". ");
    }
    if (sum->open > 0 && sum->open < n)
        report_add(said[1], "In %zu of %zu settings it is not certain whether it pays. ", sum->open,
                   n);
    if (sum->known == 0)
        report_add(said[1], "One process on all cores was not measured, so whether it pays is not "
                            "shown. ");
    else if (sum->known < n)
        report_add(said[1],
                   "In %zu of %zu settings one process on all cores was not measured, so whether "
                   "it pays is not shown. ",
                   n - sum->known, n);
    if (report->peer)
        report_add(said[1], "%s ", peer_short_words(report->peer, PHRASE));
    report_add(said[1], "%s", report_state_words(report, true, PHRASE));
    report_add(said[2], "%zu of %zu planned launches %s verified%s", counts->verified,
               counts->planned, text_were(counts->verified),
               on[report_works_on_cores(sum->best->row) * (1 + answer->crowded)]);
    if (counts->missing > 0)
        report_add(said[2], "; %zu not run", counts->missing);
    if (report->interrupted)
        report_add(said[2], ", as the sweep was interrupted");
    report_add(said[2], ".");
    if (n > bars)
        report_add(said[2], " The page has %zu more setting%s.", n - bars, text_s(n - bars));
    plot_table_panel(table, said[0], said[1], said[2]);
}

static void prepare_slide(struct plot *plot, struct plot_grid *grid)
{
    (void)grid;
    plot->width = SLIDE_WIDTH;
}

/* Writes the panel at that place, and against what its bars are. all: all settings are certain, and
 * the best and the worst are named. */
static void write_panel(struct plot_table *table, const struct panel *panel,
                        const struct summary *sum, bool all, double at)
{
    static const size_t styles[LAYERS] = {FIGURE_DP, FIGURE_RANKS};
    const struct report *report = figure_report(table->plot);
    const char *workload = panel->group->point->key->workload;
    const struct report_point *ddp = panel->layer[1],
                              *first = panel->layer[0] ? panel->layer[0] : ddp;
    const bool mixed = ddp && report_rival(ddp) != report_rival(first);
    char title[PLOT_TEXT] = "", rows[PLOT_TEXT] = "", over[PLOT_TEXT] = "";

    report_add(title, "%.*s%s", report_name_length(report, workload), workload,
               report_axes_words(panel->group->point->key, PHRASE));
    report_add(rows, "%zu row%s%s", panel->batch, text_s(panel->batch),
               panel->group->point->weak ? " per device" : "");
    for (size_t l = 0; all && l < LAYERS; ++l)
        if (panel->layer[l] == sum->best || (panel->layer[l] && panel->layer[l] == sum->worst))
            report_add(rows, panel->layer[l] == sum->best ? ": the best" : ": the worst");
    if (report_rival(first) == REPORT_OF_CORES)
        report_add(over, "against %d cores%s", first->key->n_devices,
                   mixed ? " (DDP: 1 core)" : ", one process");
    else if (mixed)
        report_add(over, "against 1 core (DDP: %d cores)", first->key->n_devices);
    else
        report_add(over, "against 1 %s%s", report_works_on_cores(first->row) ? "core" : "device",
                   report_is_plain(first->base) ? ""
                   : report_is_ddp(first->base) ? ", DDP"
                                                : ", DataParallel");
    plot_table_panel(table, title, rows, over);
    for (size_t l = 0; l < LAYERS; ++l) {
        const struct report_point *point = panel->layer[l];

        if (!point)
            continue;
        const struct figure_value value = figure_value(&point->value[report_rival(point)], 1);
        char label[PLOT_TEXT] = "";

        report_add(label, "%s on %d", figure_style_words(table->plot, figure_style(point), PHRASE),
                   point->key->n_devices);
        plot_table_series(table, styles[l], label);
        PLOT_ROW(table, at + 0.44 * ((double)l - 0.5), (double)l, value.middle, value.lo, value.hi,
                 state_of(point), point->value[report_rival(point)].range);
    }
}

/* Draws the best and the worst setting, and with the space that is left the largest batches of each
 * workload. The sentences are a panel of words, and each pair of bars a panel after it. */
static void write_slide(struct plot_table *table)
{
    const struct report *report = figure_report(table->plot);
    const struct report_answer answer = report_answer_of(report);
    const struct summary sum = sum_up(report, &answer);
    const struct report_point *const ends[] = {sum.best, sum.worst};
    struct slide slide = {.answer = &answer, .best = sum.best};
    size_t bars = 0;
    bool cores = false, lines[REPORT_INTERVAL + 1] = {false}; /* of all bars */

    table->plot->narrow = false;
    if (!sum.best)
        return;
    for (size_t i = 0; i < 2 * report->n_groups; ++i) {
        const struct report_group *group = &report->group[i % report->n_groups];
        const struct report_point *end = ends[i / report->n_groups];

        if (end >= group->point && end < group->point + group->n)
            panel_add(
                &slide,
                (struct panel){.group = group, .batch = end->batch, .devices = end->key->n_devices},
                end);
    }
    /* Each round takes the next smaller batch of each workload. */
    for (size_t i = 0; i < MOST_PANELS * report->n_groups; ++i) {
        const struct report_group *group = &report->group[i % report->n_groups];
        size_t batches[PLOT_MAX_TICKS], all = figure_batches(group, batches, PLOT_MAX_TICKS);

        if (i / report->n_groups < all)
            panel_add(
                &slide,
                (struct panel){.group = group, .batch = batches[all - 1 - i / report->n_groups]},
                NULL);
    }
    for (size_t i = 0; i < slide.n; ++i)
        for (size_t l = 0; l < LAYERS; ++l)
            if (slide.panel[i].layer[l]) {
                const int rival = report_rival(slide.panel[i].layer[l]);

                ++bars;
                cores = cores || rival == REPORT_OF_CORES;
                lines[slide.panel[i].layer[l]->value[rival].range] = true;
            }
    say(table, &answer, &sum, bars);
    plot_number(table->plot, "intervals", lines[REPORT_INTERVAL]);
    plot_number(table->plot, "ranges", lines[REPORT_LAUNCHES]);
    plot_number(table->plot, "single", cores || sum.known == answer.settings);
    for (size_t i = 0; i < slide.n; ++i)
        write_panel(table, &slide.panel[i], &sum, sum.ordered && sum.counted == answer.settings,
                    (double)(i + 1));
}

const struct figure_row figure_slide = {
    .grid = {.least = 100, .height = SLIDE_HEIGHT},
    .why = "no workload is verified in mode dp or ddp on several devices, next to one",
    .columns =
        "place, 0 DataParallel, 1 DDP; over the best single process; low, high; 0 certain, 1 not, "
        "2 not measured well enough; 2 a range of launches, 3 an interval",
    .prepare = prepare_slide,
    .write_panels = write_slide};
