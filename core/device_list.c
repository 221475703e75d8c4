/* device_list.c: parses a device list: the devices, and the wrappers around them.
 *
 * Suffixes begin at the first '+'. Each suffix may occur once, and their order has no meaning: late
 * queues are always the innermost wrapper, and faults the outermost. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT = 96,
    MOST_US = 1000000,
    MOST_MB = 1000000,
    MOST_CALLS = 1000000000,
    MOST_PERCENT = 10000,
    NAMES = 240
};

/* ---- suffixes ---------------------------------------------------------------------------- */

/* Accepts only digits, and 1 to most. */
static bool parse_number(const char *text, size_t digits, long most, uint64_t *value)
{
    if (digits < 1 || digits > 10 || strspn(text, "0123456789") < digits)
        return false;
    const long number = strtol(text, NULL, 10);
    *value = (uint64_t)number;
    return number >= 1 && number <= most;
}

/* A number with its unit, like "500us" or "1000MB/s". It has at most as many digits as the limit.
 */
static bool parse_measure(const char *text, const char *unit, long most, uint64_t *value)
{
    const size_t digits = strspn(text, "0123456789");
    return digits <= 7 && strcmp(text + digits, unit) == 0 &&
           parse_number(text, digits, most, value);
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

/* Reads the number after a character, up to the next '/'. Returns false if there is none. */
static bool next_number(const char **at, char before, long least, long most, uint64_t *value)
{
    const size_t digits = **at == before ? strcspn(*at + 1, "/") : 0;
    const bool zero = least == 0 && digits == 1 && (*at)[1] == '0';
    *value = 0;
    if (!zero && !parse_number(*at + 1, digits, most, value))
        return false;
    *at += 1 + digits;
    return true;
}

/* After the name comes "@37/1"; faults that slow a device down may also have "@37/1/5", and those
 * of copies have the other device there. */
static int parse_silent_fault(const char *whole, const char *text,
                              enum dp_silent_fault silent_fault, struct dp_silent_fault_spec *spec,
                              struct dp_error *err)
{
    const char *at = text, *name = dp_silent_fault_name(silent_fault);
    const bool slows = silent_fault == DP_SILENT_FAULT_SLOW || silent_fault == DP_SILENT_FAULT_LINK;
    const bool copies = dp_silent_fault_copies(silent_fault);
    char by[48] = "";
    uint64_t step, device = 0, percent = 0, to = 0;
    bool right = next_number(&at, '@', 1, MOST_CALLS, &step) &&
                 next_number(&at, '/', 0, DP_MAX_SLOTS - 1, &device);
    if (right && slows && *at != '\0')
        right = next_number(&at, '/', 1, MOST_PERCENT, &percent);
    if (right && copies)
        right = next_number(&at, '/', 0, DP_MAX_SLOTS - 1, &to) && to != device;
    if (copies && (!right || *at != '\0'))
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': which copy, 1 to %d, from which device to which other "
                       "one, 0 to %d, like +fault:%s@3/0/1",
                       whole, MOST_CALLS, DP_MAX_SLOTS - 1, name);
    if (slows)
        snprintf(by, sizeof by, ", or +fault:%s@3/1/5 by 5 %%", name);
    if (!right || *at != '\0')
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': in which step, 1 to %d, on which device, 0 to %d, like "
                       "+fault:%s@3/1%s",
                       whole, MOST_CALLS, DP_MAX_SLOTS - 1, name, by);
    *spec =
        (struct dp_silent_fault_spec){silent_fault, step, (int)device, (unsigned)percent, (int)to};
    return 0;
}

