/* record/record.h: records of a sweep as C structs, and as JSON Lines in a file.
 *
 * The only part of the harness that knows jansson. A file is: one "lockstep/run/1.1" line, then
 * one "lockstep/cell/1.1" line per finished cell, then at most one "lockstep/end/1.1" line per
 * sitting. Readers reject other majors and other schemas, and ignore unknown fields.
 * Field names, types and units: results/README.md. */
#ifndef HARNESS_RECORD_H
#define HARNESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/digest.h"
#include "text/text.h"

#define RECORD_MAX_RANKS 64
#define RECORD_MAX_SLOTS 64

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
extern const char *const record_phase_names[RECORD_PHASES];

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

struct record_slot {
    char name[32], kind[16], cores[128];
    int numa_node;
    bool bound, near;        /* near: cores are those beside the device */
    char model[64], bus[16]; /* of a GPU, else "" */
};

/* The manifest: once per file. */
struct record_run {
    char run_id[17];      /* 16 hex digits */
    char created_utc[32]; /* 2026-11-21T08:00:00Z */
    uint64_t seed;        /* of the order of cells and of the data */
    char program_version[32], git_sha[48];
    bool git_dirty;
    char source_digest[65]; /* SHA-256 of the source that it was built from; "" in old records */
    char machine_class[65], machine_instance[65]; /* machine.h; "": unknown, as in old records */
    char environment[1024];                       /* variables that change a result */
    char compiler[96], cflags[256], build_type[32], sanitizers[64];
    char kernel[128], libc[64], cpu_model[128], governor[32], node_hash[17];
    char hwloc_version[32], blas[160];
    int packages, numa_nodes, cores, pus, usable_pus;
    uint64_t mem_bytes, l1d_bytes, l2_bytes, l3_bytes;
    double load_avg[3];
    double timer_tick_ns, timer_overhead_ns;
    char clock[32], sync_method[64], rank_reduction[32]; /* how one number comes from many clocks */
    char devices[64], backend[32], communicator[32];
    char gpu_software[96]; /* "driver 13.0, runtime 13.0, cuBLAS 13.0.2"; "" without GPUs */
    char source[16];       /* "measured" or "simulated" */
    char command[512];     /* the options, as one line */
    size_t planned;        /* cells */
    char scaling[8];       /* "strong": --batch is the global batch; "weak": rows per device */
    int launches;          /* of every cell, each by a fresh process */
    int n_slots;
    struct record_slot slot[RECORD_MAX_SLOTS];
};

/* What identifies a cell. */
struct record_key {
    char workload[96]; /* "mlp:1024,1024" */
    char mode[8]; /* "dp", "ddp", or "plain": the model alone on one device, without the wrapper */
    char devices[64]; /* "virt:2" */
    int n_devices;
    size_t global_batch; /* rows */
    char dtype[8];
    char backend[32], communicator[32];
    int launch; /* 0.. */
    /* Mode ddp: least bytes of a bucket of gradients; 0: PyTorch's, 1 MiB, then 25 MiB. */
    size_t bucket_bytes;
};

struct record_cell {
    char run_id[17], cell_id[17]; /* cell_id: record_cell_id of the key */
    size_t order_index;           /* position in the randomised order */
    struct record_key key;
    enum record_status status;
    char reason[320]; /* "" when ok */
    bool validated;
    size_t values_checked; /* compared against the reference, bit for bit */
    size_t steps_checked;  /* steps whose digest was compared */
    /* Of the probe: how many values were compared, the widest bound of an output as a part of it,
     * and the largest difference as a part of its bound, at most 1 where all was right (NaN: no
     * probe). */
    size_t probe_values;
    double probe_bound, probe_ratio;
    uint64_t probe_ns; /* what it took, within setup_ns */
    int exact_bits; /* of exact data: equal_significant of outputs and of each gradient of a weight,
                       the least of these; 0: rounded, or unknown */
    long first_bad_step; /* -1: none */
    int n_shards;
    size_t shard[RECORD_MAX_RANKS]; /* rows seen by each replica */
    bool oversubscribed;
    size_t model_params;
    double flops_per_step;
    char warmup_rule[128];
    bool steady_state;
    size_t warmup_steps;               /* samples 0..warmup_steps-1 are warm-up */
    size_t n_samples;                  /* warm-up included */
    int n_ranks;                       /* replicas with phase times */
    uint64_t *t_start_ns;              /* [n_samples], from the first step's start */
    uint64_t *t_step_ns;               /* [n_samples] */
    unsigned *flags;                   /* [n_samples] */
    uint64_t *phase_ns[RECORD_PHASES]; /* [rank * n_samples + step]; NULL: not measured */
    uint64_t *matmul_ns; /* [rank * n_samples + step], inside forward and backward; NULL: not
                            measured */
    /* Derived from the raw samples by record_derive. */
    size_t n_valid;
    double median_ns, mean_ns, min_ns, max_ns, p05_ns, p25_ns, p75_ns, p95_ns;
    bool has_ci;
    double ci_lo_ns, ci_hi_ns, ci_coverage;
    double cv, rho1, n_eff;
    double throughput_samples_per_s;       /* rows * steps / total time of the valid steps */
    double phase_median_ns[RECORD_PHASES]; /* slowest rank per step, then the median */
    double outside_frac; /* part of a step not spent in matrix products: 1 - mean over the ranks
                            with rows of matmul / step, per step, then the median; NaN: unknown */
    /* Measured beside the steps; NaN: unknown. */
    double bytes_per_step; /* that crossed devices, in the last step */
    /* Mode ddp: medians of steps without their reduction, of reductions without a step, and of
     * whole steps, run in turns; and the part of the reduction that is hidden (stats_hidden). */
    double compute_alone_ns, comm_alone_ns, whole_ns, hidden_frac;
    int n_peaks;                           /* devices, or 0: unknown */
    uint64_t peak_bytes[RECORD_MAX_RANKS]; /* the most that a device held at one time */
    uint64_t start_epoch_ns, setup_ns, wall_ns;
};

