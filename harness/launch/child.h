/* launch/child.h: processes that this one starts. None outlives it but a watch. */
#ifndef HARNESS_CHILD_H
#define HARNESS_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/watch.h"

enum child_group {
    CHILD_SAME_GROUP, /* a signal of the terminal reaches it, too */
    CHILD_OWN_GROUP,  /* it can be killed with all that it starts: kill(-pid, ..) */
    CHILD_WATCH       /* as that, and goes on when its parent has ended: to end what that started */
};

/* As fork. What is buffered is written first, or the child would write it again; and the child is
 * killed when the thread ends that started it. */
pid_t child_fork(enum child_group group);

/* Executes a program, found as by a shell, in a separate group, which ends with this thread. Its
 * standard input, output and error are these descriptors of ours; directory NULL: it runs here.
 * Returns its number, or -1 and errno: no process was started. Its exit status is 127 if there is
 * no such program, and 126 if it cannot be executed. */
pid_t child_execute(const char *program, char *const argument[], const int streams[3],
                    const char *directory);

/* As pipe, closed in what is executed; no end is 0, 1 or 2, even where those are closed. 0, or -1
 * and errno. */
int child_pipe(int ends[2]);

/* Waits for its end, whatever signals come meanwhile. 0 and its status as of waitpid, or -1:
 * then it was killed. */
int child_wait(pid_t pid, int *status);
/* Whether it has ended, and how; else info->si_pid is 0. It stays a zombie, so that no other
 * process gets its number. */
bool child_has_ended(pid_t pid, siginfo_t *info);
/* Whether a signal comes from other processes: a program does not crash with it. */
bool child_signal_is_foreign(int number);

/* Closes a descriptor unless it is -1, which it is afterwards. */
void child_close(int *fd);
/* As write, without the signal SIGPIPE: the program's way to handle it is not ours to change. */
ssize_t child_write(int fd, const void *bytes, size_t n);
/* Memory filled with zeros that children of this process share with it: a mapping of /dev/zero.
 * NULL and errno: there is none. */
void *child_shared_memory(size_t bytes);

/* ---- a program that is heard by pipe and dies with this one: launch/program.c ---- */

/* More output than this is too long. */
#define PROGRAM_OUTPUT_BYTES ((size_t)64 << 20)

/* The stream that is read from a program. The other one is that of this process, or is dropped;
 * LAUNCH_ASKED: it can be written to, and its standard error is copied to ours, as text. */
enum launch_heard { LAUNCH_OUTPUT, LAUNCH_OUTPUT_ALONE, LAUNCH_ERROR_ALONE, LAUNCH_ASKED };

/* A program, its arguments up to a NULL, and how it is run. */
struct launch_how {
    const char *program;
    char *const *argument;
    const char *directory; /* where it runs; NULL: here */
    enum launch_heard heard;
    double seconds; /* its time; then it is killed with all that it started */
    double grace;   /* for a program that ends what it has started: it gets SIGTERM first, and so
                       many seconds; 0: it is killed at once */
};

/* A program that was started, what it has printed, and how it ended. */
struct program {
    pid_t pid;                /* 0: it has ended */
    int input, output, error; /* our ends of its pipes; -1: none, or it has ended */
    struct watch watch;       /* since its start */
    char *text;               /* what was read, then a 0; NULL: nothing. Caller frees */
    size_t length, capacity;
    char words[400]; /* the begin of its standard error */
    bool timed_out, interrupted, too_long;
    int status; /* of waitpid; not valid for an interrupted one */
};

/* Starts the program. Its exit status is 127 if there is no such program, and 126 if it cannot be
 * executed. Returns 0, or -1 and errno: no process was started. */
int program_start(const struct launch_how *how, struct program *program);
/* Takes what comes within so many milliseconds. Returns whether anything came. */
bool program_listen(struct program *program, int ms);
/* Ends it with all that it has started: it has some seconds to end by itself, then SIGTERM and its
 * grace. What it prints during that time is taken. */
void program_end(struct program *program, double patience, double grace);
/* Starts it and waits for its end, until its time is over or a stop is requested. Returns as
 * program_start. */
int launch_program(const struct launch_how *how, struct program *program);

#endif
