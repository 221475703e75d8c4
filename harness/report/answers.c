/* report/answers.c: the table that the page answers with: a row per workload and mode, its best
 * step, how good that is, and what it loses most by.
 *
 * Best is the largest speed-up, of cells with cores or GPUs of their own whose interval tells
 * anything, if there are such. */
#include "export/grid.h"
#include "report/page.h"
#include "report/peer_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const struct report_group *group;
    const struct report_point *point;
    double of_bound;
};

static double of_bound(const struct report_point *point)
{
    return report_middle(point, REPORT_EFFICIENCY) / point->bound;
}

/* What a point is worth: several devices, of their own, and resolved. */
static int worth(const struct report_point *point)
{
    const bool resolved = report_resolved(&point->value[REPORT_EFFICIENCY], point->bound);

    return 4 * (point->row->cell->key.n_devices > 1) + 2 * !report_oversubscribed(point) + resolved;
}

static bool is_better(const struct report_point *a, const struct report_point *b)
{
    return worth(a) != worth(b)
               ? worth(a) > worth(b)
               : report_metric_better(REPORT_SPEEDUP, report_middle(a, REPORT_SPEEDUP),
                                      report_middle(b, REPORT_SPEEDUP));
}

static bool same_row(const struct report_point *a, const struct report_point *b)
{
    return strcmp(a->row->cell->key.mode, b->row->cell->key.mode) == 0 && a->bucket == b->bucket;
}

/* The best of each mode of a group; their number. */
static size_t find_best(const struct report *report, const struct report_group *group,
                        struct answer list[])
{
    size_t n = 0;

    for (size_t i = group->first; i < group->first + group->n + group->n_cores; ++i) {
        const struct report_point *point = &report->point[i];
        size_t at = 0;

        if (report_is_plain(point) || !isfinite(of_bound(point)))
            continue;
        while (at < n && !same_row(list[at].point, point))
            ++at;
        if (at < n && !is_better(point, list[at].point))
            continue;
        list[at] = (struct answer){group, point, of_bound(point)};
        n += at == n;
    }
    return n;
}

/* The best first. */
static int compare_answers(const void *left, const void *right)
{
    const struct answer *a = left, *b = right;
    const int order = (a->of_bound < b->of_bound) - (a->of_bound > b->of_bound);

    return order != 0 ? order : (a->point > b->point) - (a->point < b->point);
}

/* ---- cells -------------------------------------------------------------------------------- */

static void workload_words(const struct report *report, const struct answer *answer,
                           char text[REPORT_CELL_TEXT])
{
    const char *name = answer->point->row->cell->key.workload;
    size_t settings = 0;

    for (size_t g = 0; g < report->n_groups; ++g)
        settings +=
            strcmp(report->point[report->group[g].first].row->cell->key.workload, name) == 0;
    if (settings > 1)
        report_group_words(report, answer->group, text);
    else
        report_add(text, "%s", name);
}

static void mode_words(const struct report *report, const struct answer *answer,
                       char text[REPORT_CELL_TEXT])
{
    const struct report_point *point = answer->point;
    char bucket[32];

    (void)report;
    report_bucket_name(point->row->cell->key.bucket_bytes, bucket);
    report_add(text, "%s",
               report_is_ddp(point)     ? "DDP"
               : report_is_cores(point) ? "plain, on cores"
                                        : "DataParallel");
    if (point->bucket > 0)
        report_add(text, ", buckets %s", bucket);
}

static void base_words(const struct report *report, const struct answer *answer,
                       char text[REPORT_CELL_TEXT])
{
    (void)report;
    report_add_metric(text, answer->point->base, REPORT_STEP);
}

static void step_words(const struct report *report, const struct answer *answer,
                       char text[REPORT_CELL_TEXT])
{
    (void)report;
    report_add_metric(text, answer->point, REPORT_STEP);
}

static void where_words(const struct report *report, const struct answer *answer,
                        char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = &answer->point->row->cell->key;

    (void)report;
    report_add(text, "%d\u00a0%s%s, %zu\u00a0rows%s%s", key->n_devices,
               report_is_cores(answer->point) ? "core" : "device", key->n_devices == 1 ? "" : "s",
               key->global_batch, report_oversubscribed(answer->point) ? ", oversubscribed" : "",
               report_simulated(answer->point->row) ? ", SIMULATED" : "");
}

static void speedup_words(const struct report *report, const struct answer *answer,
                          char text[REPORT_CELL_TEXT])
{
    (void)report;
    report_add_speedup(text, answer->point);
}

static void bound_words(const struct report *report, const struct answer *answer,
                        char text[REPORT_CELL_TEXT])
{
    (void)report;
    report_add_share(text, answer->of_bound);
}

static void flops_words(const struct report *report, const struct answer *answer,
                        char text[REPORT_CELL_TEXT])
{
    (void)report;
    report_add_metric(text, answer->point, REPORT_FLOPS);
}

static void rate_words(const struct report *report, const struct answer *answer,
                       char text[REPORT_CELL_TEXT])
{
    (void)report;
    report_add_rate_share(text, answer->point, report_middle(answer->point, REPORT_FLOPS));
}

/* The comparison's cell of that workload that has both programs on as many devices, with the same
 * batch if there is one; NULL: none. */
