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
    OPEN_HOST_DEVICES, /* returns devices in a session without any */
    /* scatter */
    SCATTER_CRASHES,
    SCATTER_ABORTS,
    SCATTER_EXITS,
    SCATTER_RECURSES,
    SCATTER_STOPS,  /* stops itself by a signal */
    SCATTER_BEHIND, /* writes one byte after the end of an output */
    SCATTER_BEFORE,
    SCATTER_INPUT, /* writes into its input */
    SCATTER_NAN,
    SCATTER_DEVICE,   /* right values, on the wrong device */
    SCATTER_UNFILLED, /* returns success without doing anything */
    SCATTER_NO_COUNT, /* fills the shards and not their number */
    SCATTER_NDIM,
    SCATTER_DTYPE,
    SCATTER_DIM,
    SCATTER_STATUS,     /* a status that does not exist */
    SCATTER_NO_REASON,  /* returns an error without a text */
    SCATTER_LIES,       /* returns success, and an error */
    SCATTER_RAW_REASON, /* returns an error text without an end, made of control characters */
    SCATTER_NOISE,
    SCATTER_FORKS,  /* leaves a child that goes on */
    SCATTER_CLOSES, /* closes all files that it can find */
    SCATTER_FORGES, /* writes into all files that it can find */
    SCATTER_BROKEN,
    NEVER_REFUSES, /* every error of a primitive becomes a success */
    /* walls (hostile_walls.c): changes that scatter leaves, or memory that it reaches for */
    WALL_ROUNDS,        /* rounds upward from now on */
    WALL_ROUNDS_BACK,   /* rounds upward and back again, which is allowed */
    WALL_FLUSHES,       /* denormal results are 0 from now on */
    WALL_TRAPS,         /* a division by zero raises a signal from now on */
    WALL_LOCALE,        /* sets the locale of the environment */
    WALL_LOCALE_INSIDE, /* sets it and sets it back again */
    WALL_SIGNALS,       /* blocks SIGINT */
    WALL_BEHIND,        /* adds 1 to the byte after its input */
    WALL_BEFORE,        /* adds 1 to the byte before it */
    WALL_READS_FAR,     /* reads a page after it */
    WALL_FORGES,        /* searches for the token of results, and writes a pass */
    WALL_STAYS,         /* leaves a process in a new session */
    NO_RANKS,           /* has no device, and so no rank but one */
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

enum habit habit_of(const char *word); /* HABITS: there is no such habit */

/* hostile_walls.c */
void act_on_walls(enum habit habit, const struct impl_scatter *op);
int act_refuse_all(struct impl_error *err);

/* hostile_acts.c: acts that replace a good operation, or follow it. */
void act_crash(void);
void act_noise(void);
void act_fork(void);
void act_before_scatter(enum habit habit, struct impl_scatter *op);
int act_after_scatter(enum habit habit, struct impl_scatter *op, int status,
                      struct impl_error *err);
_Noreturn void act_hang(void);
void act_nan(struct impl_array *array);

#endif
