/* report/figure_waterfall.c: draws how the time of a step on several devices is spent, from
 * measured steps:
 *
 *     T(N) = T1(N)/K + [T1(N/K) - T1(N)/K] + [A(N) - T1(N/K)] + [T(N) - A(N)]
 *            ideal      smaller shard         together           communication
 *
 * A is a step without communication. The time of a launch is its floor, the 5th percentile of its
 * steps, which is disturbed least by other work of the machine. For the few steps without
 * communication it is the shortest one. Each time is the median over launches, so that the terms
 * add up to the step. The range of a term is that of the difference in the same launches. If a time
 * was not measured, the terms on both sides of it are one. There is a panel for each workload at
 * its smallest batch, at its knee and at its largest batch, and each panel has the modes.
 */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "text/alloc.h"

/* The times, in order. If SHARD or ALONE was not measured, the terms on both sides of it are one.
 */
enum { IDEAL, SHARD, ALONE, STEP, LEVELS };
/* The kinds of rows in plots/waterfall.gp. A term has a bit for each of its two levels. */
enum { KIND_IDEAL = 1, KIND_OF_STACK = 16, STACK = 5, PANELS = 3 };

struct level {
    const struct report_point *point;                /* its launches have the time */
    double (*of_launch)(const struct record_cell *); /* the time of a launch */
    double part;                                     /* factor of the time; 1/K for the base */
    double middle;                                   /* median over the launches; NaN: not known */
};

static double floor_of(const struct record_cell *cell)
{
    return cell->p05_ns;
}

/* The shortest step without communication. DataParallel measures such steps separately, and ranks
 * measure them in the turns. */
static double alone_of(const struct record_cell *cell)
{
    const uint64_t *ns = cell->n_alone > 0 ? cell->alone_ns : cell->round_ns[RECORD_COMPUTE];
    const int n = cell->n_alone > 0 ? cell->n_alone : cell->n_rounds;
    double least = NAN;

    for (int i = 0; i < n; ++i)
        least = fmin(least, (double)ns[i]);
    return least;
}

static double time_of_level(const struct level *level, const struct report_row *row)
{
    return level->part * level->of_launch(row->cell);
}

/* Finds the cell of the mode of the base, on one device, that has as many rows as a shard. */
static const struct report_point *find_shard(const struct report_group *group,
                                             const struct report_point *point)
{
    const struct record_key *key = point->key;
    const size_t devices = (size_t)key->n_devices;
    const size_t rows = (key->global_batch + devices - 1) / devices;

    for (size_t i = 0; i < group->n; ++i) {
        const struct report_point *other = &group->point[i];
        const struct record_key *of = other->key;

        if (other->verified > 0 && of->n_devices == 1 && of->global_batch == rows &&
            strcmp(of->mode, point->base->key->mode) == 0)
            return other;
    }
    return NULL;
}

/* The part of the stack to which a phase belongs: 0 forward, 1 backward, 2 loss and update, 3
 * copies. The last part is waiting. */
static const int stack_of[RECORD_PHASES] = {
    [RECORD_SCATTER] = 3, [RECORD_REPLICATE] = 3, [RECORD_FORWARD] = 0, [RECORD_GATHER] = 3,
    [RECORD_LOSS] = 2,    [RECORD_BACKWARD] = 1,  [RECORD_REDUCE] = 3,  [RECORD_UPDATE] = 2};

/* Adds the mean share of each part of the stack in a step of one launch, over its steps and the
 * replicas with rows. */
static bool add_shares(const struct record_cell *cell, double share[STACK])
{
    const int ranks = cell->n_shards < cell->n_ranks ? cell->n_shards : cell->n_ranks;
    bool any = false;

    for (int p = 0; p < RECORD_PHASES; ++p)
        for (size_t i = 0; cell->phase_ns[p] && cell->n_valid > 0 && i < cell->n_samples; ++i)
            for (int r = 0; r < ranks && (cell->flags[i] & RECORD_WARMUP) == 0; ++r) {
                share[stack_of[p]] += (double)cell->phase_ns[p][(size_t)r * cell->n_samples + i] /
                                      (double)record_phased_ns(cell, i) / ranks /
                                      (double)cell->n_valid;
                any = true;
            }
    return any;
}

/* Chooses the points of a batch: DataParallel, and ranks with their first bucket, each on the most
 * devices that had separate cores, or else the most on shared cores. */
