/* report/point_tables.c: tables whose rows are points. Language models have tables of their tokens,
 * and of the memory that they are planned to take. DistributedDataParallel has tables that compare
 * it with DataParallel, and that show how much of the reduction overlaps backward, and which rank
 * is the slowest. The last table shows how memory grows with the batch. */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

/* Adds a row for each point that has one, by group. */
static void fill_rows(struct grid *grid, const struct report *report,
                      bool (*has)(const struct report_point *point),
                      void (*cells)(struct grid *grid, const struct report_point *point))
{
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];

        report_table_group(grid, report, group);
        for (size_t i = 0; i < group->n; ++i)
            if (has(&group->point[i])) {
                grid_row(grid, "");
                cells(grid, &group->point[i]);
            }
    }
}

/* ---- language models ---------------------------------------------------------------------- */

/* The planned memory of a point, and the memory that the device or the machine has. */
struct plan {
    struct workload workload;
    struct workload_use use;
    bool shared;   /* all devices share one memory */
    double memory; /* of the GPU with the least memory, or of the host; NaN: not known */
};

/* Returns false if its rows are not sequences of tokens. A plan follows from the name of the
 * workload, whether it was measured or not. */
static bool plan_of_point(const struct report_point *point, struct plan *plan)
{
    const struct record_run *run = point->row->run;
    const struct record_key *key = point->key;
    char why[200];
    int math = 0;

    while (math < DP_MATHS && strcmp(key->dtype, dp_math_name((enum dp_math)math)) != 0)
        ++math;
    plan->use.way = report_is_ddp(point)                               ? WORKLOAD_RANKS
                    : report_is_plain(point) || report_is_cores(point) ? WORKLOAD_ALONE
                                                                       : WORKLOAD_REPLICAS;
    plan->use.devices = (size_t)key->n_devices;
    plan->use.math = math < DP_MATHS ? (enum dp_math)math : DP_MATH_F32;
    plan->shared = report_works_on_cores(point->row);
    plan->memory = plan->shared ? (double)run->mem_bytes : (double)NAN;
    for (int i = 0; i < run->node.n_gpus && !plan->shared; ++i)
        plan->memory = fmin(plan->memory, run->node.gpu[i].memory_bytes);
    return key->n_devices > 0 &&
           workload_parse(key->workload, &plan->workload, why, sizeof why) == 0 &&
           workload_tokens(&plan->workload) > 0;
}

static bool is_of_tokens(const struct report_point *point)
{
    struct plan plan;

    return plan_of_point(point, &plan);
}

static bool has_tokens(const struct report_point *point)
{
    return point->verified > 0 && point->row->cell->tokens_per_row > 0;
}

static bool has_plan(const struct report_point *point)
{
    return point->verified > 0 && is_of_tokens(point);
}

static void cells_of_place(struct grid *grid, const struct report_point *point)
{
    report_cell_mode(grid, point);
    grid_cell(grid, "number", "%zu", point->key->global_batch);
}

static const char tokens_note[] =
    "FLOP per token: 6 N + 6 L D (C + 1) for L layers of width D and a context of C. N counts the "
    "weights that a token is multiplied by: those of the layers, and the table once, as the "
    "output; not positions, norms and biases. Attention is counted with its causal half: token t "
    "sees t tokens. Product rate: the most that a device of this workload reached here while it "
    "was in matrix products. It counts the whole square of attention, 6 N + 12 L D C, as is "
    "usual, and so do the operations of a device elsewhere. Fast kernels leave out the half that "
    "the mask hides, so these two can be more than what was computed.";

