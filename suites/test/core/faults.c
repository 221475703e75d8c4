/* faults.c: every call of a device and of a communicator is made to fail, one at a time.
 *
 * A step is run again and again on one group. The first call of an operation fails, then the
 * second, until a step has fewer calls. A step with the failure returns its error and leaves no
 * work in a queue. The next step is right, and takes no more memory. */
#include "backend.h"
#include "ddp.h"
#include "list.h"
#include "optimizer.h"

#include <string.h>

enum { SLOTS = 3, ROWS = 7, IN = 4, OUT = 3, PARAMS = 4, MOST = IN * OUT, CALLS_MOST = 2000 };

/* The object whose step is run: a wrapped model with its optimizer, copies, or ranks. */
struct subject {
    struct dp_group *group;
    struct dp_module *model, *wrapper;
    struct dp_run *run;
    struct dp_sgd *sgd;
    struct dp_clip *clip;
    struct dp_adamw *adamw;
    struct dp_ddp *ddp;
    struct dp_tensor input[SLOTS];
    struct dp_error err;
};

struct state {
    float value[SLOTS][PARAMS][MOST];
};

/* With these values the moments that an optimizer keeps do not influence its next step. */
static const struct dp_adamw_config forgetful = {.lr = 0.25, .eps = 0.5, .decay = 0.125};

/* ---- the two steps ----------------------------------------------------------------------- */

static struct dp_module *network(struct context *c, struct dp_group *group)
{
    struct dp_module *model = make_sequential(
        c, group,
        (struct dp_module *[]){make_linear(c, group, IN, OUT, true), make_relu(c, group),
                               make_linear(c, group, OUT, OUT, true)},
        3);
    move_module(c, model, dp_group_slot(group, 0));
    return model;
}

static void open_inputs(struct context *c, struct subject *s, int n)
{
    for (int i = 0; i < n; ++i) {
        s->input[i] = make_matrix(c, dp_group_slot(s->group, i), ROWS, IN, NULL);
        write_floats(c, &s->input[i], randoms(c, ROWS * IN, 50 + (uint64_t)i));
    }
}

static void open_parallel(struct context *c, struct subject *s)
{
    s->model = network(c, s->group);
    s->wrapper = make_parallel(c, s->model, &(struct dp_parallel_config){.dim = 0});
    s->run = open_run(c, s->group);
    s->sgd = open_sgd(c, s->wrapper, 0.25f, 0.0f, 0.0f);
    s->clip = open_clip(c, s->wrapper);
    s->adamw = open_adamw(c, s->wrapper, &forgetful);
    open_inputs(c, s, 1);
}

/* The weights are written anew: the values after a failing step do not matter. */
static int step_parallel(struct subject *s)
{
    struct dp_tensor out[DP_MAX_IO];
    int n = 0;
    dp_run_reset(s->run);
    int status = dp_module_init(s->model, 3, &s->err);
    dp_zero_grad(s->model);
    if (status == 0)
        status = dp_forward(s->wrapper, s->run, s->input, 1, out, &n, &s->err);
    if (status == 0)
        status = dp_backward(s->wrapper, s->run, NULL, 0, NULL, 0, &s->err);
    if (status == 0)
        status = dp_clip_grads(s->clip, 0.125, NULL, &s->err);
    if (status == 0)
        status = dp_sgd_step(s->sgd, &s->err);
    return status ? status : dp_adamw_step(s->adamw, &s->err);
}

static int read_parallel(struct subject *s, struct state *state)
{
    struct dp_param *list[PARAMS];
    int status = dp_module_params(s->model, list, PARAMS) == PARAMS ? 0 : DP_EINVAL;
    for (int i = 0; status == 0 && i < PARAMS; ++i)
        status = dp_tensor_read(state->value[0][i], &list[i]->value, &s->err);
    return status;
}

