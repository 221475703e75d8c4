/* report/copies_beside.c: what nvbandwidth says of the copies that were measured here. */
#include "report/nvbandwidth.h"
#include "report/page.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less than any end that nvbandwidth has. */
enum { NO_NUMBER = NVBANDWIDTH_HOST - 1, NUMBER_MOST = 1 << 20 };

/* Of "cuda:5" 5, as CUDA and nvbandwidth number it. */
static int number_of(const struct copies_set *set, int end)
{
    const struct record_run *run = set->row->run;
    const int device = end - COPIES_DEVICE;
    const char *colon;
    char *rest;
    long number;

    if (end == COPIES_HOST)
        return NVBANDWIDTH_HOST;
    colon = device < run->n_slots ? strchr(run->slot[device].name, ':') : NULL;
    if (!colon || !isdigit((unsigned char)colon[1]))
        return NO_NUMBER;
    number = strtol(colon + 1, &rest, 10);
    return number <= NUMBER_MOST && (*rest == '\0' || *rest == '+') ? (int)number : NO_NUMBER;
}

static enum nvbandwidth_test test_of(int from, int to, bool read)
{
    return from == COPIES_HOST ? NVBANDWIDTH_FROM_HOST
           : to == COPIES_HOST ? NVBANDWIDTH_TO_HOST
           : from == to        ? NVBANDWIDTH_WITHIN
           : read              ? NVBANDWIDTH_READ
                               : NVBANDWIDTH_WRITE;
}

double copies_beside(const struct report *report, const struct copies_set *set, int from, int to,
                     bool read)
{
    const enum nvbandwidth_test test = test_of(from, to, read);
    const int x = number_of(set, from), y = number_of(set, to);

    if (!report->nvbandwidth || !isfinite(copies_rate(set, from, to)) ||
        (read && test != NVBANDWIDTH_READ))
        return (double)NAN;
    return nvbandwidth_rate(report->nvbandwidth, test, x, y);
}

/* ---- what has no counterpart ----------------------------------------------------------------- */

/* -1: none has that number. */
static int end_of(const struct copies_set *set, int number)
{
    int end = COPIES_DEVICE + set->devices - 1;

    while (end >= 0 && number_of(set, end) != number)
        --end;
    return end;
}

static bool is_shown(const struct report *report, enum nvbandwidth_test test, int from, int to)
{
    bool shown = false;

    for (size_t s = 0; s < report->n_copies && !shown; ++s) {
        const struct copies_set *set = &report->copies[s];
        const int a = end_of(set, from), b = end_of(set, to);

        shown = a >= 0 && b >= 0 && test_of(a, b, test == NVBANDWIDTH_READ) == test &&
                isfinite(copies_beside(report, set, a, b, test == NVBANDWIDTH_READ));
    }
    return shown;
}

static size_t count_alone(const struct report *report, enum nvbandwidth_test test)
{
    const struct nvbandwidth *there = report->nvbandwidth;
    const bool from_host = test == NVBANDWIDTH_FROM_HOST, to_host = test == NVBANDWIDTH_TO_HOST;
    size_t n = 0;

    for (int from = from_host ? NVBANDWIDTH_HOST : 0; from < (from_host ? 0 : there->devices);
         ++from)
        for (int to = to_host ? NVBANDWIDTH_HOST : 0; to < (to_host ? 0 : there->devices); ++to)
            if (test != NVBANDWIDTH_WITHIN || from == to)
                n += isfinite(nvbandwidth_rate(there, test, from, to)) &&
                     !is_shown(report, test, from, to);
    return n;
}

static size_t count_unmatched(const struct report *report)
{
    size_t n = report->nvbandwidth->others;

    for (int test = 0; test < NVBANDWIDTH_TESTS; ++test)
        n += count_alone(report, (enum nvbandwidth_test)test);
    return n;
}

/* Whether it is another GPU than that of the same number there, as far as both say where it is. */
static bool is_another(const struct report *report, const struct copies_set *set, int end)
{
    const int number = number_of(set, end);
    const struct nvbandwidth_place *there;
    unsigned domain, bus, device;

    if (number < 0 || number >= NVBANDWIDTH_DEVICES)
        return false;
    there = &report->nvbandwidth->place[number];
    return there->known &&
           sscanf(set->row->run->slot[end - COPIES_DEVICE].bus, "%8x:%2x:%2x", &domain, &bus,
                  &device) == 3 &&
           (domain != there->domain || bus != there->bus || device != there->device);
}

/* Numbers of other GPUs beside ours say nothing of these, or both number them in other ways. */
static void add_another(const struct report *report, char text[REPORT_CELL_TEXT])
{
    for (size_t s = 0; s < report->n_copies; ++s)
        for (int d = 0; d < report->copies[s].devices; ++d) {
            const struct copies_set *set = &report->copies[s];

            if (!is_another(report, set, COPIES_DEVICE + d))
                continue;
            const struct record_slot *slot = &set->row->run->slot[d];
            const int number = number_of(set, COPIES_DEVICE + d);
            const struct nvbandwidth_place *there = &report->nvbandwidth->place[number];

            report_add(text,
                       "%s is the GPU at %s here, and that at %04x:%02x:%02x in nvbandwidth's "
                       "file: its numbers are of another GPU. ",
                       slot->name, slot->bus, there->domain, there->bus, there->device);
            return;
        }
}

void report_copies_remarks(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct nvbandwidth *there = report->nvbandwidth;
    size_t unmatched;

    text[0] = '\0';
    if (!there)
        return;
    if (there->stopped)
        report_add(text, "nvbandwidth ended with an error: %s. ", there->error);
    if (there->failed > 0)
        report_add(text, "%zu test%s of nvbandwidth ended with an error, the first is %s. ",
                   there->failed, there->failed == 1 ? "" : "s", there->first);
    if (there->running[0] != '\0')
        report_add(text, "%s of nvbandwidth did not come to its end. ", there->running);
    if (there->idle > 0)
        report_add(text, "%zu test%s of nvbandwidth %s not run there. ", there->idle,
                   there->idle == 1 ? "" : "s", there->idle == 1 ? "was" : "were");
    add_another(report, text);
    if ((unmatched = count_unmatched(report)) > 0)
        report_add(text, "%zu result%s of nvbandwidth %s no counterpart here. ", unmatched,
                   unmatched == 1 ? "" : "s", unmatched == 1 ? "has" : "have");
}
