/* measure/session.h: one workload on one group, ready to run training steps and to read their
 * results. (This is not a session of the glossary, which is a whole sweep.)
 *
 * All memory is allocated once: two batches on the first device (for mixed, on the host), or on the
 * host if each step copies its batch to the devices; two parameter sets on the host. Set k of the
 * parameters is always used with batch k. The set of the probe exists only while the probe is
 * run. */
#ifndef HARNESS_SESSION_H
#define HARNESS_SESSION_H

#include "ddp.h"
#include "dp.h"
#include "launch/watch.h"
#include "plan/cell.h"
#include "verify/verify.h"
#include "workload.h"

/* ---- modes: modes.c -------------------------------------------------------------------------- */

/* The modes that can be measured, one table row for each. A row knows how the step is made and
 * which phases it has. Timing, repeating and verifying a step is the same for all. */

struct session;

/* Statuses are 0 or those of err. k is the number of a set. */
struct measurable {
    unsigned phases; /* 1 << enum record_phase for each that a step has */
    bool alone;      /* the model alone on the first device */
    bool ranks;      /* each device is a rank; the reduction can be run apart (session_overlap) */
    unsigned free;   /* DP_COMM_: flags of communicators that may add in another order each time */
    bool wide_blas;  /* the BLAS has the cores of all devices: their workers stay asleep */
    /* Opens session->top, the module that is trained, on the group of the session. */
    int (*open)(struct session *session, const struct cell_config *config, struct dp_error *err);
    /* Runs forward, loss, backward and update. They are queued; an asynchronous device may not have
     * finished them yet. */
    int (*step)(struct session *session, int k, struct dp_error *err);
};

extern const struct measurable measure_modes[CELL_MODES];

/* ---- a module that observes: probe.c -------------------------------------------------------- */

/* A module around another one that notes the shapes that each replica really saw. */

/* The shapes that one replica saw since probe_clear. Only the worker of the replica writes them. */
struct probe_shape {
    int calls;
    int in_dims, out_dims;
    size_t in[DP_MAX_DIMS], out[DP_MAX_DIMS];
};

struct probe {
    struct probe_shape replica[DP_MAX_SLOTS]; /* outside a replica: entry 0 */
};

/* Wraps child; probe must outlive the module. */
int probe_open(struct dp_group *group, struct dp_module *child, struct probe *probe,
               struct dp_module **module, struct dp_error *err);
void probe_clear(struct probe *probe);
/* Gives the rows of each replica up to the last one that ran, and returns how many replicas that
 * are. A replica that did not run, or ran more than once, has 0 rows. */
size_t probe_rows(const struct probe *probe, size_t rows[DP_MAX_SLOTS]);

/* ---- a model and its loss: probe.c ---------------------------------------------------------- */

/* A model and its loss as one module, as DistributedDataParallel wraps them: the worker of each
 * rank runs both. */

/* Inputs of the pair are a batch, and the other input of the loss (targets, or factors), for which
 * there is no gradient. Outputs are the loss, and the outputs of the model. The rank of replica r
 * is on slot r of group, where the loss counts as phase LOSS. The pair retains model and loss; the
 * caller closes all three. */
int pair_open(struct dp_group *group, struct dp_module *model, struct dp_module *loss,
              struct dp_module **pair, struct dp_error *err);

/* ---- the end of a step: update.c ------------------------------------------------------------ */

/* The end of a step: gradients are clipped or not, then SGD or AdamW changes the parameters. */

/* The update of a module, or of ranks if ddp is given to these functions. */
struct update {
    /* The caller fills these in before update_open. */
    bool adamw;
    float momentum, decay; /* of SGD */
    /* The largest norm of all gradients together; 0: they are not clipped; infinity: clipping takes
     * its time, but changes nothing. */
    double max_norm;
    struct dp_adamw_config config; /* its learning rate is also that of SGD */
    struct dp_sgd *sgd;
    struct dp_adamw *states;
    struct dp_clip *clip;
};

/* Opens what the update of a module needs. Close it in any case. */
int update_open(struct update *update, struct dp_module *top, struct dp_error *err);
void update_close(struct update *update);
void update_set_rate(struct update *update, double rate);
/* Makes the next step the first one of the optimizer, which still reads its state, as in all
 * steps. */
