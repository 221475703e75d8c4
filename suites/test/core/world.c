/* world.c: DistributedDataParallel over groups that are a world together: what each of its ranks
 * has is, bit for bit, what that rank has in one group. */
#include "ddp.h"
#include "joined.h"
#include "list.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, PROCESSES = 2, LOCAL = RANKS / PROCESSES, ROWS = 3, STEPS = 6 };
enum { IN = 5, HIDDEN = 7, OUT = 3, PARAMS = 10, MOST = HIDDEN * IN };

/* What is trained. A rank's last step that has a batch: the join begins when one has none. */
struct plan {
    const char *name;
    bool find_unused;
    bool idle; /* with a parameter that nobody uses */
    int last[RANKS];
    int fails; /* rank whose backward of step 1 fails, -1: none */
    bool odd;  /* the second process has another model */
};

static const struct plan plans[] = {
    {"plain", false, false, {STEPS, STEPS, STEPS, STEPS}, -1, false},
    {"search", true, true, {STEPS, STEPS, STEPS, STEPS}, -1, false},
    {"join", false, false, {STEPS - 2, 2, STEPS - 1, 3}, -1, false},
    {"join of one", true, true, {1, 2, 2, STEPS - 1}, -1, false},
};

/* One process. Runs on a thread of its own, so it states nothing: it keeps what came out. */
struct process {
    const struct plan *plan;
    struct dp_group_config config;
    int first, n;
    int fail_step; /* of its rank plan->fails */
    int step, rank_in_backward;
    int status;
    struct dp_error err;
    int world, first_seen, world_seen;
    float value[RANKS][PARAMS][MOST];
    bool has_grad[RANKS][PARAMS];
    float grad[RANKS][PARAMS][MOST];
};

/* ---- the model --------------------------------------------------------------------------- */

static int break_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module, (void)run, (void)n_in, (void)err;
    out[0] = in[0];
    *n_out = 1;
    return 0;
}

static int break_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    const struct process *p = dp_module_self(module);
    (void)n_out, (void)n_in;
    if (p->step == 1 && p->first + dp_run_replica(run) == p->plan->fails)
        return dp_fail(err, DP_EFAULT, "broken on purpose");
    grad_in[0] = grad_out[0];
    return 0;
}

static const struct dp_module_ops break_ops = {"break", break_forward, break_backward, NULL};

/* Dropout: its draws are the rank's. Batch norm: its buffers are sent before every forward. */
static int open_model(struct process *p, struct dp_group *group, struct dp_module **model)
{
    struct dp_module *child[5] = {NULL};
    struct dp_param *idle;
    const size_t hidden = p->plan->odd && p->first > 0 ? HIDDEN - 1 : HIDDEN;
    int status = dp_linear(group, IN, hidden, true, &child[0], &p->err);
    if (status == 0)
        status = dp_batch_norm(group, hidden, 1e-5, 0.1, &child[1], &p->err);
    if (status == 0)
        status = dp_module_open(group, &break_ops, p, NULL, 0, &child[2], &p->err);
    if (status == 0)
        status = dp_dropout(group, 0.25, 5, &child[3], &p->err);
    if (status == 0)
        status = dp_linear(group, hidden, OUT, true, &child[4], &p->err);
    if (status == 0 && p->plan->idle)
        status = dp_module_add_param(child[2], "idle", DP_F32, 1, (size_t[]){2}, &idle, &p->err);
    if (status == 0)
        status = dp_sequential(group, child, 5, model, &p->err);
    for (int k = 0; k < 5; ++k)
        dp_module_close(child[k]);
    if (status == 0) /* rank 0's values win */
        status = dp_module_init(*model, 11 + (uint64_t)p->first, &p->err);
    return status ? status : dp_module_to(*model, dp_group_slot(group, 0), &p->err);
}

/* ---- training ---------------------------------------------------------------------------- */

static float noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*state >> 32) / 2147483648.0f;
}

static int fill(struct dp_tensor *tensor, uint64_t seed, struct dp_error *err)
{
    float values[ROWS * MOST];
    uint64_t state = seed;
    for (size_t i = 0; i < dp_tensor_count(tensor); ++i)
        values[i] = noise(&state);
    return dp_tensor_write(tensor, values, err);
}

