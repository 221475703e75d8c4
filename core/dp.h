/* dp.h: the reference implementation of data parallelism. It includes its parts dp_layers.h (more
 * layers), dp_optim.h (optimizers) and dp_observe.h (machine, launches, traces). Together with
 * ddp.h (ranks) they are the public interface of core/.
 *
 * A batch of N rows is split over K devices. Every device runs a replica of one module on its
 * shard. Outputs are gathered in replica order, and gradients are summed into the base module. The
 * semantics are those of torch.nn.DataParallel (Python). Where Python and the C++ frontend differ,
 * this library follows Python: replica 0 is an alias of the base (REPL-05, not REPL-06); the output
 * device is ignored for one device (OUT-04); the lowest failing replica is reported (APPLY-09); an
 * unused parameter gets zeros for K >= 2 and no gradient for K = 1 (GRAD-11).
 *
 * Letters    N rows, D features, K slots requested, m shards made (m <= K), s or i a replica.
 * Rule ids   stand in square brackets, e.g. [SPLIT-01]; the tests name the same ids.
 *
 * Conventions, unless a declaration says otherwise
 *   Errors   An int function returns 0 or a negative enum dp_status, and fills *err. err may be
 *            NULL, and the caller zeroes it first; the first error wins. Outputs are set on success
 *            only. A call that fails waits until all queues that it used are empty.
 *   Order    Work on a device is asynchronous: a call returns when the work is queued. Host memory
 *            is an exception: the library does not touch it after the call that got it has
 *            returned. dp_group_wait and dp_tensor_read wait for queued work.
 *   Threads  A group and everything opened on it are used by one calling thread at a time. The
 *            forward and backward of a module run on the workers of their devices.
 *   Rounding Float operations are IEEE single precision in a fixed order, without fast-math. */
#ifndef DP_H
#define DP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default) /* the exports of the shared object */

#define DP_MAX_DIMS  5  /* most dimensions of a tensor */
#define DP_MAX_SLOTS 64 /* most devices of a group */
#define DP_MAX_IO    4  /* most inputs or outputs of a module */

/* ---- 1. Errors ------------------------------------------------------------------------- */

enum dp_status {
    DP_OK = 0,
    DP_EINVAL = -1,  /* an argument is out of range; the text names value and range */
    DP_ENOMEM = -2,  /* memory could not be allocated */
    DP_ENODEV = -3,  /* a device of the list does not exist */
    DP_EDEVICE = -4, /* tensors or parameters are on different devices; both are named */
    DP_ESHAPE = -5,  /* shapes do not match; both are named */
    DP_ENOTSUP = -6, /* not available on this device, or not in this build */
    DP_EFAULT = -7,  /* the device or a replica failed while working */
};

struct dp_error {
    int status;  /* enum dp_status; 0: no error */
    int replica; /* the failing replica, if has_replica */
    bool has_replica;
    char text[240]; /* one line, with the values */
};

/* Returns the name, like "EINVAL"; "unknown" for other values. */
const char *dp_status_name(int status);

