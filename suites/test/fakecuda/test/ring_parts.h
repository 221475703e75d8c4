/* ring_parts.h: the state of the ring, its beginning and its end, and what should come out. */
#ifndef LOCKSTEP_FAKECUDA_RING_PARTS_H
#define LOCKSTEP_FAKECUDA_RING_PARTS_H

#include "ring.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#define RING_STEPS 3
#define RING_SIDE  12
#define RING_COUNT ((size_t)RING_SIDE * RING_SIDE)
#define RING_BYTES (RING_COUNT * sizeof(float))
#define RING_RATE  0.0078125f

struct ring_device {
    int index;
    cudaStream_t compute, comm;
    cudaEvent_t ready, staged, moved, updated, loaded[2];
    cublasHandle_t blas, other_blas;
    cudaGraphExec_t relu;
    float *w, *x, *y, *stage, *fetched, *sum, *total, *spare, *rate, *pin_in, *pin_out;
    void *workspace;
};

struct ring {
    enum ring_bug bug;
    bool failed;
    struct ring_device device[RING_DEVICES];
    float weights[RING_COUNT];
    float result[RING_DEVICES][RING_COUNT];
};

/* Makes a call of CUDA or cuBLAS, unless one has failed before; CLOSE makes it anyway. */
#define CALL(r, call)  ((r)->failed = (r)->failed || (call) != 0)
#define CLOSE(r, call) ((r)->failed = (call) != 0 || (r)->failed)

struct ring_device *ring_before(struct ring *r, const struct ring_device *d);
struct ring_device *ring_after(struct ring *r, const struct ring_device *d);

void ring_open(struct ring *r);
void ring_close(struct ring *r);

void ring_weights(float *w);
void ring_input(float *x, int step, int device);
/* Bit for bit, computed by the host alone. */
bool ring_is_right(const struct ring *r);

#endif
