/* plugin.c: finds and loads plug-ins. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void *dp_plugin_open_path(const char *path, int flags, char *why, size_t bytes)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NODELETE | flags);
    const char *text = handle ? "" : dlerror();
    if (!handle)
        snprintf(why, bytes, "%.150s", text ? text : path);
    return handle;
}

void *dp_plugin_open(const char *name, const char *folder, int flags, bool *missing, char *why,
                     size_t bytes)
{
    char path[4096 + 256];
    bool unused;
    missing = missing ? missing : &unused;
    *missing = false;
    const ssize_t length = readlink("/proc/self/exe", path, 4096);
    path[length > 0 ? length : 0] = '\0';
    char *end = strrchr(path, '/');
    if (!end) {
        snprintf(why, bytes, "the program does not know where it is");
        return NULL;
    }
    const size_t capacity = sizeof path - (size_t)(end - path);
    for (int installed = 0; installed < 2; ++installed) {
        if (installed)
            snprintf(end, capacity, "/../%s/%s", folder, name);
        else
            snprintf(end, capacity, "/%s", name);
        if (access(path, F_OK) != 0)
            continue;
        void *handle = dp_plugin_open_path(path, flags, why, bytes);
        /* The loader has no status, so its text decides. */
        *missing = !handle && strstr(why, "No such file or directory");
        return handle;
    }
    *missing = true;
    *end = '\0';
    snprintf(why, bytes, "no %s in %.60s or in ../%s from there", name, path, folder);
    return NULL;
}
