/* report/peer.h: a comparison with PyTorch in the report: a record of scripts/compare-pytorch, read
 * back, and what is said of it.
 *
 * Medians, intervals and ratios are made here from the launches; nothing derived is believed. */
#ifndef HARNESS_REPORT_PEER_H
#define HARNESS_REPORT_PEER_H

#include "report/page.h"

enum { PEER_MAX_LAUNCHES = 1000, PEER_MAX_DEVICES = 64, PEER_MAX_ARMS = 48, PEER_MAX_CELLS = 64 };
enum { PEER_MAX_BESIDE = 6 };

/* What is measured: a program in a mode. */
enum peer_kind {
    PEER_LOCKSTEP_DP,
    PEER_LOCKSTEP_DDP,
    PEER_LOCKSTEP_DDP_NCCL,  /* on GPUs, by NCCL in place of copies between them */
    PEER_LOCKSTEP_PROCESSES, /* DDP, a process for each rank */
    PEER_LOCKSTEP_PLAIN,
    PEER_LLMC_STEP,           /* the CPU program of llm.c, with a thread for each device */
    PEER_PYTORCH_DDP,         /* with the settings of the record */
    PEER_PYTORCH_DDP_DEFAULT, /* with none */
    PEER_PYTORCH_DDP_NCCL,    /* the same two on GPUs */
    PEER_PYTORCH_DDP_NCCL_DEFAULT,
    PEER_PYTORCH_DP, /* on GPUs */
    PEER_PYTORCH_PLAIN,
    PEER_PYTORCH_STEPS,    /* on GPUs, the plain program without its fused attention */
    PEER_PYTORCH_COMPILED, /* the plain program by torch.compile */
    PEER_PYTORCH_PRODUCTS, /* the matrix products of a step alone, on all devices at once */
    PEER_PYTORCH_MATMUL,   /* in old records and on GPUs: those of one device alone */
    PEER_KINDS
};

/* Arms of PyTorch that do the same work: ratios are to the fastest of them. */
enum peer_group { PEER_NO_GROUP, PEER_PARALLEL, PEER_PLAIN, PEER_PRODUCTS, PEER_ANY };

struct peer_kind_row {
    const char *program, *mode; /* in a record */
    const char *name, *on;      /* in words: what it is, and what it is on; NULL: rows */
    enum peer_group group;
};
extern const struct peer_kind_row peer_kinds[PEER_KINDS];

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
    char torch[64];             /* the version of PyTorch; "" of lockstep */
    char absent[208];           /* why it could not be measured; "": it could */
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

/* A PyTorch and what it came with. */
struct peer_versions {
    char python[64], torch[64], torch_blas[96], gloo[96];
};

struct peer_record {
    char created_utc[32], git_sha[48], seed[24];
    bool git_dirty, interrupted, complete;
    bool oversubscribed; /* more devices than cores: no evidence of scaling */
    int devices;
    char math[8];    /* of matrix products, "f32" in old records */
    size_t launches; /* planned, of every arm */
    double seconds, load_start, load_end;
    char machine_class[65], machine_instance[65]; /* "" in old records */
    char node_hash[17], cpu_model[128], kernel[128], governor[32];
    size_t packages, cores, pus, usable_pus;
    char lockstep[32], lockstep_blas[160], build_type[32];
    struct peer_versions pytorch, beside[PEER_MAX_BESIDE]; /* the others of the same rounds */
    size_t n_beside;
    char clock[64], step_time[256], warmup_rule[128], ddp[256], sgd[256], environment[256];
    struct peer_cell cell[PEER_MAX_CELLS];
    size_t n_cells;
};

/* Strict: a field that is missing, of another type or too long, a launch that claims to be good
 * without times or checks, or one arm twice, makes the file unreadable. NULL: err says why. */
struct peer_record *peer_record_read(const char *path, struct text_error *err);
void peer_record_free(struct peer_record *record); /* NULL allowed */

/* ---- values: report/peer_values.c --------------------------------------------------------- */

/* The first of that kind; NULL: not in the cell. */
const struct peer_arm *peer_find(const struct peer_cell *cell, enum peer_kind kind, int devices);
bool peer_is_lockstep(const struct peer_arm *arm);
bool peer_is_on_gpus(const struct peer_record *record);
bool peer_is_tf32(const struct peer_record *record);
/* The arm of a group on so many devices (plain ones have 1) whose step is shortest. PEER_ANY: that
 * makes a whole step, parallel or plain. NULL: one of them has no number, or there is none. */
const struct peer_arm *peer_fastest(const struct peer_cell *cell, enum peer_group group,
                                    int devices);
/* How many arms it is the fastest of. */
size_t peer_choice(const struct peer_cell *cell, enum peer_group group, int devices);
/* "DDP" or, on GPUs, "DP", or "DP or DDP": which there are. */
const char *peer_parallel_name(const struct peer_cell *cell);
/* Over the launches that were good; nothing of an arm that was wrong. */
struct report_value peer_step(const struct peer_arm *arm);
struct report_value peer_outside(const struct peer_arm *arm);
/* Of two arms, of which either may be NULL: paired by round; a round in which one of them has no
 * number is left out. */
struct report_value peer_ratio(const struct peer_arm *above, const struct peer_arm *under);

/* A line of the table of ratios, against one arm, or the fastest of a group. */
struct peer_comparison {
    char name[64];
    struct report_value value;
    const struct peer_arm *fastest; /* which one that is, of several; NULL: there was no choice */
    size_t rounds, of;              /* of products: in so many of so many rounds; 0: in all */
    bool drawn;                     /* below 1 lockstep is faster than the other program */
};
enum { PEER_COMPARISONS = 20 };
/* Those that this cell can have, the one against the fastest of all first; their number. */
size_t peer_compare(const struct peer_record *record, const struct peer_cell *cell,
                    struct peer_comparison list[PEER_COMPARISONS]);

/* Launches that are not good, of all arms; and whether every planned one is there and good. */
size_t peer_failed(const struct peer_record *record);
bool peer_is_good(const struct peer_record *record);
bool peer_same_machine(const struct peer_record *record, const struct record_run *run);

/* ---- words and tables: report/peer_page.c ------------------------------------------------- */

/* "PyTorch 2.15.0 and 1.13.0". */
void peer_version_names(const struct peer_record *record, char text[REPORT_CELL_TEXT]);
/* One sentence, after "Beside PyTorch 2.15, "; and what stands under the figure. */
void report_peer_verdict(struct text_out *out, const struct peer_record *record);
void report_peer_caption(struct text_out *out, const struct peer_record *record);
/* The section of the page, around its figure; tables: 0, or -1 when memory was short. */
void report_peer_head(struct text_out *out, const struct peer_record *record);
int report_peer_tables(struct text_out *out, const struct peer_record *record);
int report_peer_markdown(struct text_out *out, const struct peer_record *record);
/* A page and a summary of nothing else. report has the record and no files. */
int report_peer_page(const char *directory, const struct report *report,
                     const struct report_figures *figures, struct text_error *err);

#endif
