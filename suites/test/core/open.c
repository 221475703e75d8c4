/* open.c: opens, fills and runs what a case needs; all of it is closed when the case ends. */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void close_group(void *object)
{
    dp_group_close(object);
}

static void close_run(void *object)
{
    dp_run_close(object);
}

static void close_module(void *object)
{
    dp_module_close(object);
}

static void close_replicas(void *object)
{
    dp_replicas_close(object);
}

static void close_sgd(void *object)
{
    dp_sgd_close(object);
}

static void close_tensor(void *object)
{
    dp_tensor_free(object);
    free(object);
}

struct dp_group *opened_group(struct context *c, int status, struct dp_group *const *group)
{
    expect_ok(c, status, "dp_group_open");
    own(c, close_group, *group);
    return *group;
}

static struct dp_group *open_devices(struct context *c, const char *devices, const char *backend,
                                     enum dp_math math)
{
    const bool host = strcmp(devices, "host") == 0; /* the host alone needs no communicator */
    const struct dp_group_config config = {.devices = devices,
                                           .backend = backend,
                                           .communicator = host ? NULL : c->settings.communicator,
                                           .math = math,
                                           .lag_seed = c->settings.lag_seed,
                                           .bind = false,
                                           .no_graphs = c->settings.no_graphs,
                                           .world = c->settings.world};
    struct dp_group *group = NULL;
    const int status = dp_group_open(&config, &group, &c->err);
    if (status && strstr(c->err.text, "are on one GPU"))
        case_skip(c, "%s", c->err.text);
    return opened_group(c, status, &group);
}

void slot_name(const struct case_settings *settings, int i, char text[32])
{
    if (settings->gpus == 0)
        (void)snprintf(text, 32, "virt:%d", i);
    else if (i < settings->gpus)
        (void)snprintf(text, 32, "cuda:%d", i);
    else
        (void)snprintf(text, 32, "cuda:%d#%d", i % settings->gpus, i / settings->gpus);
}

void device_list(const struct case_settings *settings, int slots, char text[256])
{
    if (settings->gpus == 0) {
        (void)snprintf(text, 256, "virt:%d%s", slots, settings->lag ? "+lag" : "");
        return;
    }
    size_t used = (size_t)snprintf(text, 256, "cuda:%d", 0);
    for (int i = 1; i < slots && used < 256; ++i)
        used += (size_t)snprintf(text + used, 256 - used, ",%d", i % settings->gpus);
}

struct dp_group *open_group(struct context *c, int slots)
{
    return open_math_group(c, slots, DP_MATH_F32);
}

bool adds_freely(const struct dp_group *group)
{
    struct dp_communicator_row row;
    return dp_communicator_of(dp_group_communicator(group), &row) &&
           (row.can & DP_COMM_FREE_SUMS) != 0;
}

struct dp_group *open_math_group(struct context *c, int slots, enum dp_math math)
{
    char devices[256];
    device_list(&c->settings, slots, devices);
    return open_devices(c, devices, c->settings.backend, math);
}

/* Without devices a case cannot have the kernels of a GPU. */
struct dp_run *open_run(struct context *c, struct dp_group *group)
{
    struct dp_run *run = NULL;
    expect_ok(c, dp_run_open(group, &run, &c->err), "dp_run_open");
    own(c, close_run, run);
    return run;
}

struct one open_one(struct context *c, int slots)
{
    struct dp_group *group = open_group(c, slots);
    return (struct one){group, dp_group_slot(group, 0), open_run(c, group)};
}

struct dp_replicas *open_replicas(struct context *c, struct dp_module *module,
                                  struct dp_slot *const slots[], int n)
{
    struct dp_replicas *replicas = NULL;
    expect_ok(c, dp_replicas_open(module, slots, n, &replicas, &c->err), "dp_replicas_open");
    own(c, close_replicas, replicas);
    return replicas;
}

struct dp_sgd *open_sgd(struct context *c, struct dp_module *module, float lr, float momentum,
                        float decay)
{
    struct dp_sgd *sgd = NULL;
    expect_ok(c, dp_sgd_open(module, lr, momentum, decay, &sgd, &c->err), "dp_sgd_open");
    own(c, close_sgd, sgd);
    return sgd;
}

struct dp_module *opened_module(struct context *c, int status, struct dp_module *const *module)
{
    expect_ok(c, status, "opening a module");
    own(c, close_module, *module);
    return *module;
}

struct dp_module *make_module(struct context *c, struct dp_group *group,
                              const struct dp_module_ops *ops, void *self)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_module_open(group, ops, self, NULL, 0, &module, &c->err), &module);
}

struct dp_module *make_linear(struct context *c, struct dp_group *group, size_t d_in, size_t d_out,
                              bool bias)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_linear(group, d_in, d_out, bias, &module, &c->err), &module);
}

