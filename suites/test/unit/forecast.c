/* forecast.c: a planted step is forecast; numbers that the fit cannot know are left out; records
 * that are no measurement are refused. */
#include "points_bench.h"
#include "record_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast/forecast.h"

/* ---- the fit --------------------------------------------------------------------------------- */

/* The planted times in ns: of a rank, a row of it, a transfer, a byte; two models with different
 * bytes. */
static const double FIXED = 3e5, ROW = 2e4, ALPHA = 1e6, BETA = 0.5;
static const double BYTES[] = {1 << 14, 1 << 18};

static struct fit_traffic traffic_of(int ranks, double bytes)
{
    return ranks > 1 ? (struct fit_traffic){ranks, bytes} : (struct fit_traffic){0, 0};
}

/* A tenth of the reduction is hidden, but at most 12 % of the computation. */
static struct fit_point planted(int ranks, size_t shard, size_t model)
{
    const struct fit_traffic traffic = traffic_of(ranks, BYTES[model]);
    const double compute = FIXED + ROW * (double)shard * (double)(model + 1);
    const double comm = ALPHA * traffic.transfers + BETA * traffic.bytes;
    const double hidden = fmin(0.1 * comm, 0.12 * compute);

    return (struct fit_point){.ranks = ranks,
                              .shard = shard,
                              .model = model,
                              .traffic = traffic,
                              .step = compute + comm - hidden,
                              .compute = compute,
                              .comm = comm,
                              .hidden = hidden};
}

static double forecast_of(const struct fit_model *fit, int ranks, size_t shard, size_t model)
{
    return fit_time(fit, ranks, shard, traffic_of(ranks, BYTES[model])).step;
}

enum { GRID = 12 };

static size_t fill_grid(struct fit_point point[GRID], int most)
{
    size_t n = 0;
    for (size_t model = 0; model < 2; ++model)
        for (int ranks = 1; ranks <= most; ranks *= 2)
            for (size_t rows = 64; rows <= 1024; rows *= 16)
                point[n++] = planted(ranks, rows / (size_t)ranks, model);
    return n;
}

Test(forecast, what_is_planted_is_forecast)
{
    struct fit_point point[GRID];
    struct fit_model fit;
    const size_t n = fill_grid(point, 2);
    for (size_t model = 0; model < 2; ++model) {
        fit_model(point, n, n, model, &fit);
        cr_assert(bench_near(fit.transfer.alpha, ALPHA) && bench_near(fit.transfer.beta, BETA));
        for (int ranks = 1; ranks <= 64; ranks *= 2)
            for (size_t shard = 1; shard <= 1024; shard *= 4) {
                const double step = forecast_of(&fit, ranks, shard, model);
                const double truth = planted(ranks, shard, model).step;
                cr_assert(bench_near(step, truth), "%d ranks, %zu rows, model %zu: %g, planted %g",
                          ranks, shard, model, step, truth);
            }
    }
}

/* One of several ranks takes longer for the same rows. */
Test(forecast, several_ranks_have_a_computation_of_their_own)
{
    static const double more = 7e5;
    struct fit_point point[GRID];
    struct fit_model fit;
    const size_t n = fill_grid(point, 2);
    for (size_t i = 0; i < n; ++i)
        point[i].compute += point[i].ranks > 1 ? more : 0;
    fit_model(point, n, n, 0, &fit);
    const struct fit_traffic traffic = traffic_of(4, BYTES[0]);
    cr_assert(
        bench_near(fit_time(&fit, 4, 100, traffic).compute, planted(4, 100, 0).compute + more));
    cr_assert(bench_near(fit_time(&fit, 1, 100, traffic).compute, planted(1, 100, 0).compute));
}

