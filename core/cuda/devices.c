/* devices.c: finds GPUs, and parses lists of them. */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dp_cuda_software(char *text, size_t bytes)
{
    struct dp_cuda_blas call;
    int driver = 0, runtime = 0, blas = 0;
    char version[16] = "none";
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (dp_cuda_blas_load(&call, NULL) == 0)
        call.version(NULL, &blas);
    cudaGetLastError();
    if (driver > 0)
        snprintf(version, sizeof version, "%d.%d", driver / 1000 % 1000, driver % 1000 / 10);
    snprintf(text, bytes, "driver %s, runtime %d.%d, cuBLAS %d.%d.%d", version, runtime / 1000,
             runtime % 1000 / 10, blas / 10000, blas % 10000 / 100, blas % 100);
}

/* A missing driver or GPU is a fact about the machine. Together with the case of absent.c these are
 * the only reasons for a skip; anything else is a failure. */
static int gpus_explain(cudaError_t error, char *text, size_t bytes)
{
    char software[96];
    int driver = 0;
    cudaGetLastError();
    cudaDriverGetVersion(&driver);
    dp_cuda_software(software, sizeof software);
    const bool none = error == cudaErrorNoDevice;
    const bool no_driver = error == cudaErrorInsufficientDriver && driver == 0;
    snprintf(text, bytes, "%s: cudaGetDeviceCount: %s (%s); %s",
             none                                   ? "no GPU"
             : no_driver                            ? "no driver"
             : error == cudaErrorInsufficientDriver ? "the driver is too old"
                                                    : "the driver does not work",
             no_driver ? "no NVIDIA driver is installed" : cudaGetErrorString(error),
             cudaGetErrorName(error), software);
    return none || no_driver ? DP_ENODEV : DP_EFAULT;
}

static int count_gpus(int *there, char *text, size_t bytes)
{
    cudaError_t error = cudaGetDeviceCount(there);
    if (!error && *there < 1)
        error = cudaErrorNoDevice;
    return error ? gpus_explain(error, text, bytes) : 0;
}

int dp_gpus(char *text, size_t bytes)
{
    int there = 0;
    const int status = count_gpus(&there, text, bytes);
    if (status)
        return status;
    const int used = snprintf(text, bytes, "%d GPU%s; ", there, there == 1 ? "" : "s");
    if (used > 0 && (size_t)used < bytes)
        dp_cuda_software(text + used, bytes - (size_t)used);
    return there;
}

static int bad_list(const char *text, const char *at, struct dp_error *err)
{
    return dp_fail(err, DP_EINVAL,
                   "devices '%.64s': '%.64s' is not a list of GPUs, like cuda:0-3, cuda:0,0 or "
                   "cuda:all",
                   text, at);
}

/* Parses a number of at most five digits. Returns its end, or NULL. */
static const char *parse_index(const char *text, int *index)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 5)
        return NULL;
    *index = (int)strtol(text, NULL, 10);
    return text + digits;
}

/* Appends first..last. */
static int add_range(const char *text, int first, int last, int there, struct dp_device_list *list,
                     struct dp_error *err)
{
    for (int i = first; i <= last; ++i) {
        if (i >= there)
            return dp_fail(err, DP_ENODEV, "devices '%.64s': there is no GPU %d, the last is %d",
                           text, i, there - 1);
        if (list->n == DP_MAX_SLOTS)
            return dp_fail(err, DP_EINVAL, "devices '%.64s': at most %d", text, DP_MAX_SLOTS);
        list->device[list->n++] = i;
    }
    return 0;
}

static int parse_ranges(const char *text, int there, struct dp_device_list *list,
                        struct dp_error *err)
{
    const char *at = text + strlen("cuda:");
    int status = 0;
    for (bool more = true; status == 0 && more;) {
        int first, last;
        const char *end = parse_index(at, &first);
        if (!end)
            return bad_list(text, at, err);
        last = first;
        if (*end == '-')
            end = parse_index(end + 1, &last);
        if (!end || last < first || (*end != ',' && *end != '\0'))
            return bad_list(text, at, err);
        status = add_range(text, first, last, there, list, err);
        more = *end == ',';
        at = end + 1;
    }
    return status;
}

int dp_cuda_list(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    struct dp_device_list syntax = {.n = 0};
    const bool all = strcmp(text, "cuda:all") == 0;
    int there = 0;
    /* A list that no machine can have is refused with or without GPUs. */
    if (!all && parse_ranges(text, 100000, &syntax, err))
        return DP_EINVAL;
    char why[240];
    const int status = count_gpus(&there, why, sizeof why);
    if (status)
        return dp_fail(err, status, "devices '%.24s': %s", text, why);
    return all ? add_range(text, 0, there - 1, there, list, err)
               : parse_ranges(text, there, list, err);
}
