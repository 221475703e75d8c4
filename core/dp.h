/* dp.h: the reference implementation of data parallelism. With its parts, which it includes,
 * dp_layers.h (more layers), dp_optim.h (optimizers) and dp_observe.h (machine, launches, traces),
 * and with ddp.h (ranks), what core/ shows.
 *
 * A batch of N rows is split over K devices; every device runs a replica of one module on its
 * shard; outputs are gathered in replica order; gradients are summed into the base module. The
 * semantics are those of torch.nn.DataParallel (Python). Where Python and the C++ frontend
 * differ, this follows Python and says so [replica 0 is an alias: REPL-05 not REPL-06; the
 * output device is ignored for one device: OUT-04; the lowest failing replica is reported:
 * APPLY-09; an unused parameter gets zeros for K >= 2 and nothing for K = 1: GRAD-11].
 *
 * Letters    N rows, D features, K slots asked for, m shards made (m <= K), s or i a replica.
 * Rule ids   in square brackets, e.g. [SPLIT-01]; the tests name the same ids.
 *
 * Conventions, unless a declaration says otherwise
 *   Errors   int functions return 0 or a negative enum dp_status and fill *err (may be NULL;
 *            must be zeroed by the caller; the first error wins). Outputs are set on success
 *            only. A failing call drains every queue it used before it returns.
 *   Order    work on a device is queued; a call returns when it is queued. Host memory is
 *            never touched after the call that was given it returns. dp_group_wait and
 *            dp_tensor_read wait.
 *   Threads  a group and everything opened on it belong to one calling thread at a time.
 *            Modules' forward and backward are called on the workers of their devices.
 *   Rounding float operations are IEEE single precision in a fixed order; no fast-math.
 */
#ifndef DP_H
#define DP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default) /* what follows is all that a shared object exports */

#define DP_MAX_DIMS  5  /* dimensions of a tensor */
#define DP_MAX_SLOTS 64 /* devices of a group */
#define DP_MAX_IO    4  /* inputs or outputs of a module */

/* ---- 1. Errors ------------------------------------------------------------------------- */

enum dp_status {
    DP_OK = 0,
    DP_EINVAL = -1,  /* an argument is out of range; the text names value and range */
    DP_ENOMEM = -2,  /* memory could not be had */
    DP_ENODEV = -3,  /* a device that was asked for is not there */
    DP_EDEVICE = -4, /* tensors or parameters are on different devices; both are named */
    DP_ESHAPE = -5,  /* shapes do not fit each other; both are named */
    DP_ENOTSUP = -6, /* not available on this device or in this build */
    DP_EFAULT = -7,  /* the device or a replica failed while working */
};

struct dp_error {
    int status;  /* enum dp_status, 0: no error */
    int replica; /* failing replica when has_replica */
    bool has_replica;
    char text[240]; /* one line, with the values */
};

/* "EINVAL" and so on; "unknown" for other values. */
const char *dp_status_name(int status);

