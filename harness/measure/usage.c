/* measure/usage.c: reads /proc/stat, the frequencies and the use of this process, and computes
 * which part of the time other programs took.
 *
 * The files are data: a torn one counts as unknown, and so do times that do not add up to the time
 * that passed, as in a container that makes its own /proc. */
#include "measure/measure.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "machine/machine.h"
#include "measure/session.h"

/* The times of a unit in /proc/stat, in their order. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };

enum {
    LEAST_TICKS = 10, /* the least length of an interval that can be judged */
    COARSE_TICKS = 4, /* how far the times of a unit may be wrong: they are rounded one by one */
    PATH_BYTES = 512
};
static const double SLACK = 0.1; /* by which the times of the kernel may differ from the clock */
static const double MOST_HZ = 1e11;

static double ticks_per_second(void)
{
    return (double)sysconf(_SC_CLK_TCK);
}

/* Reads a whole number below most, and returns the text after it. NULL: there is none. */
static const char *read_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *number < most ? end : NULL;
}

int usage_add_units(const char *list, struct usage_units *units)
{
    for (;;) {
        uint64_t first, last;

        if (!(list = read_number(list, USAGE_UNITS, &first)))
            return -1;
        last = first;
        if (*list == '-' && !(list = read_number(list + 1, USAGE_UNITS, &last)))
            return -1;
        for (uint64_t i = first; i <= last; ++i) {
            units->n += !units->has[i];
            units->has[i] = true;
        }
        if (last < first || (*list != ',' && *list != '\0'))
            return -1;
        if (*list++ == '\0')
            return 0;
    }
}

