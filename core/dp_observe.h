/* dp_observe.h: observes without changing anything: the machine, its GPUs, how work was launched,
 * and where the time of a step went; a part of dp.h, which includes it. */
#ifndef DP_OBSERVE_H
#define DP_OBSERVE_H

#ifndef DP_H
#error "dp_observe.h is a part of dp.h: include that"
#endif

/* ---- the machine ------------------------------------------------------------------------ */

struct dp_machine {
    char cpu_model[128];
    int packages, numa_nodes, cores, pus;   /* of the whole machine */
    int usable_cores, usable_pus;           /* those that this process may use */
    uint64_t memory_bytes, usable_bytes;    /* of the machine; for this process */
    uint64_t l1d_bytes, l2_bytes, l3_bytes; /* of one cache; 0: unknown */
    bool foreign; /* hwloc was told of another machine: the fields above are not of this one */
    char hwloc_version[32];
    char blas[160]; /* name, version and configuration of the CBLAS in use */
};
int dp_machine_read(struct dp_machine *machine, struct dp_error *err);

/* The limits that control groups set for this process; INFINITY: none. root is "", or the root of
 * another machine's files. */
struct dp_limits {
    double cpus, memory_bytes; /* cpus: time of processors, in processors */
};
int dp_limits_read(const char *root, struct dp_limits *limits, struct dp_error *err);

/* A NUMA node, with its package (-1: none, or several) and its cores. */
struct dp_numa {
    int node, package;
    int cores, pus;
    uint64_t memory_bytes;
    char cpus[128]; /* its processing units: "0-3,8" */
};
/* Lists at most `most` nodes, by package and number. Returns how many there are, or a negative enum
 * dp_status. */
int dp_machine_nodes(struct dp_numa numa[], int most, struct dp_error *err);

/* Looks for GPUs. Returns their number, or a negative enum dp_status: DP_ENODEV if there are none
 * (this build has no CUDA part, there is no driver, or the process may see no GPU); another status
 * if what is there does not work. text gets the reason in one line, in the words of the CUDA
 * runtime, with versions. */
int dp_gpus(char *text, size_t bytes);

/* The version of the NCCL library that communicator nccl would load. Returns 0, or DP_ENOTSUP if
 * there is none, if it is too old, or if this build has no NCCL part; then text says which. */
int dp_nccl_library(char *text, size_t bytes);

/* ---- kinds, backends and communicators -------------------------------------------------- */

/* Flags that hold for all devices of a kind. */
enum {
    DP_KIND_CORES = 1,  /* they use the cores and the memory of the host */
    DP_KIND_GPU = 2,    /* they have a model, a PCI address and separate memory */
    DP_KIND_TF32 = 4,   /* their matrix products can round operands: DP_MATH_TF32 */
    DP_KIND_LISTED = 8, /* lists have numbers, "cuda:0-3,5"; otherwise a count, "virt:4" */
    DP_KIND_PEERS = 16  /* they copy to each other by CUDA */
};
/* Abilities of a communicator. */
enum {
    DP_COMM_PARALLEL = 1, /* moves and sums between any slots: DataParallel */
    DP_COMM_RANKS = 2,    /* collectives: DistributedDataParallel */
    DP_COMM_OVERLAP = 4,  /* an allreduce runs during the work of the slots' workers */
    DP_COMM_WORLD = 8,    /* the collectives reach ranks of other processes */
    /* An allreduce adds in an order of the communicator's choice, which may differ from call to
     * call. So numbers that round are equal only within bounds. Without this flag it adds in rank
     * order. */
    DP_COMM_FREE_ORDER = 16,
    /* It connects processes that were started together (dp_mpi_open); its name alone opens nothing.
     */
    DP_COMM_TOGETHER = 32,
    DP_COMM_FREE_SUMS = 64 /* the same for the sums of DataParallel; without it: in replica order */
};

