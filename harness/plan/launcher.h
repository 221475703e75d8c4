/* plan/launcher.h: the command that starts processes. */
#ifndef HARNESS_RECORD_LAUNCHER_H
#define HARNESS_RECORD_LAUNCHER_H

#include "schema/structs.h"
#include "text/text.h"

enum { LAUNCHER_BYTES = sizeof((struct record_run *)0)->launcher, LAUNCHER_WORDS = 40 };

/* Its words, which have no blanks; the last one is NULL. */
struct launcher {
    char room[LAUNCHER_BYTES * 2];
    char *word[LAUNCHER_WORDS + 1];
    int n;
};

/* The whole command of a name that is short for one, cut to the room there is; any other text as it
 * is. */
void launcher_text(const char *option, char text[LAUNCHER_BYTES]);
/* Whether processes can be started so: there is an {n} in it, its program is found, and this build
 * has an MPI. 0, or -1 and why not. */
int launcher_check(const char *text, struct text_error *why);
/* The command for so many processes, without what they execute. 0, or -1: it is too long. */
int launcher_words(const char *text, int processes, struct launcher *launcher);

#endif
