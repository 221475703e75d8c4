/* machine/host.c: reads limits of the host. */
#include "machine/host.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "machine/machine.h"
#include "record/roles.h"

int host_read(const char *root, struct record_run *run)
{
    char path[512], line[16];
    struct rlimit limit;
    struct statvfs is;
    unsigned value;
    int status = 0;

    run->memlock_bytes = run->shm_bytes = run->numa_balancing = (double)NAN;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        run->memlock_bytes =
            limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > (rlim_t)RECORD_EXACT_MAX
                ? (double)RECORD_EXACT_MAX
                : (double)limit.rlim_cur;
    snprintf(path, sizeof path, "%s/dev/shm", root);
    if (statvfs(path, &is) == 0)
        run->shm_bytes = (double)is.f_blocks * (double)is.f_frsize;
    if (machine_line(root, "/proc/sys/kernel/numa_balancing", line, sizeof line, &status) &&
        sscanf(line, "%9u", &value) == 1)
        run->numa_balancing = value;
    return status;
}
