"""JAX's psum_scatter over two processes of six CPU devices, many times: each element against the sum that it must be."""
import os

import ranks

ranks.start(2)
DEVICES, N, TIMES = 6, 1 << 22, 30  # N elements for each process: 16 MiB
os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={DEVICES}")
import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

rank = int(os.environ["RANK"])
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"127.0.0.1:{os.environ['MASTER_PORT']}", 2, rank)
devices = sorted(jax.devices(), key=lambda one: (one.process_index, one.id))
mesh = Mesh(np.array(devices).reshape(2, DEVICES).T, ("group", "member"))
index = np.arange(2 * N)


def whole(group: int, member: int) -> np.ndarray:
    return ((index + group + member) % 1000).astype(np.float32)


given = jax.make_array_from_callback(
    (DEVICES, 4 * N), NamedSharding(mesh, P("group", "member")),
    lambda at: whole(at[0].start, rank)[None])
scatter = jax.jit(jax.shard_map(lambda x: jax.lax.psum_scatter(x, "member", scatter_dimension=1, tiled=True),
                                mesh=mesh, in_specs=P("group", "member"), out_specs=P("group", "member")))
own = slice(rank * N, (rank + 1) * N)
sums = [(whole(group, 0) + whole(group, 1))[own] for group in range(DEVICES)]
wrong = 0
for _ in range(TIMES):
    for shard in scatter(given).addressable_shards:
        wrong += int((np.asarray(shard.data)[0] != sums[shard.index[0].start or 0]).sum())
ranks.end("sums that differ:", wrong, 0)
