/* kill.h: one round of kill -9 and resume. */
#ifndef TORTURE_KILL_H
#define TORTURE_KILL_H

#include "records.h"

enum kill_whom { KILL_SWEEP, KILL_STOPPED, KILL_BOTH, KILL_WORKER, KILL_CUT, KILL_WHOMS };
extern const char *const kill_whom_names[KILL_WHOMS];

enum { KILL_MAX_CELLS = 64 };

/* Counts of what the kills of all rounds hit. */
struct kill_counts {
    size_t kills[KILL_WHOMS], after_end;    /* kills of sweeps that had ended */
    size_t no_file, no_header, ended, torn; /* the state of the file then */
    size_t cells[KILL_MAX_CELLS + 1];       /* a header and so many verified cells */
};

struct kill_torture {
    const char *lockstep;
    char folder[512];
    uint64_t seed;
    double seconds; /* that an undisturbed sweep takes */
    struct records undisturbed;
    struct kill_counts counts;
};

/* Sweeps three times without a kill; fills seconds and undisturbed. */
int kill_prepare(struct kill_torture *torture, struct text_error *err);

/* Kills and resumes until the sweep is finished, in a separate folder, round-NUMBER; the actions
 * follow from the seed and the number alone. */
int kill_round(struct kill_torture *torture, size_t number, struct text_error *err);

/* The report of the rounds' files must find every planned cell verified. */
int kill_report(struct kill_torture *torture, size_t first, size_t last, struct text_error *err);

/* Removes the folder of a round, NAME-NUMBER, with what is known in it. */
void kill_remove(const struct kill_torture *torture, const char *name, size_t number);

#endif
