/* arena.c: blocks of memory with forbidden pages around them (arena.h). */
#define _DEFAULT_SOURCE /* MAP_NORESERVE */

#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t MOST = (size_t)16 << 30, LEAST = (size_t)16 << 20;

int arena_open(struct arena *arena, enum arena_kind kind)
{
    const int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
    void *base = MAP_FAILED;
    int saved;

    *arena = (struct arena){.page = (size_t)sysconf(_SC_PAGESIZE), .kind = kind};
    if (zero < 0)
        return -1;
    for (arena->bytes = MOST; base == MAP_FAILED && arena->bytes >= LEAST; arena->bytes /= 2) {
        const int access = kind == ARENA_FENCED ? PROT_NONE : PROT_READ | PROT_WRITE;
        const int flags = kind == ARENA_SHARED ? MAP_SHARED : MAP_PRIVATE;

        base = mmap(NULL, arena->bytes, access, flags | MAP_NORESERVE, zero, 0);
    }
    arena->bytes *= 2;
    saved = errno;
    close(zero);
    errno = saved;
    if (base == MAP_FAILED)
        return -1;
    arena->base = base;
    arena->used = arena->page;
    return 0;
}

void arena_close(struct arena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->bytes);
    *arena = (struct arena){.base = NULL};
}

/* Each range costs two mappings of the system, and a process can have about ten thousand. */
void arena_allow(struct arena *arena, struct arena_range range)
{
    const int access = PROT_READ | PROT_WRITE;

    if (arena->open || mprotect(arena->base + range.offset, range.bytes, access) == 0)
        return;
    arena->open = true;
    mprotect(arena->base + range.offset, arena->bytes - range.offset, access);
}

void arena_shut(struct arena *arena)
{
    mprotect(arena->base, arena->bytes, PROT_NONE);
    arena->open = false;
}

void *arena_block(struct arena *arena, size_t bytes)
{
    const size_t page = arena->page;
    struct arena_range range = {.offset = arena->used};

    if (!arena->base || bytes > arena->bytes - arena->used ||
        arena->bytes - arena->used - bytes < 3 * page)
        return NULL;
    bytes = (bytes + 15) / 16 * 16;
    if (arena->kind == ARENA_PLAIN) {
        arena->used += bytes;
        return arena->base + range.offset;
    }
    range.bytes = (bytes + page - 1) / page * page;
    if (range.bytes == 0)
        range.bytes = page;
    arena->used += range.bytes + page;
    if (arena->kind == ARENA_SHARED) {
        struct arena_range *last = &arena->fresh[ARENA_FRESH - 1];

        if (arena->n_fresh < ARENA_FRESH)
            arena->fresh[arena->n_fresh++] = range;
        else
            last->bytes = range.offset + range.bytes - last->offset;
    } else {
        arena_allow(arena, range);
    }
    return arena->base + range.offset + range.bytes - bytes;
}