struct dp_module *make_relu(struct context *c, struct dp_group *group)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_relu(group, &module, &c->err), &module);
}

struct dp_module *make_tanh(struct context *c, struct dp_group *group)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_tanh(group, &module, &c->err), &module);
}

struct dp_module *make_sequential(struct context *c, struct dp_group *group,
                                  struct dp_module *const children[], int n)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_sequential(group, children, n, &module, &c->err), &module);
}

struct dp_module *make_loss(struct context *c, struct dp_group *group, enum dp_loss_kind kind,
                            float scale, bool mean)
{
    struct dp_module *module = NULL;
    return opened_module(c, dp_loss(group, kind, scale, mean, &module, &c->err), &module);
}

struct dp_module *make_parallel(struct context *c, struct dp_module *module,
                                const struct dp_parallel_config *config)
{
    struct dp_module *wrapper = NULL;
    return opened_module(c, dp_parallel(module, config, &wrapper, &c->err), &wrapper);
}

struct dp_slot **slot_list(struct context *c, struct dp_group *group, const int order[], int n)
{
    struct dp_slot **slots = case_memory(c, (size_t)n * sizeof *slots);
    for (int i = 0; i < n; ++i) {
        slots[i] = dp_group_slot(group, order == NULL ? i : order[i]);
        if (!slots[i])
            case_fail(c, "the group has no slot for entry %d", i);
    }
    return slots;
}

struct dp_slot **first_slots(struct context *c, struct dp_group *group, int n)
{
    return slot_list(c, group, NULL, n);
}

void move_module(struct context *c, struct dp_module *module, struct dp_slot *slot)
{
    expect_ok(c, dp_module_to(module, slot, &c->err), "dp_module_to");
}

struct dp_param *param_at(struct context *c, struct dp_module *module, int i)
{
    struct dp_param *list[32];
    const int n = dp_module_params(module, list, 32);
    if (i >= n || n > 32)
        case_fail(c, "parameter %d asked for, the module has %d", i, n);
    return list[i];
}

struct dp_tensor make_tensor(struct context *c, struct dp_slot *slot, enum dp_dtype dtype, int ndim,
                             const size_t dim[], const double values[])
{
    struct dp_tensor *tensor = malloc(sizeof *tensor);
    if (!tensor)
        case_fail(c, "out of memory");
    const int status = dp_tensor_alloc(slot, dtype, ndim, dim, tensor, &c->err);
    if (status != DP_OK)
        free(tensor);
    expect_ok(c, status, "dp_tensor_alloc");
    own(c, close_tensor, tensor);
    if (values)
        write_values(c, tensor, values);
    return *tensor;
}

struct dp_tensor make_matrix(struct context *c, struct dp_slot *slot, size_t rows, size_t columns,
                             const double values[])
{
    return make_tensor(c, slot, DP_F32, 2, (size_t[]){rows, columns}, values);
}

void write_values(struct context *c, const struct dp_tensor *tensor, const double values[])
{
    const size_t n = dp_tensor_count(tensor);
    unsigned char *host = case_memory(c, dp_tensor_bytes(tensor));
    const size_t width = dp_dtype_bytes(tensor->dtype);
    for (size_t i = 0; i < n; ++i) {
        const float f32 = tensor->dtype == DP_F32 ? (float)values[i] : 0.0f;
        const int32_t i32 = tensor->dtype == DP_I32 ? (int32_t)values[i] : 0;
        const int64_t i64 = tensor->dtype == DP_I64 ? (int64_t)values[i] : 0;
        const void *element = tensor->dtype == DP_F32   ? (const void *)&f32
                              : tensor->dtype == DP_F64 ? (const void *)&values[i]
                              : tensor->dtype == DP_I32 ? (const void *)&i32
                                                        : (const void *)&i64;
        memcpy(host + i * width, element, width);
    }
    expect_ok(c, dp_tensor_write(tensor, host, &c->err), "dp_tensor_write");
}

void write_floats(struct context *c, const struct dp_tensor *tensor, const float values[])
{
    expect_ok(c, dp_tensor_write(tensor, values, &c->err), "dp_tensor_write");
}

struct dp_tensor forward(struct context *c, struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor *in)
{
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    expect_ok(c, dp_forward(module, run, in, in == NULL ? 0 : 1, out, &n_out, &c->err),
              "dp_forward");
    if (n_out != 1)
        case_fail(c, "dp_forward: %d outputs, want 1", n_out);
    return out[0];
}

struct dp_tensor backward(struct context *c, struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor *grad_out)
{
    struct dp_tensor grad_in = {.slot = NULL};
    expect_ok(c, dp_backward(module, run, grad_out, grad_out == NULL ? 0 : 1, &grad_in, 1, &c->err),
              "dp_backward");
    return grad_in;
}
