/* files/memory_file.h: a stream into memory that knows when memory was short.
 *
 * Of a stream of open_memstream neither ferror nor fclose says so in glibc: bytes are missing, or
 * the text is NULL. */
#ifndef HARNESS_MEMORY_FILE_H
#define HARNESS_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* It stays where it is while it is open. All zeros: closed, and has no text. */
struct memory_file {
    FILE *to;
    char *text; /* of so many bytes, with a 0 after them; caller frees */
    size_t bytes, room;
    bool failed;
};

/* 0, or -1: memory is short. */
int memory_file_open(struct memory_file *file);
/* The text is whole. Else -1, and it is NULL. Of one that is not open: -1. */
int memory_file_close(struct memory_file *file);

#endif
