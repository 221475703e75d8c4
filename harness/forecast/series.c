/* forecast/series.c: the lines of a series: every launch has its own fit, and the numbers are
 * the median over the launches.
 *
 * The interval is that over the launches, made wider on both sides by the largest error of a
 * forecast whose point was left out of the fit, or by the largest residual where none can be: noise
 * alone says nothing of a model that is wrong.
 */
#include "forecast/forecast.h"
#include "text/alloc.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* The measurements and fits of a series. */
struct bench {
    struct forecast_series *series;
    struct fit_point *point; /* [launch * n + point] */
    struct fit_model *fit;   /* [launch] */
    double *base;            /* [launch]: the step of one rank */
    double *number;          /* room for one per launch */
};

static void bench_open(struct bench *bench, struct forecast_series *series)
{
    const struct forecast_setting *setting = series->setting;
    const size_t launches = setting->launches;

    *bench = (struct bench){.series = series,
                            .point = cli_alloc(launches * setting->n, sizeof *bench->point),
                            .fit = cli_alloc(launches, sizeof *bench->fit),
                            .base = cli_alloc(launches, sizeof *bench->base),
                            .number = cli_alloc(launches, sizeof *bench->number)};
    for (size_t k = 0; k < launches * setting->n; ++k) {
        const struct report_row *row = &setting->point[k % setting->n]->row[k / setting->n];
        const struct record_cell *cell = row->cell;
        const double hidden = report_number_of(row, REPORT_HIDDEN_TIME);
        const size_t n = (size_t)cell->key.n_devices;
        struct fit_point *point = &bench->point[k];

        *point = (struct fit_point){.ranks = cell->key.n_devices,
                                    .shard = (cell->key.global_batch + n - 1) / n,
                                    .model = setting->model[k % setting->n],
                                    .step = cell->median_ns,
                                    .compute = n > 1 ? cell->compute_alone_ns : cell->median_ns,
                                    .comm = cell->comm_alone_ns,
                                    .hidden = isfinite(hidden) ? hidden : 0};
        (void)forecast_traffic(&cell->key, cell->model_params, point->ranks, &point->traffic);
    }
}

/* Fits each launch without a point; FIT_POINTS: with all. */
static void fit_launches(struct bench *bench, size_t skip)
{
    const struct forecast_setting *setting = bench->series->setting;

    for (size_t l = 0; l < setting->launches; ++l)
        fit_model(&bench->point[l * setting->n], setting->n, skip, bench->series->model,
                  &bench->fit[l]);
}

static struct fit_time fitted_time(const struct bench *bench, size_t launch,
                                   const struct forecast_line *line)
{
    const struct record_cell *cell = bench->series->point->row->cell;
    struct fit_traffic traffic;

    (void)forecast_traffic(&cell->key, cell->model_params, line->ranks, &traffic);
    return fit_time(&bench->fit[launch], line->ranks, line->shard, traffic);
}

/* Over launches, of a whole step or of its computation. */
static struct report_value times_of(const struct bench *bench, const struct forecast_line *line,
                                    bool whole)
{
    const size_t launches = bench->series->setting->launches;
    size_t n = 0;

    for (size_t l = 0; l < launches; ++l) {
        const double time =
            whole ? fitted_time(bench, l, line).step : fitted_time(bench, l, line).compute;

        if (isfinite(time))
            bench->number[n++] = time;
    }
    return report_value_of(bench->number, n);
}

/* ---- which lines there are ------------------------------------------------------------------- */

static int compare_lines(const void *left, const void *right)
{
    const struct forecast_line *a = left, *b = right;

    return (a->ranks > b->ranks) - (a->ranks < b->ranks);
}

static void add_line(struct forecast_series *series, int ranks, const struct report_point *point)
{
    const size_t n = (size_t)ranks;

    for (size_t i = 0; !point && i < series->n; ++i)
        if (series->line[i].ranks == ranks)
            return;
    series->line[series->n++] =
        (struct forecast_line){.ranks = ranks,
                               .shard = series->weak ? series->rows : (series->rows + n - 1) / n,
                               .batch = series->weak ? series->rows * n : series->rows,
                               .point = point,
                               .measured = point ? report_middle(point, REPORT_STEP) : (double)NAN,
                               .extrapolated = ranks > 2 * series->setting->most,
                               .without = NAN,
                               .error = NAN,
                               .compute = NAN,
                               .simulated = NAN,
                               .simulated_error = NAN};
}

/* Lines for the ranks that are measured, the powers of two, and the last. */
static void make_lines(struct forecast_series *series, int to)
{
    const struct forecast_setting *setting = series->setting;

    series->line = cli_alloc(FORECAST_LINES, sizeof *series->line);
    for (size_t i = 0; i < setting->n; ++i)
        if (forecast_series_has(series, i))
            add_line(series, setting->point[i]->row->cell->key.n_devices, setting->point[i]);
    for (int ranks = 1; ranks <= to; ranks *= 2)
        add_line(series, ranks, NULL);
    add_line(series, to, NULL);
    qsort(series->line, series->n, sizeof *series->line, compare_lines);
}

/* ---- what is said of a line ------------------------------------------------------------------ */

static enum forecast_state state_of_line(const struct forecast_line *line)
{
    const struct report_value *step = &line->step;

    if (line->batch < (size_t)line->ranks)
        return FORECAST_NO_ROWS;
    if (!(step->middle > 0))
        return FORECAST_UNKNOWN;
    return step->hi - step->lo > step->middle ? FORECAST_WIDE : FORECAST_HOLDS;
}

