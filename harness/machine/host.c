/* machine/host.c: reads limits of the host. */
#include "machine/host.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "machine/machine.h"
#include "record/roles.h"

static double read_memlock(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return (double)NAN;
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > (rlim_t)RECORD_EXACT_MAX
               ? (double)RECORD_EXACT_MAX
               : (double)limit.rlim_cur;
}

static double read_shm(const char *root)
{
    char path[512];
    struct statvfs is;

    snprintf(path, sizeof path, "%s/dev/shm", root);
    return statvfs(path, &is) == 0 ? (double)is.f_blocks * (double)is.f_frsize : (double)NAN;
}

static double read_balancing(const char *root, int *status)
{
    char line[16];
    unsigned value;

    return machine_line(root, "/proc/sys/kernel/numa_balancing", line, sizeof line, status) &&
                   sscanf(line, "%9u", &value) == 1
               ? value
               : (double)NAN;
}

int host_read(const char *root, struct record_run *run)
{
    int status = 0;

    run->memlock_bytes = read_memlock();
    run->shm_bytes = read_shm(root);
    run->numa_balancing = read_balancing(root, &status);
    return status;
}
