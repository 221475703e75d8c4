/* report/figure_groups.c: the figures with a panel for each group: samples/s by batch, the
 * roofline, the speed-up by devices, the overlap of ranks, and the bus bandwidth of collectives. */
#include "report/figure.h"
#include "report/peer.h"

#include <math.h>
#include <string.h>

/* Marks of the caption of scaling, and of the roofline. */
enum { BOUNDED = 1 << 1, ROOFED = 1 << 2, COMPARED = 1 << 3, NO_LIMITS = 1 << 1 };

/* ---- samples/s by batch ---------------------------------------------------------------------- */

enum { LEAST_FOR_KNEE = 4 };
/* The knee is the smallest batch whose range reaches this share of the best median of its line. */
static const double KNEE = 0.9;

static double per_device(const struct report_point *point, double of_all)
{
    return of_all / (double)point->key->n_devices;
}

/* A line of the figure: the points of a group in one style on one number of devices. */
struct style_line {
    size_t style, devices, n;
    double best;
};

static bool line_make(const struct report_group *group, size_t style, struct style_line *line)
{
    const struct report_point *point;

    *line = (struct style_line){.style = style, .devices = figure_most_devices(group, style)};
    for (size_t at = 0; (point = figure_next(group, style, line->devices, &at)) != NULL; ++line->n)
        line->best = fmax(line->best, per_device(point, report_middle(point, REPORT_THROUGHPUT)));
    return line->n > 0;
}

/* Because the axis has rows per device, equal step times lie on one diagonal for all numbers of
 * devices, and the distance between two lines is the cost of several devices. */
static void write_batch_panel(struct plot_table *table, const struct report_group *group)
{
    const struct plot *plot = table->plot;
    const size_t styles = figure_styles(plot);
    struct {
        size_t list[PLOT_MAX_TICKS], n; /* ascending */
    } batches;
    struct style_line line;
    bool any = false, hollow = false;

    batches.n = figure_batches(group, batches.list, PLOT_MAX_TICKS);
    for (size_t s = 0; s < styles; ++s) {
        const bool made = line_make(group, figure_nth_style(s), &line);

        any = any || made;
        hollow =
            hollow ||
            (made && figure_hollow(figure_next(group, line.style, line.devices, &(size_t){0})));
    }
    if (!any || !figure_panel(table, group, hollow,
                              batches.n < LEAST_FOR_KNEE ? "fewer than 4 batches: no knee" : ""))
        return;
    for (size_t s = 0; s < styles; ++s) {
        char label[PLOT_TEXT];

        if (!line_make(group, figure_nth_style(s), &line))
            continue;
        figure_style_words(plot, line.style, label);
        if (line.style != FIGURE_PLAIN)
            report_add(label, " on %zu", line.devices);
        if (!plot_table_series(table, line.style, label))
            continue;
        const struct report_point *point;
        size_t last = batches.n;
        bool knee = line.n < LEAST_FOR_KNEE; /* found, or not looked for */

        for (size_t at = 0; (point = figure_next(group, line.style, line.devices, &at)) != NULL;) {
            const struct figure_value rate =
                figure_value(&point->value[REPORT_THROUGHPUT], per_device(point, 1));
            const bool reaches = !knee && rate.hi >= KNEE * line.best;
            size_t place = 0;

            while (place < batches.n && batches.list[place] != point->batch)
                ++place;
            /* A line has a gap at a batch that other lines have and it lacks. */
            if (last < batches.n && place > last + 1)
                plot_table_gap(table);
            last = place;
            PLOT_ROW(table, per_device(point, (double)point->key->global_batch), rate.middle,
                     rate.lo, rate.hi, figure_hollow(point), reaches);
            knee = knee || reaches;
        }
    }
}

const struct figure_row figure_batch = {
    .grid = {.least = 330, .height = 206, .room = 136},
    .why = "no cell is verified, so nothing can be plotted",
    .columns = "rows per device, samples/s per device, low, high, hollow, knee",
    .write_group = write_batch_panel};

