/* report/answers.c: the table with the answers of the page. It has a row per workload and mode,
 * with its best step, how good that is, and what costs most.
 *
 * The best point has the largest speed-up. Points on several devices, with separate cores or GPUs,
 * and with an interval that tells anything, are preferred. */
#include "report/page.h"
#include "report/peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const struct report_group *group;
    const struct report_point *point;
};

/* The rank of a point, which is compared before the speed-up: it has several devices, these are not
 * shared, and its interval is resolved. */
static int worth_of(const struct report_point *point)
{
    const bool resolved = report_resolved(&point->value[REPORT_EFFICIENCY], point->bound);

    return 4 * (point->row->cell->key.n_devices > 1) + 2 * !report_oversubscribed(point) + resolved;
}

/* Puts the points closest to their bound first. */
static int compare_answers(const void *left, const void *right)
{
    const struct report_point *a = ((const struct answer *)left)->point;
    const struct report_point *b = ((const struct answer *)right)->point;
    const double x = report_of_bound(a), y = report_of_bound(b);

    return x < y ? 1 : x > y ? -1 : (a > b) - (a < b);
}

/* ---- cells -------------------------------------------------------------------------------- */

/* Adds the ratio of the step to that of PyTorch's fastest program: of the cell of the comparison
 * with that workload that has both programs on as many devices, preferably with the same batch. */
static void cell_of_peer(struct grid *grid, const struct report *report,
                         const struct report_point *point)
{
    const struct record_key *key = &point->row->cell->key;
    const enum peer_kind kind = report_is_ddp(point) ? PEER_LOCKSTEP_DDP : PEER_LOCKSTEP_DP;
    const struct peer_cell *found = NULL;
    char text[REPORT_CELL_TEXT] = "";

    for (size_t c = 0; c < report->peer->n_cells && !report_is_cores(point); ++c) {
        const struct peer_cell *cell = &report->peer->cell[c];

        if (strcmp(cell->workload, key->workload) == 0 && peer_find(cell, kind, key->n_devices) &&
            peer_choice(cell, PEER_PARALLEL, key->n_devices) > 0 &&
            (!found || cell->batch == key->global_batch ||
             (found->batch != key->global_batch && cell->batch > found->batch)))
            found = cell;
    }
    if (!found) {
        grid_cell(grid, "number peer", "-");
        return;
    }
    const struct report_value ratio = peer_ratio(peer_find(found, kind, key->n_devices),
                                                 peer_fastest(found, PEER_ANY, key->n_devices));

    report_add(text, "%s ", report_ratio(ratio.middle, WORD));
    report_add_range(text, &ratio, report_ratio);
    if (found->batch != key->global_batch)
        report_add(text, ", %zu\u00a0rows", found->batch);
    grid_cell(grid, "number peer", "%s", text);
}

static void cell_of_loss(struct grid *grid, const struct report_point *point)
{
    static const char *const losses[REPORT_LOSSES] = {
        [REPORT_LOSS_COMPUTE] = "computing",
        [REPORT_LOSS_MOVES] = "moving data",
        [REPORT_LOSS_ALONE] = "loss, update",
        [REPORT_LOSS_BETWEEN] = "waiting",
    };
    struct report_limit limit;
    const bool known = report_limit_of(point, &limit);
    const enum report_loss most = report_largest_loss(&limit);
    const double lost = report_loss_of(&limit, most);

    if (!(limit.of_bound < REPORT_AT_BOUND))
        grid_cell(grid, "text loss", "none: at its bound");
    else if (!known)
        grid_cell(grid, "text loss", "not told apart");
    else if (lost <= limit.missing)
        grid_cell(grid, "text loss", "%s: %.0f of %.0f points", losses[most], 100.0 * lost,
                  100.0 * limit.missing);
    else
        grid_cell(grid, "text loss", "%s: all %.0f points", losses[most], 100.0 * limit.missing);
}

