/* record/output.h: the file of a sweep: opened so that nothing measured can be lost. */
#ifndef HARNESS_OUTPUT_H
#define HARNESS_OUTPUT_H

#include <sys/types.h>

#include "plan/cell.h"
#include "record/record.h"

struct record_plan;
struct output {
    int fd;
    char path[512];
    off_t size;              /* that this process left it with */
    bool made;               /* it was not there before */
    bool resumed;            /* it held records: they are in file */
    bool started;            /* it held a part of its first line only, or nothing */
    bool sealed;             /* lines are chained; not so in a file that was begun without */
    char last[DIGEST_HEX];   /* if sealed: the SHA-256 of the last line, "" before the first */
    struct record_file file; /* of the earlier sittings */
    /* As a reader has it after the last line; NULL: there is none. */
    struct record_plan *plan;
};

/* path NULL: a new results/local/sweep-UTC.jsonl, folders are made. Refuses what is no regular
 * file, a file that holds something unless resume, and resume of a file that is not there. Changes
 * nothing in the file. No second process can have it open here, from now until it is closed. */
int output_open(struct output *output, const char *path, bool resume, struct text_error *err);
/* In place of what follows: a file that output_open has made goes again. */
void output_abandon(const struct output *output);
/* Before the first append: what an interrupted write left is cut off, unless only the newline is
 * missing, which is added. */
int output_repair(struct output *output, struct text_error *err);
/* Appends and frees the line; NULL is an error. So is a file that was changed, removed, replaced or
 * moved since, or meanwhile: the first gets nothing more, the others are saved, and the error says
 * where to. */
int output_append(struct output *output, char *line, struct text_error *err);
/* For records of a sweep, after output_repair: a new file gets this header. */
int output_begin(struct output *output, const struct record_run *run, struct text_error *err);
/* Appends the record of a cell, which a reader takes, with the time of its launch. One that it
 * would refuse becomes a broken cell, and its reason says why. ns: what its launch took; the record
 * may not say more. */
int output_cell(struct output *output, const struct cell_config *config, double ns,
                struct record_cell *cell, struct text_error *err);
/* The same for the line that closes the file. */
int output_end(struct output *output, char *line, struct text_error *err);
void output_close(struct output *output);

#endif
