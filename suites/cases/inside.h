/* inside.h: the state of a running case, for the files of check.h only. */
#ifndef CASES_INSIDE_H
#define CASES_INSIDE_H

#include "check.h"

#include "impls/wall/around.h"
#include "impls/wall/wall.h"

struct memory; /* one allocation, in a list */
struct guard;  /* an array of the case that the implementation must not damage */

/* The ways in which a case ends before its last line. */
enum leave {
    LEAVE_JUDGED = 1, /* the outcome has the verdict */
    LEAVE_ENOUGH      /* it passes with the comparisons it has made */
};

/* An operation that was called, and whether it was accepted. */
enum { MOST_ASKED = 24 };
struct asked {
    const char *what;
    bool accepted, refused;
};

/* Numbers that a case expected of something earlier, for hints. */
enum { KEPT = 48, KEPT_NUMBERS = 16 };
struct kept {
    uint64_t what; /* a hash of its name */
    size_t n;
    double want[KEPT_NUMBERS];
};

/* A value or gradient that was read from a rank. */
struct reading {
    struct impl_model *model;
    enum impl_what what;
    int rank, i;
    const struct impl_array *array;
};

enum { CALLS_SHOWN = 8 };

struct check {
    const struct check_case *test;
    const struct check_settings *settings;
    struct check_session *session;  /* the session that calls go to */
    struct check_session *own;      /* the session of the case */
    struct check_session host_only; /* ops NULL: not opened */
    struct check_session second;    /* NULL ops: not opened */
    struct impl_error error;        /* of the last call */
    struct impl_param param;        /* of the last get */
    struct reading reading;         /* by the last get */
    bool got;                       /* the last call was that */
    const struct impl_model *local; /* its last forward was in no_sync; NULL: of none */
    struct memory *memory;
    struct arena *arena; /* of the arrays */
    struct guard *guards;
    struct around around; /* of the current call, in this process */
    int guarded;          /* arrays of the current call, if there are many */
    struct open_model *models;
    char note[160];
    bool refused;         /* since that note something was refused, as it must be */
    const char *scenario; /* of the model of the last call: scenario.c; NULL: none was opened */
    char inputs[120];     /* of its last forward */
    const char *calls[CALLS_SHOWN]; /* of this model, the last ones: number n at n % CALLS_SHOWN */
    size_t n_calls;
    int parts; /* devices or ranks of the turn, or of the model that was opened last; 0: not known
                */
    bool of_ranks;
    struct asked asked[MOST_ASKED];
    struct check_outcome *outcome;
    struct kept kept[KEPT];
    size_t n_kept;      /* all of them, also those that were overwritten */
    bool ranked;        /* it has opened a model of several ranks */
    size_t before_them; /* comparisons before that */
    jmp_buf leave;
};

struct open_model {
    struct impl_model *model;
    const struct impl_ops *ops;
    int ranks;
    const char *scenario;
    struct open_model *next;
};

/* guard.c */
struct impl_array *guard_input(struct check *c, const struct impl_array *like);
void guard_before(struct check *c);                     /* before a call: remembers all inputs */
void guard_after(struct check *c, const char *what);    /* after it: checks inputs and canaries */
void guard_poison(struct impl_array *arrays, size_t n); /* outputs, before a call */
void guard_end(struct check *c);                        /* after the case: checks all canaries */
/* Writes which array is near an address that must not be touched; "": none. */
void guard_touched(const struct check *c, const void *address, char *text, size_t bytes);
/* Returns the bytes from pointer to the end of the allocation of the case that it points into;
 * SIZE_MAX: it points into no recent one. */
size_t guard_room(const struct check *c, const void *pointer);
/* Checks an output after a successful call: a legal type, and a shape within its capacity. */
void guard_output(struct check *c, const char *what, const struct impl_array *array);
void check_free_memory(struct check *c);

/* operations.c: these are called around every call. */
void call_begin(struct check *c, const char *what);
int call_end(struct check *c, const char *what, int status);
_Noreturn void call_failed(struct check *c, const char *what, int status);

/* hint.c: keeps what is right, and writes the hint of the outcome where the numbers that differ
 * tell anything. */
void hint_values(struct check *c, const char *what, const struct impl_array *got, size_t n,
                 const double want[], size_t different);

/* Writes the hint of a failure that a layer has if it looks for no unused parameters, in a model
 * where it must. */
void hint_search(struct check *c);

/* scenario.c: keep the model that is opened, the inputs of a forward, and what is called; write all
 * in words. */
void scenario_model(struct check *c, const char *description, int ranks);
void scenario_forward(struct check *c, const struct impl_model *model,
                      const struct impl_forward *op);
void scenario_call(struct check *c, const char *what);
void scenario_write(const struct check *c, char *text, size_t bytes);

/* array.c: a number of this type, and its bits: "2 (0x40000000)" */
const char *check_number(struct check *c, enum impl_dtype dtype, double value, uint64_t bits);
/* expect.c: "[2, 3]" */
void check_shape_text(const struct impl_array *array, char text[120]);

/* device_counts.c: calls the functions of the case. */
void check_turns(struct check *c);

/* model.c */
void check_close_models(struct check *c);

/* run.c: these are called around every call into the implementation, wherever it runs. *words: the
 * state that it left changed, which was restored; "": none. */
void state_before(const struct check_settings *settings, struct around *around);
void state_after(const struct check_settings *settings, const struct around *around,
                 char words[AROUND_WORDS]);
/* Returns why a session can make no further call, NULL: it can; and whether the implementation is
 * to blame. */
const char *state_dead(const struct check_settings *settings, struct impl_session *session);
bool state_fell(const struct check_settings *settings, struct impl_session *session);

#endif
