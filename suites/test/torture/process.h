/* process.h: programs that a test starts, kills and must outlive. */
#ifndef TORTURE_PROCESS_H
#define TORTURE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* From now on every orphan below this process becomes its child: nobody that is left can hide. */
int process_adopt(void);

/* Starts a program in a process group of its own; its output goes to log, which is made anew. It
 * dies with this process. -1 with errno. */
pid_t process_start(char *const argv[], const char *log);

/* Whether it ended in time; then status is that of waitpid. */
bool process_wait(pid_t pid, double seconds, int *status);

/* Those whose parent it is, at most max. */
size_t process_children(pid_t parent, pid_t child[], size_t max);

/* Whether it calls itself a worker: it is past its start. */
bool process_is_worker(pid_t pid);

/* Waits until nothing that was started is left. 0, or one that stays; all that stay are killed. */
pid_t process_leftover(double seconds);

double process_now(void);
void process_sleep_until(double time);

#endif
