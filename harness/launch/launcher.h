/* launch/launcher.h: the launcher, the command that starts the processes. */
#ifndef HARNESS_LAUNCHER_H
#define HARNESS_LAUNCHER_H

#include "text/text.h"

/* The bytes are those of a field of records, `launcher`. */
enum { LAUNCHER_BYTES = 256, LAUNCHER_WORDS = 40 };

/* The words of a command, which contain no blanks; the last one is NULL. */
struct launcher {
    char room[LAUNCHER_BYTES * 2];
    char *word[LAUNCHER_WORDS + 1];
    int n;
};

/* Writes the whole command that a short name stands for; any other text is copied. It is cut to
 * LAUNCHER_BYTES. */
void launcher_text(const char *option, char text[LAUNCHER_BYTES]);
/* Whether a launcher can start processes: it contains {n}, its program is found, and this build has
 * MPI. Returns 0, or -1 and why not. */
int launcher_check(const char *text, struct text_error *why);
/* Writes the command for so many processes, up to the program that they execute. Returns 0, or -1
 * if it is too long. */
int launcher_words(const char *text, int processes, struct launcher *launcher);

#endif
