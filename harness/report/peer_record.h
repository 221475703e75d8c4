/* report/peer_record.h: a record of scripts/compare-pytorch, read back for the report.
 *
 * Medians, intervals and ratios are made here from the launches; nothing derived is believed. */
#ifndef HARNESS_PEER_RECORD_H
#define HARNESS_PEER_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"
#include "report/report.h"

enum { PEER_MAX_LAUNCHES = 1000, PEER_MAX_DEVICES = 64, PEER_MAX_ARMS = 16, PEER_MAX_CELLS = 64 };

/* What is measured: a program in a mode. */
enum peer_kind {
    PEER_LOCKSTEP_DP,
    PEER_LOCKSTEP_DDP,
    PEER_LOCKSTEP_PROCESSES, /* DDP, a process for each rank */
    PEER_LOCKSTEP_PLAIN,
    PEER_PYTORCH_DDP,
    PEER_PYTORCH_DP, /* on GPUs, in place of DDP */
    PEER_PYTORCH_PLAIN,
    PEER_PYTORCH_MATMUL, /* the matrix products of a step alone, one thread */
    PEER_KINDS
};

/* One launch. Only a launch whose steps were all checked and right has times. */
struct peer_launch {
    size_t round;
    bool ok;
    double step_ns; /* median of its steps */
    double outside; /* part of a step outside matrix products, NaN: unknown */
};

struct peer_arm {
    enum peer_kind kind;
    int devices;
    struct peer_launch *launch; /* [n] */
    size_t n, failed;
    bool wrong;       /* a launch left wrong numbers: nothing of this arm is reported */
    char reason[208]; /* of the first launch that failed */
};

struct peer_cell {
    char workload[96];
    size_t batch; /* rows of a step, over all devices */
    struct peer_arm arm[PEER_MAX_ARMS];
    size_t n_arms;
};

struct peer_record {
    char created_utc[32], git_sha[48], seed[24];
    bool git_dirty, interrupted, complete;
    bool oversubscribed; /* more devices than cores: no evidence of scaling */
    int devices;
    size_t launches; /* planned, of every arm */
    double seconds, load_start, load_end;
    char machine_class[65], machine_instance[65]; /* "" in old records */
    char node_hash[17], cpu_model[128], kernel[128], governor[32];
    size_t packages, cores, pus, usable_pus;
    char lockstep[32], lockstep_blas[160], python[64], torch[64], torch_blas[96], gloo[96];
    char build_type[32];
    char clock[64], step_time[256], warmup_rule[128], ddp[256], sgd[256], environment[256];
    struct peer_cell cell[PEER_MAX_CELLS];
    size_t n_cells;
};

/* Strict: a field that is missing, of another type or too long, a launch that claims to be good
 * without times or checks, or one arm twice, makes the file unreadable. NULL: err says why. */
struct peer_record *peer_record_read(const char *path, struct text_error *err);
void peer_record_free(struct peer_record *record); /* NULL allowed */

/* ---- values ------------------------------------------------------------------------------- */

/* NULL: not in the cell. */
const struct peer_arm *peer_find(const struct peer_cell *cell, enum peer_kind kind, int devices);
/* PyTorch's parallel program on so many devices; NULL: not in the cell. */
const struct peer_arm *peer_parallel(const struct peer_cell *cell, int devices);
/* That or the plain program, whose step is shorter; NULL: one of them has no number. */
const struct peer_arm *peer_faster(const struct peer_cell *cell, int devices);
/* "DDP" or, on GPUs, "DP". */
const char *peer_parallel_name(const struct peer_cell *cell);
/* Over the launches that were good; nothing of an arm that was wrong. */
struct report_value peer_step(const struct peer_arm *arm);
struct report_value peer_outside(const struct peer_arm *arm);
/* Paired by round. Either may be NULL: then there is nothing. */
struct report_value peer_ratio(const struct peer_arm *above, const struct peer_arm *under);

/* A line of the table of ratios; speedup: more is better. */
struct peer_comparison {
    char name[64];
    struct report_value value;
    bool speedup;
};
enum { PEER_COMPARISONS = 10 };
/* Those that make sense for so many devices; their number. */
size_t peer_compare(const struct peer_record *record, const struct peer_cell *cell,
                    struct peer_comparison list[PEER_COMPARISONS]);
/* "lockstep DataParallel, 2 devices". */
void peer_arm_words(const struct peer_arm *arm, const struct peer_cell *cell, char text[96]);
/* Launches that are not good, of all arms; and whether every planned one is there and good. */
size_t peer_failed(const struct peer_record *record);
bool peer_is_good(const struct peer_record *record);
bool peer_same_machine(const struct peer_record *record, const struct record_run *run);

#endif