/* ---- roofline -------------------------------------------------------------------------------- */

static double per_byte(const struct report_point *point)
{
    const double moved = report_middle(point, REPORT_MOVED);

    return moved > 0.0 ? point->middle->cell->flops_per_step / moved : 0.0;
}

static bool is_on_roofline(const struct report_point *point)
{
    return isfinite(report_middle(point, REPORT_FLOPS)) &&
           (report_is_plain(point) || per_byte(point) > 0.0);
}

/* How fast a device computes, over the amount of work for each byte that is moved between devices.
 * The ceilings are rates that were measured here: the matrix products by themselves, and the
 * reduction alone. A ceiling is drawn only if the records have it. */
static void write_roofline_panel(struct plot_table *table, const struct report_group *group)
{
    const struct plot *plot = table->plot;
    const struct report_point *point;
    double products = 0, moves = 0; /* per second and device; 0: not known */
    char words[REPORT_CELL_TEXT] = "";
    bool any = false, hollow = false;

    for (size_t s = 1; s < figure_styles(plot); ++s) {
        const size_t style = figure_nth_style(s), most = figure_most_devices(group, style);

        for (size_t at = 0; (point = figure_next(group, style, most, &at)) != NULL;)
            if (is_on_roofline(point)) {
                any = true;
                hollow = hollow || figure_hollow(point);
            }
    }
    for (size_t i = 0; i < group->n; ++i) {
        point = &group->point[i];
        if (point->verified == 0 || figure_hollow(point))
            continue;
        products = fmax(products, report_middle(point, REPORT_PRODUCTS));
        moves = fmax(moves, 1e9 * report_middle(point, REPORT_MOVED) /
                                report_middle(point, REPORT_COMM) / (double)point->key->n_devices);
    }
    if (moves > 0.0)
        report_add(words, "slope: reduction alone, %sB/s", report_rate(moves, WORD));
    else
        report_add(words, "no ceiling of moves is measured");
    report_add(words, products > 0.0 ? "" : ", none of products");
    if (!any || !figure_panel(table, group, hollow, words))
        return;
    table->plot->marks |= figure_report(plot)->roof ? 0 : NO_LIMITS;
    plot_number(table->plot, "products", products / 1e9);
    plot_number(table->plot, "moves", moves / 1e9);
    for (size_t s = 0; s < figure_styles(plot); ++s) {
        const size_t style = figure_nth_style(s), devices = figure_most_devices(group, style);
        char label[PLOT_TEXT];

        figure_style_words(plot, style, label);
        if (style != FIGURE_PLAIN)
            report_add(label, " on %zu", devices);
        if (!plot_table_series(table, style, label))
            break;
        for (size_t at = 0; (point = figure_next(group, style, devices, &at)) != NULL;) {
            const struct figure_value flops = figure_value(&point->value[REPORT_FLOPS], 1e-9);

            if (is_on_roofline(point))
                PLOT_ROW(table, per_byte(point), flops.middle, flops.lo, flops.hi,
                         figure_hollow(point));
        }
    }
}

const struct figure_row figure_roofline = {
    .grid = {.least = 330, .height = 206, .room = 136},
    .why = "no cell of several devices has its operations and its bytes",
    .columns = "operations per byte (0: no byte), GFLOP/s of a device, low, high, hollow",
    .write_group = write_roofline_panel};

/* ---- speed-up by devices --------------------------------------------------------------------- */

/* A bound above this share hardly differs from the ideal, and would only hide it. */
static const double SHOWN = 0.98;

struct panel {
    const struct report_group *group;
    const struct peer_cell *peer; /* the same work in the comparison with PyTorch; NULL: none */
    size_t batch;
    size_t devices[PLOT_MAX_TICKS], n; /* numbers of devices in all series together */
    bool hollow, doubtful, bounded;
};

