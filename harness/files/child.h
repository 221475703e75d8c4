/* files/child.h: processes that this one starts. None outlives it but a watch. */
#ifndef HARNESS_CHILD_H
#define HARNESS_CHILD_H

#include <sys/types.h>

enum child_group {
    CHILD_SAME_GROUP, /* a signal of the terminal reaches it, too */
    CHILD_OWN_GROUP,  /* it can be killed with all that it starts: kill(-pid, ..) */
    CHILD_WATCH       /* as that, and goes on when its parent has ended: to end what that started */
};

/* As fork. What is buffered is written first, or the child would write it again; and the child is
 * killed when the thread ends that started it. */
pid_t child_fork(enum child_group group);

/* As pipe, closed in what is executed; no end is 0, 1 or 2, even where those are closed. 0, or -1
 * and errno. */
int child_pipe(int ends[2]);

/* Waits for its end, whatever signals come meanwhile. 0 and its status as of waitpid, or -1:
 * then it was killed. */
int child_wait(pid_t pid, int *status);

#endif
