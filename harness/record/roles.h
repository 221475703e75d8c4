/* record/roles.h: walks over the tables of fields. A table says what each field of a record is for,
 * so runs are resumed, pooled, told apart and cleaned by walks that know no name of a field.
 *
 * There is no JSON here: record/json.h reads and writes by the same tables. */
#ifndef HARNESS_RECORD_ROLES_H
#define HARNESS_RECORD_ROLES_H

#include "record/record.h"
#include "schema/fields.h"

/* The name of a role, like "identity". */
const char *record_role_name(enum record_role role);

/* Each walk takes a mask of roles. It ignores fields of other roles, and nested fields. */

/* Returns the first field that differs; NULL: none. Values are compared bit by bit, but NaN equals
 * NaN. */
const struct record_field *record_differs(const struct record_field *fields, unsigned roles,
                                          const void *a, const void *b);
/* Orders two objects by one field. It returns 0 if the field has another role, or is the same in
 * both. */
int record_field_order(const struct record_field *field, unsigned roles, const void *a,
                       const void *b);
/* The same for the slots of two runs, n of each; *slot becomes the index of the slot. */
const struct record_field *record_slots_differ(const struct record_run *a,
                                               const struct record_run *b, int n, int *slot);
/* The same for all GPUs of their nodes, if both runs have read them; *gpu becomes the index. If the
 * numbers of GPUs differ, the first GPU that only one has differs in its address. */
const struct record_field *record_gpus_differ(const struct record_run *a,
                                              const struct record_run *b, int *gpu);
/* Orders two objects by all fields; 0 means that no field differs. */
int record_order(const struct record_field *fields, unsigned roles, const void *a, const void *b);
/* Finds the field of that name; NULL: none. */
const struct record_field *record_find(const struct record_field *fields, const char *name);
/* Writes its value in object, like "virt:2", "4" or "true", cut to bytes. */
void record_show(const struct record_field *field, const void *object, char *text, size_t bytes);

/* Sets real numbers that records of minor 0 do not have to NaN: unknown until they are measured. */
void record_unknown(const struct record_field *fields, void *object);

/* Makes every text of an object printable, also in its lists: text_clean. */
void record_clean(const struct record_field *fields, void *object);

#endif
