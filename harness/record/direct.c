/* record/direct.c: reads the line of a cell with few JSON values: only of what stands before "raw".
 *
 * The numbers of "raw" are nearly all of a line, and making JSON values of them costs more than
 * everything else that a reader does. They are read directly if they are written as
 * record_cell_text writes them: the members in the order of the table, without blanks. Any other
 * line, also a wrong one, is left to the JSON reader, which says what is wrong. So a line that is
 * read here gives exactly the struct that JSON gives, and is checked in the same way. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "text/alloc.h"

/* The rest of a line. It ends with "}", which ends every loop over digits. */
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

/* Reads a whole number that is not above most; of at most 19 digits, which fit in 64 bits. */
static bool take_number(struct scan *s, uint64_t most, uint64_t *number)
{
    const char *const begin = s->at, *p = begin;
    uint64_t sum = 0;

    for (; *p >= '0' && *p <= '9'; ++p)
        sum = 10 * sum + (uint64_t)(*p - '0');
    s->at = p;
    *number = sum;
    return p > begin && p <= begin + 19 && (*begin != '0' || p == begin + 1) && sum <= most;
}

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
        if (*s->at++ != (i == 0 ? '[' : ',') || !take_number(s, most, &to[i]))
            return false;
    return scan_take(s, "]");
}

/* Reads an array for each row, of n numbers each; NULL: it cannot. Every element takes at least two
 * characters of the line, so memory is allocated for no more elements than the line can have. */
static uint64_t *take_rows(struct scan *s, size_t rows, size_t n)
{
    uint64_t *times;
    bool whole = true;

    if (rows == 0 || n > (size_t)(s->end - s->at) / 2 / rows || !scan_take(s, "["))
        return NULL;
    times = cli_bytes(rows * n * sizeof *times);
    for (size_t row = 0; whole && row < rows; ++row)
        whole = (row == 0 || scan_take(s, ",")) &&
                take_numbers(s, n, (uint64_t)RECORD_EXACT_MAX, times + row * n);
    if (whole && scan_take(s, "]"))
        return times;
    free(times);
    return NULL;
}

/* Reads the times of a part of the machine. */
static bool take_part(struct scan *s, struct record_part_times *part, struct record_cell *cell)
{
    s->lead = '{';
    if (!take_name(s, "work") || !take_number(s, (uint64_t)RECORD_EXACT_MAX, &part->work) ||
        part->work == 0 || !take_name(s, "ns") || *s->at != '[')
        return false;
    const struct scan first = {.at = s->at + 1, .end = s->end};

    part->n = count_elements(&first);
    part->rows = record_part_rows((enum record_part)(part - cell->part), cell->key.n_devices);
    if (part->n > 0 && part->n <= RECORD_MOST_PARTS)
        part->ns = take_rows(s, part->rows, part->n);
    return part->ns && scan_take(s, "}");
}

/* Reads an array, or an object of arrays, of "raw". */
static bool take_raw(struct scan *s, const struct record_field *field, struct record_cell *cell)
{
    void *member = (char *)cell + field->offset;
    int *const count = (void *)((char *)cell + field->count);
    const bool flags = field->nest == RECORD_FLAGS;
    size_t n = cell->n_samples;
    uint64_t *times;

    switch (field->nest) {
    case RECORD_OBJECT:
        s->lead = '{';
        for (const struct record_field *f = field->element; f->name; ++f) {
            const bool there = take_name(s, f->name);

            if (!there && !f->later && f->empty != RECORD_LEFT_OUT)
                return false;
            if (there && !(f->empty == RECORD_AS_NULL && scan_take(s, "null")) &&
                !take_raw(s, f, cell))
                return false;
        }
        s->lead = ',';
        return scan_take(s, "}");
    case RECORD_PART:
        return take_part(s, member, cell);
    case RECORD_NUMBERS:
        n = count_elements(s);
        if (n > (size_t)field->max ||
            (field->empty == RECORD_LEFT_OUT && (n == 0 || (*count != 0 && n != (size_t)*count))))
            return false;
        *count = (int)n;
        return take_numbers(s, n, (uint64_t)RECORD_EXACT_MAX, member);
    case RECORD_RANKS:
        times = take_rows(s, (size_t)cell->n_ranks, n);
        memcpy(member, &times, sizeof times);
        return times != NULL;
    default:
        break;
    }
    if (n > (size_t)(s->end - s->at) / 2)
        return false;
    times = cli_bytes(n * sizeof *times);
    const bool whole = take_numbers(s, n, flags ? UINT16_MAX : (uint64_t)RECORD_EXACT_MAX, times);

    if (!flags) {
        memcpy(member, &times, sizeof times);
        return whole;
    }
    cell->flags = cli_alloc(n, sizeof cell->flags[0]);
    for (size_t i = 0; whole && i < n; ++i)
        cell->flags[i] = (unsigned)times[i];
    free(times);
    return whole;
}

/* Reads what stands before "raw", of so many bytes. */
static bool read_head(const char *line, size_t bytes, struct record_cell *cell)
{
    char *head = cli_bytes(bytes + 1);
    struct text_error why;

    memcpy(head, line, bytes);
    head[bytes] = '}';
    json_t *root = record_json_load(head, bytes + 1, &why);
    const bool read = root && record_json_type(root, &why) == RECORD_IS_CELL &&
                      !record_link_of(root).here && !json_object_get(root, "raw") &&
                      record_json_fields(root, record_head_fields, cell, &why) == 0;

    json_decref(root);
    free(head);
    return read;
}

bool record_cell_direct(const char *line, size_t bytes, struct record_cell *cell,
                        char chain[DIGEST_HEX])
{
    static const char raw_key[] = ",\"raw\":", chain_key[] = ",\"chain\":\"";
    static const struct record_field raw = {.nest = RECORD_OBJECT, .element = record_raw_fields};
    struct scan s = {.at = line, .end = line + bytes};

    chain[0] = '\0';
    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    /* A quotation mark in a text is escaped, so this is the name of a member. */
    while (s.at < s.end && !scan_take(&s, raw_key))
        ++s.at;
    bool taken = bytes > 0 && line[bytes - 1] == '}' && s.at < s.end &&
                 read_head(line, (size_t)(s.at - line) - strlen(raw_key), cell) &&
                 take_raw(&s, &raw, cell);

    /* The value of the chain is checked later. */
    if (taken && scan_take(&s, chain_key)) {
        taken = strspn(s.at, "0123456789abcdef") == DIGEST_HEX - 1;
        snprintf(chain, DIGEST_HEX, "%.*s", taken ? DIGEST_HEX - 1 : 0, s.at);
        s.at += strlen(chain);
        taken = taken && scan_take(&s, "\"");
    }
    if (taken && scan_take(&s, "}") && s.at == s.end)
        return true;
    record_cell_free(cell);
    return false;
}
