/* report_table.c: the words of a report: verdict, table cells, and the Markdown summary.
 *
 * The page and the summary say the same because both take their words from here. */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *const report_column_names[REPORT_COLUMNS] = {
    [REPORT_DEVICES] = "Devices",
    [REPORT_BATCH] = "Batch",
    [REPORT_SHARDS] = "Shards",
    [REPORT_STATUS] = "Status",
    [REPORT_MEDIAN] = "Median step",
    [REPORT_SPREAD] = "p05..p95",
    [REPORT_STEPS] = "n",
    [REPORT_THROUGHPUT] = "Samples/s",
    [REPORT_BASE] = "Base step",
    [REPORT_SPEEDUP] = "Speed-up",
    [REPORT_EFFICIENCY] = "Efficiency of bound",
    [REPORT_PHASES] = "Slowest phases",
};

/* Appends; what does not fit is cut. */
static void add(char text[REPORT_CELL_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(char text[REPORT_CELL_TEXT], const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, REPORT_CELL_TEXT - length, format, arguments);
    va_end(arguments);
}

/* "5x2 (3 idle)", "4, 4, 1": the rows of each replica. */
static void shard_words(const struct record_cell *cell, char text[REPORT_CELL_TEXT])
{
    int n = cell->n_shards < RECORD_MAX_RANKS ? cell->n_shards : RECORD_MAX_RANKS;

    if (n <= 0) {
        add(text, "-");
        return;
    }
    for (int i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && cell->shard[i + run] == cell->shard[i]; run++)
            ;
        if (run > 1)
            add(text, "%s%d\u00d7%zu", i > 0 ? ", " : "", run, cell->shard[i]);
        else
            add(text, "%s%zu", i > 0 ? ", " : "", cell->shard[i]);
    }
    if (n < cell->key.n_devices)
        add(text, " (%d idle)", cell->key.n_devices - n);
}

static void status_words(const struct report *report, const struct report_row *row,
                         char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = row->cell;

    add(text, "%s",
        row->verified                         ? row->state
        : row->cell->status == RECORD_SKIPPED ? "skipped"
                                              : "FAILED");
    if (!row->verified && row->cell->status != RECORD_SKIPPED && strcmp(row->state, "failed") != 0)
        add(text, " (%s)", row->state);
    if (report_simulated(row))
        add(text, ", %s",
            strcmp(row->run->source, "simulated") == 0 ? "SIMULATED" : "source unknown");
    if (report_oversubscribed(row))
        add(text, ", oversubscribed");
    if (cell->n_samples > 0 && !cell->steady_state)
        add(text, ", not steady");
    if (cell->key.launch > 0)
        add(text, ", launch %d", cell->key.launch);
    if (report->many_runs)
        add(text, ", run %.8s", row->run->run_id);
    if (!row->verified && cell->reason[0] != '\0')
        add(text, ": %s", cell->reason);
    else if (!row->verified && cell->status == RECORD_OK)
        add(text, ": recorded as ok, but without checked values or finite times");
}

/* The two phases that take most of the median step. */
static void phase_words(const struct record_cell *cell, char text[REPORT_CELL_TEXT])
{
    int best[2] = {-1, -1};

    for (int p = 0; p < RECORD_PHASES; p++) {
        double ns = cell->phase_median_ns[p];

        if (cell->phase_ns[p] == NULL || !isfinite(ns) || ns <= 0.0)
            continue;
        if (best[0] < 0 || ns > cell->phase_median_ns[best[0]]) {
            best[1] = best[0];
            best[0] = p;
        } else if (best[1] < 0 || ns > cell->phase_median_ns[best[1]]) {
            best[1] = p;
        }
    }
    if (best[0] < 0)
        add(text, "not measured");
    for (int i = 0; i < 2 && best[i] >= 0; i++) {
        double share = 100.0 * cell->phase_median_ns[best[i]] / cell->median_ns;

        add(text, "%s%s ", i > 0 ? ", " : "", record_phase_names[best[i]]);
        if (share < 1.0)
            add(text, "<1\u00a0%%");
        else
            add(text, "%.0f\u00a0%%", share);
    }
}

/* Mean, because the throughput is total rows over total time. */
static double mean_step_ns(const struct report_row *row)
{
    return 1e9 * (double)row->cell->key.global_batch / row->cell->throughput_samples_per_s;
}

