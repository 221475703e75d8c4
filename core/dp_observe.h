/* dp_observe.h: what can be seen without changing it: the machine, its GPUs, how work was launched,
 * and where a step's time went; a part of dp.h, which includes it. */
#ifndef DP_OBSERVE_H
#define DP_OBSERVE_H

#ifndef DP_H
#error "dp_observe.h is a part of dp.h: include that"
#endif

/* ---- what is here ----------------------------------------------------------------------- */

struct dp_machine {
    char cpu_model[128];
    int packages, numa_nodes, cores, pus;   /* of the machine */
    int usable_cores, usable_pus;           /* that this process may run on, and has the time of */
    uint64_t memory_bytes, usable_bytes;    /* of the machine; that this process may use */
    uint64_t l1d_bytes, l2_bytes, l3_bytes; /* of one cache; 0 unknown */
    bool foreign; /* hwloc was told of another machine: nothing above is true of this one */
    char hwloc_version[32];
    char blas[160]; /* name, version and configuration of the CBLAS in use */
};
int dp_machine_read(struct dp_machine *machine, struct dp_error *err);

/* The limits that control groups set for this process; INFINITY: none. Root is "", or the root of
 * another machine's files. */
struct dp_limits {
    double cpus, memory_bytes; /* processors' time, in processors */
};
int dp_limits_read(const char *root, struct dp_limits *limits, struct dp_error *err);

/* A NUMA node: the package that it is in (-1: none, or several), and the cores beside it. */
struct dp_numa {
    int node, package;
    int cores, pus;
    uint64_t memory_bytes;
    char cpus[128]; /* its processing units: "0-3,8" */
};
/* The first most of them, by package and number. Returns how many there are, or a negative enum
 * dp_status. */
int dp_machine_nodes(struct dp_numa numa[], int most, struct dp_error *err);

/* Looks for GPUs. Returns their number or a negative enum dp_status: DP_ENODEV when there are none
 * (this build has no CUDA part; no driver; no GPU that the process may see), else what is there
 * does not work. text says so in one line, in the runtime's words, with versions. */
int dp_gpus(char *text, size_t bytes);

/* The version of the NCCL that communicator nccl would load. Returns 0, or DP_ENOTSUP: there is
 * none, or it is too old, or this build has no part for it; then text says so. */
int dp_nccl_library(char *text, size_t bytes);

/* ---- what there can be ------------------------------------------------------------------ */

/* What is true of all devices of a kind. */
enum {
    DP_KIND_CORES = 1,  /* they work on the host's cores and in its memory */
    DP_KIND_GPU = 2,    /* they have a model, a PCI address and memory of their own */
    DP_KIND_TF32 = 4,   /* their matrix products can round operands: DP_MATH_TF32 */
    DP_KIND_LISTED = 8, /* a list has a number of each, "cuda:0-3,5"; else how many, "virt:4" */
    DP_KIND_PEERS = 16  /* they copy to each other by CUDA */
};
/* What a communicator can do. */
enum {
    DP_COMM_PARALLEL = 1, /* moves and sums between any slots: DataParallel */
    DP_COMM_RANKS = 2,    /* collectives: DistributedDataParallel */
    DP_COMM_OVERLAP = 4,  /* an allreduce runs beside what the slots' workers do */
    DP_COMM_WORLD = 8,    /* the collectives reach ranks of other processes */
    /* An allreduce adds in an order of its own, which may be another one in another call: numbers
     * that round are the same only within their bounds. Without it: in rank order. */
    DP_COMM_FREE_ORDER = 16,
    /* It is of processes that were started together, dp_mpi_open: its name alone opens nothing. */
    DP_COMM_TOGETHER = 32,
    DP_COMM_FREE_SUMS = 64 /* so may the sums of DataParallel. Without it: in replica order */
};