static void faults_open_ranks(struct context *c, struct subject *s)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = 8, .bucket_bytes = 32};
    s->model = network(c, s->group);
    expect_ok_of(
        c, dp_ddp_open(s->model, first_slots(c, s->group, SLOTS), SLOTS, &config, &s->ddp, &s->err),
        &s->err, "dp_ddp_open");
    own_ddp(c, s->ddp);
    open_inputs(c, s, SLOTS);
}

static int fill_ranks(struct subject *s)
{
    const float start[MOST] = {0.5f, -0.25f, 1.0f, 0.75f, -1.0f, 0.125f,
                               2.0f, -0.5f,  0.3f, 0.7f,  -0.9f, 1.1f};
    int status = 0;
    for (int r = 0; r < SLOTS; ++r) {
        for (int i = 0; status == 0 && i < PARAMS; ++i) {
            struct dp_ddp_param param;
            status = dp_ddp_param(s->ddp, r, i, &param, &s->err);
            if (status == 0)
                status = dp_tensor_write(&param.value, start, &s->err);
        }
    }
    return status;
}

/* A join without an active rank ends at once: it sends all parameters. */
static int faults_step_ranks(struct subject *s)
{
    const bool nobody[SLOTS] = {false};
    struct dp_tensor out[SLOTS * DP_MAX_IO];
    int n = 0;
    dp_ddp_reset(s->ddp);
    dp_ddp_zero_grad(s->ddp);
    int status = fill_ranks(s);
    if (status == 0)
        status = dp_ddp_forward(s->ddp, s->input, 1, NULL, out, &n, &s->err);
    if (status == 0)
        status = dp_ddp_backward(s->ddp, NULL, 0, NULL, 0, &s->err);
    if (status == 0)
        status = dp_ddp_clip_grads(s->ddp, 0.125, NULL, &s->err);
    if (status == 0)
        status = dp_ddp_step(s->ddp, 0.25f, 0.0f, 0.0f, &s->err);
    if (status == 0)
        status = dp_ddp_adamw_step(s->ddp, &forgetful, &s->err);
    return status ? status : dp_ddp_forward(s->ddp, NULL, 1, nobody, out, &n, &s->err);
}

static int read_ranks(struct subject *s, struct state *state)
{
    int status = 0;
    for (int r = 0; r < SLOTS; ++r) {
        for (int i = 0; status == 0 && i < PARAMS; ++i) {
            struct dp_ddp_param param;
            status = dp_ddp_param(s->ddp, r, i, &param, &s->err);
            if (status == 0)
                status = dp_tensor_read(state->value[r][i], &param.value, &s->err);
        }
    }
    return status;
}

/* Copies are opened without a model, because a model would wait for the queues once more. */
static void open_copies(struct context *c, struct subject *s)
{
    open_inputs(c, s, SLOTS);
}

static int step_copies(struct subject *s)
{
    float values[ROWS * IN];
    for (int i = 0; i < ROWS * IN; ++i)
        values[i] = (float)i;
    int status = dp_tensor_write(&s->input[0], values, &s->err);
    if (status == 0)
        status = dp_tensor_copy(&s->input[1], &s->input[0], &s->err);
    return status ? status : dp_tensor_copy(&s->input[2], &s->input[1], &s->err);
}

static int read_copies(struct subject *s, struct state *state)
{
    return dp_tensor_read(state->value, &s->input[2], &s->err);
}

struct kind {
    const char *name;
    void (*open)(struct context *c, struct subject *s);
    int (*step)(struct subject *s);
    int (*read)(struct subject *s, struct state *state);
};

static const struct kind parallel = {"parallel", open_parallel, step_parallel, read_parallel};
static const struct kind copies = {"copies", open_copies, step_copies, read_copies};
static const struct kind ranks = {"ranks", faults_open_ranks, faults_step_ranks, read_ranks};

/* ---- one failure after the other --------------------------------------------------------- */

/* By default all data go through the host. */
static bool is_staged(const struct context *c)
{
    return strcmp(c->settings.backend, "cpu-ref") == 0 ||
           strcmp(c->settings.backend, "cuda-staged") == 0;
}

