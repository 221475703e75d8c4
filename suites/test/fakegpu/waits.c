/* waits.c: the communicator peer moves the right numbers between 2, 4 and 8 GPUs, cut into slices
 * or not, and the check of the order finds each wait that is left out. Before and after each
 * operation its memory is written, so that the operation has something to wait for. */
#include "ddp.h"
#include "fakecuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40003, WIDTH = 61, ROWS = 16 };

struct node {
    int gpus;
    struct dp_group *group;
    struct dp_tensor x[DP_MAX_SLOTS], t[DP_MAX_SLOTS]; /* x is copied to t */
    struct dp_module *first, *second, *model, *wrapper;
    struct dp_sgd *sgd;
    struct dp_replicas *replicas;
    struct dp_run *run;
    struct dp_tensor batch, input[DP_MAX_SLOTS], sum;
    float *host;
    struct dp_error err;
};

/* ---- opening ----------------------------------------------------------------------------- */

static float value_of(int r, size_t i)
{
    return (float)((i * 7 + (size_t)r * 13) % 31) - 15.0f;
}

static int tensor(struct node *n, int r, size_t rows, size_t cols, struct dp_tensor *t)
{
    int status =
        dp_tensor_alloc(dp_group_slot(n->group, r), DP_F32, 2, (size_t[]){rows, cols}, t, &n->err);
    for (size_t i = 0; i < rows * cols; ++i)
        n->host[i] = value_of(r, i);
    return status ? status : dp_tensor_write(t, n->host, &n->err);
}

static int waits_open_data(struct node *n)
{
    int status = tensor(n, 0, ROWS, WIDTH, &n->batch);
    for (int r = 0; status == 0 && r < n->gpus; ++r) {
        status = tensor(n, r, 1, N, &n->x[r]);
        if (status == 0)
            status = tensor(n, r, 1, N, &n->t[r]);
        if (status == 0)
            status = tensor(n, r, ROWS, WIDTH, &n->input[r]);
        if (status == 0)
            status = dp_tensor_copy(&n->input[r], &n->batch, &n->err);
    }
    return status;
}

/* The values are in two blocks, so that they are not sent as one. */
static int waits_open_model(struct node *n)
{
    struct dp_error *err = &n->err;
    int status = dp_linear(n->group, WIDTH, WIDTH, true, &n->first, err);
    if (status == 0)
        status = dp_linear(n->group, WIDTH, 3, true, &n->second, err);
    if (status == 0)
        status = dp_module_to(n->first, dp_group_slot(n->group, 0), err);
    if (status == 0)
        status = dp_module_to(n->second, dp_group_slot(n->group, 0), err);
    if (status == 0)
        status =
            dp_sequential(n->group, (struct dp_module *[]){n->first, n->second}, 2, &n->model, err);
    if (status == 0)
        status = dp_module_init(n->model, 5, err);
    if (status == 0)
        status = dp_parallel(n->model, &(struct dp_parallel_config){.dim = 0}, &n->wrapper, err);
    return status ? status : dp_sgd_open(n->model, 0.01f, 0.0f, 0.0f, &n->sgd, err);
}

static int open_node(struct node *n, size_t slice_bytes)
{
    const struct dp_group_config config = {.devices = "cuda:all", .slice_bytes = slice_bytes};
    struct dp_slot *slot[DP_MAX_SLOTS];
    *n = (struct node){.host = malloc(N * sizeof *n->host)};
    int status = n->host ? 0 : dp_fail(&n->err, DP_ENOMEM, "no memory");
    if (status == 0)
        status = dp_group_open(&config, &n->group, &n->err);
    n->gpus = status ? 0 : dp_group_size(n->group);
    for (int r = 0; r < n->gpus; ++r)
        slot[r] = dp_group_slot(n->group, r);
    if (status == 0)
        status = waits_open_data(n);
    if (status == 0)
        status = waits_open_model(n);
    if (status == 0)
        status = dp_run_open(n->group, &n->run, &n->err);
    return status ? status : dp_replicas_open(n->model, slot, n->gpus, &n->replicas, &n->err);
}

