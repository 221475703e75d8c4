/* files/whole.h: files that appear whole or not at all: each is written under a name that
 * cannot be guessed, in the folder where it will be, and takes its own name in the end.
 *
 * The caller checks first that the old file may be replaced, because a rename replaces anything. */
#ifndef HARNESS_WHOLE_H
#define HARNESS_WHOLE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* One that is printed to. */
struct whole_file {
    FILE *file;
    char path[1024], temporary[1072];
};

/* 0, or an errno. */
int whole_open(struct whole_file *whole, const char *path);
/* Gives the file its name, or removes it: 0, or an errno. */
int whole_close(struct whole_file *whole);
/* Gives it up. */
void whole_discard(struct whole_file *whole);

/* Writes all bytes to a file or a pipe: 0, or -1 and errno. */
int whole_write(int fd, const char *bytes, size_t n);

/* One of bytes that are there already, which are on the disk, and are read there, before it has its
 * name: EIO when it has others. mode NULL: as
 * new files have it. 0, or an errno. */
int whole_put(const char *path, const void *bytes, size_t n, const mode_t *mode);

/* ---- under names that cannot be guessed, so that no link can wait there ---- */

/* ".0123456789abcdef.tmp", with other digits each time. */
struct temporary_ending {
    char text[24];
};

/* 0, or -1 and errno. */
int temporary_ending(struct temporary_ending *ending);

/* Tries again where that fails; one that is not there is gone. */
void temporary_remove(const char *name);

#endif
