/* calls_run.h: runs a command of the program with one call that fails, and judges the result. */
#ifndef TORTURE_CALLS_RUN_H
#define TORTURE_CALLS_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "calls_page.h"

enum { FAULT_ARGUMENTS = 24, FAULT_TEXT = 4096 };

struct fault_command {
    const char *name;
    const char *argument[FAULT_ARGUMENTS];
    const char *old[4]; /* files that are there before */
};

extern const struct fault_command fault_commands[];

struct fault_point {
    int process;
    enum fault_kind kind;
    unsigned n;
    int error;
    bool stays;
};

/* The places of all files; the current folder is run/, next to true/ and input/. */
struct fault_place {
    const char *program, *shim;
    char page_path[FAULT_TEXT];
    struct fault_page *page;
    double limit_s;
};

struct fault_end {
    bool hangs, leftover;
    int status; /* of waitpid */
    char out[FAULT_TEXT], err[FAULT_TEXT];
};

/* Empties the current folder except for the command's old files, and runs it. Returns -1 with
 * errno. */
int fault_run(const struct fault_place *place, const struct fault_command *command,
              const struct fault_point *point, struct fault_end *end);
/* Returns the contents of an old file, and a 0: those of the file of that name in input/, or a line
 * of text. The caller frees it; NULL with errno. */
char *fault_old(const char *path, size_t *bytes);

/* Removes a folder and all in it; a missing one is no error. */
int fault_remove(const char *path);
/* Returns the whole file and a 0 after it, or NULL if it cannot be read. The caller frees it. */
char *fault_read(const char *path, size_t *bytes);

/* Judge the files below path in the current folder. The first: every file is complete, or as it was
 * before, none is extra, and the old ones still exist. The second: all files of ../true exist, with
 * the same contents. Otherwise why says what is wrong. */
bool fault_judge_folder(const struct fault_command *command, const char *path, char why[256]);
bool fault_old_there(const struct fault_command *command, char why[256]);
bool fault_all_there(const char *path, char why[256]);
/* where: the difference, with the text before it. */
enum { DIFFERS = 160 };
bool fault_same_files(const char *path, const char *other, char where[DIFFERS]);

enum fault_verdict {
    FAULT_SAID,     /* one line, a documented status, nothing lost */
    FAULT_UNHARMED, /* status 0, and all expected output */
    FAULT_UNREACHED,
    FAULT_BAD,
    FAULT_VERDICTS
};

/* If the verdict is bad, why has the reason. */
enum fault_verdict fault_judge(const struct fault_place *place, const struct fault_command *command,
                               const struct fault_point *point, const struct fault_end *end,
                               char why[256]);

#endif
