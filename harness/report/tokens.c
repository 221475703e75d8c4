/* report/tokens.c: what is said of language models: their tokens, what one takes, how much of what
 * devices can do that is; and the memory that they are planned to take.
 *
 * A plan follows from the name of the workload, whatever was measured. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "plan/cell.h"
#include "workload.h"

/* ---- memory ------------------------------------------------------------------------------- */

/* What has so much memory, and what is planned for it. */
struct plan {
    struct workload workload;
    struct workload_use use;
    bool shared; /* one memory for all devices */
    double memory;
};

/* Of the GPU that has least; NaN: not known. */
static double gpu_memory(const struct record_run *run)
{
    double least = NAN;

    for (int i = 0; i < run->node.n_gpus; ++i)
        least = fmin(least, run->node.gpu[i].memory_bytes);
    return least;
}

static enum dp_math math_of(const struct record_key *key)
{
    int math = 0;

    while (math < DP_MATHS && strcmp(key->dtype, dp_math_name((enum dp_math)math)) != 0)
        ++math;
    return math < DP_MATHS ? (enum dp_math)math : DP_MATH_F32;
}

/* False: its rows are no sequences of tokens. */
static bool plan_of(const struct report_point *point, struct plan *plan)
{
    const struct record_run *run = point->row->run;
    const struct record_key *key = &point->row->cell->key;
    char why[200];

    plan->use.way = report_is_ddp(point)                               ? WORKLOAD_RANKS
                    : report_is_plain(point) || report_is_cores(point) ? WORKLOAD_ALONE
                                                                       : WORKLOAD_REPLICAS;
    plan->use.devices = (size_t)key->n_devices;
    plan->use.math = math_of(key);
    plan->shared = report_works_on_cores(point->row);
    plan->memory = plan->shared ? (double)run->mem_bytes : gpu_memory(run);
    return key->n_devices > 0 &&
           workload_parse(key->workload, &plan->workload, why, sizeof why) == 0 &&
           workload_tokens(&plan->workload) > 0;
}

/* ---- columns ------------------------------------------------------------------------------ */

static void devices_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    report_point_words(NULL, point, REPORT_DEVICES_COLUMN, text);
}

static void batch_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    report_add(text, "%zu", point->row->cell->key.global_batch);
}

static void all_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = point->row->cell;

    report_add(text, "%.0f", (double)cell->key.global_batch * (double)cell->tokens_per_row);
}

static void rate_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    report_add_metric(text, point, REPORT_TOKENS);
}

static void each_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    char number[32];

    report_rate(report_middle(point, REPORT_TOKENS) / (double)point->row->cell->key.n_devices,
                number);
    report_add(text, "%s", number);
}

static void work_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    char number[32];

    report_rate(point->row->cell->flops_per_token, number);
    report_add(text, "%s", number);
}

static void needed_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    char number[32];

    report_flops(report_tokens_work(point), number);
    report_add(text, "%s", number);
}

static void share_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    if (isfinite(report_tokens_share(point)))
        report_add_rate_share(text, point, report_tokens_work(point));
    else
        report_add(text, report_simulated(point->row) ? "simulated" : "no rate");
}

static void peak_share_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    if (isfinite(report_peak_share(point)))
        report_add_share(text, report_peak_share(point));
    else
        report_add(text, "simulated");
}

static void peak_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    report_add_metric(text, point, REPORT_PEAK);
}

static void planned_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    struct plan plan;
    char number[32];

    if (!plan_of(point, &plan))
        return;
    report_bytes(
        workload_memory(&plan.workload, &plan.use, false, point->row->cell->key.global_batch).most,
        number);
    report_add(text, "%s", number);
}

static void memory_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    struct plan plan;
    char number[32];

    if (!plan_of(point, &plan))
        return;
    report_bytes(plan.memory > 0.0 ? plan.memory : (double)NAN, number);
    report_add(text, "%s", number);
}

static void fits_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    struct plan plan;

    if (!plan_of(point, &plan))
        return;
    if (plan.memory > 0.0)
        report_add(text, "%zu", workload_fits(&plan.workload, &plan.use, plan.shared, plan.memory));
    else
        report_add(text, "-");
}

