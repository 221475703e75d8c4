/* split.c: which rows go to which replica. This is pure arithmetic, the chunk rule of ATen: shards
 * of ceil(N/K) rows until no rows are left. Zero rows make K empty shards. */
#include "dp.h"

static size_t shard_rows(size_t rows, int devices)
{
    const size_t k = (size_t)devices;
    return rows / k + (rows % k != 0);
}

int dp_split_count(size_t rows, int devices)
{
    if (devices < 1)
        return 0;
    if (rows == 0)
        return devices;
    const size_t c = shard_rows(rows, devices);
    return (int)(rows / c + (rows % c != 0));
}

int dp_split(size_t rows, int devices, int s, struct dp_shard *shard, struct dp_error *err)
{
    if (devices < 1)
        return dp_fail(err, DP_EINVAL, "split on %d devices: at least 1", devices);
    const int m = dp_split_count(rows, devices);
    if (s < 0 || s >= m)
        return dp_fail(err, DP_EINVAL, "shard %d of %zu rows on %d devices: 0 to %d", s, rows,
                       devices, m - 1);
    const size_t c = shard_rows(rows, devices);
    shard->first = (size_t)s * c;
    shard->rows = rows - shard->first < c ? rows - shard->first : c;
    return 0;
}
