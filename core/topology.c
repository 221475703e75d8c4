/* topology.c: reads cores, caches and memory by hwloc, and selects the cores of each worker. It is
 * the only file that knows hwloc. */
#include "backend.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dp_topology {
    hwloc_topology_t tree;
    hwloc_cpuset_t usable;           /* where the calling thread could run when this was opened */
    hwloc_obj_t near[DP_MAX_SLOTS];  /* the object nearest to the slot's device; NULL: unknown */
    int sharing, before, on_machine; /* of dp_group_config */
    struct dp_limits limits;
};

static int usable_read(struct dp_topology *t)
{
    t->usable = hwloc_bitmap_alloc();
    if (!t->usable)
        return DP_ENOMEM;
    if (hwloc_get_cpubind(t->tree, t->usable, HWLOC_CPUBIND_THREAD) != 0 ||
        hwloc_bitmap_iszero(t->usable))
        hwloc_bitmap_copy(t->usable, hwloc_topology_get_allowed_cpuset(t->tree));
    hwloc_bitmap_and(t->usable, t->usable, hwloc_topology_get_allowed_cpuset(t->tree));
    return 0;
}

static int choose_parts(hwloc_topology_t tree, enum dp_topology_parts parts)
{
    if (parts == DP_TOPOLOGY_ALL)
        return 0;
    /* Keeps only cores and NUMA nodes, which are enough to place slots. That takes half the time.
     * It also skips hwloc's x86 part, which would move this thread to each core to ask there; the
     * system knows enough. */
    static const hwloc_obj_type_t kept[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE, HWLOC_OBJ_NUMANODE};
    (void)hwloc_topology_set_components(tree, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    int status = hwloc_topology_set_all_types_filter(tree, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (size_t i = 0; status == 0 && i < sizeof kept / sizeof *kept; ++i)
        status = hwloc_topology_set_type_filter(tree, kept[i], HWLOC_TYPE_FILTER_KEEP_ALL);
    if (status == 0)
        status = hwloc_topology_set_flags(tree, HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
                                                    HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
                                                    HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
    return status || parts == DP_TOPOLOGY_CORES
               ? status
               : hwloc_topology_set_type_filter(tree, HWLOC_OBJ_PCI_DEVICE,
                                                HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
}

int dp_topology_open(struct dp_topology **topology, enum dp_topology_parts parts,
                     struct dp_error *err)
{
    struct dp_topology *t = calloc(1, sizeof *t);
    if (!t)
        return dp_fail(err, DP_ENOMEM, "no memory for the topology");
    if (hwloc_topology_init(&t->tree) != 0) {
        free(t);
        return dp_fail(err, DP_EFAULT, "hwloc cannot be initialised");
    }
    if (choose_parts(t->tree, parts) != 0 || hwloc_topology_load(t->tree) != 0 ||
        usable_read(t) != 0 || dp_limits_read("", &t->limits, err) != 0) {
        dp_topology_close(t);
        return dp_fail(err, DP_EFAULT, "hwloc cannot read this machine's topology");
    }
    *topology = t;
    return 0;
}

bool dp_topology_foreign(const struct dp_topology *topology)
{
    const int units = hwloc_bitmap_weight(hwloc_topology_get_complete_cpuset(topology->tree));
    return !hwloc_topology_is_thissystem(topology->tree) || sysconf(_SC_NPROCESSORS_ONLN) > units;
}

void dp_topology_close(struct dp_topology *topology)
{
    if (!topology)
        return;
    hwloc_bitmap_free(topology->usable);
    hwloc_topology_destroy(topology->tree);
    free(topology);
}

/* Counts the objects of a type that this process may use: all, or those below an object. */
static int count_usable(const struct dp_topology *topology, hwloc_const_cpuset_t within,
                        hwloc_obj_type_t type)
{
    int n = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology->tree, type, o));)
        n += hwloc_bitmap_intersects(o->cpuset, topology->usable) &&
             hwloc_bitmap_isincluded(o->cpuset, within);
    return n;
}

static hwloc_const_cpuset_t topology_whole(const struct dp_topology *topology)
{
    return hwloc_get_root_obj(topology->tree)->cpuset;
}

/* The number of n cores or processing units that the control group gives time to. */
static int limited(const struct dp_topology *topology, int n)
{
    const double cpus = topology->limits.cpus;
    return n <= cpus ? n : cpus < 1 ? 1 : (int)cpus;
}

static int count_cores(const struct dp_topology *topology)
{
    const int cores = count_usable(topology, topology_whole(topology), HWLOC_OBJ_CORE);
    return cores > 0 ? cores : count_usable(topology, topology_whole(topology), HWLOC_OBJ_PU);
}

bool dp_topology_near(struct dp_topology *topology, int i, const char *bus)
{
    const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology->tree, bus);
    const hwloc_obj_t nearest =
        device ? hwloc_get_non_io_ancestor_obj(topology->tree, device) : NULL;
    topology->near[i] =
        nearest && hwloc_bitmap_intersects(nearest->cpuset, topology->usable) ? nearest : NULL;
    return topology->near[i] != NULL;
}

