/* probes.c: the probes that look, fail or count. Those that compute are in
 * probe_maths.c and probe_scale.c. */
#include "probes.h"

static int replica_index(const struct dp_run *run)
{
    const int i = dp_run_replica(run);
    return i < 0 ? 0 : i % PROBE_REPLICAS;
}

static void call_mark(const void *args)
{
    ++**(int *const *)args;
}

static int probe_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct probe *probe = dp_module_self(module);
    const int i = replica_index(run);
    if (n_in != 1)
        return dp_fail(err, DP_EINVAL, "probe: %d inputs, takes 1", n_in);
    ++probe->visit[i].forwards;
    probe->visit[i].thread = pthread_self();
    probe->visit[i].run_slot = dp_run_slot(run);
    probe->visit[i].in_data = in->data;
    int *marks = &probe->visit[i].marks;
    const int status =
        probe->mark ? dp_run_call(run, in->slot, call_mark, &marks, sizeof marks, NULL, 0, err)
                    : DP_OK;
    if (status != DP_OK)
        return status;
    if ((probe->fail_forward >> i & 1) != 0)
        return dp_fail(err, DP_EFAULT, "probe %d refuses forward", i);
    out[0] = in[0];
    *n_out = 1;
    return DP_OK;
}

static int probe_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    struct probe *probe = dp_module_self(module);
    const int i = replica_index(run);
    if (n_out != 1 || n_in != 1)
        return dp_fail(err, DP_EINVAL, "probe: %d gradients for %d inputs", n_out, n_in);
    if ((probe->fail_backward >> i & 1) != 0)
        return dp_fail(err, DP_EFAULT, "probe %d refuses backward", i);
    grad_in[0] = grad_out[0];
    if ((probe->no_input_grad >> i & 1) != 0)
        grad_in[0] = (struct dp_tensor){.slot = NULL};
    return DP_OK;
}

struct dp_module *make_probe(struct context *c, struct dp_group *group, struct probe **probe)
{
    static const struct dp_module_ops ops = {"probe", probe_forward, probe_backward, NULL};
    *probe = case_memory(c, sizeof **probe);
    return make_module(c, group, &ops, *probe);
}

int probe_forwards(const struct probe *probe)
{
    int n = 0;
    for (int i = 0; i < PROBE_REPLICAS; ++i)
        n += probe->visit[i].forwards;
    return n;
}

static int pass_forward(const struct dp_tensor in[], int n_in, struct dp_tensor out[], int *n_out,
                        struct dp_error *err)
{
    if (n_in != 1)
        return dp_fail(err, DP_EINVAL, "%d inputs, takes 1", n_in);
    out[0] = in[0];
    *n_out = 1;
    return DP_OK;
}

static void call_increment(const void *args)
{
    ++**(float *const *)args;
}

static int counter_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    struct dp_param *const *count = dp_module_self(module);
    const struct dp_tensor *value = dp_run_value(run, *count);
    float *memory = value->data;
    const struct dp_use use = {0, sizeof *memory, DP_READS | DP_WRITES};
    const int status =
        dp_run_call(run, value->slot, call_increment, &memory, sizeof memory, &use, 1, err);
    return status != DP_OK ? status : pass_forward(in, n_in, out, n_out, err);
}

static int pass_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    (void)module;
    (void)run;
    if (n_out != 1 || n_in != 1)
        return dp_fail(err, DP_EINVAL, "%d gradients for %d inputs", n_out, n_in);
    grad_in[0] = grad_out[0];
    return DP_OK;
}

struct dp_module *make_counter(struct context *c, struct dp_group *group)
{
    static const struct dp_module_ops ops = {"counter", counter_forward, pass_backward, NULL};
    struct dp_param **count = case_memory(c, sizeof *count);
    struct dp_module *module = make_module(c, group, &ops, count);
    expect_ok(c, dp_module_add_param(module, "count", DP_F32, 1, (size_t[]){1}, count, &c->err),
              "dp_module_add_param");
    (*count)->buffer = true;
    return module;
}