static const struct peer_cell *find_peer(const struct report *report,
                                         const struct report_point *point, enum peer_kind kind)
{
    const struct record_key *key = &point->row->cell->key;
    const struct peer_cell *found = NULL;

    for (size_t c = 0; report->peer && c < report->peer->n_cells; ++c) {
        const struct peer_cell *cell = &report->peer->cell[c];

        if (strcmp(cell->workload, key->workload) == 0 && peer_find(cell, kind, key->n_devices) &&
            peer_choice(cell, PEER_PARALLEL, key->n_devices) > 0 &&
            (!found || cell->batch == key->global_batch ||
             (found->batch != key->global_batch && cell->batch > found->batch)))
            found = cell;
    }
    return found;
}

static void peer_words(const struct report *report, const struct answer *answer,
                       char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = &answer->point->row->cell->key;
    const enum peer_kind kind = report_is_ddp(answer->point) ? PEER_LOCKSTEP_DDP : PEER_LOCKSTEP_DP;
    const struct peer_cell *cell =
        report_is_cores(answer->point) ? NULL : find_peer(report, answer->point, kind);

    if (!cell) {
        report_add(text, "-");
        return;
    }
    const struct report_value ratio = peer_ratio(peer_find(cell, kind, key->n_devices),
                                                 peer_fastest(cell, PEER_ANY, key->n_devices));

    report_add_ratio(text, ratio.middle);
    report_add(text, " ");
    report_add_range(text, &ratio, report_ratio);
    if (cell->batch != key->global_batch)
        report_add(text, ", %zu\u00a0rows", cell->batch);
}

/* Nearer to its bound than this, a point has nothing to explain. */
static const double AT_BOUND = 0.98;

static void loss_words(const struct report *report, const struct answer *answer,
                       char text[REPORT_CELL_TEXT])
{
    static const char *const losses[REPORT_LOSSES] = {
        [REPORT_LOSS_COMPUTE] = "computing",
        [REPORT_LOSS_MOVES] = "moving data",
        [REPORT_LOSS_ALONE] = "loss, update",
        [REPORT_LOSS_BETWEEN] = "waiting",
    };
    struct report_limit limit;
    enum report_loss most = REPORT_LOSS_COMPUTE;

    (void)report;
    const bool known = report_limit_of(answer->point, &limit);

    if (!(limit.of_bound < AT_BOUND)) {
        report_add(text, "none: at its bound");
        return;
    }
    for (enum report_loss l = REPORT_LOSS_MOVES; known && l < REPORT_LOSSES; ++l)
        if (report_loss_of(&limit, l) > report_loss_of(&limit, most))
            most = l;
    if (!known)
        report_add(text, "not told apart");
    else if (report_loss_of(&limit, most) <= limit.missing)
        report_add(text, "%s: %.0f of %.0f points", losses[most],
                   100.0 * report_loss_of(&limit, most), 100.0 * limit.missing);
    else
        report_add(text, "%s: all %.0f points", losses[most], 100.0 * limit.missing);
}

/* ---- table -------------------------------------------------------------------------------- */

static const struct column {
    const char *name, *class;
    void (*words)(const struct report *report, const struct answer *answer,
                  char text[REPORT_CELL_TEXT]);
} columns[] = {
    {"Workload", "text name", workload_words},
    {"Mode", "text mode", mode_words},
    {"Base step", "number", base_words},
    {"Best step", "number", step_words},
    {"Of", "text where", where_words},
    {"Speed-up", "number speedup", speedup_words},
    {"Of the bound", "number", bound_words},
    {"Per device", "number", flops_words},
    {"Of the product rate", "number", rate_words},
    {"Step over PyTorch's", "number peer", peer_words},
    {"Largest loss", "text loss", loss_words},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* PyTorch's only where there is a comparison. */
static bool is_shown(const struct report *report, const struct column *column)
{
    return column->words != peer_words || report->peer != NULL;
}

static void row(struct grid *grid, const struct report *report, const struct answer *answer)
{
    grid_row(grid, "");
    for (int c = 0; c < COLUMNS; ++c) {
        char text[REPORT_CELL_TEXT] = "";

        if (!is_shown(report, &columns[c]))
            continue;
        columns[c].words(report, answer, text);
        grid_cell(grid, columns[c].class, "%s", text);
    }
}

static const char note[] =
    "A row per workload and mode: its largest speed-up against the base, of cells with cores "
    "or GPUs of their own whose interval tells anything, if there are such; the nearest to the "
    "bound first. Per device: operations of matrix products, of attention those of its whole "
    "square. Product rate: the most that a device of this workload reached here while it was "
    "in matrix products; (parts): where that time is not known, as on GPUs, the most that "
    "such a device reached in the products of a sweep with --parts, in the same math.";

int report_answers(struct text_out *out, const struct report *report)
{
    struct answer *list = calloc(report->n_points + 1, sizeof *list);
    struct grid grid;
    size_t n = 0;

    if (!list)
        return -1;
    for (size_t g = 0; g < report->n_groups; ++g)
        n += find_best(report, &report->group[g], list + n);
    qsort(list, n, sizeof *list, compare_answers);
    grid_open(&grid, out, "answers", "Answers");
    grid.fold = GRID_PLAIN;
    for (int c = 0; c < COLUMNS; ++c)
        if (is_shown(report, &columns[c]))
            grid_heading(&grid, columns[c].class, columns[c].name);
    for (size_t i = 0; i < n; ++i)
        row(&grid, report, &list[i]);
    snprintf(grid.note, sizeof grid.note, "%s", note);

    const int status = n > 0 ? grid_html(&grid) : 0;

    grid_close(&grid);
    free(list);
    return status;
}