static void close_node(struct node *n)
{
    dp_replicas_close(n->replicas);
    dp_run_close(n->run);
    dp_sgd_close(n->sgd);
    dp_module_close(n->wrapper);
    dp_module_close(n->model);
    dp_module_close(n->second);
    dp_module_close(n->first);
    for (int r = 0; r < n->gpus; ++r) {
        dp_tensor_free(&n->x[r]);
        dp_tensor_free(&n->t[r]);
        dp_tensor_free(&n->input[r]);
    }
    dp_tensor_free(&n->batch);
    dp_group_close(n->group);
    free(n->host);
}

/* ---- operations -------------------------------------------------------------------------- */

static int waits_write_all(struct node *n)
{
    int status = 0;
    for (int r = 0; status == 0 && r < n->gpus; ++r)
        status = dp_tensor_copy(&n->t[r], &n->x[r], &n->err);
    return status;
}

static int broadcast_first(struct node *n)
{
    return dp_broadcast(n->group, n->t, 0, &n->err);
}

static int broadcast_last(struct node *n)
{
    return dp_broadcast(n->group, n->t, n->gpus - 1, &n->err);
}

static int allreduce(struct node *n)
{
    return dp_allreduce(n->group, n->t, &n->err);
}

static int waits_reduce(struct node *n)
{
    dp_run_reset(n->run);
    return dp_reduce_add_coalesced(n->run, n->t, 1, n->gpus, n->t[0].slot, DP_BUFFER_BYTES, &n->sum,
                                   &n->err);
}

/* Every replica gets the sum, so that it can be compared. */
static int reduce_and_send(struct node *n)
{
    int status = waits_reduce(n);
    for (int r = 0; status == 0 && r < n->gpus; ++r)
        status = dp_tensor_copy(&n->t[r], &n->sum, &n->err);
    return status;
}

static float waits_first_of(int gpus, size_t i)
{
    (void)gpus;
    return value_of(0, i);
}

static float last_of(int gpus, size_t i)
{
    return value_of(gpus - 1, i);
}

static float waits_sum_of(int gpus, size_t i)
{
    float sum = 0;
    for (int r = 0; r < gpus; ++r)
        sum += value_of(r, i);
    return sum;
}

struct row {
    const char *name;
    int (*run)(struct node *), (*shown)(struct node *); /* shown: the result is in t */
    float (*want)(int gpus, size_t i);
};
static const struct row rows[] = {
    {"broadcast from the first", broadcast_first, broadcast_first, waits_first_of},
    {"broadcast from the last", broadcast_last, broadcast_last, last_of},
    {"allreduce", allreduce, allreduce, waits_sum_of},
    {"reduce", waits_reduce, reduce_and_send, waits_sum_of}};

static int check_values(struct node *n, const struct row *row)
{
    int status = waits_write_all(n);
    if (status == 0)
        status = row->shown(n);
    for (int r = 0; status == 0 && r < n->gpus; ++r) {
        status = dp_tensor_read(n->host, &n->t[r], &n->err);
        for (size_t i = 0; status == 0 && i < N; ++i) {
            if (n->host[i] != row->want(n->gpus, i))
                status = dp_fail(&n->err, DP_EFAULT, "GPU %d has %g at %zu, not %g", r,
                                 (double)n->host[i], i, (double)row->want(n->gpus, i));
        }
    }
    if (status)
        printf("%s, %d GPUs: %s\n", row->name, n->gpus, n->err.text);
    return status != 0;
}

static int run_once(struct node *n, const struct row *row)
{
    int status = waits_write_all(n);
    if (status == 0)
        status = row->run(n);
    if (status == 0)
        status = waits_write_all(n);
    return status ? status : dp_group_wait(n->group, &n->err);
}

/* Each wait of an operation is left out in turn. */
static int check_waits(struct node *n, const struct row *row)
{
    const long before = fakecuda_calls("cudaStreamWaitEvent");
    int status = run_once(n, row), bad = 0;
    const long waits = fakecuda_calls("cudaStreamWaitEvent") - before;
    for (long wait = 1; status == 0 && wait <= waits; ++wait) {
        const int violations = fakecuda_verdict();
        fakecuda_drop_wait(wait);
        status = run_once(n, row);
        fakecuda_drop_wait(0);
        if (fakecuda_verdict() > violations)
            continue;
        ++bad;
        printf("%s, %d GPUs: nobody missed wait %ld of %ld\n", row->name, n->gpus, wait, waits);
    }
    printf("%s, %d GPUs: %ld waits left out in turn, %d not found%s%s\n", row->name, n->gpus, waits,
           bad, status ? ": " : "", status ? n->err.text : "");
    return status != 0 || bad > 0 || waits == 0;
}

