/* plan/plan.h: the grid of a sweep: the table of its options, its cells in random order, and its
 * command as one line. */
#ifndef HARNESS_PLAN_H
#define HARNESS_PLAN_H

#include "command/command.h"
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
#define PLAN_MAX_CELLS         100000 /* in all launches together */

struct plan_options {
    char devices[64], backend[32];
    char communicator[PLAN_MAX_COMMUNICATORS][32]; /* as asked for */
    size_t n_communicators;                        /* 0: the default of the backend */
    enum dp_math math;
    struct workload workload[PLAN_MAX_WORKLOADS];
    size_t n_workloads;
    size_t count[PLAN_MAX_COUNTS]; /* device counts */
    size_t n_counts;
    size_t batch[PLAN_MAX_BATCHES]; /* rows of a batch */
    size_t n_batches;
    bool mode[CELL_MODES];           /* none is set: plain and dp */
    size_t bucket[PLAN_MAX_BUCKETS]; /* of ddp: bytes; 0: the buckets of PyTorch */
    size_t n_buckets;                /* 0: not asked for, same as {0} */
    size_t chain[PLAN_MAX_CHAINS];   /* steps that are timed together; 0: each step by itself */
    size_t n_chains;                 /* 0: not asked for, same as {0} */
    /* Devices per process; 0: one process, without a launcher. */
    size_t per_process[PLAN_MAX_PER_PROCESS];
    size_t n_per_process; /* 0: not asked for, same as {0} */
    char collective[PLAN_MAX_COLLECTIVES][32];
    size_t n_collectives; /* 0: none, or all in mode collective */
    char type[1][8];      /* type of the elements of a collective */
    size_t n_types;
    size_t size[PLAN_MAX_SIZES]; /* bytes per rank */
    size_t n_sizes;
    size_t out_of_place[2]; /* 0, 1 or both */
    size_t n_places;        /* 0: not asked for */
    size_t host_inputs[2];  /* 0, 1 or both */
    size_t n_host_inputs;   /* 0: not asked for, same as {0} */
    bool weak;              /* batches are rows per device */
    size_t launches;        /* of every cell; 0 means 1 */
    uint64_t seed;
    bool has_seed;
    bool bind;
    bool no_graphs;
    bool phases_apart;
    double parts; /* seconds per part; 0: none */
    struct cell_limits limits;
};

/* Fills in options that were not given, for a list of n_devices, and checks that the cells can be
 * run and that their records can be read. Returns 0, or -1 and why. */
int plan_defaults(struct plan_options *options, int n_devices, struct text_error *why);
/* The part of plan_defaults for collectives. A plan has either collectives or models. */
int plan_defaults_collectives(struct plan_options *options, int n_devices, struct text_error *why);
/* The memory that the batch of a language model must fit in. */
struct plan_room {
    bool cores;    /* devices are cores of the CPU: those of a process share its memory */
    double bytes;  /* NaN: not known, so everything fits */
    double unused; /* bytes planned for AdamW that another optimizer does not need */
};
/* Checks that the batch of a cell fits, by the memory that its devices are planned to hold at
 * least. Returns 0, or -1 and why not, with the largest batch that fits. Other models always return
 * 0, because nothing is known about them. plan/plan_memory.c */
int plan_check_cell(const struct cell_config *cell, const struct plan_room *room,
                    struct text_error *why);
/* The same for all cells on the machine of a run, whose devices are known. Returns 0, or -1 and
 * which one does not fit. */
int plan_check_models(const struct plan_options *options, const struct record_run *run,
                      struct text_error *why);
/* Checks that a machine with so much memory can hold each collective. Returns 0, or -1 and why not.
 */
int plan_check_memory(const struct plan_options *options, uint64_t mem_bytes,
                      struct text_error *why);

/* The number of cells. Every workload runs with every batch on every device count (in
 * mode plain once, without the wrapper) and with every value of each axis of its mode; or every
 * collective runs with every size. */
size_t plan_block(const struct plan_options *options);
/* The number of launches of all cells. */
size_t plan_cells(const struct plan_options *options);
/* Makes all launches, block after block. Every block has each cell once, in an order that follows
 * from the seed and the number of the block. The cells of a workload and batch, or of a collective
 * and size, follow each other. launch and order_index are set. communicators is a list like
 * "threads,staged": the names that the communicators of the plan have on these devices, in the same
 * order. NULL: memory is short. The caller frees the list. */
struct cell_config *plan_make(const struct plan_options *options, const char *communicators,
                              const char *run_id);
/* Writes name i of such a list; "": the list is shorter. */
void plan_communicator(const char *communicators, size_t i, char name[32]);

/* Writes the options that define the sweep, "--devices virt:2 --backend cpu ...", always in the
 * same order. Returns 0, or -1 and why if the text does not fit. */
int plan_command(const struct plan_options *options, char *text, size_t bytes,
                 struct text_error *why);
/* Reads the options of such a text, for a list of n_devices. Returns 0, or -1 and why it is wrong.
 */
int plan_read(const char *command, int n_devices, struct plan_options *options,
              struct text_error *why);
