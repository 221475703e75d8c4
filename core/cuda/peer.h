/* peer.h: shared by the files of the communicator peer. */
#ifndef DP_CUDA_PEER_H
#define DP_CUDA_PEER_H

#include "cuda.h"

/* peer_reach.c. True if kernels of a slot can use the memory of another. */
bool dp_cuda_reaches(const struct dp_slot *from, const struct dp_slot *to);
/* Enables that access if the driver allows it; called once for each pair of slots. */
int dp_cuda_connect(struct dp_slot *from, const struct dp_slot *to, struct dp_error *err);

/* comm_peer.c. A transfer in the comm queue of the worker. */
int dp_cuda_carry(struct dp_slot *worker, const struct dp_move *move, struct dp_error *err);

/* Memory of the slot for summands of a sum there. An eighth of it is 2 MiB, which is enough for the
 * full rate of a bus. It belongs to the comm queue, and is kept. */
#define DP_CUDA_STAGE_BYTES ((size_t)16 << 20)
int dp_cuda_stage(struct dp_slot *slot, void **stage, struct dp_error *err);

/* peer_relay.c. True if the moves bring the same bytes of one slot to others, and so many bytes
 * that these should forward them to each other. */
bool dp_cuda_should_relay(const struct dp_team *team, const struct dp_moves moves[]);
/* Ordered as a move; the slots that it uses have recorded ready. */
int dp_cuda_relay(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                  struct dp_error *err);

#endif
