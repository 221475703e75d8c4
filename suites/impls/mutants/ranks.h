/* ranks.h: models of several ranks: DistributedDataParallel. Each rank is a model in this
 * process. The ranks run one after another, and hand over buckets of gradients to be reduced.
 * The k-th buckets of all ranks are added, whatever they contain: only the order says which
 * belong together. */
#ifndef MUTANTS_RANKS_H
#define MUTANTS_RANKS_H

#include "inside.h"

enum { MOST_CALLS = 32 }; /* forwards without a backward that a rank keeps */

struct launch {
    int bucket;
    uint64_t ns;
    float *values; /* of its parameters in order, already scaled */
    size_t n;
};

struct rank {
    struct impl_model *model;
    bool active;
    /* These are by trained parameter. */
    int *open; /* layers that ran with it and whose backward has not ended */
    bool *ready;
    bool *used; /* it got a gradient since the last reduction */
    /* This is by bucket. */
    int *left; /* parameters that are not ready */
    struct launch *launch;
    int n_launches;
    bool counting; /* this backward will be reduced */
    bool torn;     /* BUG_RANK_TORN: the last one failed */
    float **last;  /* BUG_DDP_UNUSED_LAST: gradients, by trained parameter; NULL: none yet */
};

struct ranks {
    struct impl_session *session;
    struct arena scratch; /* of one backward */
    int n;
    struct rank *rank;
    int n_trained, *param, *trained; /* index of a trained one among all; the reverse, or -1 */
    int *bucket, n_buckets;          /* by trained parameter */
    int *arrived, n_arrived;
    bool find_unused, rebuilt;
    bool send;  /* buffers are sent before the next forward */
    bool train; /* the last forward's mode */
    bool joining;
    int joins;   /* BUG_DDP_JOIN_ONCE */
    int empty;   /* BUG_DDP_NO_ROWS: ranks without rows in this backward */
    int last;    /* while joining: the highest rank of the last forward */
    int missing; /* a parameter for which the last backward still waited, or -1 */
    int team[IMPL_MAX_DEVICES], n_team;
    struct {
        bool sync, active[IMPL_MAX_DEVICES];
    } call[MOST_CALLS];
    int n_calls;
    /* For bugs that keep data for later: */
    int failed; /* the rank of the last error; -1: none, or forgotten */
    bool erred;
    bool quiet; /* BUG_RANK_QUIET */
    unsigned backwards;
    float rate; /* of the first step */
    bool stepped;
};

void team_form_buckets(struct ranks *ranks);    /* when the model is opened */
void team_rebuild_buckets(struct ranks *ranks); /* after the first reduction */
/* The first is called when the backward of one rank begins; the second reduces after those of
 * all. */
void rank_begin(struct ranks *ranks, struct rank *rank, bool sync);
void team_reduce(struct ranks *ranks);

#endif
