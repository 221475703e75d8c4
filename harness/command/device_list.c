/* command/device_list.c: see command/device_list.h. */
#include "command/device_list.h"

#include "dp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 5 };

/* KIND:DEVICES+SUFFIX+SUFFIX */
struct parts {
    const char *devices;  /* after the colon; without one the suffixes */
    const char *suffixes; /* the first '+', or the end */
    bool known, listed;   /* of a kind that is known; of one whose devices have numbers */
};

static struct parts split(const char *list)
{
    struct parts parts = {.suffixes = list + strcspn(list, "+")};
    const char *colon = memchr(list, ':', (size_t)(parts.suffixes - list));
    struct dp_kind_row kind;

    parts.devices = colon ? colon + 1 : parts.suffixes;
    parts.known = colon && dp_kind_of(list, &kind);
    parts.listed = parts.known && (kind.flags & DP_KIND_LISTED);
    return parts;
}

static bool is_all(const struct parts *parts)
{
    return parts->suffixes - parts->devices == 3 && strncmp(parts->devices, "all", 3) == 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* "4" */
static int count_of(const struct parts *parts)
{
    const size_t digits = strspn(parts->devices, "0123456789");

    if (digits < 1 || digits > MAX_DIGITS || parts->devices[0] == '0' ||
        parts->devices + digits != parts->suffixes)
        return 0;
    return (int)strtol(parts->devices, NULL, 10);
}

/* Takes "3" or "0-3", with the comma after it, of a list that ends at a '+' or a 0; NULL when it
 * is neither. */
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

    const bool comma = *at == ',', end = *at == '+' || *at == '\0';

    if (*last < *first || !(comma || end) || (comma && (at[1] == '+' || at[1] == '\0')))
        return NULL;
    return comma ? at + 1 : at;
}

int device_list_count(const char *list)
{
    const struct parts parts = split(list);
    const char *at = parts.devices;
    int n = 0, first, last;

    if (!parts.listed)
        return parts.known ? count_of(&parts) : -1;
    if (at == parts.suffixes)
        return -1;
    while (at && at != parts.suffixes) {
        at = take_range(at, &first, &last);
        n += at ? last - first + 1 : 0;
    }
    return at ? n : -1;
}

/* Writes the numbers of the first n. Their length, or -1. */
static int first_numbers(const struct parts *parts, size_t n, char *text, size_t bytes)
{
    const char *at = is_all(parts) ? "0-63" : parts->devices;
    size_t used = 0, left = n;
    int first, last;

    while (left > 0 && used < bytes) {
        if (*at == '+' || *at == '\0' || !(at = take_range(at, &first, &last)))
            return -1;
        if ((size_t)(last - first) >= left)
            last = first + (int)left - 1;
        left -= (size_t)(last - first + 1);
        used += (size_t)snprintf(text + used, bytes - used, last > first ? "%s%d-%d" : "%s%d",
                                 used > 0 ? "," : "", first, last);
    }
    return left == 0 && used < bytes ? (int)used : -1;
}

int device_list_first(const char *list, size_t n, char *text, size_t bytes)
{
    const struct parts parts = split(list);
    const size_t kind = (size_t)(parts.devices - list), suffixes = strlen(parts.suffixes);
    int used = -1;

    if (!parts.known || kind + suffixes >= bytes)
        return -1;

    char *devices = text + kind;
    const size_t room = bytes - kind - suffixes;

    memcpy(text, list, kind);
    if (parts.listed)
        used = first_numbers(&parts, n, devices, room);
    else if (n <= (size_t)count_of(&parts))
        used = snprintf(devices, room, "%zu", n);
    if (used < 0 || (size_t)used >= room)
        return -1;
    memcpy(devices + used, parts.suffixes, suffixes + 1);
    return 0;
}

bool device_list_all(const char *list)
{
    const struct parts parts = split(list);

    return is_all(&parts);
}

/* ---- suffixes -------------------------------------------------------------------------------- */

void device_list_kind(const char *list, char *text, size_t bytes)
{
    const struct parts parts = split(list);

    snprintf(text, bytes, "%.*s%s", (int)strcspn(list, ":+"), list, parts.suffixes);
}

static bool is_delay(const char *suffix, size_t length)
{
    const size_t digits = strspn(suffix, "0123456789");

    return digits > 0 && ((length == digits + 2 && strncmp(suffix + digits, "us", 2) == 0) ||
                          (length == digits + 4 && strncmp(suffix + digits, "MB/s", 4) == 0));
}

static bool is_fault(const char *suffix, size_t length)
{
    return length > 6 && strncmp(suffix, "fault:", 6) == 0;
}

static bool is_slow(const char *suffix, size_t length)
{
    return is_fault(suffix, length) &&
           (strncmp(suffix + 6, "slow@", 5) == 0 || strncmp(suffix + 6, "link@", 5) == 0);
}

static bool has_suffix(const char *list, bool (*is)(const char *suffix, size_t length))
{
    const char *at = split(list).suffixes;

    while (*at == '+') {
        const size_t length = strcspn(++at, "+");

        if (is(at, length))
            return true;
        at += length;
    }
    return false;
}

bool device_list_slowed(const char *list)
{
    return has_suffix(list, is_delay);
}

bool device_list_faulty(const char *list)
{
    return has_suffix(list, is_fault);
}

bool device_list_fault_slows(const char *list)
{
    return has_suffix(list, is_slow);
}
