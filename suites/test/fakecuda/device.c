/* device.c: which devices there are, which is current, and which reach each other. */
#include "fake.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cudaError_t cudaGetDeviceCount(int *count)
{
    struct fake_call call = {.name = "cudaGetDeviceCount"};
    if (fake_enter(&call))
        *count = fake.config.devices;
    return fake_leave(&call);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    static const int known[] = {
        [FAKECUDA_DRIVER_GOOD] = CUDART_VERSION,
        [FAKECUDA_DRIVER_NONE] = 0,
        [FAKECUDA_DRIVER_OLD] = 11000,
        [FAKECUDA_DRIVER_BROKEN] = CUDART_VERSION,
    };
    struct fake_call call = {.name = "cudaDriverGetVersion", .rules = FAKE_NO_DRIVER};
    if (fake_enter(&call))
        *version = known[fake.config.driver];
    return fake_leave(&call);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    struct fake_call call = {.name = "cudaRuntimeGetVersion", .rules = FAKE_NO_DRIVER};
    if (fake_enter(&call))
        *version = CUDART_VERSION;
    return fake_leave(&call);
}

static bool is_device(int device)
{
    return device >= 0 && device < fake.config.devices;
}

static int bus_of(int device)
{
    return 0x10 + fake.visible[device];
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    struct fake_call call = {.name = "cudaGetDeviceProperties"};
    if (fake_enter(&call)) {
        if (is_device(device)) {
            const char *more = getenv("LOCKSTEP_FAKE_NAME"); /* after its name */

            memset(properties, 0, sizeof *properties);
            snprintf(properties->name, sizeof properties->name, "%s%s", FAKECUDA_NAME,
                     more ? more : "");
            snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "fake-gpu-%d",
                     fake.visible[device]);
            properties->major = fake.config.capability / 10;
            properties->minor = fake.config.capability % 10;
            properties->totalGlobalMem = fake.config.memory_bytes;
            properties->multiProcessorCount = 1;
            properties->warpSize = 32;
            properties->maxThreadsPerBlock = 1024;
            properties->maxThreadsPerMultiProcessor = 2048;
            properties->sharedMemPerBlock = 49152;
            properties->regsPerBlock = 65536;
            for (int i = 0; i < 3; ++i) {
                properties->maxThreadsDim[i] = i == 2 ? 64 : 1024;
                properties->maxGridSize[i] = i == 0 ? 2147483647 : 65535;
            }
            properties->pciBusID = bus_of(device);
            properties->unifiedAddressing = 1;
            properties->asyncEngineCount = 2;
            properties->concurrentKernels = 1;
            properties->canMapHostMemory = 1;
        } else
            fake_result(&call, cudaErrorInvalidDevice);
    }
    return fake_leave(&call);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct fake_call call = {.name = "cudaDeviceGetAttribute"};
    struct {
        enum cudaDeviceAttr attribute;
        int value;
    } known[] = {
        {cudaDevAttrMultiProcessorCount, 1},
        {cudaDevAttrComputeCapabilityMajor, fake.config.capability / 10},
        {cudaDevAttrComputeCapabilityMinor, fake.config.capability % 10},
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxGridDimX, 2147483647},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrAsyncEngineCount, 2},
        {cudaDevAttrClockRate, 1000000},
        {cudaDevAttrMemoryClockRate, 1000000},
        {cudaDevAttrGlobalMemoryBusWidth, 64},
        {cudaDevAttrL2CacheSize, 1 << 20},
        {cudaDevAttrComputeMode, cudaComputeModeDefault},
        {cudaDevAttrPciDomainId, 0},
        {cudaDevAttrPciDeviceId, 0},
    };
    if (fake_enter(&call)) {
        const size_t n = sizeof known / sizeof *known;
        size_t i = 0;
        while (i < n && known[i].attribute != attribute)
            ++i;
        if (!is_device(device)) {
            fake_result(&call, cudaErrorInvalidDevice);
        } else if (attribute == cudaDevAttrPciBusId) {
            *value = bus_of(device);
        } else if (i < n) {
            *value = known[i].value;
        } else {
            fake_violation("%s: attribute %d is not known here", call.name, (int)attribute);
            fake_result(&call, cudaErrorInvalidValue);
        }
    }
    return fake_leave(&call);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    struct fake_call call = {.name = "cudaDeviceGetPCIBusId"};
    if (fake_enter(&call)) {
        if (!is_device(device) || !text || bytes < 13)
            fake_result(&call, cudaErrorInvalidValue);
        else
            snprintf(text, (size_t)bytes, "0000:%02x:00.0", (unsigned)bus_of(device));
    }
    return fake_leave(&call);
}

