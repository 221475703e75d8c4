/* launch.c: a kernel launch. The computation of the kernel is given as a function for the host. */
#include "fake.h"

struct fake_launch fake_launch_begin(const char *name, struct CUstream_st *stream)
{
    struct fake_launch launch = {.call = {.name = name, .rules = FAKE_LAUNCHES}, .stream = stream};
    if (!fake_enter(&launch.call))
        return launch;
    if (!fake_stream_is(stream, name)) {
        fake_result(&launch.call, cudaErrorInvalidResourceHandle);
    } else if (stream->device != fake_me.device) {
        fake_violation("%s: launched in stream %d of device %d while device %d is current", name,
                       stream->id, stream->device, fake_me.device);
        fake_result(&launch.call, cudaErrorInvalidResourceHandle);
    } else {
        launch.work = fake_work_new(name, stream);
    }
    return launch;
}

/* Asks for the last error, as a launcher does: that includes an error that an earlier call of this
 * thread has left and that was not cleared. */
int fake_launch_end(struct fake_launch *launch, void (*run)(const void *), const void *args,
                    size_t bytes)
{
    if (launch->work) {
        fake_work_runs(launch->work, run, args, bytes);
        fake_result(&launch->call, fake_issue(launch->stream, launch->work));
    }
    (void)fake_leave(&launch->call);
    return (int)cudaGetLastError();
}
