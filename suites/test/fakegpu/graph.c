/* graph.c: CUDA graphs on fake GPUs: the calls of steady steps, lists of launches that CUDA does
 * not capture, and calls that fail while a graph is made or launched. */
#include "dp.h"
#include "fakecuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* cudaErrorStreamCaptureUnsupported */
enum { UNSUPPORTED = 900 };

/* There is a list for forward and one for backward of the layer before the wrapper and of each
 * replica, and one for the update. */
enum { GPUS = 2, ROWS = 6, MANY_ROWS = 1 << 17, WIDTH = 4, STEPS = 6, LISTS = 2 + 2 * GPUS + 1 };

struct training {
    struct dp_group *group;
    struct dp_module *first, *linear, *relu, *block, *wrapper, *model;
    struct dp_param *weight[4];
    struct dp_run *run;
    struct dp_sgd *sgd;
    struct dp_tensor input;
    struct dp_error err;
};

static int graph_open_model(struct training *t)
{
    const struct dp_group_config config = {.devices = "cuda:0,1"};
    struct dp_error *err = &t->err;
    int status = dp_group_open(&config, &t->group, err);
    if (status == 0)
        status = dp_linear(t->group, WIDTH, WIDTH, true, &t->first, err);
    if (status == 0)
        status = dp_linear(t->group, WIDTH, WIDTH, true, &t->linear, err);
    if (status == 0)
        status = dp_relu(t->group, &t->relu, err);
    if (status == 0)
        status =
            dp_sequential(t->group, (struct dp_module *[]){t->linear, t->relu}, 2, &t->block, err);
    if (status == 0)
        status = dp_parallel(t->block, &(struct dp_parallel_config){.dim = 0}, &t->wrapper, err);
    if (status == 0)
        status = dp_sequential(t->group, (struct dp_module *[]){t->first, t->wrapper}, 2, &t->model,
                               err);
    if (status == 0)
        status = dp_module_to(t->model, dp_group_slot(t->group, 0), err);
    return status ? status : dp_run_open(t->group, &t->run, err);
}

static int open_input(struct training *t, size_t rows)
{
    float *values = calloc(rows, WIDTH * sizeof *values);
    int status = values ? 0 : dp_fail(&t->err, DP_ENOMEM, "no memory for the input");
    for (size_t i = 0; values && i < rows * WIDTH; ++i)
        values[i] = 0.37f * (float)(i % 5) - 0.5f;
    if (status == 0)
        status = dp_tensor_alloc(dp_group_slot(t->group, 0), DP_F32, 2, (size_t[]){rows, WIDTH},
                                 &t->input, &t->err);
    if (status == 0)
        status = dp_tensor_write(&t->input, values, &t->err);
    free(values);
    return status;
}

static int open_training(struct training *t, size_t rows)
{
    struct fakecuda_config config;
    memset(t, 0, sizeof *t);
    fakecuda_defaults(&config);
    config.devices = GPUS;
    fakecuda_start(&config);
    int status = graph_open_model(t);
    if (status == 0)
        status = dp_sgd_open(t->model, 0.3f, 0.0f, 0.01f, &t->sgd, &t->err);
    if (status == 0)
        status = open_input(t, rows);
    if (status == 0)
        dp_module_params(t->model, t->weight, 4);
    return status ? status : dp_module_init(t->model, 7, &t->err);
}

/* Returns the number of violations. */
static int close_training(struct training *t)
{
    dp_sgd_close(t->sgd);
    dp_tensor_free(&t->input);
    dp_run_close(t->run);
    dp_module_close(t->model);
    dp_module_close(t->wrapper);
    dp_module_close(t->block);
    dp_module_close(t->relu);
    dp_module_close(t->first);
    dp_module_close(t->linear);
    dp_group_close(t->group);
    return fakecuda_finish();
}

static int graph_train(struct training *t, int steps)
{
    struct dp_tensor out[DP_MAX_IO];
    int n, status = 0;
    for (int i = 0; status == 0 && i < steps; ++i) {
        dp_run_reset(t->run);
        dp_zero_grad(t->model);
        status = dp_forward(t->model, t->run, &t->input, 1, out, &n, &t->err);
        if (status == 0)
            status = dp_backward(t->model, t->run, NULL, 0, NULL, 0, &t->err);
        if (status == 0)
            status = dp_sgd_step(t->sgd, &t->err);
    }
    return status ? status : dp_group_wait(t->group, &t->err);
}

static bool messages(bool holds, const char *what, const struct training *t)
{
    if (!holds)
        printf("not so: %s (error '%s')\n", what, t->err.text);
    return holds;
}