/* Finds the first verified point in that style, on so many devices; NULL: none, or it has no
 * speed-up. */
static const struct report_point *point_at(const struct panel *panel, size_t style, size_t devices)
{
    const struct report_point *point;

    for (size_t at = 0; (point = figure_next(panel->group, style, devices, &at)) != NULL;)
        if (point->batch == panel->batch)
            return isfinite(report_middle(point, REPORT_SPEEDUP)) ? point : NULL;
    return NULL;
}

/* Chooses the batch of a panel: that of the answer, if it is about this group; else of the batches
 * with the most numbers of devices one that PyTorch has on the same machine, if there is one, and
 * of these the largest. Returns false if there are fewer than two numbers of devices. */
static bool panel_make(const struct plot *plot, const struct report_group *group,
                       struct panel *panel)
{
    const struct peer_record *peers = figure_report(plot)->peer;
    const struct report_row *row = group->point->row;
    const bool compared = peers && !group->point->weak &&
                          strcmp(row->cell->key.dtype, "f32") == 0 &&
                          peer_same_machine(peers, row->run);
    const struct report_point *best = report_answer_of(figure_report(plot)).best;
    size_t batches[PLOT_MAX_TICKS];
    const size_t n = figure_batches(group, batches, PLOT_MAX_TICKS);

    *panel = (struct panel){.group = group};
    for (size_t b = 0; b < n; ++b) {
        struct panel at = {.group = group, .batch = batches[b]};

        for (size_t i = 0; i < group->n; ++i) {
            const struct report_point *point = &group->point[i];
            const size_t devices = (size_t)point->key->n_devices;

            if (report_is_plain(point) || point_at(&at, figure_style(point), devices) != point)
                continue;
            at.n = report_insert(at.devices, at.n, PLOT_MAX_TICKS, devices);
            at.hollow = at.hollow || figure_hollow(point);
            at.doubtful = at.doubtful || report_doubt_of(point, REPORT_SPEEDUP);
            at.bounded = at.bounded || point->bound <= SHOWN;
        }
        for (size_t c = 0; compared && c < peers->n_cells && !at.peer; ++c)
            if (strcmp(peers->cell[c].workload, row->cell->key.workload) == 0 &&
                peers->cell[c].batch == at.batch)
                at.peer = &peers->cell[c];
        if (at.n > panel->n || (at.n == panel->n && (at.peer || !panel->peer)))
            *panel = at;
        if (at.n > 1 && best >= group->point && best < group->point + group->n &&
            at.batch == best->batch) {
            *panel = at;
            break;
        }
    }
    return panel->n > 1;
}

static void write_speedup(struct plot_table *table, double devices,
                          const struct report_value *value, bool hollow, double bound, double roof)
{
    const struct figure_value of = figure_value(value, 1);

    PLOT_ROW(table, devices, of.middle, of.lo, of.hi, report_unmeasured(value) ? 2.0 : hollow,
             bound, roof);
}

/* DataParallel, ranks, and PyTorch if a comparison has the same work, at the largest batch. It also
 * draws the bound that unequal shards and shared cores set: N rows on K devices take as long as
 * ceil(N/K) rows, and virtual devices are together no faster than the cores that they have. Ranks
 * have a second bound, which is drawn if it is lower and known: a step is never shorter than its
 * reduction alone. */
