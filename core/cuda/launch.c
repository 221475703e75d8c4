/* launch.c: launches one operation of the seam on a stream: our kernels, copies, zeros; and says
 * what failed. */
#include "launch.h"

#include "cuda.h"

int dp_cuda_fail(const struct dp_slot *slot, const char *call, cudaError_t error,
                 struct dp_error *err)
{
    cudaGetLastError(); /* clears the error, which the runtime keeps for later calls */
    return dp_fail(err, error == cudaErrorMemoryAllocation ? DP_ENOMEM : DP_EFAULT,
                   "%s: %s: %s (%s)", slot->info.name, call, cudaGetErrorString(error),
                   cudaGetErrorName(error));
}

int dp_cuda_enter(const struct dp_slot *slot, struct dp_error *err)
{
    const struct dp_cuda_slot *s = slot->native;
    const cudaError_t error = cudaSetDevice(s->device);
    return error ? dp_cuda_fail(slot, "cudaSetDevice", error, err) : 0;
}

/* With unified addressing the runtime knows the direction from the pointers. */
int dp_cuda_launch_copy(const void *args, struct CUstream_st *stream)
{
    const struct dp_copy *g = args;
    if (g->width == 0 || g->height == 0)
        return cudaSuccess;
    if (g->height == 1 || (g->width == g->dst_pitch && g->width == g->src_pitch))
        return (int)cudaMemcpyAsync(g->dst, g->src, g->width * g->height, cudaMemcpyDefault,
                                    stream);
    return (int)cudaMemcpy2DAsync(g->dst, g->dst_pitch, g->src, g->src_pitch, g->width, g->height,
                                  cudaMemcpyDefault, stream);
}

int dp_cuda_launch_peer_copy(const void *args, struct CUstream_st *stream)
{
    const struct dp_peer_copy *g = args;
    const struct dp_copy *c = &g->copy;
    if (c->width == 0 || c->height == 0)
        return cudaSuccess;
    if (c->height == 1 || (c->width == c->dst_pitch && c->width == c->src_pitch))
        return (int)cudaMemcpyPeerAsync(c->dst, g->to, c->src, g->from, c->width * c->height,
                                        stream);
    union {
        const void *in;
        void *out;
    } src = {c->src}; /* the struct of the runtime has no const pointer */
    const struct cudaMemcpy3DPeerParms rows = {
        .srcPtr = {src.out, c->src_pitch, c->width, c->height},
        .srcDevice = g->from,
        .dstPtr = {c->dst, c->dst_pitch, c->width, c->height},
        .dstDevice = g->to,
        .extent = {c->width, c->height, 1}};
    return (int)cudaMemcpy3DPeerAsync(&rows, stream);
}

int dp_cuda_launch_zero(const void *args, struct CUstream_st *stream)
{
    const struct dp_zero *g = args;
    return g->bytes == 0 ? cudaSuccess : (int)cudaMemsetAsync(g->dst, 0, g->bytes, stream);
}

#define WORDS(number, name, cpu, gpu, words, arguments) [DP_KERNEL_##number] = (words),
static const char *const what[DP_KERNELS] = {DP_KERNEL_LIST(WORDS)};

int dp_cuda_loss(struct dp_queue *queue, const void *args, struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    const struct dp_cuda_slot *s = queue->slot->native;
    const int error = dp_cuda_launch_loss(args, s->parts, q->stream);
    return error ? dp_cuda_fail(queue->slot, what[DP_KERNEL_LOSS], (cudaError_t)error, err) : 0;
}

/* One of the two, or none. */
struct launcher {
    dp_cuda_launcher *stream;
    dp_cuda_issuer *queue;
};

#define STREAM(name) .stream = dp_cuda_launch_##name
#define QUEUE(name)  .queue = dp_cuda_##name
#define NONE(name)   NULL, NULL

#define LAUNCHER(number, name, cpu, gpu, words, arguments) [DP_KERNEL_##number] = {gpu(name)},
static const struct launcher launchers[DP_KERNELS] = {DP_KERNEL_LIST(LAUNCHER)};

int dp_cuda_issue(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                  struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    const bool known = (unsigned)kernel < DP_KERNELS;
    if (known && launchers[kernel].stream) {
        const int error = launchers[kernel].stream(args, q->stream);
        return error ? dp_cuda_fail(queue->slot, what[kernel], (cudaError_t)error, err) : 0;
    }
    if (known && launchers[kernel].queue)
        return launchers[kernel].queue(queue, args, err);
    return dp_fail(err, DP_ENOTSUP, "%s: kernel %d does not run on GPUs in this version",
                   queue->slot->info.name, (int)kernel);
}
