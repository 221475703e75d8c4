/* report/slide.c: a slide for a meeting: DataParallel and DDP against the fastest single process,
 * of each workload. It says what was measured and how sure that is, and gives no advice. */
#include "report/figure.h"

#include <math.h>
#include <string.h>

/* 16:9, as its PNG has twice the pixels: 1920 x 1080. */
enum { SLIDE_WIDTH = 960, SLIDE_HEIGHT = 376, MOST_SETTINGS = 4, LAYERS = 2 };
static const char *const layer_names[LAYERS] = {"DataParallel", "DDP"};

/* A workload with one batch, on the most devices that it has with separate cores or GPUs. */
struct setting {
    const struct report_group *group;
    size_t batch;
    const struct report_point
        *layer[LAYERS]; /* DataParallel; DDP, its fastest bucket. NULL: none */
    int metric;         /* the ratio of both layers: against the faster of the single processes */
};

/* How a bar is drawn. */
enum state { CERTAIN, DOUBTFUL, UNMEASURED };

static enum state state_of(const struct setting *setting, const struct report_point *point)
{
    return report_unmeasured(&point->value[setting->metric])                 ? UNMEASURED
           : figure_hollow(point) || report_doubt_of(point, setting->metric) ? DOUBTFUL
                                                                             : CERTAIN;
}

static bool setting_make(const struct report_group *group, size_t batch, struct setting *setting)
{
    const struct report_point *most = NULL, *point;

    *setting = (struct setting){.group = group, .batch = batch};
    for (point = group->point; point < group->point + group->n; ++point) {
        const int layer = report_is_ddp(point);
        const struct report_point **of = &setting->layer[layer];
        const int crowded = report_oversubscribed(point);

        if (point->key->n_devices < 2 || figure_batch_of(group, point) != batch ||
            !isfinite(report_middle(point, REPORT_SPEEDUP)))
            continue;
        if (!most || crowded < report_oversubscribed(most) ||
            (crowded == report_oversubscribed(most) &&
             point->key->n_devices > most->key->n_devices)) {
            most = point;
            memset(setting->layer, 0, sizeof setting->layer);
        }
        if (point->key->n_devices == most->key->n_devices &&
            (!*of || report_middle(point, REPORT_SPEEDUP) > report_middle(*of, REPORT_SPEEDUP)))
            *of = point;
    }
    if (most)
        setting->metric = report_rival(setting->layer[0] ? setting->layer[0] : setting->layer[1]);
    return most != NULL;
}

/* "1.45 times as fast as the best single process (1.40 to 1.50; DDP on 2 devices, mlp, 256 rows)".
 */
static void add_layer(char text[REPORT_CELL_TEXT], const struct report *report,
                      const struct setting *setting, const struct report_point *point)
{
    const struct report_value *value = &point->value[setting->metric];
    const char *workload = point->key->workload;

    report_add(text, "%s%s (", report_ratio_words(value, WORD),
               report_unmeasured(value) ? "" : " times as fast as the best single process");
    if (value->range != REPORT_NONE)
        report_add(text, "%s to %s; ", report_ratio(value->lo, WORD),
                   report_ratio(value->hi, WORD));
    report_add(text, "%s on %d devices, %.*s%s, %zu rows%s)", layer_names[report_is_ddp(point)],
               point->key->n_devices, report_name_length(report, workload), workload,
               report_axes_words(point->key, PHRASE), setting->batch,
               figure_is_weak(setting->group) ? " per device" : "");
}

/* Three sentences: whether several devices pay, and where most; where least, and what to keep in
 * mind; what was verified, and what is not drawn. */
