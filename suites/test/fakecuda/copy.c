/* copy.c: copies and memsets. A copy from ordinary host memory has read it when the call returns;
 * one to ordinary host memory is over when the call returns; all others run in the stream's order.
 */
#include "fake.h"

#include <string.h>

struct copy {
    char *to;
    const char *from;
    size_t width, height, to_pitch, from_pitch;
    struct fake_area to_area, from_area; /* where the program knows them; for the shadow */
};

static void copy_rows(const struct copy *copy)
{
    for (size_t row = 0; row < copy->height; ++row)
        memcpy(copy->to + row * copy->to_pitch, copy->from + row * copy->from_pitch, copy->width);
}

static void run_copy(const void *args)
{
    const struct copy *copy = args;
    const bool to_host = fake_device_of(copy->to_area.lo) == FAKE_HOST;
    if (to_host && fake_shadow_none(&copy->from_area))
        fake_violation("%s copies %zu bytes at %p to the host, none of which was ever written",
                       fake_me.running, copy->width * copy->height,
                       (const void *)copy->from_area.lo);
    copy_rows(copy);
    fake_shadow_copy(&copy->to_area, &copy->from_area);
}

static bool copy_fits(enum cudaMemcpyKind kind, bool to_device, bool from_device)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
        return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
        return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
        return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
        return to_device && from_device;
    default:
        return kind == cudaMemcpyDefault;
    }
}

static const char *side(bool device)
{
    return device ? "device memory" : "host memory";
}

static cudaError_t copy_check(const struct fake_call *call, const struct copy *copy,
                              enum cudaMemcpyKind kind, const struct CUstream_st *stream)
{
    const bool to = fake_device_of(copy->to) != FAKE_HOST;
    const bool from = fake_device_of(copy->from) != FAKE_HOST;
    if (copy->height > 1 && (copy->width > copy->to_pitch || copy->width > copy->from_pitch))
        return cudaErrorInvalidPitchValue;
    if (!copy_fits(kind, to, from)) {
        fake_violation("%s: the kind says %d, but the destination %p is %s and the source %p is %s",
                       call->name, (int)kind, (void *)copy->to, side(to), (const void *)copy->from,
                       side(from));
        return cudaErrorInvalidValue;
    }
    if (fake_area_meets(&copy->to_area, &copy->from_area)) {
        fake_violation("%s: the source and the destination overlap at %p", call->name,
                       (void *)copy->to);
        return cudaErrorInvalidValue;
    }
    if (stream->capture && (!fake_find(copy->to) || !fake_find(copy->from))) {
        fake_violation("%s: ordinary host memory in a stream capture", call->name);
        fake_capture_break(stream->capture, cudaErrorStreamCaptureInvalidated);
        return cudaErrorStreamCaptureUnsupported;
    }
    return cudaSuccess;
}

static cudaError_t copy_issue(const struct fake_call *call, struct copy copy,
                              struct CUstream_st *stream)
{
    struct fake_work *work = fake_work_new(call->name, stream);
    const bool at_once = !fake_find(copy.to) && fake_device_of(copy.to) == FAKE_HOST;
    work->copies = true;
    if (!at_once)
        copy.to = fake_uses_area(work, &copy.to_area, FAKE_WRITE);
    if (fake_find(copy.from) || fake_device_of(copy.from) != FAKE_HOST)
        copy.from = fake_uses_area(work, &copy.from_area, FAKE_READ);
    else {
        /* Takes a copy of ordinary host memory, so that the program may use it again. */
        struct copy taken = copy;
        taken.to = work->owned = fake_memory(copy.width * copy.height);
        taken.to_pitch = copy.width;
        copy_rows(&taken);
        copy.from = taken.to;
        copy.from_pitch = copy.width;
    }
    fake_work_runs(work, run_copy, &copy, sizeof copy);
    const cudaError_t error = fake_issue(stream, work);
    if (error || !at_once)
        return error;
    return fake_host_waits(fake_token_of(stream), call->name);
}

