/* fail.c: training on fake GPUs, with each CUDA call in turn made to fail: also those that capture
 * and launch graphs, in its second and third step.
 *
 * Only a call during closing may fail without an error: a step that returns success has the right
 * result. After an error everything can be closed, nothing is leaked and no rule of CUDA was
 * broken. A hang ends by the test's time limit. */
#include "dp.h"
#include "fakecuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 2, SLOTS = 3, ROWS = 7, WIDTH = 4 };

struct step {
    struct dp_group *group;
    struct dp_module *linear, *relu, *model, *wrapper;
    struct dp_run *run;
    struct dp_sgd *sgd;
    struct dp_tensor input, copy;
    float weights[WIDTH * WIDTH];
    float output[ROWS * WIDTH], back[ROWS * WIDTH];
};

static void call_double(const void *args)
{
    float *const *y = args;
    for (int i = 0; i < ROWS * WIDTH; ++i)
        (*y)[i] *= 2.0f;
}

static int open_step(struct step *s, const char *devices, const char *backend, struct dp_error *err)
{
    const struct dp_group_config config = {.devices = devices, .backend = backend};
    int status = dp_group_open(&config, &s->group, err);
    if (status == 0)
        status = dp_linear(s->group, WIDTH, WIDTH, true, &s->linear, err);
    if (status == 0)
        status = dp_relu(s->group, &s->relu, err);
    if (status == 0)
        status =
            dp_sequential(s->group, (struct dp_module *[]){s->linear, s->relu}, 2, &s->model, err);
    if (status == 0)
        status = dp_module_init(s->model, 7, err);
    if (status == 0)
        status = dp_module_to(s->model, dp_group_slot(s->group, 0), err);
    if (status == 0)
        status = dp_parallel(s->model, &(struct dp_parallel_config){.dim = 0}, &s->wrapper, err);
    if (status == 0)
        status = dp_run_open(s->group, &s->run, err);
    return status ? status : dp_sgd_open(s->wrapper, 0.5f, 0.5f, 0.0f, &s->sgd, err);
}

static int fail_open_data(struct step *s, struct dp_error *err)
{
    float values[ROWS * WIDTH];
    const size_t dim[] = {ROWS, WIDTH};
    for (int i = 0; i < ROWS * WIDTH; ++i)
        values[i] = (float)(i % 5) - 2.0f;
    int status = dp_tensor_alloc(dp_group_slot(s->group, 0), DP_F32, 2, dim, &s->input, err);
    if (status == 0)
        status = dp_tensor_alloc(dp_group_slot(s->group, 1), DP_F32, 2, dim, &s->copy, err);
    return status ? status : dp_tensor_write(&s->input, values, err);
}

static int fail_train(struct step *s, struct dp_error *err)
{
    struct dp_tensor out[DP_MAX_IO], *data = &s->copy;
    const struct dp_use use = {0, sizeof s->back, DP_READS | DP_WRITES};
    int n = 0, status = 0;
    for (int k = 0; status == 0 && k < 3; ++k) {
        dp_run_reset(s->run);
        status = dp_forward(s->wrapper, s->run, &s->input, 1, out, &n, err);
        if (status == 0)
            status = dp_backward(s->wrapper, s->run, NULL, 0, NULL, 0, err);
        if (status == 0)
            status = dp_sgd_step(s->sgd, err);
    }
    if (status == 0)
        status = dp_tensor_read(s->output, &out[0], err);
    if (status == 0)
        status = dp_tensor_copy(data, &s->input, err);
    if (status == 0)
        status = dp_run_call(s->run, data->slot, call_double, &data->data, sizeof data->data, &use,
                             1, err);
    return status ? status : dp_tensor_read(s->back, data, err);
}

static int read_weights(struct step *s, struct dp_error *err)
{
    struct dp_param *list[2];
    dp_module_params(s->wrapper, list, 2);
    const int status = dp_group_wait(s->group, err);
    return status ? status : dp_tensor_read(s->weights, &list[0]->value, err);
}

static void close_step(struct step *s)
{
    dp_sgd_close(s->sgd);
    if (s->input.slot)
        dp_tensor_free(&s->input);
    if (s->copy.slot)
        dp_tensor_free(&s->copy);
    dp_run_close(s->run);
    dp_module_close(s->wrapper);
    dp_module_close(s->model);
    dp_module_close(s->relu);
    dp_module_close(s->linear);
    dp_group_close(s->group);
}

/* Runs the step; *working is how many calls it made before it began to close. */
static int fail_run_step(struct step *s, const char *devices, const char *backend, long *working,
                         struct dp_error *err)
{
    memset(s, 0, sizeof *s);
    int status = open_step(s, devices, backend, err);
    if (status == 0)
        status = fail_open_data(s, err);
    if (status == 0)
        status = fail_train(s, err);
    if (status == 0)
        status = read_weights(s, err);
    *working = fakecuda_calls(NULL);
    close_step(s);
    return status;
}