static void cells_of_tokens(struct grid *grid, const struct report_point *point)
{
    const struct record_cell *cell = point->row->cell;
    const double tokens = report_middle(point, REPORT_TOKENS), share = report_tokens_share(point);
    const bool simulated = report_simulated(point->row);

    cells_of_place(grid, point);
    grid_cell(grid, "number", "%.0f",
              (double)cell->key.global_batch * (double)cell->tokens_per_row);
    report_cell_metric(grid, point, REPORT_TOKENS);
    report_cell_number(grid, tokens / (double)cell->key.n_devices, report_rate);
    report_cell_number(grid, cell->flops_per_token, report_rate);
    report_cell_number(grid, report_tokens_work(point), report_flops);
    if (isfinite(share))
        grid_cell(grid, "number", "%s%s", report_share(share, WORD),
                  point->product_rate.in_parts ? "\u00a0(parts)" : "");
    else
        grid_cell(grid, "number", "%s", simulated ? "simulated" : "no rate");
    if (point->stated_peak > 0.0)
        grid_cell(grid, "number", "%s",
                  isfinite(report_peak_share(point)) ? report_share(report_peak_share(point), WORD)
                                                     : "simulated");
}

void report_fill_tokens(struct grid *grid, const struct report *report)
{
    char rates[REPORT_CELL_TEXT];

    grid_headings(grid, "number",
                  "Devices|Batch, rows|Tokens of it|Tokens/s|Of a device|FLOP per token|"
                  "FLOP/s of a device|Of the product rate");
    if (report->peak > 0.0)
        grid_headings(grid, "number", "Of the peak");
    fill_rows(grid, report, has_tokens, cells_of_tokens);
    report_rates_note(report, rates);
    snprintf(grid->note, sizeof grid->note, "%s%s", tokens_note, rates);
}

static void cells_of_plan(struct grid *grid, const struct report_point *point)
{
    struct plan plan;
    const bool planned = plan_of_point(point, &plan), known = planned && plan.memory > 0.0;

    cells_of_place(grid, point);
    report_cell_metric(grid, point, REPORT_PEAK);
    report_cell_number(
        grid, workload_memory(&plan.workload, &plan.use, false, point->key->global_batch).most,
        report_bytes);
    report_cell_number(grid, known ? plan.memory : (double)NAN, report_bytes);
    grid_cell(grid, "number", known ? "%zu" : "-",
              known ? workload_fits(&plan.workload, &plan.use, plan.shared, plan.memory) : 0);
}

void report_fill_held(struct grid *grid, const struct report *report)
{
    grid_headings(grid, "number",
                  "Devices|Batch, rows|Measured|Planned|There is|Largest batch, estimate");
    fill_rows(grid, report, has_plan, cells_of_plan);
    snprintf(grid->note, sizeof grid->note, "%s",
             "Measured: the most that tensors held at one time on the device that held most. "
             "Planned: weights, gradients, AdamW's two states, on DataParallel's first device "
             "and the first rank gradients once more, and what a step keeps of the rows of its "
             "shard, forward and backward, on DataParallel's first device with the outputs of "
             "the whole batch. It is an upper end: at least half of it is held. The largest "
             "batch is an estimate that follows from the plan, and was not run. Virtual devices "
             "share the memory of the machine. What libraries and the system take is in none "
             "of these numbers.");
}

/* ---- rates of devices --------------------------------------------------------------------- */

static const struct report_row *first_of_tokens(const struct report *report)
{
    for (size_t i = 0; i < report->n_points; ++i)
        if (is_of_tokens(&report->point[i]))
            return report->point[i].row;
    return NULL;
}

bool report_peak_fits(const struct report *report, char why[REPORT_CELL_TEXT])
{
    const struct report_row *first = first_of_tokens(report);

    why[0] = '\0';
    if (!first)
        report_add(why, "it is for the tokens of language models, and no cell is of one");
    for (size_t i = 0; i < report->n_points && why[0] == '\0'; ++i) {
        const struct report_row *row = report->point[i].row;

        if (!is_of_tokens(&report->point[i]))
            continue;
        if (!report_device_model(row->run))
            report_add(why, "it is that of one model of device, and %s are several",
                       row->run->devices);
        else if (!report_same_devices(first, row))
            report_add(why,
                       "it is that of one device in one math, and the cells of language models "
                       "are in %s on %s and in %s on %s: name fewer files",
                       first->cell->key.dtype, report_device_model(first->run),
                       row->cell->key.dtype, report_device_model(row->run));
    }
    return why[0] == '\0';
}