/* Returns 0 if two such texts are equal; else -1, and the first option that differs in why. */
int plan_compare(const char *here, const char *there, struct text_error *why);

/* The options of `lockstep sweep` that say what it measures. Each is a row: the option with its
 * help, its place in the command that a record file has, and the functions that read and write it.
 * An axis is an option that a cell only passes on to what it measures; it is also an option of the
 * worker process, and a part of the key of a cell. A new axis needs a row here, and a member of
 * plan_options, of cell_config and of record_key. */

/* A command that is written in a fixed array; full: something did not fit. */
struct plan_line {
    char *text;
    size_t bytes, used;
    bool full;
};

/* An axis that a cell passes on to what it measures. For an axis of numbers, 0 is the default,
 * which no id contains, so that ids from before the axis existed remain the same. Names are in ids,
 * at a separate place. */
struct plan_axis {
    size_t in_cell, in_key; /* offsets in struct cell_config and struct record_key */
    size_t bytes;           /* size of a name, in both; 0: the values are size_t */
    unsigned modes;         /* 1 << enum cell_mode for each that has it */
    const char *field;      /* name of the field of the key, in a record */
    const char *things;     /* plural, as in "buckets", for a message that other modes have none */
    const char *because;    /* reason, as in "whose gradients ...", for the modes that have it */
    bool outer; /* it replaces workload and batch: cells with one of its values follow each other */
    /* Ids and progress lines have its value without its name; reports have the name. */
    bool nameless;
};

struct plan_option {
    const char *name, *arg, *doc;
    int key; /* key of the parser, its letter */
    enum command_group group;
    bool repeats;
    bool apart; /* no field says it: runs with another value were not run alike */
    /* Checks whether a user may ask for the value. Records can have other values, which are read.
     * Returns 0, or -1 and why. NULL: every value that can be read is allowed. */
    int (*ask)(const char *value, struct text_error *why);
    int (*read)(const struct plan_option *option, const char *value, struct plan_options *plan,
                struct text_error *why);
    /* Adds the option to a command. It adds nothing if the command does not mention the option. */
    void (*write)(const struct plan_option *option, const struct plan_options *plan,
                  struct plan_line *line);
    size_t place, bytes; /* offset in struct plan_options; the size of a text */
    /* For a list of numbers, or of names of axis.bytes: the offset of their number, the capacity,
     * and the range of a number. */
    size_t n_values, room, min, max;
    /* For a choice of two: their names, the word for them; a bool is true for the second one. */
    const char *choices[2], *what;
    struct plan_axis axis; /* modes 0: the option is no axis */
};

enum { PLAN_OPTIONS = 26 };
extern const struct plan_option plan_option_table[PLAN_OPTIONS];

/* Whether the plan has values for the list of that option. */
bool plan_option_has_values(const struct plan_option *option, const struct plan_options *plan);
/* The number of values of an axis in cells of a mode, at least 1. The second function sets value
 * number i in a cell; if the plan has no values, the cell keeps its value. */
size_t plan_axis_count(const struct plan_option *option, const struct plan_options *plan,
                       enum cell_mode mode);
void plan_axis_choose(const struct plan_option *option, const struct plan_options *plan,
                      enum cell_mode mode, size_t i, struct cell_config *cell);
/* Whether it is an axis, and its values are numbers. */
bool plan_axis_has_numbers(const struct plan_axis *axis);
/* The value of an axis, which must have modes, in a cell or a key; place is its offset there. The
 * first returns it as a number, 0 for a name; the second writes it as a text. */
size_t plan_axis_number(const struct plan_axis *axis, const void *object, size_t place);
void plan_axis_text(const struct plan_axis *axis, const void *object, size_t place, char *text,
                    size_t bytes);
enum { PLAN_AXES_TEXT = 96 };
/* Writes BEFORE NAME VALUE for each axis of numbers that is not at its default, as in ", bucket
 * 4096"; for nameless axes only if all is set. */
void plan_axes_words(const struct record_key *key, const char *before, bool all,
                     char text[PLAN_AXES_TEXT]);
void plan_axis_copy(const struct plan_axis *axis, const struct cell_config *cell,
                    struct record_key *key);

/* ---- a cell as the command line of a worker process, and back: plan/plan_axis.c ----
 *
 * The same program writes and reads it, so a value that cannot be used is not the fault of a user.
 */

enum {
    CELL_FIELDS = 22, /* options that every cell has; the axes follow them */
    CELL_OPTIONS = CELL_FIELDS + PLAN_OPTIONS,
    CELL_VALUE_BYTES = sizeof((struct workload *)0)->name
};

/* The name of option i, or "" if the row is no option. The value is the placeholder in a help text;
 * NULL: the option is a flag. */
const char *cell_option_name(size_t i);
const char *cell_option_value(size_t i);

/* Whether the command line of config has option i. It also writes the value; "" for a flag. */
bool cell_option_write(size_t i, const struct cell_config *config, char value[CELL_VALUE_BYTES]);
/* Returns 0, or -1 if the value cannot be used. */
int cell_option_read(size_t i, const char *value, struct cell_config *config);

#endif
