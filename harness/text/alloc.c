/* text/alloc.c: small host allocations, and the end of a process that gets none. */
#include "text/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 16, MISUSE = 2 };

/* Global: what fails, in any thread, has no argument through which it could find them. */
static struct {
    _Atomic(const char *) path;
    _Atomic pid_t by; /* a process that was forked removes none of its parent's */
} begun[FILES];

void cli_no_memory(void)
{
    static atomic_flag ends = ATOMIC_FLAG_INIT;
    static const char line[] = "lockstep: no memory\n";

    while (atomic_flag_test_and_set(&ends))
        pause();                         /* another thread says it */
    for (int i = FILES - 1; i >= 0; --i) /* a folder after what is in it */
        if (begun[i].path && begun[i].by == getpid())
            remove(begun[i].path);
    fflush(stdout); /* what was found is not lost */
    fwrite(line, 1, sizeof line - 1, stderr);
    _exit(MISUSE);
}

void *cli_memory(void *memory)
{
    if (!memory)
        cli_no_memory();
    return memory;
}

void *cli_alloc(size_t n, size_t size)
{
    return cli_memory(calloc(n > 0 ? n : 1, size));
}

void *cli_bytes(size_t bytes)
{
    return cli_memory(malloc(bytes > 0 ? bytes : 1));
}

void *cli_resize(void *memory, size_t n, size_t size)
{
    return cli_memory(n > SIZE_MAX / size ? NULL : realloc(memory, n > 0 ? n * size : size));
}

void *cli_grow(void *list, size_t n, size_t size)
{
    if ((n & (n - 1)) != 0)
        return list;
    return cli_resize(list, n > 0 ? 2 * n : 1, size);
}

char *cli_copy_text(const char *text)
{
    return cli_memory(strdup(text));
}

void cli_begin_file(const char *path)
{
    for (int i = 0; i < FILES; ++i) {
        const char *none = NULL;

        if (atomic_compare_exchange_strong(&begun[i].path, &none, path)) {
            begun[i].by = getpid();
            return;
        }
    }
}

void cli_finish_file(const char *path)
{
    for (int i = 0; i < FILES; ++i)
        if (begun[i].path == path)
            begun[i].path = NULL;
}
