/* module.c: loads the module that is compiled with an MPI, when it is asked for: a program that
 * does not use it neither needs MPI nor waits for its libraries. */
#include "inside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MODULE "lockstep-mpi.so"

/* Its symbols are those of all: the module looks for MPI's, and so do parts that Open MPI loads. */
static void *load(const char *path, char *why, size_t bytes)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    const char *text = handle ? "" : dlerror();
    if (!handle)
        snprintf(why, bytes, "%.150s", text ? text : path);
    return handle;
}

/* Where it is beside a program that was built, and from one that was installed. */
static void *load_beside(char *why, size_t bytes)
{
    static const char *const places[] = {"/" MODULE, "/../" DP_MPI_FOLDER "/" MODULE};
    char path[4096 + 64];
    const ssize_t length = readlink("/proc/self/exe", path, 4096);
    void *handle = NULL;
    path[length > 0 ? length : 0] = '\0';
    char *end = strrchr(path, '/');
    if (!end) {
        snprintf(why, bytes, "the program does not know where it is");
        return NULL;
    }
    for (size_t i = 0; !handle && i < sizeof places / sizeof *places; ++i) {
        memcpy(end, places[i], strlen(places[i]) + 1);
        if (access(path, F_OK) == 0)
            return load(path, why, bytes);
    }
    *end = '\0';
    snprintf(why, bytes, "no " MODULE " in %.60s or in ../" DP_MPI_FOLDER " from there", path);
    return NULL;
}

static void *load_library(char *why, size_t bytes)
{
    void *handle = load(DP_MPI_NAME, why, bytes);
    char again[200];
    return handle ? handle : load(DP_MPI_FILE, again, sizeof again);
}

int dp_mpi_load(const char *module, const struct dp_wire **wire, struct dp_error *err)
{
    const struct dp_wire *(*table)(void) = NULL;
    char why[200] = "";
    if (!load_library(why, sizeof why))
        return dp_fail(err, DP_ENOTSUP, "MPI cannot be loaded: %s", why);
    void *handle = module ? load(module, why, sizeof why) : load_beside(why, sizeof why);
    if (!handle)
        return dp_fail(err, DP_ENOTSUP, "MPI cannot be loaded: %s", why);
    void *const symbol = dlsym(handle, DP_WIRE_SYMBOL);
    if (!symbol)
        return dp_fail(err, DP_ENOTSUP, "MPI cannot be loaded: the module has no " DP_WIRE_SYMBOL);
    memcpy(&table, &symbol, sizeof symbol);
    *wire = table();
    return (*wire)->version == DP_WIRE_VERSION
               ? 0
               : dp_fail(err, DP_ENOTSUP,
                         "MPI cannot be loaded: the module has version %u, this program %u",
                         (*wire)->version, (unsigned)DP_WIRE_VERSION);
}
