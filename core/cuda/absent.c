/* absent.c: a build without CUDA. */
#include "../backend.h"

const struct dp_backend *const dp_cuda_backends = NULL;
const int dp_cuda_backend_count = 0;

int dp_cuda_list(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    (void)list;
    return dp_fail(err, DP_ENODEV, "devices '%.64s': this build has no CUDA part", text);
}
