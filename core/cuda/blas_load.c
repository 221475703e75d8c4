/* blas_load.c: loads cuBLAS when it is needed; most processes multiply nothing on a GPU. */
#include "cuda.h"

#include "load.h"

#define TEXT(word)  #word
#define VALUE(word) TEXT(word) /* expands cublasCreate to cublasCreate_v2, as the header does */

#define LIBRARY "libcublas.so." VALUE(CUBLAS_VER_MAJOR)

int dp_cuda_blas_load(struct dp_cuda_blas *blas, struct dp_error *err)
{
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        {VALUE(cublasCreate), &blas->create},
        {VALUE(cublasDestroy), &blas->destroy},
        {VALUE(cublasGetVersion), &blas->version},
        {VALUE(cublasGetStatusString), &blas->status_text},
        {VALUE(cublasSetStream), &blas->set_stream},
        {VALUE(cublasSetWorkspace), &blas->set_workspace},
        {VALUE(cublasSetMathMode), &blas->set_math_mode},
        {VALUE(cublasSgemm), &blas->sgemm},
        {VALUE(cublasSgemmStridedBatched), &blas->sgemm_batch},
        {VALUE(cublasGemmEx), &blas->gemm_ex},
    };
    struct dp_library library = {"cuBLAS", LIBRARY, DP_CUDA_FOLDER "/" LIBRARY, DP_EFAULT, NULL};
    int status = dp_library_open(&library, err);
    for (size_t i = 0; status == 0 && i < sizeof wanted / sizeof *wanted; ++i)
        status = dp_library_find(&library, wanted[i].name, wanted[i].function, err);
    dp_library_close(&library);
    return status;
}
