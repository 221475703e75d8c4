/* phases.c: the times of phases on GPUs are those of execution, not of issue.
 *
 * One kind of operation at a time is slow, by more than any machine takes for a step: it must be in
 * the phases that the operation belongs to and in no other. The fake runs everything as late as it
 * can, so a clock of the host would see nothing of it. */
#include "../must.h"
#include "fakecuda.h"
#include "measure/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOW_NS 1000000000000u /* a quarter of an hour */

enum { WRAPPED = CELL_DP, PLAIN = CELL_PLAIN, RANKS = CELL_DDP };
enum { GPUS = 2, ROWS = 10, STEPS = 5 };

static bool all_well = true;

static void phases_check(bool holds, const char *what, const char *detail)
{
    if (!holds)
        printf("%s: %s\n", what, detail);
    all_well = all_well && holds;
}

struct fixture {
    struct cell_config config;
    struct dp_group *group;
    struct session session;
};

static void phases_open_session(struct fixture *f, const char *devices, const char *backend,
                                int mode)
{
    const struct dp_group_config config = {.devices = devices, .backend = backend};
    char why[200];
    *f = (struct fixture){.config = {.seed = 5, .rows = ROWS, .mode = (enum cell_mode)mode}};
    struct fakecuda_config fake = fakecuda_defaults();
    fake.devices = GPUS;
    fakecuda_start(&fake);
    if (workload_parse("mlp:4,6,3", &f->config.workload, why, sizeof why))
        must(dp_fail(&must_err, DP_EINVAL, "%s", why));
    must(dp_group_open(&config, &f->group, &must_err));
    must(session_open(&f->session, f->group, &f->config, NULL, &must_err));
    must(session_open_sets(&f->session, &f->config, &must_err));
}

/* Returns false if a rule of CUDA was broken. */
static bool close_session(struct fixture *f)
{
    session_close(&f->session);
    dp_group_close(f->group);
    return fakecuda_finish() == 0;
}

static int phases_step(struct fixture *f, struct dp_error *err)
{
    struct session_times times;
    int status = session_prepare(&f->session, 0, err);
    if (status == 0)
        status = session_step(&f->session, 0, &times, err);
    phases_check(status || fakecuda_pending() == 0, "a timed step",
                 "it ended before its operations did");
    return status ? status : session_trace(&f->session, err);
}

static const char *const names[DP_PHASES] = {"scatter",  "replicate", "forward", "gather",
                                             "backward", "reduce",    "loss",    "update"};

static const char *const mode_names[] = {"", " plain", " ranks"};

#define BIT(phase) (1u << DP_PHASE_##phase)
#define MOVES      (BIT(SCATTER) | BIT(REPLICATE) | BIT(GATHER) | BIT(BACKWARD))
#define PASSES     (BIT(FORWARD) | BIT(BACKWARD))

struct row {
    const char *devices, *backend;
    int mode;
    const char *operation;
    unsigned slow[GPUS]; /* phases of each replica that must contain it */
};

