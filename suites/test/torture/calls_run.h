/* calls_run.h: a command of the program, run with one call that fails, and what it left. */
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

/* Where everything is; the current folder is run/, beside true/ and input/. */
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

/* Makes the current folder empty but for the command's old files, and runs it. -1 with errno. */
int fault_run(const struct fault_place *place, const struct fault_command *command,
              const struct fault_point *point, struct fault_end *end);
/* What an old file holds, and a 0: what the file of that name in input/ does, or a line of text.
 * Caller: free; NULL with errno. */
char *fault_old(const char *path, size_t *bytes);

/* Removes a folder and all in it; one that is not there is none. */
int fault_remove(const char *path);
/* The whole file and a 0 behind it, NULL when it cannot be read. Caller: free. */
char *fault_read(const char *path, size_t *bytes);

/* Below path in the current folder: every file is whole, or as it was before, and none is left
 * over; what was there before still is; or all that is in ../true is there, the same. Else why
 * says. */
bool fault_judge_folder(const struct fault_command *command, const char *path, char why[256]);
bool fault_old_there(const struct fault_command *command, char why[256]);
bool fault_all_there(const char *path, char why[256]);
/* where: what differs, with what is before it. */
enum { DIFFERS = 160 };
bool fault_same_files(const char *path, const char *other, char where[DIFFERS]);

enum fault_verdict {
    FAULT_SAID,     /* one line, a documented status, nothing lost */
    FAULT_UNHARMED, /* status 0, and all that was to come out of it */
    FAULT_UNREACHED,
    FAULT_BAD,
    FAULT_VERDICTS
};

/* Why it is bad is in why. */
enum fault_verdict fault_judge(const struct fault_place *place, const struct fault_command *command,
                               const struct fault_point *point, const struct fault_end *end,
                               char why[256]);

#endif
