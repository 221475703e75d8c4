/* forecast/csv.c: a line for each number of ranks (RFC 4180). What is not known is empty. */
#include "forecast/forecast.h"

#include <math.h>

static void number(FILE *stream, double x, double scale)
{
    fputc(',', stream);
    if (isfinite(x))
        fprintf(stream, "%.9g", x * scale);
}

static void value(FILE *stream, const struct forecast_line *line, const struct report_value *value,
                  double scale)
{
    const bool holds = line->state == FORECAST_HOLDS;
    const double parts[] = {value->middle, value->lo, value->hi};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        number(stream, holds ? parts[i] : (double)NAN, scale);
}

static void write_line(FILE *stream, const struct forecast *forecast,
                       const struct forecast_series *series, const struct forecast_line *line)
{
    const struct record_key *key = &series->point->row->cell->key;
    const char *const texts[] = {key->workload,
                                 series->weak ? "weak" : "strong",
                                 series->point->row->kind,
                                 key->backend,
                                 key->communicator,
                                 key->dtype};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        text_write_field(stream, texts[i]);
        fputc(',', stream);
    }
    fprintf(stream, "%zu,%zu,%zu,%d,%zu,%zu", key->bucket_bytes, key->per_process, key->host_inputs,
            line->ranks, line->batch, line->shard);
    number(stream, line->point ? report_middle(line->point, REPORT_STEP) : (double)NAN, 1e-9);
    value(stream, line, &line->step, 1e-9);
    value(stream, line, &line->efficiency, 1);
    number(stream, line->without, 1e-9);
    number(stream, line->error, 1);
    number(stream, line->residual, 1);
    fprintf(stream, ",\"%s\",%s", forecast_states[line->state], line->extrapolated ? "yes" : "no");
    number(stream, line->simulated, 1e-9);
    number(stream, line->simulated_error, 1);
    fputc(',', stream);
    if (isfinite(line->simulated)) {
        text_write_field(stream, forecast->simulation.platform);
        fprintf(stream, ",\"direct\",%d,%d\r\n", line->rounds, line->of);
    } else {
        fputs(",,,\r\n", stream);
    }
}

int forecast_csv(FILE *stream, const struct forecast *forecast)
{
    fputs("workload,scaling,devices,backend,communicator,math,bucket_bytes,per_process,host_inputs,"
          "ranks,batch,shard,measured_seconds,forecast_seconds,forecast_lower,forecast_upper,"
          "efficiency,"
          "efficiency_lower,efficiency_upper,left_out_seconds,left_out_error,residual,state,"
          "extrapolated,simulated_seconds,simulated_error,platform,reduction,rounds_simulated,"
          "rounds\r\n",
          stream);
    for (size_t i = 0; i < forecast->n_series; ++i)
        for (size_t k = 0; k < forecast->series[i].n; ++k)
            write_line(stream, forecast, &forecast->series[i], &forecast->series[i].line[k]);
    return 0;
}
