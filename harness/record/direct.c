/* record/direct.c: reads the line of a cell directly into its struct, without JSON values in
 * between.
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

static bool take(struct scan *s, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, text, length) != 0) {
        return false;
    }
    s->at += length;
    return true;
}

/* Reads the name of the next member, up to its value. Returns false if it is another member. */
static bool take_name(struct scan *s, const char *name)
{
    const size_t length = strlen(name);
    const char *p = s->at;
    if ((size_t)(s->end - p) < length + 4 || p[0] != s->lead || p[1] != '"' ||
        memcmp(p + 2, name, length) != 0 || p[length + 2] != '"' || p[length + 3] != ':') {
        return false;
    }
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
    for (; is_digit(*p); ++p) {
        sum = 10 * sum + (uint64_t)(*p - '0');
    }
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
    if (!take_digits(s, &digits) || digits > INT64_MAX || !ends_value(s)) {
        return false;
    }
    *number = negative ? -(json_int_t)digits : (json_int_t)digits;
    return *number >= min && *number <= max;
}

/* Reads a text of characters that the writer does not escape: *length characters from *text on. */
static bool take_text(struct scan *s, const char **text, size_t *length)
{
    if (*s->at != '"') {
        return false;
    }
    *text = ++s->at;
    while (s->at < s->end && *s->at >= ' ' && *s->at <= '~' && *s->at != '"' && *s->at != '\\') {
        ++s->at;
    }
    *length = (size_t)(s->at - *text);
    return take(s, "\"");
}

/* Reads a number as digits / 10^places. Up to 15 digits both are exact, so the quotient is the
 * nearest double, as with strtod. */
static bool take_real(struct scan *s, double *number)
{
    static const double power[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    const char *const begin = s->at;
    uint64_t whole = 0;
    if (take(s, "null")) {
        *number = NAN;
        return ends_value(s);
    }
    s->at += *s->at == '-';
    const char *const digits = s->at;
    if (!take_digits(s, &whole) || *s->at != '.' || !is_digit(s->at[1])) {
        return false;
    }
    const char *const point = s->at;
    for (++s->at; is_digit(*s->at); ++s->at) {
        whole = 10 * whole + (uint64_t)(*s->at - '0');
    }
    if (ends_value(s) && s->at - digits <= 16) {
        *number = (double)whole / power[s->at - point - 1];
        *number = *begin == '-' ? -*number : *number;
        return true;
    }
    if (*s->at == 'e') {
        s->at += s->at[1] == '-' ? 2 : 1;
        if (!is_digit(*s->at)) {
            return false;
        }
        while (is_digit(*s->at)) {
            ++s->at;
        }
    }
    char *end = NULL;
    *number = strtod(begin, &end);
    return end == s->at && isfinite(*number) && ends_value(s);
}

static bool take_big(struct scan *s, uint64_t *number)
{
    return take(s, "\"") && take_digits(s, number) && take(s, "\"");
}

static bool take_bool(struct scan *s, bool *truth)
{
    *truth = take(s, "true");
    return (*truth || take(s, "false")) && ends_value(s);
}

static bool take_string(struct scan *s, const struct record_field *field, char *to)
{
    const char *text = NULL;
    size_t length = 0;
    if (!take_text(s, &text, &length) || length >= field->bytes) {
        return false;
    }
    memcpy(to, text, length);
    to[length] = '\0';
    return true;
}

static bool take_value(struct scan *s, const struct record_field *field, void *object)
{
    void *member = (char *)object + field->offset;
    json_int_t number = 0;
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
        return take_string(s, field, member);
    case RECORD_BOOL:
        return take_bool(s, member);
    case RECORD_BIG:
        return take_big(s, member);
    case RECORD_REAL:
        return take_real(s, member);
    default:
        break;
    }
    if (!take_integer(s, field->min, field->max, &number)) {
        return false;
    }
    record_json_store(field, number, member);
    return true;
}

