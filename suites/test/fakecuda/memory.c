/* memory.c: allocations. Each device has a separate range of addresses; memory is full of NaN
 * before its first use and after its last, with a fence on either side. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POISON     0xff /* a NaN in every float type */
#define FENCE      256
#define FENCE_BYTE 0xa5
#define ROOMY      4 /* addresses for each byte of memory: they are given out again late */
#define ROUND      ((size_t)32 << 20)
#define LARGE      ((size_t)1 << 20)
#define SMALL      ((size_t)128 << 10)

static size_t up_to(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static void *map(size_t bytes, int protection)
{
    void *memory =
        mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The file is kept for the next start: making it takes longer than most programs. */
static int poison_file(void)
{
    static int file = -1;
    unsigned char page[4096];
    if (file >= 0)
        return file;
    memset(page, POISON, sizeof page);
    file = memfd_create("fakecuda-poison", MFD_CLOEXEC);
    for (size_t i = 0; i < LARGE / sizeof page; ++i) {
        if (file < 0 || write(file, page, sizeof page) != (ssize_t)sizeof page) {
            fake_violation("no memory for what freed memory is filled with");
            _exit(FAKECUDA_EXIT);
        }
    }
    return file;
}

void fake_memory_open(void)
{
    for (int device = 0; device < fake.config.devices; ++device) {
        struct fake_arena *arena = &fake.arena[device];
        arena->span = up_to(fake.config.memory_bytes, LARGE) * ROOMY;
        arena->face = map(arena->span, PROT_NONE);
        arena->body = map(arena->span, PROT_READ | PROT_WRITE);
        arena->shadow = map(arena->span / 4, PROT_READ | PROT_WRITE);
        arena->touched = map(arena->span / FAKE_CHUNK, PROT_READ | PROT_WRITE);
        if (!arena->face || !arena->body || !arena->shadow || !arena->touched) {
            fake_violation("no addresses for the memory of device %d", device);
            _exit(FAKECUDA_EXIT);
        }
    }
}

int fake_device_of(const void *pointer)
{
    const char *p = pointer;
    for (int device = 0; device < fake.config.devices; ++device) {
        const struct fake_arena *arena = &fake.arena[device];
        if (p >= arena->face && p < arena->face + arena->span)
            return device;
    }
    return FAKE_HOST;
}

/* Returns the index of the first block that ends after the address. */
static size_t index_after(const char *address)
{
    size_t low = 0, high = fake.blocks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct fake_block *block = fake.block[middle];
        if (block->face - block->lead + block->span <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct fake_block *fake_find(const void *pointer)
{
    const char *p = pointer;
    const size_t i = index_after(p);
    if (i == fake.blocks || p < fake.block[i]->face - fake.block[i]->lead)
        return NULL;
    return fake.block[i];
}

void *fake_body(const struct fake_block *block, const void *face)
{
    return block->body + ((const char *)face - block->face);
}

static void memory_forget(size_t i)
{
    struct fake_block *block = fake.block[i];
    if (block->device == FAKE_HOST)
        munmap(block->face, block->span);
    free(block->record);
    free(block);
    --fake.blocks;
    memmove(fake.block + i, fake.block + i + 1, (fake.blocks - i) * sizeof *fake.block);
}

static struct fake_block *list(struct fake_block block)
{
    struct fake_block *copy = fake_memory(sizeof *copy);
    const size_t i = index_after(block.face);
    if (fake.blocks == fake.block_room) {
        struct fake_block **more = fake_memory((fake.block_room * 2 + 64) * sizeof *more);
        fake.block_room = fake.block_room * 2 + 64;
        if (fake.blocks)
            memcpy(more, fake.block, fake.blocks * sizeof *more);
        free(fake.block);
        fake.block = more;
    }
    memmove(fake.block + i + 1, fake.block + i, (fake.blocks - i) * sizeof *fake.block);
    ++fake.blocks;
    *copy = block;
    copy->live = true;
    copy->serial = ++fake.serial;
    return fake.block[i] = copy;
}

static char *place_before(struct fake_arena *arena, size_t span, size_t limit)
{
    while (arena->cursor + span <= limit) {
        char *start = arena->face + arena->cursor;
        const size_t i = index_after(start);
        struct fake_block *next = i < fake.blocks ? fake.block[i] : NULL;
        if (!next || next->face - next->lead >= start + span) {
            arena->cursor += span;
            return start;
        }
        if (next->live)
            arena->cursor = (size_t)(next->face - next->lead - arena->face) + next->span;
        else
            memory_forget(i);
    }
    return NULL;
}

/* Large blocks are not written, but mapped to the same few pages of NaN, and cost no memory until
 * they are used. */
static void poison(char *body, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes < SMALL) {
        memset(body, POISON, bytes);
        return;
    }
    const size_t head = page - (uintptr_t)body % page;
    size_t done = head;
    for (size_t n = LARGE; bytes - done >= page; done += n) {
        n = bytes - done < LARGE ? (bytes - done) / page * page : LARGE;
        if (mmap(body + done, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, poison_file(),
                 0) == MAP_FAILED)
            break;
    }
    memset(body, POISON, head);
    memset(body + done, POISON, bytes - done);
}

/* Memory outside of blocks is NaN up to arena->filled, and was never used after that. */
static void memory_fill(struct fake_arena *arena, size_t end)
{
    if (end <= arena->filled)
        return;
    poison(arena->body + arena->filled, end - arena->filled);
    arena->filled = end;
}

static cudaError_t allocate_device(int device, size_t bytes, void **face)
{
    struct fake_arena *arena = &fake.arena[device];
    const size_t span = up_to(bytes, FENCE) + 2 * FENCE;
    if (bytes > fake.config.memory_bytes || arena->used + bytes > fake.config.memory_bytes)
        return cudaErrorMemoryAllocation;
    /* A free piece of the arena that was used long ago. No more of the arena is searched than is
     * needed, because memory that was used once stays resident. */
    const size_t enough = 2 * arena->peak + ROUND, all = arena->span;
    const size_t limit = enough < all ? enough : all;
    char *start = place_before(arena, span, limit);
    for (int round = 0; !start && round < 2; ++round) {
        arena->cursor = 0;
        start = place_before(arena, span, round == 0 ? limit : all);
    }
    if (!start)
        return cudaErrorMemoryAllocation;
    arena->used += bytes;
    arena->peak = arena->used > arena->peak ? arena->used : arena->peak;
    char *body = arena->body + (start - arena->face);
    memory_fill(arena, (size_t)(start - arena->face) + span);
    memset(body, FENCE_BYTE, FENCE);
    memset(body + FENCE + bytes, FENCE_BYTE, span - FENCE - bytes);
    *face = list((struct fake_block){.face = start + FENCE,
                                     .body = body + FENCE,
                                     .bytes = bytes,
                                     .lead = FENCE,
                                     .span = span,
                                     .device = device})
                ->face;
    return cudaSuccess;
}

static cudaError_t allocate_host(size_t bytes, void **face)
{
    const size_t span = up_to(bytes + FENCE, (size_t)sysconf(_SC_PAGESIZE));
    const int file = memfd_create("fakecuda", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)span) != 0) {
        if (file >= 0)
            close(file);
        return cudaErrorMemoryAllocation;
    }
    char *one = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *two = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (one == MAP_FAILED || two == MAP_FAILED) {
        if (one != MAP_FAILED)
            munmap(one, span);
        return cudaErrorMemoryAllocation;
    }
    memset(two, POISON, bytes);
    memset(two + bytes, FENCE_BYTE, span - bytes);
    list((struct fake_block){
        .face = one, .body = two, .bytes = bytes, .span = span, .device = FAKE_HOST});
    *face = one;
    return cudaSuccess;
}

cudaError_t fake_allocate(int device, size_t bytes, void **face)
{
    return device == FAKE_HOST ? allocate_host(bytes, face) : allocate_device(device, bytes, face);
}

static const char *memory_kind_of(const struct fake_block *block)
{
    return block->device == FAKE_HOST ? "pinned host memory" : "device memory";
}

static void check_fences(const struct fake_block *block)
{
    const char *start = block->body - block->lead;
    const size_t end = block->lead + block->bytes;
    for (size_t i = 0; i < block->span; ++i) {
        if (i == block->lead)
            i = end;
        if (i < block->span && (unsigned char)start[i] != FENCE_BYTE) {
            fake_violation("the %zu bytes of %s at %p were overrun: byte %lld was written",
                           block->bytes, memory_kind_of(block), (void *)block->face,
                           (long long)i - (long long)block->lead);
            return;
        }
    }
}

static void release(struct fake_block *block)
{
    check_fences(block);
    block->live = false;
    block->records = 0;
    if (block->guarded)
        --fake.guarded;
    block->guarded = false;
    if (block->device == FAKE_HOST) {
        munmap(block->body, block->span);
        (void)mmap(block->face, block->span, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        return;
    }
    fake.arena[block->device].used -= block->bytes;
    /* Makes the block NaN that was never written. Chunks that still are so are left alone: most
     * blocks were written in few places, and the workspace of a matrix product not at all. */
    const struct fake_arena *arena = &fake.arena[block->device];
    const char *const end = block->face + block->bytes;
    for (const char *lo = block->face; lo < end;) {
        const size_t left = FAKE_CHUNK - (size_t)(lo - arena->face) % FAKE_CHUNK;
        const size_t n = (size_t)(end - lo) < left ? (size_t)(end - lo) : left;
        if (fake_shadow_forget(lo, n))
            memset(fake_body(block, lo), POISON, n);
        lo += n;
    }
    memset(block->body - block->lead, POISON, block->lead);
    memset(block->body + block->bytes, POISON, block->span - block->lead - block->bytes);
}

cudaError_t fake_release(void *face, int device, const char *call)
{
    struct fake_block *block = fake_find(face);
    if (!face)
        return cudaSuccess;
    if (!block || block->face != face || (block->device == FAKE_HOST) != (device == FAKE_HOST)) {
        fake_violation("%s: %p is %s, not the start of an allocation of this kind", call, face,
                       block ? memory_kind_of(block) : "not memory from CUDA");
        return cudaErrorInvalidValue;
    }
    if (!block->live) {
        fake_violation("%s: %p was freed before", call, face);
        return cudaErrorInvalidValue;
    }
    const struct fake_record *record = fake.config.races ? fake_order_open(block) : NULL;
    if (record)
        fake_violation("%s: the %s at %p is still used: nobody waited for %s (device %d, stream "
                       "%d), which %s it",
                       call, memory_kind_of(block), face, record->name, record->device,
                       record->stream, record->use & FAKE_WRITE ? "writes" : "reads");
    if (record || !fake.config.races)
        for (struct CUstream_st *s = fake.streams; s; s = s->next)
            fake_advance(s, s->issued); /* pending work must not find the NaN, or unmapped memory */
    release(block);
    return cudaSuccess;
}

void fake_memory_leaks(void)
{
    size_t leaked = 0, bytes = 0;
    const struct fake_block *first = NULL;
    for (size_t i = 0; i < fake.blocks; ++i) {
        struct fake_block *block = fake.block[i];
        if (!block->live)
            continue;
        check_fences(block);
        ++leaked;
        bytes += block->bytes;
        if (!first || block->serial < first->serial)
            first = block;
    }
    if (first)
        fake_violation("leak: %zu allocations, %zu bytes; the first: %zu bytes of %s (device %d), "
                       "allocation %llu",
                       leaked, bytes, first->bytes, memory_kind_of(first), first->device,
                       (unsigned long long)first->serial);
}

void fake_memory_reset(int device)
{
    for (size_t i = 0; i < fake.blocks; ++i)
        if (fake.block[i]->device == device && fake.block[i]->live)
            release(fake.block[i]);
}

void fake_memory_close(void)
{
    while (fake.blocks) {
        struct fake_block *block = fake.block[fake.blocks - 1];
        if (block->live && block->device == FAKE_HOST)
            munmap(block->body, block->span);
        memory_forget(fake.blocks - 1);
    }
    free(fake.block);
    fake.block = NULL;
    for (int device = 0; device < fake.config.devices; ++device) {
        const struct fake_arena *arena = &fake.arena[device];
        munmap(arena->face, arena->span);
        munmap(arena->body, arena->span);
        munmap(arena->shadow, arena->span / 4);
        munmap(arena->touched, arena->span / FAKE_CHUNK);
    }
}