static const struct row rows[] = {
    {"cuda:0-1", NULL, WRAPPED, "cublasSgemm", {PASSES, PASSES}},
    {"cuda:0-1", NULL, WRAPPED, "cudaMemcpyPeerAsync", {0, MOVES}},
    {"cuda:0-1", NULL, WRAPPED, "dp_cuda_launch_reduce", {BIT(REDUCE), BIT(REDUCE)}},
    {"cuda:0-1", NULL, WRAPPED, "dp_cuda_launch_loss", {BIT(LOSS), 0}},
    {"cuda:0-1", NULL, WRAPPED, "dp_cuda_launch_sgd", {BIT(UPDATE), 0}},
    {"cuda:0,0", NULL, WRAPPED, "dp_cuda_launch_relu", {BIT(FORWARD), BIT(FORWARD)}},
    {"cuda:0", NULL, WRAPPED, "dp_cuda_launch_relu_grad", {BIT(BACKWARD), 0}},
    {"cuda:1", NULL, PLAIN, "cublasSgemm", {PASSES, 0}},
    {"cuda:1", NULL, PLAIN, "dp_cuda_launch_loss_grad", {BIT(LOSS), 0}},
    /* The loss of a rank is during its forward and backward, and in neither. */
    {"cuda:0-1", NULL, RANKS, "cublasSgemm", {PASSES, PASSES}},
    {"cuda:0-1", NULL, RANKS, "dp_cuda_launch_loss", {BIT(LOSS), BIT(LOSS)}},
    {"cuda:0-1", NULL, RANKS, "dp_cuda_launch_loss_grad", {BIT(LOSS), BIT(LOSS)}},
    {"cuda:0-1", NULL, RANKS, "dp_cuda_launch_mean", {BIT(REDUCE), BIT(REDUCE)}},
    {"cuda:0-1", NULL, RANKS, "cudaMemcpyAsync", {BIT(REDUCE), BIT(REDUCE)}},
    {"cuda:0-1", NULL, RANKS, "dp_cuda_launch_sgd", {BIT(UPDATE), BIT(UPDATE)}},
    {"cuda:0", NULL, RANKS, "dp_cuda_launch_loss", {BIT(LOSS), 0}},
    {"cuda:0-1", "cuda-staged", RANKS, "dp_cuda_launch_mean", {BIT(REDUCE), BIT(REDUCE)}},
    {"cuda:0,0", NULL, RANKS, "dp_cuda_launch_relu", {BIT(FORWARD), BIT(FORWARD)}},
    {"cuda:0-1", "cuda-staged", RANKS, "dp_cuda_launch_relu_grad", {BIT(BACKWARD), BIT(BACKWARD)}},
    {"cuda:0-1", "cuda-staged", WRAPPED, "dp_cuda_launch_add_bias", {BIT(FORWARD), BIT(FORWARD)}},
};

static void check_trace(const struct row *row, const struct dp_trace *trace)
{
    char what[160];
    for (int r = 0; r < GPUS; ++r) {
        for (int p = 0; p < DP_PHASES; ++p) {
            const uint64_t ns = trace->replica[r].ns[p];
            const bool slow = (row->slow[r] >> p & 1) != 0;
            snprintf(what, sizeof what, "%s%s, slow %s: %s of replica %d is %.3f s", row->devices,
                     mode_names[row->mode], row->operation, names[p], r, (double)ns * 1e-9);
            phases_check(slow ? ns > SLOW_NS / 2 : ns < SLOW_NS / 2, what,
                         slow ? "the operation is not in it" : "the operation is in it");
        }
        phases_check(trace->matmul_ns[r] == 0, row->devices,
                     "a time of matrix products nobody measured");
    }
    phases_check(trace->replica[0].ns[DP_PHASE_LOSS] > 0 &&
                     trace->replica[0].ns[DP_PHASE_UPDATE] > 0,
                 row->devices, "a phase without a time");
}

/* The last step must not contain times of earlier ones; by then its launches may be graphs. */
static void check_row(const struct row *row)
{
    struct fixture f;
    struct dp_error err = {0};
    int status = 0;
    phases_open_session(&f, row->devices, row->backend, row->mode);
    for (int k = 0; status == 0 && k < STEPS; ++k) {
        fakecuda_slow(k + 1 < STEPS ? "cublasSgemm" : row->operation, SLOW_NS);
        status = phases_step(&f, &err);
    }
    phases_check(status == 0, row->operation, err.text);
    if (status == 0)
        check_trace(row, &f.session.trace);
    phases_check(close_session(&f), row->operation, "a rule of CUDA was broken");
}

/* If a time could not be taken, the error has the name of the call. */
static void check_failure(const char *function, long call)
{
    const struct fakecuda_failure failure = {function, call, 0, false};
    struct fixture f;
    struct dp_error err = {0};
    char what[80];
    snprintf(what, sizeof what, "%s fails, call %ld", function, call);
    phases_open_session(&f, "cuda:0-1", NULL, WRAPPED);
    fakecuda_fail(&failure);
    const int status = phases_step(&f, &err);
    phases_check(status == DP_EFAULT && strstr(err.text, function), what, err.text);
    phases_check(close_session(&f), what, "a rule of CUDA was broken");
}

