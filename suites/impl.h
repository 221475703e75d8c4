/* impl.h: the interface of an implementation under test. Version 1.
 *
 * The author of a data-parallel layer writes an adapter: these operations, made of calls of that
 * layer. `lockstep check` then tests the layer rule by rule. suites/ADAPTERS.md is the guide,
 * suites/LAYERS.md defines every layer that a model can have, and suites/RULES.md lists the rules.
 * A shared object exports lockstep_impl; a process offers the same operations as JSON lines.
 *
 * Conventions
 *   Devices   0 .. devices-1, as the implementation numbers them; IMPL_HOST is the plain CPU.
 *             A replica or shard i runs on device_ids[i], which is a device, not a position.
 *   Arrays    host memory that the suite owns, row-major, contiguous. `device` says where the
 *             array is for the implementation: the adapter copies an input there before it does
 *             anything else. For an output it sets where the result was before it copied it to the
 *             suite's memory. It keeps no pointer after the call returns, writes no input, and
 *             writes nothing outside `capacity` bytes of an output.
 *   Errors    0 or an impl_status, with *err filled. IMPL_ENOTSUP means "I have no such thing", and
 *             never counts as a refusal. After an error the session and its models can be used
 *             again.
 *   Threads   One caller at a time.
 *   Order     Every call has ended when it returns: all results are there, and nothing still runs.
 *   Honesty   An adapter claims a capability if the implementation itself does the operation.
 *             An adapter that computes a result for it tests the adapter. */
#ifndef LOCKSTEP_IMPL_H
#define LOCKSTEP_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMPL_VERSION     1
#define IMPL_MAX_DIMS    5
#define IMPL_MAX_DEVICES 64
#define IMPL_MAX_IO      4
#define IMPL_MAX_BUCKETS 64
#define IMPL_HOST        (-1) /* the plain CPU, as a device */
#define IMPL_NOWHERE     (-2) /* no device */

/* ---- 1. Values ---------------------------------------------------------------------------- */

enum impl_status {
    IMPL_OK = 0,
    IMPL_EINVAL = 1,  /* an argument out of range                                  "inval"  */
    IMPL_ESHAPE = 2,  /* shapes, or numbers of things, do not match "shape" */
    IMPL_EDEVICE = 3, /* something is on the wrong device                           "device" */
    IMPL_EFAULT = 4,  /* a replica or a device failed while working                 "fault"  */
    IMPL_ENODEV = 5,  /* no such device                                             "nodev"  */
    IMPL_ENOTSUP = 6, /* the implementation has no such operation, layer or option  "notsup" */
    IMPL_EROOM = 7,   /* the result is larger than the output's capacity            "room"   */
    IMPL_EBROKEN = 8, /* the adapter itself failed                                  "broken" */
    IMPL_ELOST = 9,   /* a rank ended, or did not answer in time: no refusal         "lost"   */
};

struct impl_error {
    int status;      /* enum impl_status */
    int replica;     /* the failing replica; -1: none named */
    int device;      /* the device named in the text; IMPL_NOWHERE: none */
    int device_also; /* a second one; IMPL_NOWHERE: none */
    char text[256];  /* one line */
};

enum impl_dtype { IMPL_NONE = 0, IMPL_F32, IMPL_F64, IMPL_I32, IMPL_I64 };

struct impl_array {
    void *data;            /* ndim 0: one element; may be NULL if there are no elements */
    size_t capacity;       /* outputs: bytes at data; ignored for inputs */
    enum impl_dtype dtype; /* IMPL_NONE: no array (there is no gradient) */
    int ndim;
    size_t dim[IMPL_MAX_DIMS]; /* dim[0] is the outermost */
    int device;                /* where it is */
    bool needs_grad;           /* of an input of forward: backward gives its gradient */
};

