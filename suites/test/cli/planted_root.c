/* planted_root.c: is preloaded, and makes a program see other control groups than its real ones:
 * their files are below the folder LOCKSTEP_TEST_ROOT. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *fopen(const char *name, const char *mode)
{
    const char *root = getenv("LOCKSTEP_TEST_ROOT");
    void *symbol = dlsym(RTLD_NEXT, "fopen");
    FILE *(*real)(const char *, const char *) = NULL;
    char path[1024];

    memcpy(&real, &symbol, sizeof real);
    if (!root ||
        (strcmp(name, "/proc/self/cgroup") != 0 && strncmp(name, "/sys/fs/cgroup/", 15) != 0))
        return real(name, mode);
    snprintf(path, sizeof path, "%s%s", root, name);
    return real(path, mode);
}
