/* graph.c: CUDA graphs on fake GPUs: the calls of steady steps, lists of launches that CUDA does
 * not capture, and calls that fail while a graph is made or launched. */
#include "../must.h"
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
    bool good; /* all that was shown so far */
};

static void open_input(struct training *t, size_t rows)
{
    float *values = calloc(rows, WIDTH * sizeof *values);
    must(values ? 0 : dp_fail(&must_err, DP_ENOMEM, "no memory for the input"));
    for (size_t i = 0; i < rows * WIDTH; ++i)
        values[i] = 0.37f * (float)(i % 5) - 0.5f;
    must(dp_tensor_alloc(dp_group_slot(t->group, 0), DP_F32, 2, (size_t[]){rows, WIDTH}, &t->input,
                         &must_err));
    must(dp_tensor_write(&t->input, values, &must_err));
    free(values);
}

static void open_training(struct training *t, size_t rows)
{
    const struct dp_group_config group = {.devices = "cuda:0,1"};
    *t = (struct training){.good = true};
    struct fakecuda_config config = fakecuda_defaults();
    config.devices = GPUS;
    fakecuda_start(&config);
    must(dp_group_open(&group, &t->group, &must_err));
    must(dp_linear(t->group, WIDTH, WIDTH, true, &t->first, &must_err));
    must(dp_linear(t->group, WIDTH, WIDTH, true, &t->linear, &must_err));
    must(dp_relu(t->group, &t->relu, &must_err));
    must(dp_sequential(t->group, (struct dp_module *[]){t->linear, t->relu}, 2, &t->block,
                       &must_err));
    must(dp_parallel(t->block, &(struct dp_parallel_config){.dim = 0}, &t->wrapper, &must_err));
    must(dp_sequential(t->group, (struct dp_module *[]){t->first, t->wrapper}, 2, &t->model,
                       &must_err));
    must(dp_module_to(t->model, dp_group_slot(t->group, 0), &must_err));
    must(dp_run_open(t->group, &t->run, &must_err));
    must(dp_sgd_open(t->model, 0.3f, 0.0f, 0.01f, &t->sgd, &must_err));
    open_input(t, rows);
    dp_module_params(t->model, t->weight, 4);
    must(dp_module_init(t->model, 7, &must_err));
}

static void graph_shows(struct training *t, bool holds, const char *what)
{
    if (!holds)
        printf("not so: %s (error '%s')\n", what, t->err.text);
    t->good = t->good && holds;
}

/* Returns whether all was good. */
static bool close_training(struct training *t)
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
    graph_shows(t, fakecuda_finish() == 0, "no violation");
    return t->good;
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

/* Returns the weights after STEPS ordinary steps in want, or compares with those. */
static void weights(struct training *t, float want[WIDTH * WIDTH], bool compare)
{
    float got[WIDTH * WIDTH];
    const int status = dp_tensor_read(got, &t->weight[0]->value, &t->err);
    if (!compare)
        memcpy(want, got, sizeof got);
    graph_shows(t, status == 0 && memcmp(got, want, sizeof got) == 0, "the weights are right");
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
    open_training(&t, ROWS);
    graph_shows(&t, graph_train(&t, 2) == 0, "two steps");
    const long launchers = launcher_calls(), making = making_calls();
    const long graphs = fakecuda_calls("cudaGraphLaunch");
    graph_shows(&t, launchers > 0 && making > 0 && graphs == LISTS, "graphs at step 2");
    graph_shows(&t, graph_train(&t, STEPS - 2) == 0, "steady steps");
    graph_shows(&t, launcher_calls() == launchers, "no layer is launched by itself");
    graph_shows(&t, making_calls() == making, "nothing is allocated or captured");
    graph_shows(&t, fakecuda_calls("cudaGraphLaunch") == graphs + (STEPS - 2) * LISTS,
                "a graph for each list of each step");
    weights(&t, want, false);
    return close_training(&t);
}