void report_peak_caution(const struct report *report, char text[REPORT_CELL_TEXT])
{
    /* The point whose devices need the most operations per second. */
    const struct report_point *fastest = NULL;
    char peak[QUANTITY_TEXT];

    text[0] = '\0';
    for (size_t i = 0; report->peak > 0.0 && i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (has_tokens(point) && isfinite(report_peak_share(point)) &&
            (!fastest || report_peak_share(point) > report_peak_share(fastest)))
            fastest = point;
    }
    if (!fastest)
        return;
    const struct record_key *key = fastest->key;
    const double in_steps = report_peak_share(fastest) * report->peak;
    const double in_parts = report_rate_in_parts(report, fastest->row);
    const double most = fmax(in_steps, in_parts);

    if (!(most > report->peak))
        return;
    report_add(text, "The stated peak of %s is too low: a device reached %s in ",
               quantity_words(report->peak, QUANTITY_WORK, peak), report_flops(most, WORD));
    if (in_parts > in_steps)
        report_add(text, "the matrix products of --parts");
    else
        report_add(text, "%s, %s, %s, %zu row%s", key->workload, key->mode, key->devices,
                   key->global_batch, text_s(key->global_batch));
    report_add(text,
               ". So the shares of it are too high. Look at its unit, and whether it is of the "
               "whole device and in %s.",
               key->dtype);
}

void report_rates_note(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_row *first = first_of_tokens(report);
    bool in_parts = false, unknown = false;
    char peak[QUANTITY_TEXT];

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool known = isfinite(point->product_rate.most);

        if (!has_tokens(point))
            continue;
        in_parts = in_parts || (known && point->product_rate.in_parts);
        unknown = unknown || (!known && !report_simulated(point->row));
    }
    text[0] = '\0';
    if (in_parts)
        report_add(text, " (parts): the time in matrix products is not known there, so the rate "
                         "is the most that such a device reached in the products of a sweep with "
                         "--parts, in the same math.");
    if (unknown)
        report_add(text, " No rate: what such a device can do in matrix products was not "
                         "measured; a sweep with --parts measures it.");
    if (first && report->peak > 0.0)
        report_add(text,
                   " Peak: %s, which --peak states of one device (%.64s) in %s. It was not "
                   "measured.",
                   quantity_words(report->peak, QUANTITY_WORK, peak),
                   report_device_model(first->run), first->cell->key.dtype);
    else if (unknown)
        report_add(text, " A report with --peak has the share of a peak that you state.");
}

/* ---- DistributedDataParallel -------------------------------------------------------------- */

static const char places_of_ranks[] = "Devices|Batch, rows|Bucket, bytes";

static void cells_of_ranks(struct grid *grid, const struct report_point *point)
{
    const struct record_key *key = point->key;

    grid_cell(grid, "number", "%d%s", key->n_devices,
              report_oversubscribed(point) ? " (oversubscribed)" : "");
    grid_cell(grid, "number", "%zu", key->global_batch);
    grid_cell(grid, "number", "%s", report_bucket_words(key->bucket_bytes, WORD));
}

static bool has_peer(const struct report_point *point)
{
    return report_is_ddp(point) && point->verified > 0 && point->peer;
}

static void cells_of_peer(struct grid *grid, const struct report_point *point)
{
    cells_of_ranks(grid, point);
    report_cell_metric(grid, point->peer, REPORT_STEP);
    report_cell_metric(grid, point, REPORT_STEP);
    report_cell_metric(grid, point, REPORT_BESIDE);
    report_cell_range(grid, &point->value[REPORT_BESIDE], report_ratio);
    report_cell_metric(grid, point->peer, REPORT_MOVED);
    report_cell_metric(grid, point, REPORT_MOVED);
    report_cell_metric(grid, point->peer, REPORT_PEAK);
    report_cell_metric(grid, point, REPORT_PEAK);
}

