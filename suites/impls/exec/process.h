/* process.h: a command that gets requests and gives answers, each a line.
 *
 * Whatever the process does, the result is an answer or a reason: it may die, hang, write too much
 * or too little. It leads a new process group, which is killed at the end, and when we die. */
#ifndef EXEC_PROCESS_H
#define EXEC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROCESS_REASON = 240, PROCESS_TAIL = 512 };

struct process {
    pid_t pid;                /* also the number of the group; 0: none */
    pid_t watch;              /* kills the group when we die */
    int input, output, error; /* our ends of its standard input, output and error; -1: closed */
    int alive;                /* our end of the pipe by which the watch sees our death; -1: none */
    char *line;               /* its output since the last request */
    size_t length, room;
    char tail[PROCESS_TAIL]; /* the end of its standard error */
    size_t tail_length;
    bool fell; /* it crashed, or read a request and never answered */
};

struct process_limits {
    int ms;       /* for the whole exchange */
    size_t bytes; /* of the answer */
};

/* Starts the command. Returns 0, or -1 with a reason. */
int process_start(struct process *p, const char *command, char reason[PROCESS_REASON]);
/* Sends a line (with its newline) and waits for one. Returns 0 and the answer without its newline
 * in p->line and p->length, with a final NUL; or -1 with the reason, after which the process can
 * only be killed. */
int process_ask(struct process *p, const char *line, size_t length, struct process_limits limits,
                char reason[PROCESS_REASON]);
/* Ends the process. If patient, it closes its input and gives it a second to end. Kills the rest of
 * the group in any case. */
void process_end(struct process *p, bool patient);
/* Reads the bytes of memory of the whole group. */
int process_resident(const struct process *p, size_t *bytes);

/* Writes the beginning of a text of the process for a message: at most `bytes` - 1 printable
 * characters. */
void process_excerpt(const char *text, size_t length, char *to, size_t bytes);
/* Whether it has ended; it stays a zombie, so that no other process gets its number. */
bool process_has_ended(const struct process *p);

#endif