static void write_scaling_panel(struct plot_table *table, const struct report_group *group)
{
    const struct plot *plot = table->plot;
    char batch[64], label[PLOT_TEXT];
    struct panel panel;

    if (!panel_make(table->plot, group, &panel))
        return;
    snprintf(batch, sizeof batch, "%s %zu row%s%s",
             group->point->weak ? "batch per device" : "batch", panel.batch, text_s(panel.batch),
             panel.doubtful ? "; hollow: not certain" : "");
    if (!figure_panel(table, group, panel.hollow, batch))
        return;
    plot_list(table->plot, "counts", panel.devices, panel.n);
    for (size_t s = 1; s < figure_styles(plot); ++s) {
        const size_t style = figure_nth_style(s);

        figure_style_words(plot, style, label);
        if (!plot_table_series(table, style, label))
            break;
        for (size_t i = 0; i < panel.n; ++i) {
            const size_t devices = panel.devices[i];
            const struct report_point *point = point_at(&panel, style, devices);

            if (!point)
                continue;
            /* The roof is the speed-up if a step took only as long as its reduction alone; 0: it is
             * not known, or not lower than the bound. */
            const double bound = point->bound * (double)devices;
            const double roof =
                report_middle(point->base, REPORT_STEP) / report_middle(point, REPORT_COMM) *
                (double)point->key->global_batch / (double)point->base->key->global_batch;

            const bool reached = roof < bound;

            table->plot->marks |= panel.bounded * BOUNDED | reached * ROOFED;
            write_speedup(table, (double)devices, &point->value[REPORT_SPEEDUP],
                          figure_hollow(point) || report_doubt_of(point, REPORT_SPEEDUP),
                          panel.bounded * bound, reached ? roof : 0.0);
        }
    }
    if (!panel.peer)
        return;
    /* The programs of PyTorch against the plain program of lockstep in the same comparison, paired
     * by round. */
    const struct peer_record *peers = figure_report(plot)->peer;
    const struct peer_arm *arm[2] = {peer_fastest(panel.peer, PEER_PLAIN, 1),
                                     peer_fastest(panel.peer, PEER_PARALLEL, peers->devices)};

    figure_style_words(plot, FIGURE_PYTORCH, label);
    if (!plot_table_series(table, FIGURE_PYTORCH, label))
        return;
    for (int i = 0; i < 2; ++i) {
        const struct report_value value =
            peer_ratio(peer_find(panel.peer, PEER_LOCKSTEP_PLAIN, 1), arm[i]);

        if (!isfinite(value.middle))
            continue;
        table->plot->marks |= COMPARED;
        write_speedup(table, arm[i]->devices, &value, peers->oversubscribed, 0.0, 0.0);
    }
}

const struct figure_row figure_scaling = {
    .grid = {.least = 330, .height = 216, .room = 136},
    .why =
        "no workload is verified in mode dp or ddp on two numbers of devices: sweep with --counts "
        "1,2",
    .columns = "devices, speed-up, low, high, hollow, bound, roof (0: none)",
    .write_group = write_scaling_panel};

/* ---- overlap --------------------------------------------------------------------------------- */

enum { MOST_ROWS = 5 };

static bool overlap_is_resolved(const struct report_point *point)
{
    return report_has_overlap(point) && !report_doubt_of(point, REPORT_HIDDEN);
}

/* For each cell whose overlap is resolved: the reduction as a share of the step, the exposed part
 * of it, and the bytes that the step moves and holds. There is a row for each cell. */
