/* report/tokens.c: what is said of language models: their tokens, what one takes, how much of what
 * devices can do that is; and the memory that they are planned to take.
 *
 * A plan follows from the name of the workload, whatever was measured. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "record/cell.h"
#include "workload.h"

/* What is needed, per second and device. */
static double needed(const struct report_point *point)
{
    const struct record_cell *cell = point->row->cell;

    return report_middle(point, REPORT_TOKENS) * cell->flops_per_token /
           (double)cell->key.n_devices;
}

double report_tokens_share(const struct report_point *point)
{
    return needed(point) / point->product_rate.most;
}

/* A time that was simulated is none of a device that has a peak. */
double report_peak_share(const struct report_point *point)
{
    return report_simulated(point->row) ? (double)NAN : needed(point) / point->stated_peak;
}

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

    report_flops(needed(point), number);
    report_add(text, "%s", number);
}

static void share_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    if (isfinite(report_tokens_share(point)))
        report_add_rate_share(text, point, needed(point));
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