/* Records an error, if err is not NULL and holds none yet, and returns status. */
int dp_fail(struct dp_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- 2. Split -------------------------------------------------------------------------- */

struct dp_shard {
    size_t first; /* first row */
    size_t rows;  /* number of rows */
};

/* Number of shards m that N rows on K devices make: ceil(N / ceil(N/K)), which may be less
 * than K even when N >= K (10 on 8 makes five). N = 0 makes K empty shards. 0 if devices < 1.
 * Source: ATen chunk.  [SPLIT-02 SPLIT-03 SPLIT-04 SPLIT-05] */
int dp_split_count(size_t rows, int devices);

/* Shard s: consecutive rows, ceil(N/K) of them, the last shard what is left.
 * Errors DP_EINVAL devices < 1 or s outside 0..m-1.               [SPLIT-01 SPLIT-06] */
int dp_split(size_t rows, int devices, int s, struct dp_shard *shard, struct dp_error *err);

/* ---- 3. Groups and slots --------------------------------------------------------------- */

struct dp_world; /* the processes of a group */
struct dp_group; /* the slots of one device list, their workers, one communicator */
struct dp_slot;  /* a device list's entry: memory, two in-order queues, one worker */

/* What the operands of matrix products are rounded to; sums, results, parameters and everything
 * else stay fp32.
 *   DP_MATH_F32   not at all: true fp32
 *   DP_MATH_TF32  to 11 significant bits, by the GPU, in every matrix product; GPUs only.
 *                 Integers up to 2^11 are not changed
 *   DP_MATH_BF16  to bfloat16, 8 significant bits, to nearest with ties to even, in dp_linear:
 *                 input, weight and output gradient. Integers up to 2^8 are not changed */
enum dp_math { DP_MATH_F32, DP_MATH_TF32, DP_MATH_BF16, DP_MATHS };
const char *dp_math_name(enum dp_math math); /* "f32", "tf32", "bf16" */

struct dp_group_config {
    /* Device list: "virt:4" four virtual devices, each with memory of its own and a core set;
     * "host" none at all. "cuda:0-3,5" GPUs, "cuda:all" all there are, "cuda:0,0,0" three slots
     * on one GPU, which then is oversubscribed. At most DP_MAX_SLOTS. DP_ENODEV where there are
     * none. Behind virtual devices or GPUs, each at most once and in any order: "+500us" every
     * operation of a queue of transfers takes so much longer; "+1000MB/s" what it writes takes as
     * much longer as at that rate; "+fault:launch@3" the third launch fails, counted over all
     * slots from here on, or that call of another operation: a bad one gets the list of them.
     * Behind virtual devices also "+lag": every queued operation runs later; or, without that,
     * "+fault:flip@37/1": device 1 silently goes wrong in step 37. */
    const char *devices;
    /* "cpu" (NULL): CBLAS kernels, communicator threads; matrix products of 2^18 multiplications
     * and more by oneDNN, where it is installed and has kernels for this CPU that are faster.
     * "cpu-cblas": never by oneDNN. "cpu-onednn": DP_EINVAL where cpu has no oneDNN. "cpu-ref":
     * portable kernels, communicator staged; the definition of every result. On GPUs "cuda"
     * (NULL), communicator peer, and "cuda-staged", everything through the host. */
    const char *backend;
    /* What carries data between slots, instead of the backend's own (NULL): a name of
     * dp_communicators that serves these devices. The results are the same. */
    const char *communicator;
    enum dp_math math;
    /* +lag only. 0: an operation runs only when something that is waited for needs it. Other
     * seeds: at times those of some queues run at once, until nothing is left. */
    uint64_t lag_seed;
    /* Bind workers, the calling thread included, to the slots' core sets, until the group is
     * closed. One bound group at a time: another would only see the caller's cores. */
    bool bind;
    /* Allow a topology that is not this machine's (dp_machine), to show it. Else DP_ENODEV. */
    bool foreign;
    /* Matrix products of the first slot use the cores of all slots, by threads of the BLAS, one on
     * each. For a model that is on that slot alone: dp_wide_blas_check. One such group at a time.
     */
    bool wide_blas;
    /* GPUs: every operation is launched by itself. Else the operations of a forward, a backward or
     * an update are launched together as a CUDA graph from the third time on that they are the
     * same, down to every pointer, size and number. */
    bool no_graphs;
    /* Communicator nccl: for so long a collective is waited for before all of them are given up;
     * 0: 300. */
    unsigned deadline_s;
    /* Communicator peer: what goes to many GPUs is cut into slices of at least so many bytes, which
     * the GPUs then hand on to each other; 0: 4 MiB. The results are the same. */
    size_t slice_bytes;
    /* NULL: this process alone. Else the processes that open a group together, each with its own
     * slots: core/backend.h. Used until the group is closed. */
    const struct dp_world *world;
    /* Slots of the processes on this machine that may use a core that this process may use, too,
     * and how many of them come before those of this process: the slots divide the cores. Slots of
     * all processes on this machine: the processor time of a control group is for all of them.
     * 0: there are only those of this process. */
    int sharing, sharing_before, on_machine;
};

/* Opens every slot of the list and starts one worker per slot but the first; the calling
 * thread is the first slot's worker.
 * Errors DP_EINVAL unknown kind, backend, communicator, math or count, one that is not for these
 *        devices, with what is allowed; DP_ENODEV;
 *        DP_ENOMEM. Ownership: *group by dp_group_close, after everything opened on it. */
int dp_group_open(const struct dp_group_config *config, struct dp_group **group,
                  struct dp_error *err);
void dp_group_close(struct dp_group *group); /* NULL allowed; joins the workers */

int dp_group_size(const struct dp_group *group); /* K; 0 for "host" */
/* Slots of all processes, and how many of them are before this process's: K and 0 where it is the
 * only one. Slot i is rank dp_group_first + i. DataParallel is of the K slots here. */
int dp_group_world(const struct dp_group *group);
int dp_group_first(const struct dp_group *group);
struct dp_slot *dp_group_slot(struct dp_group *group, int i); /* NULL outside 0..K-1 */
/* CPU memory; of a group of GPUs locked (pinned), so that these copy side by side. */
struct dp_slot *dp_group_host(struct dp_group *group);
const char *dp_group_backend(const struct dp_group *group); /* "cpu", ... */
enum dp_math dp_group_math(const struct dp_group *group);
const char *dp_group_communicator(const struct dp_group *group); /* "threads", "staged" */
/* Workers share a core, or several slots are on one GPU: times say little. */
bool dp_group_oversubscribed(const struct dp_group *group);
/* "driver 13.0, runtime 13.0, cuBLAS 13.0.2" of a group of GPUs; else "". */
const char *dp_group_software(const struct dp_group *group);
/* What makes large matrix products in place of the CBLAS, and with which kernels: "oneDNN 2.6.3
 * brg:avx512_core"; "" nothing. */
const char *dp_group_products(const struct dp_group *group);
/* All that makes matrix products, as records keep it: name, version and kernels of the CBLAS, and
 * behind ", " what makes large ones instead. Cut to bytes; 160 are enough. */
void dp_group_blas(const struct dp_group *group, char *text, size_t bytes);
int dp_group_wait(struct dp_group *group, struct dp_error *err); /* drains every queue */

/* Hands an empty task to every worker and takes it back: all are awake and in step. */
void dp_group_barrier(struct dp_group *group);

struct dp_slot_info {
    char name[32];       /* "virt:2", "host", "cuda:0"; another slot on that GPU "cuda:0#1" */
    char kind[16];       /* "virt", "host", "cuda" */
    unsigned flags;      /* of that kind: dp_kinds; 0 of the host */
    int index;           /* position in the device list, -1 for the host */
    char cores[128];     /* its core set as a list of processing units, "0-3,8"; "" unbound */
    int numa_node;       /* nearest NUMA node, -1 unknown */
    bool bound;          /* its worker is bound to cores */
    bool lag;            /* operations run late on purpose */
    uint64_t delay_ns;   /* by which each operation of its queue of transfers is delayed */
    uint64_t delay_rate; /* bytes per second: delays it by what it writes, too; 0: no delay */
    uint64_t peak_bytes; /* most bytes that tensors, parameters and steps had there at one time */
    /* Of a GPU; else "", 0 and false. */
    char model[64], bus[16]; /* "NVIDIA H100 80GB HBM3", "0000:1b:00.0" */
    uint64_t memory_bytes;
    bool near; /* cores and NUMA node are those beside it; else, and if unbound, a share of all */
};
void dp_slot_describe(const struct dp_slot *slot, struct dp_slot_info *info);
const char *dp_slot_name(const struct dp_slot *slot);
struct dp_group *dp_slot_group(const struct dp_slot *slot);

/* ---- 4. Tensors ------------------------------------------------------------------------ */

/* DP_BF16 is only carried: no kernel computes with it, and no parameter has it. */
enum dp_dtype { DP_F32, DP_F64, DP_I32, DP_I64, DP_BF16 };

/* Plain data, passed by value or pointer; copying it makes a view. Row-major, contiguous. */
struct dp_tensor {
    void *data;           /* on slot; may be NULL when it has no elements */
    struct dp_slot *slot; /* NULL: no tensor (as a gradient: none) */
    enum dp_dtype dtype;
    int ndim;                /* 0: one element */
    size_t dim[DP_MAX_DIMS]; /* dim[0] is the outermost */
    bool needs_grad;         /* as a module's input: backward computes its gradient */
    uint64_t *version;       /* private: counts changes of a parameter; NULL: of none */
};

size_t dp_dtype_bytes(enum dp_dtype dtype);
size_t dp_tensor_count(const struct dp_tensor *tensor); /* elements */
size_t dp_tensor_bytes(const struct dp_tensor *tensor);

/* Memory that is not part of a step: inputs, targets. Contents are undefined.
 * Ownership: dp_tensor_free, which waits for the group first. */
int dp_tensor_alloc(struct dp_slot *slot, enum dp_dtype dtype, int ndim, const size_t dim[],
                    struct dp_tensor *tensor, struct dp_error *err);
void dp_tensor_free(struct dp_tensor *tensor);

/* Rows first..first+rows of dimension 0, sharing memory.  Errors DP_EINVAL outside. */
int dp_tensor_rows(const struct dp_tensor *tensor, size_t first, size_t rows,
                   struct dp_tensor *view, struct dp_error *err);

/* Copy dp_tensor_bytes(tensor) from or to host memory; both wait for the slot's compute queue.
 * dp_tensor_copy: same dtype and number of elements, any two slots, queued.
 * Errors DP_ESHAPE; DP_EINVAL between two slots inside a replica. */
int dp_tensor_write(const struct dp_tensor *tensor, const void *host, struct dp_error *err);
int dp_tensor_read(void *host, const struct dp_tensor *tensor, struct dp_error *err);
int dp_tensor_copy(const struct dp_tensor *dst, const struct dp_tensor *src, struct dp_error *err);

/* Marks of all bits that tensors had: marks are DP_FOLD_MARKS numbers of type DP_I32 on the
 * tensor's slot, the caller's, who sets them to begin with. Queued. Tensors that are equal to the
 * bit, in the same order, leave equal marks; where one element of all differs marks do, always; of
 * more, but for one time in about 2^32. Errors DP_ESHAPE other marks, or a tensor whose elements
 * have not 4 bytes; DP_EDEVICE. */
#define DP_FOLD_MARKS 16384
int dp_tensor_fold(const struct dp_tensor *marks, const struct dp_tensor *tensor,
                   struct dp_error *err);

/* ---- 5. Modules and parameters --------------------------------------------------------- */

struct dp_module; /* a tree of layers, shared by all replicas; reference counted */
struct dp_run;    /* one execution of modules on a slot: step memory, saved activations */

/* A parameter or buffer of the base module. Read freely; write only frozen, buffer (before the
 * module is wrapped), init_bound, and the contents of value and grad through dp_tensor_write. */
struct dp_param {
    char name[48];          /* "weight"; dp_module_param_name gives the whole path */
    struct dp_tensor value; /* on the module's slot */
    struct dp_tensor grad;  /* same shape and slot; meaningful when has_grad */
    bool has_grad;          /* false: the gradient is none  [GRAD-11] */
    bool frozen;            /* no gradient is computed or summed  [REPL-13] */
    bool buffer;            /* state that is broadcast but not trained  [BUF-01] */
    /* dp_module_init: uniform in +-bound; 0: 1/sqrt(inputs of an output), < 0: left as it is */
    float init_bound;
    size_t id;                                 /* unique in its group */
    uint64_t version;                          /* private: how often its value was changed */
    struct dp_block *value_block, *grad_block; /* private */
    int refs;                                  /* private */
};

/* What a layer is. in[], out[] are tensors; backward gets the gradients of the outputs
 * (slot NULL: none) and sets those of the inputs (slot NULL: none, always so when the input did
 * not need one). A forward in grad mode saves what its backward needs with dp_run_save, once;
 * its backward takes it with dp_run_restore. Called on the worker of the replica's slot; must
 * not call dp_apply. self is the layer's own data. */
struct dp_module_ops {
    const char *kind;
    int (*forward)(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                   int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err);
    int (*backward)(struct dp_module *module, struct dp_run *run, const struct dp_tensor grad_out[],
                    int n_out, struct dp_tensor grad_in[], int n_in, struct dp_error *err);
    void (*close)(void *self); /* frees self; NULL: nothing to free */
};

/* A module of your own; children are retained (the caller still closes its references). */
int dp_module_open(struct dp_group *group, const struct dp_module_ops *ops, void *self,
                   struct dp_module *const children[], int n_children, struct dp_module **module,
                   struct dp_error *err);
void dp_module_close(struct dp_module *module); /* drops one reference; NULL allowed */
struct dp_module *dp_module_retain(struct dp_module *module);
void *dp_module_self(const struct dp_module *module);
const char *dp_module_kind(const struct dp_module *module);
struct dp_group *dp_module_group(const struct dp_module *module);
int dp_module_children(const struct dp_module *module);
struct dp_module *dp_module_child(const struct dp_module *module, int i);

/* Adds a parameter (zeros, on the host) to a module; it is freed with the module. */
int dp_module_add_param(struct dp_module *module, const char *name, enum dp_dtype dtype, int ndim,
                        const size_t dim[], struct dp_param **param, struct dp_error *err);
/* Uses a parameter of another module as well: tied weights, one gradient.   [REPL-09] */
int dp_module_tie_param(struct dp_module *module, struct dp_param *param, struct dp_error *err);

/* All parameters and buffers in tree pre-order, each once.                   [REPL-08]
 * Returns their number, and fills at most capacity of list; or DP_ENOMEM, and fills nothing. */
int dp_module_params(struct dp_module *module, struct dp_param *list[], int capacity);
/* "1.weight" for parameter i of that list (a wrapper adds "module."). [NEST-04]
 * Cut to `bytes` - 1 characters. DP_EINVAL: there is none; DP_ENOMEM. */
int dp_module_param_name(struct dp_module *module, int i, char *text, size_t bytes);

/* Moves all parameters, buffers and gradients to slot, into one arena in tree pre-order.
 * Values and gradient states are kept. On failure nothing was moved. */
int dp_module_to(struct dp_module *module, struct dp_slot *slot, struct dp_error *err);

/* Fills every parameter (not buffers) with numbers uniform in +-its init_bound, or else in
 * +-1/sqrt(product of its dimensions but the first, or of its only one), a function of seed and the
 * parameter's place only. */
int dp_module_init(struct dp_module *module, uint64_t seed, struct dp_error *err);

/* Gradients to none, as torch's zero_grad(set_to_none=True).                 [GRAD-05] */
void dp_zero_grad(struct dp_module *module);

/* ---- 6. Runs: forward and backward ----------------------------------------------------- */

int dp_run_open(struct dp_group *group, struct dp_run **run, struct dp_error *err);
void dp_run_close(struct dp_run *run); /* NULL allowed; drains first */

/* Starts a step: gives back all tensors that this run made (outputs, input gradients) and
 * forgets forwards that had no backward. Memory is kept for reuse: steps of equal shape
 * allocate nothing. */
void dp_run_reset(struct dp_run *run);
void dp_run_grad_mode(struct dp_run *run, bool on);  /* default on   [APPLY-05] */
void dp_run_train_mode(struct dp_run *run, bool on); /* default on   [BUF-09] */
bool dp_run_has_grad(const struct dp_run *run);
bool dp_run_is_training(const struct dp_run *run);
int dp_run_replica(const struct dp_run *run);          /* -1: not inside a replica */
struct dp_slot *dp_run_slot(const struct dp_run *run); /* the replica's; host outside */

/* Runs a module. A plain layer works where its inputs are; parameters elsewhere are an error.
 * out has room for the module's outputs (at most DP_MAX_IO), grad_in for its n_in inputs.
 * Outputs live until dp_run_reset. Every forward in grad mode may be followed by one backward;
 * several forwards may come before, then the backwards come in reverse order.  [COMP-10]
 * backward adds to the gradients of the base module's parameters.     [GRAD-03 GRAD-04]
 * n_grad_out 0 stands for one gradient of ones. grad_in may be NULL.
 * Errors DP_EINVAL for backward: a parameter was changed since its forward.  [GRAD-20] */
int dp_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[], int n_in,
               struct dp_tensor out[], int *n_out, struct dp_error *err);
