/* record/reading.h: internal to this folder. The state while a file is read: its lines, in batches
 * and on several cores; the plan of its command, which each line must fit; the time of its
 * sessions. */
#ifndef HARNESS_RECORD_READING_H
#define HARNESS_RECORD_READING_H

#include <stdio.h>

#include "plan/plan.h"
#include "record/json.h"

/* ---- lines ---------------------------------------------------------------------------------- */

struct record_line {
    const char *text; /* without its newline */
    size_t length;
    size_t number; /* from 1 */
    long offset;
    bool complete;           /* it had a newline */
    char digest[DIGEST_HEX]; /* SHA-256 of the line; "": not computed */
    json_t *root;            /* freed with the batch; NULL: it is no JSON object */
    bool has_cell;           /* it is a cell, which is right */
    struct record_cell cell; /* freed with the batch, unless has_cell is set to false */
    struct text_error err;   /* why there is no root, or no cell */
};

enum { RECORD_BATCH = 512 };

struct record_lines {
    FILE *stream;
    struct record_line line[RECORD_BATCH];
    size_t n;              /* number of lines in this batch; 0: the file ended, or status is -1 */
    int status;            /* -1: the next line cannot be read */
    struct text_error err; /* why status is -1 */
    bool sealed;           /* lines need digests */
    bool steps;            /* cells keep only their steps: record_cell_keep_steps */
    size_t number;         /* number of the last line */
    long next;             /* offset of the line after that */
    char *text;            /* text that was read; text[at .. end-1] is not yet split into lines */
    size_t capacity, at, end;
    bool ended; /* the file has no more bytes, or a read failed */
    int reason; /* errno of the read that failed */
};

/* Takes ownership of the stream, which record_lines_close closes. */
struct record_lines *record_lines_open(FILE *stream);

/* Reads the next lines. The first line of a file comes alone. */
void record_lines_next(struct record_lines *lines);

void record_lines_close(struct record_lines *lines);

/* ---- the plan of the command ---------------------------------------------------------------- */

enum { RECORD_PLAN_MISSING, RECORD_PLAN_OK, RECORD_PLAN_NOT_OK };

struct planned_place {
    char cell_id[17]; /* id of the same cell in launch 0 */
    size_t index;
};

/* The state while a file is read. It begins with zeros. */
struct record_plan {
    struct plan_options options;
    size_t cells;                /* cells of one launch */
    struct cell_config *cell;    /* the cells of the first launch */
    struct planned_place *place; /* the same, sorted by id */
    size_t *taken;               /* for each order_index the index of the cell there, plus 1 */
    unsigned char *state;        /* for each launch and cell: RECORD_PLAN_... */
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

/* ---- the time of sessions ------------------------------------------------------------------- */

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
