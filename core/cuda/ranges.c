/* ranges.c: the phases of a step as NVTX ranges, which Nsight Systems and others show next to the
 * kernels. Without a profiler a range is a call that does nothing. */
#include "cuda.h"

#include <nvtx3/nvToolsExt.h>

uint64_t dp_cuda_range_begin(enum dp_phase phase)
{
    static const char *const names[DP_PHASES] = {
        [DP_PHASE_SCATTER] = "lockstep scatter",   [DP_PHASE_REPLICATE] = "lockstep replicate",
        [DP_PHASE_FORWARD] = "lockstep forward",   [DP_PHASE_GATHER] = "lockstep gather",
        [DP_PHASE_BACKWARD] = "lockstep backward", [DP_PHASE_REDUCE] = "lockstep reduce",
        [DP_PHASE_LOSS] = "lockstep loss",         [DP_PHASE_UPDATE] = "lockstep update"};
    return nvtxRangeStartA(names[phase]);
}

void dp_cuda_range_end(uint64_t range)
{
    nvtxRangeEnd(range);
}
