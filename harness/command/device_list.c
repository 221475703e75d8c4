/* command/device_list.c: see command/device_list.h. */
#include "command/device_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "cuda:";

enum { MAX_DIGITS = 5 };

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
    const char *at = list + strlen(kind);
    int n = 0, first, last;

    if (strncmp(list, kind, strlen(kind)) != 0 || *at == '\0')
        return -1;
    while (at && *at != '\0') {
        at = take_range(at, &first, &last);
        n += at ? last - first + 1 : 0;
    }
    return at ? n : -1;
}

int device_list_first(const char *list, size_t n, char *text, size_t bytes)
{
    const char *at = strcmp(list, "cuda:all") == 0 ? "0-63" : list + strlen(kind);
    size_t used = (size_t)snprintf(text, bytes, "%s", kind), left = n;
    int first, last;

    if (strncmp(list, kind, strlen(kind)) != 0)
        return -1;
    while (left > 0 && used < bytes) {
        if (*at == '\0' || !(at = take_range(at, &first, &last)))
            return -1;
        if ((size_t)(last - first) >= left)
            last = first + (int)left - 1;
        left -= (size_t)(last - first + 1);
        used += (size_t)snprintf(text + used, bytes - used, last > first ? "%s%d-%d" : "%s%d",
                                 used > strlen(kind) ? "," : "", first, last);
    }
    return left == 0 && used < bytes ? 0 : -1;
}