/* The abilities of an implementation. A profile requires some; a missing one is a FAIL. */
enum impl_capability {
    IMPL_CAP_SPLIT = 1 << 0,         /* "split" */
    IMPL_CAP_SCATTER = 1 << 1,       /* "scatter" */
    IMPL_CAP_GATHER = 1 << 2,        /* "gather" */
    IMPL_CAP_BROADCAST = 1 << 3,     /* "broadcast" */
    IMPL_CAP_REDUCE = 1 << 4,        /* "reduce" */
    IMPL_CAP_APPLY = 1 << 5,         /* "apply" */
    IMPL_CAP_BUCKETS = 1 << 6,       /* "buckets" */
    IMPL_CAP_SAMPLER = 1 << 7,       /* "sampler" */
    IMPL_CAP_PARALLEL = 1 << 8,      /* "parallel": models with `parallel` layers (DataParallel) */
    IMPL_CAP_FUNCTIONAL = 1 << 9,    /* "functional": `parallel` layers with "functional": true */
    IMPL_CAP_ARGUMENTS = 1 << 10,    /* "arguments": impl_forward.args and the layer `argument` */
    IMPL_CAP_TRACE = 1 << 11,        /* "trace": impl_forward.trace is filled */
    IMPL_CAP_TRAFFIC = 1 << 12,      /* "traffic": its byte counts are filled, too */
    IMPL_CAP_TRANSFERS = 1 << 13,    /* "transfers": broadcast and reduce count transfers */
    IMPL_CAP_MEMORY = 1 << 14,       /* "memory": impl_trace.live_bytes is filled */
    IMPL_CAP_DDP = 1 << 15,          /* "ddp": models of several ranks, gradients averaged */
    IMPL_CAP_BATCH_NORM = 1 << 16,   /* "batch_norm": the layer of that name */
    IMPL_CAP_FIND_UNUSED = 1 << 17,  /* "find_unused": ranks that look for unused parameters */
    IMPL_CAP_LAUNCHES = 1 << 18,     /* "launches": impl_trace.bucket is filled */
    IMPL_CAP_OVERLAP = 1 << 19,      /* "overlap": ranks reduce during backward */
    IMPL_CAP_UNLIKE_RANKS = 1 << 20, /* "unlike_ranks": a description for each rank */
    IMPL_CAP_TRANSFORMER = 1 << 21,  /* "transformer": the layers of one (LAYERS.md) */
    IMPL_CAP_ADAMW = 1 << 22,        /* "adamw": steps of AdamW, and steps that clip */
    IMPL_CAP_JOIN = 1 << 23,         /* "join": impl_forward.active. An adapter that is older than
                                        this bit does not set it, and is not asked to join */
    IMPL_CAP_STRIDES = 1 << 24, /* "strides": `linear` layers of ranks with "by_columns": true */
    IMPL_CAP_DOUBLE = 1 << 25,  /* "double": layers of ranks with "double": true, of float64 */
    IMPL_CAP_HALF = 1 << 26,    /* "half": layers of ranks with "half": true, of float16 */
    IMPL_CAP_SCALARS = 1 << 27, /* "scalars": `grad`, `counter` of ranks with "scalar": true */
    IMPL_CAP_CALLS = 1 << 28    /* "calls": ranks are called as a model says (LAYERS.md) */
};

/* Where the rules allow a choice, an implementation declares what it does, and the cases test the
 * declaration. Without one, the cases that depend on it fail. */
enum impl_dialect {
    IMPL_REPLICA_0, /* "replica_0": ALIAS the base's own storage (Python), CLONE (C++ frontend) */
    IMPL_UNUSED,    /* "unused": gradient of an unused parameter, K >= 2: ZERO, ABSENT */
    IMPL_UNEQUAL_ROWS,  /* "unequal_rows": inputs of different rows: REFUSE, TRUNCATE */
    IMPL_SINGLE_OUTPUT, /* "single_output": output_device with one device: IGNORE, HONOUR */
    IMPL_FAILING,       /* "failing": of several failing replicas report LOWEST, FIRST in time */
    IMPL_NO_ROWS,       /* "no_rows": splitting 0 rows gives K EMPTY shards, or REFUSE */
    IMPL_ZERO_SIZE,     /* "zero_size": an explicit shard size of 0: ACCEPT, REFUSE */
    IMPL_DUPLICATES, /* "duplicates": a device twice in device_ids: REFUSE, or ACCEPT and be right
                      */
    IMPL_NESTED,     /* "nested": `parallel` inside `parallel`: REFUSE, or ACCEPT and be right */
    IMPL_SHARD_0,    /* "shard_0": a shard already on its device is a VIEW, or a COPY */
    IMPL_FUNCTIONAL_HOST, /* "functional_host": functional form without devices: CALL, REFUSE */
    IMPL_EMPTY_IDS,   /* "empty_ids": device_ids [] where there are devices: REFUSE, ALL, CALL */
    IMPL_BORROWED,    /* "borrowed": a parameter outside the wrapped tree: REFUSE, BASE's is read */
    IMPL_MIXED_RANKS, /* "mixed_ranks": negative dim, inputs of different ranks: REFUSE, ACCEPT */
    IMPL_ARGUMENTS_ONLY, /* "arguments_only": a forward with arguments and no input runs on ALL
                          * devices (Python), or once as a CALL without any */
    IMPL_SUMS, /* "sums": of replicas in the order of the list, LISTED, or FREE: a collective
                * library's (PyTorch with NCCL) */
    IMPL_DIALECTS
};

