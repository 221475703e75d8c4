/* forecast/json.c: the forecast for programs: lockstep/forecast/1.0. Times are in ns. */
#include "forecast/forecast.h"

#include <jansson.h>
#include <math.h>

#include "record/document.h"

static json_t *value(const struct report_value *value, bool holds)
{
    return holds ? json_pack("{s:o, s:o, s:o}", "middle", value_real(value->middle), "lo",
                             value_real(value->lo), "hi", value_real(value->hi))
                 : json_null();
}

/* null: it was not simulated. */
static json_t *simulated(const struct forecast_line *line)
{
    if (!isfinite(line->simulated))
        return json_null();
    return json_pack("{s:o, s:o, s:i, s:i}", "step_ns", value_real(line->simulated), "error",
                     value_real(line->simulated_error), "rounds_simulated", line->rounds, "rounds",
                     line->of);
}

static json_t *lines(const struct forecast_series *series)
{
    json_t *array = json_array();

    for (size_t i = 0; i < series->n; ++i) {
        const struct forecast_line *line = &series->line[i];
        const bool holds = line->state == FORECAST_HOLDS;
        const double measured = line->point ? report_middle(line->point, REPORT_STEP) : (double)NAN;

        json_array_append_new(
            array,
            json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:o, s:s*}",
                      "ranks", line->ranks, "batch", value_count(line->batch), "shard",
                      value_count(line->shard), "measured_ns", value_real(measured), "forecast_ns",
                      value(&line->step, holds), "efficiency", value(&line->efficiency, holds),
                      "left_out_ns", value_real(line->without), "left_out_error",
                      value_real(line->error), "residual", value_real(line->residual), "state",
                      forecast_states[line->state], "extrapolated", line->extrapolated,
                      "oversubscribed", line->point && report_oversubscribed(line->point),
                      "simulated", simulated(line), "not_simulated",
                      line->why[0] != '\0' ? line->why : NULL));
    }
    return array;
}

static json_t *one_series(const struct forecast_series *series)
{
    const struct report_row *row = series->point->row;
    const struct record_key *key = &row->cell->key;

    return json_pack(
        "{s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, "
        "s:o, s:o}",
        "workload", key->workload, "scaling", series->weak ? "weak" : "strong", "rows",
        value_count(series->rows), "devices", row->kind, "backend", key->backend, "communicator",
        key->communicator, "math", key->dtype, "bucket_bytes", value_count(key->bucket_bytes),
        "per_process", value_count(key->per_process), "host_inputs", value_count(key->host_inputs),
        "launches", value_count(series->setting->launches), "alpha_ns", value(&series->alpha, true),
        "beta_ns_per_byte", value(&series->beta, true), "hidden_of_reduction",
        value(&series->share, true), "hidden_of_computation", value(&series->cover, true),
        "one_size", series->one_size, "left_out", value_count(series->tried), "largest_error",
        value_real(series->off), "lines", lines(series));
}

/* null: nobody asked for it. */
static json_t *simulation_of(const struct forecast *forecast)
{
    const struct forecast_simulation *simulation = &forecast->simulation;

    if (!simulation->platform)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:b}", "platform", simulation->platform, "simulator",
                     simulation->version, "reduction", "direct", "network_measured",
                     simulation->fitted);
}

int forecast_json(FILE *stream, const struct forecast *forecast)
{
    json_t *all = json_array();

    for (size_t i = 0; i < forecast->n_series; ++i)
        json_array_append_new(all, one_series(&forecast->series[i]));
    json_t *root = json_pack("{s:s, s:i, s:b, s:o, s:o}", "schema", "lockstep/forecast/1.0", "to",
                             forecast->to, "whole", forecast_count(forecast).without == 0,
                             "simulation", simulation_of(forecast), "series", all);

    return document_print(stream, root);
}
