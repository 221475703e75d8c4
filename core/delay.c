/* delay.c: devices whose transfers take longer on purpose.
 *
 * The table of the slots is a copy of the one that it wraps. Each operation of a comm queue has a
 * delay in front of it, in the same queue: what waits for the operation waits for both, and
 * nothing else does. */
#include "backend.h"

#include <stdlib.h>

struct dp_delayed {
    uint64_t ns;
    const struct dp_device_ops *inner;
    struct dp_device_ops ops;
};

static int delayed_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                          size_t bytes, struct dp_error *err)
{
    const struct dp_delayed *d = queue->slot->group->delayed;
    const struct dp_delay_args delay = {d->ns};
    int status = 0;
    if (queue == &queue->slot->comm)
        status = d->inner->launch(queue, DP_KERNEL_DELAY, &delay, sizeof delay, err);
    return status ? status : d->inner->launch(queue, kernel, args, bytes, err);
}

int dp_delay_open(struct dp_group *group, uint64_t ns, struct dp_error *err)
{
    struct dp_delayed *d = group->delayed = calloc(1, sizeof *d);
    if (!d)
        return dp_fail(err, DP_ENOMEM, "no memory for a delay");
    d->ns = ns;
    d->inner = group->slot[0]->ops;
    d->ops = *d->inner;
    d->ops.launch = delayed_launch;
    for (int i = 0; i < group->size; ++i) {
        group->slot[i]->ops = &d->ops;
        group->slot[i]->info.delay_ns = ns;
    }
    return 0;
}
