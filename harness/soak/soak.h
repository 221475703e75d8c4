/* soak/soak.h: one exact step on every device at once, again and again, against its known answer.
 *
 * Mode ddp: every device is a rank with the same rows and the same parameters, which stay as they
 * are. An iteration has two halves. First all ranks compute the step, and none sends anything: each
 * rank's outputs, loss and gradients must be the known answer, so what is wrong is wrong on that
 * device. Then the gradients are reduced, and each rank's mean must be the known one. The answer is
 * from the independent model (harness/verify), never from another device or an earlier iteration.
 *
 * The factors of the loss are multiplied by a power of two, which rounds nothing: of rank r in
 * iteration i by soak_factor. So ranks bring different numbers to a reduction, and other ones in
 * the next iteration: a part that is missing, doubled or left over shows, and shows whose it is.
 *
 * Mode dp: the model is in DataParallel, and a batch has the same rows once for each device. The
 * outputs of each device's shard are compared, and the sum of the gradients, which the first device
 * has: that of one device alone is nowhere to be seen. */
#ifndef HARNESS_SOAK_H
#define HARNESS_SOAK_H

#include <stdatomic.h>

#include "dp.h"
#include "export/export.h"
#include "measure/session.h"
#include "text/text.h"
#include "workload.h"

int soak_main(int argc, char **argv);

enum {
    SOAK_PARAMS = 2 * WORKLOAD_MAX_SIZES,
    SOAK_KEPT = 1000, /* findings that are kept; all are counted */
    SOAK_BLOCKS = 60, /* of the rates: as many as are tested */
    SOAK_REPLAY = 512 /* bytes of a command */
};

enum soak_format { SOAK_TEXT, SOAK_JSON };
enum soak_mode { SOAK_DDP, SOAK_OVERLAP, SOAK_DP, SOAK_MODES };
extern const char *const soak_mode_words[SOAK_MODES];

struct soak_options {
    char devices[96], backend[32], communicator[32];
    struct workload workload;
    size_t mode;       /* enum soak_mode */
    size_t rows;       /* of each device */
    double minutes;    /* 0: as many iterations as are asked for */
    size_t iterations; /* 0: as long as the minutes last */
    size_t first;      /* the number of the first one: 1 */
    size_t shown;      /* differences that are printed */
    double limit;      /* seconds that an iteration may take */
    double spread;     /* how much slower than the others a device may be: 0.05 */
    size_t seed;
    size_t format;   /* enum soak_format */
    size_t required; /* devices */
};

/* ---- the known answer: answer.c ---------------------------------------------------------- */

struct soak_answer {
    size_t rows, width; /* of the outputs */
    struct workload_set set;
    int n_params;
    size_t count[SOAK_PARAMS];
    double loss;
    float scale;                  /* of the sum of the gradients: 1 / ranks in mode ddp */
    float *outputs;               /* [rows, width] */
    float *value[SOAK_PARAMS];    /* parameters */
    float *gradient[SOAK_PARAMS]; /* for a factor of 1 */
    float *reduced[SOAK_PARAMS];  /* that of all ranks, reduced, in an even iteration */
};

/* 0, or -1 and why. */
int soak_answer_open(const struct soak_options *options, int ranks, struct soak_answer *answer,
                     struct text_error *why);
void soak_answer_close(struct soak_answer *answer);
/* The factor of rank r, by powers of two; of two iterations in a row never the same. */
float soak_factor(int r, uint64_t iteration);
/* That of an iteration alone: the mean of iteration i is reduced[] times it. */
float soak_factor_of_iteration(uint64_t iteration);
/* The part that a rank brought to a reduction that went wrong. */
enum soak_part { SOAK_RIGHT, SOAK_DROPPED, SOAK_DOUBLED, SOAK_STALE, SOAK_PARTS };
/* Element g of a gradient reduced over all ranks: each one's times scale, in the order of ranks; if
 * what rank `who` brings is that. */
float soak_mean(float g, int ranks, float scale, uint64_t iteration, int who, enum soak_part part);

/* ---- devices: ranks.c, watch.c ---------------------------------------------------------- */

/* Around the model of each rank: what its device has done. Written by the rank's worker. */
struct soak_meter {
    _Atomic unsigned begun, ended; /* forwards and backwards since the iteration began */
    bool cpu;                      /* it works on a core: its time is that of its thread */
    uint64_t busy_ns;
};
/* ranks: a struct soak_ranks, whose meters it starts. */
int soak_meter_open(void *ranks, struct dp_group *group, struct dp_module *child,
                    struct dp_module **module, struct dp_error *err);
