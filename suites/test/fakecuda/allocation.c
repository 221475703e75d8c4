/* allocation.c: the runtime's calls about memory. */
#include "fake.h"

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    struct fake_call call = {.name = "cudaMalloc", .rules = FAKE_UNSAFE | FAKE_ALLOCATES};
    if (fake_enter(&call)) {
        if (!memory)
            fake_result(&call, cudaErrorInvalidValue);
        else if (bytes == 0)
            *memory = NULL;
        else
            fake_result(&call, fake_allocate(fake_me.device, bytes, memory));
    }
    return fake_leave(&call);
}

cudaError_t cudaFree(void *memory)
{
    struct fake_call call = {.name = "cudaFree", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (fake_enter(&call)) {
        if (fake.half_issued && memory)
            fake_violation("deadlock: %s waits for device %d, where %s waits for ranks that have "
                           "not issued it",
                           call.name, fake_me.device, fake.half_issued);
        fake_result(&call, fake_release(memory, fake_me.device, call.name));
    }
    return fake_leave(&call);
}

static cudaError_t allocate_host(struct fake_call *call, void **memory, size_t bytes)
{
    if (fake_enter(call)) {
        if (!memory)
            fake_result(call, cudaErrorInvalidValue);
        else if (bytes == 0)
            *memory = NULL;
        else
            fake_result(call, fake_allocate(FAKE_HOST, bytes, memory));
    }
    return fake_leave(call);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    struct fake_call call = {.name = "cudaMallocHost", .rules = FAKE_UNSAFE | FAKE_ALLOCATES};
    return allocate_host(&call, memory, bytes);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    struct fake_call call = {.name = "cudaHostAlloc", .rules = FAKE_UNSAFE | FAKE_ALLOCATES};
    (void)flags; /* all pinned memory is portable and mapped under unified addresses */
    return allocate_host(&call, memory, bytes);
}

cudaError_t cudaFreeHost(void *memory)
{
    struct fake_call call = {.name = "cudaFreeHost", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (fake_enter(&call))
        fake_result(&call, fake_release(memory, FAKE_HOST, call.name));
    return fake_leave(&call);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    struct fake_call call = {.name = "cudaMemGetInfo"};
    if (fake_enter(&call)) {
        *total_bytes = fake.config.memory_bytes;
        *free_bytes = fake.config.memory_bytes - fake.arena[fake_me.device].used;
    }
    return fake_leave(&call);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    struct fake_call call = {.name = "cudaPointerGetAttributes"};
    if (fake_enter(&call)) {
        const struct fake_block *block = fake_find(pointer);
        void *plain = (void *)(uintptr_t)pointer;
        *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered,
                                                     .device = cudaInvalidDeviceId,
                                                     .hostPointer = plain};
        if (block && block->live) {
            const bool host = block->device == FAKE_HOST;
            attributes->type = host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
            attributes->device = host ? 0 : block->device;
            attributes->devicePointer = plain;
            attributes->hostPointer = host ? plain : NULL;
        }
    }
    return fake_leave(&call);
}