static size_t choose_modes(const struct plot *plot, const struct report_group *group, size_t batch,
                           const struct report_point *points[2])
{
    const struct report_point *point;
    size_t n = 0;

    for (size_t s = 1; s < figure_styles(plot) && n < 2; ++s) {
        const size_t style = figure_nth_style(s);
        size_t devices = figure_most_devices(group, style);

        for (size_t at = 0; devices == 1 && (point = figure_next(group, style, 0, &at)) != NULL;)
            devices = (size_t)point->key->n_devices;
        for (size_t at = 0;
             devices > 1 && (point = figure_next(group, style, devices, &at)) != NULL;)
            if (point->base && point->batch == batch) {
                points[n++] = point;
                break;
            }
    }
    return n;
}

static bool has_shard(const struct report_group *group, const struct report_point *point)
{
    return group->point->weak || find_shard(group, point) != NULL;
}

/* Chooses the smallest batch that has a waterfall, the first one that reaches 90 % of the best
 * throughput, and the largest. If the shards of some batches were measured alone, only these
 * count. */
static size_t choose_batches(const struct plot *plot, const struct report_group *group,
                             size_t chosen[PANELS])
{
    size_t list[PLOT_MAX_TICKS], n = 0, knee = 1;
    const size_t all = figure_batches(group, list, PLOT_MAX_TICKS);
    double rate[PLOT_MAX_TICKS], best = 0;
    const struct report_point *points[2];
    bool any = false;

    for (size_t b = 0; b < all && !any; ++b)
        any = choose_modes(plot, group, list[b], points) > 0 && has_shard(group, points[0]);
    for (size_t b = 0; b < all; ++b)
        if (choose_modes(plot, group, list[b], points) > 0 &&
            (!any || has_shard(group, points[0]))) {
            rate[n] = report_middle(points[0], REPORT_THROUGHPUT);
            list[n++] = list[b];
        }
    if (n <= PANELS) {
        memcpy(chosen, list, n * sizeof list[0]);
        return n;
    }
    for (size_t b = 0; b < n; ++b)
        best = fmax(best, rate[b]);
    while (knee + 2 < n && rate[knee] < 0.9 * best)
        ++knee;
    chosen[0] = list[0];
    chosen[1] = list[knee];
    chosen[2] = list[n - 1];
    return PANELS;
}

/* How sure a term is, see plots/waterfall.gp: told apart from 0 by its interval; about 0; anything
 * from 0 to the end of its interval; above 0, but measured once, or the speed-up is not certain. */
enum { TOLD, ABOUT_0, UP_TO, ABOUT };
enum { RANGED = 1 << 1, UNSURE = 1 << 2 }; /* marks of its caption */
/* A term that is certainly smaller than this share of the step is about 0. */
static const double LITTLE = 0.02;

/* Writes the terms of a point. */
static void write_terms(struct plot_table *table, const struct level level[LEVELS],
                        double scratch[], double *row)
{
    const double step = level[STEP].middle, ideal = level[IDEAL].middle / step;
    int from = IDEAL;

    ++*row;
    PLOT_ROW(table, *row, KIND_IDEAL, 0, ideal, ideal, ideal, 0, level[IDEAL].middle);
    for (int to = SHARD; to < LEVELS; ++to) {
        struct report_pair pair;
        size_t n = 0;

        if (!isfinite(level[to].middle))
            continue;
        /* The difference of the two levels, over the launches that both have. */
        for (size_t at[2] = {0}; report_pair_next(level[to].point, level[from].point, at, &pair);) {
            const double apart =
                time_of_level(&level[to], pair.row) - time_of_level(&level[from], pair.base);

            if (isfinite(apart))
                scratch[n++] = apart;
        }
        const struct report_value value = report_value_of(scratch, n);
        const double at = level[from].middle, end = level[to].middle;
        const bool ranged = value.range != REPORT_NONE;
        const double term = end - at;
        const double least = ranged ? value.lo : term, most = ranged ? value.hi : term;
        const bool above = term > 0 && value.lo > 0, below = term < 0 && value.hi < 0;
        int sure = UP_TO;

        if (most <= LITTLE * step)
            sure = ABOUT_0;
        else if (above || !ranged)
            sure = ABOUT;
        if ((above || below) && !report_doubt_of(level[STEP].point, REPORT_SPEEDUP))
            sure = TOLD;
        table->plot->marks |= (ranged ? RANGED : 0) | (sure != TOLD ? UNSURE : 0);
        ++*row;
        PLOT_ROW(table, *row, 1 << from | 1 << to, at / step, end / step, (at + least) / step,
                 (at + most) / step, sure, sure == UP_TO ? most : term);
        from = to;
    }
}

/* Writes a mode: its terms, and a thin bar with the mean shares over launches, which add up; the
 * rest is waiting. */