void report_fill_ranks(struct grid *grid, const struct report *report)
{
    grid_headings(grid, "number", places_of_ranks);
    grid_headings(grid, "number",
                  "Step, DP|Step, DDP|DDP / DP, by launch|[interval] or range|Moved, DP|"
                  "Moved, DDP|Peak, DP|Peak, DDP");
    fill_rows(grid, report, has_peer, cells_of_peer);
    snprintf(grid->note, sizeof grid->note, "%s",
             "DP: DataParallel; DDP: DistributedDataParallel; on the same devices with the "
             "same batch. DDP / DP: of the steps of the same launch, then the median. Moved: "
             "bytes that crossed devices in a step. Peak: the most memory "
             "that one device held at a time: parameters, gradients, batches and what a step "
             "keeps, not what libraries take for themselves.");
}

bool report_has_overlap(const struct report_point *point)
{
    return report_is_ddp(point) && point->verified > 0 && point->key->n_devices > 1 &&
           isfinite(report_middle(point, REPORT_WHOLE));
}

static void cells_of_overlap(struct grid *grid, const struct report_point *point)
{
    cells_of_ranks(grid, point);
    report_cell_metric(grid, point, REPORT_COMPUTE);
    report_cell_metric(grid, point, REPORT_COMM);
    report_cell_metric(grid, point, REPORT_WHOLE);
    report_cell_metric(grid, point, REPORT_HIDDEN);
    /* The interval of a share that is not resolved may be thousands of percent wide. */
    report_cell_range(grid,
                      report_doubt_of(point, REPORT_HIDDEN) ? &report_unknown
                                                            : &point->value[REPORT_HIDDEN],
                      report_percent);
}

void report_fill_overlap(struct grid *grid, const struct report *report)
{
    grid_headings(grid, "number", places_of_ranks);
    grid_headings(grid, "number",
                  "Step without reduction|Reduction alone|Whole step|Hidden|[interval] or range");
    fill_rows(grid, report, report_has_overlap, cells_of_overlap);
    snprintf(grid->note, sizeof grid->note, "%s",
             "Of DistributedDataParallel, in turns: a step without its reduction, the "
             "reduction alone, and the whole step. Hidden is (step without + reduction - "
             "whole) / reduction of a launch, then the median; noise puts it below 0 and above "
             "100 %, too. It is resolved where its interval over the launches is narrower than "
             "50 points. Noise of the step: half the interval of (step without + reduction - "
             "whole). There is no number where the clock cannot tell the reduction from "
             "nothing. On virtual devices the reduction is work of the same cores, and none of "
             "them is idle: what is hidden there is reported, not judged.");
}

static bool has_slowest(const struct report_point *point)
{
    return report_is_ddp(point) && point->verified > 0 && point->slowest.rank >= 0 &&
           point->slowest.launches > 0;
}

/* The number of the host of a rank, from 1; 0: it is not known. */
static int host_of_rank(const char *ranks_of_hosts, int rank)
{
    int host = 0;

    while (*ranks_of_hosts != '\0') {
        char *end;
        const long ranks = strtol(ranks_of_hosts, &end, 10);

        if (end == ranks_of_hosts || ranks < 1)
            return 0;
        ++host;
        if (rank < ranks)
            return host;
        rank -= (int)ranks;
        ranks_of_hosts = *end == ',' ? end + 1 : end;
    }
    return 0;
}