/* A list that was refused is not tried again, and is counted. */
static bool check_refused(const char *function, float want[WIDTH * WIDTH])
{
    const struct fakecuda_failure failure = {function, 1, UNSUPPORTED, true};
    struct training t;
    struct dp_launches l;
    open_training(&t, ROWS);
    fakecuda_fail(&failure);
    graph_shows(&t, graph_train(&t, STEPS) == 0, "steps without captures");
    dp_group_launches(t.group, &l);
    graph_shows(&t, l.refused == LISTS && l.graphs == 0 && l.single > 0, "refusals are counted");
    graph_shows(&t, fakecuda_calls("cudaStreamBeginCapture") == LISTS, "each is tried once");
    weights(&t, want, true);
    return close_training(&t);
}

/* Memory at an address that graphs have used before is different memory. */
static bool check_reuse(void)
{
    struct training t;
    open_training(&t, MANY_ROWS);
    graph_shows(&t, graph_train(&t, 3) == 0, "three steps");
    const void *before = t.input.data, *now = NULL;
    for (int i = 0; now != before && i < 1000; ++i) {
        dp_tensor_free(&t.input);
        open_input(&t, MANY_ROWS);
        now = t.input.data;
    }
    graph_shows(&t, now == before, "the address came back");
    graph_shows(&t, graph_train(&t, 3) == 0, "steps with the new input");
    return close_training(&t);
}

/* Call number `call` of a function fails: a step returns an error; later ones are right, with
 * graphs. */
static bool check_failed(const char *function, const char *words, int call,
                         float want[WIDTH * WIDTH])
{
    const struct fakecuda_failure failure = {function, call, 0, false};
    struct training t;
    struct dp_launches l;
    open_training(&t, ROWS);
    fakecuda_fail(&failure);
    graph_shows(&t, graph_train(&t, STEPS) != 0 && strstr(t.err.text, words),
                "the failure is told");
    t.err = (struct dp_error){0};
    graph_shows(&t, dp_module_init(t.model, 7, &t.err) == 0, "the weights as before");
    graph_shows(&t, graph_train(&t, STEPS) == 0, "steps after the failure");
    dp_group_launches(t.group, &l);
    graph_shows(&t, l.graphs >= (STEPS - 2) * LISTS, "graphs after the failure");
    weights(&t, want, true);
    if (!close_training(&t))
        printf("... when call %d of %s fails\n", call, function);
    return t.good;
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
        must(dp_tensor_alloc(in[0].slot, DP_F32, 2, in[0].dim, &own, &must_err));
        dp_tensor_free(&own);
        atomic_store(&b->freed, true);
    }
    return dp_forward(dp_module_child(module, 0), run, in, n_in, out, n_out, err);
}

static bool check_beside(void)
{
    static const struct dp_module_ops ops = {.kind = "beside", .forward = beside_forward};
    struct training t;
    struct dp_tensor out[DP_MAX_IO];
    struct dp_launches l;
    int n;
    open_training(&t, ROWS);
    dp_module_close(t.wrapper);
    dp_module_close(t.first);
    struct beside b = {.first = dp_group_slot(t.group, 0), .caller = pthread_self()};
    must(dp_module_open(t.group, &ops, &b, &t.block, 1, &t.first, &must_err));
    must(dp_parallel(t.first, &(struct dp_parallel_config){.dim = 0}, &t.wrapper, &must_err));
    fakecuda_visit("dp_cuda_launch_relu", before_relu, &b);
    for (int step = 0; t.good && step < 3; ++step) {
        b.meets = step == 1;
        dp_run_reset(t.run);
        graph_shows(&t, dp_forward(t.wrapper, t.run, &t.input, 1, out, &n, &t.err) == 0, "forward");
    }
    dp_group_launches(t.group, &l);
    graph_shows(&t, atomic_load(&b.freed) && l.refused == 0, "a tensor freed beside a capture");
    return close_training(&t);
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
