/* ring_run.c: every device multiplies, adds the result of its neighbour, and updates its weights,
 * with transfers during the computation. Every wait or event that it needs is written once, next to
 * the bug that leaves it out. */
#include "ring.h"

#include "../../../../core/cuda/launch.h"
#include "ring_parts.h"

#include <string.h>

static bool is(const struct ring *r, enum ring_bug bug)
{
    return r->bug == bug;
}

/* Two pinned buffers in turn: one may be written when the copy from it is over. */
static bool ring_run_load(struct ring *r, struct ring_device *d, int step)
{
    float *pinned = d->pin_in + (size_t)(step % 2) * RING_COUNT;
    if (!is(r, RING_HOST_WRITES_TOO_EARLY) &&
        !ring_cuda(r, cudaEventSynchronize(d->loaded[step % 2])))
        return false;
    ring_input(pinned, step, d->index);
    if (is(r, RING_HOST_OVERRUN))
        d->pin_in[2 * RING_COUNT] = 1.0f;
    const size_t bytes = RING_BYTES + (is(r, RING_COPY_TOO_LONG) ? sizeof(float) : 0);
    const bool reversed = is(r, RING_COPY_KIND_REVERSED);
    return ring_cuda(r, cudaMemcpyAsync(d->x, pinned, bytes,
                                        reversed ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
                                        d->compute)) &&
           ring_cuda(r, cudaEventRecord(d->loaded[step % 2], d->compute));
}

/* y = relu(w x); the second part is a graph. */
static bool compute(struct ring *r, struct ring_device *d)
{
    const float one = 1.0f, zero = 0.0f;
    const struct ring_device *first = &r->device[0];
    const float *x = is(r, RING_HOST_POINTER_IN_GEMM) ? r->weights : d->x;
    if (is(r, RING_EVENT_TOO_EARLY) && !ring_cuda(r, cudaEventRecord(d->ready, d->compute)))
        return false;
    if (is(r, RING_WRONG_DEVICE_AT_GEMM) && !ring_cuda(r, cudaSetDevice(first->index)))
        return false;
    const bool done =
        ring_blas(r, cublasSgemm(d->blas, CUBLAS_OP_N, CUBLAS_OP_N, RING_SIDE, RING_SIDE, RING_SIDE,
                                 &one, d->w, RING_SIDE, x, RING_SIDE, &zero, d->y, RING_SIDE));
    return done && ring_cuda(r, cudaSetDevice(d->index)) &&
           ring_cuda(r, cudaGraphLaunch(d->relu, d->compute));
}

static bool record_ready(struct ring *r, struct ring_device *d)
{
    if (is(r, RING_EVENT_TOO_EARLY))
        return true;
    if (is(r, RING_EVENT_ON_WRONG_STREAM))
        return ring_cuda(r, cudaEventRecord(d->ready, d->comm));
    if (is(r, RING_EVENT_OF_OTHER_DEVICE))
        return ring_cuda(r, cudaEventRecord(ring_before(r, d)->ready, d->compute));
    return ring_cuda(r, cudaEventRecord(d->ready, d->compute));
}

/* stage = y, from where the neighbour fetches it. The neighbour must have fetched the last one. */
static bool stage(struct ring *r, struct ring_device *d)
{
    const struct ring_device *after = ring_after(r, d);
    const bool early = is(r, RING_WAIT_BEFORE_RECORD);
    if (early && !ring_cuda(r, cudaStreamWaitEvent(d->comm, d->ready, 0)))
        return false;
    if (!record_ready(r, d))
        return false;
    if (!early && !is(r, RING_COMM_DOES_NOT_WAIT) &&
        !ring_cuda(r, cudaStreamWaitEvent(d->comm, d->ready, 0)))
        return false;
    if (!is(r, RING_OVERWRITES_WHAT_A_PEER_READS) &&
        !ring_cuda(r, cudaStreamWaitEvent(d->comm, after->moved, 0)))
        return false;
    return ring_cuda(
               r, cudaMemcpyAsync(d->stage, d->y, RING_BYTES, cudaMemcpyDeviceToDevice, d->comm)) &&
           ring_cuda(r, cudaEventRecord(d->staged, d->comm));
}

static bool fetch(struct ring *r, struct ring_device *d)
{
    const struct ring_device *from = ring_before(r, d);
    const bool swapped = is(r, RING_PEER_NUMBERS_SWAPPED);
    if (!is(r, RING_NO_WAIT_BEFORE_PEER_COPY) &&
        !ring_cuda(r, cudaStreamWaitEvent(d->comm, from->staged, 0)))
        return false;
    return ring_cuda(r,
                     cudaMemcpyPeerAsync(d->fetched, swapped ? from->index : d->index, from->stage,
                                         swapped ? d->index : from->index, RING_BYTES, d->comm)) &&
           ring_cuda(r, cudaEventRecord(d->moved, d->comm));
}

