/* forecast/write.c: the forecast for people (80 columns), for the page of a job (Markdown), as a
 * line for each number of ranks (CSV, RFC 4180; unknown numbers are empty), and as JSON
 * (lockstep/forecast/1.0; times are in ns). */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "command/command.h"
#include "export/grid.h"
#include "forecast/forecast.h"
#include "record/json.h"

/* ---- text ------------------------------------------------------------------------------------ */

enum { COLUMNS = 80, INDENT = 7 };

/* The ranks and columns first to last. line NULL: the names of the columns. */
static void print_row(FILE *stream, const struct forecast *forecast,
                      const struct forecast_line *line, int first, int last)
{
    char text[FORECAST_TEXT];
    size_t used = 0;

    for (int c = FORECAST_RANKS; c <= last; ++c) {
        if (!forecast_shows(forecast, c) || (c > FORECAST_RANKS && c < first))
            continue;
        if (line)
            forecast_line_words(forecast, line, c, text);
        used += (size_t)fprintf(stream, " %*s", forecast_columns[c].width,
                                line ? text : forecast_columns[c].name);
    }
    text[0] = '\0';
    if (line && first == FORECAST_RANKS)
        forecast_line_words(forecast, line, FORECAST_NOTE, text);
    /* The note is next to the numbers if there is room, else below them. */
    if (text[0] == '\0')
        fputc('\n', stream);
    else if (used + 2 + strlen(text) <= COLUMNS)
        fprintf(stream, "  %s\n", text);
    else {
        fprintf(stream, "\n%*s", INDENT, "");
        command_wrap(stream, text, INDENT, INDENT, COLUMNS);
    }
}

void forecast_text(FILE *stream, const struct forecast *forecast)
{
    char words[FORECAST_TEXT];

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];

        fprintf(stream, "%s", i > 0 ? "\n" : "");
        forecast_answer_words(forecast, series, words);
        command_say(stream, 0, "%s", words);
        forecast_series_words(series, words);
        command_say(stream, 2, "%s", words);
        /* The forecast; then, by ranks again, the errors that show how good it is. */
        print_row(stream, forecast, NULL, FORECAST_RANKS, FORECAST_EFFICIENCY);
        for (size_t k = 0; k < series->n; ++k)
            print_row(stream, forecast, &series->line[k], FORECAST_RANKS, FORECAST_EFFICIENCY);
        print_row(stream, forecast, NULL, FORECAST_WITHOUT, FORECAST_SIMULATED_ERROR);
        for (size_t k = 0; k < series->n; ++k)
            if (series->line[k].point || forecast->simulation.platform)
                print_row(stream, forecast, &series->line[k], FORECAST_WITHOUT,
                          FORECAST_SIMULATED_ERROR);
        forecast_fit_words(series, words);
        command_say(stream, 0, "%s", words);
        forecast_interval_words(series, words);
        command_say(stream, 0, "%s", words);
        forecast_simulated_words(forecast, series, words);
        if (words[0] != '\0')
            command_say(stream, 0, "%s", words);
    }
}

/* ---- Markdown -------------------------------------------------------------------------------- */

void forecast_markdown(FILE *stream, const struct forecast *forecast)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char words[FORECAST_TEXT];

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];
        struct grid grid;

        forecast_series_words(series, words);
        text_print(&out, "%s### %s\n\n", i > 0 ? "\n" : "", words);
        forecast_answer_words(forecast, series, words);
        text_print(&out, "%s\n\n", words);
        grid_open(&grid, &out, "", "");
        grid.compact = true;
        for (int c = 0; c < FORECAST_COLUMNS; ++c)
            if (forecast_shows(forecast, c))
                grid_heading(&grid, c == FORECAST_NOTE ? "text" : "", forecast_columns[c].name);
        for (size_t k = 0; k < series->n; ++k) {
            grid_row(&grid, "");
            for (int c = 0; c < FORECAST_COLUMNS; ++c)
                if (forecast_shows(forecast, c)) {
                    forecast_line_words(forecast, &series->line[k], c, words);
                    grid_cell(&grid, "", "%s", words);
                }
        }
        grid_markdown(&grid, series->n);
        grid_close(&grid);
        forecast_fit_words(series, words);
        text_print(&out, "\n%s", words);
        forecast_interval_words(series, words);
        text_print(&out, " %s", words);
        forecast_simulated_words(forecast, series, words);
        text_print(&out, words[0] != '\0' ? " %s\n" : "%s\n", words);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_value(struct grid *grid, const struct forecast_line *line,
                      const struct report_value *value, double scale)
{
    const bool holds = line->state == FORECAST_HOLDS;

    grid_number(grid, holds ? value->middle * scale : (double)NAN);
    grid_number(grid, holds ? value->lo * scale : (double)NAN);
    grid_number(grid, holds ? value->hi * scale : (double)NAN);
}

