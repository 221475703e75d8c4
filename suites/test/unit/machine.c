/* machine.c: which properties make two machines, or two environments, the same. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"
#include "root.h"

static const char PROCESSOR[] = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                                "model\t\t: 85\nmodel name\t: A CPU @ 2.50GHz\nstepping\t: 7\n"
                                "cpu MHz\t\t: 2500.1\nsiblings\t: 2\nflags\t\t: fpu avx2\n\n"
                                "processor\t: 1\nstepping\t: 9\n";

static const struct dp_machine MACHINE = {.packages = 1,
                                          .cores = 2,
                                          .pus = 4,
                                          .usable_pus = 4,
                                          .memory_bytes = (uint64_t)24 << 30,
                                          .l1d_bytes = 1,
                                          .l2_bytes = 2,
                                          .l3_bytes = 3,
                                          .blas = "OpenBLAS 0.3 (Haswell)"};

static void make_machine(void)
{
    root_make();
    root_put("/proc/cpuinfo", PROCESSOR);
}

/* Returns whether the class of the machine stays the same if that line about the processor is
 * changed. */
static bool machine_same(const struct dp_machine *machine, const char *from, const char *to)
{
    char base[DIGEST_HEX], other[DIGEST_HEX], text[sizeof PROCESSOR + 32];
    const char *at = !from ? NULL : strstr(PROCESSOR, from);

    root_put("/proc/cpuinfo", PROCESSOR);
    cr_assert(machine_class(root, &MACHINE, base) == 0 && strlen(base) == 64);
    cr_assert(!from || at);
    if (at) {
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - PROCESSOR), PROCESSOR, to,
                 at + strlen(from));
        root_put("/proc/cpuinfo", text);
    }
    cr_assert(machine_class(root, machine, other) == 0);
    return strcmp(base, other) == 0;
}

Test(machine, class_of_processor, .init = make_machine, .fini = root_remove)
{
    static const char *const matter[][2] = {
        {"GenuineIntel", "AuthenticAMD"},   {"family\t: 6", "family\t: 7"},
        {"model\t\t: 85", "model\t\t: 86"}, {"stepping\t: 7", "stepping\t: 8"},
        {"siblings\t: 2", "siblings\t: 4"}, {"avx2", "avx2 avx512f"}};
    static const char *const do_not[][2] = {{"2500.1", "1800.0"}, {"@ 2.50GHz", "@ 3GHz"}};

    cr_assert(machine_same(&MACHINE, NULL, NULL));
    for (size_t i = 0; i < sizeof matter / sizeof matter[0]; ++i)
        cr_assert(!machine_same(&MACHINE, matter[i][0], matter[i][1]), "%s", matter[i][0]);
    for (size_t i = 0; i < sizeof do_not / sizeof do_not[0]; ++i)
        cr_assert(machine_same(&MACHINE, do_not[i][0], do_not[i][1]), "%s", do_not[i][0]);
}

Test(machine, class_of_the_rest, .init = make_machine, .fini = root_remove)
{
    struct dp_machine m[8];

    for (size_t i = 0; i < 8; ++i)
        m[i] = MACHINE;
    m[0].packages = 2;
    m[1].cores = 4;
    m[2].pus = 2;
    m[3].l2_bytes = 4;
    m[4].memory_bytes = (uint64_t)32 << 30;
    snprintf(m[5].blas, sizeof m[5].blas, "OpenBLAS 0.3 (SkylakeX)");
    for (size_t i = 0; i < 6; ++i)
        cr_assert(!machine_same(&m[i], NULL, NULL), "%zu", i);
    m[6].memory_bytes -= (uint64_t)5 << 20; /* the kernel reserves a different amount */
    m[7].usable_pus = 1;
    cr_assert(machine_same(&m[6], NULL, NULL) && machine_same(&m[7], NULL, NULL));

    char without[DIGEST_HEX], with[DIGEST_HEX];

    cr_assert(machine_class(root, &MACHINE, without) == 0);
    root_put("/proc/driver/nvidia/gpus/0000:01:00.0/information",
             "Model: \t\t NVIDIA H200\nIRQ: 1\n");
    cr_assert(machine_class(root, &MACHINE, with) == 0 && strcmp(with, without) != 0);
    cr_assert(machine_class("/nowhere", &MACHINE, with) == 0 && with[0] == '\0');
}

