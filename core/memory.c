/* memory.c: counted memory of slots, blocks, and the stacks of runs. */
#include "tensor.h"

#include <stdlib.h>

#define CHUNK_BYTES ((size_t)1 << 16)
#define ALIGNMENT   64

bool dp_multiply(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

/* The host has the operations of the devices that copy to and from it, which may need special
 * memory. */
static const struct dp_device_ops *kind_of_host(const struct dp_slot *slot)
{
    const struct dp_device_ops *ops = dp_is_host(slot) ? slot->group->kind->ops : NULL;
    return ops && ops->host_alloc ? ops : NULL;
}

int dp_slot_take(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err)
{
    const struct dp_device_ops *kind = kind_of_host(slot);
    const int status = kind ? kind->host_alloc(slot, bytes, memory, err)
                            : slot->ops->alloc(slot, bytes, memory, err);
    if (status)
        return status;
    const size_t now = atomic_fetch_add(&slot->bytes, bytes) + bytes;
    size_t peak = atomic_load(&slot->peak);
    while (peak < now && !atomic_compare_exchange_weak(&slot->peak, &peak, now))
        ;
    return 0;
}

void dp_slot_give(struct dp_slot *slot, void *memory, size_t bytes)
{
    const struct dp_device_ops *kind = kind_of_host(slot);
    if (kind)
        kind->host_release(slot, memory);
    else
        slot->ops->release(slot, memory);
    atomic_fetch_sub(&slot->bytes, bytes);
}

int dp_block_open(struct dp_slot *slot, size_t bytes, struct dp_block **block, struct dp_error *err)
{
    struct dp_block *b = calloc(1, sizeof *b);
    if (!b)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for a block", slot->info.name);
    const int status = dp_slot_take(slot, bytes, &b->memory, err);
    if (status) {
        free(b);
        return status;
    }
    b->slot = slot;
    b->bytes = bytes;
    b->refs = 1;
    *block = b;
    return 0;
}

void dp_block_release(struct dp_block *block)
{
    if (!block || --block->refs > 0)
        return;
    dp_slot_wait(block->slot, NULL);
    dp_slot_give(block->slot, block->memory, block->bytes);
    free(block);
}

static int chunk_open(struct dp_stack *stack, size_t bytes, struct dp_chunk **chunk,
                      struct dp_error *err)
{
    struct dp_chunk *c = calloc(1, sizeof *c);
    if (!c)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for a step", stack->slot->info.name);
    const size_t wanted = stack->first ? 0 : stack->wanted;
    const size_t least = wanted > CHUNK_BYTES ? wanted : CHUNK_BYTES;
    c->bytes = bytes > least ? bytes : least;
    int status = dp_slot_take(stack->slot, c->bytes, &c->memory, NULL);
    if (status && c->bytes > bytes) {
        /* The size of an earlier step cannot be allocated any more, so take what this one needs. */
        stack->wanted = 0;
        c->bytes = bytes;
        status = dp_slot_take(stack->slot, c->bytes, &c->memory, NULL);
    }
    if (status) {
        dp_fail(err, status, "%s: cannot allocate %zu bytes", stack->slot->info.name, c->bytes);
        free(c);
        return status;
    }
    *chunk = c;
    return 0;
}

int dp_stack_take(struct dp_stack *stack, size_t bytes, void **memory, struct dp_error *err)
{
    if (bytes > SIZE_MAX - ALIGNMENT)
        return dp_fail(err, DP_ENOMEM, "%s: cannot allocate %zu bytes", stack->slot->info.name,
                       bytes);
    const size_t need = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct dp_chunk **link = stack->current ? &stack->current : &stack->first;
    while (*link && (*link)->bytes - (*link)->used < need)
        link = &(*link)->next;
    if (!*link) {
        const int status = chunk_open(stack, need, link, err);
        if (status)
            return status;
    }
    stack->current = *link;
    *memory = (char *)stack->current->memory + stack->current->used;
    stack->current->used += need;
    return 0;
}

/* A step that needed several chunks gets one chunk of their total size next time. So memory is that
 * of the largest step, not the sum of all chunks that were too small. */
void dp_stack_reset(struct dp_stack *stack)
{
    size_t used = 0;
    for (struct dp_chunk *c = stack->first; c; c = c->next) {
        used += c->used;
        c->used = 0;
    }
    stack->current = stack->first;
    if (!stack->first || !stack->first->next)
        return;
    dp_group_wait(stack->slot->group, NULL);
    dp_stack_close(stack);
    stack->wanted = used;
}

void dp_stack_close(struct dp_stack *stack)
{
    for (struct dp_chunk *c = stack->first; c;) {
        struct dp_chunk *next = c->next;
        dp_slot_give(stack->slot, c->memory, c->bytes);
        free(c);
        c = next;
    }
    stack->first = stack->current = NULL;
}