void forecast_csv(FILE *stream, const struct forecast *forecast)
{
    struct text_out out = {.file = stream};
    struct grid grid;

    grid_open(&grid, &out, "", "");
    grid_headings(
        &grid, "",
        "workload|scaling|devices|backend|communicator|math|bucket_bytes|per_process|host_inputs|"
        "ranks|batch|shard|measured_seconds|forecast_seconds|forecast_lower|forecast_upper|"
        "efficiency|efficiency_lower|efficiency_upper|left_out_seconds|left_out_error|residual|"
        "state|extrapolated|simulated_seconds|simulated_error|platform|reduction|rounds_simulated|"
        "rounds");
    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];
        const struct record_key *key = &series->point->row->cell->key;
        const char *const texts[] = {key->workload,
                                     series->weak ? "weak" : "strong",
                                     series->point->row->kind,
                                     key->backend,
                                     key->communicator,
                                     key->dtype};

        for (size_t k = 0; k < series->n; ++k) {
            const struct forecast_line *line = &series->line[k];
            const size_t counts[] = {key->bucket_bytes,   key->per_process, key->host_inputs,
                                     (size_t)line->ranks, line->batch,      line->shard};

            grid_row(&grid, "");
            for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t)
                grid_cell(&grid, "", "%s", texts[t]);
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c)
                grid_cell(&grid, "number", "%zu", counts[c]);
            grid_number(&grid, line->measured * 1e-9);
            csv_value(&grid, line, &line->step, 1e-9);
            csv_value(&grid, line, &line->efficiency, 1);
            grid_number(&grid, line->without * 1e-9);
            grid_number(&grid, line->error);
            grid_number(&grid, line->residual);
            grid_cell(&grid, "", "%s", forecast_states[line->state]);
            grid_cell(&grid, "number", "%s", line->extrapolated ? "yes" : "no");
            grid_number(&grid, line->simulated * 1e-9);
            grid_number(&grid, line->simulated_error);
            if (isfinite(line->simulated)) {
                grid_cell(&grid, "", "%s", forecast->simulation.platform);
                grid_cell(&grid, "", "direct");
                grid_cell(&grid, "number", "%d", line->rounds);
                grid_cell(&grid, "number", "%d", line->of);
            } else {
                for (int none = 0; none < 4; ++none)
                    grid_number(&grid, (double)NAN);
            }
        }
    }
    grid_csv(&grid);
    grid_close(&grid);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *value_json(const struct report_value *value, bool holds)
{
    return holds ? value_object("middle:r lo:r hi:r", value->middle, value->lo, value->hi)
                 : json_null();
}

void forecast_json(FILE *stream, const struct forecast *forecast)
{
    const struct forecast_simulation *simulation = &forecast->simulation;
    json_t *all = json_array(), *simulated = json_null(); /* it was not asked for */

    for (size_t s = 0; s < forecast->n_series; ++s) {
        const struct forecast_series *series = &forecast->series[s];
        const struct record_key *key = &series->point->row->cell->key;
        json_t *lines = json_array();

        for (size_t i = 0; i < series->n; ++i) {
            const struct forecast_line *line = &series->line[i];
            const struct report_point *point = line->point;
            const bool holds = line->state == FORECAST_HOLDS;
            json_t *smpi = json_null(); /* it was not simulated */

            if (isfinite(line->simulated))
                smpi = value_object("step_ns:r error:r rounds_simulated:i rounds:i",
                                    line->simulated, line->simulated_error, line->rounds, line->of);
            json_t *const one = value_object(
                "ranks:i batch:n shard:n measured_ns:r forecast_ns:o efficiency:o left_out_ns:r "
                "left_out_error:r residual:r state:t extrapolated:b oversubscribed:b simulated:o",
                line->ranks, line->batch, line->shard, line->measured,
                value_json(&line->step, holds), value_json(&line->efficiency, holds), line->without,
                line->error, line->residual, forecast_states[line->state], line->extrapolated,
                point && report_oversubscribed(point), smpi);

            if (line->why[0] != '\0')
                json_object_set_new(one, "not_simulated", value_text(line->why));
            json_array_append_new(lines, one);
        }
        json_array_append_new(
            all,
            value_object(
                "workload:t scaling:t rows:n devices:t backend:t communicator:t math:t "
                "bucket_bytes:n per_process:n host_inputs:n launches:n alpha_ns:o "
                "beta_ns_per_byte:o hidden_of_reduction:o hidden_of_computation:o one_size:b "
                "left_out:n largest_error:r lines:o",
                key->workload, series->weak ? "weak" : "strong", series->rows,
                series->point->row->kind, key->backend, key->communicator, key->dtype,
                key->bucket_bytes, key->per_process, key->host_inputs, series->setting->launches,
                value_json(&series->alpha, true), value_json(&series->beta, true),
                value_json(&series->share, true), value_json(&series->cover, true),
                series->one_size, series->tried, series->off, lines));
    }
    if (simulation->platform)
        simulated =
            value_object("platform:t simulator:t reduction:t network_measured:b",
                         simulation->platform, simulation->version, "direct", simulation->fitted);
    document_print(stream, value_object("schema:t to:i whole:b simulation:o series:o",
                                        "lockstep/forecast/1.0", forecast->to,
                                        forecast_count(forecast).without == 0, simulated, all));
}
