/* call.c: a C function in the order of a GPU's queue. The host cannot access the memory of the GPU,
 * so the function works on copies. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

struct copies {
    unsigned char args[DP_CALL_BYTES];
    void *host[DP_CALL_USES], *device[DP_CALL_USES];
};

static void *pointer_at(const void *args, size_t place)
{
    void *pointer;
    memcpy(&pointer, (const char *)args + place, sizeof pointer);
    return pointer;
}

static int host_carry(struct dp_queue *queue, void *dst, const void *src, size_t bytes,
                      struct dp_error *err)
{
    const struct dp_copy copy = {dst, src, bytes, 1, bytes, bytes};
    return dp_cuda_launch(queue, DP_KERNEL_COPY, &copy, sizeof copy, err);
}

static int fetch(struct dp_queue *queue, const struct dp_host_call *call, struct copies *copies,
                 struct dp_error *err)
{
    int status = 0;
    memcpy(copies->args, call->args, call->bytes);
    for (int i = 0; status == 0 && i < call->n_uses; ++i) {
        const struct dp_use *use = &call->uses[i];
        copies->device[i] = pointer_at(call->args, use->place);
        if (!copies->device[i])
            continue;
        copies->host[i] = malloc(use->bytes ? use->bytes : 1);
        if (!copies->host[i])
            return dp_fail(err, DP_ENOMEM, "%s: no memory on the host for %zu bytes of a call",
                           queue->slot->info.name, use->bytes);
        memcpy(copies->args + use->place, &copies->host[i], sizeof copies->host[i]);
        if (use->mode & DP_READS)
            status = host_carry(queue, copies->host[i], copies->device[i], use->bytes, err);
    }
    return status;
}

int dp_cuda_call(struct dp_queue *queue, const struct dp_host_call *call, struct dp_error *err)
{
    struct copies copies = {.host = {NULL}};
    int status = fetch(queue, call, &copies, err);
    const int fetched = dp_queue_sync(queue, err);
    status = status ? status : fetched;
    if (status == 0) {
        call->function(copies.args);
        for (int i = 0; status == 0 && i < call->n_uses; ++i) {
            if (copies.host[i] && (call->uses[i].mode & DP_WRITES))
                status =
                    host_carry(queue, copies.device[i], copies.host[i], call->uses[i].bytes, err);
        }
        const int put = dp_queue_sync(queue, err);
        status = status ? status : put;
    }
    for (int i = 0; i < call->n_uses; ++i)
        free(copies.host[i]);
    return status;
}
