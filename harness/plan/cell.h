/* plan/cell.h: one point of the grid as the worker process gets it. */
#ifndef HARNESS_CELL_H
#define HARNESS_CELL_H

#include "schema/structs.h"
#include "workload.h"

/* The things that can be measured; how each is done: measure/measurable.h. */
enum cell_mode {
    CELL_PLAIN,      /* the model alone on the first device */
    CELL_DP,         /* in the data-parallel wrapper */
    CELL_DDP,        /* a rank on every device, DistributedDataParallel */
    CELL_PLAIN_MT,   /* the model alone on the first device, the BLAS on the cores of all */
    CELL_COLLECTIVE, /* no model: one collective of all devices, by itself */
    CELL_MODES
};
extern const char *const cell_mode_names[CELL_MODES];

/* The most steps of a warm-up: more would make a record too long. */
enum { CELL_WARMUP_MAX = 1000 };

/* The most steps of a chain: what each of them left is kept while the cell is measured. */
enum { CELL_CHAIN_MAX = 1000 };

struct cell_limits {
    double seconds;              /* measured steps go on for so long ... */
    size_t min_steps, max_steps; /* ... but are at least and at most so many */
    /* Steps before them: at least so many, for at least so long, at most CELL_WARMUP_MAX. Known
     * before the first one is timed, so that no launch chooses by its times where it begins. 0: a
     * record of before, whose launches waited until their times were alike. */
    size_t warmup_steps;
    double warmup_seconds;
};

/* Whether the model is on the first device only. */
bool cell_is_alone(enum cell_mode mode);

enum { CELL_RULE_BYTES = 128 };
/* The rule of the warm-up, as records say it: steps, seconds, most steps. */
#define CELL_WARMUP_FORMAT "at least %zu steps and %g s, at most %zu steps"
void cell_warmup_rule(const struct cell_limits *limits, char rule[CELL_RULE_BYTES]);

struct cell_config {
    struct workload workload;
    char devices[64]; /* "virt:2" */
    int n_devices;
    enum cell_mode mode;
    size_t bucket_bytes;          /* of ddp; 0: PyTorch's */
    size_t chain;                 /* steps that are timed together; 0: each by itself */
    char collective[32], type[8]; /* of collective, which has no workload and no rows */
    size_t size_bytes;            /* of each rank's memory, the larger of in and out */
    size_t per_process;           /* devices; 0: one process has all of them */
    size_t out_of_place;          /* of collective: 1, or 0: in place */
    size_t host_inputs;           /* of the others: 1: each step carries its batch from the host */
    int launch;                   /* of the same cell: the number of its block */
    char backend[32], communicator[32];
    enum dp_math math;
    size_t rows; /* global batch */
    uint64_t seed;
    bool bind;
    bool no_graphs;    /* GPUs: every operation is launched by itself */
    bool phases_apart; /* each sample has a separate step for its phases; of GPUs always */
    bool trace;        /* some more steps, for a picture */
    double parts;      /* seconds for each part of the machine, after the steps; 0: none */
    double timeout;    /* seconds after which a process of several ends itself; 0: never */
    struct cell_limits limits;
    size_t order_index;
    char run_id[17];
};

/* Processes that run the cell together, by a launcher; 0: it is one process by itself. */
int cell_processes(const struct cell_config *config);

/* Devices that the batch is for: 1, or all of the cell's. */
int cell_replicas(const struct cell_config *config);

/* The limits with steps counted in samples, which may be chains: as many as have so many steps, and
 * at least one of each data set. */
struct cell_limits cell_samples(const struct cell_config *config);

#endif
