/* report/peer.h: the comparison with PyTorch in a report. It reads a record of
 * scripts/compare-pytorch, and prints what follows from it.
 *
 * Each arm becomes a point like those of cells. Medians, intervals and ratios are computed from its
 * launches; derived numbers in the file are not believed. */
#ifndef HARNESS_REPORT_PEER_H
#define HARNESS_REPORT_PEER_H

#include "report/page.h"

enum { PEER_MAX_LAUNCHES = 1000, PEER_MAX_DEVICES = 64, PEER_MAX_ARMS = 48, PEER_MAX_CELLS = 64 };
enum { PEER_MAX_TORCHES = 7 };

/* An arm of the comparison: a program in a mode. */
enum peer_kind {
    PEER_LOCKSTEP_DP,
    PEER_LOCKSTEP_DDP,
    PEER_LOCKSTEP_DDP_NCCL,  /* on GPUs, through NCCL instead of copies between them */
    PEER_LOCKSTEP_PROCESSES, /* DDP with a process for each rank */
    PEER_LOCKSTEP_PLAIN,
    PEER_LLMC_STEP,           /* the CPU program of llm.c, with a thread for each device */
    PEER_PYTORCH_DDP,         /* with the settings of the record */
    PEER_PYTORCH_DDP_DEFAULT, /* with its default settings */
    PEER_PYTORCH_DDP_NCCL,    /* the two above on GPUs, over NCCL */
    PEER_PYTORCH_DDP_NCCL_DEFAULT,
    PEER_PYTORCH_DP, /* on GPUs */
    PEER_PYTORCH_PLAIN,
    PEER_PYTORCH_STEPS,    /* on GPUs: the plain program without its fused attention */
    PEER_PYTORCH_COMPILED, /* the plain program by torch.compile */
    PEER_PYTORCH_PRODUCTS, /* the matrix products of a step alone, on all devices at once */
    PEER_PYTORCH_MATMUL,   /* the products of one device alone; in old records, and on GPUs */
    PEER_KINDS
};

/* Groups of arms of PyTorch that do the same work. Ratios refer to the fastest arm of a group. */
enum peer_group { PEER_NO_GROUP, PEER_PARALLEL, PEER_PLAIN, PEER_PRODUCTS, PEER_ANY };

struct peer_kind_row {
    const char *program, *mode; /* as in a record */
    const char *name, *on;      /* name: the arm in words; on: its devices in words, or NULL */
    enum peer_group group;
};
extern const struct peer_kind_row peer_kinds[PEER_KINDS];

struct peer_arm {
    enum peer_kind kind;
    int devices;
    char torch[64];   /* version of PyTorch; "" for lockstep */
    char absent[208]; /* why it could not be measured; "": it could */
    /* The number of a launch is its round. It is verified if all of its steps were checked and
     * right, and if no launch of the arm left wrong numbers. */
    struct report_point *point;
    struct report_row *row;   /* arrays of point->n, owned */
    struct record_cell *cell; /* median_ns, outside_frac, status, reason and the round are set */
    size_t failed;            /* launches that are not ok */
    bool wrong;               /* one of these left wrong numbers: nothing of this arm is reported */
    const char *reason;       /* of the first launch that failed; NULL: none did */
};

struct peer_cell {
    char workload[96];
    size_t batch; /* rows of a step, on all devices together */
    struct peer_arm arm[PEER_MAX_ARMS];
    size_t n_arms;
};

/* The versions of a PyTorch and of what it came with. */
struct peer_versions {
    char python[64], torch[64], torch_blas[96], gloo[96];
};

struct peer_record {
    /* When, where and by which build it was measured; load_avg[0] is the load at the start. */
    struct record_run run;
    char seed[24];
    bool complete, tf32;
    bool oversubscribed; /* more devices than cores, so it is no evidence of scaling */
    int devices;
    size_t launches; /* planned launches of every arm */
    double seconds, load_end;
    struct peer_versions pytorch[PEER_MAX_TORCHES]; /* all were measured in the same rounds */
    size_t n_pytorch;
    char clock[64], step_time[256], warmup_rule[128], ddp[256], sgd[256], environment[256];
    struct peer_cell cell[PEER_MAX_CELLS];
    size_t n_cells;
    struct report points; /* the points of all arms; it has nothing else */
};

/* Reads a record, strictly. A field that is missing, has another type or is too long, a launch that
 * claims to be good without times or checks, and an arm that is there twice make the file
 * unreadable. NULL: err says why. */
struct peer_record *peer_record_read(const char *path, struct text_error *err);
void peer_record_free(struct peer_record *record); /* NULL allowed */

/* ---- values: report/peer_values.c --------------------------------------------------------- */

/* Finds the first arm of that kind on so many devices; NULL: the cell has none. */
const struct peer_arm *peer_find(const struct peer_cell *cell, enum peer_kind kind, int devices);
bool peer_is_lockstep(const struct peer_arm *arm);
bool peer_is_on_gpus(const struct peer_record *record);
/* The arm of a group on so many devices (plain ones have 1) with the shortest step. PEER_ANY stands
 * for all arms that compute a whole step, parallel or plain. NULL: an arm of the group has no
 * number, or there is none. */
const struct peer_arm *peer_fastest(const struct peer_cell *cell, enum peer_group group,
                                    int devices);
/* "DDP", or on GPUs "DP" or "DP or DDP": the parallel programs that the cell has. */
const char *peer_parallel_name(const struct peer_cell *cell);
/* The ratio of the steps of two arms, each of which may be NULL. It is paired by round, and a round
 * in which one of them has no number is left out. */
struct report_value peer_ratio(const struct peer_arm *above, const struct peer_arm *under);

/* A row of the table of ratios, against one arm, or against the fastest arm of a group. */
struct peer_comparison {
    char name[64];
    struct report_value value;
    /* The fastest arm, if there were several; NULL: there was no choice. */
    const struct peer_arm *fastest;
    size_t rounds, of; /* of products: the fastest in so many of so many rounds; 0: in all */
    bool drawn;        /* below 1 lockstep is faster than the other program */
    size_t style;      /* of figures: report/figure.h */
};
enum { PEER_COMPARISONS = 20 };
/* Computes the ratios that this cell can have, and returns their number. The ratio against the
 * fastest arm of all is the first. */
size_t peer_compare(const struct peer_record *record, const struct peer_cell *cell,
                    struct peer_comparison list[PEER_COMPARISONS]);

/* The number of launches of all arms that are not good; and whether every planned launch is there
 * and good. */
size_t peer_failed(const struct peer_record *record);
bool peer_is_good(const struct peer_record *record);
bool peer_same_machine(const struct peer_record *record, const struct record_run *run);

/* ---- words and tables: report/peer_page.c ------------------------------------------------- */

/* "PyTorch 2.15.0 and 1.13.0". */
const char *peer_version_words(const struct peer_record *record, char text[REPORT_CELL_TEXT]);
/* In how many settings lockstep is faster than PyTorch, and by how much, in a sentence. */
const char *peer_short_words(const struct peer_record *record, char text[REPORT_CELL_TEXT]);
/* Prints the rest of a sentence that begins with the versions of PyTorch. */
void report_peer_verdict(struct text_out *out, const struct peer_record *record);
/* Prints the section of the page around its figure. */
void report_peer_head(struct text_out *out, const struct peer_record *record);
void report_peer_tables(struct text_out *out, const struct report *report);
void report_peer_markdown(struct text_out *out, const struct report *report);

#endif
