/* hostile.h: a good implementation (the mutant without a bug) with one bad habit, which
 * impl_config.options names. */
#ifndef HOSTILE_HOSTILE_H
#define HOSTILE_HOSTILE_H

#include "impl.h"

enum habit {
    HABIT_NONE, /* "none": it is good */
    /* open */
    OPEN_CRASHES,
    OPEN_EXITS,
    OPEN_FORGETS, /* returns 0 without a session */
    OPEN_NO_NAME,
    OPEN_MANY_DEVICES,
    OPEN_NEGATIVE_DEVICES,
    OPEN_RUBBISH_DIALECT,
    OPEN_SHRINKS,      /* has eight devices when it is opened first, then one */
    OPEN_NOISE,        /* megabytes on standard output and error, then all is well */
    OPEN_HOST_DEVICES, /* has devices in a session without */
    /* scatter */
    SCATTER_CRASHES,
    SCATTER_ABORTS,
    SCATTER_EXITS,
    SCATTER_RECURSES,
    SCATTER_STOPS,  /* itself, by a signal */
    SCATTER_BEHIND, /* writes one byte behind an output's room */
    SCATTER_BEFORE,
    SCATTER_INPUT, /* writes into its input */
    SCATTER_NAN,
    SCATTER_DEVICE,   /* right values, on the wrong device */
    SCATTER_UNFILLED, /* says that all is well and did nothing */
    SCATTER_NO_COUNT, /* fills the shards and not their number */
    SCATTER_NDIM,
    SCATTER_DTYPE,
    SCATTER_DIM,
    SCATTER_STATUS,     /* a status that does not exist */
    SCATTER_NO_REASON,  /* an error without a text */
    SCATTER_LIES,       /* success, and an error */
    SCATTER_RAW_REASON, /* an error text without an end, of control characters */
    SCATTER_NOISE,
    SCATTER_FORKS,  /* somebody stays behind */
    SCATTER_CLOSES, /* all files it can find */
    SCATTER_FORGES, /* writes into all files it can find */
    SCATTER_BROKEN,
    NEVER_REFUSES, /* every error of a primitive is a success */
    /* walls (hostile_walls.c): what scatter leaves behind, or reaches for */
    WALL_ROUNDS,        /* rounds upward from now on */
    WALL_ROUNDS_BACK,   /* rounds upward and back again: that is its own business */
    WALL_FLUSHES,       /* denormal results are 0 from now on */
    WALL_TRAPS,         /* a division by zero raises a signal from now on */
    WALL_LOCALE,        /* that of the environment */
    WALL_LOCALE_INSIDE, /* the same, and back again */
    WALL_SIGNALS,       /* SIGINT is blocked */
    WALL_BEHIND,        /* adds 1 to the byte behind its input */
    WALL_BEFORE,        /* to the byte before it */
    WALL_READS_FAR,     /* reads a page behind it */
    WALL_FORGES,        /* looks for the token of results, and writes a pass */
    WALL_STAYS,         /* somebody stays, in a session of its own */
    NO_RANKS,           /* there is no device, and so no rank but one */
    REFUSES_ALL,
    /* models */
    FORWARD_HANGS,
    FORWARD_LEAKS, /* keeps a batch of each step */
    BACKWARD_CRASHES,
    GET_NAN,
    CLOSE_CRASHES,
    RESET_FAILS,
    HABITS
};

struct impl_session {
    enum habit habit;
    const struct impl_ops *good;
    struct impl_session *inner;
    struct hoard *hoard; /* FORWARD_LEAKS */
};

struct hoard {
    struct hoard *next;
    unsigned char bytes[1 << 16];
};

struct impl_model {
    struct impl_session *session;
    struct impl_model *inner;
};

enum habit habit_of(const char *word); /* HABITS: no such */

/* hostile_walls.c */
void act_on_walls(enum habit habit, const struct impl_scatter *op);
int act_refuse_all(struct impl_error *err);

/* hostile_acts.c: what is done in place of, or after, a good operation. */
void act_crash(void);
void act_noise(void);
void act_fork(void);
void act_before_scatter(enum habit habit, struct impl_scatter *op);
int act_after_scatter(enum habit habit, struct impl_scatter *op, int status,
                      struct impl_error *err);
_Noreturn void act_hang(void);
void act_nan(struct impl_array *array);

#endif
