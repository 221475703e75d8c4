/* command/device_list.c: see command/device_list.h. */
#include "command/device_list.h"

#include "dp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 5 };

/* Length of "cuda:" before numbers of devices; 0: the list says how many there are. */
static size_t listed(const char *list)
{
    const char *colon = strchr(list, ':');
    struct dp_kind_row kind;

    return colon && dp_kind_of(list, &kind) && (kind.flags & DP_KIND_LISTED)
               ? (size_t)(colon - list) + 1
               : 0;
}

/* "4" or "4+lag", of a known kind. */
static int count_of(const char *list)
{
    const char *colon = strchr(list, ':');
    struct dp_kind_row kind;

    if (!colon || !dp_kind_of(list, &kind))
        return -1;
    const size_t digits = strspn(colon + 1, "0123456789");

    if (digits < 1 || digits > MAX_DIGITS || colon[1] == '0' ||
        (colon[1 + digits] != '\0' && colon[1 + digits] != '+'))
        return 0;
    return (int)strtol(colon + 1, NULL, 10);
}

/* Takes "3" or "0-3", with the comma behind it; NULL when it is neither. */
static const char *take_range(const char *at, int *first, int *last)
{
    size_t digits = strspn(at, "0123456789");

    if (digits < 1 || digits > MAX_DIGITS)
        return NULL;
    *first = *last = (int)strtol(at, NULL, 10);
    at += digits;
    if (*at == '-') {
        digits = strspn(++at, "0123456789");
        if (digits < 1 || digits > MAX_DIGITS)
            return NULL;
        *last = (int)strtol(at, NULL, 10);
        at += digits;
    }
    if (*last < *first || (*at != ',' && *at != '\0') || strcmp(at, ",") == 0)
        return NULL;
    return *at == ',' ? at + 1 : at;
}

int device_list_count(const char *list)
{
    const size_t start = listed(list);
    const char *at = list + start;
    int n = 0, first, last;

    if (start == 0)
        return count_of(list);
    if (*at == '\0')
        return -1;
    while (at && *at != '\0') {
        at = take_range(at, &first, &last);
        n += at ? last - first + 1 : 0;
    }
    return at ? n : -1;
}

static int first_of_count(const char *list, size_t n, char *text, size_t bytes)
{
    const char *colon = strchr(list, ':'), *plus = strchr(list, '+');
    const int kind = colon ? (int)(colon - list) : 0, there = count_of(list);
    const int length = snprintf(text, bytes, "%.*s:%zu%s", kind, list, n, plus != NULL ? plus : "");

    return (there >= 0 && n > (size_t)there) || length < 0 || (size_t)length >= bytes ? -1 : 0;
}

int device_list_first(const char *list, size_t n, char *text, size_t bytes)
{
    const size_t start = listed(list);
    const char *at = strcmp(list + start, "all") == 0 ? "0-63" : list + start;
    size_t used = (size_t)snprintf(text, bytes, "%.*s", (int)start, list), left = n;
    int first, last;

    if (start == 0)
        return first_of_count(list, n, text, bytes);
    while (left > 0 && used < bytes) {
        if (*at == '\0' || !(at = take_range(at, &first, &last)))
            return -1;
        if ((size_t)(last - first) >= left)
            last = first + (int)left - 1;
        left -= (size_t)(last - first + 1);
        used += (size_t)snprintf(text + used, bytes - used, last > first ? "%s%d-%d" : "%s%d",
                                 used > start ? "," : "", first, last);
    }
    return left == 0 && used < bytes ? 0 : -1;
}
