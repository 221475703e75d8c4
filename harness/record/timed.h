/* record/timed.h: internal to this room: the time of a file's sittings, line by line. */
#ifndef HARNESS_RECORD_TIMED_H
#define HARNESS_RECORD_TIMED_H

#include "record/record.h"

/* Zeroed before the first line. */
struct record_sittings {
    double seconds;  /* of all that ended; NaN: of one it is not known */
    double writing;  /* the part of them in which records were written; NaN likewise */
    double launches; /* of the one under way: within its launches */
    int at;          /* its number */
    bool open;       /* it has launches, and no end yet */
};

/* 0, or -1 and why: a launch that took ns says that it took longer. */
int record_check_wall(const struct record_cell *cell, double ns, struct text_error *err);
/* One that never ended leaves its time unknown. */
void record_sittings_cell(struct record_sittings *sittings, const struct record_cell *cell);
/* 0, or -1 and why: its launches took longer than it says of all of them. */
int record_sittings_end(struct record_sittings *sittings, const struct record_end *end,
                        struct text_error *err);

#endif
