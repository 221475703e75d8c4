/* cuda.h: what the files of core/cuda share. Only they see CUDA's headers. */
#ifndef DP_CUDA_H
#define DP_CUDA_H

#include "../backend.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

/* Events of a queue that can be told apart. An older one is taken for the newest that has its
 * place: that waits for more than was asked, never for less. */
#define DP_CUDA_EVENTS 64

struct dp_cuda_queue {
    cudaStream_t stream;
    cudaEvent_t event[DP_CUDA_EVENTS];
    uint64_t recorded;
    cudaError_t failed; /* of a record, which cannot say so: the next wait or sync does */
};

struct dp_cuda_slot {
    int device;
    struct dp_cuda_queue compute, comm;
    cublasHandle_t blas; /* on the compute stream */
    void *workspace;
};

/* Fails with "SLOT: CALL: the runtime's words (name)"; DP_ENOMEM when memory was short. */
int dp_cuda_fail(const struct dp_slot *slot, const char *call, cudaError_t error,
                 struct dp_error *err);
/* The kernel on the queue's stream; the thread's device is the slot's. */
int dp_cuda_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                   struct dp_error *err);

#endif
