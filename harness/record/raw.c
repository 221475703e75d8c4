/* record/raw.c: takes the arrays of numbers out of the line of a cell before jansson reads it.
 *
 * Nearly all of a line is arrays, and a JSON value for every number costs more time than the rest
 * of reading. In "raw", each array of whole numbers is replaced by one number, its index in a list.
 * A valid line remains valid, and an invalid one remains invalid. A line that is not in the form
 * that this program writes is left to jansson as it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

/* The rest of a line, and where its output goes. The line ends with "}", which ends every loop over
 * digits, and the output is never longer than the input. */
struct cutter {
    const char *from, *end;
    char *to;
    struct record_raw *raw;
};

/* Finds the closing quote of the string that begins at p; NULL: it has none. */
static const char *string_end(const char *p, const char *end)
{
    for (++p; p < end && *p != '"'; ++p) {
        p += *p == '\\';
    }
    return p < end ? p : NULL;
}

/* Finds the brace of the outermost "raw":{; NULL: there is none. */
static const char *find_raw(const char *line, const char *end)
{
    static const char key[] = "\"raw\":{";
    const size_t length = sizeof key - 1;
    int depth = 0;
    for (const char *p = line; p < end; ++p) {
        depth += (*p == '{') + (*p == '[') - (*p == '}') - (*p == ']');
        if (*p != '"') {
            continue;
        }
        if (depth == 1 && (size_t)(end - p) > length && memcmp(p, key, length) == 0) {
            return p + length - 1;
        }
        p = string_end(p, end);
        if (!p) {
            return NULL;
        }
    }
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Makes capacity for one more than n elements. */
static bool room_for(void **list, size_t n, size_t *capacity, size_t bytes)
{
    if (n < *capacity) {
        return true;
    }
    const size_t wanted = *capacity == 0 ? 1024 : 2 * *capacity;
    void *grown = realloc(*list, wanted * bytes);
    if (grown) {
        *list = grown;
        *capacity = wanted;
    }
    return grown != NULL;
}

static bool take_number(struct cutter *c)
{
    struct record_raw *raw = c->raw;
    uint64_t number = 0;
    if (!is_digit(*c->from) || (*c->from == '0' && is_digit(c->from[1]))) {
        return false;
    }
    for (; is_digit(*c->from); ++c->from) {
        number = 10 * number + (uint64_t)(*c->from - '0');
        if (number > (uint64_t)RECORD_EXACT_MAX) {
            return false;
        }
    }
    if (!room_for((void **)&raw->number, raw->n_numbers, &raw->number_capacity,
                  sizeof raw->number[0])) {
        return false;
    }
    raw->number[raw->n_numbers++] = number;
    return true;
}

/* Replaces "[1,2,3]" by its index in the list of arrays. */
static bool take_array(struct cutter *c)
{
    struct record_raw *raw = c->raw;
    const char *begin = c->from;
    const struct record_array none = {.first = raw->n_numbers};
    char place[24];
    if (!room_for((void **)&raw->array, raw->n_arrays, &raw->array_capacity,
                  sizeof raw->array[0])) {
        return false;
    }
    do {
        ++c->from; /* the bracket, and later the commas */
        if (!take_number(c)) {
            return false;
        }
    } while (*c->from == ',');
    /* With another array directly after it, the two indices would become one number. */
    if (*c->from++ != ']' || strchr(",]}", *c->from) == NULL) {
        return false;
    }
    const int length = snprintf(place, sizeof place, "%zu", raw->n_arrays);
    if (length > c->from - begin) {
        return false;
    }
    memcpy(c->to, place, (size_t)length);
    c->to += length;
    raw->array[raw->n_arrays] = none;
    raw->array[raw->n_arrays++].n = raw->n_numbers - none.first;
    return true;
}

static void copy_to(struct cutter *c, const char *end)
{
    const size_t n = (size_t)(end - c->from);
    memcpy(c->to, c->from, n);
    c->to += n;
    c->from = end;
}

/* Cuts the object at c->from. A number that is not in such an array would be taken for an index;
 * then jansson gets the line as it is. */
static bool cut_object(struct cutter *c)
{
    static const char others[] = "{}[]:,nul";
    int depth = 0;
    do {
        const char first = *c->from;
        if (first == '[' && is_digit(c->from[1])) {
            if (!take_array(c)) {
                return false;
            }
            continue;
        }
        const char *last = first == '"' ? string_end(c->from, c->end) : c->from;
        if (!last || first == '\0' || (first != '"' && !strchr(others, first))) {
            return false;
        }
        depth += (first == '{') + (first == '[') - (first == '}') - (first == ']');
        copy_to(c, last + 1);
    } while (depth > 0 && c->from < c->end);
    return depth == 0;
}

bool record_raw_cut(const char *line, size_t bytes, struct record_raw *raw)
{
    raw->n_numbers = raw->n_arrays = raw->length = 0;
    const char *begin = bytes > 0 && line[bytes - 1] == '}' ? find_raw(line, line + bytes) : NULL;
    if (!begin) {
        return false;
    }
    if (bytes > raw->line_capacity) {
        char *grown = realloc(raw->line, bytes);
        if (!grown) {
            return false;
        }
        raw->line = grown;
        raw->line_capacity = bytes;
    }
    struct cutter c = {.from = line, .end = line + bytes, .to = raw->line, .raw = raw};
    copy_to(&c, begin);
    if (!cut_object(&c)) {
        raw->n_arrays = 0;
        return false;
    }
    copy_to(&c, c.end);
    raw->length = (size_t)(c.to - raw->line);
    return true;
}

void record_raw_free(struct record_raw *raw)
{
    free(raw->line);
    free(raw->number);
    free(raw->array);
    *raw = (struct record_raw){0};
}