/* Each point is forecast from the others, whatever its own values are. */
Test(forecast, a_point_that_is_left_out_has_no_part_in_it)
{
    struct fit_point point[GRID];
    struct fit_model fit;
    const size_t n = fill_grid(point, 4);
    cr_assert(n == GRID);
    for (size_t i = 0; i < n; ++i) {
        const struct fit_point kept = point[i];
        point[i] = (struct fit_point){kept.ranks, kept.shard, kept.model, kept.traffic,
                                      1,          1e12,       1e12,       5e11};
        fit_model(point, n, i, kept.model, &fit);
        const double step = forecast_of(&fit, kept.ranks, kept.shard, kept.model);
        cr_assert(bench_near(step, kept.step), "point %zu: %g, planted %g", i, step, kept.step);
        point[i] = kept;
    }
}

Test(forecast, one_size_says_nothing_of_others)
{
    const struct fit_point point[] = {planted(1, 64, 0), planted(2, 32, 0)};
    struct fit_model fit;
    fit_model(point, 2, 2, 0, &fit);
    cr_assert(bench_near(forecast_of(&fit, 2, 32, 0), point[1].step));
    cr_assert(isnan(forecast_of(&fit, 4, 16, 0)));
    /* With one rank nothing is moved. */
    cr_assert(bench_near(forecast_of(&fit, 1, 64, 0), point[0].step));
    fit_model(point, 2, 1, 0, &fit);
    cr_assert(isnan(forecast_of(&fit, 2, 32, 0)));
    fit_model(point, 2, 0, 1, &fit);
    cr_assert(isnan(forecast_of(&fit, 1, 64, 1)), "a model without a point");
}

Test(forecast, one_shard_says_nothing_of_others)
{
    const struct fit_point point[] = {planted(1, 64, 0), planted(2, 64, 0), planted(4, 64, 0)};
    struct fit_model fit;
    fit_model(point, 3, 3, 0, &fit);
    cr_assert(bench_near(forecast_of(&fit, 16, 64, 0), planted(16, 64, 0).step));
    fit_model(point, 3, 2, 0, &fit);
    cr_assert(isnan(forecast_of(&fit, 16, 64, 0)), "what was left out says something");
    cr_assert(isnan(forecast_of(&fit, 16, 32, 0)));
}

/* ---- traffic --------------------------------------------------------------------------------- */

Test(forecast, traffic_of_communicators)
{
    static const struct {
        const char *name;
        size_t bucket;
        int ranks;
        double transfers, bytes; /* for each of 1,000 parameters, 4,000 bytes together */
    } rows[] = {{"threads", 0, 1, 0, 0},        {"threads", 0, 2, 2, 4000},
                {"threads", 0, 4, 4, 4000},     {"threads", 1000, 4, 16, 4000},
                {"threads", 1001, 4, 16, 4000}, {"peer", 0, 8, 8, 4000},
                {"staged", 0, 2, 5, 20000},     {"peer-staged", 0, 2, 5, 20000},
                {"nccl+peer", 0, 4, 6, 6000},   {"mpi", 0, 2, 2, 4000},
                {"mpi", 0, 4, 6, 6000},         {"nccl", 0, 4, 6, 6000},
                {"nccl+nccl", 0, 4, 6, 6000}};
    struct fit_traffic traffic;
    struct record_key key = {.per_process = 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        snprintf(key.communicator, sizeof key.communicator, "%s", rows[i].name);
        key.bucket_bytes = rows[i].bucket;
        cr_assert(forecast_traffic(&key, 1000, rows[i].ranks, &traffic) == 0);
        cr_assert(fabs(traffic.transfers - rows[i].transfers) < 1e-9 &&
                      fabs(traffic.bytes - rows[i].bytes) < 1e-6,
                  "row %zu: %g, %g", i, traffic.transfers, traffic.bytes);
    }
    key.bucket_bytes = 0; /* the limits are 1 MiB, then 25 MiB, then the rest */
    cr_assert(forecast_traffic(&key, 7 << 20, 2, &traffic) == 0 && traffic.transfers == 6);
    key.per_process = 2;
    cr_assert(forecast_traffic(&key, 1000, 2, &traffic) != 0);
    key.per_process = 0;
    snprintf(key.communicator, sizeof key.communicator, "pigeons");
    cr_assert(forecast_traffic(&key, 1000, 2, &traffic) != 0);
}

