/* compare/words.c: what all forms of output call things. */
#include "compare/compare.h"

#include <math.h>
#include <stdarg.h>

#include "analysis/words.h"
#include "record/plan.h"

const char compare_class_words[] =
    "Evidence class III, two files: two sittings, which differ for reasons of the machine, too. "
    "The verdicts are SUSPECT, NO EVIDENCE and INVALID. None of them is a pass, and none is a "
    "gate.";

void compare_note(struct compare_notes *notes, const char *format, ...)
{
    va_list args;

    if (notes->n == COMPARE_NOTES)
        return;
    va_start(args, format);
    vsnprintf(notes->text[notes->n++], COMPARE_TEXT, format, args);
    va_end(args);
}

void compare_cell_words(const struct record_key *key, char text[COMPARE_TEXT])
{
    char axes[PLAN_AXES_TEXT], amount[RECORD_AMOUNT_TEXT];

    record_amount_words(key, amount);
    plan_axes_words(key, ", ", true, axes);
    snprintf(text, COMPARE_TEXT, "%s %s %s, %s, %s, %s/%s%s", key->workload, key->mode,
             key->devices, amount, key->dtype, key->backend, key->communicator, axes);
}

void compare_verdict_text(const struct compare_cell *cell, char text[REPORT_CELL_TEXT])
{
    char ratio[64];

    report_add(text, "%s: ", compare_verdict_words[cell->verdict]);
    if (isnan(cell->floor.ratio)) {
        report_add(text, "%s",
                   cell->verdict == COMPARE_UNMEASURED ? "verified in neither file" : cell->reason);
        return;
    }
    compare_ratio_words(&cell->floor, ratio);
    report_add(text, "B/A %s, p %.2g; cost %.3f", ratio, cell->adjusted, cell->cost.ratio);
    if (cell->reason[0] != '\0')
        report_add(text, "; %s", cell->reason);
}

void compare_rule_words(const struct compare *compare, char text[COMPARE_TEXT])
{
    snprintf(
        text, COMPARE_TEXT,
        "SUSPECT takes p at most %g (exact rank sum of the floors of launches, by Holm over the "
        "%zu cells that were tested) and a ratio beyond %g. Floor: the fast end of the steps. "
        "Cost: their mean, not tested.",
        COMPARE_ALPHA, compare->tested, COMPARE_BEYOND);
}

void compare_ratio_words(const struct compare_ratio *ratio, char text[64])
{
    snprintf(text, 64, "%.3f [%.3f, %.3f]", ratio->ratio, ratio->lo, ratio->hi);
}