int dp_backward(struct dp_module *module, struct dp_run *run, const struct dp_tensor grad_out[],
                int n_grad_out, struct dp_tensor grad_in[], int n_in, struct dp_error *err);

/* For modules of your own. */
int dp_run_tensor(struct dp_run *run, struct dp_slot *slot, enum dp_dtype dtype, int ndim,
                  const size_t dim[], struct dp_tensor *tensor, struct dp_error *err);
int dp_run_save(struct dp_run *run, const struct dp_module *module, const void *record,
                size_t bytes, struct dp_error *err);
int dp_run_restore(struct dp_run *run, const struct dp_module *module, void *record, size_t bytes,
                   struct dp_error *err);
/* This replica's tensor of a parameter of the base module; of a parameter outside the wrapped
 * tree, which is not replicated, the base's own.  [REPL-11] */
const struct dp_tensor *dp_run_value(struct dp_run *run, const struct dp_param *param);
/* This replica's gradient tensor; *accumulate tells whether it already holds a value to add
 * to. Marks it as set. The caller skips frozen parameters. Parameters of the wrapped tree only. */
void dp_run_grad(struct dp_run *run, struct dp_param *param, struct dp_tensor *grad,
                 bool *accumulate);
/* Queues a C function on slot, behind everything issued there before; args (at most
 * DP_CALL_BYTES) are copied. uses (at most DP_CALL_USES) lists the memory of the slot that it
 * reads or writes: args has a pointer to it, or NULL, at byte place. On a GPU the call waits for
 * the slot, and the function gets copies on the host: of what it reads, and of what it writes,
 * which must be all of those bytes unless it reads them, too. */
