/* record/planned.h: internal to this room: what the command of a header says of the lines below.
 */
#ifndef HARNESS_RECORD_PLAN_H
#define HARNESS_RECORD_PLAN_H

#include "plan/plan.h"
#include "record/json.h"

enum { RECORD_PLAN_MISSING, RECORD_PLAN_OK, RECORD_PLAN_NOT_OK };

struct record_place {
    char cell_id[17]; /* as cell of launch 0 */
    size_t index;
};

/* Begin with zeros. */
struct record_plan {
    struct plan_options options;
    size_t cells;               /* of one launch */
    struct cell_config *cell;   /* of the first launch */
    struct record_place *place; /* the same by id, sorted */
    size_t *taken;              /* by order_index: the index of the cell there, and 1 */
    unsigned char *state;       /* by launch and index: RECORD_PLAN_... */
    size_t n_ok, n_not_ok;
    bool clocked;  /* as of the run */
    int sitting;   /* of the last cell */
    int cores;     /* more virtual devices share some; 0: not known */
    double memory; /* bytes */
};

/* 0, or -1 and which field of the header is not that of its command. Close it in any case. */
int record_plan_open(const struct record_run *run, struct record_plan *plan,
                     struct text_error *err);
/* The next cell of the file. */
int record_plan_take(struct record_plan *plan, const struct record_cell *cell,
                     struct text_error *err);
/* An end line after these cells. */
int record_plan_end(const struct record_plan *plan, const struct record_end *end,
                    struct text_error *err);
void record_plan_close(struct record_plan *plan);

#endif
