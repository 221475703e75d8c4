/* record/planned.h: internal to this folder. It knows what the command of a header says about the
 * lines that follow. */
#ifndef HARNESS_RECORD_PLAN_H
#define HARNESS_RECORD_PLAN_H

#include "plan/plan.h"
#include "record/json.h"

enum { RECORD_PLAN_MISSING, RECORD_PLAN_OK, RECORD_PLAN_NOT_OK };

struct planned_place {
    char cell_id[17]; /* id of the same cell in launch 0 */
    size_t index;
};

/* The state while a file is read. It begins with zeros. */
struct record_plan {
    struct plan_options options;
    size_t cells;               /* cells of one launch */
    struct cell_config *cell;   /* the cells of the first launch */
    struct planned_place *place; /* the same, sorted by id */
    size_t *taken;              /* for each order_index the index of the cell there, plus 1 */
    unsigned char *state;       /* for each launch and cell: RECORD_PLAN_... */
    size_t n_ok, n_not_ok;
    bool clocked;  /* as in the run */
    int sitting;   /* session of the last cell */
    int cores;     /* with more virtual devices some share cores; 0: not known */
    double memory; /* bytes */
};

/* Returns 0, or -1 and which field of the header does not fit its command. Close the plan in any
 * case. */
int record_plan_open(const struct record_run *run, struct record_plan *plan,
                     struct text_error *err);
/* Takes the next cell of the file. */
int record_plan_take(struct record_plan *plan, const struct record_cell *cell,
                     struct text_error *err);
/* Takes an end line after these cells. */
int record_plan_end(const struct record_plan *plan, const struct record_end *end,
                    struct text_error *err);
void record_plan_close(struct record_plan *plan);

#endif
