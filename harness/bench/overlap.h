/* bench/overlap.h: what the files of the benchmark overlap share. Its rounds are made by the ranks
 * of this process, or by processes that a launcher has started. */
#ifndef HARNESS_BENCH_OVERLAP_H
#define HARNESS_BENCH_OVERLAP_H

#include "bench/bench.h"
#include "measure/session.h"
#include "numbers/stats.h"
#include "plan/cell.h"

enum { OVERLAP_LAYERS = WORKLOAD_MAX_SIZES - 1 };
enum { OVERLAP_COMPUTE, OVERLAP_COMM, OVERLAP_WHOLE, OVERLAP_HIDDEN, OVERLAP_KINDS };

/* The model of so many bytes, and of each of its layers, which is a bucket. 0; DP_EINVAL they are
 * too few. */
int overlap_model(size_t bytes, struct workload *workload, size_t *bucket_bytes,
                  struct dp_error *err);

/* ---- a round -------------------------------------------------------------------------------- */

/* A step without its reduction, the reduction alone, and the whole step; numbers of gradients that
 * were compared. */
struct overlap_round {
    struct session_apart times;
    size_t compared;
};
/* The comparison of steps of so many rows before the first round. */
struct overlap_first {
    size_t compared;
    struct text_error unverified; /* why not with the reference; "" */
};

/* The ranks of this process. Zeroed at first. */
struct overlap_ranks {
    struct dp_group *group;
    struct cell_config config;
    struct session session;
    struct session_verified first[WORKLOAD_SETS]; /* what the first step of each set left */
};
/* With so many rows per rank, in place of those it had: a step of each set, verified. Errors
 * DP_EFAULT it is wrong, or another one on another rank; DP_EINVAL nothing can overlap. */
int overlap_ranks_open(struct overlap_ranks *ranks, struct dp_group *group, size_t bytes,
                       size_t rows, struct overlap_first *first, struct dp_error *err);
/* DP_EFAULT: not what the first step of this round's set left. */
int overlap_ranks_round(struct overlap_ranks *ranks, size_t number, struct overlap_round *round,
                        struct dp_error *err);
void overlap_ranks_close(struct overlap_ranks *ranks);

/* ---- who makes the rounds ------------------------------------------------------------------- */

struct overlap_maker {
    void *self;
    /* As overlap_ranks_open and overlap_ranks_round. */
    int (*open)(void *self, size_t rows, struct overlap_first *first, struct dp_error *err);
    int (*round)(void *self, size_t number, struct overlap_round *round, struct dp_error *err);
    int processes, hosts, each; /* ranks of each process */
    bool oversubscribed;
};

/* A measurement and its result. */
struct overlap {
    const struct bench_options *options;
    const struct overlap_maker *maker;
    struct workload workload;
    size_t bucket_bytes, rows, compared;
    struct overlap_first first;
    double *sample[OVERLAP_KINDS], *scratch; /* [rounds] */
    struct stats_summary summary[OVERLAP_KINDS];
};

/* The whole benchmark. An exit status. */
int overlap_run(const char *command, const struct bench_options *options,
                const struct overlap_maker *maker);

/* ---- in processes: bench/world.c, bench/bencher.c ------------------------------------------- */

/* A launcher starts them. Each (`lockstep bencher`) has some of the ranks, and makes the rounds
 * that it is asked for. own: the list of the devices of each. An exit status. */
int overlap_launched(const char *command, const struct bench_options *options, const char *own);

#endif
