/* slot.c: calls the operations of a slot's device, and waits for its queues. */
#include "backend.h"

int dp_group_wait(struct dp_group *group, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; i < group->size; ++i) {
        const int slot_status = dp_slot_wait(group->slot[i], err);
        status = status ? status : slot_status;
    }
    return status;
}

void dp_slot_describe(const struct dp_slot *slot, struct dp_slot_info *info)
{
    *info = slot->info;
    info->peak_bytes = atomic_load(&slot->peak);
}

const char *dp_slot_name(const struct dp_slot *slot)
{
    return slot->info.name;
}

struct dp_group *dp_slot_group(const struct dp_slot *slot)
{
    return slot->group;
}

bool dp_is_host(const struct dp_slot *slot)
{
    return slot == &slot->group->host;
}

int dp_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
              struct dp_error *err)
{
    ++queue->kernels;
    return queue->slot->ops->launch(queue, kernel, args, bytes, err);
}

int dp_launch_ahead(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                    struct dp_error *err)
{
    const struct dp_device_ops *ops = queue->slot->ops;
    return ops->ahead ? ops->ahead(queue, kernel, args, err)
                      : ops->launch(queue, kernel, args, bytes, err);
}

int dp_convolve(struct dp_queue *queue, const struct dp_convolution *c, bool *made,
                struct dp_error *err)
{
    const struct dp_device_ops *ops = queue->slot->ops;
    *made = false;
    const int status = ops->convolve ? ops->convolve(queue, c, made, err) : 0;
    queue->kernels += *made;
    return status;
}

int dp_event_wait(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err)
{
    return queue->slot->ops->wait(queue, event, err);
}

int dp_queue_sync(struct dp_queue *queue, struct dp_error *err)
{
    return queue->slot->ops->sync(queue, err);
}

int dp_slot_wait(struct dp_slot *slot, struct dp_error *err)
{
    const int compute = dp_queue_sync(&slot->compute, err);
    const int comm = dp_queue_sync(&slot->comm, err);
    return compute ? compute : comm;
}
