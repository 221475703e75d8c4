/* steady.c: in a steady-state training step Lockstep allocates nothing and starts no thread. This
 * program defines the C library's allocation functions itself and counts; a pass needs the counters
 * to have been seen working. OpenBLAS's AVX-512 kernels do allocate: that is counted apart, by the
 * caller's address, and said. Plain program, without sanitizers: they define the same functions. */
#include "../must.h"
#include "ddp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WARM_UP 3
/* Steps for each kernel set. The slow reference kernels need fewer: a leak of a step's memory shows
 * only when a whole piece is used up, and does not depend on the kernels. */
static const struct {
    const char *name;
    int steps;
} backends[] = {{"cpu", 1000}, {"cpu-ref", 200}};

/* Callers of the heap. An allocation by the C library counts for Lockstep. */
enum caller { LOCKSTEP, BLAS, CALLERS };

static atomic_size_t allocations[CALLERS], threads;
static struct dp_kernel_log kernels;
static const void *blas; /* where it is loaded; NULL: it is part of this program */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static void steady_count(const void *return_address)
{
    Dl_info info;
    const bool theirs = blas && dladdr(return_address, &info) != 0 && info.dli_fbase == blas;
    atomic_fetch_add(&allocations[theirs ? BLAS : LOCKSTEP], 1);
}

void *malloc(size_t bytes)
{
    steady_count(__builtin_return_address(0));
    return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    steady_count(__builtin_return_address(0));
    return __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    steady_count(__builtin_return_address(0));
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    steady_count(__builtin_return_address(0));
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    steady_count(__builtin_return_address(0));
    void *got = __libc_memalign(alignment, bytes);
    if (!got)
        return ENOMEM;
    *memory = got;
    return 0;
}

void free(void *memory)
{
    if (memory)
        steady_count(__builtin_return_address(0));
    __libc_free(memory);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    atomic_fetch_add(&threads, 1);
    return !create ? EAGAIN : create(thread, attributes, start, argument);
}

#define LAYERS_MAX 16

/* A wrapped network, its loss and its optimizer. */
/* The kinds of networks that are trained. */
enum what { LINEAR, OTHERS, RANKS };
static const char *const names[] = {"linear layers", "other layers", "ranks"};

struct training {
    struct dp_group *group;
    struct dp_module *layers[LAYERS_MAX], *model, *wrapper, *loss;
    int n_layers;
    size_t width; /* of the input */
    struct dp_run *run;
    struct dp_sgd *sgd;
    struct dp_adamw *adamw; /* NULL: SGD alone */
    struct dp_clip *clip;
    struct dp_tensor x, target;
    struct dp_ddp *ddp; /* NULL: the wrapper is trained */
    struct dp_tensor rows[3], upstream[3];
};

static void open_linear(struct training *t)
{
    static const size_t width[] = {24, 40, 32, 8};
    t->width = width[0];
    for (int i = 0; i < 5; ++i)
        must(i % 2 == 1 ? dp_relu(t->group, &t->layers[i], &must_err)
                        : dp_linear(t->group, width[i / 2], width[i / 2 + 1], true, &t->layers[i],
                                    &must_err));
    t->n_layers = 5;
}

/* Opens layers of every other kind that runs in a replica. */
static void open_others(struct training *t)
{
    static const struct dp_window three = {{3, 3}, {1, 1}, {1, 1}}, two = {.kernel = {2, 2}};
    static const struct dp_capsule_config capsules = {8, 4, 6, 3, 3};
    struct dp_module **layer = t->layers;
    t->width = 64;
    must(dp_unflatten(t->group, 3, (size_t[]){1, 8, 8}, layer++, &must_err));
    must(dp_conv2d(t->group, 1, 4, &three, true, layer++, &must_err));
    must(dp_batch_norm(t->group, 4, 0x1p-10, 0.1, layer++, &must_err));
    must(dp_max_pool2d(t->group, &two, layer++, &must_err));
    must(dp_dropout(t->group, 0.25, 3, layer++, &must_err));
    must(dp_unflatten(t->group, 2, (size_t[]){8, 8}, layer++, &must_err));
    must(dp_rnn(t->group, 8, 6, false, layer++, &must_err));
    must(dp_lstm(t->group, 6, 6, false, layer++, &must_err));
    must(dp_capsule(t->group, &capsules, layer++, &must_err));
    must(dp_linear(t->group, 3, 18, true, layer++, &must_err));
    must(dp_attention(t->group, 2, 0.25, 4, layer++, &must_err));
    must(dp_positions(t->group, 4, 6, layer++, &must_err));
    must(dp_layer_norm(t->group, 6, 0x1p-10, layer++, &must_err));
    must(dp_gelu(t->group, true, layer++, &must_err));
    must(dp_flatten(t->group, layer++, &must_err));
    must(dp_linear(t->group, 24, 8, true, layer++, &must_err));
    t->n_layers = (int)(layer - t->layers);
}

