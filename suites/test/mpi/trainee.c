/* trainee.c: see trainee.h. */
#include "trainee.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, IN = 5, HIDDEN = 7, OUT = 3, WIDE_IN = 128, WIDE_HIDDEN = 1000 };

static size_t in_of(const struct trainee_plan *plan)
{
    return plan->wide ? WIDE_IN : IN;
}

static size_t hidden_of(const struct trainee_plan *plan)
{
    return plan->wide ? WIDE_HIDDEN : HIDDEN;
}

float *trainee_value(const struct trainee *p, int rank, int param)
{
    return p->value + (size_t)(rank * TRAINEE_PARAMS + param) * p->most;
}

static float *trainee_grad(const struct trainee *p, int rank, int param)
{
    return p->grad + (size_t)(rank * TRAINEE_PARAMS + param) * p->most;
}

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
    const struct trainee *p = dp_module_self(module);
    (void)n_out, (void)n_in;
    if (p->step == 1 && p->first + dp_run_replica(run) == p->plan->fails)
        return dp_fail(err, DP_EFAULT, "broken on purpose");
    grad_in[0] = grad_out[0];
    return 0;
}

static const struct dp_module_ops break_ops = {"break", break_forward, break_backward, NULL};

/* Dropout: its draws are the rank's. Batch norm: its buffers are sent before every forward. */
static int trainee_open_model(struct trainee *p, struct dp_group *group, struct dp_module **model)
{
    struct dp_module *child[5] = {NULL};
    struct dp_param *idle;
    const size_t full = hidden_of(p->plan), hidden = p->plan->odd && p->first > 0 ? full - 1 : full;
    int status = dp_linear(group, in_of(p->plan), hidden, true, &child[0], &p->err);
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

static int trainee_fill(struct dp_tensor *tensor, uint64_t seed, struct dp_error *err)
{
    float values[ROWS * WIDE_IN];
    uint64_t state = seed;
    for (size_t i = 0; i < dp_tensor_count(tensor); ++i)
        values[i] = noise(&state);
    return dp_tensor_write(tensor, values, err);
}

static int trainee_step(struct trainee *p, struct dp_ddp *ddp, struct dp_tensor in[],
                        struct dp_tensor grad[])
{
    struct dp_tensor out[TRAINEE_RANKS * DP_MAX_IO];
    bool active[TRAINEE_RANKS], all = true;
    int n_out = 0, status = 0;
    for (int r = 0; r < p->ranks; ++r)
        all = all && p->step < p->plan->last[r];
    for (int r = 0; status == 0 && r < p->n; ++r) {
        const uint64_t seed = 100 * (uint64_t)p->step + (uint64_t)(p->first + r);
        active[r] = p->step < p->plan->last[p->first + r];
        status = trainee_fill(&in[r], seed, &p->err);
        if (status == 0)
            status = trainee_fill(&grad[r], 7000 + seed, &p->err);
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
    if (status == 0 && p->step + 1 < TRAINEE_STEPS)
        dp_ddp_zero_grad(ddp);
    return status;
}

static int trainee_keep(struct trainee *p, struct dp_ddp *ddp, int n_params)
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
                status = dp_tensor_read(trainee_value(p, w, i), &param.value, &p->err);
            p->has_grad[w][i] = *param.has_grad;
            if (status == 0 && *param.has_grad)
                status = dp_tensor_read(trainee_grad(p, w, i), &param.grad, &p->err);
        }
    }
    return status;
}

