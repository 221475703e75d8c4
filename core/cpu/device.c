/* device.c: a device that runs every operation at once, on the thread that issues it.
 *
 * It is used for virtual devices and for the host. The queues are always empty, so events have
 * nothing to order; the hand-off of worker.c orders threads. */
#define _DEFAULT_SOURCE /* madvise */
#include "../backend.h"
#include "products.h"

#include <stdlib.h>
#include <sys/mman.h>

/* The size of large pages on most machines. A large block on such pages causes fewer TLB misses:
 * steps of a 12 MB model were 4 to 5 % faster, and its update 17 %. Without large pages nothing
 * changes. */
#define LARGE_PAGE ((size_t)2 << 20)

static int cpu_open(struct dp_slot *slot, struct dp_error *err)
{
    (void)slot, (void)err;
    return 0;
}

static void cpu_close(struct dp_slot *slot)
{
    (void)slot;
}

static int cpu_alloc(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err)
{
    const bool large = bytes >= LARGE_PAGE && bytes <= SIZE_MAX - LARGE_PAGE;
    /* Small blocks have exactly the requested size, so that a sanitizer sees the byte after them.
     */
    const size_t size = large ? (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE : bytes;
    if (posix_memalign(memory, large ? LARGE_PAGE : 64, size ? size : 1) != 0)
        return dp_fail(err, DP_ENOMEM, "%s: cannot allocate %zu bytes", slot->info.name, bytes);
    if (large)
        madvise(*memory, size, MADV_HUGEPAGE);
    return 0;
}

static void cpu_release(struct dp_slot *slot, void *memory)
{
    (void)slot;
    free(memory);
}

/* *made says whether the library made the product. If it did not, the kernel makes it. */
static int make_product(const struct dp_slot *slot, const struct dp_gemm *g, bool *made,
                        struct dp_error *err)
{
    const enum dp_product product = slot->group->products->multiply(slot->products, g);
    *made = product == DP_PRODUCT_MADE;
    return product != DP_PRODUCT_FAILED
               ? 0
               : dp_fail(err, DP_EFAULT, "%s: %s: a product of %zu x %zu x %zu failed",
                         slot->info.name, slot->group->products_name, g->m, g->n, g->k);
}

static int cpu_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                      struct dp_error *err)
{
    (void)bytes;
    const struct dp_slot *slot = queue->slot;
    const bool timed =
        kernel == DP_KERNEL_GEMM || kernel == DP_KERNEL_GEMM_BF16 || kernel == DP_KERNEL_GEMM_HEADS;
    const uint64_t begin = timed ? dp_trace_begin(slot->group) : 0;
    bool made = false;
    int status = 0;
    if (kernel == DP_KERNEL_GEMM && slot->products)
        status = make_product(slot, args, &made, err);
    if (status == 0 && !made)
        slot->kernels[kernel](args);
    if (timed)
        dp_trace_matmul(queue->slot, begin);
    return status;
}

static int device_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                         size_t bytes, struct dp_error *err)
{
    if (!queue->slot->group->log)
        return cpu_launch(queue, kernel, args, bytes, err);
    const uint64_t begin = dp_now_ns();
    const int status = cpu_launch(queue, kernel, args, bytes, err);
    dp_kernel_log_add(queue, kernel, args, begin);
    return status;
}

/* It counts as a matrix product, like the products that it replaces. */
static int cpu_convolve(struct dp_queue *queue, const struct dp_convolution *c, bool *made,
                        struct dp_error *err)
{
    const struct dp_slot *slot = queue->slot;
    if (!slot->products)
        return 0;
    const uint64_t traced = dp_trace_begin(slot->group);
    const uint64_t begin = slot->group->log ? dp_now_ns() : 0;
    const enum dp_product product = slot->group->products->convolve(slot->products, c);
    if (product == DP_PRODUCT_FAILED)
        return dp_fail(err, DP_EFAULT, "%s: %s: a convolution of %zu images failed",
                       slot->info.name, slot->group->products_name, c->at.images);
    *made = product == DP_PRODUCT_MADE;
    if (!*made)
        return 0;
    dp_trace_matmul(slot, traced);
    if (slot->group->log)
        dp_kernel_log_convolution(queue, c, begin);
    return 0;
}

static int cpu_call(struct dp_queue *queue, const struct dp_host_call *call, struct dp_error *err)
{
    (void)queue, (void)err;
    call->function(call->args);
    return 0;
}

static void cpu_record(struct dp_queue *queue, struct dp_event *event)
{
    event->queue = queue;
    event->position = 0;
}

/* This device cannot defer work, so the device of the event catches up now. */
static int cpu_wait(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err)
{
    (void)queue;
    return event->queue->slot->ops->finish(event, err);
}

static int cpu_finish(const struct dp_event *event, struct dp_error *err)
{
    (void)event, (void)err;
    return 0;
}

static int cpu_sync(struct dp_queue *queue, struct dp_error *err)
{
    (void)queue, (void)err;
    return 0;
}

const struct dp_device_ops dp_device_cpu = {
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .launch = device_launch,
    .convolve = cpu_convolve,
    .call = cpu_call,
    .record = cpu_record,
    .wait = cpu_wait,
    .finish = cpu_finish,
    .sync = cpu_sync,
};
