/* forecast/gather.c: which points a forecast is made of, and which records have none.
 *
 * What is not verified, or not measured, is refused and not left out: a forecast without it would
 * look like one of all that was planned. */
#include "forecast/forecast.h"

#include "record/record.h"
#include "text/alloc.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>

/* ---- a point --------------------------------------------------------------------------------- */

static int check_point(const struct report_point *point, struct text_error *why)
{
    const struct record_cell *cell = point->row->cell;
    const struct record_key *key = &cell->key;
    struct workload workload;
    struct fit_traffic traffic;
    char words[FORECAST_TEXT], name[FORECAST_TEXT];

    snprintf(name, sizeof name, "%.96s, ddp on %.64s, %zu row%s", key->workload, key->devices,
             key->global_batch, text_s(key->global_batch));
    if (workload_parse(key->workload, &workload, words, sizeof words) != 0)
        return text_fail(why, "%s: this build knows no such workload", name);
    if (key->n_devices < 1)
        return text_fail(why, "%s: on no device", name);
    if (forecast_traffic(key, cell->model_params, key->n_devices, &traffic) != 0)
        return text_fail(why,
                         "%s: how a reduction by '%.32s' with %zu devices a process grows with the "
                         "ranks is not known",
                         name, key->communicator, key->per_process);
    for (size_t i = 0; i < point->n; ++i)
        if (!point->row[i].verified)
            return text_fail(why, "%s, launch %d: %s; only verified cells make a forecast", name,
                             point->row[i].cell->key.launch, point->row[i].state);
    for (size_t i = 0; i < point->n; ++i) {
        cell = point->row[i].cell;
        /* One rank has nothing to reduce. */
        if (cell->key.n_devices > 1 && !(cell->compute_alone_ns > 0 && cell->comm_alone_ns > 0))
            return text_fail(why, "%s: its reduction was not measured by itself", name);
    }
    return 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* All that decides what a transfer takes, but for its bytes and the ranks. */
static bool is_of_setting(const struct report_point *a, const struct report_point *b)
{
    struct record_key key[2] = {a->row->cell->key, b->row->cell->key};

    for (int i = 0; i < 2; ++i) {
        memset(key[i].workload, 0, sizeof key[i].workload);
        memset(key[i].devices, 0, sizeof key[i].devices);
        key[i].n_devices = 0;
        key[i].global_batch = 0;
    }
    return a->row->variant == b->row->variant && strcmp(a->row->kind, b->row->kind) == 0 &&
           record_order(record_key_fields, RECORD_APART, &key[0], &key[1]) == 0;
}

static int add_to_setting(struct forecast *forecast, const struct report_point *point,
                          struct text_error *why)
{
    const int ranks = point->row->cell->key.n_devices;
    size_t i = 0, model = 0;

    while (i < forecast->n_settings && !is_of_setting(forecast->setting[i].point[0], point))
        ++i;
    forecast->n_settings += i == forecast->n_settings;
    struct forecast_setting *setting = &forecast->setting[i];

    if (setting->n == FIT_POINTS)
        return text_fail(why, "more than %d points of %.64s in one setting", FIT_POINTS,
                         point->row->kind);
    while (model < setting->n && strcmp(setting->point[model]->row->cell->key.workload,
                                        point->row->cell->key.workload) != 0)
        ++model;
    setting->point[setting->n] = point;
    setting->model[setting->n] = model;
    if (setting->n == 0 || point->n < setting->launches)
        setting->launches = point->n;
    if (ranks > setting->most)
        setting->most = ranks;
    ++setting->n;
    return 0;
}

/* ---- series ---------------------------------------------------------------------------------- */

bool forecast_series_has(const struct forecast_series *series, size_t index)
{
    const struct report_point *point = series->setting->point[index];

    return series->model == series->setting->model[index] && series->weak == point->weak &&
           series->rows == point->batch;
}

static void add_to_series(struct forecast *forecast, const struct forecast_setting *setting,
                          size_t index)
{
    const struct report_point *point = setting->point[index];
    struct forecast_series *series = forecast->series;
    size_t i = 0;

    while (i < forecast->n_series &&
           !(series[i].setting == setting && forecast_series_has(&series[i], index)))
        ++i;
    if (i == forecast->n_series)
        series[forecast->n_series++] = (struct forecast_series){.point = point,
                                                                .setting = setting,
                                                                .model = setting->model[index],
                                                                .rows = point->batch,
                                                                .weak = point->weak};
    else if (point->row->cell->key.n_devices > series[i].point->row->cell->key.n_devices)
        series[i].point = point;
}

int forecast_gather(struct forecast *forecast, struct text_error *why)
{
    const size_t points = forecast->report->n_points;

    forecast->setting = cli_alloc(points, sizeof *forecast->setting);
    forecast->series = cli_alloc(points, sizeof *forecast->series);
    const struct report *report = forecast->report;
    int status = 0;

    for (size_t i = 0; i < report->n_points && status == 0; ++i) {
        const struct report_point *point = &report->point[i];

        if (!report_is_ddp(point))
            continue;
        status = check_point(point, why);
        if (status == 0)
            status = add_to_setting(forecast, point, why);
    }
    if (status == 0 && forecast->n_settings == 0)
        status = text_fail(why, "no cell of mode ddp, and forecasts are of that: sweep --mode ddp");
    if (status != 0)
        return -1;
    for (size_t s = 0; s < forecast->n_settings; ++s)
        for (size_t i = 0; i < forecast->setting[s].n; ++i)
            add_to_series(forecast, &forecast->setting[s], i);
    for (size_t i = 0; i < forecast->n_series; ++i) {
        struct forecast_series *series = &forecast->series[i];
        const int most = series->point->row->cell->key.n_devices;
        bool seen[RECORD_MAX_RANKS + 1] = {false};
        char words[FORECAST_TEXT];

        for (size_t k = 0; k < series->setting->n; ++k) {
            const int ranks = series->setting->point[k]->row->cell->key.n_devices;

            if (forecast_series_has(series, k) && !seen[ranks]) {
                seen[ranks] = true;
                ++series->counts;
            }
        }
        forecast_series_words(series, words);
        if (series->counts < 2)
            return text_fail(why,
                             "%.200s: 1 count of ranks, %d; a fit takes 2 at least, such as 1,2",
                             words, most);
        if (series->setting->most > forecast->to)
            return text_fail(why, "--to %d is below the %d ranks that are measured", forecast->to,
                             series->setting->most);
    }
    return 0;
}

void forecast_free(struct forecast *forecast)
{
    for (size_t i = 0; i < forecast->n_series; ++i)
        free(forecast->series[i].line);
    free(forecast->series);
    free(forecast->setting);
}
