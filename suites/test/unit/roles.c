/* roles.c: the tables of fields are complete, and functions that walk over them see every kind of
 * difference. */
#include "../role_name.h"
#include "record/record.h"
#include "record_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(roles, every_field_says_what_it_is)
{
    const struct record_field *const tables[] = {
        record_run_fields,    record_slot_fields, record_key_fields,     record_cell_fields,
        record_end_fields,    record_numa_fields, record_gpu_fields,     record_reading_fields,
        record_nvlink_fields, record_nic_fields,  record_watched_fields, record_during_fields};

    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t)
        for (const struct record_field *f = tables[t]; f->name; ++f) {
            cr_assert(strcmp(role_name(f->role), "unknown") != 0, "%s", f->name);
            cr_assert(f->unit && f->meaning && f->meaning[0] != '\0', "%s", f->name);
            cr_assert(f->kind == RECORD_NESTED ? f->type != NULL : f->words != NULL, "%s", f->name);
            cr_assert(record_find(tables[t], f->name) == f, "%s is there twice", f->name);
        }
    cr_assert(!record_find(record_run_fields, "no such field"));
}

/* Options that other fields have, or that say how long and how often to measure, tell no runs
 * apart. */
Test(roles, options)
{
    static const char base[] = "--devices virt:2 --seed 1 --steps 1:6 --bind cores";
    static const struct {
        const char *with;
        bool differs;
    } rows[] = {{base, false},
                {"--devices virt:4 --seed 2 --steps 9:9 --bind none", false},
                {"", false},
                {"--devices virt:2 --seed 1 --steps 1:6 --bind cores --graphs off", true},
                {"--zeal 9 --devices virt:2", true},
                {"--devicesx virt:2", true}};
    struct record_run a = example_run(), b = a;

    snprintf(a.command, sizeof a.command, "%s", base);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        snprintf(b.command, sizeof b.command, "%s", rows[i].with);
        const struct record_field *field =
            record_differs(record_run_fields, RECORD_IDENTITY, &a, &b);

        cr_assert((field != NULL) == rows[i].differs, "%s", rows[i].with);
        cr_assert(!field || strcmp(field->name, "command") == 0);
    }
}

/* An unknown number equals an unknown number, and nothing else. */
Test(roles, unknown_numbers)
{
    struct record_cell *a = calloc(2, sizeof *a), *b = a + 1;

    cr_assert(a);
    record_unknown(record_cell_fields, a);
    record_unknown(record_cell_fields, b);
    cr_assert(isnan(a->whole_ns) && isnan(a->probe_bound));
    cr_assert(!record_differs(record_cell_fields, RECORD_ALL_ROLES, a, b));
    b->whole_ns = 0;
    cr_assert(record_differs(record_cell_fields, RECORD_ALL_ROLES, a, b) ==
              record_find(record_cell_fields, "whole_ns"));
    cr_assert(!record_differs(record_cell_fields, RECORD_APART, a, b));
    cr_assert(record_order(record_cell_fields, RECORD_RESULT, a, b) ==
              -record_order(record_cell_fields, RECORD_RESULT, b, a));
    free(a);
}

Test(roles, slots_are_compared_one_by_one)
{
    struct record_run a = example_run(), b = a;
    int slot = -1;

    cr_assert(!record_slots_differ(&a, &b, 2, &slot));
    snprintf(b.slot[1].model, sizeof b.slot[1].model, "Example GPU");
    cr_assert(!record_slots_differ(&a, &b, 1, &slot));
    const struct record_field *field = record_slots_differ(&a, &b, 2, &slot);

    cr_assert(field && strcmp(field->name, "model") == 0 && slot == 1);
}

Test(roles, texts_are_cleaned_wherever_they_are)
{
    struct record_run run = example_run();

    snprintf(run.environment, sizeof run.environment, "a\033b");
    snprintf(run.slot[1].bus, sizeof run.slot[1].bus, "c\033d");
    record_clean(record_run_fields, &run);
    cr_assert(strcmp(run.environment, "a b") == 0 && strcmp(run.slot[1].bus, "c d") == 0);
}
