/* files/files.h: files, bytes as a file has them, and the signals and threads of this process. */
#ifndef HARNESS_FILES_H
#define HARNESS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "text/text.h"

/* ---- files that appear whole or not at all: files/whole.c ---- */

/* Each is written under a name that cannot be guessed, in the folder where it will be, and takes
 * its own name in the end. The caller checks first that the old file may be replaced, because a
 * rename replaces anything.
 *
 * One that is printed to. */
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

/* ---- a text file, in which what others wrote is escaped: files/text_out.c ---- */

struct text_out {
    FILE *file;
    enum text_form form;
    struct whole_file whole;
};

/* 0, or -1 and why. */
int text_open(struct text_out *out, const char *directory, const char *name, enum text_form form,
              struct text_error *err);
/* Gives the file its name, or removes it: 0, or -1 and why. */
int text_close(struct text_out *out, struct text_error *err);
/* Gives it up. */
void text_discard(struct text_out *out);

/* printf with %s, %d, %zu and %% only; what %s prints is escaped, the format is not. */
void text_print(struct text_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes text of several lines, escaped line by line, with this for each newline: another control
 * character is text. */
void text_lines(FILE *to, enum text_form form, const char *text, const char *newline);

/* As `mkdir -p`: 0, or -1 and errno. */
int text_folder(const char *path);
/* The same of files that belong together: until this process ends, no other one that asks for the
 * folder writes there. 0, or -1 and why. */
int text_folder_own(const char *path, struct text_error *err);
/* Removes a file of an earlier run, which must not stand next to new ones. */
void text_remove(const char *directory, const char *name);

/* ---- a stream into memory, whose text is whole (text/alloc.h): files/memory_file.c ---- */

/* A stream of open_memstream does not say in glibc that memory was short: bytes are missing, or the
 * text is NULL.
 *
 * It stays where it is while it is open. All zeros: closed, and has no text. */
struct memory_file {
    FILE *to;
    char *text; /* of so many bytes, with a 0 after them; caller frees */
    size_t bytes, capacity;
};

void memory_file_open(struct memory_file *file);
/* Returns the text. */
char *memory_file_close(struct memory_file *file);

/* ---- files that are installed with this program, by their names: files/shipped.c ---- */

/* A kind of them: share/lockstep/FOLDER next to the folder that the program is in, or FOLDER of the
 * tree that it was built in. */
struct shipped {
    const char *folder, *ending; /* "profiles", ".yaml" */
};

enum { SHIPPED_WORDS = 1280 };
/* "a100-sxm-x8, b200-x8 in FOLDER", or "none in" those where there could be some. */
void shipped_words(const struct shipped *kind, char text[], size_t bytes);
/* Where the one of this name is; of any other name, and of a file that is here, the name itself. 0,
 * or -1: there is no such file either. */
int shipped_find(const struct shipped *kind, const char *name, char path[], size_t bytes);

/* ---- SHA-256 of bytes, by libcrypto: files/digest.c ---- */

enum { DIGEST_HEX = 65 };

/* 64 digits of 0-9 and a-f, and a 0 after them; with any error -1, and hex is "". */
int digest_sha256(const void *data, size_t bytes, char hex[DIGEST_HEX]);

/* ---- signals, what they do from the start, and the request to stop: files/stop.c ---- */

/* At the start of main: the parent may have ignored or blocked any of them, and children
 * inherit it. SIGHUP, SIGINT, SIGQUIT and SIGTERM stay ignored where they are. */
void stop_set_signals(void);

/* From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM, unless they were ignored, request a stop and do
 * nothing else. */
void stop_watch_signals(void);
bool stop_requested(void);

/* ---- one piece of work done many times, on several cores: files/parallel.c ---- */

/* Calls work(context, i) once for each i below n, in any order, on at most so many threads, the
 * caller's among them, and returns when all are done. Threads that cannot be had are left out. */
void parallel_each(size_t n, size_t threads, void (*work)(void *context, size_t i), void *context);

/* Cores of this machine, at least 1. */
size_t parallel_cores(void);

#endif