void usage_add_allowed(const char *root, struct usage_units *units)
{
    static const char name[] = "Cpus_allowed_list:\t";
    char path[PATH_BYTES], *line = NULL;
    size_t room = 0;

    snprintf(path, sizeof path, "%s/proc/thread-self/status", root);

    FILE *file = fopen(path, "r");

    while (file && getline(&line, &room, file) > 0) {
        if (strncmp(line, name, strlen(name)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (usage_add_units(line + strlen(name), units) != 0)
            units->n = 0;
        break;
    }
    if (file && ferror(file))
        units->n = 0;
    free(line);
    if (file)
        fclose(file);
}

void usage_find_units(const char *root, struct dp_group *group, struct usage_units *units)
{
    struct dp_slot_info info = {.bound = true};

    *units = (struct usage_units){.n = 0};
    for (int i = 0; i < dp_group_size(group) && info.bound; ++i) {
        dp_slot_describe(dp_group_slot(group, i), &info);
        /* A list that fills its array may have been cut. */
        if (info.bound && (strlen(info.cores) == sizeof info.cores - 1 ||
                           usage_add_units(info.cores, units) != 0)) {
            units->n = 0;
            return;
        }
    }
    if (!info.bound) {
        *units = (struct usage_units){.n = 0};
        usage_add_allowed(root, units);
    }
}

/* Adds up the times of the units, in ticks. False: some unit is not there exactly once, with
 * times. */
static bool add_times(FILE *file, const struct usage_units *units, double sum[TIMES])
{
    struct usage_units seen = {.n = 0};
    uint64_t unit, ticks[TIMES];
    char *line = NULL;
    size_t room = 0;
    bool good = true;

    while (good && getline(&line, &room, file) > 0 && strncmp(line, "cpu", 3) == 0) {
        if (line[3] == ' ') /* the sum over all units */
            continue;
        /* The line is like "cpu3 10 20 ...": a unit and its times. */
        const char *at = read_number(line + strlen("cpu"), UINT32_MAX, &unit);

        for (int i = 0; at && i < TIMES; ++i)
            at = *at == ' '
                     ? read_number(at + strspn(at, " "), (uint64_t)RECORD_EXACT_MAX, &ticks[i])
                     : NULL;
        good = at && (*at == ' ' || *at == '\n');
        if (!good || unit >= USAGE_UNITS || !units->has[unit])
            continue;
        good = !seen.has[unit];
        seen.has[unit] = true;
        ++seen.n;
        for (int i = 0; i < TIMES; ++i)
            sum[i] += (double)ticks[i];
    }
    free(line);
    return good && !ferror(file) && units->n > 0 && seen.n == units->n;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

struct usage_reading usage_read(const char *root, const struct usage_units *units)
{
    struct usage_reading reading = {
        .busy_s = (double)NAN, .steal_s = (double)NAN, .all_s = (double)NAN, .own_s = (double)NAN};
    const double second = ticks_per_second();
    double sum[TIMES] = {0};
    char path[PATH_BYTES];
    struct rusage own;

    reading.clock_ns = watch_clock_ns();
    snprintf(path, sizeof path, "%s/proc/stat", root);

    FILE *file = fopen(path, "r");

    if (file && add_times(file, units, sum)) {
        /* The time of guests is a part of USER. */
        reading.busy_s = (sum[USER] + sum[NICE] + sum[SYSTEM] + sum[IRQ] + sum[SOFTIRQ]) / second;
        reading.steal_s = sum[STEAL] / second;
        reading.all_s = reading.busy_s + reading.steal_s + (sum[IDLE] + sum[IOWAIT]) / second;
    }
    if (file)
        fclose(file);
    if (getrusage(RUSAGE_SELF, &own) == 0) {
        reading.own_s = seconds(own.ru_utime) + seconds(own.ru_stime);
        reading.switches[0] = (double)own.ru_nvcsw;
        reading.switches[1] = (double)own.ru_nivcsw;
        reading.faults[0] = (double)own.ru_minflt;
        reading.faults[1] = (double)own.ru_majflt;
    } else {
        for (int i = 0; i < 2; ++i)
            reading.switches[i] = reading.faults[i] = (double)NAN;
    }
    return reading;
}

double usage_hz(const char *root, const struct usage_units *units)
{
    double sum = 0;

    for (int i = 0; i < USAGE_UNITS && !isnan(sum); ++i) {
        char name[PATH_BYTES], line[32];
        uint64_t khz = 0;
        int unused = 0;

        if (!units->has[i])
            continue;
        snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", i);
        const bool read = machine_line(root, name, line, sizeof line, &unused);
        const char *end = read ? read_number(line, UINT32_MAX, &khz) : NULL;

        sum += end && *end == '\n' && khz > 0 && (double)khz * 1e3 <= MOST_HZ ? (double)khz * 1e3
                                                                              : (double)NAN;
    }
    return units->n > 0 ? sum / units->n : (double)NAN;
}

/* How far a counter moved. One that went back counts as unknown. */
static double passed(double begin, double end)
{
    return end >= begin ? end - begin : (double)NAN;
}

static double share(double part, double whole)
{
    return fmin(1, fmax(0, part / whole));
}

void usage_note(const struct usage_reading *begin, const struct usage_reading *end,
                const struct usage_units *units, struct record_cell *cell)
{
    const double tick = 1 / ticks_per_second(), coarse = COARSE_TICKS * tick * units->n;
    const double elapsed = passed((double)begin->clock_ns, (double)end->clock_ns) / 1e9;
    const double room = elapsed * units->n, own = passed(begin->own_s, end->own_s);
    const double busy = passed(begin->busy_s, end->busy_s);
    const double steal = passed(begin->steal_s, end->steal_s);
    const double all = passed(begin->all_s, end->all_s);

    cell->foreign_frac = cell->steal_frac = (double)NAN;
    /* The kernel's times of the units must fit the time that passed, and be able to include those
     * of this process. */
    if (elapsed >= LEAST_TICKS * tick && fabs(all - room) <= SLACK * room + coarse &&
        own - (busy + steal) <= SLACK * room + coarse) {
        const double foreign = share(busy - own, room), stolen = share(steal, room);
        /* A short launch has few ticks, which are rounded, so together they may be more than all.
         */
        const double sum = fmax(1, foreign + stolen);

        cell->foreign_frac = foreign / sum;
        cell->steal_frac = stolen / sum;
    }
    cell->voluntary_switches = passed(begin->switches[0], end->switches[0]);
    cell->involuntary_switches = passed(begin->switches[1], end->switches[1]);
    cell->minor_faults = passed(begin->faults[0], end->faults[0]);
    cell->major_faults = passed(begin->faults[1], end->faults[1]);
}
