/* record/timed.h: internal to this folder. It adds up the time of the sessions of a file, line by
 * line. */
#ifndef HARNESS_RECORD_TIMED_H
#define HARNESS_RECORD_TIMED_H

#include "record/record.h"

/* The sums over sessions, zeroed before the first line. */
struct record_sittings {
    double seconds;  /* of all sessions that ended; NaN: that of one is not known */
    double writing;  /* the part of them in which records were written; NaN likewise */
    double launches; /* time within launches of the current session */
    int at;          /* number of the current session */
    bool open;       /* the current session has launches, and no end yet */
};

/* Returns 0, or -1 and why: the record of a launch that took ns says that it took longer. */
int record_check_wall(const struct record_cell *cell, double ns, struct text_error *err);
/* Adds a cell. If an earlier session never ended, its time is unknown. */
void record_sittings_cell(struct record_sittings *sittings, const struct record_cell *cell);
/* Returns 0, or -1 and why: the launches took longer than the session says in total. */
int record_sittings_end(struct record_sittings *sittings, const struct record_end *end,
                        struct text_error *err);

#endif
