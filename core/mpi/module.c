/* module.c: loads the plug-in that is compiled with MPI when a program asks for it. A program that
 * does not use MPI neither needs it nor waits for its libraries. */
#include "../plugin.h"
#include "inside.h"

#include <dlfcn.h>
#include <string.h>

#define MODULE "lockstep-mpi.so"

/* Its symbols are global, because the plug-in, and parts that Open MPI loads, look for those of
 * MPI. */
static void *module_load(const char *path, char *why, size_t bytes)
{
    return dp_plugin_open_path(path, RTLD_GLOBAL, why, bytes);
}

int dp_mpi_load(const char *module, const struct dp_wire **wire, struct dp_error *err)
{
    const struct dp_wire *(*table)(void) = NULL;
    char why[200] = "", again[200];
    if (!module_load(DP_MPI_NAME, why, sizeof why) &&
        !module_load(DP_MPI_FILE, again, sizeof again))
        return dp_fail(err, DP_ENOTSUP, "MPI cannot be loaded: %s", why);
    void *handle = module
                       ? module_load(module, why, sizeof why)
                       : dp_plugin_open(MODULE, DP_MPI_FOLDER, RTLD_GLOBAL, NULL, why, sizeof why);
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
