/* schema/fields.h: the tables of fields. Each member of a struct of schema/structs.h that is a
 * single value has a row, with its kind, its range, its role and its words. */
#ifndef HARNESS_SCHEMA_FIELDS_H
#define HARNESS_SCHEMA_FIELDS_H

#include "schema/structs.h"

/* A larger integer is not exact in every JSON reader. It is written as text, or refused. */
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
    RECORD_SERIES,  /* struct record_series, on the heap: an array of numbers */
    RECORD_NESTED   /* an array, object or enumeration: enum record_nest */
};

/* The form of a nested field. */
enum record_nest {
    RECORD_BY_HAND, /* text, which record/chain.c handles */
    RECORD_STATE,   /* enum record_status, as its name */
    RECORD_OBJECT,  /* an object with the fields of element; if offset is 0, they are fields of the
                       same struct */
    RECORD_LIST,    /* struct[max], of which count are there, each with the fields of element */
    RECORD_HEAP_LIST, /* the same on the heap: a pointer to count of them */
    RECORD_NUMBERS,   /* uint64_t[max], of which count are there */
    RECORD_REALS,     /* double[max] */
    RECORD_STEPS,     /* uint64_t *, for each sample of a cell */
    RECORD_FLAGS,     /* unsigned *, for each sample of a cell, at most 16 bits */
    RECORD_RANKS,     /* uint64_t *, for each rank and sample of a cell */
    RECORD_PART       /* struct record_part_times of a cell */
};
/* A nested field without elements, or whose pointer is NULL. */
enum record_empty {
    RECORD_WRITTEN, /* [] or {} */
    RECORD_AS_NULL, /* null */
    RECORD_LEFT_OUT
};

/* The purpose of a field. Records that differ in a field of the first four are never pooled. */
enum record_role {
    RECORD_IDENTITY = 1,   /* what was run, and how its time is taken */
    RECORD_BUILD = 2,      /* the program and its libraries */
    RECORD_SYSTEM = 4,     /* the system that it ran on, as it was set up: reported separately */
    RECORD_MACHINE = 8,    /* the hardware that it ran on: never reported together */
    RECORD_HOST = 16,      /* the machine of that kind, and its boot: pooled, with a remark */
    RECORD_CONDITION = 32, /* conditions while it ran */
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
    long long min, max; /* range of an integer */
    bool later;         /* records of minor 0 do not have it */
    enum record_role role;
    const char *type, *unit; /* "text", "ns"; unit "": none */
    const char *words;       /* its name in a message, after "the"; NULL: nested */
    const char *meaning;     /* its meaning for a reader, in Markdown */
    enum record_nest nest;   /* what follows is of nested fields; bytes is the size of an element */
    enum record_empty empty;
    size_t count; /* offset of an int: the number of elements */
    const struct record_field *element;
};
/* The tables for the members of record_run, record_slot and record_key; for record_cell all
 * members, those that are derived, and those that are in "raw". */
extern const struct record_field record_run_fields[], record_slot_fields[], record_key_fields[];
extern const struct record_field record_cell_fields[], record_derived_fields[], record_raw_fields[];
extern const struct record_field record_end_fields[]; /* for record_end */
/* The tables for the node: schema/structs.h. */
extern const struct record_field record_numa_fields[], record_gpu_fields[], record_reading_fields[];
extern const struct record_field record_nvlink_fields[], record_nic_fields[];
extern const struct record_field record_watched_fields[], record_during_fields[];

#endif
