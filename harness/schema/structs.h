/* schema/structs.h: records of a sweep as C structs. They are made of the rows of
 * schema/field_list.h and schema/node_fields.h, and of members that are not a single value. */
#ifndef HARNESS_SCHEMA_STRUCTS_H
#define HARNESS_SCHEMA_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/field_list.h"
#include "schema/node_fields.h"

/* ---- the node that the devices are on -------------------------------------------------------- */

/* Successive readings of one number; NaN: unknown. */
struct record_series {
    size_t n;
    double *value;
};
enum { RECORD_MOST_READINGS = 4096 };

struct record_numa {
    RECORD_MEMBERS(RECORD_NUMA_FIELDS)
};

struct record_nvlink {
    RECORD_MEMBERS(RECORD_NVLINK_FIELDS)
};

struct record_reading {
    RECORD_MEMBERS(RECORD_READING_FIELDS)
    int n_links;
    struct record_nvlink link[RECORD_MAX_LINKS];
};

struct record_gpu {
    RECORD_MEMBERS(RECORD_GPU_FIELDS)
    struct record_reading reading;
};

struct record_nic {
    RECORD_MEMBERS(RECORD_NIC_FIELDS)
};

struct record_node {
    int n_numa, n_gpus, n_nics; /* in the order of the system: GPUs by PCI address */
    struct record_numa numa[RECORD_MAX_NUMA];
    struct record_gpu gpu[RECORD_MAX_GPUS];
    struct record_nic nic[RECORD_MAX_NICS];
};

struct record_during {
    RECORD_MEMBERS(RECORD_DURING_FIELDS)
};

struct record_watched {
    RECORD_MEMBERS(RECORD_WATCHED_FIELDS)
    struct record_reading before, after;
    struct record_during during;
};

/* ---- runs, cells and ends -------------------------------------------------------------------- */

/* A line longer than this is not read. */
#define RECORD_LINE_BYTES ((size_t)64 << 20)

enum record_phase {
    RECORD_SCATTER,
    RECORD_REPLICATE,
    RECORD_FORWARD,
    RECORD_GATHER,
    RECORD_LOSS,
    RECORD_BACKWARD,
    RECORD_REDUCE,
    RECORD_UPDATE,
    RECORD_PHASES
};
/* Calls row(INDEX, name) for each; name is that in a record. */
#define RECORD_EACH_PHASE(row)                                                                     \
    row(SCATTER, scatter) row(REPLICATE, replicate) row(FORWARD, forward) row(GATHER, gather)      \
        row(LOSS, loss) row(BACKWARD, backward) row(REDUCE, reduce) row(UPDATE, update)
extern const char *const record_phase_names[RECORD_PHASES];

/* Ranks do these in turns: a step without its reduction, the reduction alone, and a whole step. */
enum record_turn { RECORD_COMPUTE, RECORD_COMM, RECORD_WHOLE, RECORD_TURNS };
#define RECORD_EACH_TURN(row) row(COMPUTE, compute) row(COMM, comm) row(WHOLE, whole)
enum { RECORD_LEAST_ROUNDS = 5, RECORD_MOST_ROUNDS = 11 };

/* Parts of the machine, measured by themselves after the steps of a cell. */
enum record_part {
    RECORD_PRODUCT,   /* a matrix product on each device in turn: [device] */
    RECORD_SUSTAINED, /* successive products on all devices at once: [device] */
    RECORD_COPY,      /* a copy from device to device: [from * devices + to] */
    RECORD_FROM_HOST, /* a copy from the host's memory to a device: [device] */
    RECORD_TO_HOST,   /* a copy from a device to the host's memory: [device] */
    RECORD_MEMORY,    /* a copy within a device's memory: [device] */
    RECORD_PARTS
};
#define RECORD_EACH_PART(row)                                                                      \
    row(PRODUCT, product) row(SUSTAINED, sustained) row(COPY, copy) row(FROM_HOST, from_host)      \
        row(TO_HOST, to_host) row(MEMORY, memory)
extern const char *const record_part_names[RECORD_PARTS];
enum { RECORD_MOST_PARTS = 512 };
struct record_part_times {
    uint64_t work; /* of a sample: operations of a product, bytes of a copy; within a device those
                      that are read and those that are written */
    size_t rows, n;
    uint64_t *ns; /* [row * n + sample]; NULL: not measured. A copy to itself takes 0. */
};

/* Sample flags. */
enum { RECORD_WARMUP = 1, RECORD_BAD_VALUES = 16, RECORD_MILD = 32, RECORD_SEVERE = 64 };

enum record_status {
    RECORD_OK,      /* measured and every check passed */
    RECORD_FAILED,  /* measured, and a check failed: the reason says which */
    RECORD_BROKEN,  /* the harness could not set it up or prove its own reference */
    RECORD_CRASHED, /* the cell's process died: the reason has the signal */
    RECORD_TIMEOUT,
    RECORD_OOM, /* a device, or the host, had too little memory */
    RECORD_SKIPPED,
    RECORD_STATUSES
};
extern const char *const record_status_names[RECORD_STATUSES];

/* A member without a comment is a row of schema/field_list.h, with its unit and its meaning. */
struct record_slot {
    RECORD_MEMBERS(RECORD_SLOT_FIELDS)
};

/* The manifest: once per file. */
struct record_run {
    RECORD_MEMBERS(RECORD_RUN_FIELDS)
    bool clocked; /* a record of minor 2, where every verified cell has compared its clock */
    double load_avg[3];
    int n_slots;
    struct record_slot slot[RECORD_MAX_SLOTS];
    struct record_node node;
};

/* The members that identify a cell. */
struct record_key {
    RECORD_MEMBERS(RECORD_KEY_FIELDS)
};

struct record_cell {
    RECORD_MEMBERS(RECORD_CELL_FIELDS)
    RECORD_MEMBERS(RECORD_DERIVED_FIELDS) /* filled by record_derive from the raw samples */
    RECORD_MEMBERS(RECORD_BESIDE_FIELDS)
    struct record_key key;
    enum record_status status;
    int n_shards;
    uint64_t shard[RECORD_MAX_RANKS]; /* rows seen by each replica */
    uint64_t *t_start_ns;             /* [n_samples], from the first step's start */
    uint64_t *t_step_ns;              /* [n_samples] */
    unsigned *flags;                  /* [n_samples] */
    uint64_t *phased_ns; /* [n_samples]: a separate step for each, in which its phases were
                            measured; NULL: they were in the sample itself */
    uint64_t *phase_ns[RECORD_PHASES]; /* [rank * n_samples + step]; NULL: not measured */
    uint64_t *matmul_ns; /* [rank * n_samples + step], inside forward and backward; NULL: not
                            measured */
    double phase_median_ns[RECORD_PHASES]; /* derived: median over steps of the slowest rank */
    int n_rounds;                          /* 0: not measured, or not kept */
    uint64_t round_ns[RECORD_TURNS][RECORD_MOST_ROUNDS];
    int n_alone;                           /* 0: not measured */
    uint64_t alone_ns[RECORD_MOST_ROUNDS]; /* steps without communication */
    struct record_part_times part[RECORD_PARTS];
    int n_peaks;                           /* devices, or 0: unknown */
    uint64_t peak_bytes[RECORD_MAX_RANKS]; /* the most that a device held at one time */
    int n_gpus;                            /* 0: it has no GPU, or none could be read */
    struct record_watched *gpu;            /* [n_gpus] */
};

/* The end of a session. */
struct record_end {
    RECORD_MEMBERS(RECORD_END_FIELDS)
};

#endif