static void write_overlap_panel(struct plot_table *table, const struct report_group *group)
{
    const struct report_point *points = group->point;
    char more[PLOT_TEXT] = "";
    size_t can = 0, open = 0, n = 0;
    bool hollow = false;

    for (size_t i = 0; i < group->n; ++i) {
        can += overlap_is_resolved(&points[i]);
        open += report_has_overlap(&points[i]) && !overlap_is_resolved(&points[i]);
        hollow = hollow || (overlap_is_resolved(&points[i]) && figure_hollow(&points[i]));
    }
    if (can == 0)
        return;
    if (can > MOST_ROWS)
        report_add(more, "%zu more in the table; ", can - MOST_ROWS);
    report_add(more, "%zu not resolved", open);
    if (!figure_panel(table, group, hollow, more))
        return;
    /* The loop goes backwards, because the largest batches come last. */
    for (size_t i = group->n; i > 0 && n < MOST_ROWS; --i)
        if (overlap_is_resolved(&points[i - 1])) {
            const struct report_point *point = &points[i - 1];
            const struct report_value *hidden = &point->value[REPORT_HIDDEN];
            const double comm =
                report_middle(point, REPORT_COMM) / report_middle(point, REPORT_WHOLE);
            char words[REPORT_CELL_TEXT] = "";

            report_add(words, "%s on %d, %zu row%s: %s moved, %s held",
                       figure_style_words(table->plot, figure_style(point), PHRASE),
                       point->key->n_devices, point->key->global_batch,
                       text_s(point->key->global_batch),
                       report_bytes(report_middle(point, REPORT_MOVED), WORD),
                       report_bytes(report_middle(point, REPORT_PEAK), WORD));
            ++n;
            /* The reduction over the step, its exposed part, and the range of that part. */
            if (plot_table_series(table, figure_style(point), words))
                PLOT_ROW(table, (double)n, comm, comm * (1 - hidden->middle),
                         comm * (1 - hidden->hi), comm * (1 - hidden->lo), hidden->middle);
        }
}

const struct figure_row figure_overlap = {
    .grid = {.least = 350, .height = 170, .room = 14},
    .why = "of no cell is it resolved how much of its communication is hidden",
    .columns = "row, reduction and its exposed part, low, high, as parts of the step, hidden",
    .write_group = write_overlap_panel};

/* ---- bus bandwidth --------------------------------------------------------------------------- */

/* All lines have the colour of ranks, and each has a different marker. */
enum { FIRST_STYLE = 3, NEXT_STYLE = 4, MOST_LINES = 6 };

/* A panel for each collective with its type, communicator and place, and a line for each number of
 * devices. */
static void write_bandwidth_panel(struct plot_table *table, const struct report_group *group)
{
    const struct report_point *points = group->point;
    const struct record_key *key = points->key;
    char title[PLOT_TEXT] = "", setting[PLOT_TEXT] = "", note[PLOT_TEXT] = "";
    size_t verified = 0, line = 0;
    bool hollow = false;

    for (size_t i = 0; i < group->n; ++i) {
        verified += points[i].verified > 0;
        hollow = hollow || (points[i].verified > 0 && figure_hollow(&points[i]));
    }
    if (verified == 0)
        return;
    report_add(title, "%s%s", key->workload, key->out_of_place ? ", out of place" : "");
    report_add(setting, "%s, %s/%s on %s", key->dtype, key->backend, key->communicator,
               points->row->kind);
    if (report_simulated(points->row))
        report_add(note, "SIMULATED, not measured (hollow)");
    else if (hollow)
        report_add(note, "hollow: %s", report_crowding(points->row));
    if (!plot_table_panel(table, title, setting, note))
        return;
    /* Points on the same number of devices are a line; they follow each other, ordered by size. */
    for (size_t i = 0; i < group->n; ++i) {
        const struct figure_value speed = figure_value(&points[i].value[REPORT_BUSBW], 1e-9);
        const int devices = points[i].key->n_devices;
        char label[PLOT_TEXT] = "";

        report_add(label, "%d device%s", devices, text_s((size_t)devices));
        if ((i == 0 || points[i - 1].key->n_devices != devices) &&
            (line == MOST_LINES ||
             !plot_table_series(table, FIRST_STYLE + NEXT_STYLE * line++, label)))
            return;
        if (points[i].verified > 0)
            PLOT_ROW(table, (double)points[i].key->size_bytes, speed.middle, speed.lo, speed.hi,
                     figure_hollow(&points[i]));
    }
}

const struct figure_row figure_bandwidth = {.grid = {.least = 350, .height = 220, .room = 84},
                                            .why = "no collective is verified",
                                            .columns =
                                                "bytes, bus bandwidth in GB/s, low, high, hollow",
                                            .collectives = true,
                                            .write_group = write_bandwidth_panel};