/* Of all that this version knows, whether this build has it or not. */
struct dp_kind_row {
    const char *name, *words; /* "virt", "virtual devices" */
    unsigned flags;
    bool built;
};
struct dp_backend_row {
    const char *name, *kind, *communicator; /* that it has unless another one is asked for */
    bool built;
};
struct dp_communicator_row {
    const char *name;
    const char *instead; /* what it calls itself where it can do less; NULL: it never does */
    unsigned can, needs; /* DP_COMM_; flags of the kinds of devices that it serves */
    bool built;
};
/* Row i; false: there is none. The first backend of a kind is the one that it has by default. */
bool dp_kinds(int i, struct dp_kind_row *row);
bool dp_backends(int i, struct dp_backend_row *row);
bool dp_communicators(int i, struct dp_communicator_row *row);
/* Of what a group calls its communicator: "peer-staged" is peer, and a composite RANKS+MOVES that
 * has no row of its own is the first, which has the collectives: "nccl+peer" is nccl. False: none
 * has that name. */
bool dp_communicator_of(const char *name, struct dp_communicator_row *row);
/* Of a device list, a slot's name or a kind: "virt:4+lag", "cuda:0#1", "virt". host is of the first
 * kind. False: of none that is known. */
bool dp_kind_of(const char *text, struct dp_kind_row *row);
/* Before devices are opened: whether that communicator (NULL: the backend's) serves them, and can
 * do all of `can`. A list of unknown devices is not judged, nor one of devices that this build does
 * not have.
 * Errors DP_EINVAL, and those that can. */
int dp_communicator_check(const char *communicator, const char *backend, const char *devices,
                          unsigned can, struct dp_error *err);

/* The same for dp_group_config.wide_blas: whether products of that backend (NULL: of the first one)
 * can use several cores. Errors DP_EINVAL, with why. */
int dp_wide_blas_check(const char *backend, const char *devices, struct dp_error *err);

/* ---- what happened ---------------------------------------------------------------------- */

/* How the operations of all compute queues got to the GPUs since the group was opened; zeros on
 * other devices. */
struct dp_launches {
    uint64_t single;            /* operations launched by themselves */
    uint64_t graphs, in_graphs; /* graphs launched, and the operations in them */
    uint64_t captured, evicted; /* graphs made, and dropped for newer ones */
    uint64_t refused;           /* lists of operations that CUDA would not capture */
};
void dp_group_launches(const struct dp_group *group, struct dp_launches *launches);
/* Kernels launched since the group was opened, on all queues of its slots and of its host; copies
 * are kernels, too. Of a device of any kind, and the same whether they are launched at once, late
 * or in a graph. For an idle group: after dp_group_wait. */
uint64_t dp_group_kernels(const struct dp_group *group);

/* A run that went well on devices with +fault has shown nothing, whether that call was made or not:
 * then DP_EFAULT, and err says which it was. 0 on other devices, and for NULL. */
int dp_group_faulty(const struct dp_group *group, struct dp_error *err);

/* Where a step's time and traffic go, per replica, added up until reset. The clock is the host's
 * where operations run as they are issued. Of a GPU it is the GPU's own, between events in its
 * queues: from where a queue comes to the phase until its last operation of it has ended. */
enum dp_phase {
    DP_PHASE_SCATTER,   /* input rows to the replicas */
    DP_PHASE_REPLICATE, /* parameters to the replicas */
    DP_PHASE_FORWARD,
    DP_PHASE_GATHER,   /* outputs to the output device */
    DP_PHASE_BACKWARD, /* output gradient to replicas, their backward, input gradients back */
    DP_PHASE_REDUCE,   /* replicas' gradients into the base */
    DP_PHASE_LOSS,     /* nobody's but the caller's: dp_phase_begin */
    DP_PHASE_UPDATE,   /* the same, and dp_ddp_step's */
    DP_PHASES
};
/* When all of that was, for a picture of a step: of each replica its computation, and what was
 * carried for it. Of a GPU on the host's clock, late by some microseconds. */
