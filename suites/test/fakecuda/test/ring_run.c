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
static void ring_run_load(struct ring *r, struct ring_device *d, int step)
{
    float *pinned = d->pin_in + (size_t)(step % 2) * RING_COUNT;
    if (!is(r, RING_HOST_WRITES_TOO_EARLY))
        CALL(r, cudaEventSynchronize(d->loaded[step % 2]));
    if (r->failed)
        return;
    ring_input(pinned, step, d->index);
    if (is(r, RING_HOST_OVERRUN))
        d->pin_in[2 * RING_COUNT] = 1.0f;
    const size_t bytes = RING_BYTES + (is(r, RING_COPY_TOO_LONG) ? sizeof(float) : 0);
    const bool reversed = is(r, RING_COPY_KIND_REVERSED);
    CALL(r,
         cudaMemcpyAsync(d->x, pinned, bytes,
                         reversed ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, d->compute));
    CALL(r, cudaEventRecord(d->loaded[step % 2], d->compute));
}

/* y = relu(w x); the second part is a graph. */
static void compute(struct ring *r, struct ring_device *d)
{
    const float one = 1.0f, zero = 0.0f;
    const float *x = is(r, RING_HOST_POINTER_IN_GEMM) ? r->weights : d->x;
    if (is(r, RING_EVENT_TOO_EARLY))
        CALL(r, cudaEventRecord(d->ready, d->compute));
    if (is(r, RING_WRONG_DEVICE_AT_GEMM))
        CALL(r, cudaSetDevice(r->device[0].index));
    CALL(r, cublasSgemm(d->blas, CUBLAS_OP_N, CUBLAS_OP_N, RING_SIDE, RING_SIDE, RING_SIDE, &one,
                        d->w, RING_SIDE, x, RING_SIDE, &zero, d->y, RING_SIDE));
    CALL(r, cudaSetDevice(d->index));
    CALL(r, cudaGraphLaunch(d->relu, d->compute));
}

/* stage = y, from where the neighbour fetches it. The neighbour must have fetched the last one. */
static void stage(struct ring *r, struct ring_device *d)
{
    const bool early = is(r, RING_WAIT_BEFORE_RECORD);
    cudaStream_t stream = is(r, RING_EVENT_ON_WRONG_STREAM) ? d->comm : d->compute;
    if (early)
        CALL(r, cudaStreamWaitEvent(d->comm, d->ready, 0));
    if (is(r, RING_EVENT_OF_OTHER_DEVICE))
        CALL(r, cudaEventRecord(ring_before(r, d)->ready, stream));
    else if (!is(r, RING_EVENT_TOO_EARLY))
        CALL(r, cudaEventRecord(d->ready, stream));
    if (!early && !is(r, RING_COMM_DOES_NOT_WAIT))
        CALL(r, cudaStreamWaitEvent(d->comm, d->ready, 0));
    if (!is(r, RING_OVERWRITES_WHAT_A_PEER_READS))
        CALL(r, cudaStreamWaitEvent(d->comm, ring_after(r, d)->moved, 0));
    CALL(r, cudaMemcpyAsync(d->stage, d->y, RING_BYTES, cudaMemcpyDeviceToDevice, d->comm));
    CALL(r, cudaEventRecord(d->staged, d->comm));
}

static void fetch(struct ring *r, struct ring_device *d)
{
    const struct ring_device *from = ring_before(r, d);
    const bool swapped = is(r, RING_PEER_NUMBERS_SWAPPED);
    if (!is(r, RING_NO_WAIT_BEFORE_PEER_COPY))
        CALL(r, cudaStreamWaitEvent(d->comm, from->staged, 0));
    CALL(r, cudaMemcpyPeerAsync(d->fetched, swapped ? from->index : d->index, from->stage,
                                swapped ? d->index : from->index, RING_BYTES, d->comm));
    CALL(r, cudaEventRecord(d->moved, d->comm));
}