/* These rows list all that this version knows, with a flag for what this build has. */
struct dp_kind_row {
    const char *name, *words; /* "virt", "virtual devices" */
    unsigned flags;
    bool built;
};
struct dp_backend_row {
    const char *name, *kind, *communicator; /* communicator: the default */
    bool built;
};
struct dp_communicator_row {
    const char *name;
    const char *instead; /* its name when it can do less; NULL: never */
    unsigned can, needs; /* can: DP_COMM_; needs: flags of the kinds that it supports */
    bool built;
};
/* Fills *row with row i; false if there is none. The first backend of a kind is its default. */
bool dp_kinds(int i, struct dp_kind_row *row);
bool dp_backends(int i, struct dp_backend_row *row);
bool dp_communicators(int i, struct dp_communicator_row *row);
/* Finds the row for the name that a group gives its communicator: "peer-staged" is peer. A
 * composite RANKS+MOVES without a row is the first of the two, which has the collectives:
 * "nccl+peer" is nccl. False: there is no such name. */
bool dp_communicator_of(const char *name, struct dp_communicator_row *row);
/* Finds the kind of a device list, a slot's name or a kind: "virt:4+lag", "cuda:0#1", "virt". host
 * has the first kind. False: the kind is unknown. */
bool dp_kind_of(const char *text, struct dp_kind_row *row);
/* Checks, before devices are opened, that the communicator (NULL: the default of the backend)
 * supports them and has all abilities of `can`. Devices that are unknown, or that this build does
 * not have, are accepted. Errors: DP_EINVAL, and those of opening them. */
int dp_communicator_check(const char *communicator, const char *backend, const char *devices,
                          unsigned can, struct dp_error *err);

/* Checks in the same way that dp_group_config.wide_blas is possible: that products of the backend
 * (NULL: the first one) can use several cores. Errors: DP_EINVAL, with the reason. */
int dp_wide_blas_check(const char *backend, const char *devices, struct dp_error *err);

/* ---- launches, traces, kernels ---------------------------------------------------------- */

/* How operations of all compute queues were launched on GPUs since the group was opened; zeros for
 * other devices. */
struct dp_launches {
    uint64_t single;            /* operations launched by themselves */
    uint64_t graphs, in_graphs; /* graphs launched, and the operations in them */
    uint64_t captured, evicted; /* graphs made, and dropped for newer ones */
    uint64_t refused;           /* lists of operations that CUDA could not capture */
};
void dp_group_launches(const struct dp_group *group, struct dp_launches *launches);
/* Returns the number of kernels launched since the group was opened, on all queues of its slots and
 * its host; copies count as kernels. It works for devices of any kind, and does not depend on when
 * and how kernels are launched: at once, late or in a graph. The group must be idle: call
 * dp_group_wait first. */
uint64_t dp_group_kernels(const struct dp_group *group);

/* Devices with +fault cannot show that a run is right, whether the call was made or not. For them
 * it returns DP_EFAULT, and err says which it was. For other devices, and for NULL, it returns 0.
 */
int dp_group_faulty(const struct dp_group *group, struct dp_error *err);

/* Phases of a step. Their times and bytes are added up for each replica until the trace is reset.
 * The clock is that of the host if operations run as they are issued. For a GPU it is that of the
 * GPU, between events in its queues: from the moment when a queue reaches the phase until its last
 * operation of that phase has ended. */
enum dp_phase {
    DP_PHASE_SCATTER,   /* input rows go to the replicas */
    DP_PHASE_REPLICATE, /* parameters go to the replicas */
    DP_PHASE_FORWARD,
    DP_PHASE_GATHER,   /* outputs go to the output device */
    DP_PHASE_BACKWARD, /* output gradient to replicas, their backward, input gradients back */
    DP_PHASE_REDUCE,   /* gradients of the replicas are added to the base */
    DP_PHASE_LOSS,     /* only the caller has it: dp_phase_begin */
    DP_PHASE_UPDATE,   /* also only the caller's, and dp_ddp_step's */
    DP_PHASES
};
/* When those times were, to draw a step. Each replica has a lane for its computation and one for
 * its transfers. Times of a GPU are on the clock of the host, late by some microseconds. */