/* Records an error in *err, unless err is NULL or already holds one. Returns status. */
int dp_fail(struct dp_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- 2. Split -------------------------------------------------------------------------- */

struct dp_shard {
    size_t first; /* first row */
    size_t rows;  /* number of rows */
};

/* Returns m, the number of shards of N rows on K devices: ceil(N / ceil(N/K)). It may be less than
 * K even if N >= K: 10 rows on 8 devices make five shards. N = 0 makes K empty shards. Returns 0 if
 * devices < 1. Source: ATen chunk. [SPLIT-02 SPLIT-03 SPLIT-04 SPLIT-05] */
int dp_split_count(size_t rows, int devices);

/* Fills *shard with shard s. A shard has ceil(N/K) consecutive rows; the last one has the remaining
 * rows. Errors: DP_EINVAL if devices < 1, or if s is not in 0..m-1. [SPLIT-01 SPLIT-06] */
int dp_split(size_t rows, int devices, int s, struct dp_shard *shard, struct dp_error *err);

/* ---- 3. Groups and slots --------------------------------------------------------------- */

struct dp_world; /* the processes of a group */
struct dp_group; /* the slots of one device list, their workers and a communicator */
struct dp_slot;  /* one entry of a device list: memory, two in-order queues, one worker */

/* How the operands of matrix products are rounded. Sums, results, parameters and everything else
 * stay fp32.
 *   DP_MATH_F32   Operands are not rounded: true fp32.
 *   DP_MATH_TF32  The GPU rounds them to 11 significant bits in every matrix product. GPUs only.
 *                 Integers up to 2^11 do not change.
 *   DP_MATH_BF16  dp_linear rounds its input, weight and output gradient to bfloat16: 8 significant
 *                 bits, to nearest with ties to even. Integers up to 2^8 do not change. */
enum dp_math { DP_MATH_F32, DP_MATH_TF32, DP_MATH_BF16, DP_MATHS };
const char *dp_math_name(enum dp_math math); /* "f32", "tf32", "bf16" */

struct dp_group_config {
    /* The device list. "virt:4" is four virtual devices, each with separate memory and cores;
     * "host" is no device at all. "cuda:0-3,5" is these GPUs, "cuda:all" is all GPUs, and
     * "cuda:0,0,0" is three slots on one GPU, which is then oversubscribed. A list has at most
     * DP_MAX_SLOTS devices. A missing device is DP_ENODEV. Suffixes follow the devices, each at
     * most once and in any order. "+500us" delays every operation of a comm queue by that time.
     * "+1000MB/s" delays it by the time that its bytes take at that rate. "+fault:launch@3" makes
     * the third launch fail, counted over all slots from here on; other operations can fail in the
     * same way, and the error of a wrong name lists them. Two more suffixes are for virtual
     * devices, and exclude each other: "+lag" runs every queued operation late, and
     * "+fault:flip@37/1" corrupts a result of device 1 in step 37 without an error. */
    const char *devices;
    /* The kernels. "cpu" (NULL) has CBLAS kernels and the communicator threads. oneDNN makes its
     * matrix products of 2^18 multiplications or more, if it is installed and has faster kernels
     * for this CPU. "cpu-cblas" never uses oneDNN; "cpu-onednn" is DP_EINVAL if cpu would not use
     * it. "cpu-ref" has portable kernels and the communicator staged; it defines every result. On
     * GPUs "cuda" (NULL) has the communicator peer, and "cuda-staged" copies everything through the
     * host. */
    const char *backend;
    /* The communicator, which carries data between slots: a name of dp_communicators that supports
     * these devices. NULL: the default of the backend. Results do not depend on it. */
    const char *communicator;
    enum dp_math math;
    /* For +lag only. 0: an operation runs only when something that is waited for needs it. Other
     * seeds: from time to time the operations of some queues run at once, until none is left. */
    uint64_t lag_seed;
    /* Binds the workers, and the calling thread, to the cores of their slots until the group is
     * closed. Only one group at a time can be bound, because a second one would see only the cores
     * that the calling thread is bound to. */
    bool bind;
    /* Accepts a topology of another machine (see dp_machine), to show it. Otherwise it is
     * DP_ENODEV. */
    bool foreign;
    /* Matrix products of the first slot use the cores of all slots: the BLAS, and oneDNN where the
     * backend has it, have as many threads as there are slots. This is for a model that is on that
     * slot alone; see dp_wide_blas_check. Only one such group may be open at a time. */
    bool wide_blas;
    /* GPUs: every operation is launched by itself. Otherwise the operations of a forward, a
     * backward or an update are launched together as a CUDA graph, from the third time on that they
     * are the same in every pointer, size and number. */
    bool no_graphs;
    /* Communicator nccl: the seconds to wait for a collective before all of them are given up. 0:
     * 300. */
    unsigned deadline_s;
    /* Communicator peer: data for many GPUs are cut into slices of at least this many bytes, which
     * the GPUs forward to each other. 0: 4 MiB. Results do not depend on it. */
    size_t slice_bytes;
    /* The processes that open a group together, each with different slots; see core/backend.h. It
     * is used until the group is closed. NULL: this process is alone. */
    const struct dp_world *world;
    /* Several processes may share cores. sharing is the number of slots of all processes on this
     * machine that may use one of this process's cores; sharing_before is the number of those slots
     * before this process's. Each slot then gets different cores. on_machine is the number of slots
     * of all processes on this machine, which share the processor time of the control group. 0:
     * this process is alone. */
    int sharing, sharing_before, on_machine;
};

/* Opens every slot of the list, and starts a worker for each slot but the first; the calling thread
 * is the worker of the first slot. Errors: DP_EINVAL if kind, backend, communicator, math or count
 * is unknown or does not fit these devices (the text lists what is allowed); DP_ENODEV; DP_ENOMEM.
 * Ownership: close *group with dp_group_close, after everything that was opened on it. */
int dp_group_open(const struct dp_group_config *config, struct dp_group **group,
                  struct dp_error *err);
void dp_group_close(struct dp_group *group); /* joins the workers; NULL is allowed */

int dp_group_size(const struct dp_group *group); /* returns K; 0 for "host" */
/* The number of slots in all processes (the world size), and the number of slots in the processes
 * before this one. A single process has K and 0. Slot i is rank dp_group_first + i. DataParallel
 * uses only the K slots of this process. */
int dp_group_world(const struct dp_group *group);
int dp_group_first(const struct dp_group *group);
struct dp_slot *dp_group_slot(struct dp_group *group, int i); /* returns NULL outside 0..K-1 */
/* The slot of CPU memory. In a group of GPUs this memory is pinned, so that GPUs copy concurrently.
 */
struct dp_slot *dp_group_host(struct dp_group *group);
const char *dp_group_backend(const struct dp_group *group); /* "cpu", ... */
enum dp_math dp_group_math(const struct dp_group *group);
const char *dp_group_communicator(const struct dp_group *group); /* "threads", "staged" */
/* Several workers share a core, or several slots are on one GPU, so times mean little. */
bool dp_group_oversubscribed(const struct dp_group *group);
/* Versions of a group of GPUs: "driver 13.0, runtime 13.0, cuBLAS 13.0.2". Other groups have "". */
const char *dp_group_software(const struct dp_group *group);
/* The library that makes large matrix products instead of the CBLAS, with its kernels: "oneDNN
 * 2.6.3 brg:avx512_core". "": none does. */
const char *dp_group_products(const struct dp_group *group);
/* Writes all libraries that make matrix products, as a record stores them: name, version and
 * kernels of the CBLAS, then ", " and the library for large products, if there is one. The text is
 * cut to bytes; 160 are enough. */
void dp_group_blas(const struct dp_group *group, char *text, size_t bytes);
int dp_group_wait(struct dp_group *group, struct dp_error *err); /* waits for all queues */

/* Gives every worker an empty task and waits for all of them. Afterwards all workers are awake. */
void dp_group_barrier(struct dp_group *group);

struct dp_slot_info {
    char name[32];       /* "virt:2", "host", "cuda:0"; a second slot on that GPU is "cuda:0#1" */
    char kind[16];       /* "virt", "host", "cuda" */
    unsigned flags;      /* DP_KIND_ flags of the kind, see dp_kinds; 0 for the host */
    int index;           /* position in the device list, -1 for the host */
    char cores[128];     /* its cores as a list of processing units, "0-3,8"; "" if unbound */
    int numa_node;       /* nearest NUMA node; -1: unknown */
    bool bound;          /* its worker is bound to cores */
    bool lag;            /* operations run late on purpose */
    uint64_t delay_ns;   /* extra time of each operation of its comm queue */
    uint64_t delay_rate; /* bytes per second: extra time by what an operation writes; 0: none */
    uint64_t peak_bytes; /* the most bytes that tensors, parameters and steps had there at once */
    /* The rest is for GPUs; other devices have "", 0 and false. */
    char model[64], bus[16]; /* "NVIDIA H100 80GB HBM3", "0000:1b:00.0" */
    uint64_t memory_bytes;
    bool near; /* its cores and NUMA node are nearest to the GPU; false: a share of all */
};
void dp_slot_describe(const struct dp_slot *slot, struct dp_slot_info *info);
const char *dp_slot_name(const struct dp_slot *slot);
struct dp_group *dp_slot_group(const struct dp_slot *slot);

/* ---- 4. Tensors ------------------------------------------------------------------------ */

/* DP_BF16 tensors can only be moved: no kernel computes with them, and no parameter has that type.
 */
enum dp_dtype { DP_F32, DP_F64, DP_I32, DP_I64, DP_BF16 };

/* A tensor is plain data: row-major, contiguous, passed by value or pointer. A copy of the struct
 * is a view of the same memory. */
struct dp_tensor {
    void *data;           /* on slot; may be NULL if there are no elements */
    struct dp_slot *slot; /* NULL: no tensor (for a gradient: there is none) */
    enum dp_dtype dtype;
    int ndim;                /* 0: a scalar, one element */
    size_t dim[DP_MAX_DIMS]; /* dim[0] is the outermost */
    bool needs_grad;         /* of an input: backward computes its gradient */
    uint64_t *version;       /* private: counts the changes of a parameter; NULL: no parameter */
};

size_t dp_dtype_bytes(enum dp_dtype dtype);
size_t dp_tensor_count(const struct dp_tensor *tensor); /* number of elements */
size_t dp_tensor_bytes(const struct dp_tensor *tensor);

/* Allocates memory that is not part of a step, for inputs and targets. The contents are undefined.
 * Ownership: free it with dp_tensor_free, which waits for the group first. */
int dp_tensor_alloc(struct dp_slot *slot, enum dp_dtype dtype, int ndim, const size_t dim[],
                    struct dp_tensor *tensor, struct dp_error *err);
void dp_tensor_free(struct dp_tensor *tensor);

/* Makes a view of rows first..first+rows-1 of dimension 0. It shares memory with tensor. Errors:
 * DP_EINVAL if the rows are outside of it. */
int dp_tensor_rows(const struct dp_tensor *tensor, size_t first, size_t rows,
                   struct dp_tensor *view, struct dp_error *err);

/* dp_tensor_write and dp_tensor_read copy dp_tensor_bytes(tensor) from or to host memory, and wait
 * for the compute queue of the slot. dp_tensor_copy copies between any two slots, and only queues
 * the copy; both tensors have the same type and number of elements. Errors: DP_ESHAPE; DP_EINVAL
 * for two different slots inside a replica. */
int dp_tensor_write(const struct dp_tensor *tensor, const void *host, struct dp_error *err);
int dp_tensor_read(void *host, const struct dp_tensor *tensor, struct dp_error *err);
int dp_tensor_copy(const struct dp_tensor *dst, const struct dp_tensor *src, struct dp_error *err);

/* Folds the bits of a tensor into marks: DP_FOLD_MARKS numbers of type DP_I32 on the slot of the
 * tensor, which the caller owns and sets before the first call. The work is only queued. Tensors
 * with equal bits, folded in the same order, leave equal marks. If one element differs, the marks
 * always differ; if several differ, the marks are equal only once in about 2^32 cases. Errors:
 * DP_ESHAPE if marks has another shape, or if an element of tensor has not 4 bytes; DP_EDEVICE. */
#define DP_FOLD_MARKS 16384
int dp_tensor_fold(const struct dp_tensor *marks, const struct dp_tensor *tensor,
                   struct dp_error *err);

/* ---- 5. Modules and parameters --------------------------------------------------------- */

struct dp_module; /* a tree of layers, shared by all replicas; reference counted */
struct dp_run;    /* one execution of modules on a slot: memory of a step, saved activations */

/* A parameter or buffer of the base module. All fields may be read. The caller may write frozen,
 * buffer (before the module is wrapped), init_bound, and the contents of value and grad, by
 * dp_tensor_write. */
struct dp_param {
    char name[48];          /* "weight"; the full path is dp_module_param_name */
    struct dp_tensor value; /* on the module's slot */
    struct dp_tensor grad;  /* same shape and slot; valid if has_grad */
    bool has_grad;          /* false: there is no gradient, as None in PyTorch [GRAD-11] */
    bool frozen;            /* no gradient is computed or summed  [REPL-13] */
    bool buffer;            /* broadcast to replicas, but not trained [BUF-01] */
    /* Range of dp_module_init: uniform in +-bound. 0: 1/sqrt(fan-in). Below 0: not initialised. */
    float init_bound;
    size_t id;                                 /* unique in its group */
    uint64_t version;                          /* private: counts the changes of its value */
    struct dp_block *value_block, *grad_block; /* private */
    int refs;                                  /* private */
};

/* The operations of a layer; self is its private data. forward gets in[] and sets out[]. backward
 * gets the gradients of the outputs (slot NULL: none), and sets those of the inputs (slot NULL when
 * it is called: none, as for every input that does not need a gradient). In grad mode a forward
 * saves the data for its backward once, with dp_run_save; the backward takes them with
 * dp_run_restore. Both run on the worker of the replica's slot, and must not call dp_apply. */
struct dp_module_ops {
    const char *kind;
    int (*forward)(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                   int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err);
    int (*backward)(struct dp_module *module, struct dp_run *run, const struct dp_tensor grad_out[],
                    int n_out, struct dp_tensor grad_in[], int n_in, struct dp_error *err);
    void (*close)(void *self); /* frees self; NULL: there is nothing to free */
};

/* Opens a module with operations of the caller. It retains its children: the caller still closes
 * its references to them. */
int dp_module_open(struct dp_group *group, const struct dp_module_ops *ops, void *self,
                   struct dp_module *const children[], int n_children, struct dp_module **module,
                   struct dp_error *err);
void dp_module_close(struct dp_module *module); /* drops one reference; NULL is allowed */
struct dp_module *dp_module_retain(struct dp_module *module);
void *dp_module_self(const struct dp_module *module);
const char *dp_module_kind(const struct dp_module *module);
struct dp_group *dp_module_group(const struct dp_module *module);
int dp_module_children(const struct dp_module *module);
struct dp_module *dp_module_child(const struct dp_module *module, int i);

/* Adds a parameter to a module. It is zero and on the host, and is freed with the module. */
int dp_module_add_param(struct dp_module *module, const char *name, enum dp_dtype dtype, int ndim,
                        const size_t dim[], struct dp_param **param, struct dp_error *err);
/* Adds a parameter of another module: the weights are tied and have one gradient. [REPL-09] */
int dp_module_tie_param(struct dp_module *module, struct dp_param *param, struct dp_error *err);

/* Lists all parameters and buffers in pre-order of the tree, each once. Returns their number, and
 * fills at most capacity entries of list; or returns DP_ENOMEM, and fills none. [REPL-08] */
int dp_module_params(struct dp_module *module, struct dp_param *list[], int capacity);
/* Writes the path of parameter i of that list, like "1.weight"; a wrapper adds "module.". The text
 * is cut to `bytes` - 1 characters. Errors: DP_EINVAL if there is no parameter i; DP_ENOMEM.
 * [NEST-04] */
int dp_module_param_name(struct dp_module *module, int i, char *text, size_t bytes);

/* Moves all parameters, buffers and gradients to slot, into one allocation in pre-order of the
 * tree. Values and gradients are kept. After an error nothing has moved. */
int dp_module_to(struct dp_module *module, struct dp_slot *slot, struct dp_error *err);

/* Initialises every parameter, but no buffer, with uniform numbers in +-its init_bound, or else in
 * +-1/sqrt(product of all dimensions but the first, or of the only one). The numbers depend only on
 * seed and on the place of the parameter in the list. */
int dp_module_init(struct dp_module *module, uint64_t seed, struct dp_error *err);

/* Sets all gradients to none, as zero_grad(set_to_none=True) of PyTorch does. [GRAD-05] */
void dp_zero_grad(struct dp_module *module);

/* ---- 6. Runs: forward and backward ----------------------------------------------------- */

int dp_run_open(struct dp_group *group, struct dp_run **run, struct dp_error *err);
void dp_run_close(struct dp_run *run); /* waits for its work first; NULL is allowed */

/* Starts a step. It frees all tensors that this run made (outputs, input gradients), and drops
 * forwards that had no backward. The memory is kept for reuse, so steps of equal shape allocate
 * nothing. */
void dp_run_reset(struct dp_run *run);
void dp_run_grad_mode(struct dp_run *run, bool on);  /* default on   [APPLY-05] */
void dp_run_train_mode(struct dp_run *run, bool on); /* default on   [BUF-09] */
bool dp_run_has_grad(const struct dp_run *run);
bool dp_run_is_training(const struct dp_run *run);
int dp_run_replica(const struct dp_run *run);          /* -1: this is no replica's run */
struct dp_slot *dp_run_slot(const struct dp_run *run); /* slot of the replica; otherwise the host */

/* dp_forward runs a module; dp_backward runs the backward of the last forward without one. A plain
 * layer works on the slot of its inputs, and its parameters must be there. out has space for the
 * outputs of the module (at most DP_MAX_IO), and grad_in for its n_in inputs. Outputs are valid
 * until dp_run_reset. Each forward in grad mode may have one backward. After several forwards, the
 * backwards follow in reverse order. [COMP-10] A backward adds to the gradients of the base
 * module's parameters. [GRAD-03 GRAD-04] n_grad_out = 0 means one gradient of ones. grad_in may be
 * NULL. Errors of backward: DP_EINVAL if a parameter changed after its forward. [GRAD-20] */
int dp_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[], int n_in,
               struct dp_tensor out[], int *n_out, struct dp_error *err);
