/* schema/fields.h: the tables of fields: a row for each member of a struct of schema/structs.h that
 * is a single value, with its kind, its range, its role and its words. */
#ifndef HARNESS_SCHEMA_FIELDS_H
#define HARNESS_SCHEMA_FIELDS_H

#include "schema/structs.h"

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

/* The purpose of a field. Records that differ in a field of the first four are never pooled. */
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
/* The node has these: schema/structs.h. */
extern const struct record_field record_numa_fields[], record_gpu_fields[], record_reading_fields[];
extern const struct record_field record_nvlink_fields[], record_nic_fields[];
extern const struct record_field record_watched_fields[], record_during_fields[];

#endif
