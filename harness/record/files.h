/* record/files.h: the files that a command line names, which are read as what they were given for,
 * or refused in one line; and the file that a sweep writes. */
#ifndef HARNESS_RECORD_FILES_H
#define HARNESS_RECORD_FILES_H

#include <sys/types.h>

#include "record/record.h"

/* The kinds of files that this program writes. They are told apart to explain why a file is
 * refused. */
enum input_kind {
    INPUT_RECORDS,
    INPUT_CHECK,
    INPUT_PEER,
    INPUT_LIMITS,
    INPUT_TRAIN,
    INPUT_WEIGHTS,
    INPUT_KINDS
};

/* "records of `lockstep sweep`" */
extern const char *const input_kind_words[INPUT_KINDS];

/* Tells the kind by the beginning of the file; INPUT_KINDS: it is none of them, or cannot be read.
 */
enum input_kind input_kind_of(const char *path);

/* Complains that path could not be read as wanted. If it is another kind of file of this program,
 * the complaint says which, otherwise it says why. how[kind] says what to do with a file of that
 * kind instead; how or an entry may be NULL. Returns EXIT_MISUSE. */
int input_refuse(const char *command, const char *path, enum input_kind wanted, const char *why,
                 const char *const how[INPUT_KINDS]);

/* Reads a whole file of records; texts in it are clean. Returns 0, or EXIT_MISUSE after it has
 * printed a complaint; a torn file is also refused. steps: cells keep only these, as
 * record_cell_keep_steps does. The caller calls record_file_free. */
int input_records(const char *command, const char *path, bool steps,
                  const char *const how[INPUT_KINDS], struct record_file *file);

/* ---- the file of a sweep --------------------------------------------------------------------- */

/* It is opened so that no measurement can be lost. */

struct record_plan;
struct output {
    int fd;
    char path[512];
    off_t size;            /* its size when this process last wrote to it */
    bool made;             /* it did not exist before */
    bool resumed;          /* it held records, which are in file */
    bool started;          /* it held only a part of its first line, or nothing */
    bool sealed;           /* lines are chained; false for a file that was begun without a chain */
    char last[DIGEST_HEX]; /* if sealed: SHA-256 of the last line, "" before the first */
    struct record_file file; /* the records of earlier sessions */
    /* The state of a reader after the last line; NULL: the file has no plan. */
    struct record_plan *plan;
};

/* Opens the file. If path is NULL, it makes a new results/local/sweep-UTC.jsonl and its folders. It
 * refuses a file that is not regular, a file that is not empty unless resume is set, and resume of
 * a file that does not exist. It changes nothing in the file. Until it is closed, no other process
 * can open it with this function. */
int output_open(struct output *output, const char *path, bool resume, struct text_error *err);
/* Call this instead of the functions that follow: it removes a file that output_open has made. */
void output_abandon(const struct output *output);
/* Call this before the first append. It cuts off the rest of an interrupted write; if only the
 * newline is missing, it adds that. */
int output_repair(struct output *output, struct text_error *err);
/* Appends the line, and frees it; a line of NULL is an error. It is also an error if the file was
 * changed, removed, replaced or moved. A file that was changed gets no more lines. In the other
 * cases the records are saved, and the error says where. closes: it is the last line. */
int output_append(struct output *output, char *line, bool closes, struct text_error *err);
/* Writes the header to a new file of records, after output_repair. */
int output_begin(struct output *output, const struct record_run *run, struct text_error *err);
/* Appends the record of a cell, with the time of its launch, if a reader accepts it. A record that
 * a reader would refuse becomes a broken cell with the reason. ns is the time that its launch took;
 * the record must not claim more. */
int output_cell(struct output *output, const struct cell_config *config, double ns,
                struct record_cell *cell, struct text_error *err);
void output_close(struct output *output);

#endif
