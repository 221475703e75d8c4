/* files/said.h: messages of processes to the program that started them, through the standard output
 * of a launcher.
 *
 * A launcher mixes what processes print, puts names before their lines, and prints lines of its
 * own. So messages are lines of a separate form, short enough for one write, each with the
 * process, its number there and a checksum:
 *
 *  lockstep-says-1 PROCESS NUMBER CHECKSUM WORD TEXT
 *
 * Other lines are no messages, and neither is a line that is cut, or of another version. */
#ifndef HARNESS_SAID_H
#define HARNESS_SAID_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

enum said_word {
    SAID_BEGUN,  /* HOST PID LIBRARY */
    SAID_PART,   /* of a text that is longer than a line */
    SAID_READ,   /* so many bytes of its input, from the first one on */
    SAID_ANSWER, /* the parts are whole, and the answer to a request of this number */
    SAID_ENDED,  /* status, and why it is not ok */
    SAID_TOLD,   /* to end, by a signal or because its time was over: why */
    SAID_WORDS
};
enum { SAID_PROCESSES = 64, SAID_TEXT = 1024 }; /* at most */
enum { SAID_NOBODY = 99 };                      /* a process that does not know which it is */

/* One process that speaks. */
struct said_speaker {
    int fd, process;
    unsigned number; /* of its next message */
};

/* 0, or -1 and errno. The text has no line break. */
int said_write(struct said_speaker *speaker, enum said_word word, const char *text);
/* A text of any length as parts. */
int said_write_parts(struct said_speaker *speaker, const char *text, size_t length);

/* The messages of one of them so far. */
struct said_process {
    bool has[SAID_WORDS];
    char begun[SAID_TEXT], answer[SAID_TEXT], ended[SAID_TEXT], told[SAID_TEXT];
    unsigned long long read; /* bytes, of SAID_READ */
    char *parts;             /* all of them since the last answer was taken; the list frees it */
    size_t length;
    unsigned number; /* of its next message */
};
struct said {
    int n;                  /* processes */
    char *broken;           /* what may be a message that another one stands within */
    char nobody[SAID_TEXT]; /* what the last of those said; "": nothing */
    struct said_process process[SAID_PROCESSES];
};

/* Reads all that a launcher has printed, of n processes. 0, or -1 and why it cannot be used: a
 * message is missing, twice there, or of a process that is none. said_free in any case. */
int said_read(const char *text, int n, struct said *said, struct text_error *why);
/* The same line by line, of text that still comes. In place of its end a line has a 0. */
int said_line(struct said *said, const char *line, size_t length, struct text_error *why);
/* The answer of a process is used: its next one can come. */
void said_answer_taken(struct said_process *process);
void said_free(struct said *said);

/* ---- silent.c: who has not had the last word ------------------------------------------------- */

enum { SAID_WHO = 120 };
/* "process 1 of 2 (host H, process 4711)" */
void said_who(const struct said *said, int process, char text[SAID_WHO]);
/* The same of the first of those that have not ended, with what it said at last; -1: all have
 * ended. */
int said_silent(const struct said *said, char *text, size_t bytes);

/* ---- hosts.c: where they are ----------------------------------------------------------------- */

/* How many hosts processes with so many ranks each are on, and the ranks of each, "2,2", in the
 * order of the first process of each; 0: one has not begun, and the text is as it was. */
int said_hosts(const struct said *said, int each, char ranks[], size_t bytes);

#endif
