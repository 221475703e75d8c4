/* nccl_load.c: loads NCCL when its communicator is requested, and checks that it is new enough. */
#include "nccl_call.h"

#include "load.h"

/* The version is checked first, so that an old library without some function is reported as old. */
static int find_all(const struct dp_library *library, struct dp_nccl_call *call, int *version,
                    struct dp_error *err)
{
#define ROW(member, name) {"nccl" #name, &call->member},
    const struct {
        const char *name;
        void *function;
    } wanted[] = {DP_NCCL_LIST(ROW)};
#undef ROW
    int status = dp_library_find(library, "ncclGetVersion", &call->version, err);
    if (status == 0 && call->version(version) != ncclSuccess)
        status = dp_fail(err, DP_ENOTSUP, "%s does not say its version", library->name);
    if (status == 0)
        status = dp_nccl_check_version(*version, err);
    for (size_t i = 0; status == 0 && i < sizeof wanted / sizeof *wanted; ++i)
        status = dp_library_find(library, wanted[i].name, wanted[i].function, err);
    return status;
}

int dp_nccl_load(struct dp_nccl_call *call, int *version, struct dp_error *err)
{
    struct dp_library library = {"NCCL", "libnccl.so.2", DP_NCCL_FILE, DP_ENOTSUP, NULL};
    int status = dp_library_open(&library, err);
    if (status == 0)
        status = find_all(&library, call, version, err);
    dp_library_close(&library);
    return status;
}