/* 16 hex digits, a function of the key alone. */
void record_cell_id(const struct record_key *key, char id[17]);

/* Arrays for n_samples and n_ranks, zeroed. 0, or -1 when memory is short. */
int record_cell_alloc(struct record_cell *cell, size_t n_samples, int n_ranks);
void record_cell_free(struct record_cell *cell);

/* Fills the derived fields (and the warm-up, mild and severe flags) from the raw ones; only samples
 * that are neither warm-up nor bad count. What no sample speaks about becomes NaN. 0, or -1 when
 * memory is short. */
int record_derive(struct record_cell *cell);

/* Whether the record of an ok cell shows that it was measured and checked; the summary must follow
 * from the samples. Readers apply it to every ok cell. */
int record_check_ok(const struct record_cell *cell, struct text_error *err);
/* Whether the fields of a record, whatever its status, can be those of one cell. */
int record_check_fields(const struct record_cell *cell, struct text_error *err);
/* The part of it that is about phases: every replica with rows has times. */
int record_check_phases(const struct record_cell *cell, struct text_error *err);

/* One line of JSON without the newline; NULL when memory is short or a count is above 2^53.
 * Bytes that are not UTF-8 become "?"; NaN and infinity become null. Caller frees. */
char *record_run_text(const struct record_run *run);
char *record_cell_text(const struct record_cell *cell);
char *record_end_text(const char *run_id, size_t planned, size_t ok, size_t not_ok,
                      bool interrupted);

/* Parses one line of that kind; checks schema, types, ranges, that array lengths agree, and that
 * a cell that claims to be ok was validated and has a time. The text names the field; it has no
 * FILE:LINE here. On failure there is nothing to free. */
int record_run_parse(const char *line, struct record_run *run, struct text_error *err);
int record_cell_parse(const char *line, struct record_cell *cell, struct text_error *err);

/* A line longer than this is not read. */
#define RECORD_LINE_BYTES ((size_t)64 << 20)

/* Makes line, which is freed, one of a sealed file: before is the SHA-256 of the line before, ""
 * for a first line; a line that closes the file has its own, too. NULL: line is, or memory is
 * short. */
char *record_chain_add(char *line, const char *before, bool closes);

/* Appends a line and its newline with one write and fsyncs. Reports short writes (full disk)
 * and leaves the file as it was before the call when it can. */
int record_append(int fd, const char *line, struct text_error *err);

/* A whole file. Cells of equal id: the last one counts. A torn last line (no newline, or not
 * JSON) sets torn and torn_offset; a bad line before the last is an error. */
struct record_file {
    struct record_run run;
    struct record_cell *cell;
    size_t n_cells;
    bool planned;          /* cells are those of the command; not known of minor 0 */
    bool sealed;           /* each line has the SHA-256 of the one before */
    char last[DIGEST_HEX]; /* if sealed: of the last whole line */
    bool ended;            /* the last sitting wrote its end line */
    bool interrupted;      /* and says that it was interrupted */
    bool torn;
    long torn_offset; /* the file should be truncated here */
};
int record_read(const char *path, struct record_file *file, struct text_error *err);
void record_file_free(struct record_file *file);

#endif
