/* measure/session.h: one workload on one group, ready to run training steps and to read what they
 * left.
 *
 * Everything is made once: two batches on the first device (mixed's on the host), or on the host if
 * each step carries its own to the devices; two parameter sets on the host. Set k of the parameters
 * is always used with batch k. The probe's set is there only while it is run. */
#ifndef HARNESS_SESSION_H
#define HARNESS_SESSION_H

#include "ddp.h"
#include "dp.h"
#include "measure/measurable.h"
#include "measure/probe.h"
#include "measure/update.h"
#include "verify/verify.h"
#include "workload.h"

#define SESSION_PARAMS WORKLOAD_PARAMS
#define SESSION_SETS   (WORKLOAD_SETS + 1)

/* A step on the monotonic clock, until all devices were idle; its phases are in the trace. */
struct session_times {
    uint64_t start_ns, step_ns;
};

/* One rank in DistributedDataParallel. */
struct session_rank {
    struct dp_tensor in[SESSION_SETS][2]; /* its rows of the batch, and of the loss's factors,
                                             unless these are on the host */
};

/* Plain data; fill with session_open, empty with session_close. */
struct session {
    const struct measurable *kind; /* NULL: not opened */
    const struct workload *workload;
    size_t rows;
    struct dp_group *group;
    struct dp_slot *slot; /* the first device; the host where there is none */
    struct dp_module *model, *probed, *loss_module;
    struct dp_module *top; /* what is trained: the model, all of it or a part in the wrapper */
    struct dp_run *run;
    struct update update;
    struct probe probe;
    struct dp_trace trace;
    bool untraced; /* steps leave no times of phases, and measuring those takes none of theirs */
    int n_params;  /* without buffers: nothing is learned in them, and no output depends on them */
    struct dp_param *param[SESSION_PARAMS];
    int at[SESSION_PARAMS]; /* the place of each in the list that has buffers, too */
    bool host_inputs;       /* the batches are on the host when a step begins */
    struct dp_tensor input[SESSION_SETS], upstream[SESSION_SETS];
    float *value[SESSION_SETS][SESSION_PARAMS]; /* parameter sets */
    struct dp_ddp *ddp;                         /* NULL: no ranks */
    struct session_rank *ranks;
    struct dp_tensor *out;   /* of rank r in the last step [r * DP_MAX_IO]: loss, output */
    int n_ranks;             /* of this process */
    uint64_t now_ns, end_ns; /* of the first of several processes: its clock; of the last step */
    struct dp_tensor output, loss; /* of the last step, until the next */
    /* What session_read fills. */
    float *outputs, *gradient[SESSION_PARAMS], *updated[SESSION_PARAMS];
    float loss_value;
    double norm;       /* of the gradients before clipping; NaN: they are not clipped */
    uint64_t launched; /* kernels of the group before the step; then: */
    uint64_t kernels;  /* in the last step */
};

uint64_t session_clock_ns(void);

/* The row of a mode. */
const struct measurable *session_measurable(enum cell_mode mode);
/* What a step of the cell has: 1 << enum record_phase for each. */
unsigned session_phases(const struct cell_config *config);

/* Opens what the config says on group, without any set; the caller closes the session in any case,
 * and keeps the config until then. */
int session_open(struct session *session, struct dp_group *group, const struct cell_config *config,
                 struct dp_error *err);
void session_close(struct session *session); /* not the group */
/* The sets of the timed steps, made from the config's seed. */
int session_open_sets(struct session *session, const struct cell_config *config,
                      struct dp_error *err);
/* A tensor of rows with these values. */
int session_open_rows(struct dp_slot *slot, const struct workload_row *row, size_t rows,
                      const void *values, struct dp_tensor *tensor, struct dp_error *err);
/* One side of the batch of a set in host memory, which the caller frees; NULL: there is none. */
void *session_side(const struct session *session, const struct workload_set *set,
                   enum workload_side side);
/* Batch and parameters of a set, as number set->index. Closing waits for nothing and may be done
 * twice. */
int session_open_set(struct session *session, const struct workload_set *set, struct dp_error *err);
void session_close_set(struct session *session, int k);

