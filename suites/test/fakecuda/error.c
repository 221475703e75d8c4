/* error.c: the errors of this thread, and their names. They are no calls that can fail. */
#include "fake.h"

#include <string.h>

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = fake_me.last;
    fake_me.last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return fake_me.last;
}

struct meaning {
    cudaError_t error;
    const char *name, *text;
};
#define MEANING(error, text)                                                                       \
    {                                                                                              \
        error, #error, text                                                                        \
    }
static const struct meaning meanings[] = {
    MEANING(cudaSuccess, "no error"),
    MEANING(cudaErrorInvalidValue, "invalid argument"),
    MEANING(cudaErrorMemoryAllocation, "out of memory"),
    MEANING(cudaErrorInitializationError, "initialization error"),
    MEANING(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    MEANING(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    MEANING(cudaErrorSystemNotReady, "system not yet initialized"),
    MEANING(cudaErrorSystemDriverMismatch,
            "system has unsupported display driver / cuda driver combination"),
    MEANING(cudaErrorNoKernelImageForDevice,
            "no kernel image is available for execution on the device"),
    MEANING(cudaErrorInvalidDeviceFunction, "invalid device function"),
    MEANING(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    MEANING(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    MEANING(cudaErrorInsufficientDriver,
            "CUDA driver version is insufficient for CUDA runtime version"),
    MEANING(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    MEANING(cudaErrorInvalidDevice, "invalid device ordinal"),
    MEANING(cudaErrorPeerAccessUnsupported,
            "peer access is not supported between these two devices"),
    MEANING(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    MEANING(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    MEANING(cudaErrorNotReady, "device not ready"),
    MEANING(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    MEANING(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    MEANING(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    MEANING(cudaErrorLaunchFailure, "unspecified launch failure"),
    MEANING(cudaErrorNotPermitted, "operation not permitted"),
    MEANING(cudaErrorNotSupported, "operation not supported"),
    MEANING(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    MEANING(cudaErrorStreamCaptureInvalidated,
            "operation failed due to a previous error during capture"),
    MEANING(cudaErrorStreamCaptureMerge,
            "operation would result in a merge of separate capture sequences"),
    MEANING(cudaErrorStreamCaptureUnmatched,
            "capture was not ended in the same stream as it began"),
    MEANING(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    MEANING(cudaErrorStreamCaptureIsolation,
            "dependency created on uncaptured work in another stream"),
    MEANING(cudaErrorCapturedEvent,
            "operation not permitted on an event last recorded in a capturing stream"),
    MEANING(cudaErrorStreamCaptureWrongThread,
            "attempt to terminate a thread-local capture sequence from another thread"),
    MEANING(cudaErrorUnknown, "unknown error"),
};
#undef MEANING

static const struct meaning *meaning_of(cudaError_t error)
{
    static const struct meaning none = {cudaErrorUnknown, "unrecognized error code",
                                        "unrecognized error code"};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; ++i)
        if (meanings[i].error == error)
            return &meanings[i];
    return &none;
}

bool fake_error_named(const char *name, cudaError_t *error)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; ++i) {
        *error = meanings[i].error;
        if (strcmp(meanings[i].name, name) == 0)
            return true;
    }
    return false;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return meaning_of(error)->name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return meaning_of(error)->text;
}
