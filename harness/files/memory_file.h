/* files/memory_file.h: a stream into memory, whose text is whole: text/alloc.h.
 *
 * A stream of open_memstream does not say in glibc that memory was short: bytes are missing, or the
 * text is NULL. */
#ifndef HARNESS_MEMORY_FILE_H
#define HARNESS_MEMORY_FILE_H

#include <stddef.h>
#include <stdio.h>

/* It stays where it is while it is open. All zeros: closed, and has no text. */
struct memory_file {
    FILE *to;
    char *text; /* of so many bytes, with a 0 after them; caller frees */
    size_t bytes, capacity;
};

void memory_file_open(struct memory_file *file);
/* Returns the text. */
char *memory_file_close(struct memory_file *file);

#endif