/* ---- of records ------------------------------------------------------------------------------ */

enum { LAUNCHES = 6 };

/* Returns the factor by which this launch is longer. */
static double noise_of(int launch)
{
    return 1 + 0.01 * (launch % 3);
}

static struct record_cell *add_cell(struct bench *bench, const struct fit_point *of, size_t batch,
                                    int launch, double noise)
{
    const struct report_row *row = bench_add(bench, "ddp", of->ranks, batch, launch, of->step);
    struct record_cell *cell = &bench->cell[row - bench->row];
    snprintf(cell->key.workload, sizeof cell->key.workload, "mlp:%d,8", 8 + (int)of->model);
    snprintf(cell->key.communicator, sizeof cell->key.communicator, "threads");
    snprintf(cell->key.devices, sizeof cell->key.devices, "virt:%d", of->ranks);
    cell->model_params = (size_t)BYTES[of->model] / sizeof(float);
    cell->median_ns = of->step * noise;
    cell->compute_alone_ns = of->compute * noise;
    cell->comm_alone_ns = of->ranks > 1 ? of->comm * noise : 0;
    cell->whole_ns = of->step * noise;
    cell->hidden_frac = of->ranks > 1 ? of->hidden / of->comm : (double)NAN;
    return cell;
}

static struct bench *open_sweep(const char *scaling, int most, size_t models)
{
    struct bench *bench = bench_open(scaling);
    for (size_t model = 0; model < models; ++model)
        for (int ranks = 1; ranks <= most; ranks *= 2)
            for (int l = 0; l < LAUNCHES; ++l) {
                const bool weak = strcmp(scaling, "weak") == 0;
                const size_t shard = weak ? 64 : 64 / (size_t)ranks;
                const struct fit_point point = planted(ranks, shard, model);
                add_cell(bench, &point, shard * (size_t)ranks, l, noise_of(l));
            }
    return bench;
}

static int forecast_make(struct bench *bench, int to, struct forecast *forecast,
                         struct text_error *why)
{
    bench_make(bench);
    *forecast = (struct forecast){.report = &bench->report, .to = to};
    *why = (struct text_error){{0}};
    return forecast_gather(forecast, why) != 0 || forecast_fill(forecast, why) != 0 ? -1 : 0;
}

static void close_both(struct bench *bench, struct forecast *forecast)
{
    forecast_free(forecast);
    bench_close(bench);
}

static const struct forecast_line *line_of(const struct forecast_series *series, int ranks)
{
    for (size_t i = 0; i < series->n; ++i)
        if (series->line[i].ranks == ranks)
            return &series->line[i];
    cr_assert_fail("no line of %d ranks", ranks);
    return NULL;
}

Test(forecast, lines_of_a_sweep)
{
    for (int weak = 0; weak < 2; ++weak) {
        struct bench *bench = open_sweep(weak ? "weak" : "strong", 4, 2);
        struct forecast forecast;
        struct text_error why;
        cr_assert(forecast_make(bench, 12, &forecast, &why) == 0, "%s", why.text);
        cr_assert(forecast.n_settings == 1 && forecast.n_series == 2);
        cr_assert(forecast_count(&forecast).without == 0 && forecast_count(&forecast).lines == 10);
        for (size_t s = 0; s < 2; ++s) {
            const struct forecast_series *series = &forecast.series[s];
            cr_assert(series->weak == weak && series->rows == 64 && series->counts == 3);
            cr_assert(series->n == 5 && series->line[4].ranks == 12, "1, 2, 4, 8, 12");
            for (size_t i = 0; i < series->n; ++i) {
                const struct forecast_line *line = &series->line[i];
                const struct fit_point truth = planted(line->ranks, line->shard, series->model / 3);
                const double step = truth.step * 1.01;
                cr_assert(fabs(line->step.middle / step - 1) < 1e-6, "%d ranks: %g, planted %g",
                          line->ranks, line->step.middle, step);
                cr_assert(line->step.range == REPORT_INTERVAL && line->step.lo < step &&
                          line->step.hi > step);
                cr_assert(line->extrapolated == (line->ranks > 8));
                cr_assert((line->point != NULL) == (line->ranks <= 4));
                cr_assert(!line->point || fabs(line->residual) < 1e-6);
                const double base = planted(1, 64, series->model / 3).step;
                const double times = weak ? 1 : line->ranks;
                cr_assert(fabs(line->efficiency.middle * times * truth.step / base - 1) < 1e-6);
            }
            cr_assert(series->tried == 2 && fabs(line_of(series, 4)->error) < 0.05);
        }
        close_both(bench, &forecast);
    }
}