int update_restart(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_clip(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_step(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
/* The norm of the gradients before they were clipped; NaN: they are not. */
int update_norm(const struct update *update, const struct dp_ddp *ddp, double *norm,
                struct dp_error *err);

/* ---- a session: session.c ------------------------------------------------------------------- */

#define SESSION_PARAMS WORKLOAD_PARAMS
#define SESSION_SETS   (WORKLOAD_SETS + 1)

/* The time of a step on the monotonic clock, until all devices were idle; its phases are in the
 * trace. */
struct session_times {
    uint64_t start_ns, step_ns;
};

/* The wishes of a caller that runs steps other than those of a cell; all zeros: those of a cell. */
struct session_use {
    /* Puts a module around what a device runs, in place of the probe: around the model in its
     * wrapper, or around the model and loss of a rank (inside: around its model). NULL: the
     * probe. */
    int (*around)(void *user, struct dp_group *group, struct dp_module *child,
                  struct dp_module **module, struct dp_error *err);
    /* Fills one side of the batch of a set, session->rows rows. NULL: with the rows of the
     * workload. */
    void (*fill)(void *user, const struct workload_set *set, enum workload_side side, void *values);
    void *user;
    const struct update *update; /* only read by the opening; NULL: that of the workload */
    /* The loss, and what it is multiplied by; 0: the loss of the workload. */
    enum dp_loss_kind loss;
    float factor;
    bool inside;
    bool whole;  /* mode dp wraps all of the model, even if a user would wrap a part of it */
    bool frozen; /* steps leave the update to the caller, and session_read reads no results */
    bool lent;   /* there are no sets: the batch of a step is lent by session_lend */
};

/* It is plain data; session_open fills it and session_close empties it. */
struct session {
    const struct measurable *kind; /* NULL: not opened */
    const struct workload *workload;
    struct session_use use;
    size_t rows;
    struct dp_group *group;
    struct dp_slot *slot; /* the first device; the host if there is none */
    struct dp_module *model, *probed, *pair, *loss_module;
    struct dp_module *top; /* the trained module: the model, all or a part of it in the wrapper */
    struct dp_run *run;
    struct update update;
    struct probe probe;
    struct dp_trace trace;
    bool untraced; /* steps have no times of phases, and take no time to measure them */
    int n_params;  /* without buffers: nothing is learned in them, and no output depends on them */
    struct dp_param *param[SESSION_PARAMS];
    int at[SESSION_PARAMS]; /* the place of each in the list that has buffers, too */
    bool host_inputs;       /* the batches are on the host when a step begins */
    /* The batches: side i of rank r is [2 * r + i]; on the host it is [i], for all ranks. */
    struct dp_tensor in[SESSION_SETS][2 * DP_MAX_SLOTS];
    float *value[SESSION_SETS][SESSION_PARAMS]; /* parameter sets */
    struct dp_ddp *ddp;                         /* NULL: no ranks */
    int n_ranks;             /* of this process, each with its parameters; 1 without ranks */
    struct dp_tensor *out;   /* of rank r in the last step [r * DP_MAX_IO]: loss, output */
    uint64_t now_ns, end_ns; /* of process 0: its clock, and the end of the last step */
    /* session_read fills these. */
    float *outputs, *gradient[SESSION_PARAMS], *updated[SESSION_PARAMS];
    float loss_value;
    double norm;       /* of the gradients before clipping; NaN: they are not clipped */
    uint64_t launched; /* kernels of the group before the step */
    uint64_t kernels;  /* in the last step */
};

double session_seconds_since(uint64_t start_ns);

/* The phases that a step of the cell has: 1 << enum record_phase for each. */
unsigned session_phases(const struct cell_config *config);

/* Opens the mode and model of the config on group, without any set. The caller closes the session
 * in any case, and keeps the config until then. use: is copied; NULL: that of a cell. */
int session_open(struct session *session, struct dp_group *group, const struct cell_config *config,
                 const struct session_use *use, struct dp_error *err);
void session_close(struct session *session); /* not the group */
/* Gives parameter p of rank r, and its gradient; a gradient that does not exist has no slot. */
int session_param(const struct session *session, int r, int p, struct dp_tensor *value,
                  struct dp_tensor *grad, struct dp_error *err);
/* Opens the sets of the timed steps, made from the seed of the config. */
int session_open_sets(struct session *session, const struct cell_config *config,
                      struct dp_error *err);
/* Opens session->probed around a part of the model: a probe, if the caller has no other module. */
int session_observe(struct session *session, struct dp_module *part, struct dp_error *err);
/* The rows of a rank of the world, which without ranks has all. They are dealt evenly: the first
 * ranks have one more. */
size_t session_rank_rows(const struct session *session, int rank);
/* Loads the batch of a set, as number set->index. */
int session_load(struct session *session, const struct workload_set *set, struct dp_error *err);
/* Opens batch and parameters of a set, as number set->index. Closing waits for nothing and may be
 * done twice. */
int session_open_set(struct session *session, const struct workload_set *set, struct dp_error *err);
void session_close_set(struct session *session, int k);
/* Takes an input and a target of the caller as batch 0, which stay with it, and drops the results
 * of the last step. They are on one device, with equally many rows for each local rank, one rank
 * after the other. */
int session_lend(struct session *session, const struct dp_tensor in[2], struct dp_error *err);

/* Writes these values to the parameters of all ranks. */
int session_restore(struct session *session, float *const value[], struct dp_error *err);
/* Writes parameter set k to the model (not to a frozen one), clears gradients, probe and trace, and
 * aligns the workers. */
int session_prepare(struct session *session, int k, struct dp_error *err);
/* Prepares for a step that goes on with the parameters of the last one. */
void session_clear(struct session *session);
void session_set_traced(struct session *session, bool traced);
/* Runs one training step on batch k: forward, loss, backward and update, until all queues are
 * empty. */
int session_step(struct session *session, int k, struct session_times *times, struct dp_error *err);
/* Completes the trace of the step; an asynchronous device may still have times of it. A step that
 * is not traced has none. */
int session_trace(struct session *session, struct dp_error *err);
/* Reads outputs, loss, gradients and updated parameters to host memory. A gradient that does not
 * exist is read as NaN, which no check accepts. */
int session_read(struct session *session, struct dp_error *err);
/* The functions for processes that run the cell together . session_share:
 * after a step that was traced, gives all processes the times of all of them. It does nothing if
 * there is one process. */
bool session_is_shared(const struct session *session);
int session_share(struct session *session, struct session_times *times, struct dp_error *err);
/* The clock by which all processes stop: that of the first one at the last session_share. */
uint64_t session_now(const struct session *session);
/* Waits until all processes are here. */
int session_together(struct session *session, struct dp_error *err);
/* The peak memory of each device. */
int session_peaks(struct session *session, uint64_t peak[], struct dp_error *err);
/* Checks that all ranks have this digest; else DP_EFAULT names one that differs. */
int session_fingerprint(struct session *session, uint64_t digest, struct dp_error *err);
/* Exchanges outputs, losses and shapes of all ranks. On entry the outputs of the local ranks are in
 * their place, and loss has their losses. */
int session_share_outputs(struct session *session, size_t width, const float loss[],
                          struct dp_error *err);
/* The results that session_read has read, as the verifier takes them; shard gets the rows of up to
 * DP_MAX_SLOTS replicas. The result refers to session and shard. */
struct verify_step session_result(const struct session *session, size_t shard[]);
/* Times a step of ranks: without its reduction, the reduction alone, and whole
 * (measure/session_overlap.c). Runs 5 to 11 rounds, with the whole step first in every other round,
 * about as many as fit in the given time. The record of the cell gets them with their medians, and
 * the part of the reduction that is hidden, NaN if it is unknown. After an error the record is
 * unchanged.
 * verified: for each set, the session_digest of a step that was verified and the digest of its
 * gradients; every round must have these (else DP_EFAULT). Gradients and parameters are not usable
 * after it. */
struct session_verified {
    uint64_t step, gradients;
};
int session_overlap(struct session *session, double seconds,
                    const struct session_verified verified[WORKLOAD_SETS], struct record_cell *cell,
                    struct dp_error *err);
/* For mode dp on several devices that all have as many rows: runs 5 to 11 steps of set number 0
 * without any communication, and stores them in the record of the cell. This takes at most a 20th
 * of the time of the measured steps if they are short. gradients: the digest that the verified step
 * of that set has. It does nothing if that is not possible: in other modes, with shards that
 * differ, a table on the host, or too little memory for a second model
 * (measure/session_alone.c). */
int session_alone(struct session *session, const struct cell_config *config,
                  const struct workload_set *set, uint64_t gradients, struct record_cell *cell,
                  struct dp_error *err);
/* The digest of the gradients that session_read has read. */
uint64_t session_gradients(const struct session *session);
/* The bytes that crossed devices in the last step, for all replicas. */
double session_bytes(const struct session *session);
/* The digest of everything that session_read has read, and of the rows that each replica saw. */
uint64_t session_digest(const struct session *session);
/* The number of elements of the outputs of a step. */
size_t session_outputs(const struct session *session);
/* Allocates n floats, which the caller frees; NULL: memory is short. */
float *session_floats(size_t n);

/* ---- exchanges between the ranks of several processes, and who has which cores: session.c ---- */

struct dp_mpi;

/* Gathers bytes of each local rank (a multiple of 4, one rank after the other) on all processes, in
 * the order of the ranks of the world. All processes call it. */
int share_gather(struct dp_group *group, const void *mine, size_t bytes, void *all,
                 struct dp_error *err);

/* When an operation began that took took_ns in the slowest process, by the clock of the first
 * process. There it began at start_ns, the operation before it ended at end_ns, and at now_ns all
 * have finished it. A process that began earlier than the first one took longer, so the operation
 * may have begun earlier than start_ns. */
uint64_t share_start(uint64_t start_ns, uint64_t took_ns, uint64_t end_ns, uint64_t now_ns);

/* Whether devices of any process share cores. All processes call it. */
int share_oversubscribed(struct dp_group *group, bool *any, struct dp_error *err);

/* Divides cores between processes that got the same ones from their launcher, with each devices per
 * process. It fills in the fields of group that depend on that. */
void share_cores(const struct dp_mpi *mpi, int each, struct dp_group_config *group);

#endif