/* sum = y + fetched; w -= rate sum */
static void update(struct ring *r, struct ring_device *d)
{
    struct dp_reduce_args add = {.dtype = DP_F32, .n_src = 2, .n = RING_COUNT, .dst = d->sum};
    add.src[0] = d->y;
    add.src[1] = is(r, RING_HOST_POINTER_IN_KERNEL) ? r->weights : d->fetched;
    const struct dp_fill rate = {d->rate, RING_RATE, 1};
    const struct dp_sgd_args sgd = {
        .value = d->w, .grad = d->sum, .lr = d->rate, .first = true, .n = RING_COUNT};
    if (!is(r, RING_COMPUTE_DOES_NOT_WAIT))
        CALL(r, cudaStreamWaitEvent(d->compute, d->moved, 0));
    CALL(r, cudaSetDevice(is(r, RING_WRONG_DEVICE_AT_LAUNCH) ? 0 : d->index));
    CALL(r, dp_cuda_launch_reduce(&add, d->compute));
    CALL(r, dp_cuda_launch_fill(&rate, d->compute));
    CALL(r, dp_cuda_launch_sgd(&sgd, d->compute));
    CALL(r, cudaEventRecord(d->updated, d->compute));
}

static void ring_run_step(struct ring *r, int number)
{
    for (int i = 0; i < RING_DEVICES; ++i) {
        struct ring_device *d = &r->device[i];
        CALL(r, cudaSetDevice(i));
        ring_run_load(r, d, number);
        compute(r, d);
        stage(r, d);
    }
    for (int i = 0; i < RING_DEVICES; ++i) {
        CALL(r, cudaSetDevice(i));
        fetch(r, &r->device[i]);
    }
    for (int i = 0; i < RING_DEVICES; ++i)
        update(r, &r->device[i]);
}

/* total = w + w of the neighbour, which is read in the neighbour's memory. */
static void ring_run_total(struct ring *r, struct ring_device *d)
{
    const struct ring_device *from = ring_before(r, d);
    struct dp_reduce_args add = {.dtype = DP_F32, .n_src = 2, .n = RING_COUNT, .dst = d->total};
    add.src[0] = d->w;
    add.src[1] = from->w;
    if (!is(r, RING_NO_WAIT_BEFORE_PEER_READ))
        CALL(r, cudaStreamWaitEvent(d->compute, from->updated, 0));
    if (is(r, RING_DEFAULT_STREAM))
        CALL(r, cudaMemsetAsync(d->total, 0, RING_BYTES, NULL));
    CALL(r, cudaSetDevice(d->index));
    CALL(r, dp_cuda_launch_reduce(&add, d->compute));
    CALL(r, cudaMemcpyAsync(d->pin_out, d->total, RING_BYTES, cudaMemcpyDeviceToHost, d->compute));
}

static void early_release(struct ring *r, struct ring_device *d)
{
    float *freed = d->total;
    if (is(r, RING_FREES_IN_WRONG_ORDER) || is(r, RING_USE_AFTER_FREE) || is(r, RING_FREED_TWICE)) {
        d->total = NULL;
        CALL(r, cudaStreamSynchronize(is(r, RING_FREES_IN_WRONG_ORDER) ? d->comm : d->compute));
        CALL(r, cudaFree(freed));
    }
    if (is(r, RING_USE_AFTER_FREE))
        CALL(r, cudaMemsetAsync(freed, 0, RING_BYTES, d->compute));
    if (is(r, RING_FREED_TWICE))
        CALL(r, cudaFree(freed));
    if (is(r, RING_FREES_PINNED_TOO_EARLY)) {
        CALL(r, cudaFreeHost(d->pin_out));
        d->pin_out = NULL;
    }
}

static void results(struct ring *r)
{
    for (int i = 0; i < RING_DEVICES; ++i)
        ring_run_total(r, &r->device[i]);
    for (int i = 0; i < RING_DEVICES && !r->failed; ++i) {
        struct ring_device *d = &r->device[i];
        early_release(r, d);
        if (is(r, RING_HOST_READS_DEVICE))
            r->result[i][0] = d->w[0];
        if (is(r, RING_NEVER_WAITS) || !d->pin_out)
            continue;
        if (!is(r, RING_HOST_READS_TOO_EARLY))
            CALL(r, cudaStreamSynchronize(d->compute));
        if (!r->failed)
            memcpy(r->result[i], d->pin_out, RING_BYTES);
    }
}

int ring_run(enum ring_bug bug)
{
    struct ring r = {.bug = bug};
    ring_weights(r.weights);
    ring_open(&r);
    for (int number = 0; number < RING_STEPS; ++number)
        ring_run_step(&r, number);
    results(&r);
    ring_close(&r);
    int result = r.failed ? RING_ERROR : RING_RIGHT;
    const bool none = bug == RING_NEVER_WAITS || bug == RING_FREES_PINNED_TOO_EARLY;
    if (result == RING_RIGHT && !none && !ring_is_right(&r))
        result |= RING_WRONG;
    return result;
}
