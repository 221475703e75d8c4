/* text/quantity.c: numbers with their unit, read and written; times and rates in three digits
 * with a unit that keeps them short. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/quantity.h"

struct unit {
    const char *name;
    double scale;
};

enum { UNITS = 10 };

/* The units of each kind, ascending; the first of those that are shown is at shown. */
static const struct {
    const char *known;
    double most; /* no machine and no run of one has more */
    struct unit unit[UNITS];
} kinds[QUANTITY_KINDS] = {
    [QUANTITY_TIME] = {"ns, us, ms or s", 1e15, {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}},
    [QUANTITY_RATE] =
        {"samples/s, with k, M or G before it",
         1e15,
         {{"samples/s", 1}, {"ksamples/s", 1e3}, {"Msamples/s", 1e6}, {"Gsamples/s", 1e9}}},
    [QUANTITY_BYTES] = {"B, with Ki, Mi, Gi, Ti, k, M, G or T before it",
                        1e18,
                        {{"B", 1},
                         {"KiB", 1024.0},
                         {"MiB", 1048576.0},
                         {"GiB", 1073741824.0},
                         {"TiB", 1099511627776.0},
                         {"kB", 1e3},
                         {"MB", 1e6},
                         {"GB", 1e9},
                         {"TB", 1e12}}},
    [QUANTITY_SPEED] = {"B/s, with k, M, G or T before it",
                        1e18,
                        {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}},
    [QUANTITY_WORK] = {"FLOP/s, with G, T or P before it",
                       1e21,
                       {{"FLOP/s", 1}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}}},
    [QUANTITY_RATIO] = {"x or %", 1e6, {{"%", 0.01}, {"x", 1}}},
};

const char *quantity_base_unit(enum quantity_kind kind)
{
    return kind == QUANTITY_RATIO ? "1" : kinds[kind].unit[0].name;
}

int quantity_read(const char *text, enum quantity_kind kind, double *number, struct text_error *why)
{
    char *end = NULL;
    const double value = strtod(text, &end);

    /* strtod takes "0x1p3" and "nan", too. */
    if (end == text || text[0] == '-' || !isfinite(value) ||
        strspn(text, "0123456789.eE+-") != (size_t)(end - text))
        return text_fail(why, "'%.60s' is no number of 0 or more with its unit: %s", text,
                         kinds[kind].known);
    end += strspn(end, " ");
    for (int i = 0; i < UNITS && kinds[kind].unit[i].name; ++i)
        if (strcmp(end, kinds[kind].unit[i].name) == 0) {
            *number = value * kinds[kind].unit[i].scale;
            if (*number <= kinds[kind].most)
                return 0;
            return text_fail(why, "'%.60s' is more than %g %s", text, kinds[kind].most,
                             quantity_base_unit(kind));
        }
    return text_fail(why, "'%.60s' has %s; known are %s", text,
                     *end == '\0' ? "no unit" : "an unknown unit", kinds[kind].known);
}

const char *quantity_words(double number, enum quantity_kind kind, char text[QUANTITY_TEXT])
{
    const struct unit *unit = &kinds[kind].unit[kind == QUANTITY_RATIO ? 1 : 0];

    if (!isfinite(number)) {
        snprintf(text, QUANTITY_TEXT, "unknown");
        return text;
    }
    for (int i = 1; kind != QUANTITY_RATIO && i < 5 && kinds[kind].unit[i].name; ++i)
        if (fabs(number) >= kinds[kind].unit[i].scale)
            unit = &kinds[kind].unit[i];
    snprintf(text, QUANTITY_TEXT, "%.4g %s", number / unit->scale, unit->name);
    return text;
}

/* ---- times and rates in three digits --------------------------------------------------------- */

static const char *scaled(double value, const char *const *unit, const char *const *last,
                          char text[UNITS_BYTES])
{
    for (; unit < last && value >= 999.5; ++unit)
        value /= 1e3;
    snprintf(text, UNITS_BYTES, value >= 999.5 && value < 1e15 ? "%.0f%s" : "%.3g%s", value, *unit);
    return text;
}

const char *units_time(double ns, char text[UNITS_BYTES])
{
    static const char *const unit[] = {" ns", " us", " ms", " s"};

    return scaled(ns, unit, unit + 3, text);
}

const char *units_rate(double rate, char text[UNITS_BYTES])
{
    static const char *const unit[] = {"", "k", "M", "G"};

    return scaled(rate, unit, unit + 3, text);
}

const char *units_binary(size_t number, char text[UNITS_BYTES])
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi"};
    size_t unit = 0;

    for (; unit < 3 && number % 1024 == 0; ++unit)
        number /= 1024;
    snprintf(text, UNITS_BYTES, "%zu%s", number, units[unit]);
    return text;
}

void quantity_add_difference(double value, double from, enum quantity_kind kind, char text[],
                             size_t bytes)
{
    const bool time = kind == QUANTITY_TIME;
    const double ratio = value / from, percent = 100 * fabs(ratio - 1);

    if (!isfinite(ratio))
        text_add(text, bytes, "not at all as");
    else if (ratio < 1)
        text_add(text, bytes, "%.*f %% %s than", percent < 1, percent, time ? "shorter" : "lower");
    else if (ratio < 1.95)
        text_add(text, bytes, "%.*f %% %s than", percent < 1, percent, time ? "longer" : "higher");
    else if (ratio < 2.05)
        text_add(text, bytes, "twice as %s as", time ? "long" : "high");
    else
        text_add(text, bytes, "%.*f times as %s as", ratio < 9.95, ratio, time ? "long" : "high");
}
