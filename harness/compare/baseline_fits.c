/* compare/baseline_fits.c: whether a sitting is one more of those of a baseline. */
#include "compare/baseline.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static int say(char why[BASELINE_WHY], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int say(char why[BASELINE_WHY], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, BASELINE_WHY, format, args);
    va_end(args);
    return -1;
}

/* That the library of matrix products is the same: by its name, version and kernels. A baseline of
 * an older program may have sittings of two. */
static int check_blas(const struct baseline *baseline, const struct baseline_source *source,
                      char why[BASELINE_WHY])
{
    const char *first = baseline->lines.line[0].blas, *own = source->lines.line[0].blas;

    if (first[0] == '\0')
        return say(why,
                   "%.100s:1: it does not say of which library of matrix products it is, and "
                   "%.100s is of \"%s\": begin a baseline of another name",
                   baseline->path, source->path, own);
    if (strcmp(first, own) != 0)
        return say(why,
                   "%.100s:1: another library of matrix products, \"%s\", than \"%s\" of %.100s:1: "
                   "measure with that one, or take a baseline of another name",
                   source->path, own, first, baseline->path);
    return 0;
}

/* That it is no sitting which is there, nor, if it is to be added, a part of one: of the same start
 * of the machine, and within hours of it. */
static int check_apart(const struct baseline *baseline, const struct baseline_source *source,
                       bool fresh, char why[BASELINE_WHY])
{
    const struct baseline_line *own = &source->lines.line[0];

    for (size_t s = 0; s < baseline->sittings; ++s) {
        const struct baseline_line *line = &baseline->lines.line[s * baseline->cells];
        const uint64_t apart = line->start_epoch_ns > own->start_epoch_ns
                                   ? line->start_epoch_ns - own->start_epoch_ns
                                   : own->start_epoch_ns - line->start_epoch_ns;

        if (baseline_same_run(line, own))
            return say(why, "%.100s:1: run %s is there already: run %s of sitting %zu, %.100s:%zu",
                       source->path, own->run_id, line->run_id, s + 1, baseline->path,
                       s * baseline->cells + 1);
        if (fresh && apart < RECORD_SITTINGS_APART &&
            strcmp(line->machine_instance, own->machine_instance) == 0)
            return say(why,
                       "%.90s:1: %.1f hours from sitting %zu (%.90s:%zu), in the same start of the "
                       "machine: it takes 6 hours, or another start",
                       source->path, (double)apart / 3.6e12, s + 1, baseline->path,
                       s * baseline->cells + 1);
    }
    return 0;
}

int baseline_fits(const struct baseline *baseline, const struct baseline_source *source, bool fresh,
                  char why[BASELINE_WHY])
{
    const struct baseline_line *first = baseline->lines.line, *own = source->lines.line;

    if (baseline->sittings == 0 || source->lines.n == 0)
        return 0;
    if (strcmp(first->machine_class, own->machine_class) != 0)
        return say(why, "%.100s:1: another class of machine, %.12s, than %.12s of %.100s:1",
                   source->path, own->machine_class, first->machine_class, baseline->path);
    if (strcmp(first->plan_sha256, own->plan_sha256) != 0)
        return say(why,
                   "%.100s:1: another plan than %.100s:1: other options than the seed differ, the "
                   "clock, or the build type",
                   source->path, baseline->path);
    if (check_blas(baseline, source, why) != 0)
        return -1;
    if (check_apart(baseline, source, fresh, why) != 0)
        return -1;
    if (fresh && source->lines.n != baseline->cells)
        return say(why, "%.100s:1: %zu cells, and %zu in each sitting of %.100s", source->path,
                   source->lines.n, baseline->cells, baseline->path);
    for (size_t c = 0; fresh && c < baseline->cells; ++c)
        if (baseline_key_order(&first[c].key, &own[c].key) != 0)
            return say(why, "%.100s: it does not have the cell of %.100s:%zu", source->path,
                       baseline->path, c + 1);
    return 0;
}

void baseline_values(const struct baseline *baseline, size_t cell, double x[])
{
    for (size_t s = 0; s < baseline->sittings; ++s)
        x[s] = baseline->lines.line[s * baseline->cells + cell].floor_log;
}