/* Every replica returns the results of the base. */
static int check_replicate(struct node *n)
{
    struct dp_call calls[DP_MAX_SLOTS];
    struct dp_tensor out[DP_MAX_SLOTS][DP_MAX_IO];
    float want[ROWS * 3], got[ROWS * 3];
    int status = dp_replicate(n->replicas, n->gpus, &n->err);
    for (int r = 0; r < n->gpus; ++r)
        calls[r] = (struct dp_call){.module = n->model,
                                    .run = dp_replicas_run(n->replicas, r),
                                    .in = &n->input[r],
                                    .n_in = 1,
                                    .out = out[r]};
    if (status == 0)
        status = dp_apply(calls, n->gpus, &n->err);
    for (int r = 0; status == 0 && r < n->gpus; ++r) {
        status = dp_tensor_read(r == 0 ? want : got, &out[r][0], &n->err);
        if (status == 0 && r > 0 && memcmp(want, got, sizeof got) != 0)
            status = dp_fail(&n->err, DP_EFAULT, "replica %d gives something else", r);
    }
    if (status)
        printf("replicate: %s\n", n->err.text);
    return status != 0;
}

/* Runs two steps without a wait of the host between them. */
static int check_steps(struct node *n)
{
    struct dp_tensor out[DP_MAX_IO];
    int status = 0, outputs;
    for (int step = 0; status == 0 && step < 2; ++step) {
        dp_run_reset(n->run);
        dp_zero_grad(n->wrapper);
        status = dp_forward(n->wrapper, n->run, &n->batch, 1, out, &outputs, &n->err);
        if (status == 0)
            status = dp_backward(n->wrapper, n->run, NULL, 0, NULL, 0, &n->err);
        if (status == 0)
            status = dp_sgd_step(n->sgd, &n->err);
    }
    if (status == 0)
        status = dp_group_wait(n->group, &n->err);
    if (status)
        printf("steps: %s\n", n->err.text);
    return status != 0;
}

/* ---- all of it --------------------------------------------------------------------------- */

static int check_right(enum fakecuda_mode mode, uint64_t seed, size_t slice_bytes)
{
    struct fakecuda_config config;
    struct node n;
    fakecuda_defaults(&config);
    config.mode = mode;
    config.seed = seed;
    fakecuda_start(&config);
    int bad = open_node(&n, slice_bytes);
    if (!bad && (fakecuda_streams(-5) != n.gpus || fakecuda_streams(0) != n.gpus)) {
        printf("%d streams of the highest priority, %d of the lowest, of %d GPUs\n",
               fakecuda_streams(-5), fakecuda_streams(0), n.gpus);
        bad = 1;
    }
    for (size_t i = 0; !bad && i < sizeof rows / sizeof *rows; ++i)
        bad = check_values(&n, &rows[i]);
    bad = bad || check_steps(&n) || check_replicate(&n);
    if (n.err.status)
        printf("%s\n", n.err.text);
    close_node(&n);
    const int violations = fakecuda_finish();
    if (violations > 0 || bad)
        printf("mode %d, seed %d, slices of %zu: %s\n", (int)mode, (int)seed, slice_bytes,
               fakecuda_first());
    return bad || violations > 0;
}

static int check_wrong(size_t slice_bytes)
{
    struct fakecuda_config config;
    struct node n;
    fakecuda_defaults(&config);
    config.quiet = true;
    fakecuda_start(&config);
    int bad = open_node(&n, slice_bytes);
    for (size_t i = 0; !bad && i < sizeof rows / sizeof *rows; ++i)
        bad = check_waits(&n, &rows[i]);
    close_node(&n);
    fakecuda_finish();
    return bad;
}

int main(void)
{
    static const size_t slices[] = {1, 9000, 0};
    int bad = 0;
    for (size_t i = 0; i < sizeof slices / sizeof *slices; ++i) {
        bad |= check_right(FAKECUDA_LAZY, 1, slices[i]);
        for (uint64_t seed = 1; seed <= 3; ++seed)
            bad |= check_right(FAKECUDA_RANDOM, seed, slices[i]);
        bad |= check_wrong(slices[i]);
    }
    fflush(stdout);
    _Exit(bad != 0); /* the violations were intended */
}
