/* arena.h: memory in blocks, with pages between them that code of others may not touch.
 *
 * A block ends right before such a page. What is read or written far outside of one is a crash, and
 * not a verdict about other numbers. Blocks live until the arena is closed. */
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
    ARENA_PLAIN,  /* no page is forbidden: blocks lie side by side */
    ARENA_FENCED, /* pages are forbidden in this process */
    ARENA_SHARED  /* with a process that was forked afterwards: only there are pages forbidden */
};

struct arena {
    unsigned char *base; /* NULL: not open */
    size_t bytes, used, page;
    enum arena_kind kind;
    bool open; /* no room for more forbidden pages: from here on there are none */
    /* Shared: the blocks that the other process was not told of. More than there is room for are
     * one range, without pages between them. */
    struct arena_range fresh[ARENA_FRESH];
    size_t n_fresh;
};

/* 0, or -1 with errno. As much address space as there is, up to 16 GiB; memory is taken when it is
 * touched. */
int arena_open(struct arena *arena, enum arena_kind kind);
void arena_close(struct arena *arena);
/* So many bytes, whose end is at a multiple of 16. Unless the arena is plain, a forbidden page
 * follows, and what is before them in their first page is theirs, too. NULL: no room. */
void *arena_block(struct arena *arena, size_t bytes);

/* The other process: forbids all, and then allows a range. */
void arena_shut(struct arena *arena);
void arena_allow(struct arena *arena, struct arena_range range);

#endif