/* One of the counts takes half as long again as the model says: that makes all intervals wider. */
Test(forecast, an_error_makes_intervals_wider)
{
    struct bench *bench = open_sweep("weak", 8, 1);
    struct forecast forecast;
    struct text_error why;
    for (size_t i = 0; i < bench->report.n_rows; ++i)
        if (bench->cell[i].key.n_devices == 4)
            bench->cell[i].median_ns *= 1.5;
    cr_assert(forecast_make(bench, 16, &forecast, &why) == 0, "%s", why.text);
    const struct forecast_series *series = &forecast.series[0];
    const struct forecast_line *line = line_of(series, 16);
    cr_assert(fabs(series->off - 1.0 / 3) < 0.01, "%g", series->off);
    cr_assert(fabs(line_of(series, 4)->error + 1.0 / 3) < 0.01);
    cr_assert(line->step.lo <= line->step.middle * (1 - series->off) &&
              line->step.hi >= line->step.middle * (1 + series->off));
    cr_assert(line->state == FORECAST_HOLDS);
    close_both(bench, &forecast);

    bench = open_sweep("weak", 8, 1);
    for (size_t i = 0; i < bench->report.n_rows; ++i)
        if (bench->cell[i].key.n_devices == 4)
            bench->cell[i].median_ns *= 2.5;
    cr_assert(forecast_make(bench, 16, &forecast, &why) == 0, "%s", why.text);
    cr_assert(line_of(&forecast.series[0], 16)->state == FORECAST_WIDE);
    cr_assert(forecast_count(&forecast).without > 0);
    close_both(bench, &forecast);
}

/* A forecast far from its points has no number, nor has alpha if 16 times the bytes take 1,000
 * times as long. */
Test(forecast, what_cannot_be_resolved_has_no_number)
{
    struct bench *bench = open_sweep("weak", 4, 1);
    struct forecast forecast;
    struct text_error why;
    char text[FORECAST_TEXT];
    for (size_t i = 0; i < bench->report.n_rows; ++i)
        if (bench->cell[i].key.n_devices == 2)
            bench->cell[i].median_ns *= 3;
    cr_assert(forecast_make(bench, 8, &forecast, &why) == 0, "%s", why.text);
    const struct forecast_series *series = &forecast.series[0];
    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        const struct forecast_line *line = line_of(series, ranks);
        cr_assert(line->state == FORECAST_WIDE, "%d ranks: %g to %g", ranks, line->step.lo,
                  line->step.hi);
        forecast_line_words(&forecast, line, FORECAST_STEP, text);
        cr_assert_str_eq(text, "-");
        forecast_line_words(&forecast, line, FORECAST_NOTE, text);
        cr_assert(strstr(text, "not resolved: the interval is wider than the number"), "%s", text);
    }
    cr_assert(line_of(series, 1)->state == FORECAST_HOLDS);
    close_both(bench, &forecast);

    bench = open_sweep("weak", 4, 2);
    for (size_t i = 0; i < bench->report.n_rows; ++i)
        if (bench->cell[i].key.n_devices > 1)
            bench->cell[i].comm_alone_ns = bench->cell[i].model_params > 4096 ? 1e8 : 1e5;
    cr_assert(forecast_make(bench, 8, &forecast, &why) == 0, "%s", why.text);
    forecast_fit_words(&forecast.series[0], text);
    cr_assert(strstr(text, "alpha not resolved") || strstr(text, "1/beta not resolved"), "%s",
              text);
    close_both(bench, &forecast);
}

