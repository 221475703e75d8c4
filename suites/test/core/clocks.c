/* clocks.c: a training step that is not traced reads no clock, so that a measurement from outside
 * has nothing of it. A rank reads only the times that ddp.h promises: when its backward began and
 * ended, and when its bucket was ready, launched and done. This program defines the C library's
 * functions that read a clock and counts; a pass needs the counter to have been seen working.
 *
 * `lockstep-clocks time [STEPS [MODE]]` says what such a step takes: of PyTorch's tutorial,
 * Linear(5, 2) at 30 rows, the model alone, in the wrapper, and as a rank (scripts/bench step).
 * Plain program: a sanitizer has these functions, too. */
#include "../must.h"
#include "ddp.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { IN = 5, OUT = 2, ROWS = 30, RANKS_MAX = 3, WARM_UP = 100, COUNTED = 200, PIECES = 200 };

/* ---- the clocks ------------------------------------------------------------------------------ */

static atomic_size_t reads;

static int (*next_gettime)(clockid_t, struct timespec *);

int clock_gettime(clockid_t clock, struct timespec *time)
{
    atomic_fetch_add(&reads, 1);
    return next_gettime(clock, time);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    const int status = clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return status;
}

int timespec_get(struct timespec *time, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

time_t time(time_t *seconds)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (seconds)
        *seconds = now.tv_sec;
    return now.tv_sec;
}

/* ---- what is trained ------------------------------------------------------------------------- */

enum what { PLAIN, WRAPPED, RANKS, WHATS };
static const char *const names[WHATS] = {"plain", "dp", "ddp"};

struct training {
    enum what what;
    struct dp_group *group;
    struct dp_module *model, *top, *loss;
    struct dp_run *run;
    struct dp_sgd *sgd;
    struct dp_tensor x, upstream;
    struct dp_ddp *ddp;
    struct dp_tensor rows[RANKS_MAX], given[RANKS_MAX];
};

static void open_array(struct dp_slot *slot, size_t rows, size_t columns, struct dp_tensor *tensor)
{
    static const float values[ROWS * IN];
    must(dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){rows, columns}, tensor, &must_err));
    must(dp_tensor_write(tensor, values, &must_err));
}

static void clocks_open_ranks(struct training *t)
{
    const struct dp_ddp_config config = {0};
    struct dp_slot *slots[RANKS_MAX];
    const int n = dp_group_size(t->group);
    for (int r = 0; r < n; ++r) {
        slots[r] = dp_group_slot(t->group, r);
        open_array(slots[r], (size_t)(ROWS / n), IN, &t->rows[r]);
        open_array(slots[r], (size_t)(ROWS / n), OUT, &t->given[r]);
    }
    must(dp_ddp_open(t->model, slots, n, &config, &t->ddp, &must_err));
}

static void open_training(struct training *t, const char *devices)
{
    const struct dp_group_config config = {.devices = devices, .backend = "cpu"};
    must(dp_group_open(&config, &t->group, &must_err));
    struct dp_slot *slot = dp_group_slot(t->group, 0);
    must(dp_linear(t->group, IN, OUT, true, &t->model, &must_err));
    must(dp_module_init(t->model, 1, &must_err));
    must(dp_module_to(t->model, slot, &must_err));
    must(dp_loss(t->group, DP_LOSS_SUM, 1, false, &t->loss, &must_err));
    open_array(slot, ROWS, IN, &t->x);
    open_array(slot, ROWS, OUT, &t->upstream);
    must(dp_run_open(t->group, &t->run, &must_err));
    must(dp_sgd_open(t->model, 0.125f, 0, 0, &t->sgd, &must_err));
    if (t->what == RANKS)
        clocks_open_ranks(t);
    else if (t->what == WRAPPED)
        must(dp_parallel(t->model, &(struct dp_parallel_config){0}, &t->top, &must_err));
    else
        t->top = dp_module_retain(t->model);
}

static void close_training(struct training *t)
{
    dp_ddp_close(t->ddp);
    for (int r = 0; r < RANKS_MAX; ++r) {
        dp_tensor_free(&t->rows[r]);
        dp_tensor_free(&t->given[r]);
    }
    dp_sgd_close(t->sgd);
    dp_run_close(t->run);
    dp_tensor_free(&t->x);
    dp_tensor_free(&t->upstream);
    dp_module_close(t->loss);
    dp_module_close(t->top);
    dp_module_close(t->model);
    dp_group_close(t->group);
}