static void base_words(const struct report_row *row, char text[REPORT_CELL_TEXT])
{
    char time[32] = "none";

    if (row->base != NULL)
        report_time(mean_step_ns(row->base), time);
    add(text, "%s", time);
}

/* Two digits at least: a speed-up of 0.004 is not none. */
static void ratio_words(double ratio, char text[REPORT_CELL_TEXT])
{
    if (isfinite(ratio))
        add(text, "%.*f", ratio >= 0.095 ? 2 : ratio >= 0.0095 ? 3 : 4, ratio);
    else
        add(text, "-");
}

static void number_words(const struct report_row *row, enum report_column column,
                         char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = row->cell;
    char one[32], two[32];
    const char *unit;

    if (column == REPORT_MEDIAN) {
        report_time(cell->median_ns, one);
        add(text, "%s", one);
    } else if (column == REPORT_SPREAD) {
        report_time(cell->p05_ns, one);
        report_time(cell->p95_ns, two);
        unit = strstr(one, "\u00a0");
        if (unit != NULL && strstr(two, unit) != NULL)
            one[unit - one] = '\0';
        add(text, "%s..%s", one, two);
    } else if (column == REPORT_STEPS) {
        add(text, "%zu", cell->n_valid);
    } else if (column == REPORT_THROUGHPUT) {
        report_rate(cell->throughput_samples_per_s, one);
        add(text, "%s", one);
    } else if (column == REPORT_BASE) {
        base_words(row, text);
    } else if (column == REPORT_SPEEDUP) {
        ratio_words(row->speedup, text);
    } else if (column == REPORT_EFFICIENCY) {
        ratio_words(row->efficiency, text);
        add(text, " of %.2f", row->bound);
    }
}

void report_cell_words(const struct report *report, const struct report_row *row,
                       enum report_column column, char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = row->cell;

    text[0] = '\0';
    if (column == REPORT_DEVICES)
        add(text, "%d", cell->key.n_devices);
    else if (column == REPORT_BATCH)
        add(text, "%zu", cell->key.global_batch);
    else if (column == REPORT_SHARDS)
        shard_words(cell, text);
    else if (column == REPORT_STATUS)
        status_words(report, row, text);
    else if (!row->verified)
        add(text, "-");
    else if (column == REPORT_PHASES)
        phase_words(cell, text);
    else
        number_words(row, column, text);
    report_clean(text); /* what was cut short may end inside a character */
}

void report_group_words(const struct report *report, const struct report_group *group,
                        char text[REPORT_CELL_TEXT])
{
    const struct report_row *row = &report->row[group->first];
    const struct record_key *key = &row->cell->key;

    text[0] = '\0';
    add(text, "%s (%s, %s, %s/%s on %s", key->workload, key->mode, key->dtype, key->backend,
        key->communicator, row->kind);
    if (report_simulated(row))
        add(text, ", SIMULATED");
    if (report->many_variants)
        add(text, ", built as in run %.8s", row->run->run_id);
    add(text, ")");
    report_clean(text);
}

void report_verdict(struct report_out *out, const struct report *report)
{
    if (report->verified == report->planned && report->planned > 0) {
        report_print(out, "All %zu planned cells were measured and verified.", report->planned);
        return;
    }
    report_print(out, "Of %zu planned cells, %zu were measured and %zu verified", report->planned,
                 report->measured, report->verified);
    if (report->failed > 0)
        report_print(out, "; %zu FAILED", report->failed);
    if (report->skipped > 0)
        report_print(out, "; %zu skipped", report->skipped);
    if (report->missing > 0)
        report_print(out, "; %zu not run", report->missing);
    report_print(out, ".");
}

/* The launch with the best throughput of a group (NULL: none is verified), the largest verified
 * batch, and the largest that has a verified one-device cell as well (0: none). */
static const struct report_row *best_row(const struct report *report,
                                         const struct report_group *group, size_t *largest,
                                         size_t *comparable)
{
    const struct report_row *best = NULL;
    size_t end = group->first + group->n, n = 0;

    *largest = *comparable = 0;
    for (size_t i = group->first; i < end; i += n) {
        const struct report_row *row = report_point_at(report, i, end, &n).middle;
        size_t batch = report->row[i].cell->key.global_batch;

        if (row == NULL)
            continue;
        if (batch > *largest)
            *largest = batch;
        if (batch > *comparable && row->base != NULL)
            *comparable = batch;
        if (best == NULL ||
            row->cell->throughput_samples_per_s > best->cell->throughput_samples_per_s)
            best = row;
    }
    return best;
}

