/* group.c: opens and closes the slots of one device list together. */
#include "backend.h"
#include "cpu/products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEADLINE_S = 300 };

static void slot_setup(struct dp_slot *slot, struct dp_group *group,
                       const struct dp_device_ops *ops)
{
    slot->group = group;
    slot->ops = ops;
    slot->kernels = group->backend->kernels;
    slot->compute.slot = slot->comm.slot = slot;
    slot->compute.phase = slot->comm.phase = DP_PHASE_NONE;
    slot->ready.queue = &slot->compute;
    slot->done.queue = &slot->comm;
    slot->info.index = -1;
    slot->info.numa_node = -1;
}

static bool has_duplicates(const struct dp_device_list *list)
{
    for (int i = 0; i < list->n; ++i) {
        for (int k = 0; k < i; ++k) {
            if (list->device[k] == list->device[i])
                return true;
        }
    }
    return false;
}

static int slot_open(struct dp_group *group, int i, const struct dp_device_list *list,
                     struct dp_error *err)
{
    struct dp_slot *slot = calloc(1, sizeof *slot);
    if (!slot)
        return dp_fail(err, DP_ENOMEM, "no memory for slot %d", i);
    slot_setup(slot, group, list->kind->ops);
    slot->device = list->device[i];
    slot->info.index = i;
    slot->info.lag = list->lag;
    /* A GPU may be in the list several times: "cuda:0", "cuda:0#1", ... */
    int before = 0;
    for (int k = 0; k < i; ++k)
        before += list->device[k] == slot->device;
    struct dp_slot_info *info = &slot->info;
    const int used =
        snprintf(info->name, sizeof info->name, "%s:%d", list->kind->name, slot->device);
    if (before > 0)
        snprintf(info->name + used, sizeof info->name - (size_t)used, "#%d", before);
    snprintf(info->kind, sizeof info->kind, "%s", list->kind->name);
    info->flags = list->kind->flags;
    group->slot[i] = slot;
    group->size = i + 1;
    return slot->ops->open(slot, err);
}

/* Wraps the slots and the communicator, as the other suffixes of the list say. */
static int decorate(struct dp_group *group, const struct dp_device_list *list, struct dp_error *err)
{
    int status = 0;
    if (list->delay_ns > 0 || list->delay_rate > 0)
        status = dp_delay_open(group, list->delay_ns, list->delay_rate, err);
    if (status == 0 && list->silent_fault.step > 0)
        status = dp_silent_fault_open(group, &list->silent_fault, err);
    if (status || list->fault_at == 0)
        return status;
    status = dp_faults_open(group, list->fault, err);
    if (status == 0)
        dp_faults_arm(group, list->fault_at);
    return status;
}

/* To read where the GPUs are takes long, and only bound workers need it. */
static int slots_open(struct dp_group *group, const struct dp_device_list *list,
                      const struct dp_group_config *config, struct dp_error *err)
{
    const bool placed = (list->kind->flags & DP_KIND_GPU) != 0 && config->bind;
    const enum dp_topology_parts parts = placed ? DP_TOPOLOGY_DEVICES : DP_TOPOLOGY_CORES;
    int status = dp_topology_open(&group->topology, parts, err);
    if (status == 0 && !config->foreign && dp_topology_foreign(group->topology))
        return dp_fail(err, DP_ENODEV,
                       "hwloc describes another machine than this one: HWLOC_SYNTHETIC, "
                       "HWLOC_XMLFILE, HWLOC_FSROOT or HWLOC_CPUID_PATH is set");
    if (status == 0)
        dp_topology_share(group->topology, config);
    for (int i = 0; status == 0 && i < list->n; ++i)
        status = slot_open(group, i, list, err);
    if (status == 0 && list->lag)
        status = dp_lag_open(group, config->lag_seed, err);
    if (status)
        return status;
    /* Places slots near their devices, where those are known. All devices are located before the
     * first slot is placed. */
    for (int i = 0; i < group->size; ++i) {
        struct dp_slot_info *info = &group->slot[i]->info;
        info->near = info->bus[0] && dp_topology_near(group->topology, i, info->bus);
    }
    for (int i = 0; i < group->size; ++i)
        dp_topology_place(group->topology, i, group->size, &group->slot[i]->info);
    if (list->kind->software)
        list->kind->software(group->software, sizeof group->software);
    return 0;
}

const char *dp_math_name(enum dp_math math)
{
    static const char *const names[DP_MATHS] = {
        [DP_MATH_F32] = "f32", [DP_MATH_TF32] = "tf32", [DP_MATH_BF16] = "bf16"};
    return (unsigned)math < DP_MATHS ? names[math] : "unknown";
}

/* Selects the parts of the group; nothing is open yet. */
static int group_choose(struct dp_group *group, const struct dp_group_config *config,
                        const struct dp_kind *kind, const struct dp_comm_ops **comm,
                        struct dp_error *err)
{
    group->kind = kind;
    group->backend = dp_backend_find(config->backend, kind, err);
    if (!group->backend)
        return DP_EINVAL;
    *comm =
        config->communicator ? dp_comm_find(config->communicator, kind, err) : group->backend->comm;
    if (!*comm)
        return DP_EINVAL;
    group->math = config->math;
    /* A group never gets another precision than the caller asked for. */
    const enum dp_math math = config->math;
    if ((unsigned)math >= DP_MATHS)
        return dp_fail(err, DP_EINVAL, "unknown math %d: f32, tf32 or bf16", (int)math);
    if (math == DP_MATH_TF32 && (kind->flags & DP_KIND_TF32) == 0)
        return dp_fail(err, DP_EINVAL, "math tf32 is for GPUs; %s devices have f32 and bf16",
                       kind->name);
    return 0;
}