int dp_backward(struct dp_module *module, struct dp_run *run, const struct dp_tensor grad_out[],
                int n_grad_out, struct dp_tensor grad_in[], int n_in, struct dp_error *err);

/* These three are for modules of the caller: dp_run_tensor makes a tensor that is valid until
 * dp_run_reset; dp_run_save stores data of a forward, and dp_run_restore takes them in its
 * backward. */
int dp_run_tensor(struct dp_run *run, struct dp_slot *slot, enum dp_dtype dtype, int ndim,
                  const size_t dim[], struct dp_tensor *tensor, struct dp_error *err);
int dp_run_save(struct dp_run *run, const struct dp_module *module, const void *record,
                size_t bytes, struct dp_error *err);
int dp_run_restore(struct dp_run *run, const struct dp_module *module, void *record, size_t bytes,
                   struct dp_error *err);
/* Returns this replica's tensor of a parameter. A parameter outside of the wrapped tree is not
 * replicated; for it the tensor of the base module is returned. [REPL-11] */
const struct dp_tensor *dp_run_value(struct dp_run *run, const struct dp_param *param);
/* Gives this replica's gradient tensor, and marks the gradient as set. *accumulate says whether it
 * already holds a value to add to. Only for parameters of the wrapped tree; the caller skips frozen
 * ones. */
