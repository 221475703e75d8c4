/* forecast/markdown.c: the forecast for the page of a job. */
#include "forecast/forecast.h"

#include "files/text_out.h"

static void print_line(struct text_out *out, const struct forecast *forecast,
                       const struct forecast_line *line)
{
    char words[FORECAST_TEXT];

    for (int c = 0; c < FORECAST_COLUMNS; ++c) {
        if (!forecast_shows(forecast, c))
            continue;
        forecast_line_words(forecast, line, c, words);
        text_print(out, "| %s ", words);
    }
    text_print(out, "|\n");
}

static void print_names(struct text_out *out, const struct forecast *forecast)
{
    for (int c = 0; c < FORECAST_COLUMNS; ++c)
        if (forecast_shows(forecast, c))
            text_print(out, "| %s ", forecast_column_names[c]);
    text_print(out, "|\n");
    for (int c = 0; c < FORECAST_COLUMNS; ++c)
        if (forecast_shows(forecast, c))
            text_print(out, c == FORECAST_NOTE ? "|---" : "|--:");
    text_print(out, "|\n");
}

int forecast_markdown(FILE *stream, const struct forecast *forecast)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char words[FORECAST_TEXT];

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];

        forecast_series_words(series, words);
        text_print(&out, "%s### %s\n\n", i > 0 ? "\n" : "", words);
        print_names(&out, forecast);
        for (size_t k = 0; k < series->n; ++k)
            print_line(&out, forecast, &series->line[k]);
        forecast_fit_words(series, words);
        text_print(&out, "\n%s", words);
        forecast_interval_words(series, words);
        text_print(&out, " %s", words);
        forecast_simulated_words(forecast, series, words);
        text_print(&out, words[0] != '\0' ? " %s\n" : "%s\n", words);
    }
    return 0;
}