static void clocks_step_ranks(struct training *t)
{
    struct dp_tensor out[RANKS_MAX * DP_MAX_IO];
    int n = 0;
    dp_ddp_reset(t->ddp);
    dp_ddp_zero_grad(t->ddp);
    must(dp_ddp_forward(t->ddp, t->rows, 1, NULL, out, &n, &must_err));
    must(dp_ddp_backward(t->ddp, t->given, 1, NULL, 0, &must_err));
    must(dp_ddp_step(t->ddp, 0.125f, 0, 0, &must_err));
}

static void clocks_step_module(struct training *t)
{
    struct dp_tensor terms[2], out[DP_MAX_IO], grad[DP_MAX_IO] = {{0}};
    int n = 0;
    dp_run_reset(t->run);
    dp_zero_grad(t->model);
    must(dp_forward(t->top, t->run, &t->x, 1, out, &n, &must_err));
    terms[0] = out[0];
    terms[0].needs_grad = true;
    terms[1] = t->upstream;
    must(dp_forward(t->loss, t->run, terms, 2, out, &n, &must_err));
    must(dp_backward(t->loss, t->run, NULL, 0, grad, 2, &must_err));
    must(dp_backward(t->top, t->run, grad, 1, NULL, 0, &must_err));
    must(dp_sgd_step(t->sgd, &must_err));
}

/* Steps as a sweep times them: forward, loss, backward, update. */
static void steps(struct training *t, int n)
{
    for (int i = 0; i < n; ++i) {
        if (t->ddp)
            clocks_step_ranks(t);
        else
            clocks_step_module(t);
        must(dp_group_wait(t->group, &must_err));
    }
}

/* Returns how often n steps read a clock. */
static size_t reads_of(struct training *t, int n)
{
    const size_t before = atomic_load(&reads);
    steps(t, n);
    return atomic_load(&reads) - before;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* A rank with one bucket reads this many times. */
enum { OF_RANK = 5 };

static int clocks_check(enum what what, int devices)
{
    struct training t = {.what = what};
    struct dp_trace trace;
    char list[16];
    (void)snprintf(list, sizeof list, "virt:%d", devices);
    open_training(&t, list);
    steps(&t, WARM_UP);
    const size_t untraced = reads_of(&t, COUNTED);
    memset(&trace, 0, sizeof trace);
    dp_group_trace(t.group, &trace);
    const size_t traced = reads_of(&t, COUNTED);
    dp_group_trace(t.group, NULL);
    close_training(&t);
    const size_t promised = what == RANKS ? (size_t)devices * OF_RANK * COUNTED : 0;
    const bool good = untraced == promised && traced > untraced;
    printf("%s clocks %s on %s: %g reads a step, %g when it is traced\n", good ? "PASS" : "FAIL",
           names[what], list, (double)untraced / COUNTED, (double)traced / COUNTED);
    return good ? 0 : 1;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the minimum and the median over pieces of n steps. No clock is read within a piece. */
static void show_time(enum what what, int devices, int n)
{
    struct training t = {.what = what};
    double us[PIECES];
    char list[16];
    (void)snprintf(list, sizeof list, "virt:%d", devices);
    open_training(&t, list);
    steps(&t, WARM_UP);
    for (int i = 0; i < PIECES; ++i) {
        const double begin = now_us();
        steps(&t, n);
        us[i] = (now_us() - begin) / n;
    }
    close_training(&t);
    qsort(us, PIECES, sizeof us[0], ascending);
    printf("%s\t%s\t%.3f\t%.3f\n", names[what], list, us[PIECES / 2], us[0]);
}

/* usage: lockstep-clocks [time [STEPS [MODE]]] */
int main(int argc, char **argv)
{
    const int n = argc > 2 ? atoi(argv[2]) : 500;
    int failed = 0;
    *(void **)&next_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    if (!next_gettime || n < 1)
        return 1;
    if (argc > 1) {
        printf("# mode\tdevices\tmedian_us\tleast_us\n");
        for (int w = 0; w < WHATS; ++w)
            if (argc < 4 || strcmp(argv[3], names[w]) == 0)
                show_time((enum what)w, 1, n);
        return 0;
    }
    for (int w = 0; w < WHATS; ++w)
        for (int devices = 1; devices <= (w == PLAIN ? 1 : RANKS_MAX); ++devices)
            failed += clocks_check((enum what)w, devices);
    return failed == 0 ? 0 : 1;
}