enum impl_choice {
    IMPL_UNDECLARED = 0,
    IMPL_ALIAS,
    IMPL_CLONE,
    IMPL_ZERO,
    IMPL_ABSENT,
    IMPL_REFUSE,
    IMPL_TRUNCATE,
    IMPL_IGNORE,
    IMPL_HONOUR,
    IMPL_LOWEST,
    IMPL_FIRST,
    IMPL_EMPTY,
    IMPL_ACCEPT,
    IMPL_VIEW,
    IMPL_COPY,
    IMPL_CALL,
    IMPL_ALL,
    IMPL_BASE,
    IMPL_LISTED,
    IMPL_FREE /* in JSON the same words in lower case */
};

/* ---- 2. Sessions -------------------------------------------------------------------------- */

struct impl_config {
    const char *devices; /* --devices as given, "" if it was not; in the implementation's words */
    const char *options; /* --impl-options as given, "" if not */
    bool host_only;      /* behave as on a machine without accelerators: devices is 0 */
    uint64_t seed;       /* for everything that is random (schedules, never values) */
};

struct impl_about {
    char name[64], version[64];
    int devices; /* 0 .. IMPL_MAX_DEVICES */
    char device_name[IMPL_MAX_DEVICES][48];
    uint64_t capabilities; /* enum impl_capability, combined by | */
    enum impl_choice dialect[IMPL_DIALECTS];
    char blas[160];        /* what makes its matrix products: name, version, kernels; "": unknown */
    char gpu_software[96]; /* of GPUs: driver and libraries, or why none is there; "": unknown */
};

struct impl_session; /* defined by the adapter */
struct impl_model;   /* defined by the adapter */

/* ---- 3. Primitives ------------------------------------------------------------------------ */

struct impl_split {
    size_t rows;
    int devices;
    size_t size[IMPL_MAX_DEVICES]; /* out */
    int n;                         /* out: number of shards */
};

struct impl_scatter {
    const struct impl_array *input;
    const int *devices; /* shard i goes to devices[i] */
    int n;
    int dim;                   /* below 0: from the end */
    const size_t *size;        /* NULL, or n explicit sizes */
    struct impl_array *shards; /* n entries, out */
    int n_shards;              /* out */
    /* If not NULL: after the shards were read, 1 is added in place to every element of every shard,
     * and then the source, as it is on its device, is read into this. */
    struct impl_array *source_after;
};

struct impl_gather {
    const struct impl_array *parts; /* each on its device */
    int n;
    int dim;
    int device; /* of the result */
    struct impl_array *out;
    /* If not NULL: after out was read, 1 is added in place to every element of every part, and then
     * the result, as it is on its device, is read into this. */
    struct impl_array *out_after;
};

struct impl_broadcast {
    const struct impl_array *src; /* n tensors */
    int n;
    const int *devices;
    int n_devices;
    size_t buffer_bytes; /* of a coalescing buffer; 0: the default of the implementation */
    int poke; /* -1, or a tensor number: 1 is added in place to every element of that tensor in
                 every copy before anything is read */
    struct impl_array *copies;    /* out: copies[i * n + j] is tensor j on devices[i] */
    struct impl_array *src_after; /* NULL, or n: the sources after the poke */
    size_t transfers;             /* out, with IMPL_CAP_TRANSFERS: groups sent to one device */
    size_t default_bytes;         /* out: the default buffer; 0: unknown */
};

