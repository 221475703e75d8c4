/* clock.c: how long steps on all GPUs of one switch would take, by the clock of the fake, and how
 * many calls the host makes for them. The model has 2 GiB, the links of the GPUs carry 380 GB/s,
 * their memory 3.3 TB/s: all of that is 256 times smaller here, launches and calls are not. */
#include "../must.h"
#include "ddp.h"
#include "fakecuda.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 32, FEW = 4, WIDTH = 256, ROWS = 2, WARM = 4, SCALE = 256 };

#define BYTES ((double)LAYERS * WIDTH * WIDTH * sizeof(float))
#define LINK  (380e9 / SCALE)
#define HOST  (55e9 / SCALE)

/* compute: the arithmetic of a step of ranks takes this many times as long as its bytes on a link.
 */
static struct fakecuda_rates rates_for(double compute)
{
    const double operations = 6.0 * ROWS * BYTES / sizeof(float);
    return (struct fakecuda_rates){.link = LINK,
                                   .host = HOST,
                                   .memory = 3.3e12 / SCALE,
                                   .arithmetic = operations / (compute * BYTES / LINK),
                                   .launch_ns = 2000,
                                   .call_ns = 1000};
}

struct node {
    int gpus, layers;
    struct dp_group *group;
    struct dp_slot *slot[DP_MAX_SLOTS];
    struct dp_module *model, *wrapper;
    struct dp_ddp *ddp;
    struct dp_replicas *replicas;
    struct dp_sgd *sgd;
    struct dp_run *run;
    struct dp_tensor input[DP_MAX_SLOTS], batch, grad[DP_MAX_SLOTS];
    struct dp_tensor rows; /* on the host: for each GPU as many bytes as the model has */
};

/* ---- opening ----------------------------------------------------------------------------- */

static void zeros(struct dp_slot *slot, size_t rows, size_t cols, struct dp_tensor *tensor)
{
    float *values = calloc(rows * cols, sizeof *values);
    must(values ? 0 : dp_fail(&must_err, DP_ENOMEM, "no memory for a tensor"));
    must(dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){rows, cols}, tensor, &must_err));
    must(dp_tensor_write(tensor, values, &must_err));
    free(values);
}

static void open_node(struct node *n)
{
    const unsigned scale = n->layers == FEW ? 1 : SCALE; /* few: one bucket, no slices */
    const struct dp_group_config config = {.devices = "cuda:all",
                                           .slice_bytes = (4u << 20) / scale};
    const struct dp_ddp_config ddp = {.first_bucket_bytes = (1u << 20) / scale,
                                      .bucket_bytes = (25u << 20) / scale};
    must(dp_group_open(&config, &n->group, &must_err));
    n->gpus = dp_group_size(n->group);
    for (int r = 0; r < n->gpus; ++r)
        n->slot[r] = dp_group_slot(n->group, r);
    struct dp_module *layer[LAYERS] = {NULL};
    for (int i = 0; i < n->layers; ++i)
        must(dp_linear(n->group, WIDTH, WIDTH, false, &layer[i], &must_err));
    must(dp_sequential(n->group, layer, n->layers, &n->model, &must_err));
    for (int i = 0; i < n->layers; ++i)
        dp_module_close(layer[i]);
    must(dp_module_to(n->model, n->slot[0], &must_err));
    must(dp_module_init(n->model, 3, &must_err));
    zeros(n->slot[0], (size_t)ROWS * (size_t)n->gpus, WIDTH, &n->batch);
    for (int r = 0; r < n->gpus; ++r) {
        zeros(n->slot[r], ROWS, WIDTH, &n->input[r]);
        zeros(n->slot[r], (size_t)LAYERS * WIDTH, WIDTH, &n->grad[r]);
    }
    zeros(dp_group_host(n->group), (size_t)LAYERS * WIDTH * (size_t)n->gpus, WIDTH, &n->rows);
    must(dp_run_open(n->group, &n->run, &must_err));
    must(dp_ddp_open(n->model, n->slot, n->gpus, &ddp, &n->ddp, &must_err));
    must(dp_replicas_open(n->model, n->slot, n->gpus, &n->replicas, &must_err));
    must(dp_sgd_open(n->model, 0.1f, 0.0f, 0.0f, &n->sgd, &must_err));
    must(dp_parallel(n->model, &(struct dp_parallel_config){.dim = 0}, &n->wrapper, &must_err));
}

/* ---- steps ------------------------------------------------------------------------------- */

static void clock_step_ranks(struct node *n)
{
    struct dp_tensor out[DP_MAX_SLOTS * DP_MAX_IO];
    int outputs;
    dp_ddp_reset(n->ddp);
    dp_ddp_zero_grad(n->ddp);
    must(dp_ddp_forward(n->ddp, n->input, 1, NULL, out, &outputs, &must_err));
    must(dp_ddp_backward(n->ddp, NULL, 0, NULL, 0, &must_err));
    must(dp_ddp_step(n->ddp, 0.1f, 0.0f, 0.0f, &must_err));
}

static void step_alone(struct node *n)
{
    dp_ddp_no_sync(n->ddp, true);
    clock_step_ranks(n);
    dp_ddp_no_sync(n->ddp, false);
}

static void step_parallel(struct node *n)
{
    struct dp_tensor out[DP_MAX_IO];
    int outputs;
    dp_run_reset(n->run);
    dp_zero_grad(n->wrapper);
    must(dp_forward(n->wrapper, n->run, &n->batch, 1, out, &outputs, &must_err));
    must(dp_backward(n->wrapper, n->run, NULL, 0, NULL, 0, &must_err));
    must(dp_sgd_step(n->sgd, &must_err));
}