static void write_mode(struct plot_table *table, const struct report_group *group,
                       const struct report_point *point, double scratch[], double *row)
{
    const bool weak = group->point->weak;
    /* With weak scaling the base has the rows of one device, so its whole step is the ideal. */
    struct level level[LEVELS] = {
        [IDEAL] = {point->base, floor_of, weak ? 1 : 1 / (double)point->key->n_devices, NAN},
        [SHARD] = {weak ? NULL : find_shard(group, point), floor_of, 1, NAN},
        [ALONE] = {point, alone_of, 1, NAN},
        [STEP] = {point, floor_of, 1, NAN}};
    double share[STACK] = {0}, sum = 0, launches = 0;
    char label[PLOT_TEXT];

    for (int l = 0; l < LEVELS; ++l) {
        size_t n = 0;

        for (size_t i = 0; level[l].point && i < level[l].point->n; ++i) {
            const struct report_row *of = &level[l].point->row[i];

            if (of->verified && isfinite(time_of_level(&level[l], of)))
                scratch[n++] = time_of_level(&level[l], of);
        }
        level[l].middle = stats_median(scratch, n);
    }
    figure_style_words(table->plot, figure_style(point), label);
    report_add(label, ", %d device%s: p5 %s%s", point->key->n_devices,
               text_s((size_t)point->key->n_devices), report_time(level[STEP].middle, WORD),
               report_doubt_of(point, REPORT_SPEEDUP) ? ", not certain" : "");
    if (!plot_table_series(table, figure_style(point), label))
        return;
    write_terms(table, level, scratch, row);
    ++*row;
    for (size_t i = 0; i < point->n; ++i)
        launches += point->row[i].verified && add_shares(point->row[i].cell, share);
    for (int s = 0; s + 1 < STACK; ++s)
        sum += share[s] / launches;
    share[STACK - 1] = launches * fmax(0, 1 - sum);
    sum = 0;
    for (int s = 0; s < STACK && launches > 0; ++s) {
        const double end = sum + share[s] / launches;

        PLOT_ROW(table, *row, KIND_OF_STACK + s, sum, end, end, end, 0, share[s] / launches);
        sum = end;
    }
    *row += 2; /* space for the label of the next one */
}

static void write_waterfall_panel(struct plot_table *table, const struct report_group *group,
                                  size_t batch, double scratch[])
{
    static const char *const lacks[] = {"", "joined: the shard alone was not measured",
                                        "joined: no step without communication",
                                        "joined: nothing in between was measured"};
    const struct report_point *points[2];
    const size_t n = choose_modes(table->plot, group, batch, points);
    const struct report_row *row = group->point->row;
    char title[PLOT_TEXT] = "", note[PLOT_TEXT] = "", axes[PLAN_AXES_TEXT];
    bool shard = true, alone = true; /* whether all modes know these times */
    double at = 0;

    for (size_t i = 0; i < n; ++i) {
        bool known = false;

        for (size_t l = 0; l < points[i]->n && !known; ++l)
            known = points[i]->row[l].verified && isfinite(alone_of(points[i]->row[l].cell));
        shard = shard && has_shard(group, points[i]);
        alone = alone && known;
    }
    /* A panel may cut the end of a long name, and of the setting. */
    plan_axes_words(&row->cell->key, ", ", false, axes);
    report_add(title, "%s %zu%s, %s", group->point->weak ? "batch per device" : "batch", batch,
               axes, row->cell->key.workload);
    if (report_simulated(row))
        report_add(note, "SIMULATED, not measured");
    if (report_oversubscribed(points[0]))
        report_add(note, "%s%s", note[0] != '\0' ? "; " : "", report_crowding(row));
    if (!shard || !alone)
        report_add(note, "%s%s", note[0] != '\0' ? "; " : "", lacks[!shard + 2 * !alone]);
    if (!figure_panel_titled(table, group, title, note))
        return;
    for (size_t i = 0; i < n; ++i)
        write_mode(table, group, points[i], scratch, &at);
}

static void write_waterfall(struct plot_table *table)
{
    const struct report *report = figure_report(table->plot);
    double *scratch = cli_alloc(report->n_rows, sizeof *scratch);

    for (size_t g = 0; g < report->n_groups; ++g) {
        size_t batch[PANELS];
        const size_t n = choose_batches(table->plot, &report->group[g], batch);

        for (size_t b = 0; b < n; ++b)
            write_waterfall_panel(table, &report->group[g], batch[b], scratch);
    }
    free(scratch);
}

const struct figure_row figure_waterfall = {
    .grid = {.least = 350, .height = 196, .room = 14},
    .why = "no workload is verified on several devices with a base case at its batch",
    .columns = "row, what, from, to, low, high as parts of the step, how sure, ns",
    .write_panels = write_waterfall};