struct impl_reduce {
    const struct impl_array *src; /* src[i * n + j]: tensor j of list i */
    int n, k;
    int device; /* of the sums */
    size_t buffer_bytes;
    int poke; /* -1, or: sum number `poke` is set to zero in place before anything is read */
    struct impl_array *sums; /* out, n */
    size_t transfers;        /* out */
    size_t default_bytes;    /* out */
};

/* parallel_apply: call i runs its module on its device, on whole inputs. For probes and in errors,
 * the number of the call is the replica. */
struct impl_call {
    const char *description; /* of the module, never with `parallel` */
    int device;
    const struct impl_array *in;
    int n_in;
    struct impl_array *out; /* IMPL_MAX_IO entries */
    int n_out;              /* out */
};

/* The state of replica i and what it saw, as the implementation reports it. */
struct impl_replica {
    int device;
    size_t calls;        /* forwards since the call began */
    size_t rows;         /* of its first input, along the dimension that was cut */
    uint64_t thread;     /* any number that differs between threads */
    bool grad, train;    /* modes inside the replica */
    uint64_t bytes_to;   /* bytes of parameters and buffers that were copied to it */
    uint64_t bytes_from; /* bytes of gradients copied from it; for ranks, data between two of them
                            count once, for either of them */
};

/* The gradients that a backward of several ranks reduced together. */
struct impl_bucket {
    uint64_t bytes;
    uint64_t launch_ns; /* when rank 0 launched it, by any clock */
};

struct impl_trace {
    int replicas; /* those that ran */
    struct impl_replica replica[IMPL_MAX_DEVICES];
    uint64_t caller;     /* the calling thread, like `thread` */
    uint64_t live_bytes; /* memory of the session and its models now, on all devices */
    int buckets; /* of a backward that reduced, in the order in which rank 0 launched them */
    struct impl_bucket bucket[IMPL_MAX_BUCKETS];
};

struct impl_apply {
    struct impl_call *calls;
    int n;
    bool grad, train;
    struct impl_trace *trace; /* NULL, or out */
};

/* DDP's bucket assignment (compute_bucket_assignment_by_size), as a pure function. */
struct impl_buckets {
    const size_t *bytes; /* n tensors in order */
    const enum impl_dtype *dtype;
    int n;
    const size_t *limits; /* the last one applies to all further buckets */
    int n_limits;
    int *bucket;      /* out, n: the bucket of each tensor; buckets sorted by lowest tensor */
    size_t *limit_of; /* out, capacity n: the limit that each bucket was closed by or left under */
    int n_buckets;    /* out */
};

/* DistributedSampler without shuffling. */
struct impl_sampler {
    size_t items;
    int ranks, rank;
    bool drop_last;
    size_t *index; /* out, with that capacity */
    size_t capacity;
    size_t n; /* out */
};

/* ---- 4. Models ---------------------------------------------------------------------------- */

enum impl_what { IMPL_VALUE, IMPL_GRAD };

struct impl_param {
    char name[96];
    enum impl_dtype dtype;
    int ndim;
    size_t dim[IMPL_MAX_DIMS];
    int device; /* of the base parameter */
    bool buffer, frozen;
};

struct impl_forward {
    const struct impl_array *in; /* n_in for each rank, rank by rank */
    int n_in;
    const struct impl_array *args; /* arguments that are no inputs; each replica gets all */
    int n_args;
    struct impl_array *out; /* out[rank * IMPL_MAX_IO + j]; n_out are filled for each rank */
    int n_out;              /* out, for each rank */
    bool grad, train;
    /* NULL, or with IMPL_CAP_JOIN a flag for each rank; false: it has no more batches (join). Such
     * a rank stays so; its inputs are ignored, and a step does not change it. The first forward
     * without an active rank, or with NULL, ends the join, and gives all ranks the model of the
     * last one. */
    const bool *active;
    bool no_sync;             /* DDP */
    struct impl_trace *trace; /* NULL, or out */
};

/* Runs the backward of the last forward in grad mode that had none. */
struct impl_backward {
    /* n_grad_out for each rank; NONE: no gradient. The adapter moves one on IMPL_HOST to the device
     * of its output; one on a device must be on that of its output. */
    const struct impl_array *grad_out;
    int n_grad_out;             /* 0: ones for the only output */
    struct impl_array *grad_in; /* out, one for each input: NONE if it needed none */
    int n_in;                   /* in total over all ranks */
    struct impl_trace *trace;
};