/* sum = y + fetched; w -= rate sum */
static bool update(struct ring *r, struct ring_device *d)
{
    struct dp_reduce_args add = {.dtype = DP_F32, .n_src = 2, .n = RING_COUNT, .dst = d->sum};
    add.src[0] = d->y;
    add.src[1] = is(r, RING_HOST_POINTER_IN_KERNEL) ? r->weights : d->fetched;
    const struct dp_fill rate = {d->rate, RING_RATE, 1};
    const struct dp_sgd_args sgd = {
        .value = d->w, .grad = d->sum, .lr = d->rate, .first = true, .n = RING_COUNT};
    const int current = is(r, RING_WRONG_DEVICE_AT_LAUNCH) ? 0 : d->index;
    if (!is(r, RING_COMPUTE_DOES_NOT_WAIT) &&
        !ring_cuda(r, cudaStreamWaitEvent(d->compute, d->moved, 0)))
        return false;
    return ring_cuda(r, cudaSetDevice(current)) &&
           ring_cuda(r, (cudaError_t)dp_cuda_launch_reduce(&add, d->compute)) &&
           ring_cuda(r, (cudaError_t)dp_cuda_launch_fill(&rate, d->compute)) &&
           ring_cuda(r, (cudaError_t)dp_cuda_launch_sgd(&sgd, d->compute)) &&
           ring_cuda(r, cudaEventRecord(d->updated, d->compute));
}

static bool ring_run_step(struct ring *r, int number)
{
    bool well = true;
    for (int i = 0; i < RING_DEVICES && well; ++i) {
        struct ring_device *d = &r->device[i];
        well = ring_cuda(r, cudaSetDevice(i)) && ring_run_load(r, d, number) && compute(r, d) &&
               stage(r, d);
    }
    for (int i = 0; i < RING_DEVICES && well; ++i)
        well = ring_cuda(r, cudaSetDevice(i)) && fetch(r, &r->device[i]);
    for (int i = 0; i < RING_DEVICES && well; ++i)
        well = update(r, &r->device[i]);
    return well;
}

/* total = w + w of the neighbour, which is read in the neighbour's memory. */
static bool ring_run_total(struct ring *r, struct ring_device *d)
{
    const struct ring_device *from = ring_before(r, d);
    struct dp_reduce_args add = {.dtype = DP_F32, .n_src = 2, .n = RING_COUNT, .dst = d->total};
    add.src[0] = d->w;
    add.src[1] = from->w;
    if (!is(r, RING_NO_WAIT_BEFORE_PEER_READ) &&
        !ring_cuda(r, cudaStreamWaitEvent(d->compute, from->updated, 0)))
        return false;
    if (is(r, RING_DEFAULT_STREAM) && !ring_cuda(r, cudaMemsetAsync(d->total, 0, RING_BYTES, NULL)))
        return false;
    return ring_cuda(r, cudaSetDevice(d->index)) &&
           ring_cuda(r, (cudaError_t)dp_cuda_launch_reduce(&add, d->compute)) &&
           ring_cuda(r, cudaMemcpyAsync(d->pin_out, d->total, RING_BYTES, cudaMemcpyDeviceToHost,
                                        d->compute));
}

static bool early_release(struct ring *r, struct ring_device *d)
{
    float *freed = d->total;
    bool well = true;
    if (is(r, RING_FREES_IN_WRONG_ORDER) || is(r, RING_USE_AFTER_FREE) || is(r, RING_FREED_TWICE)) {
        cudaStream_t waited = is(r, RING_FREES_IN_WRONG_ORDER) ? d->comm : d->compute;
        d->total = NULL;
        well = ring_cuda(r, cudaStreamSynchronize(waited)) && ring_cuda(r, cudaFree(freed));
    }
    if (is(r, RING_USE_AFTER_FREE))
        well = well && ring_cuda(r, cudaMemsetAsync(freed, 0, RING_BYTES, d->compute));
    if (is(r, RING_FREED_TWICE))
        well = well && ring_cuda(r, cudaFree(freed));
    if (is(r, RING_FREES_PINNED_TOO_EARLY)) {
        well = well && ring_cuda(r, cudaFreeHost(d->pin_out));
        d->pin_out = NULL;
    }
    return well;
}

static bool results(struct ring *r)
{
    bool well = true;
    for (int i = 0; i < RING_DEVICES && well; ++i)
        well = ring_run_total(r, &r->device[i]);
    for (int i = 0; i < RING_DEVICES && well; ++i) {
        struct ring_device *d = &r->device[i];
        well = early_release(r, d);
        if (is(r, RING_HOST_READS_DEVICE))
            r->result[i][0] = d->w[0];
        if (is(r, RING_NEVER_WAITS) || !d->pin_out)
            continue;
        if (!is(r, RING_HOST_READS_TOO_EARLY))
            well = well && ring_cuda(r, cudaStreamSynchronize(d->compute));
        if (well)
            memcpy(r->result[i], d->pin_out, RING_BYTES);
    }
    return well;
}

int ring_run(enum ring_bug bug)
{
    struct ring r = {.bug = bug};
    ring_weights(r.weights);
    bool well = ring_open(&r);
    for (int number = 0; number < RING_STEPS && well; ++number)
        well = ring_run_step(&r, number);
    well = well && results(&r);
    ring_close(&r);
    int result = r.failed || !well ? RING_ERROR : RING_RIGHT;
    const bool none = bug == RING_NEVER_WAITS || bug == RING_FREES_PINNED_TOO_EARLY;
    if (result == RING_RIGHT && !none && !ring_is_right(&r))
        result |= RING_WRONG;
    return result;
}