static void clock_replicate(struct node *n)
{
    must(dp_replicate(n->replicas, n->gpus, &must_err));
}

static void clock_reduce(struct node *n)
{
    struct dp_tensor sum;
    dp_run_reset(n->run);
    must(dp_reduce_add_coalesced(n->run, n->grad, 1, n->gpus, n->slot[0], DP_BUFFER_BYTES, &sum,
                                 &must_err));
}

static void from_host(struct node *n)
{
    struct dp_tensor part[DP_MAX_SLOTS];
    int parts;
    dp_run_reset(n->run);
    must(dp_scatter(n->run, &n->rows, n->slot, n->gpus, 0, NULL, part, &parts, &must_err));
}

/* ---- the clock --------------------------------------------------------------------------- */

static void timed(struct node *n, void (*step)(struct node *), double compute,
                  struct fakecuda_time *time)
{
    const struct fakecuda_rates rates = rates_for(compute);
    for (int i = 0; i < WARM; ++i)
        step(n);
    must(dp_group_wait(n->group, &must_err));
    fakecuda_clock_start(&rates);
    step(n);
    must(dp_group_wait(n->group, &must_err));
    *time = fakecuda_clock_stop();
}

/* A row is for a model with `layers` layers, whose arithmetic takes `compute` times as long as its
 * bytes on a link. links: how often all bytes of the model go over a link, at least. alone: it must
 * not be faster than without communication, either. times: it takes at most this many times as long
 * as that; 0: not asked. calls: the most calls of all threads. */
struct row {
    const char *name;
    int gpus, layers;
    double compute;
    void (*step)(struct node *), (*alone)(struct node *);
    double links, times;
    long calls;
};

#define GATHERED(k) (((k)-1.0) / (k))
static const struct row rows[] = {
    {"DDP step, much to compute", 8, LAYERS, 4, clock_step_ranks, step_alone, GATHERED(8), 1.1,
     8040},
    {"DDP step, little to compute", 8, LAYERS, 0.1, clock_step_ranks, step_alone, 2 * GATHERED(8),
     1.36, 8040},
    {"replicate", 8, LAYERS, 1, clock_replicate, NULL, 1, 1.15, 631},
    {"reduce", 8, LAYERS, 1, clock_reduce, NULL, 1, 1.03, 75},
    {"DataParallel step", 8, LAYERS, 4, step_parallel, step_alone, 2, 1.53, 881},
    {"scatter from the host", 8, LAYERS, 1, from_host, NULL, LINK / HOST, 1.02, 100},
    {"DDP step, one bucket", 8, FEW, 1, clock_step_ranks, NULL, 0, 0, 401},
    {"DataParallel step", 8, FEW, 1, step_parallel, NULL, 0, 0, 316},
    {"DDP step, little to compute", 4, LAYERS, 0.1, clock_step_ranks, step_alone, 2 * GATHERED(4),
     1.39, 2468},
    {"replicate", 4, LAYERS, 1, clock_replicate, NULL, 1, 1.12, 183},
    {"DDP step, little to compute", 2, LAYERS, 0.1, clock_step_ranks, step_alone, 2 * GATHERED(2),
     1.55, 846},
    {"replicate", 2, LAYERS, 1, clock_replicate, NULL, 1, 1.02, 12},
};

static bool clock_check(struct node *n, const struct row *row)
{
    struct fakecuda_time time, alone = {0};
    must_row = row->name;
    if (row->alone)
        timed(n, row->alone, row->compute, &alone);
    timed(n, row->step, row->compute, &time);
    const double links_ns = row->links * BYTES / LINK * 1e9;
    const double alone_ns = alone.ns;
    const double least = links_ns > alone_ns ? links_ns : alone_ns;
    const double times = row->times > 0 ? time.ns / least : 0;
    const bool slow = row->times > 0 && !(times <= row->times);
    /* It is faster than the links: something that was moved was not counted. */
    const bool lost = row->times > 0 && times < 0.999;
    const bool much = time.calls > row->calls;
    printf("%d GPUs, %2d layers, %-28s %7.0f us", row->gpus, row->layers, row->name,
           time.ns * 1e-3);
    if (row->times > 0)
        printf(" (links %6.0f, alone %6.0f: %.3f times, at most %.3f)", links_ns * 1e-3,
               alone_ns * 1e-3, times, row->times);
    printf("; %ld calls, at most %ld; %ld operations%s%s%s\n", time.calls, row->calls,
           time.operations, slow ? ": TOO SLOW" : "", lost ? ": TOO FAST" : "",
           much ? ": TOO MANY CALLS" : "");
    return !slow && !lost && !much;
}

static int check_all(const struct fakecuda_config *config, int layers)
{
    struct node node = {.layers = layers};
    int bad = 0, checked = 0;
    fakecuda_start(config);
    open_node(&node);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (rows[i].gpus != node.gpus || rows[i].layers != layers)
            continue;
        bad |= !clock_check(&node, &rows[i]);
        ++checked;
    }
    dp_module_close(node.wrapper);
    dp_sgd_close(node.sgd);
    dp_replicas_close(node.replicas);
    dp_ddp_close(node.ddp);
    dp_run_close(node.run);
    for (int r = 0; r < node.gpus; ++r) {
        dp_tensor_free(&node.input[r]);
        dp_tensor_free(&node.grad[r]);
    }
    dp_tensor_free(&node.batch);
    dp_tensor_free(&node.rows);
    dp_module_close(node.model);
    dp_group_close(node.group);
    return fakecuda_finish() || bad || (layers == LAYERS && checked == 0);
}

int main(void)
{
    struct fakecuda_config config = fakecuda_defaults();
    const int many = check_all(&config, LAYERS), few = check_all(&config, FEW);
    return many || few;
}
