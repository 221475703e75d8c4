/* report/fits_words.c: the table of alpha and beta of collectives. */
#include "report/page.h"

#include <math.h>

enum column {
    SIZES = REPORT_FITS_TEXTS, /* before it: the columns that collectives have, too */
    ALPHA,
    ALPHA_RANGE,
    BETA,
    BETA_RANGE,
    LINE
};

const char report_fits_title[] = "Alpha and beta of collectives";

const char *const report_fits_names[REPORT_FITS_COLUMNS] = {"Collective",
                                                            "Type",
                                                            "Devices",
                                                            "Over",
                                                            [SIZES] = "Sizes",
                                                            [ALPHA] = "Alpha",
                                                            [ALPHA_RANGE] = "[interval] or range",
                                                            [BETA] = "1/beta",
                                                            [BETA_RANGE] = "[interval] or range",
                                                            [LINE] = "Line"};

const char report_fits_note[] =
    "Time = alpha + beta \u00d7 bytes of a device. 1/beta is the algorithm bandwidth that it would "
    "have if it took no time to begin. A launch has a line of its own: through its median times, "
    "with the least sum of relative distances. Alpha and beta are medians over the launches. The "
    "line holds where it is within 10 % of the median time of every size; else the smallest sizes "
    "are left out, one by one. More than half of the sizes, and 3 at least, must stay, or there is "
    "no number.";

/* Three digits, and never an exponent. */
static void digits(double value, const char *unit, char text[32])
{
    int decimals = 2;

    for (double size = fabs(value); size > 0 && size < 0.9995 && decimals < 6; size *= 10)
        ++decimals;
    for (double size = fabs(value); size >= 9.995 && decimals > 0; size /= 10)
        --decimals;
    if (isfinite(value))
        snprintf(text, 32, "%.*f\u00a0%s", decimals, value, unit);
    else
        snprintf(text, 32, "-");
}

static void microseconds(double ns, char text[32])
{
    digits(ns / 1e3, "\u00b5s", text);
}

static void gigabytes(double per_second, char text[32])
{
    digits(per_second / 1e9, "GB/s", text);
}

static void sizes_words(const struct report_fit *fit, char text[REPORT_CELL_TEXT])
{
    if (fit->state == REPORT_FIT_HOLDS && fit->used < fit->sizes)
        report_add(text, "%zu of %zu, from %zu bytes on", fit->used, fit->sizes, fit->from);
    else
        report_add(text, "%zu", fit->sizes);
}

static void line_words(const struct report_fit *fit, char text[REPORT_CELL_TEXT])
{
    char off[32];

    report_percent(fit->off, off);
    switch (fit->state) {
    case REPORT_FIT_HOLDS:
        report_add(text, "%zu launch%s, at most %s off, at %zu bytes", fit->beta.n,
                   fit->beta.n == 1 ? "" : "es", off, fit->off_at);
        break;
    case REPORT_FIT_FEW:
        report_add(text, "no number: a line takes %d sizes", REPORT_FIT_LEAST);
        break;
    case REPORT_FIT_MANY:
        report_add(text, "no number: too many sizes");
        break;
    case REPORT_FIT_APART:
        report_add(text, "no number: no launch is verified at all sizes");
        break;
    case REPORT_FIT_NO_LINE:
        report_add(text, "no number: no line, %s off at %zu bytes", off, fit->off_at);
        break;
    }
    report_add(text, report_simulated(fit->point->row) ? ", SIMULATED" : "");
}

static void value_words(const struct report_value *value, bool range, report_number_fn *number,
                        char text[REPORT_CELL_TEXT])
{
    char words[32];

    number(value->middle, words);
    if (range)
        report_add_range(text, value, number);
    else
        report_add(text, "%s", words);
}

static void beta_words(const struct report_fit *fit, bool range, char text[REPORT_CELL_TEXT])
{
    const struct report_value speed = report_inverse(&fit->beta, 1e9);

    if (report_fit_grows(fit))
        value_words(&speed, range, gigabytes, text);
    else
        report_add(text, range ? "-" : "not resolved");
}

void report_fits_words(const struct report_fit *fit, int column, char text[REPORT_CELL_TEXT])
{
    text[0] = '\0';
    if (column < REPORT_FITS_TEXTS) {
        report_collectives_words(fit->point, column, text);
        return;
    }
    if (column == SIZES)
        sizes_words(fit, text);
    else if (column == LINE)
        line_words(fit, text);
    else if (fit->state != REPORT_FIT_HOLDS)
        report_add(text, "-");
    else if (column == ALPHA || column == ALPHA_RANGE)
        value_words(&fit->alpha, column == ALPHA_RANGE, microseconds, text);
    else
        beta_words(fit, column == BETA_RANGE, text);
}
