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

struct guard {
    struct message_sender speaker; /* the lock protects it */
    pthread_mutex_t lock;
    pthread_t thread;
    pid_t parent;
    double seconds;
};

/* Call it before there are other threads, which all inherit its mask of signals. From then on the
 * process ends by itself: when it gets SIGTERM, when its launcher is gone, or some seconds after
 * the given ones (0: never). The guard lives as long as the process. Returns 0, or -1: no thread
 * can be started. */
int guard_start(struct guard *guard, double seconds);
/* Returns 0, or -1 and errno. If the launcher does not read any more, the thread notices it. */
int guard_say(struct guard *guard, enum message_kind word, const char *text);
int guard_say_parts(struct guard *guard, const char *text, size_t length);
/* Sends which process this is, on which machine, and with which MPI. */
int guard_say_begun(struct guard *guard, const struct dp_mpi *mpi);

#endif
