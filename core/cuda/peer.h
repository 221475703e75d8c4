/* peer.h: what the files of the communicator peer share. */
#ifndef DP_CUDA_PEER_H
#define DP_CUDA_PEER_H

#include "cuda.h"

/* peer_reach.c. Kernels of a slot can use the memory of another. */
bool dp_cuda_reaches(const struct dp_slot *from, const struct dp_slot *to);
/* Makes it so where the driver lets it; once per pair of slots. */
int dp_cuda_connect(struct dp_slot *from, const struct dp_slot *to, struct dp_error *err);

/* comm_peer.c. A transfer in the comm queue of the worker. */
int dp_cuda_carry(struct dp_slot *worker, const struct dp_move *move, struct dp_error *err);

/* Memory of the slot for what is on its way into a sum there: an eighth of it is 2 MiB, enough for
 * the full rate of a bus. The comm queue's own, and kept. */
#define DP_CUDA_STAGE_BYTES ((size_t)16 << 20)
int dp_cuda_stage(struct dp_slot *slot, void **stage, struct dp_error *err);

/* peer_spread.c. The moves bring the same bytes of one slot to others, and so many that it is worth
 * it that these hand them on to each other. */
bool dp_cuda_spreads(const struct dp_team *team, const struct dp_moves moves[]);
/* Ordered as a move; the slots that it touches have recorded ready. */
int dp_cuda_spread(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                   struct dp_error *err);

#endif
