/* forecast.c: a file of a sweep, as `lockstep forecast` takes it: refused in one line, or forecast
 * and printed in all forms. */
#include "fuzz.h"

#include <stdlib.h>

#include "files/files.h"
#include "forecast/forecast.h"

static void print_all(const struct forecast *forecast)
{
    static void (*const forms[])(FILE *, const struct forecast *) = {
        forecast_text, forecast_json, forecast_csv, forecast_markdown};
    const struct forecast_counts counts = forecast_count(forecast);

    fuzz_must(counts.lines > 0 && counts.without <= counts.lines, "a forecast of nothing");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        struct memory_file printed;

        memory_file_open(&printed);
        forms[i](printed.to, forecast);
        memory_file_close(&printed);
        fuzz_must(printed.bytes > 0, "a form of which nothing is written");
        free(printed.text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct text_error why = {""};
    struct record_file file;

    if (record_read(fuzz_file(data, bytes), false, &file, &why) != 0)
        return 0;

    struct report report = {.file = &file, .n_files = 1};
    struct forecast forecast = {.report = &report, .to = 256};

    if (report_rows_make("fuzz", &report) == 0 && forecast_gather(&forecast, &why) == 0 &&
        forecast_fill(&forecast, &why) == 0)
        print_all(&forecast);
    else
        fuzz_must_show(why.text);
    forecast_free(&forecast);
    report_rows_free(&report);
    record_file_free(&file);
    return 0;
}
