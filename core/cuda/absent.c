/* absent.c: a build without CUDA. */
#include "../backend.h"

#include <stdio.h>
#include <unistd.h>

const struct dp_device_ops dp_device_cuda = {.open = NULL};
const struct dp_comm_ops dp_comm_peer = {.name = "peer",
                                         .instead = "peer-staged",
                                         .can = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP,
                                         .needs = DP_KIND_PEERS};

static const char absent[] = "this build has no CUDA part";

int dp_cuda_list(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    (void)list;
    /* A skip would hide GPUs that are there. */
    if (access("/dev/nvidiactl", F_OK) == 0)
        return dp_fail(err, DP_EFAULT,
                       "devices '%.64s': %s, but there is an NVIDIA driver (/dev/nvidiactl)", text,
                       absent);
    return dp_fail(err, DP_ENODEV, "devices '%.64s': %s", text, absent);
}

void dp_cuda_software(char *text, size_t bytes)
{
    snprintf(text, bytes, "%s", absent);
}

int dp_gpus(char *text, size_t bytes)
{
    snprintf(text, bytes, "%s", absent);
    return DP_ENODEV;
}
