/* forecast/text.c: the forecast for people. */
#include "forecast/forecast.h"

#include "command/command.h"

#include <string.h>

enum { COLUMNS = 80, INDENT = 7 };

/* Next to the numbers where there is room, else below them. */
static void print_note(FILE *stream, const struct forecast *forecast,
                       const struct forecast_line *line, size_t used)
{
    char text[FORECAST_TEXT];

    forecast_line_words(forecast, line, FORECAST_NOTE, text);
    if (text[0] == '\0')
        fputc('\n', stream);
    else if (used + 2 + strlen(text) <= COLUMNS)
        fprintf(stream, "  %s\n", text);
    else {
        fprintf(stream, "\n%*s", INDENT, "");
        command_wrap(stream, text, INDENT, INDENT, COLUMNS);
    }
}

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
    if (line && first == FORECAST_RANKS)
        print_note(stream, forecast, line, used);
    else
        fputc('\n', stream);
}

int forecast_text(FILE *stream, const struct forecast *forecast)
{
    char words[FORECAST_TEXT];

    for (size_t i = 0; i < forecast->n_series; ++i) {
        const struct forecast_series *series = &forecast->series[i];

        forecast_series_words(series, words);
        fprintf(stream, "%s", i > 0 ? "\n" : "");
        command_wrap(stream, words, 0, 2, COLUMNS);
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
        command_wrap(stream, words, 0, 0, COLUMNS);
        forecast_interval_words(series, words);
        command_wrap(stream, words, 0, 0, COLUMNS);
        forecast_simulated_words(forecast, series, words);
        if (words[0] != '\0')
            command_wrap(stream, words, 0, 0, COLUMNS);
    }
    return 0;
}
