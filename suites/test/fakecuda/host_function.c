/* host_function.c: the thread that calls functions of the program. A function that no call waits
 * for runs after a while all the same, because the program may wait for its effect. */
#include "fake.h"

#define PATIENCE_NS 20000000u
#define NAP_MS      5

struct host_function {
    cudaHostFn_t function;
    void *data;
};

static void host_function_run(const void *args)
{
    const struct host_function *call = args;
    call->function(call->data);
}

static bool call_posted(void)
{
    for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next) {
        if (stream->head && stream->head->posted) {
            /* The lock is not held while the program's function runs; the head stays where it is.
             */
            const struct fake_op *op = stream->head;
            fake_host_learns(op->clock);
            fake_unlock();
            fake_me.in_host_function = true;
            op->work->run(op->work->args);
            fake_me.in_host_function = false;
            fake_lock();
            fake_complete(stream);
            fake_wake();
            return true;
        }
    }
    return false;
}

static void post_old(void)
{
    const uint64_t now = fake_now_ns();
    for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next) {
        uint64_t position = stream->done;
        for (const struct fake_op *op = stream->head; op; op = op->next) {
            ++position;
            if (op->clock && now - op->issued_ns > PATIENCE_NS) {
                fake_advance(stream, position);
                break;
            }
        }
    }
}

static void *helper(void *unused)
{
    (void)unused;
    fake_lock();
    while (!fake.stop_helper) {
        if (call_posted())
            continue;
        if (fake.host_functions > 0)
            post_old();
        fake_sleep(fake.host_functions > 0 ? NAP_MS : 1000);
    }
    fake_unlock();
    return NULL;
}

void fake_helper_start(void)
{
    fake_wake();
    if (fake.helping)
        return;
    fake.stop_helper = false;
    fake.helping = pthread_create(&fake.helper, NULL, helper, NULL) == 0;
    if (!fake.helping)
        fake_violation("cudaLaunchHostFunc: no thread to call it");
}

void fake_helper_stop(void)
{
    if (!fake.helping)
        return;
    fake.stop_helper = true;
    fake_wake();
    fake_unlock();
    pthread_join(fake.helper, NULL);
    fake_lock();
    fake.helping = false;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    struct fake_call call = {.name = "cudaLaunchHostFunc", .rules = FAKE_LAUNCHES};
    if (fake_enter(&call)) {
        const struct host_function args = {function, data};
        if (!function || !fake_stream_is(stream, call.name)) {
            fake_result(&call, cudaErrorInvalidValue);
        } else {
            struct fake_work *work = fake_work_new(call.name, stream);
            work->on_host = true;
            fake_work_runs(work, host_function_run, &args, sizeof args);
            fake_result(&call, fake_issue(stream, work));
        }
    }
    return fake_leave(&call);
}
