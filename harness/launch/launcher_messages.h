/* launch/launcher_messages.h: messages of processes to the program that started them, through the
 * standard output of a launcher.
 *
 * A launcher mixes what processes print, puts names before their lines, and prints lines of its
 * own. So messages are lines of a separate form, short enough for one write, each with the
 * process, its number there and a checksum:
 *
 *  lockstep-says-1 PROCESS NUMBER CHECKSUM WORD TEXT
 *
 * Other lines are no messages, and neither is a line that is cut, or of another version. */
#ifndef HARNESS_LAUNCHER_MESSAGES_H
#define HARNESS_LAUNCHER_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

enum message_kind {
    MSG_BEGUN,  /* HOST PID LIBRARY */
    MSG_PART,   /* of a text that is longer than a line */
    MSG_READ,   /* so many bytes of its input, from the first one on */
    MSG_ANSWER, /* the parts are whole, and the answer to a request of this number */
    MSG_ENDED,  /* status, and why it is not ok */
    MSG_ABORT,  /* to end, by a signal or because its time was over: why */
    MSG_KINDS
};
enum { MSG_PROCESSES = 64, MSG_TEXT_BYTES = 1024 }; /* at most */
enum { MSG_UNKNOWN_PROCESS = 99 };                  /* a process that does not know which it is */

/* One process that speaks. */
struct message_sender {
    int fd, process;
    unsigned number; /* of its next message */
};

/* 0, or -1 and errno. The text has no line break. */
int message_send(struct message_sender *speaker, enum message_kind word, const char *text);
/* A text of any length as parts. */
int message_send_parts(struct message_sender *speaker, const char *text, size_t length);

/* The messages of one of them so far. */
struct launcher_process {
    bool has[MSG_KINDS];
    char begun[MSG_TEXT_BYTES], answer[MSG_TEXT_BYTES], ended[MSG_TEXT_BYTES], told[MSG_TEXT_BYTES];
    unsigned long long read; /* bytes, of MSG_READ */
    char *parts;             /* all of them since the last answer was taken; the list frees it */
    size_t length;
    unsigned number; /* of its next message */
};
struct launcher_messages {
    int n;                       /* processes */
    char *broken;                /* what may be a message that another one stands within */
    char nobody[MSG_TEXT_BYTES]; /* what the last of those said; "": nothing */
    struct launcher_process process[MSG_PROCESSES];
};

/* Reads all that a launcher has printed, of n processes. 0, or -1 and why it cannot be used: a
 * message is missing, twice there, or of a process that is none. launcher_messages_free in any
 * case. */
int launcher_messages_read(const char *text, int n, struct launcher_messages *messages,
                           struct text_error *why);
/* The same line by line, of text that still comes. In place of its end a line has a 0. */
int launcher_messages_line(struct launcher_messages *messages, const char *line, size_t length,
                           struct text_error *why);
/* The answer of a process is used: its next one can come. */
void launcher_answer_taken(struct launcher_process *process);
void launcher_messages_free(struct launcher_messages *messages);

/* ---- processes that have not sent their last message ----------------------------------------- */

enum { MSG_NAME_BYTES = 120 };
/* "process 1 of 2 (host H, process 4711)" */
void launcher_process_name(const struct launcher_messages *messages, int process,
                           char text[MSG_NAME_BYTES]);
/* The first process whose last message does not begin with this word, for a reason that it gives
 * itself: others only repeat that it gave up. -1: there is none. */
int first_failed_process(const struct launcher_messages *messages, const char *well);
/* The same of the first of those that have not ended, with what it said at last; -1: all have
 * ended. */
int first_unfinished_process(const struct launcher_messages *messages, char *text, size_t bytes);

/* ---- where they are -------------------------------------------------------------------------- */

/* How many hosts processes with so many ranks each are on, and the ranks of each, "2,2", in the
 * order of the first process of each; 0: one has not begun, and the text is as it was. */
int launcher_hosts(const struct launcher_messages *messages, int each, char ranks[], size_t bytes);

#endif
