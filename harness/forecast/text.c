/* forecast/text.c: the forecast for people. */
#include "forecast/forecast.h"

#include "command/command.h"

#include <string.h>

enum { COLUMNS = 100 };

/* Of columns but the last; numbers are to the right. */
static const int widths[FORECAST_NOTE] = {5, 6, 8, 8, 20, 10, 8, 9, 8};

static void print_row(FILE *stream, const char *(*word)(const void *of, int column, char *text),
                      const void *of)
{
    char text[FORECAST_TEXT];

    for (int c = 0; c < FORECAST_NOTE; ++c)
        fprintf(stream, " %*s", widths[c], word(of, c, text));
    const char *const note = word(of, FORECAST_NOTE, text);

    fprintf(stream, "%s%s\n", note[0] != '\0' ? "  " : "", note);
}

static const char *name_of(const void *of, int column, char *text)
{
    (void)of;
    (void)text;
    return column == FORECAST_NOTE ? "" : forecast_column_names[column];
}

static const char *word_of(const void *of, int column, char *text)
{
    forecast_line_words(of, column, text);
    return text;
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
        print_row(stream, name_of, NULL);
        for (size_t k = 0; k < series->n; ++k)
            print_row(stream, word_of, &series->line[k]);
        forecast_fit_words(series, words);
        command_wrap(stream, words, 0, 0, COLUMNS);
        forecast_interval_words(series, words);
        command_wrap(stream, words, 0, 0, COLUMNS);
    }
    return 0;
}
