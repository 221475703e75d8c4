/* dp_mpi.h: several processes in one world, by MPI. Conventions are those of dp.h.
 *
 * A launcher starts P processes (mpirun -n P). Each calls dp_mpi_open once, and opens groups whose
 * configuration has dp_mpi_world. Each process drives one or several ranks: the slots of its group.
 * The communicator is "mpi". Ranks of one process share memory; MPI carries data between processes.
 * Sums are added in rank order, one rank at a time. So the bits are those of one process with all
 * ranks, for any distribution of the ranks over processes.
 *
 * A separate thread makes every call of MPI, from MPI_Init_thread (MPI_THREAD_FUNNELED) to
 * MPI_Finalize; the program makes none. MPI is a plug-in (lockstep-mpi.so) that dp_mpi_open loads:
 * a program that does not call it is not linked with MPI.
 *
 * Every wait ends. When a call of all processes has made no progress for deadline_ms, all processes
 * are asked how far they are. Those that do not answer within half a second are named; if all
 * answer, those that have joined the fewest calls are. The line has the call that they did not
 * join. All other processes are told, and fail with the same line: DP_EFAULT. From then on every
 * further call fails at once with that line, and no memory of the caller is touched any more. */
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
    /* Milliseconds without progress after which a call is given up; 0: 300000. A rank that computes
     * for longer than that between two calls is late. */
    unsigned deadline_ms;
    /* Milliseconds that MPI may take to start, and to end; 0: 60000. */
    unsigned start_ms;
    /* The number of processes that must be there; 0: any. */
    int processes;
    /* Texts that must be the same in all processes: the program, and what it is about to do. At
     * most 127 characters are compared. NULL: "". */
    const char *build, *plan;
    /* Path of the plug-in. NULL: the folder of the program, or ../lib/lockstep from there. */
    const char *module;
};

/* Starts MPI, and learns of the other processes. A process may call it once. Errors: DP_ENOTSUP if
 * this build has no MPI, or if the plug-in cannot be loaded. DP_EINVAL if a text is too long, if
 * there are more or fewer processes than expected, or if processes differ in byte order, sizes of
 * types, protocol, number of processes, build or plan; every process then names the first one that
 * differs from process 0. DP_EFAULT if MPI failed, or did not start in time: the process must then
 * end by _exit. Ownership: close *mpi with dp_mpi_close, after the groups. */
int dp_mpi_open(const struct dp_mpi_config *config, struct dp_mpi **mpi, struct dp_error *err);
/* Waits until the other processes close, too, and ends MPI. NULL is allowed. Errors: DP_EFAULT if
 * MPI was not ended, because the processes have given up, or because it does not end. Then the
 * process must end by _exit. Memory that MPI may still write to is not freed. */
int dp_mpi_close(struct dp_mpi *mpi, struct dp_error *err);

/* Returns the world for dp_group_config.world. */
const struct dp_world *dp_mpi_world(const struct dp_mpi *mpi);
int dp_mpi_size(const struct dp_mpi *mpi);                      /* returns P */
int dp_mpi_rank(const struct dp_mpi *mpi);                      /* number of this process, 0..P-1 */
const char *dp_mpi_library(const struct dp_mpi *mpi);           /* "Open MPI v4.1.4", one line */
const char *dp_mpi_host(const struct dp_mpi *mpi, int process); /* host name of that process */
/* Whether that process is on this machine and may use a core that this process may use, too. It is
 * true of this process. */
bool dp_mpi_shares_cores(const struct dp_mpi *mpi, int process);
long dp_mpi_pid(const struct dp_mpi *mpi, int process); /* its process id there */

/* Gathers the bytes of every process on all processes, in the order of the processes: all has P *
 * bytes of space. All processes make this call, with equal bytes. Errors: DP_EFAULT if one did not
 * join. */
int dp_mpi_exchange(struct dp_mpi *mpi, const void *mine, size_t bytes, void *all,
                    struct dp_error *err);

/* Tells the other processes that this one gives up. From then on every call between them fails. */
void dp_mpi_abort(struct dp_mpi *mpi);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
