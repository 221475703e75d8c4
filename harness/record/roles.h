/* record/roles.h: the tables of fields: what each field of a record is for, and what follows from
 * it without its name being known: copies of a run are resumed, pooled, told apart and cleaned by
 * walks over these tables.
 *
 * No JSON here: record/json.h reads and writes by the same tables. */
#ifndef HARNESS_RECORD_ROLES_H
#define HARNESS_RECORD_ROLES_H

#include "record/record.h"
#include "schema/fields.h"

/* "identity" */
const char *record_role_name(enum record_role role);

/* Walks take a mask of roles and leave fields of others, and nested ones, alone. */

/* The first field that differs, by any bit but that NaN is NaN; NULL: none. */
const struct record_field *record_differs(const struct record_field *fields, unsigned roles,
                                          const void *a, const void *b);
/* An order of two objects by one field, 0 if it is of another role or is the same in both. */
int record_field_order(const struct record_field *field, unsigned roles, const void *a,
                       const void *b);
/* The same of the slots of two runs, n of each; *slot: of which. */
const struct record_field *record_slots_differ(const struct record_run *a,
                                               const struct record_run *b, int n, int *slot);
/* The same of all GPUs of their nodes, if both runs have read them: *gpu: which. Another number of
 * GPUs is one that differs in its address. */
const struct record_field *record_gpus_differ(const struct record_run *a,
                                              const struct record_run *b, int *gpu);
/* An order in which 0 means that no field differs. */
int record_order(const struct record_field *fields, unsigned roles, const void *a, const void *b);
/* The field of that name; NULL: none. */
const struct record_field *record_find(const struct record_field *fields, const char *name);
/* "virt:2", "4", "true": its value in object, cut to the room there is. */
void record_show(const struct record_field *field, const void *object, char *text, size_t bytes);

/* Real numbers that records of minor 0 do not have become NaN: unknown until they are measured. */
void record_unknown(const struct record_field *fields, void *object);

/* Makes every text of a header, and of a cell, printable: text_clean. */
void record_clean_run(struct record_run *run);
void record_clean_cell(struct record_cell *cell);

#endif