/* "1.83 times one device on 2 (bound 2.00), 2.10 times on 3 (...)". */
static void scaling_words(const struct report *report, const struct report_group *group,
                          size_t batch, char text[REPORT_CELL_TEXT])
{
    size_t end = group->first + group->n, n = 0;

    for (size_t i = group->first; i < end; i += n) {
        struct report_point point = report_point_at(report, i, end, &n);
        int devices = report->row[i].cell->key.n_devices;

        if (point.middle == NULL || devices == 1 || !isfinite(point.middle->speedup) ||
            point.middle->cell->key.global_batch != batch)
            continue;
        add(text, "%s", text[0] != '\0' ? ", " : "");
        ratio_words(point.middle->speedup, text);
        add(text, "\u00d7 on %d%s", devices,
            report_oversubscribed(point.middle) ? " (oversubscribed)" : "");
    }
}

static const struct report_row *base_at(const struct report *report,
                                        const struct report_group *group, size_t batch)
{
    for (size_t i = group->first; i < group->first + group->n; i++)
        if (report->row[i].cell->key.global_batch == batch && report->row[i].base != NULL)
            return report->row[i].base;
    return NULL;
}

void report_scaling(struct report_out *out, const struct report *report,
                    const struct report_group *group)
{
    size_t largest, comparable;
    const struct report_row *best = best_row(report, group, &largest, &comparable);
    const struct report_row *base = base_at(report, group, comparable);
    char rate[32], time[32], words[REPORT_CELL_TEXT] = "";

    if (best == NULL) {
        report_print(out, "no verified cell.");
        return;
    }
    report_rate(best->cell->throughput_samples_per_s, rate);
    report_print(out, "best %s samples/s, with %d device%s%s at batch %zu. ", rate,
                 best->cell->key.n_devices, best->cell->key.n_devices == 1 ? "" : "s",
                 report_oversubscribed(best) ? " (oversubscribed)" : "",
                 best->cell->key.global_batch);
    if (base == NULL) {
        report_print(out, "No verified one-device cell, so no speed-up.");
        return;
    }
    report_rate(base->cell->throughput_samples_per_s, rate);
    report_time(mean_step_ns(base), time);
    scaling_words(report, group, comparable, words);
    report_print(out, "At the largest batch%s, %zu: one device takes %s per step (%s samples/s)",
                 comparable < largest ? " with a verified one-device cell" : "", comparable, time,
                 rate);
    if (words[0] != '\0')
        report_print(out, "; speed-up %s", words);
    report_print(out, ".");
}

static size_t most_launches(const struct report *report)
{
    size_t n = 0, most = 0;

    for (size_t i = 0; i < report->n_rows; i += n) {
        size_t launches = report_point_at(report, i, report->n_rows, &n).launches;

        most = launches > most ? launches : most;
    }
    return most;
}

void report_caption(struct report_out *out, const struct report *report)
{
    size_t fewest = 0, most = 0, launches = most_launches(report);
    char steps[64];

    for (size_t i = 0; i < report->n_rows; i++) {
        size_t valid = report->row[i].cell->n_valid;

        if (!report->row[i].verified)
            continue;
        fewest = fewest == 0 || valid < fewest ? valid : fewest;
        most = valid > most ? valid : most;
    }
    if (fewest == most)
        snprintf(steps, sizeof steps, "n = %zu", most);
    else
        snprintf(steps, sizeof steps, "n from %zu to %zu (see the table)", fewest, most);
    report_print(out,
                 "Throughput against global batch, one line per number of devices. Points: "
                 "all rows over all time of the timed steps%s. Bars: range p05..p95 of the "
                 "n steps of a launch, %s; steps of one launch "
                 "are correlated, so this is a spread, not a confidence interval. Failed "
                 "and unverified cells are left out, and no line crosses them.",
                 launches > 1 ? ", of the launch with the median throughput" : "", steps);
    if (launches > 1)
        report_print(out, " Up to %zu launches per point; the bar spans the ranges of them all.",
                     launches);
    if (report_panels(report) > REPORT_MAX_PANELS)
        report_print(out, " Only the first %d of %zu panels are drawn; the table has all cells.",
                     REPORT_MAX_PANELS, report_panels(report));
}
