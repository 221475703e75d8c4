/* waits.c: the communicator peer moves the right numbers between 2, 4 and 8 GPUs, cut into slices
 * or not, and the check of the order finds each wait that is left out. Before and after each
 * operation its memory is written, so that the operation has something to wait for. */
#include "../must.h"
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
};

/* ---- opening ----------------------------------------------------------------------------- */

static float value_of(int r, size_t i)
{
    return (float)((i * 7 + (size_t)r * 13) % 31) - 15.0f;
}

static void tensor(struct node *n, int r, size_t rows, size_t cols, struct dp_tensor *t)
{
    must(dp_tensor_alloc(dp_group_slot(n->group, r), DP_F32, 2, (size_t[]){rows, cols}, t,
                         &must_err));
    for (size_t i = 0; i < rows * cols; ++i)
        n->host[i] = value_of(r, i);
    must(dp_tensor_write(t, n->host, &must_err));
}

static void open_node(struct node *n, size_t slice_bytes)
{
    const struct dp_group_config config = {.devices = "cuda:all", .slice_bytes = slice_bytes};
    struct dp_slot *slot[DP_MAX_SLOTS];
    *n = (struct node){.host = malloc(N * sizeof *n->host)};
    must(n->host ? 0 : dp_fail(&must_err, DP_ENOMEM, "no memory"));
    must(dp_group_open(&config, &n->group, &must_err));
    n->gpus = dp_group_size(n->group);
    for (int r = 0; r < n->gpus; ++r)
        slot[r] = dp_group_slot(n->group, r);
    tensor(n, 0, ROWS, WIDTH, &n->batch);
    for (int r = 0; r < n->gpus; ++r) {
        tensor(n, r, 1, N, &n->x[r]);
        tensor(n, r, 1, N, &n->t[r]);
        tensor(n, r, ROWS, WIDTH, &n->input[r]);
        must(dp_tensor_copy(&n->input[r], &n->batch, &must_err));
    }
    /* The values are in two blocks, so that they are not sent as one. */
    must(dp_linear(n->group, WIDTH, WIDTH, true, &n->first, &must_err));
    must(dp_linear(n->group, WIDTH, 3, true, &n->second, &must_err));
    must(dp_module_to(n->first, dp_group_slot(n->group, 0), &must_err));
    must(dp_module_to(n->second, dp_group_slot(n->group, 0), &must_err));
    must(dp_sequential(n->group, (struct dp_module *[]){n->first, n->second}, 2, &n->model,
                       &must_err));
    must(dp_module_init(n->model, 5, &must_err));
    must(dp_parallel(n->model, &(struct dp_parallel_config){.dim = 0}, &n->wrapper, &must_err));
    must(dp_sgd_open(n->model, 0.01f, 0.0f, 0.0f, &n->sgd, &must_err));
    must(dp_run_open(n->group, &n->run, &must_err));
    must(dp_replicas_open(n->model, slot, n->gpus, &n->replicas, &must_err));
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

static void waits_write_all(struct node *n)
{
    for (int r = 0; r < n->gpus; ++r)
        must(dp_tensor_copy(&n->t[r], &n->x[r], &must_err));
}

static void broadcast_first(struct node *n)
{
    must(dp_broadcast(n->group, n->t, 0, &must_err));
}

static void broadcast_last(struct node *n)
{
    must(dp_broadcast(n->group, n->t, n->gpus - 1, &must_err));
}

static void allreduce(struct node *n)
{
    must(dp_allreduce(n->group, n->t, &must_err));
}

static void waits_reduce(struct node *n)
{
    dp_run_reset(n->run);
    must(dp_reduce_add_coalesced(n->run, n->t, 1, n->gpus, n->t[0].slot, DP_BUFFER_BYTES, &n->sum,
                                 &must_err));
}

/* Every replica gets the sum, so that it can be compared. */
static void reduce_and_send(struct node *n)
{
    waits_reduce(n);
    for (int r = 0; r < n->gpus; ++r)
        must(dp_tensor_copy(&n->t[r], &n->sum, &must_err));
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
    void (*run)(struct node *), (*shown)(struct node *); /* shown: the result is in t */
    float (*want)(int gpus, size_t i);
};
static const struct row rows[] = {
    {"broadcast from the first", broadcast_first, broadcast_first, waits_first_of},
    {"broadcast from the last", broadcast_last, broadcast_last, last_of},
    {"allreduce", allreduce, allreduce, waits_sum_of},
    {"reduce", waits_reduce, reduce_and_send, waits_sum_of}};

static void check_values(struct node *n, const struct row *row)
{
    must_row = row->name;
    waits_write_all(n);
    row->shown(n);
    for (int r = 0; r < n->gpus; ++r) {
        must(dp_tensor_read(n->host, &n->t[r], &must_err));
        for (size_t i = 0; i < N; ++i) {
            if (n->host[i] != row->want(n->gpus, i))
                must(dp_fail(&must_err, DP_EFAULT, "GPU %d has %g at %zu, not %g", r,
                             (double)n->host[i], i, (double)row->want(n->gpus, i)));
        }
    }
}

static void run_once(struct node *n, const struct row *row)
{
    waits_write_all(n);
    row->run(n);
    waits_write_all(n);
    must(dp_group_wait(n->group, &must_err));
}

/* Each wait of an operation is left out in turn. */
static int check_waits(struct node *n, const struct row *row)
{
    must_row = row->name;
    const long before = fakecuda_calls("cudaStreamWaitEvent");
    run_once(n, row);
    const long waits = fakecuda_calls("cudaStreamWaitEvent") - before;
    int bad = 0;
    for (long wait = 1; wait <= waits; ++wait) {
        const int violations = fakecuda_verdict();
        fakecuda_drop_wait(wait);
        run_once(n, row);
        fakecuda_drop_wait(0);
        if (fakecuda_verdict() > violations)
            continue;
        ++bad;
        printf("%s, %d GPUs: nobody missed wait %ld of %ld\n", row->name, n->gpus, wait, waits);
    }
    printf("%s, %d GPUs: %ld waits left out in turn, %d not found\n", row->name, n->gpus, waits,
           bad);
    return bad > 0 || waits == 0;
}

/* Every replica returns the results of the base. */
static void check_replicate(struct node *n)
{
    struct dp_call calls[DP_MAX_SLOTS];
    struct dp_tensor out[DP_MAX_SLOTS][DP_MAX_IO];
    float want[ROWS * 3], got[ROWS * 3];
    must_row = "replicate";
    must(dp_replicate(n->replicas, n->gpus, &must_err));
    for (int r = 0; r < n->gpus; ++r)
        calls[r] = (struct dp_call){.module = n->model,
                                    .run = dp_replicas_run(n->replicas, r),
                                    .in = &n->input[r],
                                    .n_in = 1,
                                    .out = out[r]};
    must(dp_apply(calls, n->gpus, &must_err));
    for (int r = 0; r < n->gpus; ++r) {
        must(dp_tensor_read(r == 0 ? want : got, &out[r][0], &must_err));
        if (r > 0 && memcmp(want, got, sizeof got) != 0)
            must(dp_fail(&must_err, DP_EFAULT, "replica %d gives something else", r));
    }
}

/* Runs two steps without a wait of the host between them. */
static void check_steps(struct node *n)
{
    struct dp_tensor out[DP_MAX_IO];
    int outputs;
    must_row = "steps";
    for (int step = 0; step < 2; ++step) {
        dp_run_reset(n->run);
        dp_zero_grad(n->wrapper);
        must(dp_forward(n->wrapper, n->run, &n->batch, 1, out, &outputs, &must_err));
        must(dp_backward(n->wrapper, n->run, NULL, 0, NULL, 0, &must_err));
        must(dp_sgd_step(n->sgd, &must_err));
    }
    must(dp_group_wait(n->group, &must_err));
}

/* ---- all of it --------------------------------------------------------------------------- */

static int check_right(enum fakecuda_mode mode, uint64_t seed, size_t slice_bytes)
{
    struct node n;
    struct fakecuda_config config = fakecuda_defaults();
    config.mode = mode;
    config.seed = seed;
    fakecuda_start(&config);
    must_row = NULL;
    open_node(&n, slice_bytes);
    if (fakecuda_streams(-5) != n.gpus || fakecuda_streams(0) != n.gpus)
        must(dp_fail(&must_err, DP_EFAULT,
                     "%d streams of the highest priority, %d of the lowest, of %d GPUs",
                     fakecuda_streams(-5), fakecuda_streams(0), n.gpus));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        check_values(&n, &rows[i]);
    check_steps(&n);
    check_replicate(&n);
    close_node(&n);
    const int violations = fakecuda_finish();
    if (violations > 0)
        printf("mode %d, seed %d, slices of %zu: %s\n", (int)mode, (int)seed, slice_bytes,
               fakecuda_first());
    return violations > 0;
}

static int check_wrong(size_t slice_bytes)
{
    struct node n;
    struct fakecuda_config config = fakecuda_defaults();
    config.quiet = true;
    fakecuda_start(&config);
    int bad = 0;
    must_row = NULL;
    open_node(&n, slice_bytes);
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