static bool take_fields(struct scan *s, const struct record_field *field, void *object)
{
    struct text_error why;
    for (; field->name; ++field) {
        const bool here = field->kind != RECORD_NESTED && take_name(s, field->name);
        if (here ? !take_value(s, field, object) || record_check_value(field, object, &why) != 0
                 : !field->later) {
            return false;
        }
    }
    return true;
}

/* Reads n whole numbers, none above most. */
static bool take_times(struct scan *s, size_t n, uint64_t most, uint64_t *to)
{
    if (n == 0) {
        return take(s, "[]");
    }
    for (size_t i = 0; i < n; ++i) {
        if (*s->at++ != (i == 0 ? '[' : ',') || !take_digits(s, &to[i]) || to[i] > most) {
            return false;
        }
    }
    return take(s, "]");
}

/* Reads a list of any length up to room, and sets *n to it. */
static bool take_list(struct scan *s, int room, uint64_t *to, int *n)
{
    *n = 0;
    if (take(s, "[]")) {
        return true;
    }
    for (char before = '['; *s->at == before; before = ',') {
        ++s->at;
        if (*n == room || !take_digits(s, &to[*n]) || to[*n] > (uint64_t)RECORD_EXACT_MAX) {
            return false;
        }
        ++*n;
    }
    return *n > 0 && take(s, "]");
}

static bool take_flags(struct scan *s, size_t n, unsigned *to)
{
    for (size_t i = 0; i < n; ++i) {
        uint64_t flags = 0;
        if (*s->at++ != (i == 0 ? '[' : ',') || !take_digits(s, &flags) || flags > UINT16_MAX) {
            return false;
        }
        to[i] = (unsigned)flags;
    }
    return take(s, n == 0 ? "[]" : "]");
}

/* Reads null, or an array per rank. Every element takes at least two characters of the line, so
 * memory is allocated for no more elements than the line can have. */
static bool take_ranks(struct scan *s, const struct record_cell *cell, uint64_t **times)
{
    const size_t n = cell->n_samples, ranks = (size_t)cell->n_ranks;
    if (take(s, "null")) {
        return true;
    }
    if (ranks == 0 || n > (size_t)(s->end - s->at) / 2 / ranks || !take(s, "[")) {
        return false;
    }
    *times = malloc((ranks * n + 1) * sizeof **times);
    for (size_t rank = 0; *times && rank < ranks; ++rank) {
        if ((rank > 0 && !take(s, ",")) ||
            !take_times(s, n, (uint64_t)RECORD_EXACT_MAX, *times + rank * n)) {
            return false;
        }
    }
    return *times && take(s, "]");
}

static bool take_rounds(struct scan *s, struct record_cell *cell)
{
    if (take(s, "null")) {
        return true;
    }
    s->lead = '{';
    for (int turn = 0; turn < RECORD_TURNS; ++turn) {
        int n = 0;
        if (!take_name(s, record_turn_names[turn]) ||
            !take_list(s, RECORD_MOST_ROUNDS, cell->round_ns[turn], &n) ||
            (turn > 0 && n != cell->n_rounds)) {
            return false;
        }
        cell->n_rounds = n;
    }
    return take(s, "}");
}

static bool take_phases(struct scan *s, struct record_cell *cell)
{
    s->lead = '{';
    for (int p = 0; p < RECORD_PHASES; ++p) {
        if (!take_name(s, record_phase_names[p]) || !take_ranks(s, cell, &cell->phase_ns[p])) {
            return false;
        }
    }
    return take(s, "}");
}

static bool take_phased(struct scan *s, struct record_cell *cell)
{
    cell->phased_ns = malloc((cell->n_samples + 1) * sizeof cell->phased_ns[0]);
    return cell->phased_ns &&
           take_times(s, cell->n_samples, (uint64_t)RECORD_EXACT_MAX, cell->phased_ns);
}

