/* forecast/text.c: the forecast for people. */
#include "forecast/forecast.h"

#include "command/command.h"

#include <string.h>

enum { COLUMNS = 100 };

/* Of columns but the last; numbers are to the right. */
static const int widths[FORECAST_NOTE] = {5, 6, 8, 8, 20, 10, 8, 9, 8, 9, 10};

/* NULL: the names of the columns. */
static void print_row(FILE *stream, const struct forecast *forecast,
                      const struct forecast_line *line)
{
    char text[FORECAST_TEXT] = "";

    for (int c = 0; c < FORECAST_NOTE; ++c) {
        if (!forecast_shows(forecast, c))
            continue;
        if (line)
            forecast_line_words(forecast, line, c, text);
        fprintf(stream, " %*s", widths[c], line ? text : forecast_column_names[c]);
    }
    if (line)
        forecast_line_words(forecast, line, FORECAST_NOTE, text);
    fputs(text[0] != '\0' ? "  " : "", stream);
    text_write(stream, TEXT_PLAIN, text, strlen(text));
    fputc('\n', stream);
}

int forecast_text(FILE *stream, const struct forecast *forecast)
{
    char words[FORECAST_TEXT];

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];

        forecast_series_words(series, words);
        fprintf(stream, "%s", i > 0 ? "\n" : "");
        text_write(stream, TEXT_PLAIN, words, strlen(words));
        fputc('\n', stream);
        print_row(stream, forecast, NULL);
        for (size_t k = 0; k < series->n; ++k)
            print_row(stream, forecast, &series->line[k]);
        forecast_fit_words(series, words);
        command_wrap(stream, words, 0, 0, COLUMNS);
        forecast_interval_words(series, words);
        command_wrap(stream, words, 0, 0, COLUMNS);
        forecast_simulated_words(forecast, series, words);
        if (words[0] != '\0')
            command_wrap(stream, words, 0, 0, COLUMNS);
    }
    return 0;
}
