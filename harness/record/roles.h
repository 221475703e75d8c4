/* record/roles.h: the tables of fields: what each field of a record is for, and what follows from
 * it without its name being known: copies of a run are resumed, pooled, told apart and cleaned by
 * walks over these tables.
 *
 * No JSON here: record/json.h reads and writes by the same tables. */
#ifndef HARNESS_RECORD_ROLES_H
#define HARNESS_RECORD_ROLES_H

#include "record/record.h"

/* A larger integer is not exact in every JSON reader: it is written as text or refused. */
#define RECORD_EXACT_MAX (1LL << 53)

enum record_kind {
    RECORD_TEXT,    /* char[bytes] */
    RECORD_HASH,    /* char[17]: 16 hex digits */
    RECORD_OPTIONS, /* char[bytes]: the command of a sweep */
    RECORD_BOOL,    /* bool */
    RECORD_INT,     /* int */
    RECORD_LONG,    /* long */
    RECORD_COUNT,   /* size_t, as a number */
    RECORD_U64,     /* uint64_t, as a number: nanoseconds, bytes */
    RECORD_BIG,     /* uint64_t, as text: seeds, times since 1970 */
    RECORD_REAL,    /* double; null: NaN */
    RECORD_SERIES,  /* struct record_series, on the heap: an array of such numbers */
    RECORD_NESTED   /* an array, object or enumeration: by name, in read.c and write.c */
};

/* What a field is for. Records that differ in a field of the first four are never pooled. */
enum record_role {
    RECORD_IDENTITY = 1,   /* what was run, and how its time is taken */
    RECORD_BUILD = 2,      /* the program and its libraries */
    RECORD_SYSTEM = 4,     /* what it ran on, as it was set up: reported apart */
    RECORD_MACHINE = 8,    /* what it ran on, the hardware: not reported together at all */
    RECORD_HOST = 16,      /* which machine of that kind, which start of it: pooled, and said so */
    RECORD_CONDITION = 32, /* what it was like */
    RECORD_RESULT = 64
};
enum {
    RECORD_APART = RECORD_IDENTITY | RECORD_BUILD | RECORD_SYSTEM | RECORD_MACHINE,
    RECORD_ALL_ROLES = 127
};
/* "identity" */
const char *record_role_name(enum record_role role);

struct record_field {
    const char *name; /* NULL ends a table */
    enum record_kind kind;
    size_t offset, bytes;
    long long min, max; /* of integers */
    bool later;         /* records of minor 0 do not have it */
    enum record_role role;
    const char *type, *unit; /* "text", "ns"; unit "": none */
    const char *words;       /* what a message calls it, after "the"; NULL: nested */
    const char *meaning;     /* for a reader, in Markdown */
};
/* Members of record_run, record_slot, record_key; of record_cell the whole, and a part of it. */
extern const struct record_field record_run_fields[], record_slot_fields[], record_key_fields[];
extern const struct record_field record_cell_fields[], record_derived_fields[];
extern const struct record_field record_end_fields[]; /* of record_end */
/* Of the node: record/node.h. */
extern const struct record_field record_numa_fields[], record_gpu_fields[], record_reading_fields[];
extern const struct record_field record_nvlink_fields[], record_nic_fields[];
extern const struct record_field record_watched_fields[], record_during_fields[];

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