/* Each event of a step fails in turn. */
static void check_failures(void)
{
    struct fixture f;
    struct dp_error err = {0};
    phases_open_session(&f, "cuda:0-1", NULL, WRAPPED);
    fakecuda_fail(&(struct fakecuda_failure){0});
    const int status = phases_step(&f, &err);
    const long records = fakecuda_calls("cudaEventRecord"),
               reads = fakecuda_calls("cudaEventElapsedTime");
    phases_check(status == 0 && reads >= 13, "times of a step", "fewer than its phases");
    phases_check(fakecuda_calls("cudaEventCreateWithFlags") == 0, "a step", "it made events");
    phases_check(close_session(&f), "a step", "a rule of CUDA was broken");
    for (long call = 1; call <= records; ++call)
        check_failure("cudaEventRecord", call);
    for (long call = 1; call <= reads; ++call)
        check_failure("cudaEventElapsedTime", call);
    printf("%ld records and %ld readings failed in turn\n", records, reads);
}

/* If a timeline could not be placed, that is an error, too; the next step has one. */
static void phases_check_place(void)
{
    const struct fakecuda_failure failure = {"cudaEventSynchronize", 1, 0, false};
    static struct dp_timeline timeline;
    struct fixture f;
    struct dp_error err = {0};
    phases_open_session(&f, "cuda:0-1", NULL, WRAPPED);
    must(session_prepare(&f.session, 0, &must_err));
    f.session.trace.timeline = &timeline;
    fakecuda_fail(&failure);
    dp_group_trace(f.group, &f.session.trace);
    phases_check(dp_trace_read(f.group, &err) == DP_EFAULT &&
                     strstr(err.text, "cudaEventSynchronize of a timer"),
                 "a timeline", err.text);
    phases_check(close_session(&f), "a timeline", "a rule of CUDA was broken");
}

/* Without a trace a step records no event with a time; with too many times there is none. */
static void check_limits(void)
{
    struct fixture f;
    struct dp_error err = {0};
    long records[2];
    int status = 0;
    phases_open_session(&f, "cuda:0-1", NULL, WRAPPED);
    for (int k = 0; status == 0 && k < 2; ++k) {
        dp_group_trace(f.group, k == 0 ? &f.session.trace : NULL);
        fakecuda_fail(&(struct fakecuda_failure){0});
        status = phases_step(&f, &err);
        records[k] = fakecuda_calls("cudaEventRecord");
        phases_check(fakecuda_calls("cudaEventElapsedTime") > 0 || k == 1, "a trace",
                     "nothing is read");
    }
    phases_check(status == 0 && records[1] > 0 && records[1] + 26 <= records[0],
                 "a step without a trace", "it records as many events");
    dp_group_trace(f.group, &f.session.trace);
    for (int i = 0; status == 0 && i <= DP_TRACE_SPANS; ++i) {
        const struct dp_span span = dp_phase_begin(dp_group_slot(f.group, 1), DP_PHASE_LOSS);
        dp_phase_end(&span);
    }
    status = dp_trace_read(f.group, &err);
    phases_check(status == DP_EINVAL && strstr(err.text, "cuda:1: 33 times"), "too many times",
                 err.text);
    phases_check(dp_trace_read(f.group, &err) == 0, "after too many times",
                 "the trace is of no use");
    phases_check(close_session(&f), "limits", "a rule of CUDA was broken");
}

/* Events could not be made: the steps go on, and their times are an error. */
static void check_creation(void)
{
    const struct fakecuda_failure failure = {"cudaEventCreateWithFlags", 1, 0, false};
    const struct dp_group_config config = {.devices = "cuda:0"};
    struct dp_group *group;
    struct dp_trace trace = {0};
    struct dp_error err = {0};
    struct fakecuda_config fake = fakecuda_defaults();
    fakecuda_start(&fake);
    must(dp_group_open(&config, &group, &must_err));
    fakecuda_fail(&failure);
    dp_group_trace(group, &trace);
    const struct dp_span span = dp_phase_begin(dp_group_slot(group, 0), DP_PHASE_LOSS);
    dp_phase_end(&span);
    phases_check(dp_group_wait(group, &err) == 0, "a group without times", err.text);
    phases_check(dp_trace_read(group, &err) == DP_EFAULT && strstr(err.text, "of a timer"),
                 "events that could not be made", err.text);
    dp_group_close(group);
    phases_check(fakecuda_finish() == 0, "creation", "a rule of CUDA was broken");
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        check_row(&rows[i]);
    check_failures();
    phases_check_place();
    check_limits();
    check_creation();
    printf("%zu slow operations: %s\n", sizeof rows / sizeof rows[0],
           all_well ? "all where they belong" : "some are not where they belong");
    return all_well ? EXIT_SUCCESS : EXIT_FAILURE;
}
