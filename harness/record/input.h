/* record/input.h: the files that a command line names: read as what they were given for, or refused
 * in one line. */
#ifndef HARNESS_INPUT_H
#define HARNESS_INPUT_H

#include "record/record.h"

/* Which of this program's files a file is, to say so of a wrong one. */
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

/* By the beginning of the file; INPUT_KINDS: none of them, or it cannot be read. */
enum input_kind input_kind_of(const char *path);

/* Complains that path could not be read as what was wanted: as what it is, if it is another of this
 * program's files, else why. how: by kind, what to do with one of those instead; NULL: nothing.
 * Returns EXIT_MISUSE. */
int input_refuse(const char *command, const char *path, enum input_kind wanted, const char *why,
                 const char *const how[INPUT_KINDS]);

/* Reads a whole file of records; texts in it are clean. 0, or EXIT_MISUSE after the complaint: a
 * torn file is refused, too. Caller: record_file_free. */
int input_records(const char *command, const char *path, const char *const how[INPUT_KINDS],
                  struct record_file *file);
/* The same for who needs only the steps: record_cell_keep_steps. */
int input_steps(const char *command, const char *path, struct record_file *file);

#endif
