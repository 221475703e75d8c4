/* blas_load.c: the fake's cuBLAS in the place of the one that core/cuda/blas_load.c loads. */
#include "../../../core/cuda/cuda.h"

int dp_cuda_blas_load(struct dp_cuda_blas *blas, struct dp_error *err)
{
    (void)err;
    *blas = (struct dp_cuda_blas){.create = cublasCreate,
                                  .destroy = cublasDestroy,
                                  .version = cublasGetVersion,
                                  .status_text = cublasGetStatusString,
                                  .set_stream = cublasSetStream,
                                  .set_workspace = cublasSetWorkspace,
                                  .set_math_mode = cublasSetMathMode,
                                  .sgemm = cublasSgemm,
                                  .sgemm_batch = cublasSgemmStridedBatched,
                                  .gemm_ex = cublasGemmEx};
    return 0;
}
