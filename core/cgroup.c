/* cgroup.c: reads how much of the machine control groups allow this process to use, from the files
 * of version 1, of version 2, or of both at once (version 2 under "unified"). The limits of all
 * groups above its group apply, too. */
#include "backend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limit on processors is in microseconds for each period, in one file or in two. */
static const struct rule {
    const char *controller, *folder, *file[2];
    bool cpus;
} rules[] = {
    {",,", "/sys/fs/cgroup", {"cpu.max"}, true},
    {",,", "/sys/fs/cgroup", {"memory.max"}, false},
    {",,", "/sys/fs/cgroup/unified", {"cpu.max"}, true},
    {",,", "/sys/fs/cgroup/unified", {"memory.max"}, false},
    {",cpu,", "/sys/fs/cgroup/cpu", {"cpu.cfs_quota_us", "cpu.cfs_period_us"}, true},
    {",memory,", "/sys/fs/cgroup/memory", {"memory.limit_in_bytes"}, false},
};

/* A file that does not exist, or that we may not read, sets no limit. */
static FILE *cgroup_open_file(const char *path, struct dp_error *err)
{
    FILE *file = fopen(path, "r");
    if (!file && errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != EPERM)
        dp_fail(err, DP_EFAULT, "%.150s cannot be read: %s", path, strerror(errno));
    return file;
}

/* "max" or -1 means no limit. */
static void read_group(const char *root, const struct rule *rule, const char *group,
                       struct dp_limits *limits, struct dp_error *err)
{
    char path[4096 + 256];
    double number[2] = {-1, -1};
    for (int i = 0; i < 2 && rule->file[i]; ++i) {
        snprintf(path, sizeof path, "%s%s%s/%s", root, rule->folder, group, rule->file[i]);
        FILE *file = cgroup_open_file(path, err);
        if (!file)
            continue;
        if (fscanf(file, "%lf %lf", &number[i], &number[1]) < 1 && ferror(file))
            dp_fail(err, DP_EFAULT, "%.150s cannot be read", path);
        fclose(file);
    }
    if (rule->cpus && number[0] > 0 && number[1] > 0)
        limits->cpus = fmin(limits->cpus, number[0] / number[1]);
    if (!rule->cpus && number[0] > 0)
        limits->memory_bytes = fmin(limits->memory_bytes, number[0]);
}

/* Lines look like "4:cpu,cpuacct:/a/b" or "0::/a/b". A container may not see the folders of its
 * path. */
static void cgroup_read_line(const char *root, char *line, struct dp_limits *limits,
                             struct dp_error *err)
{
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    if (!group)
        return;
    *names = *group++ = ',';
    for (char *end = strchr(group, '\n'); end; end = strrchr(group, '/')) {
        *end = '\0';
        for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
            const char *at = strstr(names, rules[i].controller);
            if (at && at < group)
                read_group(root, &rules[i], group, limits, err);
        }
    }
}

int dp_limits_read(const char *root, struct dp_limits *limits, struct dp_error *err)
{
    struct dp_error failed = {0};
    char path[256], *line = NULL;
    size_t capacity = 0;
    *limits = (struct dp_limits){INFINITY, INFINITY};
    snprintf(path, sizeof path, "%.200s/proc/self/cgroup", root);
    FILE *file = cgroup_open_file(path, &failed);
    while (file && getline(&line, &capacity, file) > 0)
        cgroup_read_line(root, line, limits, &failed);
    if (file && !feof(file))
        dp_fail(&failed, DP_EFAULT, "%s cannot be read", path);
    free(line);
    if (file)
        fclose(file);
    return failed.status ? dp_fail(err, failed.status, "%s", failed.text) : 0;
}
