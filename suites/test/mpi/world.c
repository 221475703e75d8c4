/* world.c: DistributedDataParallel on ranks of several processes: the results of each
 * rank are, bit for bit, those of that rank in one group of all ranks, which every process also
 * trains by itself.
 *
 *   lockstep-mpi-world MODULE LOCALS [PLAN]
 *
 * LOCALS: how many ranks each process drives, "1,3,2", or several such lists: "1,3/2,2".
 * PLAN: a plan that fails, instead of all that do not. Process 0 ends with "ok N", or says why not.
 */
#include "ddp.h"
#include "start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRAINEE_RANKS = 8, TRAINEE_STEPS = 6, TRAINEE_PARAMS = 10 };

/* The training that every process runs. Rank r has a batch in the first last[r] steps: the join
 * begins when a rank has none. */
struct trainee_plan {
    const char *name;
    bool find_unused;
    bool idle; /* there is a parameter that no layer uses */
    int last[TRAINEE_RANKS];
    int fails; /* rank whose backward of step 1 fails, -1: none */
    bool odd;  /* other processes than the first have another model */
    bool wide; /* of megabytes, in buckets of the default size */
};

/* One process. It judges nothing, it only keeps its results. */
struct trainee {
    const struct trainee_plan *plan;
    struct dp_group_config config;
    int ranks, first, n; /* of the world; local ones */
    int step;
    int status;
    struct dp_error err;
    int world, first_seen, world_seen;
    size_t most;         /* numbers of the largest parameter */
    float *value, *grad; /* [rank][parameter][most] */
    bool has_grad[TRAINEE_RANKS][TRAINEE_PARAMS];
    uint64_t sent[TRAINEE_RANKS]; /* bytes of the first values that came to a rank */
};

enum { ROWS = 3, IN = 5, HIDDEN = 7, OUT = 3, WIDE_IN = 128, WIDE_HIDDEN = 1000 };

static size_t in_of(const struct trainee_plan *plan)
{
    return plan->wide ? WIDE_IN : IN;
}

static size_t hidden_of(const struct trainee_plan *plan)
{
    return plan->wide ? WIDE_HIDDEN : HIDDEN;
}

static float *trainee_value(const struct trainee *p, int rank, int param)
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

/* Opens a group, trains, keeps the results, closes all. */
static void trainee_run(struct trainee *p)
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

static void trainee_close(struct trainee *p)
{
    if (!p)
        return;
    free(p->value);
    free(p->grad);
    free(p);
}

/* Opens ranks first..first+n of a world of `ranks`; config says how their group is opened. Returns
 * NULL if there is no memory. */