#define DP_CALL_BYTES 512
#define DP_CALL_USES  8
enum { DP_READS = 1, DP_WRITES = 2 };
struct dp_use {
    size_t place, bytes;
    unsigned mode; /* DP_READS, DP_WRITES or both */
};
int dp_run_call(struct dp_run *run, struct dp_slot *slot, void (*function)(const void *args),
                const void *args, size_t bytes, const struct dp_use uses[], int n_uses,
                struct dp_error *err);

/* ---- 7. Layers ------------------------------------------------------------------------- */

/* y = x W^T + b: in [N, ..., D_in], out [N, ..., D_out]; weight [D_out, D_in], bias [D_out].
 * Errors at forward: DP_ESHAPE another last dimension, fewer than 2. Source: torch.nn.Linear. */
int dp_linear(struct dp_group *group, size_t d_in, size_t d_out, bool bias,
              struct dp_module **module, struct dp_error *err);
/* y = x W^T with the weight [D_out, D_in] of another module, such as the table of an embedding: one
 * parameter and one gradient, to which each use adds. The parameter lives as long as either.
 * Errors DP_EINVAL of another group; DP_ESHAPE not a matrix of floats. Source: PyTorch's
 * `output.weight = embedding.weight`.                                            [REPL-09] */
int dp_linear_tied(struct dp_group *group, struct dp_param *weight, struct dp_module **module,
                   struct dp_error *err);
