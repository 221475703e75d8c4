/* record/input.h: the files that a command line names. They are read as what they were given for,
 * or refused in one line. */
#ifndef HARNESS_INPUT_H
#define HARNESS_INPUT_H

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
 * printed a complaint; a torn file is also refused. The caller calls record_file_free. */
int input_records(const char *command, const char *path, const char *const how[INPUT_KINDS],
                  struct record_file *file);
/* The same, but it keeps only the steps: record_cell_keep_steps. */
int input_steps(const char *command, const char *path, struct record_file *file);

#endif