/* Parses "launch@3". */
static int parse_fault(const char *whole, const char *text, struct dp_device_list *list,
                       struct dp_error *err)
{
    const size_t name = strcspn(text, "@");
    char known[NAMES];
    int fault = 0;
    for (int i = 0; i < DP_SILENT_FAULTS; ++i) {
        if (is_name(dp_silent_fault_name((enum dp_silent_fault)i), text, name))
            return parse_silent_fault(whole, text + name, (enum dp_silent_fault)i,
                                      &list->silent_fault, err);
    }
    while (fault < DP_FAULTS && !is_name(dp_fault_name((enum dp_fault)fault), text, name))
        ++fault;
    if (fault == DP_FAULTS) {
        size_t used = 0;
        known[0] = '\0';
        for (int i = 0; i < DP_FAULTS + DP_SILENT_FAULTS && used < NAMES; ++i)
            used += (size_t)snprintf(
                known + used, NAMES - used, "%s%s", i > 0 ? ", " : "",
                i < DP_FAULTS ? dp_fault_name((enum dp_fault)i)
                              : dp_silent_fault_name((enum dp_silent_fault)(i - DP_FAULTS)));
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': '%.*s' is not an operation that can fail: %s", whole,
                       name < 32 ? (int)name : 32, text, known);
    }
    const char *number = text + name + (text[name] == '@');
    if (!parse_number(number, strlen(number), MOST_CALLS, &list->fault_at))
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': which call of %s fails, 1 to %d, like +fault:%s@3", whole,
                       dp_fault_name((enum dp_fault)fault), MOST_CALLS,
                       dp_fault_name((enum dp_fault)fault));
    list->fault = (enum dp_fault)fault;
    return 0;
}

/* Parses one suffix, without its '+'. */
static int parse_suffix(const char *whole, const char *text, struct dp_device_list *list,
                        struct dp_error *err)
{
    const struct dp_device_list before = *list;
    uint64_t number = 0;
    int status = 0;
    bool twice = false;
    if (strcmp(text, "lag") == 0) {
        list->lag = true;
        twice = before.lag;
    } else if (strncmp(text, "fault:", 6) == 0) {
        status = parse_fault(whole, text + 6, list, err);
        twice = before.fault_at > 0 || before.silent_fault.step > 0;
    } else if (parse_measure(text, "us", MOST_US, &number)) {
        list->delay_ns = number * 1000;
        twice = before.delay_ns > 0;
    } else if (parse_measure(text, "MB/s", MOST_MB, &number)) {
        list->delay_rate = number * 1000000;
        twice = before.delay_rate > 0;
    } else {
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': '+%.32s' after the devices: only +lag, a delay of +1us to "
                       "+1000000us or +1MB/s to +1000000MB/s, or a fault, +fault:OPERATION@CALL, "
                       "may follow them",
                       whole, text);
    }
    return status == 0 && twice
               ? dp_fail(err, DP_EINVAL, "devices '%.64s': '+%.32s' is the second of its kind",
                         whole, text)
               : status;
}

int dp_suffixes_parse(const char *whole, const char *at, struct dp_device_list *list,
                      struct dp_error *err)
{
    int status = 0;
    while (status == 0 && *at == '+') {
        const size_t length = strcspn(++at, "+");
        char text[TEXT];
        (void)snprintf(text, sizeof text, "%.*s", (int)(length < TEXT ? length : TEXT), at);
        status = parse_suffix(whole, text, list, err);
        at += length;
    }
    return status;
}

/* ---- devices ----------------------------------------------------------------------------- */

static int parse_count(const char *text, const char *whole, int *count, struct dp_error *err)
{
    const size_t digits = strspn(text, "0123456789");
    if (*text == '\0')
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': a number of virtual devices is missing, like virt:4",
                       whole);
    if (digits == 0)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': '%.64s' is not a number of virtual devices, like virt:4",
                       whole, text);
    if (text[digits] != '\0')
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': '%.64s' after the number: only a suffix, like +lag, may "
                       "follow it",
                       whole, text + digits);
    const long value = strtol(text, NULL, 10);
    if (value < 1 || value > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "devices '%.64s': 1 to %d virtual devices", whole,
                       DP_MAX_SLOTS);
    *count = (int)value;
    return 0;
}

int dp_virtual_list(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    const int status = parse_count(strchr(text, ':') + 1, text, &list->n, err);
    for (int i = 0; status == 0 && i < list->n; ++i)
        list->device[i] = i;
    return status;
}
