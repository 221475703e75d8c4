/* nccl.c: ranks with the fake NCCL. Each call in turn fails, a collective never ends, or one of its
 * ranks is lost.
 *
 * A step that returns success has the right result. After an error everything can be closed,
 * nothing is leaked and no rule of CUDA or NCCL was broken. */
#include "ddp.h"
#include "fakecuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 2, ROWS = 3, WIDTH = 4, STEPS = 2, PARAMS = 4, MOST = WIDTH * WIDTH };

struct ranks {
    struct dp_group *group;
    struct dp_module *first, *second, *model;
    struct dp_ddp *ddp;
    struct dp_tensor input[GPUS], output[GPUS];
    float value[GPUS][PARAMS][MOST], collective_call[GPUS][DP_COLLECTIVE_KINDS][ROWS * WIDTH];
};

static int nccl_open_model(struct ranks *s, struct dp_error *err)
{
    const struct dp_group_config how = {
        .devices = "cuda:0,1", .communicator = "nccl", .deadline_s = 1};
    const struct dp_ddp_config config = {.first_bucket_bytes = 16, .bucket_bytes = 32};
    int status = dp_group_open(&how, &s->group, err);
    if (status == 0)
        status = dp_linear(s->group, WIDTH, WIDTH, true, &s->first, err);
    if (status == 0)
        status = dp_linear(s->group, WIDTH, WIDTH, true, &s->second, err);
    if (status == 0)
        status =
            dp_sequential(s->group, (struct dp_module *[]){s->first, s->second}, 2, &s->model, err);
    if (status == 0)
        status = dp_module_init(s->model, 7, err);
    if (status == 0)
        status = dp_module_to(s->model, dp_group_slot(s->group, 0), err);
    if (status)
        return status;
    struct dp_slot *slots[] = {dp_group_slot(s->group, 0), dp_group_slot(s->group, 1)};
    return dp_ddp_open(s->model, slots, GPUS, &config, &s->ddp, err);
}

static int nccl_open_data(struct ranks *s, struct dp_error *err)
{
    int status = 0;
    for (int r = 0; status == 0 && r < GPUS; ++r) {
        float values[ROWS * WIDTH];
        for (int i = 0; i < ROWS * WIDTH; ++i)
            values[i] = (float)((i + r) % 5) - 2.0f;
        status = dp_tensor_alloc(dp_group_slot(s->group, r), DP_F32, 2, (size_t[]){ROWS, WIDTH},
                                 &s->input[r], err);
        if (status == 0)
            status = dp_tensor_write(&s->input[r], values, err);
        if (status == 0)
            status = dp_tensor_alloc(dp_group_slot(s->group, r), DP_F32, 1,
                                     (size_t[]){ROWS * WIDTH}, &s->output[r], err);
        if (status == 0)
            status = dp_tensor_write(&s->output[r], values, err);
    }
    return status;
}

static int nccl_train(struct ranks *s, struct dp_error *err)
{
    struct dp_tensor out[GPUS * DP_MAX_IO];
    int n = 0, status = 0;
    for (int step = 0; status == 0 && step < STEPS; ++step) {
        dp_ddp_reset(s->ddp);
        dp_ddp_zero_grad(s->ddp);
        status = dp_ddp_forward(s->ddp, s->input, 1, NULL, out, &n, err);
        if (status == 0)
            status = dp_ddp_backward(s->ddp, NULL, 0, NULL, 0, err);
        if (status == 0)
            status = dp_ddp_step(s->ddp, 0.25f, 0.0f, 0.0f, err);
    }
    /* A join without an active rank ends at once: it sends all parameters. */
    const bool nobody[GPUS] = {false};
    if (status == 0)
        status = dp_group_wait(s->group, err);
    if (status == 0)
        status = dp_ddp_forward(s->ddp, NULL, 1, nobody, out, &n, err);
    return status ? status : dp_group_wait(s->group, err);
}

/* Runs every collective from one memory to another, on all data of the ranks, or on half of them.
 */
static int collective_call(struct ranks *s, enum dp_collective_kind kind, struct dp_error *err)
{
    const size_t half = ROWS * WIDTH / GPUS;
    struct dp_tensor in[GPUS], out[GPUS];
    int status = 0;
    for (int r = 0; status == 0 && r < GPUS; ++r) {
        in[r] = s->input[r];
        out[r] = s->output[r];
        in[r].ndim = 1;
        in[r].dim[0] = kind == DP_COLLECTIVE_ALLGATHER ? half : ROWS * WIDTH;
        out[r].dim[0] = kind == DP_COLLECTIVE_REDUCESCATTER ? half : ROWS * WIDTH;
    }
    status = dp_collective_run(s->group, kind, 0, in, out, err);
    for (int r = 0; status == 0 && r < GPUS; ++r)
        status = dp_tensor_read(s->collective_call[r][kind], &out[r], err);
    return status;
}

