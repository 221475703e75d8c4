/* load.c: opens a library by its name, or at the path where the build found it, and finds its
 * functions. */
#include "load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int dp_library_open(struct dp_library *library, struct dp_error *err)
{
    const int how = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    library->handle = dlopen(library->name, how);
    if (library->handle)
        return 0;
    char why[200];
    const char *text = dlerror();
    snprintf(why, sizeof why, "%.190s", text ? text : library->name);
    library->handle = dlopen(library->built_with, how);
    return library->handle ? 0
                           : dp_fail(err, library->status, "%s cannot be loaded: %s; nor %s",
                                     library->title, why, library->built_with);
}

int dp_library_find(const struct dp_library *library, const char *name, void *function,
                    struct dp_error *err)
{
    void *const symbol = dlsym(library->handle, name);
    if (!symbol)
        return dp_fail(err, library->status, "%s has no %s", library->name, name);
    memcpy(function, &symbol, sizeof symbol);
    return 0;
}

void dp_library_close(struct dp_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}
