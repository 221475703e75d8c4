/* train/session.h: the state of a run of `lockstep train`. */
#ifndef HARNESS_TRAIN_SESSION_H
#define HARNESS_TRAIN_SESSION_H

#include "record/files.h"
#include "train/train.h"

struct train_session {
    const char *command;
    struct train_options options;
    struct train_model model;
    struct dataset data;
    struct dp_group *group, *other_group;
    struct train_world *world; /* --launcher: it runs the steps */
    struct train_side side, other;
    struct train_against against;
    bool compares, opened, writes; /* --against, --out: its file is open, and takes lines */
    int lost;                      /* exit status for what could not be written */
    size_t asked;                  /* --batch before it was rounded up for ranks */
    struct output output;
    struct train_epoch *epoch; /* of all seeds, n_epochs so far */
    size_t n_epochs;
    double result[TRAIN_SEEDS]; /* accuracies; for a text test losses */
};

/* Opens model, data, devices, processes and the record, for options that were parsed, and checks
 * for errors that would otherwise be found only after a training. Returns 0, or an exit status
 * after one line. Close it in any case. */
int train_session_open(struct train_session *session);
void train_session_close(struct train_session *session);

/* The number of ranks in all processes. */
size_t train_session_ranks(const struct train_session *session);
/* Writes one line of the record, and frees it; the last one closes the record. A training goes on
 * if a line cannot be written, so that it is not lost. */
void train_session_append(struct train_session *session, char *line, bool last);

#endif
