/* compare/text.c: the comparison for people, in lines of at most 80 columns. */
#include "compare/exact.h"

#include "command/command.h"
#include "text/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80 };

void compare_say(FILE *stream, size_t indent, const char *format, ...)
{
    char text[2 * COMPARE_TEXT + 1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    command_wrap(stream, text, 0, indent, COLUMNS);
}

static void say_notes(FILE *stream, const char *before, const struct compare_notes *notes)
{
    for (size_t i = 0; i < notes->n; ++i)
        compare_say(stream, 2, "%s%s", before, notes->text[i]);
}

static void say_files(FILE *stream, const struct compare *compare)
{
    for (int side = 0; side < COMPARE_SIDES; ++side) {
        const struct record_run *run = &compare->file[side].run;

        compare_say(stream, 2, "%s: %s: run %s of %s, commit %.12s, %d launches",
                    side == COMPARE_A ? "A" : "B", compare->path[side], run->run_id,
                    run->created_utc, run->git_sha, run->launches);
    }
}

static void say_numbers(FILE *stream, const struct compare_cell *cell)
{
    char ratio[64], a[UNITS_BYTES], b[UNITS_BYTES], few[64] = "";

    if (isnan(cell->floor.ratio))
        return;
    compare_ratio_words(&cell->floor, ratio);
    if (cell->rule == COMPARE_LEAST)
        snprintf(few, sizeof few, " (few: the minimum of %zu steps)", cell->steps);
    compare_say(stream, 4, "  B/A %s, p %.2g; floor %s -> %s%s; cost %.3f", ratio, cell->adjusted,
                units_time(cell->floor.ns[COMPARE_A], a), units_time(cell->floor.ns[COMPARE_B], b),
                few, cell->cost.ratio);
}

/* Of a comparison that is INVALID as a whole, the reasons stand above, and no cell has another. */
static void say_cell(FILE *stream, const struct compare *compare, const struct compare_cell *cell)
{
    char name[COMPARE_TEXT];

    if (compare->invalid.n > 0 && cell->verdict == COMPARE_INVALID)
        return;
    compare_cell_words(cell->key, name);
    compare_say(stream, 4, "%-11s  %s", compare_verdict_words[cell->verdict], name);
    if (cell->verdict == COMPARE_INVALID)
        compare_say(stream, 4, "  %s", cell->reason);
    say_numbers(stream, cell);
}

static int say_sums(FILE *stream, const struct compare *compare)
{
    const size_t *count = compare->count;
    char rule[COMPARE_TEXT];
    double ratio, half;

    compare_say(
        stream, 2,
        "Cells in both files: %zu: %zu SUSPECT, %zu NO EVIDENCE, %zu INVALID, %zu measured in "
        "neither. Only in A: %zu, only in B: %zu. Exact numbers that changed: %zu.",
        compare->n_cells, count[COMPARE_SUSPECT], count[COMPARE_NO_EVIDENCE],
        count[COMPARE_INVALID], count[COMPARE_UNMEASURED], compare->only[COMPARE_A],
        compare->only[COMPARE_B], compare->changes->n);
    if (compare_common(compare, &ratio, &half) != 0)
        return -1;
    if (compare->tested > 0) {
        compare_rule_words(compare, rule);
        compare_say(stream, 2, "%s", rule);
    }
    if (!isnan(half))
        compare_say(
            stream, 2,
            "The median of the ratios is %.3f, which the machine alone can do from one sitting to "
            "another. The median half-width of their intervals (%.0f %% or more, of independent "
            "launches) is %.1f %%.",
            ratio, 100 * COMPARE_LEVEL, 100 * half);
    if (count[COMPARE_SUSPECT] > 0)
        compare_say(stream, 2,
                    "SUSPECT does not fail: measure both again, in turns, before you believe it.");
    return 0;
}

int compare_text(FILE *stream, const struct compare *compare)
{
    const struct exact_names names = compare_exact_names(compare);

    say_files(stream, compare);
    say_notes(stream, "Differs: ", &compare->differs);
    say_notes(stream, "Note: ", &compare->remarks);
    say_notes(stream, "INVALID: ", &compare->invalid);
    compare_say(stream, 2, "%s", compare_class_words);
    fputc('\n', stream);
    for (size_t c = 0; c < compare->n_cells; ++c)
        say_cell(stream, compare, &compare->cell[c]);
    exact_text(stream, compare->changes, &names);
    if (compare->invalid.n == 0 || compare->changes->n > 0)
        fputc('\n', stream);
    return say_sums(stream, compare);
}
