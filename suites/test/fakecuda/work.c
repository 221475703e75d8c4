/* work.c: the memory that an operation uses, and the checks before and during it. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

struct fake_work *fake_work_new(const char *name, const struct CUstream_st *stream)
{
    struct fake_work *work = fake_memory(sizeof *work);
    work->users = 1;
    work->name = name;
    work->device = stream->device;
    return work;
}

void fake_work_drop(struct fake_work *work)
{
    if (!work || --work->users > 0)
        return;
    free(work->args);
    free(work->owned);
    free(work->access);
    free(work);
}

void fake_work_runs(struct fake_work *work, void (*run)(const void *), const void *args,
                    size_t bytes)
{
    work->run = run;
    work->args = fake_memory(bytes);
    if (bytes)
        memcpy(work->args, args, bytes);
}

static const char *what_is(const struct fake_block *block, const void *pointer)
{
    if (block)
        return block->live ? "in use" : "memory that was freed";
    return fake_device_of(pointer) == FAKE_HOST ? "host memory that CUDA does not know"
                                                : "device memory that was never allocated";
}

/* Returns the block that the area is in, if the work may touch it. */
static struct fake_block *reach(const struct fake_work *work, const struct fake_area *area)
{
    struct fake_block *block = fake_find(area->lo);
    const size_t span = fake_area_span(area);
    const void *pointer = area->lo;
    if (!block || !block->live) {
        fake_violation("%s (device %d): %p is %s", work->name, work->device, pointer,
                       what_is(block, pointer));
        return NULL;
    }
    if (area->lo < block->face || area->lo + span > block->face + block->bytes) {
        fake_violation("%s (device %d): %zu bytes at %p run over the end of an allocation of %zu "
                       "bytes at %p",
                       work->name, work->device, span, pointer, block->bytes, (void *)block->face);
        return NULL;
    }
    if (!work->copies && block->device != FAKE_HOST && block->device != work->device &&
        !fake.peer[work->device][block->device]) {
        fake_violation("%s (device %d): %p is memory of device %d, to which there is no peer "
                       "access",
                       work->name, work->device, pointer, block->device);
        return NULL;
    }
    return block;
}

void *fake_uses_area(struct fake_work *work, const struct fake_area *area, unsigned use)
{
    if (!work || fake_area_span(area) == 0)
        return (void *)(uintptr_t)area->lo;
    const struct fake_block *block = reach(work, area);
    if (!block) {
        work->error = cudaErrorIllegalAddress;
        return NULL;
    }
    const size_t bytes = (size_t)(work->accesses + 1) * sizeof *work->access;
    struct fake_access *more = realloc(work->access, bytes);
    if (!more) {
        work->error = cudaErrorMemoryAllocation;
        return NULL;
    }
    work->access = more;
    more[work->accesses++] = (struct fake_access){*area, block->serial, use};
    return fake_body(block, area->lo);
}

void *fake_uses(struct fake_work *work, const void *pointer, size_t bytes, unsigned use)
{
    const struct fake_area area = fake_area(pointer, bytes, 1, bytes);
    return fake_uses_area(work, &area, use);
}

void fake_work_do(struct fake_work *work, const struct CUstream_st *stream)
{
    for (int i = 0; i < work->accesses && !work->copies; ++i)
        if (work->access[i].use & FAKE_READ) {
            const struct fake_area *area = &work->access[i].area;
            const long long missing = fake_shadow_missing(area);
            if (missing >= 0)
                fake_violation(
                    "%s (device %d, stream %d) reads %zu bytes at %p, of which byte %lld was "
                    "never written",
                    work->name, stream->device, stream->id, area->width * area->height,
                    (const void *)area->lo, missing);
        }
    fake_me.running = work->name;
    work->run(work->args);
    fake_me.running = NULL;
    for (int i = 0; i < work->accesses && !work->copies; ++i)
        if ((work->access[i].use & FAKE_SCRATCH) == FAKE_WRITE)
            fake_shadow_set(&work->access[i].area);
}

/* A graph may be launched long after it was captured. */
static struct fake_block *still_there(const struct fake_work *work,
                                      const struct fake_access *access)
{
    struct fake_block *block = fake_find(access->area.lo);
    if (!block || !block->live || block->serial != access->serial) {
        fake_violation("%s (device %d): the memory at %p was freed after the graph had captured "
                       "it",
                       work->name, work->device, (const void *)access->area.lo);
        return NULL;
    }
    return block;
}

cudaError_t fake_issue_now(struct CUstream_st *stream, struct fake_work *work)
{
    cudaError_t error = work->error;
    for (int i = 0; i < work->accesses && !error; ++i)
        if (!still_there(work, &work->access[i]))
            error = cudaErrorIllegalAddress;
    if (error) {
        fake_work_drop(work);
        return error;
    }
    stream->clock.at[stream->id] = ++fake.ticks[stream->id];
    for (int i = 0; i < work->accesses && fake.config.races; ++i) {
        const struct fake_access *access = &work->access[i];
        struct fake_block *block = fake_find(access->area.lo);
        fake_order_check(block, access, work, stream);
        if (block->device == FAKE_HOST)
            fake_guard(block, access);
    }
    fake_put_work(stream, work);
    return cudaSuccess;
}

cudaError_t fake_issue(struct CUstream_st *stream, struct fake_work *work)
{
    if (!work->error && stream->capture)
        return fake_capture_work(stream, work);
    return fake_issue_now(stream, work);
}
