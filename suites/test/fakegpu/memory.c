/* memory.c: a GPU whose memory is full. A step that does not fit returns DP_ENOMEM, whichever
 * allocation failed, and the same group goes on with steps that fit, with the same bits; nothing is
 * leaked. */
#include "dp.h"
#include "fakecuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, SMALL = 10, MIB = 1 << 20 };

struct net {
    struct dp_group *group;
    struct dp_module *linear, *wrapper;
    struct dp_run *run;
    float output[SMALL * WIDTH], gradient[WIDTH * WIDTH];
};

static int open_net(struct net *n, const char *devices, struct dp_error *err)
{
    memset(n, 0, sizeof *n);
    int status = dp_group_open(&(struct dp_group_config){.devices = devices}, &n->group, err);
    if (status == 0)
        status = dp_linear(n->group, WIDTH, WIDTH, true, &n->linear, err);
    if (status == 0)
        status = dp_module_init(n->linear, 3, err);
    if (status == 0)
        status = dp_module_to(n->linear, dp_group_slot(n->group, 0), err);
    if (status == 0)
        status = dp_parallel(n->linear, &(struct dp_parallel_config){.dim = 0}, &n->wrapper, err);
    return status ? status : dp_run_open(n->group, &n->run, err);
}

static void close_net(struct net *n)
{
    dp_run_close(n->run);
    dp_module_close(n->wrapper);
    dp_module_close(n->linear);
    dp_group_close(n->group);
}

/* Runs forward and backward with rows that come from the host. */
static int memory_step(struct net *n, size_t rows, struct dp_error *err)
{
    const size_t dim[] = {rows, WIDTH};
    float *values = malloc(rows * WIDTH * sizeof *values);
    struct dp_tensor in = {0}, out[DP_MAX_IO];
    struct dp_param *list[2];
    int n_out = 0;
    if (!values)
        return dp_fail(err, DP_EFAULT, "no memory for the test itself");
    for (size_t i = 0; i < rows * WIDTH; ++i)
        values[i] = (float)(i % 7) - 3.0f;
    int status = dp_tensor_alloc(dp_group_host(n->group), DP_F32, 2, dim, &in, err);
    if (status == 0)
        status = dp_tensor_write(&in, values, err);
    free(values);
    dp_run_reset(n->run);
    dp_zero_grad(n->wrapper);
    if (status == 0)
        status = dp_forward(n->wrapper, n->run, &in, 1, out, &n_out, err);
    if (status == 0)
        status = dp_backward(n->wrapper, n->run, NULL, 0, NULL, 1, err);
    if (status == 0 && rows == SMALL)
        status = dp_tensor_read(n->output, &out[0], err);
    dp_module_params(n->wrapper, list, 2);
    if (status == 0)
        status = dp_tensor_read(n->gradient, &list[0]->grad, err);
    if (in.slot)
        dp_tensor_free(&in);
    return status;
}

static void memory_start(size_t mebibytes, bool peer)
{
    struct fakecuda_config config = fakecuda_defaults();
    config.devices = 2;
    config.peer = peer;
    config.memory_bytes = mebibytes * MIB;
    fakecuda_start(&config);
}

/* NaN is never the same; zeros of both signs are. */
static bool memory_same(const struct net *a, const struct net *b)
{
    bool equal = true;
    for (size_t i = 0; i < sizeof a->output / sizeof *a->output; ++i)
        equal = equal && a->output[i] == b->output[i];
    for (size_t i = 0; i < sizeof a->gradient / sizeof *a->gradient; ++i)
        equal = equal && a->gradient[i] == b->gradient[i];
    return equal;
}

/* Batches that fit and batches that do not alternate. In the largest ones the shards, outputs or
 * gradients do not fit, one after the other. */
