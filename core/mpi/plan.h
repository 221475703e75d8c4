/* plan.h: shared by plan.c, plan_flow.c and plan_sum.c. */
#ifndef MPI_PLAN_H
#define MPI_PLAN_H

#include "inside.h"

/* plan_flow.c. The number of ranks of a process; and the largest such number. */
int mpi_locals(const struct dp_mpi_team *team, int process);
int mpi_most_locals(const struct dp_mpi *mpi, const struct dp_mpi_team *team);
/* Allocates space for all pieces of the call first, so that they are not moved. */
int mpi_open_pieces(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err);
struct mpi_strip mpi_strip_of(struct mpi_active *a, struct dp_slot *slot, const void *data,
                              size_t bytes);
struct mpi_strip mpi_strip_of_part(struct mpi_active *a, const struct dp_collective *c, int i);
/* Returns the link to a process, and makes it if there is none; then its flows. strip NULL:
 * received data of n ranks are kept. */
struct mpi_link *mpi_link_to(struct mpi_active *a, int peer);
void mpi_send_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                   const struct mpi_strip *strip, int n);
void mpi_receive_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                      const struct mpi_strip *strip, int n);
/* most: bytes of the largest flow of any process. message: what a head would have to carry. */
void mpi_choose_size(struct mpi_active *a, size_t most, size_t message);
int mpi_open_buffers(struct dp_mpi *mpi, struct dp_error *err);

/* plan_sum.c */
int mpi_plan_allreduce(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err);
void mpi_plan_sum(struct dp_mpi *mpi, const struct mpi_call *call);
void mpi_plan_reducescatter(struct dp_mpi *mpi, const struct mpi_call *call);

#endif
