/* forecast/words.c: a forecast in words: what a series is, what was fitted, and each line. */
#include "forecast/forecast.h"

#include "analysis/analysis.h"
#include "text/quantity.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *const forecast_states[] = {[FORECAST_HOLDS] = "holds",
                                       [FORECAST_UNKNOWN] = "unknown",
                                       [FORECAST_WIDE] = "wide",
                                       [FORECAST_NO_ROWS] = "no rows"};

static const char *const reasons[] = {
    [FORECAST_HOLDS] = "",
    [FORECAST_UNKNOWN] = "not resolved: the fit says nothing here",
    [FORECAST_WIDE] = "not resolved: the interval is wider than the number",
    [FORECAST_NO_ROWS] = "more ranks than rows"};

const struct forecast_column_row forecast_columns[FORECAST_COLUMNS] = {
    [FORECAST_RANKS] = {"ranks", 5, FORECAST_OTHER, 0},
    [FORECAST_SHARD] = {"rows", 6, FORECAST_OTHER, 0},
    [FORECAST_MEASURED] = {"measured", 8, FORECAST_TIME, offsetof(struct forecast_line, measured)},
    [FORECAST_STEP] = {"forecast", 8, FORECAST_OTHER, 0},
    [FORECAST_RANGE] = {"interval", 20, FORECAST_OTHER, 0},
    [FORECAST_EFFICIENCY] = {"efficiency", 10, FORECAST_OTHER, 0},
    [FORECAST_WITHOUT] = {"left out", 8, FORECAST_TIME, offsetof(struct forecast_line, without)},
    [FORECAST_ERROR] = {"error", 9, FORECAST_PERCENT, offsetof(struct forecast_line, error)},
    [FORECAST_RESIDUAL] = {"residual", 8, FORECAST_PERCENT,
                           offsetof(struct forecast_line, residual)},
    [FORECAST_SIMULATED] = {"simulated", 9, FORECAST_TIME,
                            offsetof(struct forecast_line, simulated)},
    [FORECAST_SIMULATED_ERROR] = {"sim. error", 10, FORECAST_PERCENT,
                                  offsetof(struct forecast_line, simulated_error)},
    [FORECAST_NOTE] = {"note", 0, FORECAST_OTHER, 0}};

/* ---- a line ---------------------------------------------------------------------------------- */

static void add_time(char text[FORECAST_TEXT], double ns)
{
    char words[UNITS_BYTES];

    report_add(text, "%s", isfinite(ns) ? units_time(ns, words) : "-");
}

static void add_note(char text[FORECAST_TEXT], const struct forecast *forecast,
                     const struct forecast_line *line)
{
    const struct forecast_simulation *simulation = &forecast->simulation;
    const bool elsewhere = simulation->platform && !simulation->fitted && isfinite(line->simulated);
    char failed[96] = "";

    if (line->why[0] != '\0')
        snprintf(failed, sizeof failed, "not simulated: %s", line->why);

    const char *const notes[] = {
        reasons[line->state], line->extrapolated ? "*extrapolated*" : "",
        line->point && report_oversubscribed(line->point) ? "oversubscribed" : "", failed,
        elsewhere ? "simulated: *extrapolated*" : ""};

    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; ++i)
        if (notes[i][0] != '\0')
            report_add(text, "%s%s", text[0] != '\0' ? "; " : "", notes[i]);
}

bool forecast_shows(const struct forecast *forecast, int column)
{
    return forecast->simulation.platform ||
           (column != FORECAST_SIMULATED && column != FORECAST_SIMULATED_ERROR);
}

void forecast_line_words(const struct forecast *forecast, const struct forecast_line *line,
                         int column, char text[FORECAST_TEXT])
{
    const struct forecast_column_row *row = &forecast_columns[column];
    const double number =
        row->form == FORECAST_OTHER ? 0 : *(const double *)((const char *)line + row->offset);

    text[0] = '\0';
    if (row->form == FORECAST_TIME)
        add_time(text, number);
    else if (row->form == FORECAST_PERCENT)
        report_add(text, isfinite(number) ? "%+.1f %%" : "-", 100 * number);
    else if (column == FORECAST_RANKS)
        report_add(text, "%d", line->ranks);
    else if (column == FORECAST_SHARD)
        report_add(text, "%zu", line->shard);
    else if (column == FORECAST_NOTE)
        add_note(text, forecast, line);
    else if (line->state != FORECAST_HOLDS)
        report_add(text, "-"); /* what is not resolved is not printed, nor what is made of it */
    else if (column == FORECAST_STEP)
        add_time(text, line->step.middle);
    else if (column == FORECAST_RANGE) {
        const bool interval = line->step.range == REPORT_INTERVAL;

        if (line->step.range == REPORT_NONE) {
            report_add(text, "-");
            return;
        }
        report_add(text, interval ? "[" : "");
        add_time(text, line->step.lo);
        report_add(text, interval ? ", " : "..");
        add_time(text, line->step.hi);
        report_add(text, interval ? "]" : "");
    } else
        report_add(text, "%s", report_ratio(line->efficiency.middle, WORD));
}

/* ---- a series -------------------------------------------------------------------------------- */

