/* overlap.c: a bucket that is ready early is reduced between processes while backward goes on: its
 * sum is there long before backward ends.
 *
 *   lockstep-mpi-overlap MODULE
 *
 * The model has two linear layers, and between them a layer whose backward sleeps: the gradients of
 * the last layer are ready before it, those of the first after it. */
#include "ddp.h"
#include "start.h"

#include <stdio.h>
#include <time.h>

enum { D = 512, ROWS = 8, STEPS = 2, NAP_MS = 300, MARGIN_MS = 100 };

static int pass(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[], int n_in,
                struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module, (void)run, (void)n_in, (void)err;
    out[0] = in[0];
    *n_out = 1;
    return 0;
}

static int sleep_back(struct dp_module *module, struct dp_run *run,
                      const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                      int n_in, struct dp_error *err)
{
    const struct timespec nap = {0, NAP_MS * 1000000l};
    (void)module, (void)run, (void)n_out, (void)n_in, (void)err;
    nanosleep(&nap, NULL);
    grad_in[0] = grad_out[0];
    return 0;
}

static const struct dp_module_ops sleeper = {"sleeper", pass, sleep_back, NULL};

static void overlap_open_model(struct dp_group *group, struct dp_module **model)
{
    struct dp_module *child[3] = {NULL};
    must(dp_linear(group, D, D, true, &child[0], &must_err));
    must(dp_module_open(group, &sleeper, NULL, NULL, 0, &child[1], &must_err));
    must(dp_linear(group, D, D, true, &child[2], &must_err));
    must(dp_sequential(group, child, 3, model, &must_err));
    for (int k = 0; k < 3; ++k)
        dp_module_close(child[k]);
    must(dp_module_init(*model, 1, &must_err));
    must(dp_module_to(*model, dp_group_slot(group, 0), &must_err));
}

static void overlap_step(struct dp_ddp *ddp, const struct dp_tensor *in)
{
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    dp_ddp_reset(ddp);
    dp_ddp_zero_grad(ddp);
    must(dp_ddp_forward(ddp, in, 1, NULL, out, &n_out, &must_err));
    must(dp_ddp_backward(ddp, NULL, 0, NULL, 0, &must_err));
}

/* Looks at the first bucket of the last backward. */
static void overlap_look(struct dp_ddp *ddp, int process)
{
    struct dp_ddp_bucket first;
    uint64_t begin, end;
    must(dp_ddp_bucket(ddp, 0, 0, &first, &must_err));
    dp_ddp_times(ddp, 0, &begin, &end);
    printf("process %d: %d buckets; the first, of %zu bytes: ready at %.1f ms, reduced at %.1f ms; "
           "backward ends at %.1f ms\n",
           process, dp_ddp_buckets(ddp), first.bytes, (double)(first.ready_ns - begin) * 1e-6,
           (double)(first.done_ns - begin) * 1e-6, (double)(end - begin) * 1e-6);
    const bool beside = dp_ddp_buckets(ddp) > 1 && first.done_ns > first.ready_ns &&
                        first.done_ns + MARGIN_MS * 1000000ull < end;
    must(beside ? 0
                : dp_fail(&must_err, DP_EFAULT, "the first bucket is not reduced during backward"));
}

static void overlap_train(struct dp_mpi *mpi, struct dp_group *group, struct dp_module *model)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = 1024, .bucket_bytes = 1048576};
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_ddp *ddp = NULL;
    struct dp_tensor in = {0};
    float numbers[ROWS * D];
    for (int i = 0; i < ROWS * D; ++i)
        numbers[i] = (float)(i % 7) - 3.0f;
    must(dp_ddp_open(model, &slot, 1, &config, &ddp, &must_err));
    must(dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){ROWS, D}, &in, &must_err));
    must(dp_tensor_write(&in, numbers, &must_err));
    for (int k = 0; k < STEPS; ++k)
        overlap_step(ddp, &in);
    overlap_look(ddp, dp_mpi_rank(mpi));
    dp_tensor_free(&in);
    dp_ddp_close(ddp);
}

int main(int argc, char **argv)
{
    struct dp_group *group = NULL;
    struct dp_module *model = NULL;
    if (argc != 2)
        return 2;
    struct dp_mpi *mpi = start_mpi(argv[1]);
    const struct dp_group_config g = {.devices = "virt:1", .world = dp_mpi_world(mpi)};
    must(dp_group_open(&g, &group, &must_err));
    overlap_open_model(group, &model);
    overlap_train(mpi, group, model);
    dp_module_close(model);
    dp_group_close(group);
    end_mpi(mpi);
    return 0;
}
