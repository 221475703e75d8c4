/* guard.c: the memory of a case: its allocations, and the parts that the implementation must leave
 * alone.
 *
 * An array has canaries on both sides, and after those are pages that no code may touch. */
#include "inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANARY_BYTES = 64, CANARY = 0xA5, POISON = 0xFF };

/* A call checks only the newest arrays, so that long cases take linear time. The canaries of all
 * arrays are checked when the case ends. */
enum { GUARDED = 64, SEARCHED = 4096 };

struct memory {
    struct memory *next;
    size_t bytes;
    max_align_t data[];
};

struct guard {
    struct guard *next;
    struct impl_array *first;
    int n;                 /* arrays from first on */
    bool input;            /* a single input; else outputs */
    unsigned char *fenced; /* the canaries in front; data and canaries follow */
    size_t bytes;          /* of each array's data */
    void *copy;            /* inputs: the data before the call */
    struct impl_array was; /* inputs: the description of the array */
};

static size_t room_of(size_t bytes)
{
    return (bytes + 15) / 16 * 16; /* the rest after `bytes` is canary as well */
}

void *check_memory(struct check *c, size_t bytes)
{
    struct memory *piece = calloc(1, sizeof *piece + bytes + 1);

    if (!piece)
        check_broken(c, "no memory for %zu bytes", bytes);
    piece->bytes = bytes;
    piece->next = c->memory;
    c->memory = piece;
    return piece->data;
}

size_t guard_room(const struct check *c, const void *pointer)
{
    const uintptr_t at = (uintptr_t)pointer;
    int left = SEARCHED;

    for (const struct memory *piece = c->memory; piece && left > 0; piece = piece->next, --left) {
        const uintptr_t begin = (uintptr_t)piece->data;
        if (at >= begin && at - begin <= piece->bytes)
            return piece->bytes - (at - begin);
    }
    return SIZE_MAX;
}

void check_free_memory(struct check *c)
{
    while (c->memory) {
        struct memory *next = c->memory->next;
        free(c->memory);
        c->memory = next;
    }
}

const char *check_text(struct check *c, const char *format, ...)
{
    va_list args, again;
    char first[256];
    size_t room;
    char *text;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(first, sizeof first, format, args);
    va_end(args);
    room = length > 0 ? (size_t)length + 1 : 1;
    text = check_memory(c, room);
    if (length > 0 && room <= sizeof first)
        memcpy(text, first, room);
    else
        vsnprintf(text, room, format, again);
    va_end(again);
    return text;
}

const char *check_list(struct check *c, const int values[], int n)
{
    const size_t room = (size_t)n * 12 + 3;
    char *text = check_memory(c, room);
    size_t used = 1;

    text[0] = '[';
    for (int i = 0; i < n; ++i)
        used += (size_t)snprintf(text + used, room - used, "%s%d", i > 0 ? "," : "", values[i]);
    text[used] = ']';
    return text;
}

const char *check_ids(struct check *c, int n)
{
    int *ids = check_memory(c, (size_t)(n + 1) * sizeof *ids);

    for (int i = 0; i < n; ++i)
        ids[i] = i;
    return check_list(c, ids, n);
}

/* ---- guards --------------------------------------------------------------------------------- */

/* Makes n consecutive arrays, each with canaries on both sides. */
static struct guard *add_guard(struct check *c, struct impl_array *first, int n, size_t bytes)
{
    struct guard *guard = check_memory(c, sizeof *guard);
    const size_t each = room_of(bytes) + CANARY_BYTES, all = CANARY_BYTES + (size_t)n * each;

    guard->fenced = arena_block(c->arena, all);
    if (!guard->fenced)
        check_broken(c, "no memory for %d arrays of %zu bytes", n, bytes);
    memset(guard->fenced, CANARY, all);
    for (int i = 0; i < n; ++i) {
        first[i].data = guard->fenced + CANARY_BYTES + (size_t)i * each;
        first[i].capacity = bytes;
    }
    guard->first = first;
    guard->n = n;
    guard->bytes = bytes;
    guard->next = c->guards;
    c->guards = guard;
    return guard;
}

struct impl_array *guard_input(struct check *c, const struct impl_array *like)
{
    struct impl_array *array = check_memory(c, sizeof *array);
    const size_t bytes = check_elements(like) * check_dtype_bytes(like->dtype);
    struct guard *guard;

    *array = *like;
    guard = add_guard(c, array, 1, bytes);
    guard->input = true;
    guard->copy = check_memory(c, bytes);
    memset(array->data, 0, bytes);
    return array;
}

struct impl_array *check_output(struct check *c, int n, size_t bytes)
{
    struct impl_array *arrays = check_memory(c, (size_t)n * sizeof *arrays);

    add_guard(c, arrays, n, bytes);
    guard_poison(arrays, (size_t)n);
    return arrays;
}

void guard_poison(struct impl_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const struct impl_array empty = {
            .data = arrays[i].data, .capacity = arrays[i].capacity, .device = IMPL_NOWHERE};
        arrays[i] = empty;
        if (empty.data)
            memset(empty.data, POISON, empty.capacity);
    }
}

void guard_before(struct check *c)
{
    int left = c->guarded > GUARDED ? c->guarded : GUARDED;

    for (struct guard *guard = c->guards; guard && left > 0; guard = guard->next, --left)
        if (guard->input) {
            guard->was = *guard->first;
            if (guard->bytes > 0)
                memcpy(guard->copy, guard->first->data, guard->bytes);
        }
}

/* A write outside an array: how many bytes after its end, or before its beginning. */
struct damage {
    bool behind;
    size_t bytes;
};