/* Puts parameter set k in place, clears gradients, probe and trace, and aligns the workers. */
int session_prepare(struct session *session, int k, struct dp_error *err);
/* Makes ready for a step that goes on with the parameters that the last one left. */
void session_clear(struct session *session);
void session_set_traced(struct session *session, bool traced);
/* One training step on batch k: forward, loss, backward, update, everything drained. */
int session_step(struct session *session, int k, struct session_times *times, struct dp_error *err);
/* Completes the trace of the step, which a device of its own may still have; one that is not traced
 * has none. */
int session_trace(struct session *session, struct dp_error *err);
/* Outputs, loss, gradients and updated parameters to host memory. A gradient that is none is
 * read as NaN, which no check lets pass. */
int session_read(struct session *session, struct dp_error *err);
/* Processes that run the cell together. After a step that was traced, the times of all of them,
 * the same in each; nothing where there is one. measure/session_share.c */
bool session_is_shared(const struct session *session);
int session_share(struct session *session, struct session_times *times, struct dp_error *err);
/* The clock by which all stop: that of the first one at the last session_share. */
uint64_t session_now(const struct session *session);
/* Waits until all are here. */
int session_together(struct session *session, struct dp_error *err);
/* bytes, in whole words, of each rank here to those of all ranks; both may be in one place. */
int session_gather(struct session *session, const void *mine, size_t bytes, void *all,
                   struct dp_error *err);
/* The most that each device held. */
int session_peaks(struct session *session, uint64_t peak[], struct dp_error *err);
/* Whether all ranks have this digest: else DP_EFAULT names one. */
int session_fingerprint(struct session *session, uint64_t digest, struct dp_error *err);
/* Outputs, losses and shapes of all ranks; of those here the outputs are in their place, and loss
 * has theirs. */
int session_share_outputs(struct session *session, size_t width, const float loss[],
                          struct dp_error *err);
/* What session_read found, as the verifier takes it; shard gets the rows of up to DP_MAX_SLOTS
 * replicas. It lasts as long as both. */
struct verify_step session_result(const struct session *session, size_t shard[]);
/* A step of ranks apart: without its reduction, the reduction alone, and whole.
 * measure/session_overlap.c
 */
struct session_apart {
    double compute_ns, comm_ns, whole_ns;
};
/* What a whole step left (session_digest), its gradients, and those of a step and its reduction. */
struct session_left {
    uint64_t step, whole, parts;
};
/* Of batch k, the whole step first or last; the gradients of all ranks are the same (else
 * DP_EFAULT). */
int session_apart(struct session *session, int k, bool whole_first, struct session_apart *times,
                  struct session_left *left, struct dp_error *err);
/* 5 to 11 rounds of that, in turns, about as many as take so long, into the cell's record with
 * their medians; and the part of the reduction that is hidden, NaN where it cannot be told. After
 * an error the record is as before. verified: of each set, the session_digest of a step that was
 * verified and the digest of its gradients: every round must leave these (else DP_EFAULT).
 * Gradients and parameters are of no use after it. */
struct session_verified {
    uint64_t step, gradients;
};
int session_overlap(struct session *session, double seconds,
                    const struct session_verified verified[WORKLOAD_SETS], struct record_cell *cell,
                    struct dp_error *err);
/* Of mode dp on several devices, all with as many rows: 5 to 11 steps of set number 0 without any
 * communication into the cell's record, within a 20th of the time of the measured steps if they are
 * short. gradients: the digest that the verified step of that set has. Nothing where it cannot be
 * done: other modes, shards that differ, a table on the host, too little memory for a second model.
 * measure/session_alone.c */
int session_alone(struct session *session, const struct cell_config *config,
                  const struct workload_set *set, uint64_t gradients, struct record_cell *cell,
                  struct dp_error *err);
/* The digest of the gradients that session_read has read. */
uint64_t session_gradients(const struct session *session);
/* Bytes that crossed devices in the last step, for all replicas. */
double session_bytes(const struct session *session);
/* Digest of everything that session_read has read, and of the rows that each replica saw. */
uint64_t session_digest(const struct session *session);
/* Elements of a step's outputs. */
size_t session_outputs(const struct session *session);
/* Memory for so many; NULL: there is none. The caller frees it. */
float *session_floats(size_t n);

#endif
