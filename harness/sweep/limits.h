/* sweep/limits.h: `lockstep sweep limits`: what a core can do at most, the parts of a training
 * step, and how far these are from that. Both are measured twice: alone, on the first device while
 * the others are idle, and at once, on all of them. */
#ifndef HARNESS_SWEEP_LIMITS_H
#define HARNESS_SWEEP_LIMITS_H

#include "analysis/analysis.h"
#include "measure/session.h"
#include "numbers/stats.h"
#include "plan/cell.h"

enum limits_format { LIMITS_TEXT, LIMITS_TSV, LIMITS_JSON, LIMITS_FORMATS };
enum { LIMITS_WORKLOADS = 16 };

struct limits_options {
    char devices[64], backend[32], communicator[32];
    size_t rounds, format;                  /* enum limits_format */
    const char *workload[LIMITS_WORKLOADS]; /* as they were given */
    int n_workloads;
    size_t rows; /* the batch; 0: each workload has another one */
};

/* ---- loops that only multiply and add, or only read: limits_peak.c -------------------------- */

/* The caller checks the result of each, which is known beforehand. */
enum { PEAK_FLOATS = 192 }; /* at most, in the registers of a core */

/* A set of instructions. run: each of so many sums becomes sum * factor + term, so many times; each
 * time that is two operations of a sum. No sum waits for another one. */
struct peak {
    const char *name;
    size_t floats;
    bool (*here)(void); /* this CPU has them */
    void (*run)(size_t times, float factor, float term, float sums[]);
};
/* The widest that this CPU has. */
const struct peak *peak_of_cpu(void);

/* The sum of n numbers, modulo 2^64. */
uint64_t peak_read(const uint64_t x[], size_t n);

/* ---- ceilings: limits_ceilings.c ------------------------------------------------------------ */

/* Zeroed at first. */
struct ceilings {
    struct dp_group *group;
    int devices;
    const struct peak *peak;
    size_t bytes;                         /* of each device's block, of which a copy has half */
    struct dp_tensor block[DP_MAX_SLOTS]; /* word i of it is i */
    struct dp_module *turn;
    struct dp_replicas *replicas;
    enum roof_rate what; /* of the turn under way */
    bool fill, alone;    /* fill: the blocks, and nothing is timed */
    double rate[DP_MAX_SLOTS];
    struct dp_tensor out[DP_MAX_SLOTS][DP_MAX_IO];
};
/* Errors DP_ENOMEM the blocks, several times as large as the last cache, are more than half of the
 * memory. */
int ceilings_open(struct ceilings *c, struct dp_group *group, struct dp_error *err);
void ceilings_close(struct ceilings *c);
/* One turn: the mean rate of a core. Errors DP_EFAULT a result is not the known one. */
int ceilings_measure(struct ceilings *c, enum roof_rate what, enum roof_way way, double *rate,
                     struct dp_error *err);

/* ---- steps: limits_steps.c ------------------------------------------------------------------ */

/* Timed steps of a round, after one that brings the model back into the caches. */
enum { LIMITS_STEPS = 2, LIMITS_PARTS = DP_LANES * DP_KERNEL_ROWS };
/* Times that are kept of each step: its own, that of launches that found no row in the log, its
 * phases, each of the device that took longest, then the kernels that the first device ran. */
enum { LIMITS_STEP, LIMITS_LOST, LIMITS_PHASE, LIMITS_PART = LIMITS_PHASE + DP_PHASES };
enum { LIMITS_KINDS = LIMITS_PART + LIMITS_PARTS };

/* Steps of a workload in one way: the model alone with the rows of the first shard, or in the
 * wrapper on all devices. */
struct limits_steps {
    struct cell_config config;
    struct session session;
    uint64_t digest[WORKLOAD_SETS]; /* of all that the verified step left */
    size_t values;                  /* that were compared with the reference */
    struct dp_kernel_log *log;
    size_t room, n;
    double *ns[LIMITS_KINDS]; /* [room] */
    const double **order;     /* [room] */
    struct dp_kernel_row part[LIMITS_PARTS];
    enum dp_lane lane[LIMITS_PARTS];
    uint64_t count[LIMITS_PARTS]; /* in a step */
    int n_parts;
    double phase_bytes[DP_PHASES];
    /* Means of those steps that are in the middle half by their time: they add up as the times of
     * one step do. limits_steps_summarise */
    double mean[LIMITS_KINDS];
    double lo[LIMITS_KINDS], hi[LIMITS_KINDS]; /* 5th and 95th percentile of all steps */
};
/* Opens and verifies a step of each set; room for so many timed ones. Errors DP_EINVAL the
 * reference cannot be proved; DP_EFAULT a step is wrong. Close in any case. */
int limits_steps_open(struct limits_steps *s, struct dp_group *group,
                      const struct cell_config *config, size_t room, struct dp_error *err);
void limits_steps_close(struct limits_steps *s);
/* The steps of a round; each must leave what the verified one left. */
int limits_steps_round(struct limits_steps *s, struct dp_error *err);
void limits_steps_summarise(struct limits_steps *s);
/* Time of a step in products, in other kernels of the first device, in what it carried, and in none
 * of them. */
enum limits_share { LIMITS_PRODUCTS, LIMITS_OTHERS, LIMITS_TRANSFERS, LIMITS_REST, LIMITS_SHARES };
double limits_share(const struct limits_steps *s, enum limits_share share);
/* The part with that kernel, shape and lane; -1: there is none. */
int limits_find(const struct limits_steps *s, const struct dp_kernel_row *row, enum dp_lane lane);

/* ---- all of it ------------------------------------------------------------------------------ */

struct limits_workload {
    size_t rows;
    struct workload workload;
    struct limits_steps way[ROOF_WAYS];
};
struct limits {
    const struct limits_options *options;
    struct dp_group *group;
    struct dp_machine machine;
    struct ceilings ceilings;
    double *rate[ROOF_RATES][ROOF_WAYS], *scratch; /* [rounds] */
    struct roof_ceilings roof;                     /* medians of the rates, and their ranges */
    int n;
    struct limits_workload workload[LIMITS_WORKLOADS];
};
/* One report on standard output: limits_write.c. The last returns 0, or -1: the machine cannot be
 * read. */
void limits_print(const struct limits *limits);
void limits_print_tsv(const struct limits *limits);
int limits_print_json(const struct limits *limits);

#endif
