/* forecast/words.c: a forecast in words: what a series is, what was fitted, and each line. */
#include "forecast/forecast.h"

#include "analysis/words.h"
#include "text/units.h"

#include <math.h>

const char *const forecast_states[] = {[FORECAST_HOLDS] = "holds",
                                       [FORECAST_UNKNOWN] = "unknown",
                                       [FORECAST_WIDE] = "wide",
                                       [FORECAST_NO_ROWS] = "no rows"};

static const char *const reasons[] = {
    [FORECAST_HOLDS] = "",
    [FORECAST_UNKNOWN] = "not resolved: the fit says nothing here",
    [FORECAST_WIDE] = "not resolved: the interval is wider than the number",
    [FORECAST_NO_ROWS] = "more ranks than rows"};

const char *const forecast_column_names[FORECAST_COLUMNS] = {
    "ranks",    "rows",  "measured", "forecast",  "interval",   "efficiency",
    "left out", "error", "residual", "simulated", "sim. error", "note"};

/* ---- numbers --------------------------------------------------------------------------------- */

static void add_time(char text[FORECAST_TEXT], double ns)
{
    char words[UNITS_BYTES];

    report_add(text, "%s", isfinite(ns) ? units_time(ns, words) : "-");
}

static void add_percent(char text[FORECAST_TEXT], double part)
{
    if (isfinite(part))
        report_add(text, "%+.1f %%", 100 * part);
    else
        report_add(text, "-");
}

static void add_range(char text[FORECAST_TEXT], const struct report_value *value)
{
    const bool interval = value->range == REPORT_INTERVAL;

    if (value->range == REPORT_NONE) {
        report_add(text, "-");
        return;
    }
    report_add(text, interval ? "[" : "");
    add_time(text, value->lo);
    report_add(text, interval ? ", " : "..");
    add_time(text, value->hi);
    report_add(text, interval ? "]" : "");
}

/* ---- a line ---------------------------------------------------------------------------------- */

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

/* A number that is not resolved is not printed, nor what is made of it. */
static void add_forecast(char text[FORECAST_TEXT], const struct forecast_line *line, int column)
{
    if (line->state != FORECAST_HOLDS)
        report_add(text, "-");
    else if (column == FORECAST_STEP)
        add_time(text, line->step.middle);
    else if (column == FORECAST_RANGE)
        add_range(text, &line->step);
    else
        report_add_ratio(text, line->efficiency.middle);
}

bool forecast_shows(const struct forecast *forecast, int column)
{
    return forecast->simulation.platform ||
           (column != FORECAST_SIMULATED && column != FORECAST_SIMULATED_ERROR);
}

void forecast_line_words(const struct forecast *forecast, const struct forecast_line *line,
                         int column, char text[FORECAST_TEXT])
{
    text[0] = '\0';
    switch (column) {
    case FORECAST_RANKS:
        report_add(text, "%d", line->ranks);
        break;
    case FORECAST_SHARD:
        report_add(text, "%zu", line->shard);
        break;
    case FORECAST_MEASURED:
        add_time(text, line->point ? report_middle(line->point, REPORT_STEP) : (double)NAN);
        break;
    case FORECAST_WITHOUT:
        add_time(text, line->without);
        break;
    case FORECAST_ERROR:
        add_percent(text, line->error);
        break;
    case FORECAST_RESIDUAL:
        add_percent(text, line->residual);
        break;
    case FORECAST_SIMULATED:
        add_time(text, line->simulated);
        break;
    case FORECAST_SIMULATED_ERROR:
        add_percent(text, line->simulated_error);
        break;
    case FORECAST_NOTE:
        add_note(text, forecast, line);
        break;
    default:
        add_forecast(text, line, column);
    }
}

/* ---- a series -------------------------------------------------------------------------------- */

void forecast_series_words(const struct forecast_series *series, char text[FORECAST_TEXT])
{
    const struct report_row *row = series->point->row;
    const struct record_key *key = &row->cell->key;

    text[0] = '\0';
    report_add(text, "%s, ddp, %s scaling of %zu rows%s, %s/%s on %s, %s", key->workload,
               series->weak ? "weak" : "strong", series->rows, series->weak ? " a rank" : "",
               key->backend, key->communicator, row->kind, key->dtype);
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

static void add_speed(char text[FORECAST_TEXT], const struct report_value *beta)
{
    char words[UNITS_BYTES];

    if (is_resolved(beta))
        report_add(text, "1/beta %sB/s", units_rate(1e9 / beta->middle, words));
    else
        report_add(text, "1/beta not resolved");
}

void forecast_fit_words(const struct forecast_series *series, char text[FORECAST_TEXT])
{
    text[0] = '\0';
    report_add(text, "A transfer: ");
    if (!is_resolved(&series->alpha))
        report_add(text, "alpha not resolved, ");
    else {
        report_add(text, series->one_size ? "" : "alpha ");
        add_time(text, series->alpha.middle);
        report_add(text, series->one_size ? ", all of one size" : ", ");
    }
    if (!series->one_size)
        add_speed(text, &series->beta);
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

    text[0] = '\0';
    report_add(text, "Interval: %s (%zu launch%s)", ranges[series->alpha.range], launches,
               launches == 1 ? "" : "es");
    report_add(text, ", wider by %.1f %% on both sides: the largest ", 100 * series->off);
    report_add(text, series->tried > 0
                         ? "error of a point of several ranks that was left out."
                         : "residual of several ranks. None of their points can be left out, so "
                           "this says little of the model.");
}

/* The line of most ranks that has a number: NULL: none has one. */
static const struct forecast_line *last_simulated(const struct forecast_series *series)
{
    const struct forecast_line *last = NULL;

    for (size_t i = 0; i < series->n; ++i)
        if (isfinite(series->line[i].simulated))
            last = &series->line[i];
    return last;
}

void forecast_simulated_words(const struct forecast *forecast, const struct forecast_series *series,
                              char text[FORECAST_TEXT])
{
    const struct forecast_simulation *simulation = &forecast->simulation;
    const struct forecast_line *const last = last_simulated(series);

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
                   : ", whose network nobody measured; the computation is that of the records");
    report_add(text, ". A reduction is direct: each process sends to each, one behind the other");
    if (last && last->rounds < last->of)
        report_add(text, "; above 64 ranks some rounds stand for all, %d for %d on %d ranks",
                   last->rounds, last->of, last->ranks);
    report_add(text, ".");
}
