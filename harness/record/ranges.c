/* record/ranges.c: what the value of a field can be: its unit says which numbers and which texts
 * there are. A number that nobody knows is no value, and is let through. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/json.h"

/* Of a unit that is not here: from 0 on. */
static const struct range {
    const char *unit;
    double least, most;
} ranges[] = {
    {"0 or 1", 0, 1},
    {"0..1", 0, 1},
    {"-1..1", -1, 1},
    {"signed ns", -1e18, 1e18},
    {"signed ratio", -INFINITY, INFINITY},
    {"number, -1: none", -1, 65535},
    {"generation", 0, 15},
    {"lanes", 0, 64},
    {"GPUs", 0, 65535},
    {"Hz", 0, 1e11},
    {"W", 0, 1e6},
    {"degrees C", -273, 1000},
    /* The years 2020 to 2099. */
    {"ns since 1970", 1577836800e9, 4102444800e9},
    {"integer", 0, INFINITY},
};
static const struct range other = {NULL, 0, 1e18};

/* Of a unit that is not here any, or one of those that the unit has in backquotes. */
static const struct grammar {
    const char *unit, *set;
    size_t least, most; /* characters, where it is not empty */
    bool empty;
    const char *alias;
} grammars[] = {
    {"16 hex digits", "0123456789abcdef", 16, 16, false, NULL},
    {"16 hex digits or none", "0123456789abcdef", 16, 16, true, NULL},
    {"SHA-256", "0123456789abcdef", 64, 64, true, NULL},
    {"commit", "0123456789abcdef", 7, 40, true, "unknown"},
    {"version", "0123456789.", 1, 31, false, NULL},
    {"list of numbers", "0123456789,-", 1, 191, true, NULL},
    {"PCI address", "0123456789abcdefABCDEF:.", 7, 15, true, NULL},
};

/* "2026-11-28T16:02:56Z", of a day that there is. */
static bool is_date(const char *text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, hour, minute, second, n = 0;

    return strlen(text) == 20 && strspn(text, "0123456789-:TZ") == 20 &&
           sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute, &second,
                  &n) == 6 &&
           n == 20 && year >= 2020 && year < 2100 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && year % 4 == 0) && hour >= 0 && hour < 24 &&
           minute >= 0 && minute < 60 && second >= 0 && second <= 60;
}

/* Whether a unit such as "`strong` or `weak`" has it. */
static bool is_listed(const char *unit, const char *text)
{
    const size_t length = strlen(text);

    for (const char *at = strchr(unit, '`'); at; at = strchr(at + 1, '`'))
        if (strncmp(at + 1, text, length) == 0 && at[1 + length] == '`')
            return length > 0;
    return false;
}

static bool is_text(const char *unit, const char *text)
{
    const size_t length = strlen(text);

    if (unit[0] == '`')
        return is_listed(unit, text);
    if (strcmp(unit, "ISO 8601") == 0)
        return is_date(text);
    if (strcmp(unit, "not empty") == 0)
        return length > 0;
    for (size_t i = 0; i < sizeof grammars / sizeof grammars[0]; ++i) {
        const struct grammar *is = &grammars[i];

        if (strcmp(is->unit, unit) == 0)
            return length == 0 ? is->empty
                               : (is->alias && strcmp(text, is->alias) == 0) ||
                                     (length >= is->least && length <= is->most &&
                                      strspn(text, is->set) == length);
    }
    return true;
}

static int check_number(const struct record_field *field, double number, struct text_error *err)
{
    const struct range *is = &other;

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i)
        if (strcmp(ranges[i].unit, field->unit) == 0)
            is = &ranges[i];
    return isnan(number) || (number >= is->least && number <= is->most)
               ? 0
               : record_fail(err, "\"%s\" is %.17g, outside %.17g to %.17g", field->name, number,
                             is->least, is->most);
}

int record_check_value(const struct record_field *field, const void *object, struct text_error *err)
{
    const void *member = (const char *)object + field->offset;
    int status = 0;

    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
        return is_text(field->unit, member)
                   ? 0
                   : record_fail(err, "\"%s\" is \"%.80s\", not %s", field->name,
                                 (const char *)member, field->unit);
    case RECORD_REAL:
        return check_number(field, *(const double *)member, err);
    case RECORD_COUNT:
        return check_number(field, (double)*(const size_t *)member, err);
    case RECORD_BIG:
        /* A time that is not known is 0. */
        return *(const uint64_t *)member == 0
                   ? 0
                   : check_number(field, (double)*(const uint64_t *)member, err);
    case RECORD_SERIES: {
        const struct record_series *series = member;

        for (size_t i = 0; i < series->n && status == 0; ++i)
            status = check_number(field, series->value[i], err);
        return status;
    }
    default:
        return 0;
    }
}