/* Returns the weights after STEPS ordinary steps in want, or compares with those. */
static bool weights(struct training *t, float want[WIDTH * WIDTH], bool compare)
{
    float got[WIDTH * WIDTH];
    const int status = dp_tensor_read(got, &t->weight[0]->value, &t->err);
    if (!compare)
        memcpy(want, got, sizeof got);
    return messages(status == 0 && memcmp(got, want, sizeof got) == 0, "the weights are right", t);
}

static long launcher_calls(void)
{
    return fakecuda_calls("cublasSgemm") + fakecuda_calls("dp_cuda_launch_add_bias") +
           fakecuda_calls("dp_cuda_launch_relu") + fakecuda_calls("dp_cuda_launch_relu_grad") +
           fakecuda_calls("dp_cuda_launch_sum_rows") + fakecuda_calls("dp_cuda_launch_sgd");
}

static long making_calls(void)
{
    return fakecuda_calls("cudaMalloc") + fakecuda_calls("cudaFree") +
           fakecuda_calls("cudaStreamBeginCapture") + fakecuda_calls("cudaGraphInstantiate") +
           fakecuda_calls("cudaGraphExecDestroy");
}

/* From the third step on only graphs are launched, and none is made. */
static bool check_steady(float want[WIDTH * WIDTH])
{
    struct training t;
    bool good = messages(open_training(&t, ROWS) == 0 && graph_train(&t, 2) == 0, "two steps", &t);
    const long launchers = launcher_calls(), making = making_calls();
    const long graphs = fakecuda_calls("cudaGraphLaunch");
    good = messages(good && launchers > 0 && making > 0 && graphs == LISTS, "graphs at step 2", &t);
    good = messages(graph_train(&t, STEPS - 2) == 0, "steady steps", &t) && good;
    good = messages(launcher_calls() == launchers, "no layer is launched by itself", &t) && good;
    good = messages(making_calls() == making, "nothing is allocated or captured", &t) && good;
    good = messages(fakecuda_calls("cudaGraphLaunch") == graphs + (STEPS - 2) * LISTS,
                    "a graph for each list of each step", &t) &&
           good;
    good = weights(&t, want, false) && good;
    return messages(close_training(&t) == 0, "no violation", &t) && good;
}

/* A list that was refused is not tried again, and is counted. */
static bool check_refused(const char *function, float want[WIDTH * WIDTH])
{
    const struct fakecuda_failure failure = {function, 1, UNSUPPORTED, true};
    struct training t;
    struct dp_launches l;
    bool good = messages(open_training(&t, ROWS) == 0, "opening", &t);
    fakecuda_fail(&failure);
    good = messages(good && graph_train(&t, STEPS) == 0, "steps without captures", &t);
    dp_group_launches(t.group, &l);
    good =
        messages(l.refused == LISTS && l.graphs == 0 && l.single > 0, "refusals are counted", &t) &&
        good;
    good = messages(fakecuda_calls("cudaStreamBeginCapture") == LISTS, "each is tried once", &t) &&
           good;
    good = weights(&t, want, true) && good;
    return messages(close_training(&t) == 0, "no violation", &t) && good;
}

/* Memory at an address that graphs have used before is different memory. */
static bool check_reuse(void)
{
    struct training t;
    bool good =
        messages(open_training(&t, MANY_ROWS) == 0 && graph_train(&t, 3) == 0, "three steps", &t);
    const void *before = t.input.data, *now = NULL;
    for (int i = 0; good && now != before && i < 1000; ++i) {
        dp_tensor_free(&t.input);
        good = messages(open_input(&t, MANY_ROWS) == 0, "another input", &t);
        now = t.input.data;
    }
    good = messages(good && now == before, "the address came back", &t);
    good = messages(graph_train(&t, 3) == 0, "steps with the new input", &t) && good;
    return messages(close_training(&t) == 0, "no violation", &t) && good;
}

/* Call number `call` of a function fails: a step returns an error; later ones are right, with
 * graphs. */
static bool check_failed(const char *function, const char *words, int call,
                         float want[WIDTH * WIDTH])
{
    const struct fakecuda_failure failure = {function, call, 0, false};
    struct training t;
    struct dp_launches l;
    bool good = messages(open_training(&t, ROWS) == 0, "opening", &t);
    fakecuda_fail(&failure);
    good = messages(graph_train(&t, STEPS) != 0 && strstr(t.err.text, words), "the failure is told",
                    &t) &&
           good;
    t.err = (struct dp_error){0};
    good = messages(dp_module_init(t.model, 7, &t.err) == 0, "the weights as before", &t) && good;
    good = messages(graph_train(&t, STEPS) == 0, "steps after the failure", &t) && good;
    dp_group_launches(t.group, &l);
    good = messages(l.graphs >= (STEPS - 2) * LISTS, "graphs after the failure", &t) && good;
    good = weights(&t, want, true) && good;
    good = messages(close_training(&t) == 0, "no violation", &t) && good;
    if (!good)
        printf("... when call %d of %s fails\n", call, function);
    return good;
}