static void cells_of_slowest(struct grid *grid, const struct report_point *point)
{
    const struct report_slowest *slowest = &point->slowest;
    const struct record_cell *cell = point->row->cell;
    const int host = host_of_rank(cell->host_ranks, slowest->rank);

    cells_of_ranks(grid, point);
    grid_cell(grid, "number", "%d", slowest->rank);
    grid_cell(grid, "number", host > 0 ? "%d of %d" : "-", host, cell->hosts);
    grid_cell(grid, "number", isfinite(slowest->more) ? "%+.1f %%" : "-", 100 * slowest->more);
    report_cell_number(grid, slowest->steps, report_share);
    grid_cell(grid, "number", "%zu of %zu", slowest->lost, slowest->launches);
    grid_cell(grid, "number", isfinite(slowest->p) ? "p %.2g" : "-", slowest->p);
}

void report_fill_slowest(struct grid *grid, const struct report *report)
{
    grid_headings(grid, "number", places_of_ranks);
    grid_headings(grid, "number",
                  "Rank|Host|Own work, above the others'|In steps|In launches|By chance");
    fill_rows(grid, report, has_slowest, cells_of_slowest);
    snprintf(grid->note, sizeof grid->note, "%s",
             "In DistributedDataParallel all ranks wait for the slowest one. A rank's own work "
             "is its forward, loss and backward. Only ranks with as many rows as the largest "
             "shard are compared. In launches: how many had this rank as the slowest in most "
             "of their steps. In steps: its share of the steps of these launches. By chance: "
             "how likely it is that some rank is the slowest in so many launches, if all are "
             "alike (binomial). Steps of one launch resemble each other, so they are no "
             "evidence. Hosts are numbered by their first ranks.");
}

/* ---- how memory grows --------------------------------------------------------------------- */

/* The bytes of tensors on all devices together; NaN: not known. */
static double held_by_all(const struct report_point *point)
{
    const struct record_cell *cell = point->middle ? point->middle->cell : NULL;
    double held = 0.0;

    if (!cell || cell->n_peaks == 0)
        return NAN;
    for (int i = 0; i < cell->n_peaks; ++i)
        held += (double)cell->peak_bytes[i];
    return held;
}

/* Adds a row for each line of points, which are ordered by batch. Only cells on the host are shown:
 * what else fills the memory of a GPU is not known. */
void report_fill_memory(struct grid *grid, const struct report *report)
{
    grid_headings(grid, "text", "Devices");
    grid_headings(grid, "number",
                  "Largest batch, rows|Peak memory of a device|Of all devices|For a row more|"
                  "Main memory of the machine|Rows that would fill it");
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];

        report_table_group(grid, report, group);
        for (size_t at = 0; at < group->n;) {
            const struct report_point *first = &group->point[at], *large = NULL, *small = NULL;

            for (; at < group->n && report_same_line(first, &group->point[at]); ++at)
                if (isfinite(held_by_all(&group->point[at]))) {
                    small = large;
                    large = &group->point[at];
                }
            if (!small || !report_works_on_cores(first->row) || first->row->run->mem_bytes == 0)
                continue;
            /* The line through the two largest batches is extended to the memory of the machine. */
            const double rows = (double)large->key->global_batch;
            const double machine = (double)large->row->run->mem_bytes, held = held_by_all(large);
            const double per_row =
                (held - held_by_all(small)) / (rows - (double)small->key->global_batch);

            grid_row(grid, "");
            grid_cell(grid, "text", "%s%s", report_is_plain(large) ? "plain program, " : "",
                      report_devices_words(large, PHRASE));
            grid_cell(grid, "number", "%.0f", rows);
            report_cell_metric(grid, large, REPORT_PEAK);
            report_cell_number(grid, held, report_bytes);
            report_cell_number(grid, per_row, report_bytes);
            report_cell_number(grid, machine, report_bytes);
            report_cell_number(
                grid, per_row > 0.0 ? rows + (machine - held) / per_row : (double)NAN, report_rate);
        }
    }
    snprintf(grid->note, sizeof grid->note, "%s",
             "The most that tensors held at one time, at the largest batch, and how much more "
             "it is for each row since the batch before. The last column draws this line on to "
             "the main memory of the machine, which all virtual devices share: no such batch "
             "was run, and what libraries and the system take is not in it.");
}
