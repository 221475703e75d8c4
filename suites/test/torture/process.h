/* process.h: programs that a test starts and kills, and that must not outlive it. */
#ifndef TORTURE_PROCESS_H
#define TORTURE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* From now on every orphan below this process becomes its child: no process that is left can hide.
 */
int process_adopt(void);

/* Starts a program in a new process group, with these variables set, up to a name that is NULL; set
 * is NULL: none. Its output goes to files that are made anew; err is NULL: all goes to out. It dies
 * with this process. Returns -1 with errno. */
pid_t process_start(char *const argv[], const char *const set[][2], const char *out,
                    const char *err);

/* Returns whether it ended in time; then status is that of waitpid. */
bool process_wait(pid_t pid, double seconds, int *status);

/* Lists the children of a process, at most max. */
size_t process_children(pid_t parent, pid_t child[], size_t max);

/* Returns whether the process calls itself a worker: then its start is over. */
bool process_is_worker(pid_t pid);

/* Waits until nothing that was started is left. Returns 0, or a process that stays; all that stay
 * are killed. */
pid_t process_leftover(double seconds);

double process_now(void);
void process_sleep_until(double time);

#endif
