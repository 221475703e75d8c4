/* nccl_absent.c: a build without NCCL, because it was not found, or because there is no CUDA part.
 */
#include "../backend.h"

#include <stdio.h>

enum {
    CAN = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP | DP_COMM_WORLD | DP_COMM_FREE_ORDER
};
const struct dp_comm_ops dp_comm_nccl = {.name = "nccl", .can = CAN, .needs = DP_KIND_PEERS};
const struct dp_comm_ops dp_comm_nccl_nccl = {
    .name = "nccl+nccl", .can = CAN | DP_COMM_FREE_SUMS, .needs = DP_KIND_PEERS};

int dp_nccl_library(char *text, size_t bytes)
{
    snprintf(text, bytes, "this build has no NCCL part");
    return DP_ENOTSUP;
}
