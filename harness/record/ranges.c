/* record/ranges.c: the values that a field can have, and the complaint about any other one. The
 * unit of a field says which numbers and which texts. An unknown number is NaN, and is accepted. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "record/json.h"

int record_fail(struct text_error *err, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    text_clean(err->text, '?'); /* it may quote the file */
    return -1;
}

static const char hex[] = "0123456789abcdef";
/* The characters of a version, also of release candidates and packages: "2.12.0rc1",
 * "2.9.0+dfsg~1". */
static const char version[] = "0123456789.+-~_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* With a unit that is not in this table a number is at least 0, and a text is any text, or one of
 * those that the unit lists. */
static const struct unit {
    const char *name;
    double least, most; /* range of a number; of a text, its length in characters */
    const char *set;    /* the characters of a text; NULL: it is no text */
    bool none;          /* a text may be empty, or "unknown" */
} units[] = {
    {"0 or 1", 0, 1, NULL, false},
    {"0..1", 0, 1, NULL, false},
    {"-1..1", -1, 1, NULL, false},
    {"signed ns", -1e18, 1e18, NULL, false},
    {"signed ratio", -INFINITY, INFINITY, NULL, false},
    {"number, -1: none", -1, 65535, NULL, false},
    {"generation", 0, 15, NULL, false},
    {"lanes", 0, 64, NULL, false},
    {"GPUs", 0, 65535, NULL, false},
    {"Hz", 0, 1e11, NULL, false},
    {"W", 0, 1e6, NULL, false},
    {"degrees C", -273, 1000, NULL, false},
    {"integer", 0, INFINITY, NULL, false},
    {"ns since 1970", 1, 4102444800e9, NULL, false}, /* to 2099 */
    {"16 hex digits", 16, 16, hex, false},
    {"16 hex digits or none", 16, 16, hex, true},
    {"SHA-256", 64, 64, hex, true},
    {"commit", 7, 40, hex, true},
    {"version", 1, 31, version, false},
    {"list of numbers", 1, 191, "0123456789,-", true},
    {"PCI address", 7, 15, "0123456789abcdefABCDEF:.", true},
    {"", 0, 1e18, NULL, false},
};
enum { UNITS = sizeof units / sizeof units[0] };

/* Finds a unit; the last one stands for all other units. */
static const struct unit *find_unit(const char *name)
{
    size_t i = 0;

    while (i < UNITS - 1 && strcmp(units[i].name, name) != 0)
        ++i;
    return &units[i];
}

/* Whether it is "2026-11-28T16:02:56Z", with a day that exists: it remains the same when it is
 * converted to seconds and back. */
static bool is_date(const char *text)
{
    struct tm day = {.tm_hour = 12, .tm_isdst = -1};
    unsigned hour, minute, second;
    char again[64];

    if (sscanf(text, "%d-%d-%dT%u:%u:%uZ", &day.tm_year, &day.tm_mon, &day.tm_mday, &hour, &minute,
               &second) != 6 ||
        day.tm_year < 1970 || day.tm_year > 2099 || hour > 23 || minute > 59 || second > 60)
        return false;
    day.tm_year -= 1900;
    --day.tm_mon;
    if (mktime(&day) == -1)
        return false;
    snprintf(again, sizeof again, "%04d-%02d-%02dT%02u:%02u:%02uZ", day.tm_year + 1900,
             day.tm_mon + 1, day.tm_mday, hour, minute, second);
    return strcmp(again, text) == 0;
}

static bool is_text(const char *name, const char *text)
{
    const struct unit *unit = find_unit(name);
    const size_t length = strlen(text);
    char listed[64];

    /* The separator between two words of a list is not a value. */
    if (name[0] == '`')
        return snprintf(listed, sizeof listed, "`%.60s`", text) > 2 &&
               strchr(" ,", text[0]) == NULL && strstr(name, listed);
    if (strcmp(name, "ISO 8601") == 0)
        return is_date(text);
    if (strcmp(name, "not empty") == 0)
        return length > 0;
    return !unit->set || (unit->none && (length == 0 || strcmp(text, "unknown") == 0)) ||
           ((double)length >= unit->least && (double)length <= unit->most &&
            strspn(text, unit->set) == length &&
            (unit->set != version || isdigit((unsigned char)text[0])));
}

int record_check_bounds(const struct record_bound *bound, size_t n, struct text_error *err)
{
    for (; n > 0; ++bound, --n)
        if (!(bound->is >= bound->least && bound->is <= bound->most))
            return record_fail(err, "\"%s\" is %.16g, outside %.16g to %.16g", bound->name,
                               bound->is, bound->least, bound->most);
    return 0;
}

static int check_number(const struct record_field *field, double number, struct text_error *err)
{
    const struct unit *unit = find_unit(field->unit);
    const struct record_bound bound = {field->name, number, unit->least, unit->most};

    return isnan(number) ? 0 : record_check_bounds(&bound, 1, err);
}

int record_check_value(const struct record_field *field, const void *object, struct text_error *err)
{
    const void *member = (const char *)object + field->offset;
    const struct record_series *series = member;
    const bool is_series = field->kind == RECORD_SERIES;
    int status = 0;

    if (field->kind == RECORD_TEXT || field->kind == RECORD_HASH)
        return is_text(field->unit, member)
                   ? 0
                   : record_fail(err, "\"%s\" is \"%.80s\", not %s", field->name,
                                 (const char *)member, field->unit);
    if (field->kind == RECORD_REAL)
        return check_number(field, *(const double *)member, err);
    if (field->kind == RECORD_COUNT)
        return check_number(field, (double)*(const size_t *)member, err);
    /* 0 means that a time is not known. */
    if (field->kind == RECORD_BIG && *(const uint64_t *)member != 0)
        return check_number(field, (double)*(const uint64_t *)member, err);
    for (size_t i = 0; is_series && i < series->n && status == 0; ++i)
        status = check_number(field, series->value[i], err);
    return status;
}