/* Returns part i of n of the cores in within. Cores that are near in the tree stay together; if
 * there are more parts than cores, they are shared. The caller frees it; NULL: no memory. */
static hwloc_cpuset_t topology_share(const struct dp_topology *topology,
                                     hwloc_const_cpuset_t within, int i, int n)
{
    int cores = count_usable(topology, within, HWLOC_OBJ_CORE);
    const hwloc_obj_type_t type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    cores = count_usable(topology, within, type);
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    if (!set || cores < 1)
        return set;
    const int first = n <= cores ? i * cores / n : i % cores;
    const int last = n <= cores ? (i + 1) * cores / n : first + 1;
    int position = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology->tree, type, o));) {
        if (!hwloc_bitmap_intersects(o->cpuset, topology->usable) ||
            !hwloc_bitmap_isincluded(o->cpuset, within))
            continue;
        if (position >= first && position < last)
            hwloc_bitmap_or(set, set, o->cpuset);
        ++position;
    }
    hwloc_bitmap_and(set, set, topology->usable);
    return set;
}

void dp_topology_share(struct dp_topology *topology, const struct dp_group_config *config)
{
    topology->sharing = config->sharing;
    topology->before = config->sharing_before;
    topology->on_machine = config->on_machine;
}

static int placed_with(const struct dp_topology *topology, int n)
{
    return topology->sharing > n ? topology->sharing : n;
}

/* Slots near the same object divide its cores among them. A slot without a known device gets its
 * share of all cores. */
static hwloc_cpuset_t core_set(const struct dp_topology *topology, int i, int n)
{
    const hwloc_obj_t nearest = topology->near[i];
    int before = 0, sharing = 0;
    for (int k = 0; nearest && k < n; ++k) {
        before += topology->near[k] == nearest && k < i;
        sharing += topology->near[k] == nearest;
    }
    return nearest ? topology_share(topology, nearest->cpuset, before, sharing)
                   : topology_share(topology, topology_whole(topology), topology->before + i,
                                    placed_with(topology, n));
}

void dp_topology_place(struct dp_topology *topology, int i, int n, struct dp_slot_info *info)
{
    info->numa_node = -1;
    info->cores[0] = '\0';
    hwloc_cpuset_t set = core_set(topology, i, n);
    if (!set)
        return;
    hwloc_bitmap_list_snprintf(info->cores, sizeof info->cores, set);
    const hwloc_obj_t covering = hwloc_get_obj_covering_cpuset(topology->tree, set);
    if (covering && covering->nodeset && hwloc_bitmap_weight(covering->nodeset) == 1)
        info->numa_node = hwloc_bitmap_first(covering->nodeset);
    hwloc_bitmap_free(set);
}

bool dp_topology_crowded(const struct dp_topology *topology, int n)
{
    hwloc_bitmap_t taken = hwloc_bitmap_alloc();
    const int all = topology->on_machine > n ? topology->on_machine : n;
    bool crowded =
        !taken || placed_with(topology, n) > count_cores(topology) || all > limited(topology, all);
    for (int i = 0; i < n && !crowded; ++i) {
        hwloc_cpuset_t set = core_set(topology, i, n);
        crowded = !set || hwloc_bitmap_intersects(set, taken) || hwloc_bitmap_or(taken, taken, set);
        hwloc_bitmap_free(set);
    }
    hwloc_bitmap_free(taken);
    return crowded;
}

int dp_topology_bind(struct dp_topology *topology, int i, int n, struct dp_error *err)
{
    const bool together = i == DP_TOPOLOGY_TOGETHER;
    hwloc_cpuset_t set = core_set(topology, together ? 0 : i, n);
    hwloc_bitmap_t now = hwloc_bitmap_alloc();
    for (int k = 1; together && set && k < n; ++k) {
        hwloc_cpuset_t more = core_set(topology, k, n);
        if (more)
            hwloc_bitmap_or(set, set, more);
        hwloc_bitmap_free(more);
    }
    const bool bound = set && now && !hwloc_bitmap_iszero(set) &&
                       hwloc_set_cpubind(topology->tree, set, HWLOC_CPUBIND_THREAD) == 0 &&
                       hwloc_get_cpubind(topology->tree, now, HWLOC_CPUBIND_THREAD) == 0 &&
                       hwloc_bitmap_isequal(set, now);
    hwloc_bitmap_free(now);
    hwloc_bitmap_free(set);
    return bound ? 0 : dp_fail(err, DP_EFAULT, "slot %d of %d cannot be bound to its cores", i, n);
}