static int read_values(struct ranks *s, struct dp_error *err)
{
    int status = 0;
    for (int r = 0; r < GPUS; ++r) {
        for (int i = 0; status == 0 && i < PARAMS; ++i) {
            struct dp_ddp_param param;
            status = dp_ddp_param(s->ddp, r, i, &param, err);
            if (status == 0)
                status = dp_tensor_read(s->value[r][i], &param.value, err);
        }
    }
    return status;
}

/* *working: the number of calls before it began to close. */
static int nccl_run(struct ranks *s, long *working, struct dp_error *err)
{
    memset(s, 0, sizeof *s);
    int status = nccl_open_model(s, err);
    if (status == 0)
        status = nccl_open_data(s, err);
    if (status == 0)
        status = nccl_train(s, err);
    for (int kind = 0; status == 0 && kind < DP_COLLECTIVE_KINDS; ++kind)
        status = collective_call(s, (enum dp_collective_kind)kind, err);
    if (status == 0)
        status = read_values(s, err);
    *working = fakecuda_calls(NULL);
    dp_ddp_close(s->ddp);
    for (int r = 0; r < GPUS; ++r) {
        if (s->input[r].slot)
            dp_tensor_free(&s->input[r]);
        if (s->output[r].slot)
            dp_tensor_free(&s->output[r]);
    }
    dp_module_close(s->model);
    dp_module_close(s->second);
    dp_module_close(s->first);
    dp_group_close(s->group);
    return status;
}

static struct fakecuda_config defaults(void)
{
    struct fakecuda_config config = fakecuda_defaults();
    config.devices = GPUS;
    config.quiet = true;
    return config;
}

static bool nccl_same(const struct ranks *a, const struct ranks *b)
{
    return memcmp(a->value, b->value, sizeof a->value) == 0 &&
           memcmp(a->collective_call, b->collective_call, sizeof a->collective_call) == 0;
}

/* Returns false if something is wrong, and prints it. */
static bool fails_well(const struct ranks *good, long call, long working)
{
    const struct fakecuda_config config = defaults();
    const struct fakecuda_failure failure = {NULL, call, 0, false};
    struct dp_error err = {0};
    struct ranks ranks;
    long made;
    char first[300];
    fakecuda_start(&config);
    fakecuda_fail(&failure);
    const int status = nccl_run(&ranks, &made, &err);
    snprintf(first, sizeof first, "%.290s", fakecuda_first());
    const int violations = fakecuda_finish();
    const bool told = status != 0 && err.status == status && err.text[0] != '\0';
    /* By then gradients whose kernel was not launched may be in a sum that is not used. */
    const bool unwritten = told && violations > 0 && strstr(first, "was never written");
    if ((violations == 0 || unwritten) && (told || (status == 0 && nccl_same(good, &ranks))))
        return true;
    printf("call %ld of %ld: status %d, '%s', %d violations %s%s\n", call, working, status,
           err.text, violations, first,
           status == 0 && !nccl_same(good, &ranks) ? ", and the result is wrong" : "");
    return false;
}

/* *sums: the number of all-reduces of a rank. */
static int each_call(long *sums)
{
    const struct fakecuda_config config = defaults();
    struct dp_error err = {0};
    struct ranks good;
    long working, bad = 0;
    fakecuda_start(&config);
    const int status = nccl_run(&good, &working, &err);
    const long collectives = fakecuda_calls("ncclAllReduce"),
               sent = fakecuda_calls("ncclBroadcast");
    if (fakecuda_finish() != 0 || status != 0 || collectives == 0 || sent == 0) {
        printf("without a failure: %d, '%s', %s; %ld allreduces, %ld broadcasts\n", status,
               err.text, fakecuda_first(), collectives, sent);
        return 1;
    }
    *sums = collectives / GPUS - 1; /* the last one is a spread */
    for (long call = 1; call <= working; ++call)
        bad += !fails_well(&good, call, working);
    printf("%ld calls failed in turn, %ld badly\n", working, bad);
    return bad > 0;
}

/* The error must name the rank and the call. */
static int lost(const char *what, const struct fakecuda_config *config, const char *words)
{
    struct dp_error err = {0};
    struct ranks ranks;
    long made;
    fakecuda_start(config);
    const int status = nccl_run(&ranks, &made, &err);
    const int violations = fakecuda_finish();
    const bool right = status != 0 && violations == 0 && strstr(err.text, words) &&
                       strstr(err.text, "rank 0 (cuda:0)");
    printf("%s: %d, '%s', %d violations %s\n", what, status, err.text, violations,
           violations ? fakecuda_first() : "");
    return !right;
}

int main(void)
{
    struct fakecuda_config hang = defaults(), error = defaults(), sent = defaults();
    long sums = 0;
    hang.nccl_hang = error.nccl_error = 1;
    int bad = each_call(&sums);
    sent.nccl_hang = sums + 1;
    bad += lost("an allreduce that hangs", &hang, "ncclAllReduce number ");
    bad += lost("a broadcast that hangs", &sent, "ncclBroadcast number ");
    bad += lost("a rank is lost", &error, "remote process exited");
    return bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
