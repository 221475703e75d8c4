/* blas_load.c: cuBLAS, when it is needed: most processes multiply nothing on a GPU, and the library
 * is so large that being linked with it takes a tenth of a second at the start of each. */
#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define TEXT(word)  #word
#define VALUE(word) TEXT(word) /* after the header's macros: cublasCreate is cublasCreate_v2 */

static const char LIBRARY[] = "libcublas.so." VALUE(CUBLAS_VER_MAJOR);

/* Where the toolkit was, which is seldom where the system looks. */
static const char BUILT_WITH[] = DP_CUDA_FOLDER "/libcublas.so." VALUE(CUBLAS_VER_MAJOR);

static int find(void *library, const char *name, void *function, struct dp_error *err)
{
    void *const symbol = dlsym(library, name);
    if (!symbol)
        return dp_fail(err, DP_EFAULT, "%s has no %s", LIBRARY, name);
    memcpy(function, &symbol, sizeof symbol);
    return 0;
}

/* It stays loaded: what it keeps on GPUs must not outlive its code. */
int dp_cuda_blas_load(struct dp_cuda_blas *blas, struct dp_error *err)
{
    const int how = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    void *library = dlopen(LIBRARY, how);
    if (!library) {
        char why[200];
        const char *text = dlerror();
        snprintf(why, sizeof why, "%.190s", text ? text : LIBRARY);
        library = dlopen(BUILT_WITH, how);
        if (!library)
            return dp_fail(err, DP_EFAULT, "cuBLAS cannot be loaded: %s", why);
    }
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
        {VALUE(cublasGemmEx), &blas->gemm_ex},
    };
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof wanted / sizeof *wanted; ++i)
        status = find(library, wanted[i].name, wanted[i].function, err);
    dlclose(library);
    return status;
}
