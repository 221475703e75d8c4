/* steady.c: a steady-state training step allocates nothing and starts no thread. This program
 * defines the C library's allocation functions itself and counts; a pass needs the counter to have
 * been seen working. Plain program, without sanitizers: they define the same functions. */
#include "dp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WARM_UP 3
/* A leak of a step's memory shows only when a whole piece is used up. */
#define STEPS 1000

static atomic_size_t allocations, threads;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

void *malloc(size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    void *got = __libc_memalign(alignment, bytes);
    if (got == NULL) {
        return ENOMEM;
    }
    *memory = got;
    return 0;
}

void free(void *memory)
{
    if (memory != NULL) {
        atomic_fetch_add(&allocations, 1);
    }
    __libc_free(memory);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    atomic_fetch_add(&threads, 1);
    return create == NULL ? EAGAIN : create(thread, attributes, start, argument);
}

/* A wrapped three-layer network, its loss and its optimizer. */
struct training {
    struct dp_group *group;
    struct dp_module *layers[5], *model, *wrapper, *loss;
    struct dp_run *run;
    struct dp_sgd *sgd;
    struct dp_tensor x, target;
};

static int open_model(struct training *t, struct dp_error *err)
{
    static const size_t width[] = {24, 40, 32, 8};
    int status = DP_OK;
    for (size_t i = 0; status == DP_OK && i < 5; ++i) {
        status = i % 2 == 1 ? dp_relu(t->group, &t->layers[i], err)
                            : dp_linear(t->group, width[i / 2], width[i / 2 + 1], true,
                                        &t->layers[i], err);
    }
    if (status == DP_OK) {
        status = dp_sequential(t->group, t->layers, 5, &t->model, err);
    }
    if (status == DP_OK) {
        status = dp_module_init(t->model, 1, err);
    }
    if (status == DP_OK) {
        status = dp_module_to(t->model, dp_group_slot(t->group, 0), err);
    }
    if (status == DP_OK) {
        status = dp_parallel(t->model, &(struct dp_parallel_config){0}, &t->wrapper, err);
    }
    if (status == DP_OK) {
        status = dp_loss(t->group, DP_LOSS_MSE, 1.0f, true, &t->loss, err);
    }
    return status;
}

static int open_data(struct training *t, struct dp_error *err)
{
    static const float zeros[30 * 24];
    struct dp_slot *slot = dp_group_slot(t->group, 0);
    int status = dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){30, 24}, &t->x, err);
    if (status == DP_OK) {
        status = dp_tensor_write(&t->x, zeros, err);
    }
    if (status == DP_OK) {
        status = dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){30, 8}, &t->target, err);
    }
    if (status == DP_OK) {
        status = dp_tensor_write(&t->target, zeros, err);
    }
    if (status == DP_OK) {
        status = dp_run_open(t->group, &t->run, err);
    }
    return status == DP_OK ? dp_sgd_open(t->model, 0.125f, 0.5f, 0.25f, &t->sgd, err) : status;
}

static int step(struct training *t, struct dp_error *err)
{
    struct dp_tensor in[2], out[DP_MAX_IO], grad[2];
    float loss;
    int n = 0;
    dp_run_reset(t->run);
    dp_zero_grad(t->model);
    int status = dp_forward(t->wrapper, t->run, &t->x, 1, out, &n, err);
    in[0] = out[0];
    in[1] = t->target;
    if (status == DP_OK) {
        status = dp_forward(t->loss, t->run, in, 2, out, &n, err);
    }
    if (status == DP_OK) {
        status = dp_tensor_read(&loss, &out[0], err);
    }
    if (status == DP_OK) {
        status = dp_backward(t->loss, t->run, NULL, 0, grad, 2, err);
    }
    if (status == DP_OK) {
        status = dp_backward(t->wrapper, t->run, grad, 1, NULL, 0, err);
    }
    return status == DP_OK ? dp_sgd_step(t->sgd, err) : status;
}

static int train(struct training *t, size_t *allocated, size_t *started, struct dp_error *err)
{
    int status = open_model(t, err);
    if (status == DP_OK) {
        status = open_data(t, err);
    }
    for (int i = 0; status == DP_OK && i < WARM_UP; ++i) {
        status = step(t, err);
    }
    const size_t allocations_before = atomic_load(&allocations);
    const size_t threads_before = atomic_load(&threads);
    for (int i = 0; status == DP_OK && i < STEPS; ++i) {
        status = step(t, err);
    }
    *allocated = atomic_load(&allocations) - allocations_before;
    *started = atomic_load(&threads) - threads_before;
    return status;
}

static void close_training(struct training *t)
{
    dp_sgd_close(t->sgd);
    dp_run_close(t->run);
    dp_tensor_free(&t->x);
    dp_tensor_free(&t->target);
    dp_module_close(t->loss);
    dp_module_close(t->wrapper);
    dp_module_close(t->model);
    for (int i = 0; i < 5; ++i) {
        dp_module_close(t->layers[i]);
    }
    dp_group_close(t->group);
}

static int check(const char *backend, int k, enum dp_math math)
{
    char devices[16];
    (void)snprintf(devices, sizeof devices, "virt:%d", k);
    const struct dp_group_config config = {.devices = devices, .backend = backend, .math = math};
    struct training t = {.group = NULL};
    struct dp_error err = {0};
    size_t allocated = 0, started = 0;
    const size_t threads_before = atomic_load(&threads);
    int status = dp_group_open(&config, &t.group, &err);
    if (status == DP_OK) {
        status = train(&t, &allocated, &started, &err);
    }
    const size_t workers = atomic_load(&threads) - threads_before;
    if (t.group != NULL) {
        close_training(&t);
    }
    const bool good = status == DP_OK && allocated == 0 && started == 0 && workers == (size_t)k - 1;
    printf("%s steady on %s with %s: %zu heap calls and %zu threads in %d steps, %zu workers%s%s\n",
           good ? "PASS" : "FAIL", devices, backend, allocated, started, STEPS, workers,
           status == DP_OK ? "" : ": ", err.text);
    return good ? 0 : 1;
}

static void *idle(void *argument)
{
    return argument;
}

/* The counters must count, or zero means nothing. */
static int check_counters(void)
{
    const size_t before = atomic_load(&allocations), threads_before = atomic_load(&threads);
    void *volatile memory = malloc(16);
    free(memory);
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    }
    const bool good =
        atomic_load(&allocations) >= before + 2 && atomic_load(&threads) == threads_before + 1;
    printf("%s steady counters see an allocation, a release and a thread\n",
           good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}

int main(void)
{
    static const char *const backends[] = {"cpu", "cpu-ref"};
    int failed = check_counters();
    for (int b = 0; b < 2; ++b) {
        for (int k = 1; k <= 3; ++k) {
            failed += check(backends[b], k, DP_MATH_F32);
        }
        failed += check(backends[b], 2, DP_MATH_BF16);
    }
    return failed == 0 ? 0 : 1;
}
