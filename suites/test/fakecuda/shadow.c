/* shadow.c: records which words of device memory were ever written. There is one byte for each word
 * of four bytes; a word that is written in part counts as written, so that there is no false alarm.
 */
#include "fake.h"

#include <string.h>

#define WORD 4

/* The shadow of an address of a device; NULL for host memory, of which nothing is known. */
static unsigned char *shadow_of(const char *address)
{
    const int device = fake_device_of(address);
    if (device == FAKE_HOST)
        return NULL;
    const struct fake_arena *arena = &fake.arena[device];
    return arena->shadow + (size_t)(address - arena->face) / WORD;
}

static size_t words(const char *address, size_t bytes)
{
    return ((uintptr_t)address % WORD + bytes + WORD - 1) / WORD;
}

static void touch(const char *address, size_t bytes)
{
    const struct fake_arena *arena = &fake.arena[fake_device_of(address)];
    const size_t first = (size_t)(address - arena->face) / FAKE_CHUNK;
    const size_t last = (size_t)(address + bytes - 1 - arena->face) / FAKE_CHUNK;
    memset(arena->touched + first, 1, last - first + 1);
}

void fake_shadow_set(const struct fake_area *area)
{
    for (size_t row = 0; row < area->height && area->width; ++row) {
        const char *lo = area->lo + row * area->pitch;
        unsigned char *shadow = shadow_of(lo);
        if (!shadow)
            continue;
        memset(shadow, 1, words(lo, area->width));
        touch(lo, area->width);
    }
}

bool fake_shadow_forget(const char *address, size_t bytes)
{
    const struct fake_arena *arena = &fake.arena[fake_device_of(address)];
    unsigned char *touched = arena->touched + (size_t)(address - arena->face) / FAKE_CHUNK;
    if (!*touched)
        return false;
    memset(shadow_of(address), 0, words(address, bytes));
    if (bytes == FAKE_CHUNK)
        *touched = 0;
    return true;
}

long long fake_shadow_missing(const struct fake_area *area)
{
    for (size_t row = 0; row < area->height && area->width; ++row) {
        const char *lo = area->lo + row * area->pitch;
        const unsigned char *shadow = shadow_of(lo);
        const unsigned char *gap = shadow ? memchr(shadow, 0, words(lo, area->width)) : NULL;
        if (gap)
            return (long long)(row * area->pitch) + (long long)(gap - shadow) * WORD;
    }
    return -1;
}

bool fake_shadow_none(const struct fake_area *area)
{
    bool any = false;
    for (size_t row = 0; row < area->height && area->width; ++row) {
        const char *lo = area->lo + row * area->pitch;
        const unsigned char *shadow = shadow_of(lo);
        if (!shadow || memchr(shadow, 1, words(lo, area->width)))
            return false;
        any = true;
    }
    return any;
}

static void copy_row(const char *to, const char *from, size_t bytes)
{
    unsigned char *target = shadow_of(to);
    const unsigned char *source = shadow_of(from);
    if (!target)
        return;
    touch(to, bytes);
    if (source && (uintptr_t)to % WORD == (uintptr_t)from % WORD)
        memmove(target, source, words(to, bytes));
    else
        memset(target, 1, words(to, bytes));
}

/* Areas of the same size, which may be cut into rows in different ways. */
void fake_shadow_copy(const struct fake_area *to, const struct fake_area *from)
{
    const size_t total = to->width * to->height;
    for (size_t done = 0; done < total;) {
        const size_t a = done % to->width, b = done % from->width;
        const size_t left_a = to->width - a, left_b = from->width - b;
        const size_t n = left_a < left_b ? left_a : left_b;
        copy_row(to->lo + done / to->width * to->pitch + a,
                 from->lo + done / from->width * from->pitch + b, n);
        done += n;
    }
}