static void say(struct plot_table *table, const struct setting drawn[], size_t n, size_t left)
{
    static const char *const heads[] = {"Data parallelism does not pay",
                                        "It is not certain whether data parallelism pays"};
    const struct report *report = figure_report(table->plot);
    const struct report_counts *counts = &report->counts;
    const struct setting *best = NULL, *worst = NULL;
    const struct report_point *first = NULL, *last = NULL; /* the layers of best and worst */
    double most = -INFINITY, fewest = INFINITY;
    bool cores = true, some[MOST_SETTINGS] = {false}, unsure[MOST_SETTINGS] = {false};
    size_t pays = 0, open = 0;
    enum state least = UNMEASURED;
    char said[3][REPORT_CELL_TEXT] = {"", "", ""};

    for (size_t i = 0; i < n * LAYERS; ++i) {
        const struct setting *at = &drawn[i / LAYERS];
        const struct report_point *point = at->layer[i % LAYERS];

        if (!point)
            continue;
        const struct stats_interval widened = report_widened(point, at->metric);
        const enum state state = state_of(at, point);
        const double ratio = report_middle(point, at->metric);

        cores = cores && (point->cores || !report_works_on_cores(point->row));
        some[i / LAYERS] |= state == CERTAIN && widened.lo > 1;
        unsure[i / LAYERS] |= state != CERTAIN || (widened.lo <= 1 && widened.hi >= 1);
        /* A layer that is less certain than another is neither end. */
        if (state < least) {
            least = state;
            most = -INFINITY;
            fewest = INFINITY;
        }
        if (state == least && ratio > most) {
            most = ratio;
            best = at;
            first = point;
        }
        if (state == least && ratio < fewest) {
            fewest = ratio;
            worst = at;
            last = point;
        }
    }
    for (size_t i = 0; i < n; ++i) {
        pays += some[i];
        open += unsure[i] && !some[i];
    }
    if (report_simulated(first->row))
        report_add(said[0], "SIMULATED: ");
    if (pays > 0)
        report_add(said[0], "Data parallelism pays in %zu of %zu settings", pays, n);
    else
        report_add(said[0], "%s", heads[open > 0]);
    report_add(said[0], ": at best ");
    add_layer(said[0], report, best, first);
    report_add(said[0], ".");
    if (last != first) {
        report_add(said[1], "At worst ");
        add_layer(said[1], report, worst, last);
        report_add(said[1], ". ");
    }
    if (open > 0 && open < n)
        report_add(said[1], "In %zu of %zu settings it is not certain whether it pays. ", open, n);
    if (!cores)
        report_add(said[1], "One process on all cores was not measured: the best single process is "
                            "the program on one device. ");
    report_add(said[1], "%s", report_state_words(report, PHRASE));
    report_add(said[2], "%zu of %zu planned launches were verified%s", counts->verified,
               counts->planned, report_works_on_cores(first->row) ? ", on virtual devices" : "");
    if (counts->missing > 0)
        report_add(said[2], "; %zu not run", counts->missing);
    report_add(said[2], ".");
    if (left > 0)
        report_add(said[2], " %zu more settings were measured: they are on the page.", left);
    plot_table_panel(table, said[0], said[1], said[2]);
    plot_number(table->plot, "bars", first->value[best->metric].range);
}

static void prepare_slide(struct plot *plot, struct plot_grid *grid)
{
    (void)grid;
    plot->width = SLIDE_WIDTH;
}

/* Draws as many batches of each workload as there is space for, the largest. The sentences are a
 * panel of words, and each setting a panel after it. */
static void write_slide(struct plot_table *table)
{
    const struct report *report = figure_report(table->plot);
    static const size_t styles[LAYERS] = {FIGURE_DP, FIGURE_RANKS};
    struct setting drawn[MOST_SETTINGS];
    size_t n = 0, left = 0;

    table->plot->narrow = false;
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];
        const size_t each = report->n_groups < MOST_SETTINGS ? MOST_SETTINGS / report->n_groups : 1;
        size_t batches[PLOT_MAX_TICKS], first = n;

        for (size_t b = 0, all = figure_batches(group, batches, PLOT_MAX_TICKS); b < all; ++b) {
            struct setting setting;

            if (!setting_make(group, batches[b], &setting))
                continue;
            if (n - first == each) {
                memmove(&drawn[first], &drawn[first + 1], (each - 1) * sizeof *drawn);
                --n;
                ++left;
            }
            if (n == MOST_SETTINGS)
                ++left;
            else
                drawn[n++] = setting;
        }
    }
    if (n > 0)
        say(table, drawn, n, left);
    for (size_t i = 0; i < n; ++i) {
        const struct setting *setting = &drawn[i];
        const char *workload = setting->group->point->key->workload;
        char title[PLOT_TEXT] = "", rows[PLOT_TEXT] = "";

        report_add(title, "%.*s%s", report_name_length(report, workload), workload,
                   report_axes_words(setting->group->point->key, PHRASE));
        report_add(rows, "%zu rows%s", setting->batch,
                   figure_is_weak(setting->group) ? " per device" : "");
        plot_table_panel(table, title, rows,
                         setting->metric == REPORT_OF_CORES ? "1 is one process, all cores"
                                                            : "1 is one device");
        for (size_t l = 0; l < LAYERS; ++l) {
            const struct report_point *point = setting->layer[l];

            if (!point)
                continue;
            const struct figure_value value = figure_value(&point->value[setting->metric], 1);
            char label[PLOT_TEXT] = "";

            report_add(label, "%s on %d", layer_names[l], point->key->n_devices);
            plot_table_series(table, styles[l], label);
            PLOT_ROW(table, (double)(i + 1) + 0.44 * ((double)l - 0.5), (double)l, value.middle,
                     value.lo, value.hi, state_of(setting, point));
        }
    }
}

const struct figure_row figure_slide = {
    .grid = {.least = 100, .height = SLIDE_HEIGHT},
    .why = "no workload is verified in mode dp or ddp on several devices, next to one",
    .columns =
        "place, 0 DataParallel, 1 DDP; over the best single process; low, high; 0 certain, 1 not, "
        "2 not measured well enough",
    .prepare = prepare_slide,
    .write_panels = write_slide};
