/* analysis/words.c: prints numbers in words, alone or at the end of a text. */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

/* Prints three significant digits without an exponent. */
static const char *three_digits(double value, const char *unit, char text[32])
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(text, 32, "%.*f%s%s", decimals, value, unit[0] == '\0' ? "" : "\u00a0", unit);
    return text;
}

struct unit {
    double size; /* the last one is 1 */
    const char *unit;
};

static const char *in_units(double value, const struct unit *unit, char text[32])
{
    if (!isfinite(value) || value < 0.0)
        return "-";
    while (unit->size > 1.0 && value < 0.9995 * unit->size)
        ++unit;
    return three_digits(value / unit->size, unit->unit, text);
}

const char *report_time(double ns, char text[32])
{
    static const struct unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}, {1.0, "ns"}};

    return in_units(ns, units, text);
}

const char *report_rate(double per_second, char text[32])
{
    static const struct unit units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}};

    return in_units(per_second, units, text);
}

/* Prints "1.23 M" and a unit; "-" has no unit. */
static const char *rate_of(double per_second, const char *unit, char text[32])
{
    const char *rate = report_rate(per_second, WORD);

    snprintf(text, 32, "%.24s%s", rate, strcmp(rate, "-") == 0 ? "" : unit);
    return text;
}

const char *report_flops(double per_second, char text[32])
{
    return rate_of(per_second, "FLOP/s", text);
}

const char *report_speed(double per_second, char text[32])
{
    return rate_of(per_second, "B/s", text);
}

const char *report_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;

    if (!isfinite(bytes) || bytes < 0.0)
        return "-";
    for (; i < 4 && bytes >= 1023.5; ++i)
        bytes /= 1024;
    if (i > 0)
        return three_digits(bytes, units[i], text);
    snprintf(text, 32, "%.0f\u00a0B", bytes);
    return text;
}

const char *report_ratio(double ratio, char text[32])
{
    if (!isfinite(ratio))
        return "-";
    snprintf(text, 32, "%.*f", ratio >= 0.095 ? 2 : ratio >= 0.0095 ? 3 : 4, ratio);
    return text;
}

const char *report_share(double share, char text[32])
{
    return share >= 0.0 && share < 0.01 ? "<1\u00a0%" : report_percent(share, text);
}

const char *report_percent(double share, char text[32])
{
    const double percent = round(100.0 * share);

    if (!isfinite(share))
        return "-";
    snprintf(text, 32, "%.0f\u00a0%%", fabs(percent) > 0.0 ? percent : 0.0);
    return text;
}

const char *report_range_words(const struct report_value *value, report_number_fn *number,
                               char text[REPORT_CELL_TEXT])
{
    const bool interval = value->range == REPORT_INTERVAL;
    const char *lo = number(value->lo, WORD), *hi = number(value->hi, WORD);
    const char *unit = strstr(hi, "\u00a0"), *same = strstr(lo, "\u00a0");

    if (value->range == REPORT_NONE)
        return "-";
    if (!unit || !same || strcmp(unit, same) != 0)
        snprintf(text, REPORT_CELL_TEXT, interval ? "[%s, %s]" : "%s..%s", lo, hi);
    else
        snprintf(text, REPORT_CELL_TEXT, interval ? "[%.*s, %.*s]%s" : "%.*s..%.*s%s",
                 (int)(same - lo), lo, (int)(unit - hi), hi, unit);
    return text;
}
