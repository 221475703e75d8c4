/* launch/guard.h: sends the messages of a process that a launcher has started, and makes sure that
 * it ends.
 *
 * The process that died is the one that is silent at the end. So each of the others sends a last
 * message, whatever ends it. A separate thread waits for signals, since the other threads may be
 * inside of MPI. */
#ifndef HARNESS_GUARD_H
#define HARNESS_GUARD_H

#include <pthread.h>
#include <sys/types.h>

#include "launch/launcher_messages.h"

struct dp_mpi;
struct dp_mpi_config;

struct guard {
    struct message_sender speaker; /* the lock protects it */
    pthread_mutex_t lock;
    pthread_t thread;
    pid_t parent;
    double seconds;
};

/* Joins the processes that a launcher has started: opens MPI, and sends which process this is, on
 * which machine, and with which MPI. Call it before there are other threads, which all inherit its
 * mask of signals. From then on the process ends by itself: when it gets SIGTERM, when its launcher
 * is gone, or some seconds after the given ones (0: never). The guard lives as long as the process,
 * which ends here, after its last message, if any of that is not possible. */
struct dp_mpi *guard_open(struct guard *guard, double seconds, const struct dp_mpi_config *how);
/* Returns 0, or -1 and errno. If the launcher does not read any more, the thread notices it. */
int guard_say(struct guard *guard, enum message_kind word, const char *text);
int guard_say_parts(struct guard *guard, const char *text, size_t length);
/* Ends the process, after its last message. MPI is finalized only if all processes have come to the
 * end; otherwise that would wait, and the status is EXIT_FAILED. */
_Noreturn void guard_leave(struct dp_mpi *mpi, int status);

#endif
