/* plan/plan.h: the grid of a sweep: the table of its options, its cells in random order, its
 * one-line text. */
#ifndef HARNESS_PLAN_H
#define HARNESS_PLAN_H

#include "plan/cell.h"
#include "text/text.h"

#define PLAN_MAX_WORKLOADS     16
#define PLAN_MAX_BATCHES       64
#define PLAN_MAX_COUNTS        RECORD_MAX_SLOTS
#define PLAN_MAX_BUCKETS       8
#define PLAN_MAX_CHAINS        4
#define PLAN_MAX_PER_PROCESS   4
#define PLAN_MAX_COMMUNICATORS 4
#define PLAN_MAX_COLLECTIVES   8
#define PLAN_MAX_SIZES         64
#define PLAN_MAX_SIZE          ((size_t)1 << 40)
#define PLAN_MAX_ROWS          1048576
#define PLAN_MAX_LAUNCHES      1000
#define PLAN_MAX_CELLS         100000 /* of all launches */

struct plan_options {
    char devices[64], backend[32];
    char communicator[PLAN_MAX_COMMUNICATORS][32]; /* as asked for */
    size_t n_communicators;                        /* 0: the backend's own */
    enum dp_math math;
    struct workload workload[PLAN_MAX_WORKLOADS];
    size_t n_workloads;
    size_t count[PLAN_MAX_COUNTS]; /* device counts */
    size_t n_counts;
    size_t batch[PLAN_MAX_BATCHES]; /* rows */
    size_t n_batches;
    bool mode[CELL_MODES];                    /* none: plain and dp */
    size_t bucket[PLAN_MAX_BUCKETS];          /* of ddp: bytes, 0: PyTorch's */
    size_t n_buckets;                         /* 0: not asked for, which is {0} */
    size_t chain[PLAN_MAX_CHAINS];            /* steps that are timed together, 0: each by itself */
    size_t n_chains;                          /* 0: not asked for, which is {0} */
    size_t per_process[PLAN_MAX_PER_PROCESS]; /* devices; 0: one process, without a launcher */
    size_t n_per_process;                     /* 0: not asked for, which is {0} */
    char collective[PLAN_MAX_COLLECTIVES][32];
    size_t n_collectives; /* 0: none but with that mode, which is all */
    char type[1][8];      /* of their numbers */
    size_t n_types;
    size_t size[PLAN_MAX_SIZES]; /* bytes of each rank */
    size_t n_sizes;
    size_t out_of_place[2]; /* 0, 1 or both */
    size_t n_places;        /* 0: not asked for */
    size_t host_inputs[2];  /* 0, 1 or both */
    size_t n_host_inputs;   /* 0: not asked for, which is {0} */
    bool weak;              /* batches are rows per device */
    size_t launches;        /* of every cell; 0: 1 */
    uint64_t seed;
    bool has_seed;
    bool bind;
    bool no_graphs;
    bool phases_apart;
    double parts; /* seconds; 0: none */
    struct cell_limits limits;
};

/* Fills what was not asked for, for a list of n_devices, and checks that the cells can be run and
 * their records be read again. 0, or -1 and why. */
int plan_defaults(struct plan_options *options, int n_devices, struct text_error *why);
/* The part of it that is about collectives, which a plan has by themselves. */
int plan_defaults_collectives(struct plan_options *options, int n_devices, struct text_error *why);
/* Whether processes can have what is asked for, all defaults filled in. 0, or -1 and why not. */
int plan_check_processes(const struct plan_options *options, struct text_error *why);
/* Where a batch of a language model has to fit. */
struct plan_room {
    bool cores;    /* devices are the CPU's: those of a process share its memory */
    double bytes;  /* NaN: not known, and everything fits */
    double unused; /* of what is planned for AdamW, another optimizer does not need */
};
/* Whether the cell's batch does, by what devices are planned to hold at least: 0, or -1 and why
 * not, with the largest that does. Nothing is known of other models: 0. plan/plan_memory.c */
int plan_check_cell(const struct cell_config *cell, const struct plan_room *room,
                    struct text_error *why);
/* The same of all cells and the machine of a run, whose devices are known: 0, or -1 and which does
 * not. */
int plan_check_models(const struct plan_options *options, const struct record_run *run,
                      struct text_error *why);
/* Whether a machine with so much memory has room for each collective: 0, or -1 and why it has not.
 */
int plan_check_memory(const struct plan_options *options, uint64_t mem_bytes,
                      struct text_error *why);

/* Cells of one launch: every workload with every batch, on every number of devices, in plain mode
 * once without the wrapper, and with every value of each axis that its mode has; or every
 * collective with every size. */
size_t plan_block(const struct plan_options *options);
/* Cells of all launches. */
size_t plan_cells(const struct plan_options *options);
/* All cells, block after block; every block holds each cell once, in a separate order that
 * follows from the seed and the block's number, the cells of a workload and batch, or of a
 * collective and size, side by side.
 * launch and order_index are set. communicators: "threads,staged", what those of the plan call
 * themselves on these devices, in its order. NULL: memory is short. Caller frees. */