static bool goes_on(const char *devices, const struct net *good, bool peer)
{
    static const size_t rows[] = {SMALL, 200000, SMALL, 300000, SMALL};
    struct dp_error err = {0};
    struct net n;
    bool well = true;
    memory_start(128, peer);
    int status = open_net(&n, devices, &err);
    for (size_t i = 0; status == 0 && i < sizeof rows / sizeof rows[0]; ++i) {
        struct dp_error why = {0};
        const int got = memory_step(&n, rows[i], &why), want = rows[i] == SMALL ? 0 : DP_ENOMEM;
        const bool right = got == want && (want || memory_same(&n, good)) &&
                           (got == 0 || (why.status == got && strstr(why.text, "cuda:")));
        if (!right)
            printf("%s: step %zu of %zu rows: %s '%s'\n", devices, i, rows[i],
                   got ? dp_status_name(got) : "other bits", why.text);
        well = well && right;
    }
    if (status)
        printf("%s: %s\n", devices, err.text);
    close_net(&n);
    const int violations = fakecuda_finish();
    printf("%s%s: %s, %d violations\n", devices, peer ? "" : " without peer access",
           well ? "goes on" : "does not go on", violations);
    return well && status == 0 && violations == 0;
}

/* Opens smaller and smaller GPUs: each is opened, or refused as out of memory, and nothing in
 * between. */
static bool opens(const char *devices, const struct net *good, bool peer)
{
    int fitting = 0, refused = 0;
    bool well = true;
    for (size_t mebibytes = 98; well && mebibytes > 0; mebibytes -= mebibytes > 2 ? 16 : 1) {
        struct dp_error err = {0};
        struct net n;
        memory_start(mebibytes, peer);
        int status = open_net(&n, devices, &err);
        if (status == 0)
            status = memory_step(&n, SMALL, &err);
        well = status == 0 ? memory_same(&n, good) : status == DP_ENOMEM && err.text[0] != '\0';
        ++*(status ? &refused : &fitting);
        close_net(&n);
        well = fakecuda_finish() == 0 && well;
        if (!well)
            printf("%s with %zu MiB: %d '%s'\n", devices, mebibytes, status, err.text);
    }
    return well && fitting > 0 && refused > 0;
}

/* cuBLAS cannot be set up on a GPU with this much memory, of which the group uses some and the
 * workspace 32 MiB. */
static bool blas_says(size_t mebibytes, int error, int want, const char *words)
{
    const struct fakecuda_failure failure = {"cublasCreate", 1, error, false};
    struct dp_error err = {0}, none = {0};
    struct net n;
    memory_start(mebibytes, true);
    const int opened = open_net(&n, "cuda:0", &err);
    fakecuda_fail(&failure);
    const int status = opened ? opened : memory_step(&n, SMALL, &err);
    const bool right = opened == 0 && status == want && strstr(err.text, words) &&
                       memory_step(&n, SMALL, &none) == 0; /* and goes on */
    if (!right)
        printf("cublasCreate fails with %zu MiB: %s '%s', then '%s'\n", mebibytes,
               dp_status_name(status), err.text, none.text);
    close_net(&n);
    return fakecuda_finish() == 0 && right;
}

/* cudaErrorMemoryAllocation, cudaErrorInitializationError */
enum { NO_MEMORY = 2, NOT_INITIALIZED = 3 };

int main(void)
{
    static const char *const lists[] = {"cuda:0", "cuda:0-1", "cuda:0,1,0"};
    bool well = blas_says(512, NO_MEMORY, DP_ENOMEM, "cuda:0: cublasCreate") &&
                blas_says(80, NOT_INITIALIZED, DP_ENOMEM, "bytes of memory left") &&
                blas_says(512, NOT_INITIALIZED, DP_EFAULT, "cuda:0: cublasCreate");
    for (size_t i = 1; i < 2 * sizeof lists / sizeof lists[0]; ++i) {
        const char *devices = lists[i / 2];
        const bool peer = i % 2 != 0;
        struct dp_error err = {0};
        struct net good;
        memory_start(512, peer);
        const bool opened =
            open_net(&good, devices, &err) == 0 && memory_step(&good, SMALL, &err) == 0;
        if (!opened)
            printf("%s: %s\n", devices, err.text);
        close_net(&good);
        well = fakecuda_finish() == 0 && opened && goes_on(devices, &good, peer) &&
               opens(devices, &good, peer) && well;
    }
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
