/* train/session.h: what a run of `lockstep train` has open. */
#ifndef HARNESS_TRAIN_SESSION_H
#define HARNESS_TRAIN_SESSION_H

#include "record/output.h"
#include "train/train.h"

struct train_session {
    const char *command;
    struct train_options options;
    struct train_model model;
    struct dataset data;
    struct dp_group *group, *other_group;
    struct train_world *world; /* --launcher: it makes the steps */
    struct train_side side, other;
    struct train_against against;
    bool compares, opened, writes; /* --against, --out: its file is open, and takes lines */
    int lost;                      /* exit status for what could not be written */
    size_t asked;                  /* --batch before it was filled up for ranks */
    struct output output;
    struct train_epoch *epoch; /* of all seeds, n_epochs so far */
    size_t n_epochs;
    double result[TRAIN_SEEDS]; /* accuracies; of a text test losses */
};

/* Model, data, devices, processes and the record, of options that were parsed, and what would be
 * found out only after a training. 0, or an exit status after one line. Closed in any case. */
int train_session_open(struct train_session *session);
void train_session_close(struct train_session *session);

/* Of ranks, in whatever processes. */
size_t train_session_ranks(const struct train_session *session);
/* One line of the record, which it frees; the last one closes it. What cannot be written is no
 * reason to lose a training: it goes on without. */
void train_session_append(struct train_session *session, char *line, bool last);

#endif