/* The median over the launches of the costs of a transfer. */
static void fill_fit(const struct bench *bench, struct forecast_series *series)
{
    const size_t launches = series->setting->launches;
    const struct {
        struct report_value *value;
        size_t offset;
    } rows[] = {{&series->alpha, offsetof(struct fit_model, transfer.alpha)},
                {&series->beta, offsetof(struct fit_model, transfer.beta)},
                {&series->share, offsetof(struct fit_model, share)},
                {&series->cover, offsetof(struct fit_model, cover)}};

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        for (size_t l = 0; l < launches; ++l)
            bench->number[l] = *(const double *)((const char *)&bench->fit[l] + rows[r].offset);
        *rows[r].value = report_value_of(bench->number, launches);
    }
    series->one_size = !isnan(bench->fit[0].transfer.only);
}

/* By the error that points had which were left out. */
static void widen(struct report_value *value, double below, double above)
{
    if (value->range == REPORT_NONE) {
        value->lo = value->hi = value->middle;
        value->range = REPORT_LAUNCHES;
    }
    value->lo *= below;
    value->hi *= above;
}

/* A line that was not measured must be known: else it is no forecast. */
static int check_known(const struct bench *bench, struct text_error *why)
{
    const struct forecast_series *series = bench->series;
    const struct forecast_line *last = &series->line[series->n - 1];
    const struct fit_time time = fitted_time(bench, 0, last);
    char words[FORECAST_TEXT];

    if (last->point || !isnan(time.step) || last->batch < (size_t)last->ranks)
        return 0;
    forecast_series_words(series, words);
    if (isnan(time.comm))
        return text_fail(why,
                         "%.150s: alpha and beta cannot be told apart: measure 3 counts of ranks, "
                         "such as 1,2,4, or 2 workloads",
                         words);
    return text_fail(why,
                     "%.150s: %zu row%s on a rank %s not measured: measure 2 counts of ranks with "
                     "different shards",
                     words, last->shard, text_s(last->shard), text_are(last->shard));
}

static int fill_series(struct forecast *forecast, struct forecast_series *series,
                       struct text_error *why)
{
    struct bench bench;

    bench_open(&bench, series);
    make_lines(series, forecast->to);
    fit_launches(&bench, FIT_POINTS);
    const int status = check_known(&bench, why);

    /* The step of one rank: as it was measured, else as it is forecast. */
    const struct forecast_line *first = &series->line[0];

    for (size_t l = 0; l < series->setting->launches; ++l)
        bench.base[l] = first->point ? first->point->row[l].cell->median_ns
                                     : fitted_time(&bench, l, first).step;
    fill_fit(&bench, series);
    for (size_t i = 0; i < series->n; ++i) {
        struct forecast_line *line = &series->line[i];
        const double times = series->weak ? 1 : line->ranks;
        size_t n = 0;

        line->compute = times_of(&bench, line, false).middle;
        line->step = times_of(&bench, line, true);
        for (size_t l = 0; l < series->setting->launches; ++l) {
            const double ratio = bench.base[l] / (times * fitted_time(&bench, l, line).step);

            if (isfinite(ratio))
                bench.number[n++] = ratio;
        }
        line->efficiency = report_value_of(bench.number, n);
        line->residual = line->step.middle / line->measured - 1;
    }
    double error = NAN, residual = NAN;

    for (size_t i = 0; i < series->n; ++i) {
        struct forecast_line *line = &series->line[i];
        size_t own = 0;

        /* A fit without the point of the line shows how well the fit forecasts it. */
        if (line->point) {
            while (series->setting->point[own] != line->point)
                ++own;
            fit_launches(&bench, own);
            line->without = times_of(&bench, line, true).middle;
            line->error = line->without / line->measured - 1;
        }
        /* The time of one rank is no forecast of several: its error widens nothing. */
        if (line->ranks < 2)
            continue;
        series->tried += isfinite(line->error) != 0;
        error = fmax(error, fabs(line->error));
        residual = fmax(residual, fabs(line->residual));
    }
    series->off = series->tried > 0 ? error : residual;
    for (size_t i = 0; i < series->n; ++i) {
        struct forecast_line *line = &series->line[i];

        if (line->ranks > 1 && isfinite(series->off)) {
            widen(&line->step, fmax(1 - series->off, 0), 1 + series->off);
            widen(&line->efficiency, 1 / (1 + series->off), 1 / fmax(1 - series->off, 0));
        }
        line->state = state_of_line(line);
    }
    free(bench.point);
    free(bench.fit);
    free(bench.base);
    free(bench.number);
    return status;
}

int forecast_fill(struct forecast *forecast, struct text_error *why)
{
    int status = 0;

    for (size_t i = 0; i < forecast->n_series && status == 0; ++i)
        status = fill_series(forecast, &forecast->series[i], why);
    return status;
}

struct forecast_counts forecast_count(const struct forecast *forecast)
{
    struct forecast_counts counts = {0, 0, 0};

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];
        const bool simulates =
            forecast->simulation.platform && forecast_of_processes(&series->point->row->cell->key);

        for (size_t k = 0; k < series->n; ++k) {
            ++counts.lines;
            counts.without += series->line[k].state != FORECAST_HOLDS;
            counts.not_simulated += simulates && !isfinite(series->line[k].simulated);
        }
    }
    return counts;
}