static bool take_raw(struct scan *s, struct record_cell *cell)
{
    const size_t n = cell->n_samples;
    const uint64_t most = (uint64_t)RECORD_EXACT_MAX;
    const int n_ranks = cell->n_ranks;
    s->lead = '{';
    if (n > (size_t)(s->end - s->at) / 2 || record_cell_alloc(cell, n, 0) != 0) {
        return false;
    }
    cell->n_ranks = n_ranks;
    if (!take_name(s, "t_start_ns") || !take_times(s, n, most, cell->t_start_ns) ||
        !take_name(s, "t_step_ns") || !take_times(s, n, most, cell->t_step_ns) ||
        !take_name(s, "flags") || !take_flags(s, n, cell->flags) || !take_name(s, "phase_ns") ||
        !take_phases(s, cell)) {
        return false;
    }
    s->lead = ',';
    if (take_name(s, "matmul_ns") && !take_ranks(s, cell, &cell->matmul_ns)) {
        return false;
    }
    if (take_name(s, "rounds_ns") && !take_rounds(s, cell)) {
        return false;
    }
    if (take_name(s, "alone_ns") && !take(s, "null") &&
        !take_list(s, RECORD_MOST_ROUNDS, cell->alone_ns, &cell->n_alone)) {
        return false;
    }
    if (take_name(s, "phased_ns") && !take_phased(s, cell)) {
        return false;
    }
    return take(s, "}");
}

static bool take_status(struct scan *s, struct record_cell *cell)
{
    const char *text = NULL;
    size_t length = 0;
    if (!take_name(s, "status") || !take_text(s, &text, &length)) {
        return false;
    }
    for (int i = 0; i < RECORD_STATUSES; ++i) {
        if (strlen(record_status_names[i]) == length &&
            memcmp(record_status_names[i], text, length) == 0) {
            cell->status = (enum record_status)i;
            return true;
        }
    }
    return false;
}

static bool take_lists(struct scan *s, struct record_cell *cell)
{
    uint64_t rows[RECORD_MAX_RANKS];
    if (!take_name(s, "shard_rows") || !take_list(s, RECORD_MAX_RANKS, rows, &cell->n_shards)) {
        return false;
    }
    for (int i = 0; i < cell->n_shards; ++i) {
        cell->shard[i] = (size_t)rows[i];
    }
    return !take_name(s, "peak_bytes") ||
           take_list(s, RECORD_MAX_RANKS, cell->peak_bytes, &cell->n_peaks);
}

static bool take_medians(struct scan *s, struct record_cell *cell)
{
    if (!take_name(s, "phase_median_ns")) {
        return false;
    }
    s->lead = '{';
    for (int p = 0; p < RECORD_PHASES; ++p) {
        if (!take_name(s, record_phase_names[p]) || !take_real(s, &cell->phase_median_ns[p])) {
            return false;
        }
    }
    return take(s, "}");
}

static bool take_key(struct scan *s, struct record_key *key)
{
    s->lead = '{';
    return take_fields(s, record_key_fields, key) && take(s, "}");
}

/* Reads the chain if there is one. It is accepted if its length is right; its value is checked
 * later. */
static bool take_chain(struct scan *s, char chain[DIGEST_HEX])
{
    const char *text = NULL;
    size_t length = 0;
    chain[0] = '\0';
    if (!take_name(s, "chain")) {
        return true;
    }
    if (!take_text(s, &text, &length) || length != DIGEST_HEX - 1) {
        return false;
    }
    memcpy(chain, text, length);
    chain[length] = '\0';
    return true;
}

bool record_cell_direct(const char *line, size_t bytes, struct record_cell *cell,
                        char chain[DIGEST_HEX])
{
    struct scan s = {.at = line, .end = line + bytes, .lead = ','};
    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    bool whole = bytes > 0 && line[bytes - 1] == '}' &&
                 take(&s, "{\"schema\":\"lockstep/cell/1.1\"") && take(&s, ",\"cell\":") &&
                 take_key(&s, &cell->key);
    s.lead = ',';
    whole = whole && take_status(&s, cell) && take_fields(&s, record_cell_fields, cell) &&
            take_lists(&s, cell) && take_medians(&s, cell);
    s.lead = ',';
    whole = whole && take_name(&s, "raw") && take_raw(&s, cell);
    s.lead = ',';
    whole = whole && take_chain(&s, chain) && take(&s, "}") && s.at == s.end;
    if (!whole) {
        record_cell_free(cell);
    }
    return whole;
}