enum dp_lane { DP_LANE_COMPUTE, DP_LANE_TRANSFER, DP_LANES };
struct dp_interval {
    enum dp_phase phase;       /* DP_PHASES: a transfer of no phase, in no sum; unknown for GPUs */
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW */
};
#define DP_TIMELINE_CAPACITY 256
struct dp_timeline {
    struct {
        struct dp_interval at[DP_TIMELINE_CAPACITY]; /* ordered by their ends */
        int n;                                       /* all there were, also those that were lost */
    } lane[DP_MAX_SLOTS][DP_LANES];
};
struct dp_trace {
    struct {
        /* Time of its worker. For transfers: one after the other, since the first began. */
        uint64_t ns[DP_PHASES];
        uint64_t bytes[DP_PHASES]; /* bytes that were moved between slots for it */
        uint64_t end_ns;           /* end of the last of these times; for a GPU 0 */
    } replica[DP_MAX_SLOTS];
    /* By slot of the group: time in matrix products, which is a part of forward and backward. 0
     * means unknown: the issuing thread does not run the products of late devices and GPUs. */
    uint64_t matmul_ns[DP_MAX_SLOTS];
    struct dp_timeline *timeline; /* owned by the caller; NULL: only sums are kept */
};
/* Sets the trace that workers write during calls; NULL (the default) switches it off. The caller
 * owns it, and clears it between calls. A timeline begins with this call, so set it before. */
void dp_group_trace(struct dp_group *group, struct dp_trace *trace);
/* Waits for the group, and adds the times of its GPUs, which are not in the trace before. Call it
 * after a step, outside of what is timed. Other devices have no times to add. Errors: DP_EINVAL if
 * a GPU has more than DP_TRACE_SPANS times since the last call; DP_EFAULT. */
#define DP_TRACE_SPANS 32
int dp_trace_read(struct dp_group *group, struct dp_error *err);

/* The kernels that were launched, with the time that they ran. Launches of one name and phase share
 * a row; matrix products also need the same shape. */
struct dp_kernel_row {
    const char *name, *words; /* "gemm", "matrix product" */
    /* For products c[m,n] = op(a)[m,k] op(b)[k,n]: many in one launch, and multiplies, the
     * multiplications in all; fewer than many m n k if one matrix is a triangle. Otherwise false
     * and 0. A convolution by a library counts as the products over its columns, without the
     * padding of images. */
    bool product, transpose_a, transpose_b;
    size_t m, n, k, many, multiplies;
    size_t bytes;        /* bytes that products read and write, each once; otherwise 0 */
    enum dp_phase phase; /* DP_PHASES: none (a transfer, or launched without a trace) */
    uint64_t count, ns;
};
#define DP_KERNEL_ROWS 64
struct dp_kernel_rows {
    struct dp_kernel_row row[DP_KERNEL_ROWS]; /* the first n, in order of their first launch */
    int n;
    uint64_t lost, lost_ns; /* launches without a row, and their time */
};
struct dp_kernel_log {
    /* For each slot: its computation, and its transfers and sums. */
    struct dp_kernel_rows lane[DP_MAX_SLOTS][DP_LANES];
};
/* Sets the log that launching threads write during calls, without allocating; NULL (the default)
 * switches it off. The caller owns it, and clears it between calls. Launches of the host are not in
 * it. Errors: DP_ENOTSUP for devices that do not run work when it is launched: GPUs and +lag. */
int dp_group_log(struct dp_group *group, struct dp_kernel_log *log, struct dp_error *err);

/* Work that is queued on slot between begin and end, by its thread, counts as that phase of the
 * replica with the number of the slot. This is for work that has no phase otherwise, like a loss,
 * an update, or a model without a wrapper. dp_phase_within: the phase is inside of phase `outer` of
 * that replica, and its time is subtracted from it. */
struct dp_span {
    struct dp_queue *queue; /* all fields are private */
    enum dp_phase phase, outer;
    int replica;
    uint64_t begin;
};
struct dp_span dp_phase_begin(struct dp_slot *slot, enum dp_phase phase);
struct dp_span dp_phase_within(struct dp_slot *slot, enum dp_phase phase, enum dp_phase outer);
void dp_phase_end(const struct dp_span *span);

#endif
