/* text/options.c: parsing of option values: sizes, lists of sizes, names out of a table.
 *
 * Strict: what is not wholly understood is an error with one line that names the value. */
#include "text/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_BYTES 80 /* of one item of a list, and of a value as shown in a message */

/* The value as it may be shown on a terminal: one line, no control characters, not too long. */
struct shown {
    char text[ITEM_BYTES];
};

static struct shown show(const char *value)
{
    struct shown shown = {""};
    size_t n = 0;
    for (; value[n] != '\0' && n + 4 < sizeof shown.text; ++n) {
        const unsigned char c = (unsigned char)value[n];
        shown.text[n] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    if (value[n] != '\0')
        memcpy(shown.text + n, "...", 4);
    return shown;
}

/* Digits with an optional Ki, Mi or Gi. A number that does not fit becomes SIZE_MAX. */
int option_size(const char *value, size_t min, size_t max, size_t *size, struct text_error *why)
{
    size_t number = 0;
    const char *p = value;

    for (; *p >= '0' && *p <= '9'; ++p) {
        const size_t digit = (size_t)(*p - '0');

        number = number > (SIZE_MAX - digit) / 10 ? SIZE_MAX : number * 10 + digit;
    }
    const unsigned shift = *p == 'K' ? 10 : *p == 'M' ? 20 : *p == 'G' ? 30 : 0;

    if (p == value || (*p != '\0' && (shift == 0 || strcmp(p + 1, "i") != 0)))
        return text_fail(why, "\"%s\" is not a whole number of %zu to %zu%s", show(value).text, min,
                         max, max < 1024 ? "" : " (1024 times as much with Ki, then Mi, Gi)");
    number = number > SIZE_MAX >> shift ? SIZE_MAX : number << shift;
    if (number < min || number > max || number == SIZE_MAX)
        return text_fail(why, "\"%s\" is outside %zu to %zu", show(value).text, min, max);
    *size = number;
    return 0;
}

int option_real(const char *value, double min, double max, double *number, struct text_error *why)
{
    const bool decimal = strspn(value, "0123456789.eE+-") == strlen(value);
    char *end = NULL;
    const double real = strtod(value, &end);

    if (!decimal || *value == '+' || *value == '\0' || *end != '\0')
        return text_fail(why, "\"%s\" is not a number of %g to %g", show(value).text, min, max);
    if (!(real >= min && real <= max))
        return text_fail(why, "\"%s\" is outside %g to %g", show(value).text, min, max);
    *number = real;
    return 0;
}

/* A list under construction: ascending, without duplicates. */
struct size_list {
    size_t *entry, capacity, n, min, max;
};

static int insert(struct size_list *list, size_t number, struct text_error *why)
{
    size_t at = list->n;
    while (at > 0 && list->entry[at - 1] >= number)
        --at;
    if (at < list->n && list->entry[at] == number)
        return 0;
    if (list->n == list->capacity)
        return text_fail(why, "more than %zu different values", list->capacity);
    memmove(list->entry + at + 1, list->entry + at, (list->n - at) * sizeof list->entry[0]);
    list->entry[at] = number;
    ++list->n;
    return 0;
}

/* "A:B:xM" or "A:B:+S"; item is cut up in place, whole is for the messages. */
static int insert_range(struct size_list *list, char *item, const char *whole,
                        struct text_error *why)
{
    char *last = strchr(item, ':');
    char *step = !last ? NULL : strchr(last + 1, ':');
    if (!step || (step[1] != 'x' && step[1] != '+'))
        return text_fail(why, "\"%s\" is neither FIRST:LAST:xFACTOR nor FIRST:LAST:+STEP",
                         show(whole).text);
    *last++ = '\0';
    *step++ = '\0';
    const bool multiply = *step++ == 'x';
    size_t from, to, by;
    if (option_size(item, list->min, list->max, &from, why) != 0 ||
        option_size(last, list->min, list->max, &to, why) != 0 ||
        option_size(step, 0, SIZE_MAX - 1, &by, why) != 0)
        return -1;
    if (by < (multiply ? 2 : 1))
        return text_fail(why, "\"%s\" does not get larger: x2 or +1 at least", show(whole).text);
    if (from > to || (multiply && from == 0))
        return text_fail(why, "\"%s\": the first value must be %s", show(whole).text,
                         from > to ? "at most the last" : "at least 1 to be multiplied");
    /* from, then each number times or plus by, up to to. */
    for (size_t number = from;;) {
        if (insert(list, number, why) != 0)
            return -1;
        /* Compared before it is computed, so that it cannot overflow. */
        if (multiply ? number > to / by : by > to - number)
            return 0;
        number = multiply ? number * by : number + by;
    }
}

int option_sizes(const char *value, size_t min, size_t max, size_t list[], size_t capacity,
                 size_t *n, struct text_error *why)
{
    struct size_list sizes = {.entry = list, .capacity = capacity, .min = min, .max = max};
    for (const char *p = value;; ++p) {
        char item[ITEM_BYTES];
        size_t number;
        const size_t length = strcspn(p, ",");
        if (length >= sizeof item)
            return text_fail(why, "\"%s\" is too long for one value of a list", show(p).text);
        if (length == 0)
            return text_fail(why,
                             "\"%s\" has an empty value: expected a list like 1,2,4 or 32:4096:x2",
                             show(value).text);
        memcpy(item, p, length);
        item[length] = '\0';

        const struct shown whole = show(item);
        const bool range = strchr(item, ':') != NULL;

        if (range ? insert_range(&sizes, item, whole.text, why) != 0
                  : option_size(item, min, max, &number, why) != 0 ||
                        insert(&sizes, number, why) != 0)
            return -1;
        p += length;
        if (*p == '\0') {
            *n = sizes.n;
            return 0;
        }
    }
}

/* Edit distance; of names longer than the row only the beginning counts. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64];
    const size_t length = strlen(b) < 63 ? strlen(b) : 63;
    for (size_t j = 0; j <= length; ++j)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; ++j) {
            const size_t above = row[j + 1];
            size_t best = diagonal + (a[i] != b[j]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j + 1] = best;
            diagonal = above;
        }
    }
    return row[length];
}

/* How many names come before names[i] when ordered by distance, ties in table order. */
static size_t nearness(const char *value, const char *const names[], size_t n, size_t i)
{
    size_t before = 0;
    const size_t own = distance(value, names[i]);
    for (size_t k = 0; k < n; ++k) {
        const size_t other = distance(value, names[k]);
        before += other < own || (other == own && k < i);
    }
    return before;
}

int option_name(const char *what, const char *value, const char *const names[], size_t n,
                size_t *index, struct text_error *why)
{
    for (size_t i = 0; i < n; ++i) {
        if (strcmp(value, names[i]) == 0) {
            *index = i;
            return 0;
        }
    }
    text_fail(why, "unknown %s \"%.40s\"; known:", what, show(value).text);
    for (size_t place = 0; place < n; ++place) {
        size_t i = 0;
        while (nearness(value, names, n, i) != place)
            ++i;
        text_add(why->text, sizeof why->text, "%s %s", place == 0 ? "" : ",", names[i]);
    }
    return -1;
}