/* A step on the base (DDP: by each rank on its model).
 *   max_norm  above 0: first all gradients are multiplied by min(1, max_norm / (norm + 1e-6)), with
 *             the norm of all of them together, as torch.nn.utils.clip_grad_norm_ does in place
 *   SGD       v = momentum * v + g, in the first step v = g; w -= lr * v
 *   adamw     torch.optim.AdamW; in step t of a parameter, from 1, with moments that start at 0:
 *               w = w * (1 - lr * decay)
 *               m = beta1 * m + (1 - beta1) * g
 *               s = beta2 * s + (1 - beta2) * g * g
 *               w = w - lr / (1 - beta1^t) * m / (sqrt(s) / sqrt(1 - beta2^t) + eps)
 * A parameter without a gradient does not change, and its t does not count. A model has one
 * optimizer,
 * that of its first step. Without IMPL_CAP_ADAMW everything but lr and momentum is 0. */
struct impl_step {
    float lr, momentum;
    float max_norm; /* 0: no clipping */
    float beta1, beta2, eps, decay;
    bool adamw;
};

/* ---- 5. The table ------------------------------------------------------------------------- */

struct impl_ops {
    uint32_t version; /* IMPL_VERSION */
    uint32_t bytes;   /* sizeof(struct impl_ops) */

    int (*open)(const struct impl_config *config, struct impl_about *about,
                struct impl_session **session, struct impl_error *err);
    void (*close)(struct impl_session *session);
    /* Closes all models and forgets everything; the session is as after open. */
    int (*reset)(struct impl_session *session, struct impl_error *err);

    /* NULL if the capability is not claimed. */
    int (*split)(struct impl_session *, struct impl_split *, struct impl_error *);
    int (*scatter)(struct impl_session *, struct impl_scatter *, struct impl_error *);
    int (*gather)(struct impl_session *, struct impl_gather *, struct impl_error *);
    int (*broadcast)(struct impl_session *, struct impl_broadcast *, struct impl_error *);
    int (*reduce)(struct impl_session *, struct impl_reduce *, struct impl_error *);
    int (*apply)(struct impl_session *, struct impl_apply *, struct impl_error *);
    int (*buckets)(struct impl_session *, struct impl_buckets *, struct impl_error *);
    int (*sampler)(struct impl_session *, struct impl_sampler *, struct impl_error *);

    /* Builds a model from its description (LAYERS.md). ranks = 1: one process, with DataParallel
     * where a `parallel` layer requests it. ranks > 1: DistributedDataParallel over that many
     * ranks. ENODEV: every rank needs a device, and there are fewer; then fewer ranks are tested.
     */
    int (*model_open)(struct impl_session *, const char *description, int ranks,
                      struct impl_model **model, struct impl_error *);
    void (*model_close)(struct impl_model *);
    /* Parameters and buffers in pre-order of the tree, each once. */
    int (*params)(struct impl_model *, int *n, struct impl_error *);
    int (*param)(struct impl_model *, int i, struct impl_param *, struct impl_error *);
    /* For the base (DDP: for a rank). set: an array of type NONE sets the gradient to none. */
    int (*set)(struct impl_model *, int rank, enum impl_what, int i, const struct impl_array *,
               struct impl_error *);
    int (*get)(struct impl_model *, int rank, enum impl_what, int i, struct impl_array *,
               struct impl_error *);
    int (*to)(struct impl_model *, int device, struct impl_error *); /* moves all parameters */
    int (*zero_grad)(struct impl_model *, struct impl_error *);      /* all gradients become none */
    int (*forward)(struct impl_model *, struct impl_forward *, struct impl_error *);
    int (*backward)(struct impl_model *, struct impl_backward *, struct impl_error *);
    int (*step)(struct impl_model *, const struct impl_step *, struct impl_error *);
};

/* The function that a shared object exports. version is that of the suite; an implementation that
 * does not know it returns NULL. The table stays valid until the object is unloaded. */
const struct impl_ops *lockstep_impl(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
