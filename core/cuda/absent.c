/* absent.c: a build without CUDA. */
#include "../backend.h"

#include <stdio.h>

const struct dp_backend *const dp_cuda_backends = NULL;
const int dp_cuda_backend_count = 0;

static const char absent[] = "this build has no CUDA part";

int dp_cuda_list(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    (void)list;
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