static void add_answer(struct grid *grid, const struct report *report, const struct answer *answer)
{
    const struct report_point *point = answer->point;
    const struct record_key *key = &point->row->cell->key;
    char text[REPORT_CELL_TEXT], bucket[32];
    size_t settings = 0; /* of its workload */

    for (size_t g = 0; g < report->n_groups; ++g)
        settings += strcmp(report->point[report->group[g].first].row->cell->key.workload,
                           key->workload) == 0;
    report_group_words(report, answer->group, text);
    report_bucket_name(key->bucket_bytes, bucket);
    grid_row(grid, "");
    grid_cell(grid, "text name", "%s", settings > 1 ? text : key->workload);
    grid_cell(grid, "text mode", "%s%s%s",
              report_is_ddp(point)     ? "DDP"
              : report_is_cores(point) ? "plain, on cores"
                                       : "DataParallel",
              point->bucket > 0 ? ", buckets " : "", point->bucket > 0 ? bucket : "");
    report_cell_metric(grid, point->base, REPORT_STEP);
    report_cell_metric(grid, point, REPORT_STEP);
    grid_cell(grid, "text where", "%d\u00a0%s%s, %zu\u00a0rows%s%s", key->n_devices,
              report_is_cores(point) ? "core" : "device", key->n_devices == 1 ? "" : "s",
              key->global_batch, report_oversubscribed(point) ? ", oversubscribed" : "",
              report_simulated(point->row) ? ", SIMULATED" : "");
    text[0] = '\0';
    report_add_speedup(text, point);
    grid_cell(grid, "number speedup", "%s", text);
    report_cell_number(grid, report_of_bound(point), report_share);
    report_cell_metric(grid, point, REPORT_FLOPS);
    text[0] = '\0';
    report_add_rate_share(text, point, report_middle(point, REPORT_FLOPS));
    grid_cell(grid, "number", "%s", text);
    if (report->peer)
        cell_of_peer(grid, report, point);
    cell_of_loss(grid, point);
}

/* ---- table -------------------------------------------------------------------------------- */

static const char answers_note[] =
    "A row per workload and mode: its largest speed-up against the base, of cells with "
    "separate cores or GPUs whose interval tells anything, if there are such; the nearest to the "
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
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];
        const size_t first = n;

        /* The best point of each mode of the group. */
        for (size_t i = group->first; i < group->first + group->n + group->n_cores; ++i) {
            const struct report_point *point = &report->point[i];
            size_t at = first;

            if (report_is_plain(point) || !isfinite(report_of_bound(point)))
                continue;
            while (at < n && (!report_is_mode(list[at].point, point->row->cell->key.mode) ||
                              list[at].point->bucket != point->bucket))
                ++at;
            const struct report_point *best = at < n ? list[at].point : NULL;

            if (!best || worth_of(point) > worth_of(best) ||
                (worth_of(point) == worth_of(best) &&
                 report_metric_better(REPORT_SPEEDUP, report_middle(point, REPORT_SPEEDUP),
                                      report_middle(best, REPORT_SPEEDUP))))
                list[at] = (struct answer){group, point};
            n += at == n;
        }
    }
    qsort(list, n, sizeof *list, compare_answers);
    grid_open(&grid, out, "answers", "Answers");
    grid.fold = GRID_PLAIN;
    grid_headings(&grid, "text name", "Workload");
    grid_headings(&grid, "text mode", "Mode");
    grid_headings(&grid, "number", "Base step|Best step");
    grid_headings(&grid, "text where", "Of");
    grid_headings(&grid, "number speedup", "Speed-up");
    grid_headings(&grid, "number", "Of the bound|Per device|Of the product rate");
    if (report->peer)
        grid_headings(&grid, "number peer", "Step over PyTorch's");
    grid_headings(&grid, "text loss", "Largest loss");
    for (size_t i = 0; i < n; ++i)
        add_answer(&grid, report, &list[i]);
    snprintf(grid.note, sizeof grid.note, "%s", answers_note);

    const int status = n > 0 ? grid_html(&grid) : 0;

    grid_close(&grid);
    free(list);
    return status;
}