void dp_run_grad(struct dp_run *run, struct dp_param *param, struct dp_tensor *grad,
                 bool *accumulate);
/* Queues a C function on slot, after all work that is queued there. args (at most DP_CALL_BYTES)
 * are copied. uses (at most DP_CALL_USES) lists the memory of the slot that the function reads or
 * writes: args has a pointer to it, or NULL, at byte place. On a GPU the call waits for the slot,
 * and the function gets host copies of what it reads and writes. It must write all of those bytes,
 * unless it reads them, too. */
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

/* y = x W^T + b. Shapes: in [N, ..., D_in], out [N, ..., D_out], weight [D_out, D_in], bias
 * [D_out]. Errors of forward: DP_ESHAPE if the last dimension is not D_in, or if there are fewer
 * than 2. Source: torch.nn.Linear. */
int dp_linear(struct dp_group *group, size_t d_in, size_t d_out, bool bias,
              struct dp_module **module, struct dp_error *err);
/* y = x W^T with the weight [D_out, D_in] of another module, such as the table of an embedding. It
 * is one parameter with one gradient, to which each use adds. The parameter lives as long as one of
 * its modules. Errors: DP_EINVAL if it is of another group; DP_ESHAPE if it is no matrix of floats.
 * Source: PyTorch's `output.weight = embedding.weight`. [REPL-09] */