static int step(struct process *p, struct dp_ddp *ddp, struct dp_tensor in[],
                struct dp_tensor grad[])
{
    struct dp_tensor out[RANKS * DP_MAX_IO];
    bool active[RANKS], all = true;
    int n_out = 0, status = 0;
    for (int r = 0; r < RANKS; ++r)
        all = all && p->step < p->plan->last[r];
    for (int r = 0; status == 0 && r < p->n; ++r) {
        const uint64_t seed = 100 * (uint64_t)p->step + (uint64_t)(p->first + r);
        active[r] = p->step < p->plan->last[p->first + r];
        status = fill(&in[r], seed, &p->err);
        if (status == 0)
            status = fill(&grad[r], 7000 + seed, &p->err);
    }
    dp_ddp_reset(ddp);
    dp_ddp_no_sync(ddp, p->step == 3);
    if (status == 0)
        status = dp_ddp_forward(ddp, in, 1, all ? NULL : active, out, &n_out, &p->err);
    if (status || (n_out == 0 && !dp_ddp_joining(ddp)))
        return status;
    status = dp_ddp_backward(ddp, grad, 1, NULL, 0, &p->err);
    if (status || p->step == 3)
        return status;
    status = dp_ddp_step(ddp, 0.05f, 0.9f, 0.01f, &p->err);
    if (status == 0 && p->step + 1 < STEPS)
        dp_ddp_zero_grad(ddp);
    return status;
}

static int keep(struct process *p, struct dp_ddp *ddp, int n_params)
{
    int status = 0;
    for (int r = 0; r < p->n; ++r) {
        for (int i = 0; status == 0 && i < n_params; ++i) {
            struct dp_ddp_param param;
            const int w = p->first + r;
            status = dp_ddp_param(ddp, r, i, &param, &p->err);
            if (status)
                return status;
            if (param.value.dtype == DP_F32)
                status = dp_tensor_read(p->value[w][i], &param.value, &p->err);
            p->has_grad[w][i] = *param.has_grad;
            if (status == 0 && *param.has_grad)
                status = dp_tensor_read(p->grad[w][i], &param.grad, &p->err);
        }
    }
    return status;
}

static int train(struct process *p, struct dp_group *group, struct dp_module *model)
{
    const struct dp_ddp_config config = {
        .first_bucket_bytes = 8, .bucket_bytes = 64, .find_unused = p->plan->find_unused};
    struct dp_tensor in[RANKS] = {{0}}, grad[RANKS] = {{0}};
    struct dp_slot *slots[RANKS];
    struct dp_ddp *ddp = NULL;
    for (int r = 0; r < p->n; ++r)
        slots[r] = dp_group_slot(group, r);
    int status = dp_ddp_open(model, slots, p->n, &config, &ddp, &p->err);
    for (int r = 0; status == 0 && r < p->n; ++r) {
        status = dp_tensor_alloc(slots[r], DP_F32, 2, (size_t[]){ROWS, IN}, &in[r], &p->err);
        if (status == 0)
            status = dp_tensor_alloc(slots[r], DP_F32, 2, (size_t[]){ROWS, OUT}, &grad[r], &p->err);
    }
    for (p->step = 0; status == 0 && p->step < STEPS; ++p->step)
        status = step(p, ddp, in, grad);
    if (status == 0)
        status = keep(p, ddp, dp_module_params(model, NULL, 0));
    for (int r = 0; r < p->n; ++r) {
        if (in[r].slot)
            dp_tensor_free(&in[r]);
        if (grad[r].slot)
            dp_tensor_free(&grad[r]);
    }
    dp_ddp_close(ddp);
    return status;
}

static void *run(void *arg)
{
    struct process *p = arg;
    struct dp_group *group = NULL;
    struct dp_module *model = NULL;
    p->status = dp_group_open(&p->config, &group, &p->err);
    if (p->status)
        return NULL;
    p->world_seen = dp_group_world(group);
    p->first_seen = dp_group_first(group);
    p->status = open_model(p, group, &model);
    if (p->status == 0)
        p->status = train(p, group, model);
    dp_module_close(model);
    dp_group_close(group);
    return NULL;
}

/* ---- the cases --------------------------------------------------------------------------- */

static struct process *open_process(struct context *c, const struct plan *plan, int first, int n,
                                    const struct dp_world *world)
{
    struct process *p = case_memory(c, sizeof *p);
    char *devices = case_memory(c, 256);
    device_list(&c->settings, n, devices);
    p->plan = plan;
    p->first = first;
    p->n = n;
    p->config = (struct dp_group_config){.devices = devices,
                                         .backend = c->settings.backend,
                                         .lag_seed = c->settings.lag_seed,
                                         .no_graphs = c->settings.no_graphs,
                                         .world = world};
    return p;
}

static void close_joined(void *object)
{
    joined_close(object);
}

/* Two groups of two, each driven by a thread. */
static void run_joined(struct context *c, const struct plan *plan, enum joined_way way,
                       struct process *process[PROCESSES])
{
    struct joined_end *end = case_memory(c, PROCESSES * sizeof *end);
    pthread_t thread;
    struct joined *joined = joined_open(PROCESSES, way, end);
    if (!joined)
        case_fail(c, "out of memory");
    own(c, close_joined, joined);
    for (int k = 0; k < PROCESSES; ++k)
        process[k] = open_process(c, plan, k * LOCAL, LOCAL, &end[k].world);
    if (pthread_create(&thread, NULL, run, process[1]) != 0)
        case_fail(c, "no thread");
    run(process[0]);
    (void)pthread_join(thread, NULL);
}