int dp_relu(struct dp_group *group, struct dp_module **module, struct dp_error *err);
int dp_tanh(struct dp_group *group, struct dp_module **module, struct dp_error *err);
/* Children in order, one tensor between them. A child may appear twice (tied). */
int dp_sequential(struct dp_group *group, struct dp_module *const children[], int n,
                  struct dp_module **module, struct dp_error *err);
#include "dp_layers.h" /* convolution, pooling, embedding, recurrent layers, ... */

/* Losses are modules: one 0-dim output on the slot of in[0]; sums are kept in double and
 * rounded once. The gradient flows to in[0] only.
 *   DP_LOSS_SUM  in[0] y, optional in[1] c of the same shape: scale * sum(c*y), c = 1 if absent
 *   DP_LOSS_MSE  in[0] y, in[1] t: scale * sum((y-t)^2)
 *   DP_LOSS_XENT in[0] logits [N, ..., C], in[1] classes [N, ...] as DP_I32:
 *                scale * sum over rows of -log softmax(y)[class]; every C numbers are a row
 * mean divides by the elements of y (XENT: by the rows).  [LOSS-01]
 * Errors DP_EINVAL no rows with mean; DP_ESHAPE; DP_EDEVICE.  A class out of range makes the
 * loss NaN. Sources: torch.nn.MSELoss, CrossEntropyLoss. */