int dp_linear_tied(struct dp_group *group, struct dp_param *weight, struct dp_module **module,
                   struct dp_error *err);
int dp_relu(struct dp_group *group, struct dp_module **module, struct dp_error *err);
int dp_tanh(struct dp_group *group, struct dp_module **module, struct dp_error *err);
/* Runs the children in order, with one tensor between them. A child may appear twice (tied
 * weights). */
int dp_sequential(struct dp_group *group, struct dp_module *const children[], int n,
                  struct dp_module **module, struct dp_error *err);
#include "dp_layers.h" /* convolution, pooling, embedding, recurrent layers, ... */

/* Losses are modules. They have one 0-dim output on the slot of in[0]. Sums are kept in double, and
 * rounded once. The gradient flows to in[0] only.
 *   DP_LOSS_SUM  in[0] is y, in[1] (optional) is c of the same shape: scale * sum(c*y), or c = 1
 *   DP_LOSS_MSE  in[0] is y, in[1] is t: scale * sum((y-t)^2)
 *   DP_LOSS_XENT in[0] is logits [N, ..., C], in[1] is classes [N, ...] as DP_I32:
 *                scale * sum over rows of -log softmax(y)[class]; every C numbers are a row
 * mean divides by the number of elements of y (for XENT by the number of rows). [LOSS-01]
 * Errors: DP_EINVAL for a mean of no rows; DP_ESHAPE; DP_EDEVICE. A class out of range makes the
 * loss NaN. Sources: torch.nn.MSELoss, CrossEntropyLoss. */
