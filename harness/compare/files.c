/* compare/files.c: whether two files can be compared, and their differences.
 *
 * The roles of the fields decide. With another kind of machine, or another way to take the time,
 * every ratio would be one of two unlike things. Another program, environment, driver or start of
 * the machine may be what a user wants to compare, so it is only reported. */
#include "compare/compare.h"

#include "machine/machine.h"
#include "record/record.h"

#include <string.h>

enum { SHOWN = 72 }; /* characters of a value */

static const char *const side_names[COMPARE_SIDES] = {"A", "B"};

/* No ratio of times is valid if one of these fields differs, nor if one of the machine does, which
 * are not listed here. The others are conditions of a sweep that a reader wants to know, in
 * addition to those that set records apart. */
static const char deciding[] = "clock sync_method rank_reduction build_type sanitizers";
static const char told[] = "seed launches devices communicator";

/* Adds "the commit: 3f2a9c1d5b7e -> 0a1b2c3d4e5f". Digests are shown by their first digits, long
 * values from where they differ. */
static void add_field(struct compare_notes *notes, const struct record_field *field,
                      const char *what, const void *a, const void *b)
{
    char x[1024], y[1024];
    const int shown = strcmp(field->unit, "SHA-256") == 0 ? 12 : SHOWN;

    record_show(field, a, x, sizeof x);
    record_show(field, b, y, sizeof y);
    size_t same = 0, from = 0;

    /* The text begins where they differ, or a little earlier: after the last blank before it. */
    if (strlen(x) > SHOWN || strlen(y) > SHOWN)
        for (; x[same] != '\0' && x[same] == y[same]; ++same)
            if (x[same] == ' ')
                from = same + 1;
    const char *const before = from > 0 ? ".. " : "";

    compare_note(notes, "the %s: %s%.*s -> %s%.*s", what, before, shown,
                 x[from] != '\0' ? x + from : "none", before, shown,
                 y[from] != '\0' ? y + from : "none");
}

/* Adds the difference of one of several items; field: NULL if none differs. */
static void add_at(struct compare *compare, const struct record_field *field, const char *of,
                   int at, const char *more, const void *a, const void *b)
{
    char what[64];

    if (!field)
        return;
    snprintf(what, sizeof what, "%s of %s %d%s", field->words, of, at, more);
    add_field(field->role == RECORD_MACHINE ? &compare->invalid : &compare->differs, field, what, a,
              b);
}

void compare_warmups(struct compare *compare)
{
    const struct record_field *rule = record_find(record_cell_fields, "warmup_rule");
    bool same = rule != NULL;

    for (size_t c = 0; c < compare->n_cells && same; ++c) {
        const struct compare_launch *launch = &compare->launch[compare->cell[c].first];
        const struct record_cell *a = launch->row->cell;
        const struct record_cell *b = launch[compare->cell[c].n[COMPARE_A]].row->cell;

        same = record_field_order(rule, RECORD_IDENTITY, a, b) == 0;
        if (!same)
            add_field(&compare->differs, rule, rule->words, a, b);
    }
}

void compare_files(struct compare *compare)
{
    const struct record_run *a = &compare->file[COMPARE_A].run, *b = &compare->file[COMPARE_B].run;
    const struct record_field *field = record_run_fields;
    int at = 0;

    /* These are the reasons in one file that make its times worthless. */
    for (int side = 0; side < COMPARE_SIDES; ++side) {
        const enum provenance_dirty dirty =
            compare->options->allow_dirty ? PROVENANCE_TAKEN : PROVENANCE_ASKED;
        const struct record_run *run = &compare->file[side].run;
        char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];
        const size_t n = provenance_doubts(run, dirty, doubt);

        if (run->machine_class[0] == '\0')
            compare_note(&compare->invalid,
                         "the class of machine of %s is unknown: its record has none",
                         side_names[side]);
        for (size_t i = 0; i < n; ++i)
            compare_note(&compare->invalid, "%s is of %s", side_names[side], doubt[i]);
    }
    for (; field->name; ++field) {
        const bool decides = field->role == RECORD_MACHINE || text_has_word(deciding, field->name);

        if (((field->role & (RECORD_APART | RECORD_HOST)) != 0 ||
             text_has_word(told, field->name)) &&
            record_field_order(field, RECORD_ALL_ROLES, a, b) != 0)
            add_field(decides ? &compare->invalid : &compare->differs, field, field->words, a, b);
    }
    field = record_slots_differ(a, b, a->n_slots < b->n_slots ? a->n_slots : b->n_slots, &at);
    add_at(compare, field, "device", at, "", &a->slot[at], &b->slot[at]);
    at = 0;
    field = record_gpus_differ(a, b, &at);
    add_at(compare, field, "GPU", at, " of the node", &a->node.gpu[at], &b->node.gpu[at]);
    if (provenance_same_source(a, b) &&
        !record_differs(record_run_fields, RECORD_BUILD | RECORD_SYSTEM | RECORD_IDENTITY, a, b))
        compare_note(&compare->remarks,
                     "A and B are of one build in one setting: this is an A/A comparison, "
                     "and what differs is the session.");
    for (int side = 0; side < COMPARE_SIDES; ++side) {
        const struct report_counts *counts = &compare->report[side].counts;
        const struct report_run *run = &compare->report[side].run[0];

        if (counts->missing > 0)
            compare_note(&compare->remarks, "%s is not finished: %zu of %zu launches %s in it.",
                         side_names[side], counts->planned - counts->missing, counts->planned,
                         text_are(counts->planned - counts->missing));
        else if (!run->ended)
            compare_note(&compare->remarks, "%s has no end: its sweep was stopped.",
                         side_names[side]);
        if (!run->sealed)
            compare_note(&compare->remarks, "%s is unsealed: an edit would not show.",
                         side_names[side]);
    }
}
