/* record/direct.c: reads the line of a cell directly into its struct, by the tables of fields and
 * without JSON values in between.
 *
 * Making those values, and finding them by name, costs more than everything else that a reader
 * does. The line must be written as record_cell_text writes it: the members in the order of the
 * tables, without blanks and escapes. Any other line, also a wrong one, is left to the JSON reader,
 * which says what is wrong. So a line that is read here gives exactly the struct that JSON gives,
 * and is checked in the same way. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

/* The rest of a line. It ends with "}", which ends every loop over digits and characters. */
struct scan {
    const char *at, *end;
    char lead; /* expected before the next member: the opening brace, or a comma */
};

static bool scan_take(struct scan *s, const char *text)
{
    const size_t length = strlen(text);

    if ((size_t)(s->end - s->at) < length || memcmp(s->at, text, length) != 0)
        return false;
    s->at += length;
    return true;
}

/* Reads the name of the next member, up to its value. Returns false if it is another member. */
static bool take_name(struct scan *s, const char *name)
{
    const size_t length = strlen(name);
    const char *p = s->at;

    if ((size_t)(s->end - p) < length + 4 || p[0] != s->lead || p[1] != '"' ||
        memcmp(p + 2, name, length) != 0 || p[length + 2] != '"' || p[length + 3] != ':')
        return false;
    s->at += length + 4;
    s->lead = ',';
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the digits of an integer; at most 19, which fit in 64 bits. */
static bool take_digits(struct scan *s, uint64_t *number)
{
    const char *const begin = s->at, *p = begin;
    uint64_t sum = 0;

    for (; is_digit(*p); ++p)
        sum = 10 * sum + (uint64_t)(*p - '0');
    s->at = p;
    *number = sum;
    return p > begin && p <= begin + 19 && (*begin != '0' || p == begin + 1);
}

static bool ends_value(const struct scan *s)
{
    return *s->at == ',' || *s->at == '}' || *s->at == ']';
}

static bool take_integer(struct scan *s, json_int_t min, json_int_t max, json_int_t *number)
{
    uint64_t digits = 0;
    const bool negative = *s->at == '-';

    s->at += negative;
    if (!take_digits(s, &digits) || digits > INT64_MAX || !ends_value(s))
        return false;
    *number = negative ? -(json_int_t)digits : (json_int_t)digits;
    return *number >= min && *number <= max;
}

/* Reads a text of characters that the writer does not escape: *length characters from *text on. */
static bool take_text(struct scan *s, const char **text, size_t *length)
{
    if (*s->at != '"')
        return false;
    *text = ++s->at;
    while (s->at < s->end && *s->at >= ' ' && *s->at <= '~' && *s->at != '"' && *s->at != '\\')
        ++s->at;
    *length = (size_t)(s->at - *text);
    return scan_take(s, "\"");
}

static bool take_fields(struct scan *s, const struct record_field *field, void *object);

/* Reads a number as digits / 10^places. Up to 15 digits both are exact, so the quotient is the
 * nearest double, as with strtod. */
static bool take_real(struct scan *s, double *number)
{
    static const double power[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    const char *const begin = s->at;
    uint64_t whole = 0;

    if (scan_take(s, "null")) {
        *number = NAN;
        return ends_value(s);
    }
    s->at += *s->at == '-';
    const char *const digits = s->at;

    if (!take_digits(s, &whole) || *s->at != '.' || !is_digit(s->at[1]))
        return false;
    const char *const point = s->at;

    for (++s->at; is_digit(*s->at); ++s->at)
        whole = 10 * whole + (uint64_t)(*s->at - '0');
    if (ends_value(s) && s->at - digits <= 16) {
        *number = (double)whole / power[s->at - point - 1];
        *number = *begin == '-' ? -*number : *number;
        return true;
    }
    if (*s->at == 'e') {
        s->at += s->at[1] == '-' ? 2 : 1;
        if (!is_digit(*s->at))
            return false;
        while (is_digit(*s->at))
            ++s->at;
    }
    char *end = NULL;
    *number = strtod(begin, &end);
    return end == s->at && isfinite(*number) && ends_value(s);
}

/* ---- arrays and objects --------------------------------------------------------------------- */

/* The number of elements of the array of numbers that begins here. */
static size_t count_elements(const struct scan *s)
{
    size_t n = s->at[0] == '[' && s->at[1] != ']';

    for (const char *p = s->at; p < s->end && *p != ']'; ++p)
        n += *p == ',';
    return n;
}

/* Reads n whole numbers, none above most. */
static bool take_numbers(struct scan *s, size_t n, uint64_t most, uint64_t *to)
{
    if (n == 0)
        return scan_take(s, "[]");
    for (size_t i = 0; i < n; ++i)
        if (*s->at++ != (i == 0 ? '[' : ',') || !take_digits(s, &to[i]) || to[i] > most)
            return false;
    return scan_take(s, "]");
}

static bool take_reals(struct scan *s, size_t n, double *to)
{
    if (n == 0)
        return scan_take(s, "[]");
    for (size_t i = 0; i < n; ++i)
        if (*s->at++ != (i == 0 ? '[' : ',') || !take_real(s, &to[i]))
            return false;
    return scan_take(s, "]");
}

static bool take_object(struct scan *s, const struct record_field *fields, void *object)
{
    record_unknown(fields, object);
    s->lead = '{';
    const bool whole = take_fields(s, fields, object) && scan_take(s, "}");

    s->lead = ',';
    return whole;
}

static bool take_list(struct scan *s, const struct record_field *field, void *object)
{
    char *element = (char *)object + field->offset;
    int *const count = (void *)((char *)object + field->count);

    if (field->nest == RECORD_NUMBERS) {
        const size_t n = count_elements(s);
        const bool apart = field->empty != RECORD_LEFT_OUT;

        if (n > (size_t)field->max || (!apart && (n == 0 || (*count != 0 && n != (size_t)*count))))
            return false;
        *count = (int)n;
        return take_numbers(s, n, (uint64_t)RECORD_EXACT_MAX, (void *)element);
    }
    if (scan_take(s, "[]"))
        return true;
    const bool heap = field->nest == RECORD_HEAP_LIST;
    void *const member = element;
    void *list = NULL;

    if (heap) {
        list = calloc((size_t)field->max, field->bytes);
        if (!list)
            return false;
        memcpy(member, &list, sizeof list);
        element = list;
    }
    for (char before = '['; *s->at == before; before = ',', element += field->bytes) {
        ++s->at;
        if (*count == field->max)
            return false;
        ++*count;
        if (!take_object(s, field->element, element))
            return false;
    }
    if (*count == 0 || !scan_take(s, "]"))
        return false;
    if (heap) { /* it keeps only the elements that are there */
        void *kept = realloc(list, (size_t)*count * field->bytes);

        list = kept ? kept : list;
        memcpy(member, &list, sizeof list);
    }
    return true;
}

/* Reads an array for each row, of n numbers each; NULL: it cannot. Every element takes at least two
 * characters of the line, so memory is allocated for no more elements than the line can have. */
static uint64_t *take_rows(struct scan *s, size_t rows, size_t n)
{
    uint64_t *times;
    bool whole = true;

    if (rows == 0 || n > (size_t)(s->end - s->at) / 2 / rows || !scan_take(s, "["))
        return NULL;
    times = malloc((rows * n + 1) * sizeof *times);
    for (size_t row = 0; times && whole && row < rows; ++row)
        whole = (row == 0 || scan_take(s, ",")) &&
                take_numbers(s, n, (uint64_t)RECORD_EXACT_MAX, times + row * n);
    if (times && whole && scan_take(s, "]"))
        return times;
    free(times);
    return NULL;
}

/* Reads an array of "raw", which has an element for each sample of the cell. */
static bool take_samples(struct scan *s, const struct record_field *field, struct record_cell *cell)
{
    void *member = (char *)cell + field->offset;
    const size_t n = cell->n_samples;
    uint64_t *times;

    if (field->nest == RECORD_PART) {
        struct record_part_times *part = member;
        json_int_t work = 0;

        s->lead = '{';
        if (!take_name(s, "work") || !take_integer(s, 1, RECORD_EXACT_MAX, &work) ||
            !take_name(s, "ns") || *s->at != '[')
            return false;
        const struct scan first = {.at = s->at + 1, .end = s->end};

        part->work = (uint64_t)work;
        part->n = count_elements(&first);
        part->rows = record_part_rows((enum record_part)(part - cell->part), cell->key.n_devices);
        if (part->n > 0 && part->n <= RECORD_MOST_PARTS)
            part->ns = take_rows(s, part->rows, part->n);
        return part->ns && scan_take(s, "}");
    }
    if (field->nest == RECORD_RANKS) {
        times = take_rows(s, (size_t)cell->n_ranks, n);
        memcpy(member, &times, sizeof times);
        return times != NULL;
    }
    if (n > (size_t)(s->end - s->at) / 2)
        return false;
    if (field->nest == RECORD_STEPS) {
        times = malloc((n + 1) * sizeof *times);
        memcpy(member, &times, sizeof times);
        return times && take_numbers(s, n, (uint64_t)RECORD_EXACT_MAX, times);
    }
    cell->flags = malloc((n + 1) * sizeof cell->flags[0]);
    times = malloc((n + 1) * sizeof *times);
    const bool whole = cell->flags && times && take_numbers(s, n, UINT16_MAX, times);

    for (size_t i = 0; whole && i < n; ++i)
        cell->flags[i] = (unsigned)times[i];
    free(times);
    return whole;
}

static bool take_value(struct scan *s, const struct record_field *field, void *object)
{
    void *member = (char *)object + field->offset;
    struct record_series *series = member;
    const char *text = NULL;
    size_t length = 0;
    json_int_t number = 0;

    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
        if (!take_text(s, &text, &length) || length >= field->bytes)
            return false;
        memcpy(member, text, length);
        ((char *)member)[length] = '\0';
        return true;
    case RECORD_BOOL:
        *(bool *)member = scan_take(s, "true");
        return (*(bool *)member || scan_take(s, "false")) && ends_value(s);
    case RECORD_BIG:
        return scan_take(s, "\"") && take_digits(s, member) && scan_take(s, "\"");
    case RECORD_REAL:
        return take_real(s, member);
    case RECORD_SERIES:
        series->n = count_elements(s);
        series->value =
            series->n > RECORD_MOST_READINGS ? NULL : calloc(series->n + 1, sizeof *series->value);
        return series->value && take_reals(s, series->n, series->value);
    case RECORD_NESTED:
        break;
    default:
        if (!take_integer(s, field->min, field->max, &number))
            return false;
        record_json_store(field, number, member);
        return true;
    }
    if (field->empty == RECORD_AS_NULL && scan_take(s, "null"))
        return true;
    switch (field->nest) {
    case RECORD_STATE:
        if (!take_text(s, &text, &length))
            return false;
        for (int i = 0; i < RECORD_STATUSES; ++i)
            if (strlen(record_status_names[i]) == length &&
                memcmp(record_status_names[i], text, length) == 0) {
                *(enum record_status *)member = (enum record_status)i;
                return true;
            }
        return false;
    case RECORD_OBJECT:
        return take_object(s, field->element, member);
    case RECORD_LIST:
    case RECORD_HEAP_LIST:
    case RECORD_NUMBERS:
        return take_list(s, field, object);
    case RECORD_REALS:
        return take_reals(s, (size_t)field->max, member);
    default:
        return take_samples(s, field, object);
    }
}

static bool take_fields(struct scan *s, const struct record_field *field, void *object)
{
    struct text_error why;

    for (; field->name; ++field) {
        if (field->kind == RECORD_NESTED && field->nest == RECORD_BY_HAND)
            continue;
        if (!take_name(s, field->name)) {
            if (field->later || field->empty == RECORD_LEFT_OUT)
                continue;
            return false;
        }
        if (!take_value(s, field, object) || record_check_value(field, object, &why) != 0)
            return false;
    }
    return true;
}

bool record_cell_direct(const char *line, size_t bytes, struct record_cell *cell,
                        char chain[DIGEST_HEX])
{
    struct scan s = {.at = line, .end = line + bytes, .lead = ','};
    const char *text = NULL;
    size_t length = 0;

    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    bool taken = bytes > 0 && line[bytes - 1] == '}' &&
                 scan_take(&s, "{\"schema\":\"lockstep/cell/1.1\"") &&
                 take_fields(&s, record_cell_fields, cell);

    /* The chain is accepted if its length is right; its value is checked later. */
    if (taken && take_name(&s, "chain"))
        taken = take_text(&s, &text, &length) && length == DIGEST_HEX - 1;
    snprintf(chain, DIGEST_HEX, "%.*s", (int)length, text ? text : "");
    if (taken && scan_take(&s, "}") && s.at == s.end)
        return true;
    record_cell_free(cell);
    return false;
}
