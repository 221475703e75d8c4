/* measure/measure.h: measures and verifies one cell. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include <stdio.h>

#include "measure/session.h"
#include "record/record.h"

/* ---- a cell: measure.c, model.c, collective.c ------------------------------------------------ */

struct dp_mpi;
struct node_watch;

/* Fills cell in any case, and frees nothing of it. trace: gets the line of measure/trace.c after
 * the measurement of a cell that went well; NULL: nothing is traced. mpi: the processes that
 * measure the cell together, each on its own devices, with the same number of them; NULL: this
 * process measures it alone. */
void cell_measure(const struct cell_config *config, FILE *trace, struct dp_mpi *mpi,
                  struct record_cell *cell);

/* Measures training steps of a workload, and stores times and status in the cell. trace: as for
 * cell_measure. gpus: are read around the steps. start_ns: when the cell began, on the clock of
 * sessions. */
void measure_model(const struct cell_config *config, FILE *trace, struct dp_group *group,
                   struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

/* The same for a standalone collective on all devices. gpus: are read around the iterations.
 * start_ns: when the cell began, on the clock of sessions. */
void measure_collective(const struct cell_config *config, struct dp_group *group,
                        struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

/* ---- verified steps: probe_step.c ----------------------------------------------------------- */

/* The step of a cell that is checked before the first one of its warm-up; and a standalone step
 * that is checked like those of a cell. */

/* Runs one step on numbers that use all the bits of a float, and compares it within derived bounds.
 * Returns 0; or -1, and the reason is in the cell. */
int measure_probe(const struct cell_config *config, struct session *session,
                  struct record_cell *cell);

/* Opens the reference of exact set k, with numbers as wide as it proves exact. It returns what
 * verify_open does; the caller closes it in any case. */
int measure_reference(const struct cell_config *config, int k, struct workload_set *set,
                      struct verify **verify, struct text_error *why);
/* Opens that set on the session, and runs one step of it. *values: how many values were compared
 * with the reference; 0 if there is no reference, and why has the reason. DP_EFAULT: a value is
 * wrong. */
int measure_exact(const struct cell_config *config, int k, struct session *session, size_t *values,
                  struct text_error *why, struct dp_error *err);

/* Sets status and reason of a cell that ends here; returns -1. */
int cell_fail(struct record_cell *cell, enum record_status status, const char *reason);
/* The same after an error: too little memory is a result, not a failure. DP_EFAULT: results are
 * wrong; if they are not those of a sample, the first bad step is the one after the last. */
int cell_error(struct record_cell *cell, const struct dp_error *err, enum record_status otherwise,
               const char *reason);

/* ---- digests on devices: marks.c ------------------------------------------------------------ */

/* Digests of the results of a step, computed where these are: outputs, loss, gradients and
 * parameters of all local ranks, whose bits each device folds (dp_tensor_fold).
 *
 * Two steps with the same bits have the same digests, and nothing of a model has to go to the host
 * to compare them. */

enum { MARKS_PLACES = DP_MAX_SLOTS + 1 }; /* the host, then the slots by index */

struct marks {
    struct session *session;
    struct dp_tensor at[MARKS_PLACES]; /* slot NULL: no step has results there */
    uint32_t *read;                    /* the digest of one place; zeros before a fold */
};

/* A digest for each place; 0: no results are there. */
struct marks_digest {
    uint64_t at[MARKS_PLACES];
};

/* It is plain data; the caller closes it in any case, before the session. */
void marks_open(struct marks *marks, struct session *session);
void marks_close(struct marks *marks);
/* Sets the digests of all places to 0. */
int marks_clear(struct marks *marks, struct dp_error *err);
/* Folds the results of the last step into the digests; this is queued after the step. */
int marks_fold(struct marks *marks, struct dp_error *err);
/* Reads the digests of all results that were folded since they were set to 0. */
int marks_digest(struct marks *marks, struct marks_digest *digest, struct dp_error *err);
/* Reads the digests of the last step only. DP_EFAULT: a place is unchanged, as if nothing had been
 * folded. */
int marks_of_step(struct marks *marks, struct marks_digest *digest, struct dp_error *err);
/* The slot of the first place where a and b differ; NULL: none. */
const struct dp_slot *marks_differ(const struct marks *marks, const struct marks_digest *a,
                                   const struct marks_digest *b);

/* ---- chains: chain.c ------------------------------------------------------------------------ */

/* Chains of steps of a session, one after the other, each with the parameters that the one before
 * left. Training runs like that, and it shows how a machine works for a long time.
 *
 * A chain is first run step by step, with a digest of all results of each step; then it is timed as
 * a whole. In both, each device folds the bits of the results that a step has there into a digest
 * (measure/marks.c), after the step. A timed chain must have the same digests there, and its last
 * step the same digest. So every value of every timed step is covered, also one that no later step
 * depends on.
 *
 * The verifier knows the first step only: after it, numbers are rounded. So a chain begins with the
 * verified step, and the rest of it is compared with itself, run another way. */

struct chain {
    struct session *session;
    size_t length;
    bool traced; /* phases are measured while it runs */
    struct marks marks;
    struct chain_set {
        double rate;     /* learning rate; 0: not run step by step */
        uint64_t digest; /* of the last step */
        struct marks_digest marks;
    } set[WORKLOAD_SETS];
};

/* It is plain data; the caller closes it in any case, before the session. */
void chain_open(struct chain *chain, struct session *session, size_t length, bool traced);
void chain_close(struct chain *chain);
/* Runs the chain of set k step by step, if that was not done yet. Its first step must have the
 * results of the verified one. DP_EFAULT: it does not; or a step has results that are no numbers,
 * or the same results as the step before. */
int chain_learn(struct chain *chain, int k, const struct session_verified *verified,
                struct dp_error *err);
/* Runs the chain without a stop. times: those of the whole chain. If it returns 0, call
 * chain_check. */
int chain_run(struct chain *chain, int k, struct session_times *times, struct dp_error *err);
/* Checks that the chain that was just run has the results that it had step by step. DP_EFAULT names
 * the first difference. */
int chain_check(struct chain *chain, int k, struct dp_error *err);

/* ---- results: step_result.c ----------------------------------------------------------------- */

/* Checks the results of the steps of a cell.
 *
 * The first step of each set is verified value by value. Every later one must have the digest of
 * that step, so a stale replica or a sum in another order shows; or the same digests on the devices
 * (measure/marks.c), for which nothing of a model has to go to the host. If the communicator may
 * add in another order in every step, and the workload rounds, each step is verified by value. */

struct step_result {
    struct session *session;
    struct record_cell *cell;
    struct verify *verify[WORKLOAD_SETS]; /* the references, which the caller opens and closes */
    bool by_value;                        /* each step is verified by value */
    bool marked;        /* steps are compared by digests that the devices compute */
    struct marks marks; /* opened if marked; closed by the caller */
    bool verified[WORKLOAD_SETS];
    struct session_verified step[WORKLOAD_SETS]; /* digests of the verified step */
    struct step_result_marks {
        struct marks_digest bits;
        uint64_t rows; /* of each replica */
    } mark[WORKLOAD_SETS];
};

/* Checks the results of the last step, which is one of set k. Returns 0, or -1: the cell has the
 * reason, or err. */
int step_result_check(struct step_result *left, int k, size_t step, struct dp_error *err);
/* probe_step.c: says which number is wrong in a step whose digest is wrong. With bounds there may
 * be none; and to read the results of several processes, all of them must do so. */
void step_result_place(const struct step_result *left, int k, size_t step, char reason[256]);
/* Notes in the cell that the step has wrong values, and the reason. Returns -1. */
int step_result_bad(const struct step_result *left, size_t step, const char *reason);
/* Judges a cell in which nothing failed: it must also show that something was done. measured: the
 * timed steps of each set. */
void step_result_judge(struct step_result *left, const size_t measured[WORKLOAD_SETS]);
/* Sets the status of a cell in which nothing failed; it fails if its record is not that of such a
 * cell. */
void cell_pass(struct record_cell *cell);

/* ---- how many steps: steps.c ---------------------------------------------------------------- */

/* How many steps a cell has, whatever a step is: a warm-up by a rule that does not depend on the
 * times of the steps, then the measured steps; and what else the machine did during them. */

struct steps {
    const struct cell_limits *limits;
    struct session *session;  /* its clock decides when the steps end */
    struct record_cell *cell; /* with capacity for CELL_WARMUP_MAX and limits->max_steps samples */
    size_t n;                 /* steps run so far, those of the warm-up included */
    /* Runs step n, times and checks it, and counts it in n once it is timed. Returns 0, or -1: the
     * cell has the reason. */
    int (*run)(void *self, bool warmup);
    void *self;
    /* Called after the warm-up, before the measured steps; NULL: there is nothing to do. Returns 0,
     * or -1: the cell has the reason. */
    int (*ready)(void *self);
    struct node_watch *gpus; /* are read around the measured steps; NULL: none */
};

/* Runs all steps. Returns 0, or -1: a step could not be run, or was wrong. */
int steps_run(struct steps *steps);
/* The arrays of the cell have capacity for the most steps that there can be. Keeps only the steps
 * that were run, and makes the first of them begin at time 0. */
void steps_trim(struct steps *steps);

/* Notes when step n began, and how long it took. */
void steps_note(struct steps *steps, uint64_t start_ns, uint64_t step_ns, bool warmup);

/* ---- a trace: trace.c ----------------------------------------------------------------------- */

/* The words for the phases of a step; the last one is an all-reduce. */
extern const char *const measure_phase_names[DP_PHASES + 1];

/* A few steps of a cell as events of Chrome's trace format, which Perfetto and chrome://tracing
 * show: the cell is a process there, each queue of a device a thread.
 *
 * Timed steps are never traced, and every traced step is checked like a timed one. */

/* Runs the steps on an open session and prints their events in one line: each is an object, with a
 * comma between two. Times are in microseconds, from the begin of the first step. verified: the
 * digests that the steps must have. On an error nothing was printed: DP_EFAULT if a step has other
 * results, DP_ENOMEM. */
int trace_steps(struct session *session, const struct cell_config *config,
                const struct session_verified verified[WORKLOAD_SETS], FILE *out,
                struct dp_error *err);

/* ---- parts of a machine: parts.c, parts_copies.c, parts_memory.c ---------------------------- */

/* Measures parts of a machine separately, after the steps of a cell: how fast each device computes,
 * burst and sustained, and how fast each copies to each other one, to and from the host, and within
 * its own memory. */

/* Fills cell->part, measuring for config->parts seconds each. It measures nothing if that is 0, if
 * the BLAS has the cores of all devices, or if the devices run their work late. Results of the
 * first round are compared with the known answer, bit for bit; so are those of the last round of
 * products, and all numbers that came back to the host. DP_EFAULT: they differ. */
int measure_parts(struct dp_group *group, const struct cell_config *config,
                  struct record_cell *cell, struct dp_error *err);

/* The backward of a module of which only forward is measured: it returns an error. */
int measure_no_backward(struct dp_module *module, struct dp_run *run,
                        const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                        int n_in, struct dp_error *err);

/* The part of measure_parts for copies between devices, if there are several. */
int measure_copies(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err);
/* The part of measure_parts for copies between the host and each device, and within the memory of a
 * device. */
int measure_memory(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err);

/* ---- what the machine did while the steps of a launch were measured: usage.c ----------------- */

/* How much time of its processing units went to other programs, and how often this process was
 * interrupted. There are two readings, before the first measured step and after the last: nothing
 * is read during a step. A value that cannot be read, or cannot be true, is NaN, which means
 * unknown; it is never 0. */
enum { USAGE_UNITS = 8192 };

/* A set of processing units, by their numbers in the system. */
struct usage_units {
    bool has[USAGE_UNITS];
    int n; /* 0: not known which */
};

/* Adds the units of a list such as "0-3,8". Returns 0, or -1 if it is no such list. */
int usage_add_units(const char *list, struct usage_units *units);
/* In the functions that follow, root is "", or a folder with /proc and /sys of another machine. */

/* Adds the units that this thread may run on. */
void usage_add_allowed(const char *root, struct usage_units *units);
/* Finds the units that the workers of a group are bound to; if they are not bound, those that this
 * thread may run on. */
void usage_find_units(const char *root, struct dp_group *group, struct usage_units *units);

/* One reading. The counts are those since the machine, or this process, was started. */
struct usage_reading {
    uint64_t clock_ns;
    double busy_s, steal_s, all_s; /* of the units together, by /proc/stat */
    double own_s;                  /* CPU time of this process */
    double switches[2], faults[2]; /* voluntary and not; minor and major */
};

struct usage_reading usage_read(const char *root, const struct usage_units *units);
/* The mean frequency of the units now; NaN if the system does not give that of each. */
double usage_hz(const char *root, const struct usage_units *units);
/* Stores the differences of the two readings in the fields of the cell. It does not set cpu_hz. */
void usage_note(const struct usage_reading *begin, const struct usage_reading *end,
                const struct usage_units *units, struct record_cell *cell);

#endif
