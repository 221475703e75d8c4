/* group.c: opening of right and wrong device lists, and what a group says about itself. */
#include "list.h"

#include <string.h>
#include <unistd.h>

/* DP_EINVAL; in a build without CUDA DP_ENODEV, or DP_EFAULT next to a driver. */
enum { CUDA = 1 };

static void group_refused(struct context *c)
{
    static const struct {
        const char *devices, *backend, *needle;
        int status;
    } table[] = {
        {"virt:0", "cpu", "0", DP_EINVAL},
        {"virt:65", "cpu", "64", DP_EINVAL},
        {"virt:-1", "cpu", "-1", DP_EINVAL},
        {"virt:99999999999999999999", "cpu", "64", DP_EINVAL},
        {"virt:", "cpu", NULL, DP_EINVAL},
        {"virt", "cpu", NULL, DP_EINVAL},
        {"virt:4x", "cpu", "4x", DP_EINVAL},
        {"virt:4+fast", "cpu", "fast", DP_EINVAL},
        {"virt: 4", "cpu", NULL, DP_EINVAL},
        {"", "cpu", NULL, DP_EINVAL},
        {"gpu:2", "cpu", "gpu", DP_EINVAL},
        {"host:2", "cpu", NULL, DP_EINVAL},
        {"cuda:", "cuda", "cuda", CUDA},
        {"cuda:x", "cuda", "'x'", CUDA},
        {"cuda:0-", "cuda", "'0-'", CUDA},
        {"cuda:0,", "cuda", "cuda:0,", CUDA},
        {"cuda:1-0", "cuda", "'1-0'", CUDA},
        {"cuda:9999999", "cuda", "9999999", CUDA},
        {"cuda:all,0", "cuda", "all,0", CUDA},
        {"cuda:99999", "cuda", "99999", DP_ENODEV},
        {"virt:2", "cublas", "cublas", DP_EINVAL},
        {"virt:2", "", NULL, DP_EINVAL},
        {"virt:2,virt:2", "cpu", NULL, DP_EINVAL},
    };
    char text[256];
    const bool has_cuda = dp_gpus(text, sizeof text) != DP_ENODEV || !strstr(text, "no CUDA part");
    const int absent = access("/dev/nvidiactl", F_OK) == 0 ? DP_EFAULT : DP_ENODEV;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        const bool gpus = strncmp(table[i].devices, "cuda:", 5) == 0;
        const int want = !has_cuda && gpus         ? absent
                         : table[i].status == CUDA ? DP_EINVAL
                                                   : table[i].status;
        const char *needle = !has_cuda && gpus ? "no CUDA part" : table[i].needle;
        case_note(c, "\"%s\" on \"%s\"", table[i].devices, table[i].backend);
        const struct dp_group_config config = {.devices = table[i].devices,
                                               .backend = table[i].backend};
        struct dp_group *group = NULL;
        const int status = dp_group_open(&config, &group, &c->err);
        expect(c, group == NULL, "a failing call set the group");
        expect_error(c, status, want, needle, NULL);
    }
}

static bool communicator_fits(const struct case_settings *settings, const char *name)
{
    if (settings->communicator) {
        struct dp_communicator_row row;
        return dp_communicator_of(name, &row) && strcmp(row.name, settings->communicator) == 0;
    }
    if (strcmp(settings->backend, "cpu-ref") == 0 || strcmp(settings->backend, "cuda-staged") == 0)
        return strcmp(name, "staged") == 0;
    if (settings->gpus == 0)
        return strcmp(name, "threads") == 0;
    return strcmp(name, "peer") == 0 || strcmp(name, "peer-staged") == 0;
}

static void sizes(struct context *c)
{
    for (int k = 1; k <= DP_MAX_SLOTS; k = k < 4 ? k + 1 : k * 4) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct dp_group *group = open_group(c, k);
        expect(c, dp_group_size(group) == k, "%d slots", dp_group_size(group));
        expect(c, dp_group_slot(group, -1) == NULL && !dp_group_slot(group, k), "a slot outside");
        expect(c, strcmp(dp_group_backend(group), c->settings.backend) == 0, "backend %s",
               dp_group_backend(group));
        expect(c, communicator_fits(&c->settings, dp_group_communicator(group)), "communicator %s",
               dp_group_communicator(group));
        expect(c, (dp_group_software(group)[0] != '\0') == (c->settings.gpus > 0), "software '%s'",
               dp_group_software(group));
        for (int i = 0; i < k; ++i) {
            struct dp_slot *slot = dp_group_slot(group, i);
            struct dp_slot_info info;
            char name[32];
            dp_slot_describe(slot, &info);
            slot_name(&c->settings, i, name);
            expect(c, strcmp(info.name, name) == 0 && strcmp(dp_slot_name(slot), name) == 0,
                   "slot %d is called %s", i, info.name);
            const char *kind = c->settings.gpus > 0 ? "cuda" : "virt";
            expect(c, strcmp(info.kind, kind) == 0 && info.index == i, "kind or index of %d", i);
            expect(c, (info.bus[0] != '\0') == (c->settings.gpus > 0), "bus of %d", i);
            expect(c, info.lag == c->settings.lag && !info.bound, "lag or bound of %d", i);
            expect(c, dp_slot_group(slot) == group, "group of %d", i);
        }
        dp_group_barrier(group);
    }
}