struct soak_ranks;
void soak_meter_clear(struct soak_ranks *ranks);

/* A frozen session, whose set k is the batch of the iterations with i % 2 == k. */
struct soak_ranks {
    struct dp_group *group;
    int n; /* devices; in mode dp only the first has parameters */
    const struct soak_answer *answer;
    struct cell_config config;
    struct session session;
    struct soak_meter meter[DP_MAX_SLOTS];
    bool overlap; /* mode overlap: buckets are reduced while backward goes on */
    size_t buckets,
        beside; /* of it, over all ranks and steps; launched while its backward went on */
    char name[SOAK_PARAMS][96];
};
/* Errors are those of err. */
int soak_ranks_open(struct soak_ranks *ranks, struct dp_group *group,
                    const struct soak_options *options, const struct soak_answer *answer,
                    struct dp_error *err);
void soak_ranks_close(struct soak_ranks *ranks); /* not the group */
/* The step of iteration i on all ranks, and its reduction: done when they return. */
int soak_ranks_step(struct soak_ranks *ranks, uint64_t iteration, struct dp_error *err);
int soak_ranks_reduce(struct soak_ranks *ranks, struct dp_error *err);
/* Time that the device of rank r has worked in the step. */
double soak_ranks_busy(const struct soak_ranks *ranks, int r);

/* ---- what was found: iterate.c, write.c
 * -------------------------------------------------------------- */

enum soak_what {
    SOAK_OUTPUTS,
    SOAK_LOSS,
    SOAK_GRADIENT,
    SOAK_REDUCED,
    SOAK_PARAMETER, /* in memory, after an iteration that was wrong */
    SOAK_DEAD,      /* the device failed */
    SOAK_HUNG,
    SOAK_WHATS
};
extern const char *const soak_what_words[SOAK_WHATS];
extern const char *const soak_part_words[SOAK_PARTS];

/* All differences of one tensor on one device in one iteration. */
struct soak_finding {
    enum soak_what what;
    uint64_t iteration;
    int device;          /* -1: not told */
    int param;           /* -1: of none */
    size_t index;        /* of the first difference */
    uint32_t got, want;  /* there */
    size_t differ, of;   /* elements */
    enum soak_part part; /* of SOAK_REDUCED on all ranks: what device brought */
    char text[160];      /* of SOAK_DEAD and SOAK_HUNG */
};

struct soak_found {
    size_t n; /* in all */
    size_t of[DP_MAX_SLOTS];
    size_t compared; /* values */
    size_t kept;
    struct soak_finding *finding; /* [SOAK_KEPT] */
};

struct soak;
/* Compares n values with want[i] * factor, bit for bit. Fills index, bits and counts of finding. */
bool soak_differ(const float got[], const float want[], float factor, size_t n,
                 struct soak_finding *finding);
/* Counts a finding, keeps it, and prints it if it is one of the first. */
void soak_note(struct soak *soak, const struct soak_finding *finding);

/* The command that computes an iteration again, as this run did: write.c. */
void soak_replay(const struct soak_options *options, uint64_t iteration, char text[SOAK_REPLAY]);

/* ---- rates: rates.c ---------------------------------------------------------------------- */

/* Iterations next to each other. Each block has as many, but for the last one. */
struct soak_block {
    size_t n;
    uint64_t first;             /* iteration */
    double floor[DP_MAX_SLOTS]; /* least time of a step, in ns */
    double sum[DP_MAX_SLOTS];
};
struct soak_rates {
    int devices;
    size_t n, each; /* blocks, iterations of a full one */
    struct soak_block block[SOAK_BLOCKS + 1];
    double burst_sum[DP_MAX_SLOTS], rest_sum[DP_MAX_SLOTS]; /* of the first seconds, and later */
    size_t burst_n, rest_n;
};
void soak_rates_add(struct soak_rates *rates, uint64_t iteration, double seconds,
                    const double busy_ns[]);

enum soak_speed {
    SOAK_UNJUDGED,
    SOAK_EVEN,
    SOAK_UNSHOWN,
    SOAK_SLOW,
    SOAK_DROPPED_CLOCK,
    SOAK_SPEEDS
};
extern const char *const soak_speed_words[SOAK_SPEEDS];
/* The speed of a device by the blocks: how many times as long as the others' median it takes. */
struct soak_rate {
    double burst_ns, sustained_ns; /* NaN: none */
    double ratio, lo, hi;          /* lo, hi NaN: SOAK_UNJUDGED */
    enum soak_speed speed;
    char why[64];   /* of SOAK_UNJUDGED */
    double drop;    /* of SOAK_DROPPED_CLOCK: how many times as long as before */
    uint64_t since; /* iteration, about */
};
void soak_rates_judge(const struct soak_rates *rates, double spread, struct soak_rate rate[]);