enum dp_loss_kind { DP_LOSS_SUM, DP_LOSS_MSE, DP_LOSS_XENT };
int dp_loss(struct dp_group *group, enum dp_loss_kind kind, float scale, bool mean,
            struct dp_module **module, struct dp_error *err);

#include "dp_optim.h" /* optimizers, clipping, learning rates */

/* ---- 8. The primitives of data parallelism --------------------------------------------- */

/* Cuts input along dim into shards on slots. sizes NULL: dp_split; else one size per slot
 * that add up to the rows, 0 allowed. A negative dim wraps. A shard of dimension 0 that is
 * already on its slot is a view (so is one of another dimension when it is consecutive in memory);
 * all others are copies. Errors DP_EINVAL no slots, dim out of range, 0-dim input, sizes that do
 * not add up. Source: torch.nn.parallel.scatter, comm.scatter. [SPLIT-07 SPLIT-09 SPLIT-10 SPLIT-12
 * DIM-01 DEV-03] */
int dp_scatter(struct dp_run *run, const struct dp_tensor *input, struct dp_slot *const slots[],
               int n_slots, int dim, const size_t sizes[], struct dp_tensor shards[], int *n_shards,
               struct dp_error *err);

/* Concatenates parts along dim, in order, on slot output. 0-dim parts become a vector of n
 * (dim 0 only). A copy, always. Errors DP_EINVAL no parts; DP_ESHAPE names the part and both
 * shapes; DP_EDEVICE a part on the host. Source: torch.nn.parallel.gather.
 * [GATH-01 .. GATH-13, DIM-01 DIM-06] */
