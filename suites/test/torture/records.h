/* records.h: the raw lines of a file of records, judged more strictly than its readers do. */
#ifndef TORTURE_RECORDS_H
#define TORTURE_RECORDS_H

#include "record/record.h"

struct records_cell {
    char id[17];
    enum record_status status;
};

struct records {
    char *text;
    size_t bytes; /* of the file */
    size_t whole; /* of its complete lines */
    size_t n_headers, n_ends, n_cells;
    bool end_is_last;
    bool end_says_all; /* the last end line counts every planned cell as verified */
    struct record_run run;
    struct records_cell *cell; /* in the order of the lines, doubled ones too */
};

/* Writes the text; returns -1. */
int records_say(struct text_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Every complete line must be a record, the first and only the first a header. A file that is not
 * there has no bytes. On failure there is nothing to free. */
int records_load(const char *path, struct records *records, struct text_error *err);
void records_free(struct records *records);

/* Whether the complete lines of before begin the file of after. */
bool records_continue(const struct records *before, const struct records *after);

/* Whether the file holds what an undisturbed sweep's holds: each of its cells verified exactly
 * once and last of its id, nothing else but the given number of cells that were not verified, no
 * torn end, and an end line that says so. */
int records_compare(const struct records *undisturbed, const struct records *records,
                    size_t not_verified, struct text_error *err);

#endif
