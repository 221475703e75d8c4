/* state.c: the lock, the beginning and the end of every call, violations, and the verdict. */
#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_PRINTED 50

struct fake_state fake;
_Thread_local struct fake_thread fake_me;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news;
static pthread_once_t news_once = PTHREAD_ONCE_INIT;

static void news_open(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&news, &attributes);
    pthread_condattr_destroy(&attributes);
}

void fake_lock(void)
{
    pthread_once(&news_once, news_open);
    pthread_mutex_lock(&lock);
    fake_me.inside = true;
}

void fake_unlock(void)
{
    fake_me.inside = false;
    pthread_mutex_unlock(&lock);
}

void fake_wake(void)
{
    pthread_cond_broadcast(&news);
}

bool fake_sleep(unsigned ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const long ns = until.tv_nsec + (long)(ms % 1000) * 1000000;
    until.tv_sec += (time_t)(ms / 1000) + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return pthread_cond_timedwait(&news, &lock, &until) == 0;
}

uint64_t fake_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t fake_random(uint64_t below)
{
    uint64_t z = fake.random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

void *fake_memory(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        fputs("fake cuda: out of host memory\n", stderr);
        _exit(FAKECUDA_EXIT);
    }
    return memory;
}

/* A signal handler calls this, too: it may not use stdio. */
void fake_violation(const char *format, ...)
{
    static const char prefix[] = "fake cuda: ";
    char text[700];
    va_list values;
    memcpy(text, prefix, sizeof prefix);
    va_start(values, format);
    vsnprintf(text + sizeof prefix - 1, sizeof text - sizeof prefix, format, values);
    va_end(values);
    if (fake.violations++ == 0)
        snprintf(fake.first, sizeof fake.first, "%s", text + sizeof prefix - 1);
    if (!fake.config.quiet && fake.violations <= MOST_PRINTED) {
        const size_t length = strlen(text);
        text[length] = '\n';
        if (write(STDERR_FILENO, text, length + 1) < 0)
            fake.config.quiet = true; /* no reader is left; the exit status still tells */
    }
    if (fake.config.stop)
        _exit(FAKECUDA_EXIT);
}

/* A fork sets a flag, because asking for the process id takes longer than the rest of most calls.
 */
static void in_child(void)
{
    fake.forked = true;
}

static void at_exit(void)
{
    if (!fake.started || fake.forked)
        return;
    fflush(NULL);
    if (fakecuda_finish() > 0)
        _exit(FAKECUDA_EXIT);
}

static void see_devices(void)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    int seen = 0;
    for (int device = 0; device < fake.config.devices; ++device)
        fake.visible[device] = device;
    if (!text)
        return;
    for (char *end = NULL; seen < FAKECUDA_DEVICES; text = end + 1) {
        const long device = strtol(text, &end, 10);
        if (end == text || device < 0 || device >= fake.config.devices)
            break;
        fake.visible[seen++] = (int)device;
        if (*end != ',')
            break;
    }
    fake.config.devices = seen;
}

static void state_begin(const struct fakecuda_config *config)
{
    const uint64_t generation = fake.generation;
    const bool registered = fake.registered, handler = fake.handler;
    memset(&fake, 0, sizeof fake);
    fake.config = *config;
    fake.generation = generation + 1;
    fake.random = config->seed * 0x2545f4914f6cdd1du + 1;
    fake.registered = true;
    fake.handler = handler;
    fake.started = true;
    fake.failure = config->failure;
    if (config->failure.function) {
        snprintf(fake.failing, sizeof fake.failing, "%s", config->failure.function);
        fake.failure.function = fake.failing;
    }
    see_devices();
    fake_memory_open();
    fake_guard_install();
    if (!registered && (atexit(at_exit) != 0 || pthread_atfork(NULL, NULL, in_child) != 0)) {
        fake_violation("no memory to be called at the end");
        _exit(FAKECUDA_EXIT);
    }
}

void fakecuda_start(const struct fakecuda_config *config)
{
    fakecuda_finish();
    fake_lock();
    state_begin(config);
    fake_unlock();
}

static void write_summary(void)
{
    const char *path = getenv("LOCKSTEP_FAKE_SUMMARY");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "calls %ld violations %d %s\n", fake.calls, fake.violations, fake.first);
    fclose(file);
}

int fakecuda_finish_unreleased(void)
{
    fake.unreleased = true;
    return fakecuda_finish();
}

int fakecuda_finish(void)
{
    fake_lock();
    if (fake.started) {
        const int before = fake.violations;
        fake_helper_stop();
        if (fake.close_more)
            fake.close_more();
        fake_queue_leaks();
        fake_memory_leaks();
        fake_captures_close();
        fake_graphs_close();
        fake_blas_close();
        fake_events_close();
        fake_queue_close();
        fake_memory_close();
        fake_clock_close();
        if (fake.unreleased) {
            fake.violations = before;
            fake.first[0] = before > 0 ? fake.first[0] : '\0';
        }
        write_summary();
        fake.started = false;
    }
    const int violations = fake.violations;
    fake_unlock();
    return violations;
}

int fakecuda_verdict(void)
{
    fake_lock();
    const int violations = fake.violations;
    fake_unlock();
    return violations;
}

const char *fakecuda_first(void)
{
    return fake.first;
}

static struct fake_count *state_count_of(const char *name)
{
    struct fake_count *count = fake.count;
    while (count < fake.count + FAKE_NAMES - 1 && count->name && strcmp(count->name, name) != 0)
        ++count;
    return count;
}