static int trainee_train(struct trainee *p, struct dp_group *group, struct dp_module *model)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = p->plan->wide ? 0 : 8,
                                         .bucket_bytes = p->plan->wide ? 0 : 64,
                                         .find_unused = p->plan->find_unused};
    struct dp_tensor in[TRAINEE_RANKS] = {{0}}, grad[TRAINEE_RANKS] = {{0}};
    struct dp_slot *slots[TRAINEE_RANKS];
    struct dp_ddp *ddp = NULL;
    for (int r = 0; r < p->n; ++r)
        slots[r] = dp_group_slot(group, r);
    struct dp_trace trace = {0};
    dp_group_trace(group, &trace);
    int status = dp_ddp_open(model, slots, p->n, &config, &ddp, &p->err);
    dp_group_trace(group, NULL);
    for (int r = 0; r < p->n; ++r)
        p->sent[p->first + r] = trace.replica[r].bytes[DP_PHASE_REPLICATE];
    for (int r = 0; status == 0 && r < p->n; ++r) {
        status =
            dp_tensor_alloc(slots[r], DP_F32, 2, (size_t[]){ROWS, in_of(p->plan)}, &in[r], &p->err);
        if (status == 0)
            status = dp_tensor_alloc(slots[r], DP_F32, 2, (size_t[]){ROWS, OUT}, &grad[r], &p->err);
    }
    for (p->step = 0; status == 0 && p->step < TRAINEE_STEPS; ++p->step)
        status = trainee_step(p, ddp, in, grad);
    if (status == 0)
        status = trainee_keep(p, ddp, dp_module_params(model, NULL, 0));
    for (int r = 0; r < p->n; ++r) {
        if (in[r].slot)
            dp_tensor_free(&in[r]);
        if (grad[r].slot)
            dp_tensor_free(&grad[r]);
    }
    dp_ddp_close(ddp);
    return status;
}

void trainee_run(struct trainee *p)
{
    struct dp_group *group = NULL;
    struct dp_module *model = NULL;
    p->status = dp_group_open(&p->config, &group, &p->err);
    if (p->status)
        return;
    p->world_seen = dp_group_world(group);
    p->first_seen = dp_group_first(group);
    p->status = trainee_open_model(p, group, &model);
    if (p->status == 0)
        p->status = trainee_train(p, group, model);
    dp_module_close(model);
    dp_group_close(group);
}

/* ---- what came out ----------------------------------------------------------------------- */

struct trainee *trainee_open(const struct trainee_plan *plan, int ranks, int first, int n,
                             const struct dp_group_config *config)
{
    struct trainee *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->plan = plan;
    p->ranks = ranks;
    p->first = first;
    p->n = n;
    p->config = *config;
    p->most = in_of(plan) * hidden_of(plan);
    p->value = calloc((size_t)(ranks * TRAINEE_PARAMS) * p->most, sizeof *p->value);
    p->grad = calloc((size_t)(ranks * TRAINEE_PARAMS) * p->most, sizeof *p->grad);
    if (!p->value || !p->grad) {
        trainee_close(p);
        return NULL;
    }
    return p;
}

void trainee_close(struct trainee *p)
{
    if (!p)
        return;
    free(p->value);
    free(p->grad);
    free(p);
}

void trainee_compare(const struct trainee *whole, const struct trainee *part, char *text,
                     size_t bytes)
{
    text[0] = '\0';
    for (int w = part->first; text[0] == '\0' && w < part->first + part->n; ++w) {
        if ((whole->sent[w] == 0) != (part->sent[w] == 0))
            snprintf(text, bytes, "rank %d: %llu bytes were sent, in one group %llu", w,
                     (unsigned long long)part->sent[w], (unsigned long long)whole->sent[w]);
        for (int i = 0; i < TRAINEE_PARAMS; ++i) {
            const size_t n = whole->most * sizeof *whole->value;
            if (memcmp(trainee_value(whole, w, i), trainee_value(part, w, i), n) != 0)
                snprintf(text, bytes, "rank %d: parameter %d has other bits", w, i);
            else if (whole->has_grad[w][i] != part->has_grad[w][i])
                snprintf(text, bytes, "rank %d: parameter %d has %s gradient", w, i,
                         part->has_grad[w][i] ? "a" : "no");
            else if (memcmp(trainee_grad(whole, w, i), trainee_grad(part, w, i), n) != 0)
                snprintf(text, bytes, "rank %d: the gradient of parameter %d has other bits", w, i);
        }
    }
}
