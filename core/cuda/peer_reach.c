/* peer_reach.c: which GPU can use the memory of which other one. */
#include "cuda.h"

static struct dp_cuda_slot *native(const struct dp_slot *slot)
{
    return slot->native;
}

bool dp_cuda_reaches(const struct dp_slot *from, const struct dp_slot *to)
{
    return from == to || (native(from)->reach >> to->info.index & 1) != 0;
}

/* It may be enabled already, by another group or for another slot. */
int dp_cuda_connect(struct dp_slot *from, const struct dp_slot *to, struct dp_error *err)
{
    const int a = native(from)->device, b = native(to)->device;
    const uint64_t bit = (uint64_t)1 << to->info.index;
    int can = a == b;
    cudaError_t error = can ? cudaSuccess : cudaDeviceCanAccessPeer(&can, a, b);
    if (error)
        return dp_cuda_fail(from, "cudaDeviceCanAccessPeer", error, err);
    if (!can)
        return 0;
    if (a != b) {
        const int status = dp_cuda_enter(from, err);
        if (status)
            return status;
        error = cudaDeviceEnablePeerAccess(b, 0);
    }
    /* The driver says that two GPUs could, but refuses, because the number of peers is limited. */
    const bool refused = error == cudaErrorTooManyPeers || error == cudaErrorPeerAccessUnsupported;
    if (error && !refused && error != cudaErrorPeerAccessAlreadyEnabled)
        return dp_cuda_fail(from, "cudaDeviceEnablePeerAccess", error, err);
    if (error)
        cudaGetLastError();
    native(from)->reach |= refused ? 0 : bit;
    return 0;
}