/* Whether a step of that kind has at least one call of this operation. */
static bool must_hit(const struct context *c, const struct kind *kind, enum dp_fault fault)
{
    switch (fault) {
    case DP_FAULT_LAUNCH:
    case DP_FAULT_SYNC:
        return true;
    case DP_FAULT_MOVE: /* ranks whose communicator has collectives move nothing */
        return kind != &ranks || !c->settings.communicator;
    case DP_FAULT_REDUCE:
        return kind == &parallel || (kind == &ranks && is_staged(c));
    case DP_FAULT_WAIT:
        return !is_staged(c);
    case DP_FAULT_BROADCAST:
    case DP_FAULT_ALLREDUCE:
    case DP_FAULT_POLL:
        return kind == &ranks;
    default:
        return false; /* memory is kept from step to step; nothing here calls or finishes */
    }
}

static void right_step(struct context *c, const struct kind *kind, struct subject *s,
                       const struct state *want)
{
    struct state *got = case_memory(c, sizeof *got);
    dp_faults_arm(s->group, 0);
    expect_ok_of(c, kind->step(s), &s->err, "the step after it");
    expect_ok_of(c, kind->read(s, got), &s->err, "reading what came out");
    expect(c, memcmp(got, want, sizeof *got) == 0, "the step after it has other bits");
}

static size_t taken(const struct dp_group *group)
{
    size_t bytes = 0;
    for (int i = 0; i < group->size; ++i)
        bytes += atomic_load(&group->slot[i]->bytes);
    return bytes;
}

static void fail_each(struct context *c, const struct kind *kind, enum dp_fault fault)
{
    struct subject *s = case_memory(c, sizeof *s);
    struct state *want = case_memory(c, sizeof *want);
    uint64_t at = 1;
    s->group = open_group(c, SLOTS);
    expect_ok_of(c, dp_faults_open(s->group, fault, &s->err), &s->err, "dp_faults_open");
    kind->open(c, s);
    for (int k = 0; k < 3; ++k) /* from the second step on the buckets do not change */
        expect_ok_of(c, kind->step(s), &s->err, "a step");
    expect_ok_of(c, kind->read(s, want), &s->err, "reading what came out");
    const size_t before = taken(s->group);
    for (; at <= CALLS_MOST; ++at) {
        case_note(c, "%s: %s@%d", kind->name, dp_fault_name(fault), (int)at);
        expect_ok_of(c, dp_group_wait(s->group, &s->err), &s->err, "dp_group_wait");
        dp_faults_arm(s->group, at);
        const int status = kind->step(s);
        if (!dp_faults_hit(s->group))
            break;
        expect(c, status != 0, "a step in which it failed went well");
        expect(c, strstr(s->err.text, "fails on purpose") != NULL, "it says: %s", s->err.text);
        expect(c, dp_lag_pending(s->group) == 0, "%d operations are left in the queues",
               (int)dp_lag_pending(s->group));
        s->err = (struct dp_error){0};
        right_step(c, kind, s, want);
        expect(c, taken(s->group) == before, "%zu bytes are taken, %zu before", taken(s->group),
               before);
    }
    expect(c, at <= CALLS_MOST, "a step has more than %d calls", CALLS_MOST);
    expect(c, at > 1 || !must_hit(c, kind, fault), "no step calls it");
}

static void all_faults(struct context *c, const struct kind *kind)
{
    for (int fault = 0; fault < DP_FAULTS; ++fault) {
        case_release(c);
        fail_each(c, kind, (enum dp_fault)fault);
    }
}

static void fail_parallel(struct context *c)
{
    all_faults(c, &parallel);
}

static void fail_copies(struct context *c)
{
    all_faults(c, &copies);
}

static void fail_ranks(struct context *c)
{
    all_faults(c, &ranks);
}

static const struct test_case cases[] = {
    {"faults/parallel", "ERR-08", fail_parallel},
    {"faults/copies", "ERR-08", fail_copies},
    {"faults/ranks", "ERR-08", fail_ranks},
};
const struct case_table faults_cases = {cases, sizeof cases / sizeof cases[0]};
