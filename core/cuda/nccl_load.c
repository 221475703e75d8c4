/* nccl_load.c: NCCL, when its communicator is asked for: the library is so large that being linked
 * with it would make every process of this program slow to start. */
#include "nccl_call.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char LIBRARY[] = "libnccl.so.2";

/* That of the header, which is seldom where the system looks. */
static const char BUILT_WITH[] = DP_NCCL_FILE;

static int find(void *library, const char *name, void *function, struct dp_error *err)
{
    void *const symbol = dlsym(library, name);
    if (!symbol)
        return dp_fail(err, DP_ENOTSUP, "%s has no %s", LIBRARY, name);
    memcpy(function, &symbol, sizeof symbol);
    return 0;
}

/* The version first: an old library that lacks a call is called old. */
static int find_all(void *library, struct dp_nccl_call *call, int *version, struct dp_error *err)
{
#define ROW(member, name) {"nccl" #name, &call->member},
    const struct {
        const char *name;
        void *function;
    } wanted[] = {DP_NCCL_LIST(ROW)};
#undef ROW
    int status = find(library, "ncclGetVersion", &call->version, err);
    if (status == 0 && call->version(version) != ncclSuccess)
        status = dp_fail(err, DP_ENOTSUP, "%s does not say its version", LIBRARY);
    if (status == 0)
        status = dp_nccl_check_version(*version, err);
    for (size_t i = 0; status == 0 && i < sizeof wanted / sizeof *wanted; ++i)
        status = find(library, wanted[i].name, wanted[i].function, err);
    return status;
}

/* It stays loaded: it has threads of its own. */
int dp_nccl_load(struct dp_nccl_call *call, int *version, struct dp_error *err)
{
    const int how = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    void *library = dlopen(LIBRARY, how);
    if (!library) {
        char why[200];
        const char *text = dlerror();
        snprintf(why, sizeof why, "%.190s", text ? text : LIBRARY);
        library = dlopen(BUILT_WITH, how);
        if (!library)
            return dp_fail(err, DP_ENOTSUP, "NCCL cannot be loaded: %s; nor %s", why, BUILT_WITH);
    }
    const int status = find_all(library, call, version, err);
    dlclose(library);
    return status;
}
