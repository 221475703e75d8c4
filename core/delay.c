/* delay.c: devices whose transfers take longer on purpose.
 *
 * The table of the slots is a copy of the one that it wraps. A delay is queued before each
 * operation of a comm queue. Work that waits for the operation therefore also waits for the delay,
 * and no other work does. So a test can add a transfer time that it knows: a constant for each
 * operation, and a time for each byte. */
#include "backend.h"

#include <stdlib.h>

struct dp_delayed {
    uint64_t ns, rate;
    const struct dp_device_ops *inner;
    struct dp_device_ops ops;
};

static size_t copied(const struct dp_copy *copy)
{
    return copy->width * copy->height;
}

/* The bytes that an operation of a comm queue writes. */
static size_t bytes_written(enum dp_kernel kernel, const void *args)
{
    if (kernel == DP_KERNEL_COPY)
        return copied(args);
    if (kernel == DP_KERNEL_PEER_COPY)
        return copied(&((const struct dp_peer_copy *)args)->copy);
    if (kernel == DP_KERNEL_MEAN)
        return ((const struct dp_mean_args *)args)->n * sizeof(float);
    if (kernel == DP_KERNEL_REDUCE) {
        const struct dp_reduce_args *reduce = args;
        return reduce->n * dp_dtype_bytes(reduce->dtype);
    }
    return 0;
}

static uint64_t delay_of(const struct dp_delayed *d, enum dp_kernel kernel, const void *args)
{
    const double bytes = d->rate > 0 ? (double)bytes_written(kernel, args) : 0.0;
    return d->ns + (bytes > 0.0 ? (uint64_t)(1e9 * bytes / (double)d->rate) : 0);
}

static int delayed_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                          size_t bytes, struct dp_error *err)
{
    const struct dp_delayed *d = queue->slot->group->delayed;
    int status = 0;
    const struct dp_delay_args delay = {queue == &queue->slot->comm ? delay_of(d, kernel, args)
                                                                    : 0};
    if (delay.ns > 0)
        status = d->inner->launch(queue, DP_KERNEL_DELAY, &delay, sizeof delay, err);
    return status ? status : d->inner->launch(queue, kernel, args, bytes, err);
}

int dp_delay_open(struct dp_group *group, uint64_t ns, uint64_t rate, struct dp_error *err)
{
    struct dp_delayed *d = group->delayed = calloc(1, sizeof *d);
    if (!d)
        return dp_fail(err, DP_ENOMEM, "no memory for a delay");
    d->ns = ns;
    d->rate = rate;
    d->inner = group->slot[0]->ops;
    d->ops = *d->inner;
    d->ops.launch = delayed_launch;
    for (int i = 0; i < group->size; ++i) {
        group->slot[i]->ops = &d->ops;
        group->slot[i]->info.delay_ns = ns;
        group->slot[i]->info.delay_rate = rate;
    }
    return 0;
}