/* Usually all are whole, and then this is the only check. */
static bool all_whole(const struct guard *guard)
{
    const size_t room = room_of(guard->bytes), behind = room - guard->bytes + CANARY_BYTES;
    unsigned char whole[CANARY_BYTES + 16];
    const unsigned char *at = guard->fenced + CANARY_BYTES;
    bool same;

    memset(whole, CANARY, sizeof whole);
    same = memcmp(guard->fenced, whole, CANARY_BYTES) == 0;
    for (int k = 0; k < guard->n && same; ++k, at += room + CANARY_BYTES)
        same = memcmp(at + guard->bytes, whole, behind) == 0;
    return same;
}

static bool find_damage(const struct guard *guard, struct damage *damage)
{
    const size_t room = room_of(guard->bytes);
    const unsigned char *at = guard->fenced;

    if (all_whole(guard))
        return false;

    for (size_t i = CANARY_BYTES; i-- > 0;)
        if (at[i] != CANARY) {
            *damage = (struct damage){false, CANARY_BYTES - i};
            return true;
        }
    at += CANARY_BYTES;
    for (int k = 0; k < guard->n; ++k, at += room + CANARY_BYTES)
        for (size_t i = guard->bytes; i < room + CANARY_BYTES; ++i)
            if (at[i] != CANARY) {
                *damage = (struct damage){true, i - guard->bytes + 1};
                return true;
            }
    return false;
}

static const char *guard_kind_of(const struct guard *guard)
{
    return guard->input ? "an input array" : "an output's room";
}

static void check_canaries(struct check *c, const char *what, const struct guard *guard)
{
    struct damage damage;

    if (find_damage(guard, &damage))
        check_fail(c, "%s wrote outside %s of %zu bytes: byte %zu %s it", what,
                   guard_kind_of(guard), guard->bytes, damage.bytes,
                   damage.behind ? "behind" : "before");
}

void guard_touched(const struct check *c, const void *address, char *text, size_t bytes)
{
    const uintptr_t at = (uintptr_t)address;

    text[0] = '\0';
    for (const struct guard *guard = c->guards; guard; guard = guard->next) {
        const uintptr_t begin = (uintptr_t)guard->fenced;
        const uintptr_t end =
            begin + CANARY_BYTES + (size_t)guard->n * (room_of(guard->bytes) + CANARY_BYTES);
        const size_t behind = CANARY_BYTES + room_of(guard->bytes) - guard->bytes;

        if (at >= end && at < end + c->arena->page)
            snprintf(text, bytes, "; it touched memory %zu bytes behind %s of %zu bytes",
                     (size_t)(at - end) + behind, guard_kind_of(guard), guard->bytes);
        else if (at < begin && begin - at < 2 * c->arena->page && text[0] == '\0')
            snprintf(text, bytes, "; it touched memory %zu bytes before %s of %zu bytes",
                     (size_t)(begin - at) + CANARY_BYTES, guard_kind_of(guard), guard->bytes);
    }
}

static bool same_array(const struct impl_array *a, const struct impl_array *b)
{
    return a->data == b->data && a->capacity == b->capacity && a->dtype == b->dtype &&
           a->ndim == b->ndim && memcmp(a->dim, b->dim, sizeof a->dim) == 0 &&
           a->device == b->device && a->needs_grad == b->needs_grad;
}

/* Only the suite decides where outputs are and how large they may be. */
static bool in_place(const struct guard *guard)
{
    const size_t each = room_of(guard->bytes) + CANARY_BYTES;

    for (int i = 0; i < guard->n; ++i)
        if (guard->first[i].data != guard->fenced + CANARY_BYTES + (size_t)i * each ||
            guard->first[i].capacity != guard->bytes)
            return false;
    return true;
}

void guard_after(struct check *c, const char *what)
{
    int left = c->guarded > GUARDED ? c->guarded : GUARDED;

    for (struct guard *guard = c->guards; guard && left > 0; guard = guard->next, --left) {
        if (!guard->input && !in_place(guard))
            check_fail(c, "%s changed where an output is, or its room of %zu bytes", what,
                       guard->bytes);
        check_canaries(c, what, guard);
        if (guard->input) {
            if (!same_array(guard->first, &guard->was))
                check_fail(c, "%s changed the caller's description of an input array", what);
            if (guard->bytes > 0 && memcmp(guard->copy, guard->first->data, guard->bytes) != 0)
                check_fail(c, "%s wrote into an input array of the caller", what);
        }
    }
}

void guard_end(struct check *c)
{
    for (struct guard *guard = c->guards; guard; guard = guard->next)
        check_canaries(c, "some call", guard);
}

/* Returns the bytes of an array of this shape; SIZE_MAX if they exceed its capacity. */
static size_t shape_bytes(const struct impl_array *array)
{
    size_t bytes = check_dtype_bytes(array->dtype);

    for (int i = 0; i < array->ndim; ++i)
        if (array->dim[i] == 0)
            return 0;
    for (int i = 0; i < array->ndim; ++i) {
        if (bytes > array->capacity / array->dim[i])
            return SIZE_MAX;
        bytes *= array->dim[i];
    }
    return bytes;
}

void guard_output(struct check *c, const char *what, const struct impl_array *array)
{
    if (array->dtype == IMPL_NONE)
        return;
    if (check_dtype_bytes(array->dtype) == 0)
        check_fail(c, "%s: an output has the unknown type %d", what, (int)array->dtype);
    if (array->ndim < 0 || array->ndim > IMPL_MAX_DIMS)
        check_fail(c, "%s: an output has %d dimensions", what, array->ndim);
    if (shape_bytes(array) > array->capacity)
        check_fail(c, "%s: an output's shape does not fit its room of %zu bytes", what,
                   array->capacity);
    if (array->device < IMPL_HOST || array->device >= check_devices(c))
        check_fail(c, "%s: an output lies on device %d; there are %d", what, array->device,
                   check_devices(c));
}