Test(forecast, more_ranks_than_rows_have_no_number)
{
    struct bench *bench = open_sweep("strong", 4, 2);
    struct forecast forecast;
    struct text_error why;
    cr_assert(forecast_make(bench, 128, &forecast, &why) == 0, "%s", why.text);
    cr_assert(line_of(&forecast.series[0], 64)->state == FORECAST_HOLDS);
    cr_assert(line_of(&forecast.series[0], 128)->state == FORECAST_NO_ROWS);
    close_both(bench, &forecast);
}

/* Text of records is cleaned when it is read; characters that are special in a form are escaped
 * there. */
Test(forecast, words_of_others_are_escaped)
{
    static void (*const forms[])(FILE *, const struct forecast *) = {
        forecast_text, forecast_json, forecast_csv, forecast_markdown};
    static const char *const forbidden[] = {"\u202e", NULL, "\"=cmd", "<b>"};
    static const char *const wanted[] = {"<U+202E>", "\"virt", "\"'=cmd", "&lt;b&gt;"};
    struct bench *bench = open_sweep("weak", 4, 2);
    struct forecast forecast;
    struct text_error why;
    for (size_t i = 0; i < bench->report.n_rows; ++i) {
        snprintf(bench->row[i].kind, sizeof bench->row[i].kind, "virt\u202e<b>|\"");
        snprintf(bench->cell[i].key.backend, sizeof bench->cell[i].key.backend, "=cmd");
    }
    cr_assert(forecast_make(bench, 4, &forecast, &why) == 0, "%s", why.text);
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; ++f) {
        char *text = NULL;
        size_t bytes;
        FILE *const stream = open_memstream(&text, &bytes);
        cr_assert(stream);
        forms[f](stream, &forecast);
        cr_assert(fclose(stream) == 0 && bytes > 0);
        cr_assert(!forbidden[f] || !strstr(text, forbidden[f]), "form %zu: %s", f, text);
        cr_assert(strstr(text, wanted[f]), "form %zu: %s", f, text);
        free(text);
    }
    close_both(bench, &forecast);
}

/* ---- what is refused ------------------------------------------------------------------------- */

Test(forecast, what_is_no_measurement_is_refused)
{
    static const struct {
        const char *change; /* of all cells, for example_change; NULL: one is not verified */
        int most, to;
        const char *words;
    } rows[] = {
        {NULL, 4, 8, "launch 1: failed; only verified cells"},
        {"mode=dp", 4, 8, "no cell of mode ddp"},
        {"workload=gpt9", 4, 8, "this build knows no such workload"},
        {"communicator=pigeons", 4, 8, "by 'pigeons'"},
        {"comm_alone_ns=nan", 4, 8, "its reduction was not measured by itself"},
        {"", 4, 2, "--to 2 is below the 4 ranks"},
        {"", 1, 8, "1 count of ranks, 1; a fit takes 2"},
        {"", 2, 8, "measure 3 counts of ranks, such as 1,2,4, or 2 workloads"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct bench *bench = open_sweep("weak", rows[i].most, 1);
        struct forecast forecast;
        struct text_error why;
        for (size_t k = 0; rows[i].change && k < bench->report.n_rows; ++k)
            example_change(&bench->cell[k], rows[i].change);
        if (!rows[i].change)
            bench_fail(&bench->row[7]);
        cr_assert(forecast_make(bench, rows[i].to, &forecast, &why) != 0, "row %zu", i);
        cr_assert(strstr(why.text, rows[i].words), "row %zu: %s", i, why.text);
        close_both(bench, &forecast);
    }
}