/* In the middle of the first replica's capture the second replica makes and frees a tensor. */
struct beside {
    struct dp_slot *first;
    pthread_t caller; /* the worker of the first replica */
    bool meets;       /* this time */
    atomic_bool captures, freed;
};

/* Waits for at most ten seconds. */
static bool wait_until(atomic_bool *holds)
{
    const struct timespec pause = {.tv_nsec = 100000};
    for (int i = 0; i < 100000 && !atomic_load(holds); ++i)
        nanosleep(&pause, NULL);
    return atomic_load(holds);
}

static void before_relu(void *user)
{
    struct beside *b = user;
    if (!b->meets || !pthread_equal(b->caller, pthread_self()) || atomic_load(&b->captures))
        return;
    if (fakecuda_calls("cudaStreamBeginCapture") > fakecuda_calls("cudaStreamEndCapture")) {
        atomic_store(&b->captures, true);
        wait_until(&b->freed);
    }
}

static int beside_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct beside *b = dp_module_self(module);
    struct dp_tensor own;
    if (b->meets && in[0].slot != b->first && wait_until(&b->captures)) {
        const int status = dp_tensor_alloc(in[0].slot, DP_F32, 2, in[0].dim, &own, err);
        if (status)
            return status;
        dp_tensor_free(&own);
        atomic_store(&b->freed, true);
    }
    return dp_forward(dp_module_child(module, 0), run, in, n_in, out, n_out, err);
}

static int open_beside(struct training *t, struct beside *b)
{
    static const struct dp_module_ops ops = {.kind = "beside", .forward = beside_forward};
    int status = open_training(t, ROWS);
    dp_module_close(t->wrapper);
    t->wrapper = NULL;
    b->first = dp_group_slot(t->group, 0);
    b->caller = pthread_self();
    dp_module_close(t->first);
    t->first = NULL;
    if (status == 0)
        status = dp_module_open(t->group, &ops, b, &t->block, 1, &t->first, &t->err);
    if (status == 0)
        status =
            dp_parallel(t->first, &(struct dp_parallel_config){.dim = 0}, &t->wrapper, &t->err);
    fakecuda_visit("dp_cuda_launch_relu", before_relu, b);
    return status;
}

static bool check_beside(void)
{
    struct training t;
    struct beside b = {.meets = false};
    struct dp_tensor out[DP_MAX_IO];
    struct dp_launches l;
    int n;
    bool good = messages(open_beside(&t, &b) == 0, "opening", &t);
    for (int step = 0; good && step < 3; ++step) {
        b.meets = step == 1;
        dp_run_reset(t.run);
        good = messages(dp_forward(t.wrapper, t.run, &t.input, 1, out, &n, &t.err) == 0, "forward",
                        &t);
    }
    dp_group_launches(t.group, &l);
    good =
        messages(atomic_load(&b.freed) && l.refused == 0, "a tensor freed beside a capture", &t) &&
        good;
    return messages(close_training(&t) == 0, "no violation", &t) && good;
}

int main(void)
{
    static const struct {
        const char *function, *words;
        int calls;
    } table[] = {
        {"cudaStreamBeginCapture", "cudaStreamBeginCapture", LISTS},
        {"cudaStreamEndCapture", "cudaStreamEndCapture", LISTS},
        {"cudaGraphInstantiate", "cudaGraphInstantiate", LISTS},
        {"cudaGraphLaunch", "cudaGraphLaunch", 2 * LISTS},
        {"dp_cuda_launch_relu_grad", "relu's gradient", 2 * GPUS},
        {"cublasSgemm", "cublasSgemm", 2 * (2 + 3 * GPUS)},
        {"dp_cuda_launch_add_bias", "bias", 2 * (GPUS + 1)},
    };
    float want[WIDTH * WIDTH];
    int bad = !check_steady(want), checks = 5;
    bad += !check_reuse();
    bad += !check_beside();
    bad += !check_refused("cudaStreamEndCapture", want);
    bad += !check_refused("cudaStreamBeginCapture", want);
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        for (int call = 1; call <= table[i].calls; ++call, ++checks)
            bad += !check_failed(table[i].function, table[i].words, call, want);
    printf("%d checks, %d bad\n", checks, bad);
    return bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