void dp_topology_unbind(struct dp_topology *topology)
{
    hwloc_set_cpubind(topology->tree, topology->usable, HWLOC_CPUBIND_THREAD);
}

static uint64_t cache_bytes(hwloc_topology_t tree, hwloc_obj_type_t type)
{
    const hwloc_obj_t cache = hwloc_get_obj_by_type(tree, type, 0);
    return cache ? cache->attr->cache.size : 0;
}

/* hwloc adds up the NUMA nodes. That misses memory that was added to a virtual machine later, which
 * belongs to no node. */
static uint64_t memory_bytes(hwloc_topology_t tree)
{
    const uint64_t nodes = hwloc_get_root_obj(tree)->total_memory;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    return all > nodes ? all : nodes;
}

/* Counts the objects of a type that have processing units of a set; NULL: all. */
static int topology_count(hwloc_topology_t tree, hwloc_const_cpuset_t within, hwloc_obj_type_t type)
{
    const int n = within ? hwloc_get_nbobjs_inside_cpuset_by_type(tree, within, type)
                         : hwloc_get_nbobjs_by_type(tree, type);
    return n > 0 ? n : 0;
}

int dp_machine_read(struct dp_machine *machine, struct dp_error *err)
{
    struct dp_topology *topology;
    const int status = dp_topology_open(&topology, DP_TOPOLOGY_ALL, err);
    if (status)
        return status;
    const hwloc_topology_t tree = topology->tree;
    memset(machine, 0, sizeof *machine);
    const hwloc_obj_t package = hwloc_get_obj_by_type(tree, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(tree), "CPUModel");
    snprintf(machine->cpu_model, sizeof machine->cpu_model, "%s", model ? model : "unknown");
    machine->packages = topology_count(tree, NULL, HWLOC_OBJ_PACKAGE);
    machine->numa_nodes = topology_count(tree, NULL, HWLOC_OBJ_NUMANODE);
    machine->cores = topology_count(tree, NULL, HWLOC_OBJ_CORE);
    machine->pus = topology_count(tree, NULL, HWLOC_OBJ_PU);
    machine->usable_cores = limited(topology, count_cores(topology));
    machine->usable_pus =
        limited(topology, count_usable(topology, topology_whole(topology), HWLOC_OBJ_PU));
    machine->memory_bytes = machine->usable_bytes = memory_bytes(tree);
    if (topology->limits.memory_bytes < (double)machine->memory_bytes)
        machine->usable_bytes = (uint64_t)topology->limits.memory_bytes;
    machine->foreign = dp_topology_foreign(topology);
    machine->l1d_bytes = cache_bytes(tree, HWLOC_OBJ_L1CACHE);
    machine->l2_bytes = cache_bytes(tree, HWLOC_OBJ_L2CACHE);
    machine->l3_bytes = cache_bytes(tree, HWLOC_OBJ_L3CACHE);
    snprintf(machine->hwloc_version, sizeof machine->hwloc_version, "%s", HWLOC_VERSION);
    dp_blas_describe(machine->blas, sizeof machine->blas);
    dp_topology_close(topology);
    return 0;
}

static int package_of(hwloc_topology_t tree, hwloc_obj_t node)
{
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(tree, HWLOC_OBJ_PACKAGE, node);
    if (package)
        return (int)package->os_index;
    /* This is for a machine with one node for several packages, or whose node is above its only
     * package. */
    const hwloc_obj_t only = hwloc_get_obj_by_type(tree, HWLOC_OBJ_PACKAGE, 0);
    return only && hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_PACKAGE) == 1 ? (int)only->os_index
                                                                          : -1;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct dp_numa *a = left, *b = right;
    if (a->package != b->package)
        return a->package < b->package ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

int dp_machine_nodes(struct dp_numa numa[], int most, struct dp_error *err)
{
    struct dp_topology *topology;
    const int status = dp_topology_open(&topology, DP_TOPOLOGY_CORES, err);
    if (status)
        return status;
    const hwloc_topology_t tree = topology->tree;
    int n = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_NUMANODE, o)); ++n) {
        if (n >= most)
            continue;
        numa[n] = (struct dp_numa){.node = (int)o->os_index,
                                   .package = package_of(tree, o),
                                   .cores = topology_count(tree, o->cpuset, HWLOC_OBJ_CORE),
                                   .pus = topology_count(tree, o->cpuset, HWLOC_OBJ_PU),
                                   .memory_bytes = o->attr->numanode.local_memory};
        hwloc_bitmap_list_snprintf(numa[n].cpus, sizeof numa[n].cpus, o->cpuset);
    }
    dp_topology_close(topology);
    qsort(numa, (size_t)(n < most ? n : most), sizeof *numa, compare_nodes);
    return n;
}