struct cell_config *plan_make(const struct plan_options *options, const char *communicators,
                              const char *run_id);
/* Name i of such a list; "": it has fewer. */
void plan_communicator(const char *communicators, size_t i, char name[32]);

/* The options that define the sweep, "--devices virt:2 --backend cpu ...", always in the same
 * order. 0, or -1 and why when it does not fit. */
int plan_command(const struct plan_options *options, char *text, size_t bytes,
                 struct text_error *why);
/* The options of such a text, for a list of n_devices. 0, or -1 and why it is none. */
int plan_read(const char *command, int n_devices, struct plan_options *options,
              struct text_error *why);
/* 0 when two such texts are equal; else -1 and the first option that differs in why. */
int plan_compare(const char *here, const char *there, struct text_error *why);

/* The options of `lockstep sweep` that say what it measures, a row each: the option with its help,
 * its place in the command that a record file names, and how it is read back from there. An axis
 * that a cell only carries is an option of the worker process and a part of a cell's key, too: a
 * new one is a row, and a member of plan_options, of cell_config and of record_key. */

struct plan_line; /* plan_kinds.h: a command that is being written */

/* An axis that a cell carries to what it measures. Of numbers: 0 is its default, and stands in no
 * id: ids from before the axis was there stay what they were. Of names: they stand in ids, at a
 * separate place. */
struct plan_axis {
    size_t in_cell, in_key; /* offsets in struct cell_config and struct record_key */
    size_t bytes;           /* of a name, in both; 0: they are size_t */
    unsigned modes;         /* 1 << enum cell_mode for each that has it */
    const char *field;      /* of the key, in a record */
    const char *things;     /* "buckets": what other modes have none of */
    const char *because;    /* "whose gradients ...", of the modes that have it */
    bool outer;             /* it takes the place of workload and batch: cells of a value of it are
                               neighbours */
    bool nameless;          /* its value stands alone in ids and progress lines; reports know it */
};

struct plan_option {
    const char *name, *arg, *doc;
    int key; /* of the parser: its letter */
    bool repeats;
    bool apart; /* no field says it: runs with another value were not run alike */
    /* Whether a user may ask for the value; records can have others, which are read. 0, or -1 and
     * why. NULL: whatever can be read. */
    int (*ask)(const char *value, struct text_error *why);
    int (*read)(const struct plan_option *option, const char *value, struct plan_options *plan,
                struct text_error *why);
    /* Adds it to a command, or nothing where a command says nothing of it. */
    void (*write)(const struct plan_option *option, const struct plan_options *plan,
                  struct plan_line *line);
    size_t text, text_bytes; /* of a text: where it is in struct plan_options */
    /* For a list of numbers, or of names of axis.bytes: where its values and their number are in
     * struct plan_options. */
    size_t values, n_values, room, min, max;
    /* For a choice of two: the names, what they are names of, and where the bool is that says the
     * second one. */
    const char *choices[2], *what;
    size_t flag;
    struct plan_axis axis; /* modes 0: it is none */
};

enum { PLAN_OPTIONS = 26 };
extern const struct plan_option plan_option_table[PLAN_OPTIONS];

/* Whether the plan names values of that list. */
bool plan_option_has_values(const struct plan_option *option, const struct plan_options *plan);
/* How many values an axis has in cells of a mode, at least 1; number i of them to a cell, which
 * keeps what it has where the plan asks for none. */
size_t plan_axis_count(const struct plan_option *option, const struct plan_options *plan,
                       enum cell_mode mode);
void plan_axis_choose(const struct plan_option *option, const struct plan_options *plan,
                      enum cell_mode mode, size_t i, struct cell_config *cell);
/* Whether it is an axis, and of numbers. */
bool plan_axis_has_numbers(const struct plan_axis *axis);
/* The value of an axis, with modes, in a cell or a key, at the offset that is its place there: as a
 * number, 0 of names; as a text. */
size_t plan_axis_number(const struct plan_axis *axis, const void *object, size_t place);
void plan_axis_text(const struct plan_axis *axis, const void *object, size_t place, char *text,
                    size_t bytes);
/* 0, or -1 when it cannot be used. */
int plan_axis_read(const struct plan_axis *axis, const char *value, struct cell_config *cell);
enum { PLAN_AXES_TEXT = 96 };
/* BEFORE NAME VALUE of each axis of numbers that is not at its default, as in ", bucket 4096"; of
 * those that are nameless only with `all`. */
void plan_axes_words(const struct record_key *key, const char *before, bool all,
                     char text[PLAN_AXES_TEXT]);
void plan_axis_copy(const struct plan_axis *axis, const struct cell_config *cell,
                    struct record_key *key);

#endif
