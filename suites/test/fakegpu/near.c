/* near.c: the worker of a GPU's slot runs on the cores next to that GPU, which are found by its PCI
 * bus id. The made-up machine (two_nodes.xml, by a variable of hwloc) has two packages of one core:
 * the GPUs 0 and 2 are next to the second, GPU 1 is next to the first, and nothing is known about
 * GPU 3. The file is simple enough for the small reader in hwloc, which knows no comments: libxml
 * is a plugin. The test needs the processing units 0 and 1, to which it really binds; without them
 * the exit status is 77. */
#include "dp.h"
#include "fakecuda.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    const char *devices;
    bool bind;
    int n;
    bool near[3];
    const char *cores[3];
    int node[3];
} rows[] = {
    {"cuda:0-1", true, 2, {true, true}, {"1", "0"}, {1, 0}},
    {"cuda:1,0", true, 2, {true, true}, {"0", "1"}, {0, 1}},
    {"cuda:2,0,1", true, 3, {true, true, true}, {"1", "1", "0"}, {1, 1, 0}},
    {"cuda:1,1", true, 2, {true, true}, {"0", "0"}, {0, 0}},
    /* Nothing is known about GPU 3, which gets its part of all cores. */
    {"cuda:3,1", true, 2, {false, true}, {"0", "0"}, {0, 0}},
    /* Workers that are not bound have no place. */
    {"cuda:0-1", false, 2, {false, false}, {"0", "1"}, {0, 1}},
};

/* The calling thread is the worker of slot 0. */
static bool runs_on(const char *cores)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 &&
           CPU_ISSET((size_t)strtoul(cores, NULL, 10), &set);
}

static bool near_fits(const struct row *row, struct dp_group *group, int i)
{
    struct dp_slot_info info;
    dp_slot_describe(dp_group_slot(group, i), &info);
    const bool well = info.near == row->near[i] && strcmp(info.cores, row->cores[i]) == 0 &&
                      info.numa_node == row->node[i] && info.bound == row->bind &&
                      strncmp(info.bus, "0000:1", 6) == 0;
    if (!well)
        printf("%s: %s at %s: near %d, cores %s, node %d, bound %d; must be near %d, cores %s, "
               "node %d, bound %d\n",
               row->devices, info.name, info.bus, info.near, info.cores, info.numa_node, info.bound,
               row->near[i], row->cores[i], row->node[i], row->bind);
    return well;
}

static bool try_row(const struct row *row)
{
    const struct dp_group_config config = {.devices = row->devices, .bind = row->bind};
    struct dp_group *group = NULL;
    struct dp_error err = {0};
    struct fakecuda_config fake = fakecuda_defaults();
    fake.devices = 4;
    fakecuda_start(&fake);
    bool well = dp_group_open(&config, &group, &err) == 0;
    if (!well)
        printf("%s: %s\n", row->devices, err.text);
    for (int i = 0; group && i < row->n; ++i)
        well = near_fits(row, group, i) && well;
    if (group && row->bind && !runs_on(row->cores[0])) {
        printf("%s: the calling thread is not on core %s\n", row->devices, row->cores[0]);
        well = false;
    }
    dp_group_close(group);
    return fakecuda_finish() == 0 && well;
}

int main(int argc, char **argv)
{
    bool well = true;
    cpu_set_t set;
    if (argc != 2)
        return 2;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set)) {
        printf("skipped: this process may not run on the processing units 0 and 1\n");
        return 77;
    }
    setenv("HWLOC_XMLFILE", argv[1], 1);
    setenv("HWLOC_THISSYSTEM", "1", 1); /* or hwloc would not bind */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        well = try_row(&rows[i]) && well;
    printf("%zu lists of GPUs: %s\n", sizeof rows / sizeof rows[0],
           well ? "all workers beside them" : "some workers elsewhere");
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
