/* ranks.h: models of several ranks: DistributedDataParallel. Each rank is a model of one process;
 * they run one after another, and hand over what they have to be reduced in buckets. The k-th that
 * each hands over are added, whatever is in them: only the order says what belongs together. */
#ifndef MUTANTS_RANKS_H
#define MUTANTS_RANKS_H

#include "later.h"

enum { MOST_CALLS = 32 }; /* forwards without a backward, as many as a rank keeps */

struct launch {
    int bucket;
    uint64_t ns;
    float *values; /* of its parameters in order, scaled */
    size_t n;
};

struct rank {
    struct impl_model *model;
    bool active;
    /* By trained parameter. */
    int *open; /* layers that ran with it and have not ended their backward */
    bool *ready;
    bool *used; /* got a gradient since the last reduction */
    /* By bucket. */
    int *left; /* parameters that are not ready */
    struct launch *launch;
    int n_launches;
    bool counting; /* this backward is reduced */
};

struct ranks {
    struct impl_session *session;
    struct arena scratch; /* of one backward */
    int n;
    struct rank *rank;
    int n_trained, *param, *trained; /* parameter of a trained one; the other way, or -1 */
    int *bucket, n_buckets;          /* by trained parameter */
    int *arrived, n_arrived;
    bool find_unused, rebuilt;
    bool send;  /* buffers, before the next forward */
    bool train; /* the last forward's mode */
    bool joining;
    int joins;   /* BUG_DDP_JOIN_ONCE */
    int empty;   /* BUG_DDP_NO_ROWS: ranks without rows in this backward */
    int last;    /* while joining: the highest rank of the last forward */
    int missing; /* a parameter that the last backward has waited for, or -1 */
    int team[IMPL_MAX_DEVICES], n_team;
    struct {
        bool sync, active[IMPL_MAX_DEVICES];
    } call[MOST_CALLS];
    int n_calls;
    /* What bugs of later.h keep. */
    int failed; /* the rank of the last error, -1: none, or forgotten */
    bool erred;
    unsigned backwards;
    float rate; /* of the first step */
    bool stepped;
};

size_t trained_count(const struct ranks *ranks, int t);
void team_form_buckets(struct ranks *ranks);    /* when they were opened */
void team_rebuild_buckets(struct ranks *ranks); /* after the first reduction */
/* ranks_later.c: what bugs keep. An error of a rank on its way out; whether a backward that should
 * be reduced is not; whether a rank is missing in a sum; the learning rate of a rank. */
int rank_failed(struct ranks *ranks, int r, struct impl_error *err);
bool rank_unsent(struct ranks *ranks);
bool rank_missing(const struct ranks *ranks, int r);
float rank_rate(struct ranks *ranks, int r, float asked);
/* A backward of one rank begins; the reduction after those of all. */
void rank_begin(struct ranks *ranks, struct rank *rank, bool sync);
void team_reduce(struct ranks *ranks);

#endif
