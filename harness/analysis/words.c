/* analysis/words.c: numbers in words, alone or at the end of a text. */
#include "analysis/words.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Three significant digits without an exponent. */
static void three_digits(double value, const char *unit, char text[32])
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(text, 32, "%.*f%s%s", decimals, value, unit[0] == '\0' ? "" : "\u00a0", unit);
}

struct unit {
    double size; /* that of the last is 1 */
    const char *unit;
};

static void in_units(double value, const struct unit *unit, char text[32])
{
    if (!isfinite(value) || value < 0.0) {
        snprintf(text, 32, "-");
        return;
    }
    while (unit->size > 1.0 && value < 0.9995 * unit->size)
        ++unit;
    three_digits(value / unit->size, unit->unit, text);
}

void report_time(double ns, char text[32])
{
    static const struct unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}, {1.0, "ns"}};

    in_units(ns, units, text);
}

void report_rate(double per_second, char text[32])
{
    static const struct unit units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}};

    in_units(per_second, units, text);
}

void report_flops(double per_second, char text[32])
{
    char rate[32];

    report_rate(per_second, rate);
    snprintf(text, 32, strcmp(rate, "-") == 0 ? "-" : "%.24sFLOP/s", rate);
}

void report_speed(double per_second, char text[32])
{
    char rate[32];

    report_rate(per_second, rate);
    snprintf(text, 32, strcmp(rate, "-") == 0 ? "-" : "%.24sB/s", rate);
}

void report_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;

    if (!isfinite(bytes) || bytes < 0.0) {
        snprintf(text, 32, "-");
        return;
    }
    for (; i < 4 && bytes >= 1023.5; ++i)
        bytes /= 1024;
    if (i == 0)
        snprintf(text, 32, "%.0f\u00a0B", bytes);
    else
        three_digits(bytes, units[i], text);
}

void report_ratio(double ratio, char text[32])
{
    if (isfinite(ratio))
        snprintf(text, 32, "%.*f", ratio >= 0.095 ? 2 : ratio >= 0.0095 ? 3 : 4, ratio);
    else
        snprintf(text, 32, "-");
}

void report_share(double share, char text[32])
{
    if (share >= 0.0 && share < 0.01)
        snprintf(text, 32, "<1\u00a0%%");
    else
        report_percent(share, text);
}

void report_percent(double share, char text[32])
{
    const double percent = round(100.0 * share);

    if (isfinite(share))
        snprintf(text, 32, "%.0f\u00a0%%", fabs(percent) > 0.0 ? percent : 0.0);
    else
        snprintf(text, 32, "-");
}

void report_add(char text[REPORT_CELL_TEXT], const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, REPORT_CELL_TEXT - length, format, arguments);
    va_end(arguments);
}

void report_add_ratio(char text[REPORT_CELL_TEXT], double ratio)
{
    char words[32];

    report_ratio(ratio, words);
    report_add(text, "%s", words);
}

void report_add_share(char text[REPORT_CELL_TEXT], double share)
{
    char words[32];

    report_share(share, words);
    report_add(text, "%s", words);
}

void report_add_range(char text[REPORT_CELL_TEXT], const struct report_value *value,
                      report_number_fn *number)
{
    const bool interval = value->range == REPORT_INTERVAL;
    char lo[32], hi[32];
    const char *unit;
    char *same;

    if (value->range == REPORT_NONE) {
        report_add(text, "-");
        return;
    }
    number(value->lo, lo);
    number(value->hi, hi);
    unit = strstr(hi, "\u00a0");
    same = strstr(lo, "\u00a0");
    if (!unit || !same || strcmp(unit, same) != 0) {
        report_add(text, interval ? "[%s, %s]" : "%s..%s", lo, hi);
        return;
    }
    *same = '\0';
    report_add(text, interval ? "[%s, %.*s]%s" : "%s..%.*s%s", lo, (int)(unit - hi), hi, unit);
}