/* ---- a run: iterate.c, watch.c, write.c ------------------------------------------- */

struct soak {
    const char *command;
    const struct soak_options *options;
    struct soak_answer answer;
    struct soak_ranks ranks;
    struct soak_found found;
    struct soak_rates rates;
    struct soak_rate rate[DP_MAX_SLOTS];
    float *room;         /* of the largest tensor */
    uint64_t iterations; /* that are over */
    double seconds, check_seconds;
    double told; /* second of the last progress */
    bool interrupted;
    bool over;                                  /* a device is dead: nothing more can be done */
    struct dp_error starved;                    /* or memory is short, which is no fault of it */
    _Atomic uint64_t watch_ns, watch_iteration; /* when the iteration began; 0: none is under way */
};

/* Runs until the time is over. */
void soak_iterate(struct soak *soak);
/* While it is open, an iteration that takes longer than the limit is a finding, and ends the
 * program: a thread that hangs cannot be stopped. */
struct soak_watch;
struct soak_watch *soak_watch_open(struct soak *soak); /* NULL: it cannot be had */
void soak_watch_close(struct soak_watch *watch);
/* Progress on standard error: on a terminal a line that is written again each second, else a line
 * each minute. clear: takes that of a terminal away, before other words. */
void soak_progress(struct soak *soak, bool clear);
/* All that was found; the exit status. */
int soak_conclude(struct soak *soak);

/* ---- `lockstep soak selftest`: selftest.c, selftest_read.c, selftest_write.c ------------------
 *
 * Whether soak finds what it is for: a run of it for each fault that a virtual device can have, in
 * a separate process, and for none. */

int selftest_main(int argc, char **argv);

/* The detectors of faults. */
enum selftest_detector {
    SELFTEST_RESULT, /* a device's own outputs, loss or gradients, or its parameters */
    SELFTEST_MEAN,   /* the mean of the gradients */
    SELFTEST_DEAD,   /* an error of the device */
    SELFTEST_LIMIT,  /* the time limit of an iteration */
    SELFTEST_SPEED,  /* slower than the others */
    SELFTEST_DROP,   /* slower than before */
    SELFTEST_DETECTORS
};
extern const char *const selftest_detector_words[SELFTEST_DETECTORS];

/* The result of one run of soak. */
struct selftest_seen {
    int status;                      /* its exit status; -1: it was killed */
    bool understood;                 /* its output is what soak prints */
    uint64_t at[SELFTEST_DETECTORS]; /* the first iteration that the detector names; 0: none */
    size_t findings;                 /* by all of them */
    size_t elsewhere;                /* those that name another device, or none */
    uint64_t wrong_bits;             /* bits that differ in the first number that is wrong */
    uint64_t beside;                 /* buckets that were launched while backward went on */
    bool unjudged;                   /* the speed of a device was not judged */
};

/* Options of soak. */
struct selftest_setting {
    const char *mode, *workload, *batch, *spread;
    int devices;
};

/* A run of soak with a fault, or without, and what came of it. */
struct selftest_case {
    const char *name, *fault; /* fault: as in a list of devices; NULL: none */
    const struct selftest_setting *setting;
    unsigned step, iterations;       /* that the fault begins in; of the run */
    int device;                      /* that has it; -1: none */
    const char *percent;             /* of slow: "/200" */
    enum selftest_detector detector; /* that is meant for it */
    bool drawn;                      /* one of many flips, at a drawn place */
    struct selftest_seen seen;
    const char *verdict; /* "right", "silent", or "FAILED: " and why */
};

struct selftest_sums {
    size_t found, silent, flips, flips_right, wrong;
    uint64_t seed;
    bool interrupted;
};

struct selftest {
    struct selftest_case *item; /* in the order of the runs */
    size_t n;
    struct selftest_sums sums;
};

bool selftest_wrong(const struct selftest_case *item);

/* As text, while it runs; the others when all is known. */
void selftest_text_heading(void);
void selftest_text_case(const struct selftest_case *item);
void selftest_text_end(const struct selftest_sums *sums);
void selftest_json(FILE *stream, const struct selftest *selftest); /* lockstep/selftest/1.0 */
void selftest_export(FILE *stream, const struct selftest *selftest, enum export_format format);

/* Reads what soak prints as JSON. device: where the fault is, -1 nowhere. */
void selftest_read(const char *text, size_t bytes, int device, struct selftest_seen *seen);

#endif
