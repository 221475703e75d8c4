/* launch/launcher.h: the launcher, the command that starts the processes; and messages of these to
 * the program that started them, through the standard output of the launcher.
 *
 * A launcher mixes what processes print, puts names before their lines, and prints lines of its
 * own. So messages are lines of a separate form, short enough for one write, each with the
 * process, its number there and a checksum:
 *
 *  lockstep-says-1 PROCESS NUMBER CHECKSUM WORD TEXT
 *
 * Other lines are no messages, and neither is a line that is cut, or of another version. */
#ifndef HARNESS_LAUNCHER_H
#define HARNESS_LAUNCHER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/child.h"
#include "text/text.h"

/* ---- messages: launcher_messages.c ----------------------------------------------------------- */

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

/* 0, or -1 and errno. The text has no line break. MSG_PART: it has any length, and becomes as many
 * messages as it needs. */
int message_send(struct message_sender *speaker, enum message_kind word, const char *text);

/* The messages of one of them so far. */
struct launcher_process {
    bool has[MSG_KINDS];
    char host[256], library[MSG_TEXT_BYTES]; /* of MSG_BEGUN, and pid */
    long pid;
    char answer[MSG_TEXT_BYTES], ended[MSG_TEXT_BYTES], told[MSG_TEXT_BYTES];
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

/* Takes the lines that a launcher has printed so far; one without its end is cut, or goes on. Says
 * why they cannot be used, and takes none after that: a message is missing, twice there, or of a
 * process that is none. launcher_messages_free in any case. */
void launcher_messages_take(struct launcher_messages *messages, struct program *launcher,
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

/* ---- the launcher: launcher.c -----------------------------------------------------------------
 */

/* The bytes are those of a field of records, `launcher`. */
enum { LAUNCHER_BYTES = 256, LAUNCHER_WORDS = 40, LAUNCHER_OWN = 160, LAUNCHER_PATH = 4096 };
/* Seconds that it has to end after it was told to: it has processes to end, which may be stopped.
 */
enum { LAUNCHER_GRACE = 8 };

/* The words of a command line; the last one is NULL. */
struct launcher {
    char room[LAUNCHER_BYTES * 2], self[LAUNCHER_PATH];
    char *word[LAUNCHER_WORDS + LAUNCHER_OWN + 2];
    int n;
};

/* The words of all help about it. */
#define LAUNCHER_DOC                                                                               \
    "mpirun, srun, or a command like 'mpiexec -n {n}', where {n} is the number of processes"
/* Replaces "mpirun" or "srun" by the whole command that it stands for. Whether that can start
 * processes: it contains {n}, its program is found, and this build has MPI. Returns 0, or -1 and
 * why not. */
int launcher_check(char text[LAUNCHER_BYTES], struct text_error *why);
/* Writes the command that starts so many processes of this program, for example
 * mpirun -n 2 /path/of/lockstep cell ...
 * own: the words after the program, at most LAUNCHER_OWN, up to a NULL; or NULL: only those of the
 * launcher. The words of a launcher contain no blanks. Returns 0, or -1 and why not. */
int launcher_words(const char *text, int processes, char *const own[], struct launcher *launcher,
                   struct text_error *why);

/* A launcher, and the messages of its processes. */
struct launched {
    struct program program;
    struct launcher_messages *messages;
    struct text_error fault; /* why what it printed cannot be used; "": it can */
};
/* Starts so many processes of this program, with LAUNCH_ASKED (program_end ends them); or runs them
 * as well, for at most so many seconds. Returns 0, also if a stop was requested first:
 * run->program.interrupted. Or -1 and why: nothing was started, or what was printed cannot be used.
 * launched_free in any case. */
int launcher_run(const char *launcher, int processes, char *const own[], enum launch_heard heard,
                 double seconds, struct launched *run, struct text_error *why);
void launched_free(struct launched *run);

/* ---- one of its processes: guard.c ------------------------------------------------------------
 */

/* Sends the messages of a process that a launcher has started, and makes sure that it ends.
 *
 * The process that died is the one that is silent at the end. So each of the others sends a last
 * message, whatever ends it. A separate thread waits for signals, since the other threads may be
 * inside of MPI. */
struct dp_mpi;
struct dp_mpi_config;

struct guard {
    struct message_sender speaker; /* the lock protects it */
    pthread_mutex_t lock;
    pthread_t thread;
    pid_t parent;
    double seconds;
};

/* Joins the processes that a launcher has started: opens MPI, and sends which process this is, on
 * which machine, and with which MPI. Call it before there are other threads, which all inherit its
 * mask of signals. From then on the process ends by itself: when it gets SIGTERM, when its launcher
 * is gone, or some seconds after the given ones (0: never). The guard lives as long as the process,
 * which ends here, after its last message, if any of that is not possible. */
struct dp_mpi *guard_open(struct guard *guard, double seconds, const struct dp_mpi_config *how);
/* Returns 0, or -1 and errno. If the launcher does not read any more, the thread notices it. */
int guard_say(struct guard *guard, enum message_kind word, const char *text);
/* Ends the process, after its last message. MPI is finalized only if all processes have come to the
 * end; otherwise that would wait, and the status is EXIT_FAILED. */
_Noreturn void guard_leave(struct dp_mpi *mpi, int status);

#endif
