/* forecast/markdown.c: the forecast for the page of a job. */
#include "export/grid.h"
#include "forecast/forecast.h"

int forecast_markdown(FILE *stream, const struct forecast *forecast)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    char words[FORECAST_TEXT];
    int status = 0;

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];
        struct grid grid;

        forecast_series_words(series, words);
        text_print(&out, "%s### %s\n\n", i > 0 ? "\n" : "", words);
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
        status |= grid_markdown(&grid, series->n);
        grid_close(&grid);
        forecast_fit_words(series, words);
        text_print(&out, "\n%s", words);
        forecast_interval_words(series, words);
        text_print(&out, " %s", words);
        forecast_simulated_words(forecast, series, words);
        text_print(&out, words[0] != '\0' ? " %s\n" : "%s\n", words);
    }
    return status;
}
