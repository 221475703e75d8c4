/* record/input_kind.h: which of this program's files a file is, to say so of a wrong one. */
#ifndef HARNESS_INPUT_KIND_H
#define HARNESS_INPUT_KIND_H

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

#endif