int dp_gather(struct dp_run *run, const struct dp_tensor parts[], int n, int dim,
              struct dp_slot *output, struct dp_tensor *out, struct dp_error *err);

/* Copies every tensor of src (all on one slot) to each slot; copies[i * n + j] is tensor j on
 * slots[i]; on the source's own slot it is src[j] itself. Transfers are grouped as
 * PyTorch groups them: tensors of one dtype are appended, a group closes when it reaches
 * buffer_bytes; neighbours in memory travel as one. Grouping never shows in the result.
 * Errors DP_EINVAL src on several slots or slots[0] not the source's device.
 * [COAL-01..08 REPL-15] */
#define DP_BUFFER_BYTES 10485760
int dp_broadcast_coalesced(struct dp_run *run, const struct dp_tensor src[], int n,
                           struct dp_slot *const slots[], int n_slots, size_t buffer_bytes,
                           struct dp_tensor copies[], struct dp_error *err);

/* sums[j] = ((src[0*n+j] + src[1*n+j]) + ...) over k lists of n tensors, list i on one slot, on
 * slot output. New tensors. A group closes before it would exceed buffer_bytes.
 * Errors DP_ESHAPE naming list and tensor; DP_EDEVICE a list on the host, or output that holds no
 * list.  [COAL-03 COAL-07 COAL-09 COAL-10 DET-01 GRAD-15] */
int dp_reduce_add_coalesced(struct dp_run *run, const struct dp_tensor src[], int n, int k,
                            struct dp_slot *output, size_t buffer_bytes, struct dp_tensor sums[],
                            struct dp_error *err);

/* One task of dp_apply: run a module in a run. */
struct dp_call {
    struct dp_module *module;
    struct dp_run *run; /* of the replica; every call its own */
    const struct dp_tensor *in;
    int n_in;
    struct dp_tensor *out; /* DP_MAX_IO entries */
    int n_out;             /* set */
};

/* Runs call i on the worker of its run's slot; one call: on the calling thread. Grad and train
 * mode are those of each run. All calls end before it returns; the error is that of the lowest
 * index, with its status kept, its replica number, and "replica i on SLOT: " before the text.
 * Errors DP_EINVAL no calls, runs of several groups, or called inside a replica.
 * Source: torch.nn.parallel.parallel_apply.  [APPLY-01..12] */
int dp_apply(struct dp_call calls[], int n, struct dp_error *err);

/* Replicas of a module on slots: entry 0 shares the base module's values (when the base is
 * there), all have gradients of their own. Errors DP_EINVAL a slot of another group. [REPL-05] */
