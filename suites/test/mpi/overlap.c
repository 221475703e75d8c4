/* overlap.c: a bucket that is ready early is reduced between processes while backward goes on: its
 * sum is there long before backward ends.
 *
 *   lockstep-mpi-overlap MODULE
 *
 * The model has two linear layers, and between them a layer whose backward sleeps: the gradients of
 * the last layer are ready before it, those of the first after it. */
#include "ddp.h"
#include "dp_mpi.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

static int overlap_open_model(struct dp_group *group, struct dp_module **model,
                              struct dp_error *err)
{
    struct dp_module *child[3] = {NULL};
    int status = dp_linear(group, D, D, true, &child[0], err);
    if (status == 0)
        status = dp_module_open(group, &sleeper, NULL, NULL, 0, &child[1], err);
    if (status == 0)
        status = dp_linear(group, D, D, true, &child[2], err);
    if (status == 0)
        status = dp_sequential(group, child, 3, model, err);
    for (int k = 0; k < 3; ++k)
        dp_module_close(child[k]);
    if (status == 0)
        status = dp_module_init(*model, 1, err);
    return status ? status : dp_module_to(*model, dp_group_slot(group, 0), err);
}

static int overlap_step(struct dp_ddp *ddp, const struct dp_tensor *in, struct dp_error *err)
{
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    dp_ddp_reset(ddp);
    dp_ddp_zero_grad(ddp);
    const int status = dp_ddp_forward(ddp, in, 1, NULL, out, &n_out, err);
    return status ? status : dp_ddp_backward(ddp, NULL, 0, NULL, 0, err);
}

/* Looks at the first bucket of the last backward. */
static int overlap_look(struct dp_ddp *ddp, int process, struct dp_error *err)
{
    struct dp_ddp_bucket first;
    uint64_t begin, end;
    const int status = dp_ddp_bucket(ddp, 0, 0, &first, err);
    dp_ddp_times(ddp, 0, &begin, &end);
    if (status)
        return status;
    printf("process %d: %d buckets; the first, of %zu bytes: ready at %.1f ms, reduced at %.1f ms; "
           "backward ends at %.1f ms\n",
           process, dp_ddp_buckets(ddp), first.bytes, (double)(first.ready_ns - begin) * 1e-6,
           (double)(first.done_ns - begin) * 1e-6, (double)(end - begin) * 1e-6);
    const bool beside = dp_ddp_buckets(ddp) > 1 && first.done_ns > first.ready_ns &&
                        first.done_ns + MARGIN_MS * 1000000ull < end;
    return beside ? 0 : dp_fail(err, DP_EFAULT, "the first bucket is not reduced beside backward");
}

static int overlap_train(struct dp_mpi *mpi, struct dp_group *group, struct dp_module *model,
                         struct dp_error *err)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = 1024, .bucket_bytes = 1048576};
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_ddp *ddp = NULL;
    struct dp_tensor in = {0};
    float numbers[ROWS * D];
    for (int i = 0; i < ROWS * D; ++i)
        numbers[i] = (float)(i % 7) - 3.0f;
    int status = dp_ddp_open(model, &slot, 1, &config, &ddp, err);
    if (status == 0)
        status = dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){ROWS, D}, &in, err);
    if (status == 0)
        status = dp_tensor_write(&in, numbers, err);
    for (int k = 0; status == 0 && k < STEPS; ++k)
        status = overlap_step(ddp, &in, err);
    if (status == 0)
        status = overlap_look(ddp, dp_mpi_rank(mpi), err);
    if (in.slot)
        dp_tensor_free(&in);
    dp_ddp_close(ddp);
    return status;
}

int main(int argc, char **argv)
{
    struct dp_mpi *mpi = NULL;
    struct dp_group *group = NULL;
    struct dp_module *model = NULL;
    struct dp_error err = {0};
    if (argc != 2)
        return 2;
    const struct dp_mpi_config config = {.module = argv[1], .deadline_ms = 20000};
    int status = dp_mpi_open(&config, &mpi, &err);
    const struct dp_group_config g = {.devices = "virt:1", .world = mpi ? dp_mpi_world(mpi) : NULL};
    if (status == 0)
        status = dp_group_open(&g, &group, &err);
    if (status == 0)
        status = overlap_open_model(group, &model, &err);
    if (status == 0)
        status = overlap_train(mpi, group, model, &err);
    dp_module_close(model);
    dp_group_close(group);
    if (dp_mpi_close(mpi, &err) || status) {
        printf("FAIL: %s\n", err.text);
        fflush(stdout);
        _exit(1);
    }
    return 0;
}