static struct trainee *trainee_open(const struct trainee_plan *plan, int ranks, int first, int n,
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

/* Compares the ranks of part with those of whole, bit for bit, and whether values were sent to
 * them: writes a line about a difference, or "". */
static void trainee_compare(const struct trainee *whole, const struct trainee *part, char *text,
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

/* ---- the program ----------------------------------------------------------------------------- */

enum { STEPS = TRAINEE_STEPS };

#define ALWAYS                                                                                     \
    {                                                                                              \
        STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS                                     \
    }
static const struct trainee_plan plans[] = {
    {"plain", false, false, ALWAYS, -1, false, false},
    {"search", true, true, ALWAYS, -1, false, false},
    {"join", false, false, {STEPS - 2, 2, STEPS - 1, 3, 4, 1, 2, 3}, -1, false, false},
    {"join of one", true, true, {1, 2, 2, STEPS - 1, 2, 1, 1, 2}, -1, false, false},
    {"wide", false, false, ALWAYS, -1, false, true},
    {"wide search", true, true, ALWAYS, -1, false, true},
};
static const struct trainee_plan bad[] = {
    {"backward of rank 0", true, false, ALWAYS, 0, false, false},
    {"backward of rank 1", false, false, ALWAYS, 1, false, false},
    {"another model", false, false, ALWAYS, -1, true, false},
};

static const struct kind {
    const char *suffix, *backend;
    uint64_t seed;
} kinds[] = {{"", "cpu", 0},         {"", "cpu-ref", 0}, {"+lag", "cpu", 0},
             {"+lag", "cpu-ref", 1}, {"+lag", "cpu", 2}, {"+50us", "cpu", 0}};

struct layout {
    int processes, ranks, locals[TRAINEE_RANKS];
};

/* Moves *text to the place after the list. */
static bool read_layout(const char **text, struct layout *layout)
{
    char *end = NULL;
    *layout = (struct layout){.processes = 0};
    for (bool more = true; more; *text = end) {
        const long n = strtol(*text, &end, 10);
        if (n < 1 || layout->processes == TRAINEE_RANKS || layout->ranks + n > TRAINEE_RANKS)
            return false;
        layout->locals[layout->processes++] = (int)n;
        layout->ranks += (int)n;
        more = *end == ',';
        end += *end == ',' || *end == '/';
    }
    return true;
}

static int world_first_of(const struct layout *layout, int process)
{
    int first = 0;
    for (int p = 0; p < process; ++p)
        first += layout->locals[p];
    return first;
}

static struct trainee *world_train(const struct trainee_plan *plan, const struct kind *kind,
                                   int ranks, int first, int n, const struct dp_world *world)
{
    char devices[32];
    snprintf(devices, sizeof devices, "virt:%d%s", n, kind->suffix);
    const struct dp_group_config config = {
        .devices = devices, .backend = kind->backend, .lag_seed = kind->seed, .world = world};
    struct trainee *t = trainee_open(plan, ranks, first, n, &config);
    if (t)
        trainee_run(t);
    return t;
}

/* Trains in this process, its ranks in the world and all ranks in one group, and compares the
 * results. */
static int try(struct dp_mpi *mpi, const struct layout *layout, const struct trainee_plan *plan,
               const struct kind *kind)
{
    const int rank = dp_mpi_rank(mpi), first = world_first_of(layout, rank);
    struct trainee *part =
        world_train(plan, kind, layout->ranks, first, layout->locals[rank], dp_mpi_world(mpi));
    struct trainee *whole = world_train(plan, kind, layout->ranks, 0, layout->ranks, NULL);
    char text[160] = "no memory";
    if (part && whole && (part->status || whole->status))
        snprintf(text, sizeof text, "%.150s", part->status ? part->err.text : whole->err.text);
    else if (part && whole && (part->world_seen != layout->ranks || part->first_seen != first))
        snprintf(text, sizeof text, "a world of %d, from %d on", part->world_seen,
                 part->first_seen);
    else if (part && whole && trainee_value(whole, first, 0)[0] == 0.0f)
        snprintf(text, sizeof text, "nothing was trained");
    else if (part && whole)
        trainee_compare(whole, part, text, sizeof text);
    if (text[0])
        printf("FAIL process %d: %s, %s%s: %s\n", rank, plan->name, kind->backend, kind->suffix,
               text);
    trainee_close(part);
    trainee_close(whole);
    return text[0] ? 1 : 0;
}

static int try_all(struct dp_mpi *mpi, const char *layouts)
{
    struct layout layout;
    int failed = 0, done = 0;
    while (failed == 0 && *layouts) {
        if (!read_layout(&layouts, &layout) || layout.processes != dp_mpi_size(mpi)) {
            printf("FAIL: ranks for %d processes, there are %d\n", layout.processes,
                   dp_mpi_size(mpi));
            return 1;
        }
        for (size_t k = 0; failed == 0 && k < sizeof kinds / sizeof *kinds; ++k)
            for (size_t i = 0; failed == 0 && i < sizeof plans / sizeof *plans; ++i, ++done)
                failed = try(mpi, &layout, &plans[i], &kinds[k]);
    }
    if (failed == 0 && dp_mpi_rank(mpi) == 0)
        printf("ok %d\n", done);
    return failed;
}

/* Prints the line of the failure, in each process. */
static int try_bad(struct dp_mpi *mpi, const char *layouts, const char *name)
{
    struct layout layout;
    const int rank = dp_mpi_rank(mpi);
    if (!read_layout(&layouts, &layout) || layout.processes != dp_mpi_size(mpi))
        return 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        if (strcmp(bad[i].name, name) != 0)
            continue;
        struct trainee *t =
            world_train(&bad[i], &kinds[0], layout.ranks, world_first_of(&layout, rank),
                        layout.locals[rank], dp_mpi_world(mpi));
        printf("process %d: step %d: %s: %s\n", rank, t ? t->step : -1,
               t ? dp_status_name(t->status) : "ENOMEM", t ? t->err.text : "");
        trainee_close(t);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct dp_error err = {0};
    if (argc < 3)
        return 2;
    struct dp_mpi *mpi = start_mpi(argv[1]);
    const int failed = argc > 3 ? try_bad(mpi, argv[2], argv[3]) : try_all(mpi, argv[2]);
    fflush(stdout);
    const int closed = dp_mpi_close(mpi, &err);
    if (argc == 3 && closed)
        printf("FAIL: %s\n", err.text);
    fflush(stdout);
    if (closed) /* MPI has not ended */
        _exit(argc > 3 ? failed : 1);
    return failed;
}
