/* record/lines.h: internal to this room: the lines of a file in batches, and what each line of a
 * batch says by itself, found on several cores. */
#ifndef HARNESS_RECORD_LINES_H
#define HARNESS_RECORD_LINES_H

#include <stdio.h>

#include "record/record.h"

struct record_line {
    const char *text; /* without its newline */
    size_t length;
    size_t number; /* from 1 */
    long offset;
    bool complete;           /* it had a newline */
    char digest[DIGEST_HEX]; /* SHA-256 of the line; "": not computed */
    bool direct;             /* it is a cell that was read without JSON: */
    struct record_cell cell; /* freed with the batch, unless direct is set to false */
    char chain[DIGEST_HEX];
    int status;            /* of the checks of that cell */
    struct text_error err; /* why that is not 0 */
};

enum { RECORD_BATCH = 512 };

struct record_lines {
    FILE *stream;
    struct record_line line[RECORD_BATCH];
    size_t n;              /* lines of this batch; 0: the file ended, unless */
    int status;            /* -1: the next line cannot be read: */
    struct text_error err; /* why */
    bool sealed;           /* lines need their digests */
    bool steps;            /* of cells only the steps stay: record_cell_keep_steps */
    size_t number;         /* of the last line */
    long next;             /* offset of the one behind it */
    char *text;            /* read, text[at .. end-1] not yet as a line */
    size_t capacity, at, end;
    bool ended; /* there is no more in the file, or: */
    int reason; /* errno of a read that failed */
};

/* NULL: memory is short. Takes the stream, which is closed by record_lines_close. */
struct record_lines *record_lines_open(FILE *stream);

/* The next lines; the first one of a file comes alone. */
void record_lines_next(struct record_lines *lines);

void record_lines_close(struct record_lines *lines);

#endif