struct dp_replicas;
int dp_replicas_open(struct dp_module *module, struct dp_slot *const slots[], int n,
                     struct dp_replicas **replicas, struct dp_error *err);
void dp_replicas_close(struct dp_replicas *replicas);
struct dp_run *dp_replicas_run(struct dp_replicas *replicas, int i);

/* Copies the base's current values to replicas 1..m-1 (one coalesced broadcast) and sets the
 * gradients of 0..m-1 to none. Nothing is cached between calls.
 * Errors DP_EDEVICE when a parameter or buffer is not on slots[0]; both devices are named.
 * Source: torch.nn.parallel.replicate.   [REPL-01 REPL-02 REPL-03 REPL-07 DEV-01 DEV-09] */
int dp_replicate(struct dp_replicas *replicas, int m, struct dp_error *err);

/* base gradient += ((g0 + g1) + ...) + g(m-1), in replica order unless the communicator has
 * DP_COMM_FREE_SUMS, for every parameter that is not frozen; a replica without a gradient counts as
 * zeros. [GRAD-01 GRAD-02 GRAD-04 GRAD-06 GRAD-11 GRAD-12 DET-01 DET-03] */
int dp_reduce(struct dp_replicas *replicas, int m, struct dp_error *err);

/* ---- 9. data_parallel ------------------------------------------------------------------- */

struct dp_parallel_config {
    struct dp_slot *const *device_ids; /* NULL: all slots of the group; order matters */
    int n_device_ids;
    struct dp_slot *output_device; /* NULL: device_ids[0]; any slot or the host */
    int dim;                       /* batch dimension of every input and output; negative wraps */
};

/* A module that runs another one data-parallel: scatter, replicate, apply, gather; backward
 * scatters the output gradient by the recorded sizes, applies, gathers the input gradients on
 * the inputs' own slots and reduces. It can be a layer of a larger model: wrap a block, or put
 * a host-side block before it.
 *   - K = 1: dp_parallel moves the module to device_ids[0], forward moves the inputs there and
 *     calls it directly; output_device is ignored.               [COMP-04 COMP-06 OUT-04]
 *   - no slots at all (group "host"): the module is called as it is.      [CPU-01]
 *   - no inputs: it runs once, on device_ids[0].                          [COMP-08]
 *   - fewer shards than slots: only the first m replicas run.             [SPLIT-02 REPL-03]
 *   - inputs may be on any slot; they must have equal rows on dim, else DP_ESHAPE.
 *     [DEV-04 STRUCT-05, the strict choice]
 *   - inside another data_parallel it is an error.                        [NEST-06]
 * config is not NULL; all zeros are the group's slots, along dimension 0.
 * Errors at open: DP_EINVAL duplicate or foreign slots. At forward: DP_EDEVICE when the
 * module is not on device_ids[0]; DP_EINVAL when it got parameters since; errors of dp_scatter,
 * dp_apply, dp_gather. After an error the module can be used again, and no gradient was written
 * [APPLY-12 ERR-08], with two exceptions: for K = 1 the module's own backward writes the base's
 * gradients as it goes, and a device that fails in the reduction itself leaves them undefined.
 * Source: torch.nn.DataParallel.       [COMP-01..10 GRAD-01..12 OUT-01..04 DIM-01 NEST-01..07] */
int dp_parallel(struct dp_module *module, const struct dp_parallel_config *config,
                struct dp_module **wrapper, struct dp_error *err);

/* The same as a function: one forward on the given slots. n_slots 0 is a plain call of the
 * module, which is never moved.  *call gets what dp_backward needs; close it with dp_module_close.
 * Source: torch.nn.parallel.data_parallel.   [COMP-06 CPU-02, the tutorial's contract] */
int dp_data_parallel(struct dp_module *module, struct dp_run *run, struct dp_slot *const slots[],
                     int n_slots, struct dp_slot *output_device, int dim,
                     const struct dp_tensor in[], int n_in, struct dp_tensor out[], int *n_out,
                     struct dp_module **call, struct dp_error *err);

/* ---- 10. What can be seen -------------------------------------------------------------- */

#include "dp_observe.h" /* the machine, GPUs, launches, traces */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