static bool fail_same(const struct step *a, const struct step *b)
{
    return memcmp(a->weights, b->weights, sizeof a->weights) == 0 &&
           memcmp(a->output, b->output, sizeof a->output) == 0 &&
           memcmp(a->back, b->back, sizeof a->back) == 0;
}

static void fail_start(bool peer)
{
    struct fakecuda_config config = fakecuda_defaults();
    config.devices = GPUS;
    config.peer = peer;
    fakecuda_start(&config);
}

/* Makes call number `call` fail. Returns false if something is wrong, and prints it. */
static bool fails_well(const struct step *good, long call, bool lasting, long working,
                       const char *devices, const char *backend, bool peer)
{
    const struct fakecuda_failure failure = {NULL, call, 0, lasting};
    struct dp_error err = {0};
    struct step step;
    long made;
    fail_start(peer);
    fakecuda_fail(&failure);
    const int status = fail_run_step(&step, devices, backend, &made, &err);
    char first[300];
    snprintf(first, sizeof first, "%.290s", fakecuda_first());
    const int violations = fakecuda_finish();
    /* Calls that free or give up something, and need not report it, make no difference to the
     * result. */
    const bool told = status != 0 && err.status == status && err.text[0] != '\0';
    if (violations == 0 && (told || (status == 0 && fail_same(good, &step))))
        return true;
    printf("%s, %s%s: call %ld of %ld%s: status %d, '%s', %d violations %s%s\n", devices, backend,
           peer ? "" : ", no peer access", call, working, lasting ? " and all after it" : "",
           status, err.text, violations, first,
           status == 0 && !fail_same(good, &step) ? ", and the result is wrong" : "");
    return false;
}

static int fail_check(const char *devices, const char *backend, bool peer)
{
    struct dp_error err = {0};
    struct step good;
    long working, told = 0, bad = 0;
    fail_start(peer);
    const int status = fail_run_step(&good, devices, backend, &working, &err);
    if (fakecuda_finish() != 0 || status != 0) {
        printf("%s: without a failure: %d, '%s'\n", devices, status, err.text);
        return 1;
    }
    for (long call = 1; call <= working; ++call) {
        bad += !fails_well(&good, call, false, working, devices, backend, peer);
        if (call % 10 == 0)
            bad += !fails_well(&good, call, true, working, devices, backend, peer);
        ++told;
    }
    printf("%s, %s%s: %ld calls failed in turn, %ld badly\n", devices, backend,
           peer ? "" : ", no peer access", told, bad);
    return bad > 0;
}

/* Closes another group, or frees a tensor, and one of its calls fails, which it cannot report.
 * Calls after it must not return that error. */
static int fail_give_up(struct step *s, const char *function, bool group, struct dp_error *err)
{
    const struct fakecuda_failure failure = {function, 1, 0, false};
    const struct dp_group_config config = {.devices = "cuda:0,1"};
    struct dp_group *other = NULL;
    const int status = group ? dp_group_open(&config, &other, err) : 0;
    fakecuda_fail(&failure);
    if (group)
        dp_group_close(other);
    else
        dp_tensor_free(&s->copy);
    if (status || fakecuda_calls(function) > 0)
        return status;
    snprintf(err->text, sizeof err->text, "it was not called");
    return DP_EINVAL;
}

static bool forgets(const char *function, bool group)
{
    struct dp_error err = {0};
    struct step good, step = {0};
    long made;
    fail_start(true);
    int status = fail_run_step(&good, "cuda:0,1", "cuda", &made, &err);
    if (status == 0)
        status = open_step(&step, "cuda:0,1", "cuda", &err);
    if (status == 0)
        status = fail_open_data(&step, &err);
    if (status == 0)
        status = fail_give_up(&step, function, group, &err);
    if (status == 0 && !step.copy.slot)
        status = dp_tensor_alloc(dp_group_slot(step.group, 1), DP_F32, 2, (size_t[]){ROWS, WIDTH},
                                 &step.copy, &err);
    if (status == 0)
        status = fail_train(&step, &err);
    if (status == 0)
        status = read_weights(&step, &err);
    close_step(&step);
    const bool right = status == 0 && fail_same(&good, &step);
    if (fakecuda_finish() == 0 && right)
        return true;
    printf("%s fails in %s: status %d, '%s'\n", function, group ? "closing" : "freeing", status,
           err.text);
    return false;
}

int main(void)
{
    int bad = fail_check("cuda:0,1,0", "cuda", true);
    bad += fail_check("cuda:0,1,0", "cuda", false);
    bad += fail_check("cuda:0,1", "cuda-staged", true);
    bad += !forgets("cudaFree", false);
    bad += !forgets("cudaFree", true);
    bad += !forgets("cudaEventDestroy", true);
    bad += !forgets("cudaStreamDestroy", true);
    return bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
