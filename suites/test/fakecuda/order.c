/* order.c: happens-before. Every stream has a vector clock. Two accesses to the same bytes, one of
 * them a write, must be ordered by the program, and not by chance. The threads of the program count
 * as one: all know what any of them has waited for. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

void fake_clock_join(struct fake_clock *clock, const struct fake_clock *other)
{
    for (int i = 0; i < FAKE_STREAMS; ++i)
        if (other->at[i] > clock->at[i])
            clock->at[i] = other->at[i];
}

static bool before(const struct fake_record *record, const struct fake_clock *clock)
{
    return record->tick <= clock->at[record->stream];
}

const struct fake_record *fake_order_open(struct fake_block *block)
{
    size_t kept = 0;
    for (size_t i = 0; i < block->records; ++i)
        if (!before(&block->record[i], &fake.host))
            block->record[kept++] = block->record[i];
    block->records = kept;
    return kept ? block->record : NULL;
}

static const char *verb(unsigned use)
{
    return use & FAKE_WRITE ? "writes" : "reads";
}

/* An access that races with the past one would race with this one too. */
static bool replaces(const struct fake_access *access, const struct CUstream_st *stream,
                     const struct fake_record *past)
{
    if (!fake_area_holds(&access->area, &past->area))
        return false;
    if (access->use & FAKE_WRITE)
        return before(past, &stream->clock);
    return !(past->use & FAKE_WRITE) && past->stream == stream->id;
}

static void remember(struct fake_block *block, struct fake_record record)
{
    if (block->records == block->room) {
        struct fake_record *more = fake_memory((block->room * 2 + 8) * sizeof *more);
        block->room = block->room * 2 + 8;
        if (block->records)
            memcpy(more, block->record, block->records * sizeof *more);
        free(block->record);
        block->record = more;
    }
    block->record[block->records++] = record;
}

void fake_order_check(struct fake_block *block, const struct fake_access *access,
                      const struct fake_work *work, const struct CUstream_st *stream)
{
    size_t kept = 0;
    bool reported = false;
    fake_order_open(block);
    for (size_t i = 0; i < block->records; ++i) {
        const struct fake_record past = block->record[i];
        if (!reported && ((access->use | past.use) & FAKE_WRITE) &&
            !before(&past, &stream->clock) && fake_area_meets(&access->area, &past.area)) {
            fake_violation(
                "race: %s (device %d, stream %d) %s %zu bytes at %p that %s (device %d, stream "
                "%d) %s, and nothing orders them; allocation %llu, %zu bytes of %s %d",
                work->name, stream->device, stream->id, verb(access->use),
                access->area.width * access->area.height, (const void *)access->area.lo, past.name,
                past.device, past.stream, verb(past.use), (unsigned long long)block->serial,
                block->bytes, block->device == FAKE_HOST ? "pinned memory," : "device",
                block->device);
            reported = true;
        }
        if (!replaces(access, stream, &past))
            block->record[kept++] = past;
    }
    block->records = kept;
    remember(block, (struct fake_record){.area = access->area,
                                         .use = access->use,
                                         .stream = stream->id,
                                         .device = stream->device,
                                         .tick = stream->clock.at[stream->id],
                                         .name = work->name});
}

void fake_host_learns(const struct fake_clock *clock)
{
    fake_clock_join(&fake.host, clock);
    if (fake.guarded)
        fake_guard_lift();
}