static void steady_open_model(struct training *t, bool others)
{
    if (others)
        open_others(t);
    else
        open_linear(t);
    must(dp_sequential(t->group, t->layers, t->n_layers, &t->model, &must_err));
    must(dp_module_init(t->model, 1, &must_err));
    must(dp_module_to(t->model, dp_group_slot(t->group, 0), &must_err));
    must(dp_parallel(t->model, &(struct dp_parallel_config){0}, &t->wrapper, &must_err));
    must(dp_loss(t->group, DP_LOSS_MSE, 1.0f, true, &t->loss, &must_err));
}

static void steady_open_data(struct training *t)
{
    static const float zeros[30 * 64];
    struct dp_slot *slot = dp_group_slot(t->group, 0);
    must(dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){30, t->width}, &t->x, &must_err));
    must(dp_tensor_write(&t->x, zeros, &must_err));
    must(dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){30, 8}, &t->target, &must_err));
    must(dp_tensor_write(&t->target, zeros, &must_err));
    must(dp_run_open(t->group, &t->run, &must_err));
}

static void open_optimizers(struct training *t, bool all)
{
    const struct dp_adamw_config config = dp_adamw_defaults();
    must(dp_sgd_open(t->model, 0.125f, 0.5f, 0.25f, &t->sgd, &must_err));
    if (!all)
        return;
    must(dp_adamw_open(t->model, &config, &t->adamw, &must_err));
    must(dp_clip_open(t->model, &t->clip, &must_err));
}

/* Opens ranks on all devices, with buckets so small that there are several. */
static void steady_open_ranks(struct training *t)
{
    static const float zeros[8 * 24];
    const struct dp_ddp_config config = {.first_bucket_bytes = 64, .bucket_bytes = 4096};
    struct dp_slot *slots[3];
    const int ranks = dp_group_size(t->group);
    for (int r = 0; r < ranks; ++r) {
        slots[r] = dp_group_slot(t->group, r);
        must(dp_tensor_alloc(slots[r], DP_F32, 2, (size_t[]){8, 24}, &t->rows[r], &must_err));
        must(dp_tensor_write(&t->rows[r], zeros, &must_err));
        must(dp_tensor_alloc(slots[r], DP_F32, 2, (size_t[]){8, 8}, &t->upstream[r], &must_err));
        must(dp_tensor_write(&t->upstream[r], zeros, &must_err));
    }
    must(dp_ddp_open(t->model, slots, ranks, &config, &t->ddp, &must_err));
}

static void steady_step_ranks(struct training *t)
{
    struct dp_tensor out[3 * DP_MAX_IO];
    int n = 0;
    dp_ddp_reset(t->ddp);
    dp_ddp_zero_grad(t->ddp);
    must(dp_ddp_forward(t->ddp, t->rows, 1, NULL, out, &n, &must_err));
    must(dp_ddp_backward(t->ddp, t->upstream, 1, NULL, 0, &must_err));
    must(dp_ddp_step(t->ddp, 0.125f, 0.5f, 0.25f, &must_err));
    must(dp_ddp_clip_grads(t->ddp, 1.0, NULL, &must_err));
    const struct dp_adamw_config config = dp_adamw_defaults();
    must(dp_ddp_adamw_step(t->ddp, &config, &must_err));
}

static void steady_step(struct training *t)
{
    if (t->ddp) {
        steady_step_ranks(t);
        return;
    }
    struct dp_tensor in[2], out[DP_MAX_IO], grad[2];
    double norm;
    float loss;
    int n = 0;
    dp_run_reset(t->run);
    dp_zero_grad(t->model);
    must(dp_forward(t->wrapper, t->run, &t->x, 1, out, &n, &must_err));
    in[0] = out[0];
    in[1] = t->target;
    must(dp_forward(t->loss, t->run, in, 2, out, &n, &must_err));
    must(dp_tensor_read(&loss, &out[0], &must_err));
    must(dp_backward(t->loss, t->run, NULL, 0, grad, 2, &must_err));
    must(dp_backward(t->wrapper, t->run, grad, 1, NULL, 0, &must_err));
    must(dp_sgd_step(t->sgd, &must_err));
    if (!t->adamw)
        return;
    must(dp_clip_grads(t->clip, 1.0, &norm, &must_err));
    must(dp_adamw_step(t->adamw, &must_err));
}

