/* arena.h: memory in blocks, with pages between them that foreign code may not touch.
 *
 * A block ends right before such a page. An access far outside of a block is a crash, and not a
 * verdict about other numbers. Blocks live until the arena is closed. */
#ifndef WALL_ARENA_H
#define WALL_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARENA_FRESH = 512 };

struct arena_range {
    size_t offset, bytes;
};

enum arena_kind {
    ARENA_PLAIN,  /* no page is forbidden: blocks are adjacent */
    ARENA_FENCED, /* pages are forbidden in this process */
    ARENA_SHARED  /* with a process that was forked afterwards: pages are forbidden only there */
};

struct arena {
    unsigned char *base; /* NULL: not open */
    size_t bytes, used, page;
    enum arena_kind kind;
    bool open; /* there is no capacity for more forbidden pages: from here on there are none */
    /* Shared: the blocks that the other process was not told of. If there are more than this array
     * holds, they become one range, without pages between them. */
    struct arena_range fresh[ARENA_FRESH];
    size_t n_fresh;
};

/* Opens an arena with as much address space as there is, up to 16 GiB; memory is used only when it
 * is touched. Returns 0, or -1 with errno. */
int arena_open(struct arena *arena, enum arena_kind kind);
void arena_close(struct arena *arena);
/* Returns a block, whose end is at a multiple of 16. Unless the arena is plain, a forbidden page
 * follows, and the bytes before the block in its first page belong to it, too. NULL: the arena is
 * full. */
void *arena_block(struct arena *arena, size_t bytes);

/* Called by the other process: arena_shut forbids all, and arena_allow then allows a range. */
void arena_shut(struct arena *arena);
void arena_allow(struct arena *arena, struct arena_range range);

#endif
