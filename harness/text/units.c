/* text/units.c: see text/units.h. */
#include "text/units.h"

#include <stdio.h>

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