static void steady_train(struct training *t, enum what what, int steps, size_t allocated[CALLERS],
                         size_t *started)
{
    steady_open_model(t, what == OTHERS);
    steady_open_data(t);
    open_optimizers(t, what == LINEAR);
    if (what == RANKS)
        steady_open_ranks(t);
    for (int i = 0; i < WARM_UP; ++i)
        steady_step(t);
    for (int c = 0; c < CALLERS; ++c)
        allocated[c] = atomic_load(&allocations[c]);
    const size_t threads_before = atomic_load(&threads);
    /* From the middle on, kernels are logged. */
    for (int i = 0; i < steps; ++i) {
        if (i == steps / 2)
            must(dp_group_log(t->group, &kernels, &must_err));
        steady_step(t);
    }
    for (int c = 0; c < CALLERS; ++c)
        allocated[c] = atomic_load(&allocations[c]) - allocated[c];
    *started = atomic_load(&threads) - threads_before;
}

static void close_training(struct training *t)
{
    dp_ddp_close(t->ddp);
    for (int r = 0; r < 3; ++r) {
        dp_tensor_free(&t->rows[r]);
        dp_tensor_free(&t->upstream[r]);
    }
    dp_sgd_close(t->sgd);
    dp_adamw_close(t->adamw);
    dp_clip_close(t->clip);
    dp_run_close(t->run);
    dp_tensor_free(&t->x);
    dp_tensor_free(&t->target);
    dp_module_close(t->loss);
    dp_module_close(t->wrapper);
    dp_module_close(t->model);
    for (int i = 0; i < t->n_layers; ++i)
        dp_module_close(t->layers[i]);
    dp_group_close(t->group);
}

/* Ranks have a second worker if reductions run during backward. */
static int steady_check(const char *backend, int k, enum dp_math math, enum what what, int steps)
{
    char devices[16];
    (void)snprintf(devices, sizeof devices, "virt:%d", k);
    const struct dp_group_config config = {.devices = devices, .backend = backend, .math = math};
    struct training t = {.group = NULL};
    size_t allocated[CALLERS] = {0}, started = 0;
    const size_t threads_before = atomic_load(&threads);
    must(dp_group_open(&config, &t.group, &must_err));
    steady_train(&t, what, steps, allocated, &started);
    const size_t workers = atomic_load(&threads) - threads_before;
    const size_t seconds = t.ddp && dp_ddp_overlaps(t.ddp) ? (size_t)k : 0;
    close_training(&t);
    const bool good =
        allocated[LOCKSTEP] == 0 && started == 0 && workers == (size_t)k - 1 + seconds;
    printf("%s steady on %s with %s, %s: %g heap calls a step by lockstep, %g by the BLAS; %zu "
           "threads in %d steps, %zu workers\n",
           good ? "PASS" : "FAIL", devices, backend, names[what],
           (double)allocated[LOCKSTEP] / steps, (double)allocated[BLAS] / steps, started, steps,
           workers);
    return good ? 0 : 1;
}

static void *idle(void *argument)
{
    return argument;
}

/* Each counter must count, or zero would mean nothing. */
static int check_counters(const void *product)
{
    const size_t before = atomic_load(&allocations[LOCKSTEP]);
    const size_t blas_before = atomic_load(&allocations[BLAS]);
    const size_t threads_before = atomic_load(&threads);
    void *volatile memory = malloc(16);
    free(memory);
    steady_count(product);
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, NULL) == 0)
        (void)pthread_join(thread, NULL);
    const bool good = atomic_load(&allocations[LOCKSTEP]) >= before + 2 + (blas == NULL) &&
                      atomic_load(&allocations[BLAS]) == blas_before + (blas != NULL) &&
                      atomic_load(&threads) == threads_before + 1;
    printf("%s steady counters see an allocation, a release, a thread, and whose they are\n",
           good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}

/* Returns where the library with this address is loaded; NULL: it is this program. */
static const void *library_of(const void *address)
{
    static const char here;
    Dl_info its, own;
    return dladdr(address, &its) != 0 && dladdr(&here, &own) != 0 && its.dli_fbase != own.dli_fbase
               ? its.dli_fbase
               : NULL;
}

static int check_backend(const char *backend, int steps)
{
    int failed = 0;
    for (int k = 1; k <= 3; ++k) {
        failed += steady_check(backend, k, DP_MATH_F32, LINEAR, steps);
        failed += steady_check(backend, k, DP_MATH_F32, OTHERS, steps);
        failed += steady_check(backend, k, DP_MATH_F32, RANKS, steps);
    }
    failed += steady_check(backend, 2, DP_MATH_BF16, LINEAR, steps);
    return failed + steady_check(backend, 2, DP_MATH_BF16, RANKS, steps);
}

/* usage: lockstep-steady [BACKEND STEPS] */
int main(int argc, char **argv)
{
    const void *product = dlsym(RTLD_DEFAULT, "cblas_sgemm");
    blas = library_of(product);
    int failed = check_counters(product);
    if (argc == 3) {
        const int steps = atoi(argv[2]);
        return steps > 0 && failed + check_backend(argv[1], steps) == 0 ? 0 : 1;
    }
    for (int b = 0; b < 2; ++b)
        failed += check_backend(backends[b].name, backends[b].steps);
    return failed == 0 ? 0 : 1;
}
