/* record/lines.h: internal to this folder. It reads the lines of a file in batches, and finds on
 * several cores what each line of a batch says by itself. */
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
    bool direct;             /* cell was read from the line without JSON */
    struct record_cell cell; /* freed with the batch, unless direct is set to false */
    char chain[DIGEST_HEX];
    int status;            /* result of the checks of that cell */
    struct text_error err; /* why status is not 0 */
};

enum { RECORD_BATCH = 512 };

struct record_lines {
    FILE *stream;
    struct record_line line[RECORD_BATCH];
    size_t n;              /* number of lines in this batch; 0: the file ended, or status is -1 */
    int status;            /* -1: the next line cannot be read */
    struct text_error err; /* why status is -1 */
    bool sealed;           /* lines need digests */
    bool steps;            /* cells keep only their steps: record_cell_keep_steps */
    size_t number;         /* number of the last line */
    long next;             /* offset of the line after that */
    char *text;            /* text that was read; text[at .. end-1] is not yet split into lines */
    size_t capacity, at, end;
    bool ended; /* the file has no more bytes, or a read failed */
    int reason; /* errno of the read that failed */
};

/* Takes ownership of the stream, which record_lines_close closes. NULL: memory is short. */
struct record_lines *record_lines_open(FILE *stream);

/* Reads the next lines. The first line of a file comes alone. */
void record_lines_next(struct record_lines *lines);

void record_lines_close(struct record_lines *lines);

#endif
