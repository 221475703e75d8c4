/* files/temporary.h: files under names that cannot be guessed, so that no link can wait there.
 */
#ifndef HARNESS_TEMPORARY_H
#define HARNESS_TEMPORARY_H

#include <stddef.h>

/* ".0123456789abcdef.tmp", with other digits each time. */
struct temporary_ending {
    char text[24];
};

/* 0, or -1 and errno. */
int temporary_ending(struct temporary_ending *ending);

/* Makes a new file in the folder of path; name is where it is. A descriptor for writing, or -1 and
 * errno. The caller renames or removes it. */
int temporary_open(const char *path, char name[], size_t bytes);
/* Tries again where that fails; one that is not there is gone. */
void temporary_remove(const char *name);

#endif