static int group_setup(struct dp_group *group, const struct dp_group_config *config,
                       struct dp_error *err)
{
    struct dp_device_list list;
    const struct dp_comm_ops *comm = NULL;
    if (!config->devices)
        return dp_fail(err, DP_EINVAL, "no device list");
    int status = dp_devices_parse(config->devices, &list, err);
    if (status == 0)
        status = group_choose(group, config, list.kind, &comm, err);
    if (status)
        return status;
    group->others = config->world;
    slot_setup(&group->host, group, &dp_device_cpu);
    snprintf(group->host.info.name, sizeof group->host.info.name, "host");
    snprintf(group->host.info.kind, sizeof group->host.info.kind, "host");
    group->graphs = !config->no_graphs;
    group->deadline_s = config->deadline_s > 0 ? config->deadline_s : DEADLINE_S;
    group->slice_bytes = config->slice_bytes;
    group->stage = malloc(DP_STAGE_BYTES);
    if (!group->stage)
        return dp_fail(err, DP_ENOMEM, "no memory for the staging buffer");
    status = slots_open(group, &list, config, err);
    if (status == 0)
        group->comm = group->others && group->others->comm ? group->others->comm : comm;
    if (status == 0)
        status = dp_world_count(group, err);
    if (status == 0 && group->comm->open)
        status = group->comm->open(group, err);
    if (status)
        return status;
    const bool crowded = dp_topology_crowded(group->topology, list.n);
    group->oversubscribed =
        crowded || ((list.kind->flags & DP_KIND_CORES) == 0 && has_duplicates(&list));
    dp_blas_one_thread();
    status = group->backend->kernels == dp_kernels_blas ? dp_blas_check_memory(list.n, err) : 0;
    if (status == 0 && config->wide_blas)
        status = dp_wide_blas_check(config->backend, config->devices, err);
    group->wide_blas = status == 0 && config->wide_blas;
    if (status == 0 && group->backend->onednn != DP_ONEDNN_NO)
        status = dp_onednn_open(group, err);
    if (status == 0)
        status = dp_workers_open(group, config->bind, crowded, err);
    if (status == 0 && group->wide_blas)
        status = dp_blas_threads(group->size, err);
    if (status == 0)
        status = decorate(group, &list, err);
    return status ? status : dp_world_ready(group, err);
}

int dp_group_open(const struct dp_group_config *config, struct dp_group **group,
                  struct dp_error *err)
{
    struct dp_group *g = calloc(1, sizeof *g);
    if (!g)
        return dp_fail(err, DP_ENOMEM, "no memory for a group");
    const int status = group_setup(g, config, err);
    if (status) {
        if (g->others)
            g->others->bootstrap->abort(g->others->self);
        dp_group_close(g);
        return status;
    }
    *group = g;
    return 0;
}

void dp_group_close(struct dp_group *group)
{
    if (!group)
        return;
    if (group->comm && group->comm->close)
        group->comm->close(group);
    dp_workers_close(group);
    dp_onednn_close(group);
    for (int i = 0; i < group->size; ++i) {
        struct dp_slot *slot = group->slot[i];
        slot->ops->close(slot);
        free(slot);
    }
    if (group->bound_caller)
        dp_topology_unbind(group->topology);
    if (group->wide_blas)
        dp_blas_one_thread();
    dp_topology_close(group->topology);
    free(group->stage);
    free(group->faults);
    dp_silent_fault_close(group);
    free(group->delayed);
    dp_lag_close(group);
    free(group);
}

int dp_group_size(const struct dp_group *group)
{
    return group->size;
}

int dp_group_world(const struct dp_group *group)
{
    return group->world;
}

int dp_group_first(const struct dp_group *group)
{
    return group->first;
}

struct dp_slot *dp_group_slot(struct dp_group *group, int i)
{
    return i >= 0 && i < group->size ? group->slot[i] : NULL;
}

struct dp_slot *dp_group_host(struct dp_group *group)
{
    return &group->host;
}

const char *dp_group_backend(const struct dp_group *group)
{
    return group->backend->name;
}

enum dp_math dp_group_math(const struct dp_group *group)
{
    return group->math;
}

const char *dp_group_communicator(const struct dp_group *group)
{
    return group->comm->name;
}

const char *dp_group_software(const struct dp_group *group)
{
    return group->software;
}

const char *dp_group_products(const struct dp_group *group)
{
    return group->products_name;
}

void dp_group_blas(const struct dp_group *group, char *text, size_t bytes)
{
    dp_blas_describe(text, bytes);

    const size_t used = strlen(text);

    if (group->products_name[0] != '\0')
        snprintf(text + used, bytes - used, ", %s", group->products_name);
}

bool dp_group_oversubscribed(const struct dp_group *group)
{
    return group->oversubscribed;
}

void dp_group_launches(const struct dp_group *group, struct dp_launches *launches)
{
    *launches = (struct dp_launches){0};
    for (int i = 0; i < group->size; ++i) {
        const struct dp_launches *slot = &group->slot[i]->launches;
        launches->single += slot->single;
        launches->graphs += slot->graphs;
        launches->in_graphs += slot->in_graphs;
        launches->captured += slot->captured;
        launches->evicted += slot->evicted;
        launches->refused += slot->refused;
    }
}

uint64_t dp_group_kernels(const struct dp_group *group)
{
    uint64_t sum = group->host.compute.kernels + group->host.comm.kernels;
    for (int i = 0; i < group->size; ++i)
        sum += group->slot[i]->compute.kernels + group->slot[i]->comm.kernels;
    return sum;
}