static void host_slot(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *host = dp_group_host(group);
    struct dp_slot_info info;
    dp_slot_describe(host, &info);
    expect(c, strcmp(info.name, "host") == 0 && strcmp(info.kind, "host") == 0, "host is %s",
           info.name);
    expect(c, info.index == -1, "host has index %d", info.index);
    for (int i = 0; i < 2; ++i)
        expect(c, dp_group_slot(group, i) != host, "slot %d is the host", i);
}

/* Workers are bound to cores, also the caller; it is unbound when the group closes. */
static void bound(struct context *c)
{
    for (int round = 0; round < 3; ++round) {
        char devices[256];
        device_list(&c->settings, 2, devices);
        const struct dp_group_config config = {
            .devices = devices, .backend = c->settings.backend, .bind = true};
        struct dp_group *group = NULL;
        expect_ok(c, dp_group_open(&config, &group, &c->err), "dp_group_open");
        struct dp_slot_info info;
        dp_slot_describe(dp_group_slot(group, 1), &info);
        const bool says_where = info.cores[0] != '\0';
        const bool is_bound = info.bound;
        dp_group_barrier(group);
        dp_group_close(group);
        expect(c, !is_bound || says_where, "bound, but it does not say to what");
    }
}

/* Each core belongs to a NUMA node, and a short list of nodes is the beginning of a long one. */
static void expect_nodes(struct context *c, const struct dp_machine *m)
{
    struct dp_numa nodes[64], first[1];
    const int n = dp_machine_nodes(nodes, 64, &c->err);
    int pus = 0;
    expect(c, n == m->numa_nodes, "%d NUMA nodes, and %d: %s", n, m->numa_nodes, c->err.text);
    for (int i = 0; i < n && i < 64; ++i) {
        pus += nodes[i].pus;
        expect(c, nodes[i].pus == 0 || nodes[i].cpus[0] != '\0', "node %d has no list", i);
        expect(c, i == 0 || nodes[i - 1].package <= nodes[i].package, "node %d is not in order", i);
    }
    expect(c, pus >= m->pus || n > 64, "%d of %d units are beside a node", pus, m->pus);
    expect(c, dp_machine_nodes(first, 1, &c->err) == n, "another number: %s", c->err.text);
}

static void machine(struct context *c)
{
    struct dp_machine m;
    memset(&m, 0, sizeof m);
    expect_ok(c, dp_machine_read(&m, &c->err), "dp_machine_read");
    expect(c, m.cores >= 1 && m.pus >= m.cores, "%d cores, %d units", m.cores, m.pus);
    expect(c, m.usable_pus >= 1 && m.usable_pus <= m.pus, "%d usable units", m.usable_pus);
    expect(c, m.usable_cores >= 1 && m.usable_cores <= m.cores, "%d usable cores", m.usable_cores);
    expect(c, m.memory_bytes > 1U << 20, "%llu bytes", (unsigned long long)m.memory_bytes);
    expect(c, m.hwloc_version[0] != '\0' && m.blas[0] != '\0', "versions are missing");
    expect_nodes(c, &m);
}

/* Groups are opened and closed, several at a time, and none sees anything of another. */
static void many(struct context *c)
{
    for (int round = 0; round < 20; ++round) {
        struct dp_group *groups[3];
        case_release(c);
        for (int i = 0; i < 3; ++i) {
            groups[i] = open_group(c, i + 1);
            struct dp_module *relu = make_relu(c, groups[i]);
            struct dp_module *wrapper = make_parallel(c, relu, &(struct dp_parallel_config){0});
            struct dp_slot *slot = dp_group_slot(groups[i], 0);
            const struct dp_tensor x = make_matrix(c, slot, 7, 1, sequence(c, 7, i, 1.0));
            const struct dp_tensor y = forward(c, wrapper, open_run(c, groups[i]), &x);
            expect_matrix(c, "output", &y, slot, 7, 1, sequence(c, 7, i, 1.0));
        }
    }
    dp_group_close(NULL);
}

static const struct test_case cases[] = {
    {"group/refused", "ERR-07", group_refused}, {"group/sizes", "DEV-05", sizes},
    {"group/host-slot", "DEV-04", host_slot},   {"group/bound", "APPLY-04", bound},
    {"group/machine", "DEV-05", machine},       {"group/many", "ERR-10", many},
};
const struct case_table group_cases = {cases, sizeof cases / sizeof cases[0]};
