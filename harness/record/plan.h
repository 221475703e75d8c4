/* record/plan.h: the grid of a sweep: its options, its cells in random order, its one-line text. */
#ifndef HARNESS_PLAN_H
#define HARNESS_PLAN_H

#include "record/cell.h"
#include "text/text.h"

#define PLAN_MAX_WORKLOADS 16
#define PLAN_MAX_BATCHES   64
#define PLAN_MAX_COUNTS    RECORD_MAX_SLOTS
#define PLAN_MAX_BUCKETS   8
#define PLAN_MAX_BUCKET    ((size_t)1 << 30)
#define PLAN_MAX_ROWS      1048576
#define PLAN_MAX_LAUNCHES  1000
#define PLAN_MAX_CELLS     100000 /* of all launches */

struct plan_options {
    char devices[64], backend[32];
    enum dp_math math;
    struct workload workload[PLAN_MAX_WORKLOADS];
    size_t n_workloads;
    size_t count[PLAN_MAX_COUNTS]; /* device counts */
    size_t n_counts;
    size_t batch[PLAN_MAX_BATCHES]; /* rows */
    size_t n_batches;
    bool mode[CELL_MODES];           /* none: plain and dp */
    size_t bucket[PLAN_MAX_BUCKETS]; /* of ddp: bytes, 0: PyTorch's */
    size_t n_buckets;                /* 0: not asked for, which is {0} */
    bool weak;                       /* batches are rows per device */
    size_t launches;                 /* of every cell; 0: 1 */
    uint64_t seed;
    bool has_seed;
    bool bind;
    bool no_graphs;
    struct cell_limits limits;
};

/* Fills what was not asked for, for a list of n_devices, and checks that the cells can be run and
 * their records be read again. 0, or -1 and why. */
int plan_defaults(struct plan_options *options, int n_devices, struct text_error *why);

/* Of one launch: every workload with every batch, on every number of devices, in ddp mode with
 * every bucket, and in plain mode once without the wrapper. */
size_t plan_block(const struct plan_options *options);
/* Of all launches. */
size_t plan_cells(const struct plan_options *options);
/* All cells, block after block; every block holds each cell once, in an order of its own that
 * follows from the seed and the block's number. launch and order_index are set. NULL: memory is
 * short. Caller frees. */
struct cell_config *plan_make(const struct plan_options *options, const char *communicator,
                              const char *run_id);

/* The options that define the sweep, "--devices virt:2 --backend cpu ...", always in the same
 * order. 0, or -1 and why when it does not fit. */
int plan_command(const struct plan_options *options, char *text, size_t bytes,
                 struct text_error *why);
/* The options of such a text, for a list of n_devices. 0, or -1 and why it is none. */
int plan_read(const char *command, int n_devices, struct plan_options *options,
              struct text_error *why);
/* 0 when two such texts are equal; else -1 and the first option that differs in why. */
int plan_compare(const char *here, const char *there, struct text_error *why);

#endif
