/* sampler.c: which items a rank of DistributedDataParallel gets. This is pure arithmetic. Source:
 * torch.utils.data.DistributedSampler without shuffling. */
#include "ddp.h"

int dp_sampler(size_t items, int ranks, int rank, bool drop_last, size_t index[], size_t capacity,
               size_t *n, struct dp_error *err)
{
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return dp_fail(err, DP_EINVAL, "rank %d of %d: 0 to ranks - 1, of at least 1", rank, ranks);
    const size_t r = (size_t)ranks, first = (size_t)rank;
    const size_t count = items / r + (!drop_last && items % r != 0);
    /* (first + j * r) % items, for j = 0, 1, ...; at most the last one is after the end. */
    for (size_t j = 0; j < count && j < capacity; ++j) {
        const size_t left = items - j * r;
        index[j] = first < left ? j * r + first : (first - left) % items;
    }
    *n = count;
    return 0;
}