long fakecuda_calls(const char *function)
{
    fake_lock();
    const long calls = function ? state_count_of(function)->calls : fake.calls;
    fake_unlock();
    return calls;
}

void fakecuda_fail(const struct fakecuda_failure *failure)
{
    fake_lock();
    memset(fake.count, 0, sizeof fake.count);
    fake.calls = 0;
    fake.failure = *failure;
    if (failure->function) {
        snprintf(fake.failing, sizeof fake.failing, "%s", failure->function);
        fake.failure.function = fake.failing;
    }
    fake_unlock();
}

void fakecuda_slow(const char *operation, uint64_t ns)
{
    fake_lock();
    snprintf(fake.slow, sizeof fake.slow, "%s", operation ? operation : "");
    fake.slow_ns = ns;
    fake_unlock();
}

void fakecuda_drop_wait(long wait)
{
    fake_lock();
    fake.waits_to_drop = wait;
    fake_unlock();
}

void fakecuda_visit(const char *function, void (*visit)(void *user), void *user)
{
    fake_lock();
    snprintf(fake.visited, sizeof fake.visited, "%s", function ? function : "");
    fake.visit = visit;
    fake.visit_user = user;
    fake_unlock();
}

static cudaError_t injected(const struct fake_call *call)
{
    struct fake_count *count = state_count_of(call->name);
    const struct fakecuda_failure *failure = &fake.failure;
    count->name = call->name;
    ++count->calls;
    ++fake.calls;
    const bool named = !failure->function || strcmp(failure->function, call->name) == 0;
    const long calls = failure->function ? count->calls : fake.calls;
    if (failure->call <= 0 || !named || calls < failure->call ||
        (calls > failure->call && !failure->lasting))
        return cudaSuccess;
    if (failure->error)
        return (cudaError_t)failure->error;
    if (call->rules & FAKE_ALLOCATES)
        return cudaErrorMemoryAllocation;
    return call->rules & FAKE_LAUNCHES ? cudaErrorLaunchFailure : cudaErrorUnknown;
}

static cudaError_t driver_error(void)
{
    static const cudaError_t error[] = {
        [FAKECUDA_DRIVER_GOOD] = cudaSuccess,
        [FAKECUDA_DRIVER_NONE] = cudaErrorInsufficientDriver,
        [FAKECUDA_DRIVER_OLD] = cudaErrorInsufficientDriver,
        [FAKECUDA_DRIVER_BROKEN] = cudaErrorUnknown,
    };
    if (fake.config.init)
        return (cudaError_t)fake.config.init;
    if (fake.config.driver == FAKECUDA_DRIVER_GOOD && fake.config.devices == 0)
        return cudaErrorNoDevice;
    return error[fake.config.driver];
}

/* Returns the error if the call is forbidden, whatever its arguments are. */
static cudaError_t forbidden(const struct fake_call *call)
{
    if (fake.forked) {
        fake_violation("%s: the process that used CUDA first has forked, this is its child",
                       call->name);
        return cudaErrorInitializationError;
    }
    if (fake_me.in_host_function) {
        fake_violation("%s: called by a function of cudaLaunchHostFunc", call->name);
        return cudaErrorNotPermitted;
    }
    if (fake_me.group_of && (call->rules & (FAKE_UNSAFE | FAKE_MARKS)) &&
        strncmp(call->name, "nccl", 4) != 0)
        fake_violation("%s: %s is in a group of NCCL that is not closed", call->name,
                       fake_me.group_of);
    if ((call->rules & FAKE_CHOSEN) && !fake_me.chosen)
        fake_violation(
            "%s: by a thread that has chosen no device: CUDA may open the first one for it",
            call->name);
    struct fake_capture *capture = call->rules & FAKE_UNSAFE ? fake_capture_forbids() : NULL;
    if (capture) {
        fake_violation("%s: may wait for a device, which is forbidden during a stream capture",
                       call->name);
        fake_capture_break(capture, cudaErrorStreamCaptureInvalidated);
        return cudaErrorStreamCaptureUnsupported;
    }
    return call->rules & FAKE_NO_DRIVER ? cudaSuccess : driver_error();
}

bool fake_enter(struct fake_call *call)
{
    fake_lock();
    if (fake.visit && strcmp(fake.visited, call->name) == 0) {
        /* Calls visit without the lock, so that other threads go on during it. */
        void (*const visit)(void *) = fake.visit;
        void *const user = fake.visit_user;
        fake_unlock();
        visit(user);
        fake_lock();
    }
    if (!fake.started) {
        struct fakecuda_config config = fakecuda_defaults();
        state_begin(&config);
    }
    if (fake_me.generation != fake.generation)
        fake_me = (struct fake_thread){.generation = fake.generation,
                                       .inside = true,
                                       .in_host_function = fake_me.in_host_function};
    call->error = forbidden(call);
    if (call->error)
        return false;
    if (fake.config.mode == FAKECUDA_RANDOM)
        fake_some();
    fake_clock_call();
    call->error = injected(call);
    return !call->error || (call->rules & FAKE_ALWAYS);
}

void fake_result(struct fake_call *call, cudaError_t error)
{
    if (!call->error)
        call->error = error;
}

cudaError_t fake_leave(struct fake_call *call)
{
    if (call->error && call->error != cudaErrorNotReady)
        fake_me.last = call->error;
    fake_unlock();
    return call->error;
}
