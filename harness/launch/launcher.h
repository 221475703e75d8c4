/* launch/launcher.h: the launcher, the command that starts the processes. */
#ifndef HARNESS_LAUNCHER_H
#define HARNESS_LAUNCHER_H

#include "launch/launcher_messages.h"
#include "launch/program.h"
#include "text/text.h"

/* The bytes are those of a field of records, `launcher`. */
enum { LAUNCHER_BYTES = 256, LAUNCHER_WORDS = 40, LAUNCHER_OWN = 160, LAUNCHER_PATH = 4096 };

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

/* The output of a launcher, and how it ended. */
struct launched {
    struct launch_output output;
    struct launcher_messages *messages; /* of the processes; NULL: no memory */
};
/* Runs so many processes of this program for at most so many seconds, and reads their messages.
 * Returns 0, also if a stop was requested first: run->output.interrupted. Or -1 and why: nothing
 * was started, or what was printed cannot be used. launched_free in any case. */
int launcher_run(const char *launcher, int processes, char *const own[], double seconds,
                 struct launched *run, struct text_error *why);
void launched_free(struct launched *run);

#endif