static void compare(struct context *c, const struct process *whole, const struct process *part)
{
    for (int w = part->first; w < part->first + part->n; ++w) {
        for (int i = 0; i < PARAMS; ++i) {
            expect(c, memcmp(whole->value[w][i], part->value[w][i], sizeof part->value[w][i]) == 0,
                   "rank %d: parameter %d has other bits", w, i);
            expect(c, whole->has_grad[w][i] == part->has_grad[w][i],
                   "rank %d: parameter %d has %s gradient", w, i,
                   part->has_grad[w][i] ? "a" : "no");
            expect(c, memcmp(whole->grad[w][i], part->grad[w][i], sizeof part->grad[w][i]) == 0,
                   "rank %d: the gradient of parameter %d has other bits", w, i);
        }
    }
}

static void same_bits(struct context *c)
{
    for (size_t k = 0; k < sizeof plans / sizeof plans[0]; ++k) {
        for (int way = 0; way < JOINED_WAYS; ++way) {
            struct process *process[PROCESSES];
            case_release(c);
            case_note(c, "%s, way %d", plans[k].name, way);
            struct process *whole = open_process(c, &plans[k], 0, RANKS, NULL);
            run(whole);
            expect_ok(c, whole->status, &whole->err, "one group");
            expect(c, whole->world_seen == RANKS && whole->first_seen == 0,
                   "one group: a world of %d, from %d on", whole->world_seen, whole->first_seen);
            run_joined(c, &plans[k], (enum joined_way)way, process);
            for (int p = 0; p < PROCESSES; ++p) {
                expect_ok(c, process[p]->status, &process[p]->err, "a group of two");
                expect(c, process[p]->world_seen == RANKS && process[p]->first_seen == p * LOCAL,
                       "group %d: a world of %d, from %d on", p, process[p]->world_seen,
                       process[p]->first_seen);
                compare(c, whole, process[p]);
            }
            /* The first layer's weight: ranks without a batch at the end have that of before. */
            expect(c, whole->value[0][0][0] != 0.0f && whole->value[3][0][0] != 0.0f,
                   "nothing was trained");
        }
    }
}

/* What fails in one process fails in both, and nobody waits for ever. */
static void failures(struct context *c)
{
    static const struct plan bad[] = {
        {"backward of rank 3", false, false, {STEPS, STEPS, STEPS, STEPS}, 3, false},
        {"backward of rank 0", true, false, {STEPS, STEPS, STEPS, STEPS}, 0, false},
        {"another model", false, false, {STEPS, STEPS, STEPS, STEPS}, -1, true},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        for (int way = 0; way < JOINED_WAYS; ++way) {
            struct process *process[PROCESSES];
            case_release(c);
            case_note(c, "%s, way %d", bad[k].name, way);
            run_joined(c, &bad[k], (enum joined_way)way, process);
            for (int p = 0; p < PROCESSES; ++p) {
                const bool own = bad[k].fails >= 0 && bad[k].fails / LOCAL == p;
                const char *needle = own          ? "broken on purpose"
                                     : bad[k].odd ? "other parameters"
                                                  : "has given up";
                expect_error(c, process[p]->status, bad[k].odd ? DP_EINVAL : DP_EFAULT,
                             &process[p]->err, needle, NULL);
                expect(c, process[p]->step == (bad[k].odd ? 0 : 2), "group %d ended with step %d",
                       p, process[p]->step - 1);
            }
        }
    }
}

/* A communicator that stays in its process is refused, not used for a part of the world. */
static void refused(struct context *c)
{
    struct joined_end *end = case_memory(c, PROCESSES * sizeof *end);
    struct joined *joined = joined_open(PROCESSES, JOINED_AT_ONCE, end);
    if (!joined)
        case_fail(c, "out of memory");
    own(c, close_joined, joined);
    end[0].world.comm = NULL;
    struct process *p = open_process(c, &plans[0], 0, LOCAL, &end[0].world);
    run(p);
    expect_error(c, p->status, DP_ENOTSUP, &p->err, "does not reach", NULL);
}

static const struct test_case cases[] = {
    {"world/same-bits", "DDP-01 DDP-05 DDP-07 DDP-08 DDP-11 DDP-19 DDP-20 DDP-22", same_bits},
    {"world/failures", "ERR-08", failures},
    {"world/refused", "", refused},
};
const struct case_table world_cases = {cases, sizeof cases / sizeof cases[0]};