void forecast_answer_words(const struct forecast *forecast, const struct forecast_series *series,
                           char text[FORECAST_TEXT])
{
    const struct forecast_line *last = &series->line[series->n - 1], *line = last;
    char step[FORECAST_TEXT], range[FORECAST_TEXT], efficiency[FORECAST_TEXT];

    while (line > series->line && line->state != FORECAST_HOLDS)
        --line;
    text[0] = '\0';
    if (last->state != FORECAST_HOLDS)
        report_add(text, "%d ranks: %s.", last->ranks, reasons[last->state]);
    if (line->state != FORECAST_HOLDS)
        return;
    forecast_line_words(forecast, line, FORECAST_STEP, step);
    forecast_line_words(forecast, line, FORECAST_RANGE, range);
    forecast_line_words(forecast, line, FORECAST_EFFICIENCY, efficiency);
    report_add(text, "%s%d rank%s: a step takes %s %s by forecast, at an efficiency of %s. ",
               text[0] != '\0' ? " " : "", line->ranks, line->ranks == 1 ? "" : "s", step, range,
               efficiency);
    report_add(text, "Measured: up to %d ranks%s.", series->setting->most,
               line->extrapolated ? ", so this is *extrapolated*" : "");
}

void forecast_series_words(const struct forecast_series *series, char text[FORECAST_TEXT])
{
    const struct report_row *row = series->point->row;
    const struct record_key *key = &row->cell->key;

    snprintf(text, FORECAST_TEXT, "%s, ddp, %s scaling of %zu rows%s, %s/%s on %s, %s",
             key->workload, series->weak ? "weak" : "strong", series->rows,
             series->weak ? " a rank" : "", key->backend, key->communicator, row->kind, key->dtype);
    if (key->bucket_bytes > 0)
        report_add(text, ", buckets of %zu bytes", key->bucket_bytes);
    if (key->per_process > 0)
        report_add(text, ", %zu a process", key->per_process);
    if (key->host_inputs > 0)
        report_add(text, ", inputs from the host");
}

/* A part of a cost that the launches cannot tell from none. */
static bool is_resolved(const struct report_value *value)
{
    return value->middle > 0 && !(value->lo <= 0);
}

void forecast_fit_words(const struct forecast_series *series, char text[FORECAST_TEXT])
{
    snprintf(text, FORECAST_TEXT, "A transfer: ");
    if (!is_resolved(&series->alpha))
        report_add(text, "alpha not resolved, ");
    else {
        report_add(text, series->one_size ? "" : "alpha ");
        add_time(text, series->alpha.middle);
        report_add(text, series->one_size ? ", all of one size" : ", ");
    }
    if (!series->one_size) {
        char words[UNITS_BYTES];

        if (is_resolved(&series->beta)) {
            const char *rate = units_rate(1e9 / series->beta.middle, words);
            const size_t digits = strspn(rate, "0123456789.");

            report_add(text, "1/beta %.*s %sB/s", (int)digits, rate, rate + digits);
        } else
            report_add(text, "1/beta not resolved");
    }
    report_add(text,
               ". Hidden: at most %.0f %% of the reduction, and as long as %.0f %% of the "
               "computation.",
               100 * series->share.middle, 100 * series->cover.middle);
}

void forecast_interval_words(const struct forecast_series *series, char text[FORECAST_TEXT])
{
    static const char *const ranges[] = {[REPORT_NONE] = "1 launch: nothing",
                                         [REPORT_STEPS] = "1 launch: nothing",
                                         [REPORT_LAUNCHES] = "the range of the launches",
                                         [REPORT_INTERVAL] =
                                             "95 % of the median over the launches"};
    const size_t launches = series->setting->launches;

    snprintf(text, FORECAST_TEXT, "Interval: %s (%zu launch%s)", ranges[series->alpha.range],
             launches, launches == 1 ? "" : "es");
    report_add(text, ", wider by %.1f %% on both sides: the largest ", 100 * series->off);
    report_add(text, series->tried > 0
                         ? "error of a point of several ranks that was left out."
                         : "residual of several ranks. None of their points can be left out, so "
                           "this says little of the model.");
}

void forecast_simulated_words(const struct forecast *forecast, const struct forecast_series *series,
                              char text[FORECAST_TEXT])
{
    const struct forecast_simulation *simulation = &forecast->simulation;
    const struct forecast_line *last = NULL; /* the line of most ranks that has a number */

    for (size_t i = 0; i < series->n; ++i)
        if (isfinite(series->line[i].simulated))
            last = &series->line[i];
    text[0] = '\0';
    if (!simulation->platform)
        return;
    if (!forecast_of_processes(&series->point->row->cell->key)) {
        report_add(text, "Not simulated: these ranks are no processes.");
        return;
    }
    report_add(text, "Simulated by %s on the platform %.64s", simulation->version,
               simulation->platform);
    report_add(text,
               simulation->fitted
                   ? " (alpha and beta as above)"
                   : ", whose network was not measured; the computation is that of the records");
    report_add(text, ". A reduction is direct: each process sends to each, one after the other");
    if (last && last->rounds < last->of)
        report_add(text, "; above 64 ranks some rounds stand for all, %d for %d on %d ranks",
                   last->rounds, last->of, last->ranks);
    report_add(text, ".");
}
