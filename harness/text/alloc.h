/* text/alloc.h: small host allocations of the command line. None of these functions returns NULL.
 *
 * One that fails ends the process: "lockstep: no memory", exit status 2, and the files that are not
 * finished are removed. Their size never comes from what others wrote: that is checked before, and
 * refused. Memory of devices, of tensors and of cells that may not fit is allocated by others. */
#ifndef HARNESS_ALLOC_H
#define HARNESS_ALLOC_H

#include <stddef.h>

/* Ends the process in this way. */
_Noreturn void cli_no_memory(void);
/* Returns memory if it is there. */
void *cli_memory(void *memory);

/* Zeroed, also for no elements. The caller frees all of them. */
void *cli_alloc(size_t n, size_t size);
void *cli_bytes(size_t bytes); /* not zeroed */
void *cli_resize(void *memory, size_t n, size_t size);
/* Returns a list of n elements with space for one more at least. It always had that space, or n is
 * 0 and it is NULL. */
void *cli_grow(void *list, size_t n, size_t size);
char *cli_copy_text(const char *text);

/* A file that this process has begun, or an empty folder, is removed if memory is short, until it
 * is finished. The path stays where it is until then. */
void cli_begin_file(const char *path);
void cli_finish_file(const char *path);

#endif