enum dp_loss_kind { DP_LOSS_SUM, DP_LOSS_MSE, DP_LOSS_XENT };
int dp_loss(struct dp_group *group, enum dp_loss_kind kind, float scale, bool mean,
            struct dp_module **module, struct dp_error *err);

#include "dp_optim.h" /* optimizers, clipping, learning rates */

/* ---- 8. The primitives of data parallelism --------------------------------------------- */

/* Splits input along dim into shards on slots. With sizes NULL the sizes are those of dp_split;
 * otherwise there is one size for each slot, and they add up to the rows; 0 is allowed. A negative
 * dim counts from the end. A shard that is already on its slot is a view if it is consecutive in
 * memory (along dimension 0 it always is); all others are copies, which are only queued. Errors:
 * DP_EINVAL if there are no slots, if dim is out of range, if input is 0-dim, or if sizes do not
 * add up. Sources: torch.nn.parallel.scatter, comm.scatter. [SPLIT-07 SPLIT-09 SPLIT-10 SPLIT-12
 * DIM-01 DEV-03] */
int dp_scatter(struct dp_run *run, const struct dp_tensor *input, struct dp_slot *const slots[],
               int n_slots, int dim, const size_t sizes[], struct dp_tensor shards[], int *n_shards,
               struct dp_error *err);

