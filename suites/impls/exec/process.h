/* process.h: a command that is asked line by line and answers line by line.
 *
 * Nothing it does reaches further than a reason: it may die, hang, write too much or too little.
 * It runs in a process group of its own, which is killed at the end, and when we die. */
#ifndef EXEC_PROCESS_H
#define EXEC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROCESS_REASON = 240, PROCESS_TAIL = 512 };

struct process {
    pid_t pid;                /* also of the group; 0: none */
    pid_t watch;              /* kills the group when we die */
    int input, output, error; /* our ends: its standard input, output, error; -1: closed */
    int alive;                /* the watch sees our death at its other end; -1 */
    char *line;               /* what it wrote since the last request */
    size_t length, room;
    char tail[PROCESS_TAIL]; /* of its standard error */
    size_t tail_length;
    bool fell; /* it crashed, or read a request and never answered */
};

struct process_limits {
    int ms;       /* for the whole exchange */
    size_t bytes; /* of the answer */
};

/* 0, or -1 with a reason. */
int process_start(struct process *p, const char *command, char reason[PROCESS_REASON]);
/* Sends a line (with its newline) and waits for one. 0 and the answer without its newline in
 * p->line and p->length, terminated; or -1 with the reason, and the process can only be killed. */
int process_ask(struct process *p, const char *line, size_t length, struct process_limits limits,
                char reason[PROCESS_REASON]);
/* With patience: closes its input and gives it a second to end. Kills what is left in any case. */
void process_end(struct process *p, bool patient);
/* Bytes of memory of the whole group. */
int process_resident(const struct process *p, size_t *bytes);

/* What a text of the process looks like in a message: at most `bytes` - 1 printable characters. */
void process_excerpt(const char *text, size_t length, char *to, size_t bytes);
/* Whether it has ended; it stays a zombie, so that its number is not given to another. */
bool process_has_ended(const struct process *p);

#endif
