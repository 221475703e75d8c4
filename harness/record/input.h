/* record/input.h: the files that a command line names: read as what they were given for, or refused
 * in one line. */
#ifndef HARNESS_INPUT_H
#define HARNESS_INPUT_H

#include "record/input_kind.h"
#include "record/record.h"

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