/* Concatenates parts along dim, in order, on slot output. The result is always a copy. n parts that
 * are 0-dim become a vector of n numbers (dim 0 only). Errors: DP_EINVAL if there are no parts;
 * DP_ESHAPE, with the part and both shapes; DP_EDEVICE if a part is on the host. Source:
 * torch.nn.parallel.gather. [GATH-01 .. GATH-13, DIM-01 DIM-06] */
int dp_gather(struct dp_run *run, const struct dp_tensor parts[], int n, int dim,
              struct dp_slot *output, struct dp_tensor *out, struct dp_error *err);

/* Copies every tensor of src to each slot. All of src are on one slot. copies[i * n + j] is tensor
 * j on slots[i]; on the source's slot it is src[j] itself. Transfers are grouped as in PyTorch:
 * tensors of one type are appended, and a group is closed when it reaches buffer_bytes; tensors
 * next to each other in memory are sent as one. The result does not depend on the groups. Errors:
 * DP_EINVAL if src is on several slots, or if slots[0] is not the slot of src. [COAL-01..08
 * REPL-15] */
#define DP_BUFFER_BYTES 10485760
int dp_broadcast_coalesced(struct dp_run *run, const struct dp_tensor src[], int n,
                           struct dp_slot *const slots[], int n_slots, size_t buffer_bytes,
                           struct dp_tensor copies[], struct dp_error *err);

/* sums[j] = ((src[0*n+j] + src[1*n+j]) + ...) over k lists of n tensors. List i is on one slot; the
 * sums are new tensors on slot output. A group is closed before it would exceed buffer_bytes.
 * Errors: DP_ESHAPE, with list and tensor; DP_EDEVICE if a list is on the host, or if output holds
 * no list. [COAL-03 COAL-07 COAL-09 COAL-10 DET-01 GRAD-15] */
int dp_reduce_add_coalesced(struct dp_run *run, const struct dp_tensor src[], int n, int k,
                            struct dp_slot *output, size_t buffer_bytes, struct dp_tensor sums[],
                            struct dp_error *err);

/* One task of dp_apply: it runs a module in a run. */
struct dp_call {
    struct dp_module *module;
    struct dp_run *run; /* run of the replica; each call has a different one */
    const struct dp_tensor *in;
    int n_in;
    struct dp_tensor *out; /* DP_MAX_IO entries */
    int n_out;             /* set by dp_apply */
};

/* Runs call i on the worker of its run's slot, all calls at the same time; a single call runs on
 * the calling thread. Grad mode and train mode are those of each run. All calls have ended when it
 * returns. The error is that of the lowest failing index. It keeps its status, gets its replica
 * number, and its text begins with "replica i on SLOT: ". Errors: DP_EINVAL if there are no calls,
 * if runs are of several groups, or inside a replica. Source: torch.nn.parallel.parallel_apply.
 * [APPLY-01..12] */
int dp_apply(struct dp_call calls[], int n, struct dp_error *err);

/* Replicas of a module on slots. Replica 0 shares the values of the base module, if the base is on
 * that slot. Every replica has separate gradients. Errors: DP_EINVAL for a slot of another group.
 * [REPL-05] */