enum dp_lane { DP_LANE_COMPUTE, DP_LANE_TRANSFER, DP_LANES };
struct dp_interval {
    enum dp_phase phase;       /* DP_PHASES: a transfer of none, in no sum; of a GPU not known */
    uint64_t begin_ns, end_ns; /* of CLOCK_MONOTONIC_RAW */
};
#define DP_TIMELINE_ROOM 256
struct dp_timeline {
    struct {
        struct dp_interval at[DP_TIMELINE_ROOM]; /* by their ends */
        int n;                                   /* all there were: more have no place */
    } lane[DP_MAX_SLOTS][DP_LANES];
};
struct dp_trace {
    struct {
        /* Time its worker spent; of transfers one after the other, since the first began. */
        uint64_t ns[DP_PHASES];
        uint64_t bytes[DP_PHASES]; /* bytes that crossed slots on its behalf */
        uint64_t end_ns;           /* of the last of these times; of a GPU 0 */
    } replica[DP_MAX_SLOTS];
    /* By slot of the group: time in matrix products, a part of forward and backward. 0, which is
     * unknown, where the issuing thread does not run them: late devices and GPUs. */
    uint64_t matmul_ns[DP_MAX_SLOTS];
    struct dp_timeline *timeline; /* the caller's; NULL: only sums are kept */
};
/* trace is written by the workers during calls; NULL switches it off (the default). The caller
 * owns and clears it, between calls. A timeline begins with this call: set it before. */
void dp_group_trace(struct dp_group *group, struct dp_trace *trace);
/* Waits for the group and adds the times of its GPUs, which are not in the trace before: after a
 * step, outside of what is timed. Other devices have none to add.
 * Errors DP_EINVAL more than DP_TRACE_SPANS times of a GPU since the last call; DP_EFAULT. */
#define DP_TRACE_SPANS 32
int dp_trace_read(struct dp_group *group, struct dp_error *err);

/* Which kernels were launched, and for how long each of them ran: those of one name and phase, and
 * of one shape where they are matrix products, together. */
struct dp_kernel_row {
    const char *name, *words; /* "gemm", "matrix product" */
    /* Of products c[m,n] = op(a)[m,k] op(b)[k,n], so many in a launch, and how many numbers they
     * multiply in all: fewer than many m n k where one is a triangle; else false and 0. A
     * convolution by a library counts as those over its columns, without what pads the images. */
    bool product, transpose_a, transpose_b;
    size_t m, n, k, many, multiplies;
    size_t bytes;        /* of what products read and make, each once; else 0 */
    enum dp_phase phase; /* DP_PHASES: of none, carried, or launched without a trace */
    uint64_t count, ns;
};
#define DP_KERNEL_ROWS 64
struct dp_kernel_rows {
    struct dp_kernel_row row[DP_KERNEL_ROWS]; /* the first n, in the order they came */
    int n;
    uint64_t lost, lost_ns; /* launches that found no row, and their time */
};
struct dp_kernel_log {
    /* Of a slot: its computation, and what it carried and added. */
    struct dp_kernel_rows lane[DP_MAX_SLOTS][DP_LANES];
};
/* log is written by who launches, during calls, and nothing is allocated; NULL switches it off (the
 * default). The caller owns and clears it, between calls. What the host launches is not in it.
 * Errors DP_ENOTSUP devices that do not run their work as it is launched: GPUs, and +lag. */
int dp_group_log(struct dp_group *group, struct dp_kernel_log *log, struct dp_error *err);

/* What is queued on slot between the two, on its thread, counts as that phase of the replica that
 * has the slot's number: work that no call here has a phase for, like a loss, an update, or a model
 * without a wrapper. dp_phase_within: inside of phase `outer` of that replica, from which it is
 * taken. */
struct dp_span {
    struct dp_queue *queue; /* all private */
    enum dp_phase phase, outer;
    int replica;
    uint64_t begin;
};
struct dp_span dp_phase_begin(struct dp_slot *slot, enum dp_phase phase);
struct dp_span dp_phase_within(struct dp_slot *slot, enum dp_phase phase, enum dp_phase outer);
void dp_phase_end(const struct dp_span *span);

#endif
