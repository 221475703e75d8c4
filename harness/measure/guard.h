/* measure/guard.h: what a process that a launcher has started says, and that it ends.
 *
 * Who is silent at the end is the one that died: so each of the others has the last word, whatever
 * ends it. A thread of its own waits for signals, since the others may be inside of MPI. */
#ifndef HARNESS_GUARD_H
#define HARNESS_GUARD_H

#include <pthread.h>
#include <sys/types.h>

#include "files/launcher_messages.h"

struct dp_mpi;

struct guard {
    struct message_sender speaker; /* behind the lock */
    pthread_mutex_t lock;
    pthread_t thread;
    pid_t parent;
    double seconds;
};

/* Before there are other threads, which all get its mask of signals. From then on the process ends
 * by itself when it is told to, when its launcher is gone, or some seconds after those given; 0:
 * never. It lives as long as the process. 0, or -1: no thread can be started. */
int guard_start(struct guard *guard, double seconds);
/* 0, or -1 and errno. A launcher that does not listen any more is found out by the thread. */
int guard_say(struct guard *guard, enum message_kind word, const char *text);
int guard_say_parts(struct guard *guard, const char *text, size_t length);
/* Which process it is, on which machine, and by which MPI. */
int guard_say_begun(struct guard *guard, const struct dp_mpi *mpi);

#endif