struct column {
    const char *name;
    void (*words)(const struct report_point *point, char text[REPORT_CELL_TEXT]);
};
static const struct column tokens[REPORT_TOKENS_COLUMNS] = {
    {"Devices", devices_words},           {"Batch, rows", batch_words},
    {"Tokens of it", all_words},          {"Tokens/s", rate_words},
    {"Of a device", each_words},          {"FLOP per token", work_words},
    {"FLOP/s of a device", needed_words}, {"Of the product rate", share_words},
    {"Of the peak", peak_share_words}};
static const struct column held[REPORT_HELD_COLUMNS] = {
    {"Devices", devices_words}, {"Batch, rows", batch_words},
    {"Measured", peak_words},   {"Planned", planned_words},
    {"There is", memory_words}, {"Largest batch, estimate", fits_words}};

static const struct column *column_of(enum report_ranks table, int column)
{
    return table == REPORT_RANKS_TOKENS ? &tokens[column] : &held[column];
}

const char *report_tokens_name(enum report_ranks table, int column)
{
    return column_of(table, column)->name;
}

bool report_is_of_tokens(const struct report_point *point)
{
    struct plan plan;

    return plan_of(point, &plan);
}

bool report_tokens_has(enum report_ranks table, const struct report_point *point)
{
    struct plan plan;

    if (point->verified == 0)
        return false;
    return table == REPORT_RANKS_TOKENS ? point->row->cell->tokens_per_row > 0
                                        : plan_of(point, &plan);
}

void report_tokens_words(enum report_ranks table, const struct report_point *point, int column,
                         char text[REPORT_CELL_TEXT])
{
    column_of(table, column)->words(point, text);
}

void report_add_rate_share(char text[REPORT_CELL_TEXT], const struct report_point *point,
                           double rate)
{
    const double share = rate / point->product_rate.most;

    report_add_share(text, share);
    if (isfinite(share) && point->product_rate.in_parts)
        report_add(text, "\u00a0(parts)");
}

/* ---- the stated peak ---------------------------------------------------------------------- */

static const struct report_row *first_of_tokens(const struct report *report)
{
    for (size_t i = 0; i < report->n_points; ++i)
        if (report_is_of_tokens(&report->point[i]))
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

        if (!report_is_of_tokens(&report->point[i]))
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

const char *report_peak_words(double peak, char text[QUANTITY_TEXT])
{
    return quantity_words(peak, QUANTITY_WORK, text);
}

/* Of measured cells the one whose devices need most per second; NULL: there is none. */
static const struct report_point *fastest(const struct report *report)
{
    const struct report_point *most = NULL;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (report_tokens_has(REPORT_RANKS_TOKENS, point) && isfinite(report_peak_share(point)) &&
            (!most || report_peak_share(point) > report_peak_share(most)))
            most = point;
    }
    return most;
}

void report_peak_caution(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_point *point = report->peak > 0.0 ? fastest(report) : NULL;
    char peak[QUANTITY_TEXT], reached[32];

    text[0] = '\0';
    if (!point)
        return;
    const double in_steps = report_peak_share(point) * report->peak;
    const double in_parts = report_rate_in_parts(report, point->row);
    const double most = fmax(in_steps, in_parts);

    if (!(most > report->peak))
        return;
    report_flops(most, reached);
    report_add(text, "The stated peak of %s is too low: a device reached %s in ",
               report_peak_words(report->peak, peak), reached);
    if (in_parts > in_steps)
        report_add(text, "the matrix products of --parts");
    else
        report_add(text, "%s, %s, %s, %zu rows", point->row->cell->key.workload,
                   point->row->cell->key.mode, point->row->cell->key.devices,
                   point->row->cell->key.global_batch);
    report_add(text,
               ". So the shares of it are too high. Look at its unit, and whether it is of the "
               "whole device and in %s.",
               point->row->cell->key.dtype);
}

/* ---- the note ----------------------------------------------------------------------------- */

void report_rates_note(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_row *first = first_of_tokens(report);
    bool in_parts = false, unknown = false;
    char peak[QUANTITY_TEXT];

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool known = isfinite(point->product_rate.most);

        if (!report_tokens_has(REPORT_RANKS_TOKENS, point))
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
                   report_peak_words(report->peak, peak), report_device_model(first->run),
                   first->cell->key.dtype);
    else if (unknown)
        report_add(text, " A report with --peak has the share of a peak that you state.");
}
