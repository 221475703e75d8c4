/* cuda.h: shared by the files of core/cuda, which alone see the headers of CUDA. */
#ifndef DP_CUDA_H
#define DP_CUDA_H

#include "../backend.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

/* The events of a queue that can be distinguished, unless more are requested. An older event is
 * replaced by the newest one in its place: a wait for it may last longer than necessary, but never
 * ends early. */
#define DP_CUDA_EVENTS 8

struct dp_cuda_queue {
    cudaStream_t stream;
    cudaEvent_t *event;
    uint64_t events;
    uint64_t recorded;
    cudaError_t failed; /* of a record, which returns nothing: the next wait or sync reports it */
};

struct dp_cuda_timer;  /* timer.c */
struct dp_cuda_graphs; /* graph.h */

/* The functions of cuBLAS. */
struct dp_cuda_blas {
    cublasStatus_t (*create)(cublasHandle_t *);
    cublasStatus_t (*destroy)(cublasHandle_t);
    cublasStatus_t (*version)(cublasHandle_t, int *);
    const char *(*status_text)(cublasStatus_t);
    cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
    cublasStatus_t (*set_workspace)(cublasHandle_t, void *, size_t);
    cublasStatus_t (*set_math_mode)(cublasHandle_t, cublasMath_t);
    cublasStatus_t (*sgemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                            const float *, const float *, int, const float *, int, const float *,
                            float *, int);
    cublasStatus_t (*sgemm_batch)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const float *, const float *, int, long long, const float *,
                                  int, long long, const float *, float *, int, long long, int);
    cublasStatus_t (*gemm_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void *, const void *, cudaDataType, int, const void *,
                              cudaDataType, int, const void *, void *, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);
};
/* blas_load.c */
int dp_cuda_blas_load(struct dp_cuda_blas *blas, struct dp_error *err);

struct dp_cuda_slot {
    int device;
    struct dp_cuda_queue compute, comm;
    struct dp_cuda_blas call; /* loaded with the first matrix product */
    cublasHandle_t blas;      /* on the compute stream */
    void *workspace;
    double *parts; /* for a loss; see launch.h */
    bool blas_ready;
    struct dp_cuda_graphs *graphs; /* of the compute queue; NULL: no graphs are made */
    uint64_t reach;                /* bit i: kernels here can use the memory of slot i */
    char *stage;                   /* for summands out of reach; NULL until there are any */
    struct dp_cuda_timer *timer;   /* NULL: it was never traced */
    /* Called before the host waits for a queue that may have work that never ends. It waits as long
     * as there is hope. NULL: there is no such work. */
    int (*watch)(struct dp_queue *queue, struct dp_error *err);
};

extern const struct dp_timer_ops dp_cuda_timing; /* timer.c */

/* ranges.c: tells a profiler of the issuing of a phase, by NVTX. Without NVTX in the toolkit,
 * ranges_absent.c does nothing. Different threads may call begin and end. */
uint64_t dp_cuda_range_begin(enum dp_phase phase);
void dp_cuda_range_end(uint64_t range);

/* Fails with "SLOT: CALL: the runtime's words (name)"; DP_ENOMEM if memory was short. */
int dp_cuda_fail(const struct dp_slot *slot, const char *call, cudaError_t error,
                 struct dp_error *err);
/* Makes the slot's GPU the current device of the thread. */
int dp_cuda_enter(const struct dp_slot *slot, struct dp_error *err);
/* graph.c: launches the kernel on the queue's stream: at once, or while the queue is on hold,
 * together with others. */
int dp_cuda_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                   struct dp_error *err);
int dp_cuda_launch_ahead(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                         struct dp_error *err);
void dp_cuda_hold(struct dp_queue *queue, bool on);
/* Issues what the calling thread holds back. A failure is also kept for dp_cuda_flush_all, which
 * ends every hold, because some callers cannot report it. */
int dp_cuda_flush(struct dp_queue *queue, struct dp_error *err);
int dp_cuda_flush_all(struct dp_queue *queue, struct dp_error *err);
/* launch.c: launches at once, on the current device of the thread. */
int dp_cuda_issue(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                  struct dp_error *err);
/* The kernels that need more than a stream: dp_cuda_name. */
typedef int dp_cuda_issuer(struct dp_queue *queue, const void *args, struct dp_error *err);
dp_cuda_issuer dp_cuda_gemm, dp_cuda_gemm_bf16, dp_cuda_gemm_heads; /* gemm.c */
dp_cuda_issuer dp_cuda_loss;                                        /* launch.c */
/* timer.c: the slot must be idle. */
void dp_cuda_timer_close(struct dp_cuda_slot *s);
/* call.c */
int dp_cuda_call(struct dp_queue *queue, const struct dp_host_call *call, struct dp_error *err);

/* ---- the communicator peer --------------------------------------------------------------- */

/* peer_reach.c. True if kernels of a slot can use the memory of another. */
bool dp_cuda_reaches(const struct dp_slot *from, const struct dp_slot *to);
/* Enables that access if the driver allows it; called once for each pair of slots. */
int dp_cuda_connect(struct dp_slot *from, const struct dp_slot *to, struct dp_error *err);

/* Memory of the slot for summands of a sum there. An eighth of it is 2 MiB, which is enough for the
 * full rate of a bus. It belongs to the comm queue, and is kept. */
#define DP_CUDA_STAGE_BYTES ((size_t)16 << 20)
int dp_cuda_stage(struct dp_slot *slot, void **stage, struct dp_error *err);

/* peer_relay.c. A transfer in the comm queue of the worker. */
int dp_cuda_carry(struct dp_slot *worker, const struct dp_move *move, struct dp_error *err);
/* True if the moves bring the same bytes of one slot to others, and so many bytes
 * that these should forward them to each other. */
bool dp_cuda_should_relay(const struct dp_team *team, const struct dp_moves moves[]);
/* Ordered as a move; the slots that it uses have recorded ready. */
int dp_cuda_relay(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                  struct dp_error *err);

#endif
