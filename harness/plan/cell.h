/* plan/cell.h: one cell of the grid, as a worker process gets it. */
#ifndef HARNESS_CELL_H
#define HARNESS_CELL_H

#include "schema/structs.h"
#include "workload.h"

/* The modes that can be measured. measure/session.h has the functions that measure each. */
enum cell_mode {
    CELL_PLAIN, /* the model alone on the first device */
    CELL_DP,    /* the model in DataParallel */
    CELL_DDP,   /* a rank on every device, in DistributedDataParallel */
    /* The model alone on the first device, with the BLAS on the cores of all devices. */
    CELL_PLAIN_MT,
    CELL_COLLECTIVE, /* no model: one collective of all devices, by itself */
    CELL_MODES
};
extern const char *const cell_mode_names[CELL_MODES];

/* The most steps of a warm-up; with more a record would become too long. */
enum { CELL_WARMUP_MAX = 1000 };

/* The most steps of a chain: the result of each is kept while the cell is measured. */
enum { CELL_CHAIN_MAX = 1000 };

struct cell_limits {
    double seconds;              /* measured steps continue for so long ... */
    size_t min_steps, max_steps; /* ... but are at least and at most so many */
    /* Warm-up steps: at least so many, for at least so long, and at most CELL_WARMUP_MAX. Their
     * number is fixed before the first step is timed, so that no launch chooses by its times where
     * it begins. 0: the record is older, and its launches waited until their times were alike. */
    size_t warmup_steps;
    double warmup_seconds;
};

/* Whether the model is on the first device only. */
bool cell_is_alone(enum cell_mode mode);

enum { CELL_RULE_BYTES = 128 };
/* The rule of the warm-up, as it is in records: least steps, least seconds, most steps. */
#define CELL_WARMUP_FORMAT "at least %zu steps and %g s, at most %zu steps"
void cell_warmup_rule(const struct cell_limits *limits, char rule[CELL_RULE_BYTES]);

struct cell_config {
    struct workload workload;
    char devices[64]; /* "virt:2" */
    int n_devices;
    enum cell_mode mode;
    size_t bucket_bytes;          /* of ddp; 0: the buckets of PyTorch */
    size_t chain;                 /* steps that are timed together; 0: each step by itself */
    char collective[32], type[8]; /* of a collective, which has no workload and no rows */
    size_t size_bytes;            /* bytes of memory of each rank: the larger of input and output */
    size_t per_process;           /* devices per process; 0: one process has all of them */
    size_t out_of_place;          /* of a collective: 1: out of place, 0: in place */
    size_t host_inputs;           /* of a model: 1: each step copies its batch from the host */
    int launch; /* number among the launches of the cell, which is that of its block */
    char backend[32], communicator[32];
    enum dp_math math;
    size_t rows; /* rows of the batch, on all devices together */
    uint64_t seed;
    bool bind;
    bool no_graphs;    /* on GPUs, every operation is launched by itself */
    bool phases_apart; /* each sample has a separate step for its phases; always so on GPUs */
    bool trace;        /* runs some more steps, for a trace */
    double parts;      /* seconds for each part of the machine, measured after the steps; 0: none */
    double timeout;    /* seconds after which one of several processes ends itself; 0: never */
    struct cell_limits limits;
    size_t order_index;
    char run_id[17];
};

/* The number of processes that a launcher starts for the cell; 0: it runs in one process, without a
 * launcher. */
int cell_processes(const struct cell_config *config);

/* The number of devices that share the batch: 1, or all devices of the cell. */
int cell_replicas(const struct cell_config *config);

/* The limits, with steps counted in samples. A sample may be a chain; then there are as many
 * samples as have so many steps, and at least one for each data set. */
struct cell_limits cell_samples(const struct cell_config *config);

#endif
