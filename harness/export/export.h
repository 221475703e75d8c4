/* export/export.h: numbers and verdicts of cells in formats of other programs.
 *
 * Who has cells puts them into a set, and one writer per format writes any set. It knows nothing of
 * records: analysis/export.c makes the set of those, compare/export.c those of comparisons. */
#ifndef HARNESS_EXPORT_H
#define HARNESS_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "text/text.h"

enum export_format {
    EXPORT_CSV,         /* RFC 4180 */
    EXPORT_BMF,         /* Bencher Metric Format */
    EXPORT_GITHUB,      /* github-action-benchmark, customSmallerIsBetter */
    EXPORT_OPENMETRICS, /* 1.0 */
    EXPORT_ANNOTATIONS, /* workflow commands of GitHub Actions */
    EXPORT_JUNIT,
    EXPORT_FORMATS
};
const char *export_name(size_t format);

enum {
    EXPORT_METRICS_MOST = 12,
    EXPORT_NAME_BYTES = 512,
    EXPORT_KEY_BYTES = 512,
    EXPORT_TEXT = 1024, /* of a reason, and of the summary */
    EXPORT_DOUBT = 256
};

/* The result of a cell, and what it becomes in JUnit and in annotations. */
enum export_state {
    EXPORT_PASSED,
    EXPORT_OPEN,     /* nothing was decided: skipped */
    EXPORT_DOUBTFUL, /* the same, and a warning */
    EXPORT_FAILED,   /* failure, and an error of the job */
    EXPORT_BROKEN,   /* nothing can be said: error, and an error of the job */
    EXPORT_STATES
};

/* The keys that distinguish the cells of a set: columns of CSV, and labels of OpenMetrics. */
struct export_part {
    const char *name; /* NULL: none */
    bool number;      /* in CSV it stands in no quotes */
    bool column;      /* of CSV only: it follows from the others */
};

struct export_parts {
    size_t n;
    struct export_part (*part)(size_t which);
    /* Writes one part of the key of a cell. */
    void (*text)(const void *key, size_t which, char text[EXPORT_KEY_BYTES]);
};

struct export_metric {
    const char *name, *unit; /* joined by _ they are a column of CSV and a family of OpenMetrics */
    const char *measure;     /* Bencher's */
    double in_bencher;       /* one unit there: its latency is in nanoseconds */
    bool exact;              /* it has no interval */
};

/* NaN: there is none. What is no more than a range of launches is no interval. */
struct export_value {
    double middle, lo, hi;
};

struct export_cell {
    char name[EXPORT_NAME_BYTES]; /* of its set, no other has it */
    const void *key;   /* of the parts. NULL: no cell. In no format whose entries are cells */
    const char *group; /* of a test suite: "mlp:8,4". NULL without a key */
    enum export_state state;
    bool has_numbers;
    bool partly; /* launches of it are still to be run: it has numbers in CSV alone, not certain */
    size_t verdict; /* of the verdicts of the set, if that has some */
    char why[EXPORT_TEXT];
    char doubt[EXPORT_DOUBT]; /* why its numbers are not certain; "": they are, or not judged */
    const char *type;         /* of a failure or error; NULL: the verdict of a cell with a key */
    char *detail;             /* owned: lines in JUnit's failure or error; NULL: none */
    const char *title;        /* of an annotation, after the name; NULL: none */
    const char *file;         /* of an annotation, with its line; NULL: that of the set, no line */
    size_t line;
    size_t launches;
    double seconds; /* NaN: not known */
    struct export_value value[EXPORT_METRICS_MOST];
};

struct export_set {
    const char *title; /* of the suites: "lockstep sweep" */
    bool by_group;     /* a suite for each group, which all cells have and whose cells follow each
                          other; else one: */
    const char *suite, *host; /* NULL: "cells"; NULL: not known */
    bool all_rows;            /* of CSV: cells without numbers, too, each with its reason */
    bool explained;           /* of annotations: the detail of a cell instead of its reason */
    const char *file;         /* of annotations: to open with each; NULL: none */
    bool launches;            /* of CSV: a column */
    bool judged;              /* whether its numbers are certain is said */
    double seconds;           /* in all; 0: not known */
    const char *prefix;       /* of families of OpenMetrics: "lockstep_" */
    const char *flag, *flag_help;
    const struct export_parts *parts;
    const char *const *verdicts; /* NULL: none */
    size_t n_verdicts;
    const struct export_metric *metric;
    size_t n_metrics;
    const char *github_unit; /* of the first metric */
    double in_github;        /* one unit of this kind in that format */
    const char *counted;     /* one more number of OpenMetrics */
    size_t count;
    char summary[EXPORT_TEXT];
    struct export_cell *cell;
    size_t n;
    void *keys; /* owned, for keys that belong to this set alone; or NULL */
};

/* Room for so many cells. */
void export_open(struct export_set *set, size_t most);
void export_close(struct export_set *set);
/* One more cell, without key, numbers and verdict. The name is cut where it does not fit. */
struct export_cell *export_add(struct export_set *set, const char *name);
/* Cells that have numbers. */
size_t export_count(const struct export_set *set);

/* 0, or -1 and why: two cells have one name, and nothing was written. Whether all of it could be is
 * for the caller to ask. */
int export_write(FILE *to, size_t format, const struct export_set *set, struct text_error *err);

#endif