/* Returns whether nothing is known if a folder is in the place of that file: it can be opened and
 * not read. */
static bool unreadable(const char *name)
{
    char below[128], path[256], class[DIGEST_HEX], instance[DIGEST_HEX];

    unlink(root_path(name));
    snprintf(below, sizeof below, "%s/file", name);
    root_put(below, "");

    const int of_class = machine_class(root, &MACHINE, class);
    const int of_instance = machine_instance(root, instance);

    snprintf(path, sizeof path, "%s%s", root, below);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return (of_class == -1 && class[0] == '\0') || (of_instance == -1 && instance[0] == '\0');
}

Test(machine, unreadable, .init = make_machine, .fini = root_remove)
{
    root_put("/proc/sys/kernel/random/boot_id", "11111111-1111-1111-1111-111111111111\n");
    cr_assert(unreadable("/etc/machine-id"));
    cr_assert(unreadable("/proc/sys/kernel/random/boot_id"));
    cr_assert(unreadable("/proc/driver/nvidia/gpus/0000:01:00.0/information"));
    cr_assert(unreadable("/proc/cpuinfo"));
}

Test(machine, instance, .init = make_machine, .fini = root_remove)
{
    char none[DIGEST_HEX], first[DIGEST_HEX], again[DIGEST_HEX], later[DIGEST_HEX],
        other[DIGEST_HEX];

    cr_assert(machine_instance(root, none) == 0);
    root_put("/proc/sys/kernel/random/boot_id", "11111111-1111-1111-1111-111111111111\n");
    root_put("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    cr_assert(machine_instance(root, first) == 0);
    cr_assert(machine_instance(root, again) == 0);
    root_put("/proc/sys/kernel/random/boot_id", "11111111-1111-1111-1111-111111111112\n");
    cr_assert(machine_instance(root, later) == 0);
    root_put("/etc/machine-id", "0123456789abcdef0123456789abcdee\n");
    cr_assert(machine_instance(root, other) == 0);
    cr_assert(none[0] == '\0' && strlen(first) == 64 && strcmp(first, again) == 0);
    cr_assert(strcmp(first, later) != 0 && strcmp(later, other) != 0);
}

Test(machine, environment)
{
    char names[][64] = {
        "PATH=/bin",          "OMP_NUM_THREADS=2",       "OPENBLAS_CORETYPE=Haswell",
        "MALLOC_ARENA_MAX=1", "NVIDIA_TF32_OVERRIDE=0",  "GLIBC_TUNABLES=a=b",
        "NCCL_ALGO=Ring",     "CUDA_MODULE_LOADING=",    "DNNL_VERBOSE=1",
        "MKL_CBWR=AVX2",      "NVIDIA_TF32_OVERRIDES=1", "XOMP_X=1"};
    char *variables[sizeof names / sizeof names[0] + 1] = {NULL}, text[1024], cut[96], other[96];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        variables[i] = names[i];
    cr_assert(machine_environment(variables, text, sizeof text) == 0);
    cr_assert(strcmp(text, "CUDA_MODULE_LOADING= DNNL_VERBOSE=1 GLIBC_TUNABLES=a=b "
                           "MALLOC_ARENA_MAX=1 MKL_CBWR=AVX2 NCCL_ALGO=Ring NVIDIA_TF32_OVERRIDE=0 "
                           "OMP_NUM_THREADS=2 OPENBLAS_CORETYPE=Haswell") == 0,
              "%s", text);
    cr_assert(machine_environment(variables, cut, sizeof cut) == 0);
    names[2][strlen(names[2]) - 1] = 'x'; /* after the cut */
    cr_assert(machine_environment(variables, other, sizeof other) == 0);
    cr_assert(strlen(cut) == sizeof cut - 1 && strncmp(cut, text, 20) == 0 &&
                  strcmp(cut, other) != 0,
              "%s", cut);
    cr_assert(machine_environment(variables + sizeof names / sizeof names[0], text, sizeof text) ==
              0);
    cr_assert(text[0] == '\0');
}

/* The file exists and cannot be opened. */
static void cannot_be_opened(const char *name)
{
    const char *path = root_path(name);
    cr_assert(unlink(path) == 0 && symlink(path, path) == 0);
}

/* The limit is the least of a control group and of those above it, of either version; a missing
 * file is no limit. */
Test(machine, limits_of_control_groups, .init = root_make, .fini = root_remove)
{
    static const struct {
        const char *group, *file, *text;
        double cpus, bytes;
    } rows[] = {
        {"0::/a/b\n", "/a/memory.max", "max\n", INFINITY, INFINITY},
        {"0::/a/b\n", "/a/b/cpu.max", "max 100000\n", INFINITY, INFINITY},
        {"0::/a/b\n", "/a/b/cpu.max", "150000 100000\n", 1.5, INFINITY},
        {"0::/a/b\n", "/a/cpu.max", "50000 100000\n", 0.5, INFINITY},
        {"0::/a/b\n", "/a/memory.max", "1073741824\n", 0.5, 1073741824},
        {"0::/a/b\n", "/memory.max", "1048576\n", 0.5, 1048576},
        {"0::/x\n", "/b/cpu.max", "1 100000\n", INFINITY, 1048576},
        {"7:memory:/c/d\n3:cpu,cpuacct:/c\n0::/\n", "/cpu/c/cpu.cfs_quota_us", "-1\n", INFINITY,
         1048576},
        {"3:cpu,cpuacct:/c\n", "/cpu/c/cpu.cfs_quota_us", "250000\n", INFINITY, INFINITY},
        {"3:cpu,cpuacct:/c\n", "/cpu/c/cpu.cfs_period_us", "100000\n", 2.5, INFINITY},
        {"3:cpuacct,cpuset:/c,cpu,\n", "/cpu/c/cpu.cfs_period_us", "100000\n", INFINITY, INFINITY},
        {"7:memory:/seen/outside\n", "/memory/memory.limit_in_bytes", "4096\n", INFINITY, 4096},
        {"7:memory:/e\n0::/h/i\n", "/unified/h/i/cpu.max", "300000 100000\n", 3, 4096},
        {"7:memory:/e\n0::/h/i\n", "/unified/h/memory.max", "1024\n", 3, 1024},
        {"7:memory:/e\n0::/h/i\n", "/memory/e/memory.limit_in_bytes", "512\n", 3, 512},
        {"no line\n", "/unused", "", INFINITY, INFINITY},
    };
    struct dp_limits limits;
    struct dp_error err = {0};
    char path[256];

    cr_assert(dp_limits_read(root, &limits, &err) == 0 && isinf(limits.cpus));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s", rows[i].file);
        root_put(path, rows[i].text);
        root_put("/proc/self/cgroup", rows[i].group);
        cr_assert(dp_limits_read(root, &limits, &err) == 0, "%s", err.text);
        cr_assert(limits.cpus == rows[i].cpus && limits.memory_bytes == rows[i].bytes,
                  "row %zu: %g processors, %g bytes", i, limits.cpus, limits.memory_bytes);
    }
    cannot_be_opened("/proc/self/cgroup");
    cr_assert(dp_limits_read(root, &limits, &err) == DP_EFAULT && strstr(err.text, "cgroup"));
}

/* A number that the system does not tell is unknown, and not 0. */
Test(machine, limits_of_the_host, .init = root_make, .fini = root_remove)
{
    struct record_run run = {.numa_balancing = 7};

    cr_assert(host_read(root, &run) == 0);
    cr_assert(isnan(run.numa_balancing) && isnan(run.shm_bytes) && run.memlock_bytes >= 0);
    root_put("/proc/sys/kernel/numa_balancing", "1\n");
    root_put("/dev/shm/file", "");
    cr_assert(host_read(root, &run) == 0);
    cr_assert(run.numa_balancing == 1 && run.shm_bytes >= 0);
    root_put("/proc/sys/kernel/numa_balancing", "yes\n");
    cr_assert(host_read(root, &run) == 0);
    cr_assert(isnan(run.numa_balancing));
    cannot_be_opened("/proc/sys/kernel/numa_balancing");
    cr_assert(host_read(root, &run) == -1 && isnan(run.numa_balancing));
}
