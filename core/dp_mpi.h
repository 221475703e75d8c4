/* dp_mpi.h: the processes of a world, by MPI. Conventions are those of dp.h.
 *
 * A launcher starts P processes (mpirun -n P). Each calls dp_mpi_open once, opens groups with
 * dp_mpi_world in their configuration, and drives one or several ranks: the slots of its group. The
 * communicator is "mpi": inside a process ranks share memory, between processes MPI carries. Sums
 * are added in rank order, each rank's number by itself: the bits are those of one process with all
 * ranks, however they are spread over processes.
 *
 * One thread of its own makes every call of MPI, from MPI_Init_thread (MPI_THREAD_FUNNELED) to
 * MPI_Finalize; the program makes none. MPI is a module (lockstep-mpi.so), loaded by dp_mpi_open:
 * a program that does not call that is not linked with MPI.
 *
 * Every wait has an end. When a call of all processes has not moved for deadline_ms, all are asked
 * where they are. Those that do not answer within half a second, or else those that have joined the
 * fewest calls, are named, with the call that they did not join; all others are told, and give up
 * with the same line: DP_EFAULT. From then on nothing works between these processes: every further
 * call fails at once with that line, and no memory of the caller is touched any more. */
#ifndef DP_MPI_H
#define DP_MPI_H

#include "dp.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct dp_mpi;
struct dp_world;

struct dp_mpi_config {
    /* Milliseconds for which a call may stand still before it is given up; 0: 300000. A rank that
     * computes for longer than that between two calls is late. */
    unsigned deadline_ms;
    /* Milliseconds for MPI to start, and for it to end; 0: 60000. */
    unsigned start_ms;
    /* As many processes must be there; 0: as many as there are. */
    int processes;
    /* Texts that all processes must have alike, at most 127 characters are compared: which program
     * this is, and what it is about to do. NULL: "". */
    const char *build, *plan;
    /* Path of the module; NULL: beside the program, or in ../lib/lockstep from there. */
    const char *module;
};

/* Starts MPI, and finds out who the others are. Once in the life of a process.
 * Errors DP_ENOTSUP this build has no MPI, or its module cannot be loaded; DP_EINVAL a text is too
 * long, another number of processes; or a process has another byte order, other sizes of types,
 * protocol, number of processes, build or plan: the first that differs from process 0 is named, in
 * all processes; DP_EFAULT MPI failed or did not start in time: end the process then, by _exit.
 * Ownership: *mpi by dp_mpi_close, after the groups. */
int dp_mpi_open(const struct dp_mpi_config *config, struct dp_mpi **mpi, struct dp_error *err);
/* Waits for the others to close, too, and ends MPI. NULL allowed. DP_EFAULT: MPI was not ended,
 * because these processes have given up before, or now, or because it does not end: then the
 * process has to end by _exit. What MPI may still write to is not freed. */
int dp_mpi_close(struct dp_mpi *mpi, struct dp_error *err);

/* For dp_group_config.world. */
const struct dp_world *dp_mpi_world(const struct dp_mpi *mpi);
int dp_mpi_size(const struct dp_mpi *mpi);                      /* P */
int dp_mpi_rank(const struct dp_mpi *mpi);                      /* of this process, 0..P-1 */
const char *dp_mpi_library(const struct dp_mpi *mpi);           /* "Open MPI v4.1.4", one line */
const char *dp_mpi_host(const struct dp_mpi *mpi, int process); /* name of its machine */
/* Whether it is on this machine, and may use a core that this process may use; so does this one. */
bool dp_mpi_shares_cores(const struct dp_mpi *mpi, int process);
long dp_mpi_pid(const struct dp_mpi *mpi, int process); /* its number there */

/* Everyone's bytes to all, in the order of the processes: P * bytes of all. A call of all
 * processes, with as many bytes in each. DP_EFAULT: another one did not join. */
int dp_mpi_exchange(struct dp_mpi *mpi, const void *mine, size_t bytes, void *all,
                    struct dp_error *err);

/* Tells the others that this process gives up; nothing works between them from then on. */
void dp_mpi_abort(struct dp_mpi *mpi);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