struct dp_replicas;
int dp_replicas_open(struct dp_module *module, struct dp_slot *const slots[], int n,
                     struct dp_replicas **replicas, struct dp_error *err);
void dp_replicas_close(struct dp_replicas *replicas);
struct dp_run *dp_replicas_run(struct dp_replicas *replicas, int i);

/* Copies the current values of the base to replicas 1..m-1, in one coalesced broadcast, and sets
 * the gradients of replicas 0..m-1 to none. Nothing is cached between calls. Errors: DP_EDEVICE if
 * a parameter or buffer is not on slots[0]; both devices are named. Source:
 * torch.nn.parallel.replicate. [REPL-01 REPL-02 REPL-03 REPL-07 DEV-01 DEV-09] */
int dp_replicate(struct dp_replicas *replicas, int m, struct dp_error *err);

/* base gradient += ((g0 + g1) + ...) + g(m-1) for every parameter that is not frozen. The sum is in
 * replica order, unless the communicator has DP_COMM_FREE_SUMS. A replica without a gradient counts
 * as zeros. [GRAD-01 GRAD-02 GRAD-04 GRAD-06 GRAD-11 GRAD-12 DET-01 DET-03] */
int dp_reduce(struct dp_replicas *replicas, int m, struct dp_error *err);

/* ---- 9. data_parallel ------------------------------------------------------------------- */

struct dp_parallel_config {
    struct dp_slot *const *device_ids; /* NULL: all slots of the group; the order counts */
    int n_device_ids;
    struct dp_slot *output_device; /* NULL: device_ids[0]; any slot or the host */
    int dim;                       /* batch dimension of inputs and outputs; may be negative */
};

/* A module that runs another one data-parallel. Its forward scatters, replicates, applies and
 * gathers. Its backward scatters the output gradient by the sizes of the forward, applies, gathers
 * the input gradients on the slots of the inputs, and reduces. It can be a layer of a larger model:
 * wrap a block, or put a block on the host before it.
 *   - K = 1: dp_parallel moves the module to device_ids[0]. A forward moves the inputs there, and
 *     calls the module directly; output_device is ignored.       [COMP-04 COMP-06 OUT-04]
 *   - No slots at all (group "host"): the module is called directly.      [CPU-01]
 *   - No inputs: the module runs once, on device_ids[0].                  [COMP-08]
 *   - Fewer shards than slots: only the first m replicas run.             [SPLIT-02 REPL-03]
 *   - Inputs may be on any slot. They must have equal sizes along dim, else DP_ESHAPE.
 *     [DEV-04 STRUCT-05, the strict choice]
 *   - Inside another data_parallel it is an error.                        [NEST-06]
 * config is not NULL; all zeros mean the slots of the group, along dimension 0.
 * Errors of dp_parallel: DP_EINVAL if a slot is there twice or of another group. Errors of forward:
 * DP_EDEVICE if the module is not on device_ids[0]; DP_EINVAL if parameters were added to it; those
 * of dp_scatter, dp_apply and dp_gather. After an error the module can be used again, and no
 * gradient was written [APPLY-12 ERR-08], with two exceptions: for K = 1 the module's backward has
 * written gradients of the base; and a device that fails during the reduction leaves them
 * undefined.
 * Source: torch.nn.DataParallel.       [COMP-01..10 GRAD-01..12 OUT-01..04 DIM-01 NEST-01..07] */
int dp_parallel(struct dp_module *module, const struct dp_parallel_config *config,
                struct dp_module **wrapper, struct dp_error *err);

/* The same as a function: one forward on the given slots. With n_slots 0 the module is called
 * directly. The module is never moved. *call gets the module to pass to dp_backward; close it with
 * dp_module_close. Source: torch.nn.parallel.data_parallel. [COMP-06 CPU-02, as in the tutorial] */
int dp_data_parallel(struct dp_module *module, struct dp_run *run, struct dp_slot *const slots[],
                     int n_slots, struct dp_slot *output_device, int dim,
                     const struct dp_tensor in[], int n_in, struct dp_tensor out[], int *n_out,
                     struct dp_module **call, struct dp_error *err);

/* ---- 10. Observation -------------------------------------------------------------------- */

#include "dp_observe.h" /* the machine, GPUs, launches, traces */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