static void copy_2d(struct fake_call *call, struct copy copy, enum cudaMemcpyKind kind,
                    struct CUstream_st *stream)
{
    copy.to_area = fake_area(copy.to, copy.width, copy.height, copy.to_pitch);
    copy.from_area = fake_area(copy.from, copy.width, copy.height, copy.from_pitch);
    if (!fake_stream_is(stream, call->name))
        fake_result(call, cudaErrorInvalidResourceHandle);
    else if (copy.width && copy.height)
        fake_result(call, copy_check(call, &copy, kind, stream));
    if (!call->error && copy.width && copy.height)
        fake_result(call, copy_issue(call, copy, stream));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaMemcpyAsync", .rules = FAKE_CHOSEN};
    if (fake_enter(&call))
        copy_2d(&call, (struct copy){.to = to, .from = from, .width = bytes, .height = 1}, kind,
                stream);
    return fake_leave(&call);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaMemcpy2DAsync", .rules = FAKE_CHOSEN};
    if (fake_enter(&call))
        copy_2d(&call,
                (struct copy){.to = to,
                              .from = from,
                              .width = width,
                              .height = height,
                              .to_pitch = to_pitch,
                              .from_pitch = from_pitch},
                kind, stream);
    return fake_leave(&call);
}

static bool on_device(const struct fake_call *call, const void *pointer, int device)
{
    if (fake_device_of(pointer) == device)
        return true;
    fake_violation("%s: %p is on device %d, the call says %d", call->name, pointer,
                   fake_device_of(pointer), device);
    return false;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaMemcpyPeerAsync", .rules = FAKE_CHOSEN};
    if (fake_enter(&call)) {
        if (bytes && (!on_device(&call, to, to_device) || !on_device(&call, from, from_device)))
            fake_result(&call, cudaErrorInvalidValue);
        else
            copy_2d(&call, (struct copy){.to = to, .from = from, .width = bytes, .height = 1},
                    cudaMemcpyDefault, stream);
    }
    return fake_leave(&call);
}

static char *start_of(const struct cudaPitchedPtr *memory, const struct cudaPos *position)
{
    return (char *)memory->ptr + position->y * memory->pitch + position->x;
}

/* One layer of linear memory. */
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaMemcpy3DPeerAsync", .rules = FAKE_CHOSEN};
    if (fake_enter(&call)) {
        if (!p || p->srcArray || p->dstArray || p->extent.depth != 1 || p->srcPos.z ||
            p->dstPos.z) {
            fake_violation("%s: only one layer of linear memory is known here", call.name);
            fake_result(&call, cudaErrorInvalidValue);
        } else if (!on_device(&call, p->dstPtr.ptr, p->dstDevice) ||
                   !on_device(&call, p->srcPtr.ptr, p->srcDevice)) {
            fake_result(&call, cudaErrorInvalidValue);
        } else {
            copy_2d(&call,
                    (struct copy){.to = start_of(&p->dstPtr, &p->dstPos),
                                  .from = start_of(&p->srcPtr, &p->srcPos),
                                  .width = p->extent.width,
                                  .height = p->extent.height,
                                  .to_pitch = p->dstPtr.pitch,
                                  .from_pitch = p->srcPtr.pitch},
                    cudaMemcpyDefault, stream);
        }
    }
    return fake_leave(&call);
}

struct fill {
    void *to;
    int value;
    size_t bytes;
};

static void run_fill(const void *args)
{
    const struct fill *fill = args;
    memset(fill->to, fill->value, fill->bytes);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaMemsetAsync"};
    if (fake_enter(&call)) {
        if (!fake_stream_is(stream, call.name)) {
            fake_result(&call, cudaErrorInvalidResourceHandle);
        } else if (bytes) {
            struct fake_work *work = fake_work_new(call.name, stream);
            const struct fill fill = {fake_uses(work, to, bytes, FAKE_WRITE), value, bytes};
            fake_work_runs(work, run_fill, &fill, sizeof fill);
            fake_result(&call, fake_issue(stream, work));
        }
    }
    return fake_leave(&call);
}