/* Some clusters let one process at a time use a device (compute mode EXCLUSIVE_PROCESS): a process
 * keeps what it has used until it ends. Returns false if another process has it. */
static bool device_take(int device)
{
    const char *folder = getenv("LOCKSTEP_FAKE_EXCLUSIVE");
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[4096];
    if (!folder || fake.taken[device])
        return true;
    snprintf(path, sizeof path, "%s/fake-gpu-%d", folder, fake.visible[device]);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        fake_violation("LOCKSTEP_FAKE_EXCLUSIVE: cannot open %s", path);
        return false;
    }
    /* It is a lock of the process, which a child does not inherit; it ends with the process. */
    fake.taken[device] = fcntl(file, F_SETLK, &lock) == 0;
    if (!fake.taken[device])
        close(file);
    return fake.taken[device];
}

cudaError_t cudaSetDevice(int device)
{
    struct fake_call call = {.name = "cudaSetDevice"};
    const bool works = fake_enter(&call);
    fake_me.chosen = true; /* or tried to */
    if (works) {
        if (!is_device(device))
            fake_result(&call, cudaErrorInvalidDevice);
        else if (!device_take(device))
            fake_result(&call, cudaErrorDevicesUnavailable);
        else
            fake_me.device = device;
    }
    return fake_leave(&call);
}

cudaError_t cudaGetDevice(int *device)
{
    struct fake_call call = {.name = "cudaGetDevice"};
    if (fake_enter(&call))
        *device = fake_me.device;
    return fake_leave(&call);
}

cudaError_t cudaDeviceSynchronize(void)
{
    struct fake_call call = {.name = "cudaDeviceSynchronize", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (fake_enter(&call) && !fake_wait_device(fake_me.device, call.name))
        fake_result(&call, cudaErrorLaunchTimeout);
    return fake_leave(&call);
}

/* Streams, events and memory of the device are gone, and using them is an error. */
cudaError_t cudaDeviceReset(void)
{
    struct fake_call call = {.name = "cudaDeviceReset", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (fake_enter(&call)) {
        fake_wait_device(fake_me.device, call.name);
        fake_memory_reset(fake_me.device);
        for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
            stream->live = stream->live && stream->device != fake_me.device;
        for (struct CUevent_st *event = fake.events; event; event = event->next)
            event->live = event->live && event->device != fake_me.device;
    }
    return fake_leave(&call);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    struct fake_call call = {.name = "cudaDeviceCanAccessPeer"};
    if (fake_enter(&call)) {
        if (is_device(device) && is_device(peer))
            *can = fake.config.peer && device != peer;
        else
            fake_result(&call, cudaErrorInvalidDevice);
    }
    return fake_leave(&call);
}

static int peers_of(int device)
{
    int peers = 0;
    for (int peer = 0; peer < fake.config.devices; ++peer)
        peers += fake.peer[device][peer];
    return peers;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    struct fake_call call = {.name = "cudaDeviceEnablePeerAccess"};
    if (fake_enter(&call)) {
        if (flags != 0 || !is_device(peer) || peer == fake_me.device)
            fake_result(&call, flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
        else if (!fake.config.peer)
            fake_result(&call, cudaErrorPeerAccessUnsupported);
        else if (fake.peer[fake_me.device][peer])
            fake_result(&call, cudaErrorPeerAccessAlreadyEnabled);
        else if (peers_of(fake_me.device) == fake.config.peers)
            fake_result(&call, cudaErrorTooManyPeers);
        else
            fake.peer[fake_me.device][peer] = true;
    }
    return fake_leave(&call);
}
