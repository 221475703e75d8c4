/* forecast/markdown.c: the forecast for the page of a job. */
#include "forecast/forecast.h"

#include "files/text_out.h"

int forecast_markdown(FILE *stream, const struct forecast *forecast)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char words[FORECAST_TEXT];

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];

        forecast_series_words(series, words);
        text_print(&out, "%s### %s\n\n", i > 0 ? "\n" : "", words);
        for (int c = 0; c < FORECAST_COLUMNS; ++c)
            text_print(&out, "| %s ", forecast_column_names[c]);
        text_print(&out, "|\n");
        for (int c = 0; c < FORECAST_COLUMNS; ++c)
            text_print(&out, c == FORECAST_NOTE ? "|---" : "|--:");
        text_print(&out, "|\n");
        for (size_t k = 0; k < series->n; ++k) {
            for (int c = 0; c < FORECAST_COLUMNS; ++c) {
                forecast_line_words(&series->line[k], c, words);
                text_print(&out, "| %s ", words);
            }
            text_print(&out, "|\n");
        }
        forecast_fit_words(series, words);
        text_print(&out, "\n%s", words);
        forecast_interval_words(series, words);
        text_print(&out, " %s\n", words);
    }
    return 0;
}
