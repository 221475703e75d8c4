/* backend.h: the seam between the parallel layer and the devices. Internal to core/.
 *
 * There are three small tables: device operations (memory, queues, events), kernels, and the
 * communicator. A backend is a set of kernels for a kind of device, with a default communicator. A
 * fourth table, the bootstrap, knows the processes of a group. The parallel layer never calls an
 * entry of a table directly; it calls the wrappers below. Every slot has two queues: compute
 * (layers, losses, updates) and comm (all transfers). Only events order them. Memory of the slot
 * "host" is always settled: a call that reads or writes it has finished with it when it returns. */
#ifndef DP_BACKEND_H
#define DP_BACKEND_H

#include "ddp.h"
#include "faults.h"
#include "kernels.h"

#include <stdatomic.h>

/* The phase of work that belongs to no phase of a step. */
#define DP_PHASE_NONE DP_PHASES

struct dp_queue {
    struct dp_slot *slot;
    struct dp_lag_queue *lag; /* queued operations of a late device; NULL: they run at once */
    void *native;             /* a device's queue of the driver */
    uint64_t kernels;         /* launches by dp_launch; written by the thread that uses the queue */
    enum dp_phase phase;      /* phase of the open span; DP_PHASE_NONE: no span, or no trace */
};

/* A position in a queue, after everything that was issued before dp_event_record. */
struct dp_event {
    struct dp_queue *queue;
    uint64_t position;
};

/* The arguments of dp_run_call. */
struct dp_host_call {
    dp_kernel_fn *function;
    const void *args;
    size_t bytes;
    const struct dp_use *uses;
    int n_uses;
};

/* The timer of a device that works asynchronously: it measures times between positions in queues.
 * If a span cannot be timed, read returns an error; it never gives the time of something else. */
struct dp_timer_ops {
    void (*open)(struct dp_slot *slot); /* prepares begin and end; called once */
    uint64_t (*begin)(struct dp_queue *queue, const struct dp_span *span);
    void (*end)(struct dp_queue *queue, uint64_t begin);
    void (*forget)(struct dp_slot *slot);
    /* The slot is idle: computes when its times were, on the clock of the host. */
    void (*place)(struct dp_slot *slot);
    /* The slot is idle: adds all times since the last read. */
    int (*read)(struct dp_slot *slot, struct dp_trace *trace, struct dp_error *err);
};

struct dp_device_ops {
    const struct dp_timer_ops *timer; /* NULL: the clock of the host measures */
    /* Fills the info of the slot with what is known of the device. */
    int (*open)(struct dp_slot *slot, struct dp_error *err);
    void (*close)(struct dp_slot *slot);
    /* Called by a new thread that will work for the slot. NULL: nothing to do. */
    void (*adopt)(struct dp_slot *slot);
    int (*alloc)(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err);
    void (*release)(struct dp_slot *slot, void *memory);
    /* Memory of the slot "host" of a group of this kind, which its devices can copy to and from
     * asynchronously. NULL: any memory will do. */
    int (*host_alloc)(struct dp_slot *host, size_t bytes, void **memory, struct dp_error *err);
    void (*host_release)(struct dp_slot *host, void *memory);
    int (*launch)(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                  struct dp_error *err);
    /* A whole convolution by a library. If it is NULL, or sets *made to false, nothing was written,
     * and the layer launches the kernels that a convolution consists of. */
    int (*convolve)(struct dp_queue *queue, const struct dp_convolution *c, bool *made,
                    struct dp_error *err);
    /* Runs a C function in the order of the queue. */
    int (*call)(struct dp_queue *queue, const struct dp_host_call *call, struct dp_error *err);
    /* From now on n events of each queue of an idle slot must be distinguishable; otherwise a wait
     * for an old event may also wait for newer ones. NULL: all are distinguishable. */
    int (*events)(struct dp_slot *slot, int n, struct dp_error *err);
    void (*record)(struct dp_queue *queue, struct dp_event *event);
    /* Later work in queue waits for the event, which may be on a device of another kind. */
    int (*wait)(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err);
    /* The calling thread waits for an event of this device. */
    int (*finish)(const struct dp_event *event, struct dp_error *err);
    int (*sync)(struct dp_queue *queue, struct dp_error *err);
    /* Between hold(true) and hold(false), which nest, the device may hold launches back and issue
     * them together. It issues them on flush, and before anything else could notice: a copy, a
     * call, an event, or a wait for the queue. flush also returns their failures. NULL: nothing is
     * ever held back. */
    void (*hold)(struct dp_queue *queue, bool on);
    /* Launches before everything that is held back; no held operation may touch its output. NULL:
     * the same as launch. */
    int (*ahead)(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                 struct dp_error *err);
    int (*flush)(struct dp_queue *queue, struct dp_error *err);
};
extern const struct dp_device_ops dp_device_cpu; /* cpu/device.c: runs work at once */
/* cuda/device.c; without CUDA cuda/absent.c, which has no operations. */
extern const struct dp_device_ops dp_device_cuda;

/* A parsed device list: slot i is device[i] of that kind. For host, n is 0. */
struct dp_device_list {
    const struct dp_kind *kind;
    int n, device[DP_MAX_SLOTS];
    bool lag;            /* they run late */
    uint64_t delay_ns;   /* extra time of every operation of a comm queue */
    uint64_t delay_rate; /* bytes per second: extra time by what it writes; 0: none */
    enum dp_fault fault; /* the operation that fails, in its call number fault_at */
    uint64_t fault_at;   /* 0: none fails */
    struct dp_silent_fault_spec silent_fault;
};

extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];  /* cpu/kernels_ref.c */
extern dp_kernel_fn *const dp_kernels_blas[DP_KERNELS]; /* cpu/kernels_blas.c */
extern const bool dp_onednn_is_built;                   /* cpu/onednn.c */
void dp_blas_one_thread(void);                          /* cpu/blas_*.c */
void dp_blas_describe(char *text, size_t bytes);
/* DP_ENOTSUP unless the BLAS has threads whose number and cores can be set. */
int dp_blas_check_threads(struct dp_error *err);
/* From now on a product uses n threads, the calling one included. Missing threads are started at
 * once, and may run where the calling thread may. */
int dp_blas_threads(int n, struct dp_error *err);
/* Checks that the BLAS can allocate its memory for n threads; if it cannot, a call of the BLAS may
 * never return. */
int dp_blas_check_memory(int n, struct dp_error *err);

/* The slots of one parallel call: replica i is on slot[i], and runs on its worker. */
struct dp_team {
    struct dp_group *group;
    struct dp_slot *const *slot;
    int n;
};

/* One transfer between two slots, for one replica. */
struct dp_move {
    struct dp_slot *dst_slot, *src_slot;
    struct dp_copy copy;
};
struct dp_moves {
    const struct dp_move *move;
    int n;
};

/* dst += or = the sum of src[i] over the replicas i of the team, in replica order unless the
 * communicator has DP_COMM_FREE_SUMS. */
struct dp_sum {
    enum dp_dtype dtype;
    bool accumulate;
    size_t n;
    void *dst;
    const void *const *src; /* one per replica of the team */
};

/* The bootstrap: how the processes of a group find each other, and exchange a few bytes. All
 * processes make the same calls in the same order, and each call waits for the others. */
struct dp_bootstrap {
    const char *name;
    int (*size)(void *self); /* number of processes */
    int (*rank)(void *self); /* number of this process */
    /* Gathers the bytes of every process on all, in order of their numbers: all has size * bytes.
     */
    int (*exchange)(void *self, const void *mine, size_t bytes, void *all, struct dp_error *err);
    int (*barrier)(void *self, struct dp_error *err);
    void (*abort)(void *self); /* makes the calls of the others fail, also those in progress */
};
extern const struct dp_bootstrap dp_bootstrap_self; /* world.c: one process */

/* The processes of dp_group_config that open a group together, and their communicator. */
struct dp_world {
    const struct dp_bootstrap *bootstrap;
    void *self;                     /* state of the bootstrap */
    const struct dp_comm_ops *comm; /* NULL: the one of the configuration */
};

/* The contribution of one local rank to a collective: memory of its slot, in pieces. */
struct dp_part {
    struct dp_slot *slot;
    int rank;                  /* rank in the world */
    int replica;               /* number among the local ranks */
    void *const *piece;        /* as many as the collective has */
    struct dp_move *moves;     /* for a broadcast: space for one move per piece, during the call */
    struct dp_event ready;     /* after the work that made them, in the compute queue */
    struct dp_event done;      /* set by poll: the result is there, and the memory is free */
    _Atomic uint64_t *done_ns; /* of an allreduce: when it was issued; if timed, when it was done */
    struct dp_event added;     /* for the communicator */
};

/* One operation on all ranks that take part. The members, the number of pieces and their bytes are
 * the same on each. No rank's memory is known to another process. */
struct dp_collective {
    const int *member; /* the ranks of the world that take part, ascending */
    int n_members;
    struct dp_part *part; /* the local ones, in the same order */
    int n_parts;
    const size_t *bytes; /* of each piece; for an allreduce whole floats */
    int n_pieces;
    float scale; /* of an allreduce: multiplies the numbers of every rank first */
    bool timed;
    bool last;                  /* the calling thread will poll next */
    struct dp_collective *next; /* from here on for the communicator, until poll or abort */
    int number, summed;
};

/* A standalone collective, from one memory to another. */
struct dp_collective_call {
    enum dp_collective_kind kind;
    enum dp_dtype dtype;
    size_t n;                     /* elements of a block; of allreduce and broadcast, of all */
    int root;                     /* of a broadcast */
    const void *in[DP_MAX_SLOTS]; /* by slot, and on it, like out */
    void *out[DP_MAX_SLOTS];
};
bool dp_collective_sums(enum dp_collective_kind kind);
/* The bytes that a rank of a world receives, and sends, in the best case. */
size_t dp_collective_bytes(const struct dp_collective_call *s, int world, int rank);

/* The calling thread issues move and reduce for all replicas at once. They start after the work
 * that is in the compute queues of every slot that they touch, and later work there starts after
 * them. One thread at a time issues collectives, for all local ranks at once, and in the same order
 * in every process. */
struct dp_comm_ops {
    const char *name;    /* RANKS+MOVES is a composite of two communicators */
    const char *instead; /* the name of its fallback, which open may set; NULL: none */
    unsigned can, needs; /* can: DP_COMM_; needs: flags of the kinds of devices that it supports */
    /* Connects the open slots. It may replace group->comm. NULL: nothing to do. */
    int (*open)(struct dp_group *group, struct dp_error *err);
    /* Called before the first collective, and maybe again. NULL: nothing to do. */
    int (*start)(struct dp_group *group, struct dp_error *err);
    void (*close)(struct dp_group *group); /* undoes open and start; NULL: nothing to do */
    int (*move)(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                struct dp_error *err);
    int (*reduce)(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                  int n, enum dp_phase phase, struct dp_error *err);
    /* Copies the pieces of member root to all others. Called by the calling thread; ordered as a
     * move. */
    int (*broadcast)(struct dp_group *group, const struct dp_collective *c, int root,
                     enum dp_phase phase, struct dp_error *err);
    /* Sums every rank's pieces over the members, in rank order unless it has DP_COMM_FREE_ORDER,
     * with the same bits on all ranks. The communicator owns c until poll or abort; until then all
     * collectives have the same members. Without DP_COMM_OVERLAP it is called by the calling thread
     * while the workers are idle. */
    int (*allreduce)(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
    /* Issues all pending allreduces to the queues, and sets their events done. Called by the
     * calling thread while the workers are idle; they help. Returns the failure of any. NULL:
     * nothing is pending. */
    int (*poll)(struct dp_group *group, struct dp_error *err);
    /* A standalone collective. Called by the calling thread; ordered as a move. NULL: there are
     * none in blocks and out of place. */
    int (*collective_call)(struct dp_group *group, const struct dp_collective_call *collective_call,
                           struct dp_error *err);
    /* Drops everything that is in no queue yet. Collectives of other processes fail. NULL: nothing
     * to do. */
    void (*abort)(struct dp_group *group);
    /* Sets each value to its maximum over all processes. Called by the calling thread. NULL without
     * DP_COMM_WORLD. */
    int (*allreduce_max)(struct dp_group *group, int64_t values[], int n, struct dp_error *err);
};
extern const struct dp_comm_ops dp_comm_staged;  /* cpu/comm_staged.c: defines the results */
extern const struct dp_comm_ops dp_comm_threads; /* cpu/comm_threads.c */
extern const struct dp_comm_ops dp_comm_peer; /* cuda/comm_peer.c; else absent.c: no operations */
/* cuda/comm_nccl.c; without NCCL nccl_absent.c, which has no operations. The first moves data as
 * peer does, the second by NCCL where it has a call for that. */
extern const struct dp_comm_ops dp_comm_nccl, dp_comm_nccl_nccl;
/* mpi/comm.c; without MPI mpi/absent.c, which has no operations. */
extern const struct dp_comm_ops dp_comm_mpi;

/* second.c: an allreduce by a second worker for each slot. It needs slots whose queues can use the
 * memory of all slots. */
int dp_second_start(struct dp_group *group, struct dp_error *err);
void dp_second_close(struct dp_group *group);
int dp_second_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
int dp_second_poll(struct dp_group *group, struct dp_error *err);
void dp_second_abort(struct dp_group *group);

/* collective.c: collectives of one process, made of move and reduce of the communicator. */
int dp_moved_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                       enum dp_phase phase, struct dp_error *err);
int dp_moved_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
int dp_moved_collective(struct dp_group *group, const struct dp_collective_call *s,
                        struct dp_error *err);

/* A kind of devices, known even if this build cannot open them. */
struct dp_kind {
    const char *name, *words, *form; /* "virt", "virtual devices", "virt:COUNT" */
    unsigned flags;                  /* DP_KIND_ */
    const struct dp_device_ops *ops; /* without open: not in this build */
    /* Parses "NAME:...", without suffixes, into the devices. */
    int (*list)(const char *text, struct dp_device_list *list, struct dp_error *err);
    void (*software)(char *text, size_t bytes); /* writes versions; NULL: none */
};

enum dp_onednn { DP_ONEDNN_NO, DP_ONEDNN_WHERE_FASTER, DP_ONEDNN_ONLY };

struct dp_backend {
    const char *name;
    const struct dp_kind *kind;     /* kind of devices */
    dp_kernel_fn *const *kernels;   /* of devices whose kernels are C functions, and of the host */
    const struct dp_comm_ops *comm; /* the default */
    enum dp_onednn onednn;          /* how large products are made */
};

/* registry.c: the only list of kinds, backends and communicators. Errors list what is allowed. If
 * name is NULL, the first backend of the kind is taken. */
const struct dp_backend *dp_backend_find(const char *name, const struct dp_kind *kind,
                                         struct dp_error *err);
const struct dp_comm_ops *dp_comm_find(const char *name, const struct dp_kind *kind,
                                       struct dp_error *err);
/* DP_ENOTSUP unless a communicator, which need not be in the list, has all abilities of can. */
int dp_comm_check(const struct dp_comm_ops *comm, const struct dp_kind *kind, unsigned can,
                  struct dp_error *err);
int dp_devices_parse(const char *text, struct dp_device_list *list, struct dp_error *err);

/* device_list.c: parses "virt:4", and the suffixes of any list, from at: its first '+', or its end.
 * whole is the list, for messages. */
int dp_virtual_list(const char *text, struct dp_device_list *list, struct dp_error *err);
int dp_suffixes_parse(const char *whole, const char *at, struct dp_device_list *list,
                      struct dp_error *err);

/* cuda/devices.c; in a build without CUDA cuda/absent.c. */
int dp_cuda_list(const char *text, struct dp_device_list *list, struct dp_error *err);
/* Writes the versions of driver, runtime and cuBLAS. */
void dp_cuda_software(char *text, size_t bytes);

/* lag.c: wraps the open slots of a group before they have any memory, and runs their operations
 * late. seed is that of dp_group_config. dp_lag_pending returns how many issued operations have not
 * run. */
struct dp_lag;
int dp_lag_open(struct dp_group *group, uint64_t seed, struct dp_error *err);
void dp_lag_close(struct dp_group *group);
uint64_t dp_lag_pending(const struct dp_group *group);

/* delay.c: wraps the slots of an open group. Every operation of a comm queue takes ns longer, and
 * the time of its bytes at rate bytes per second (0: no time). */
int dp_delay_open(struct dp_group *group, uint64_t ns, uint64_t rate, struct dp_error *err);

struct dp_worker;   /* worker.c */
struct dp_second;   /* second.c */
struct dp_nccl;     /* cuda/nccl_team.h */
struct dp_mpi_team; /* mpi/inside.h */

struct dp_slot {
    struct dp_group *group;
    const struct dp_device_ops *ops;
    dp_kernel_fn *const *kernels; /* of a device whose kernels are C functions */
    void *products;               /* state of group->products on this slot */
    struct dp_queue compute, comm;
    struct dp_event ready, done; /* of the current communication */
    struct dp_worker *worker;    /* NULL: the calling thread works for it */
    int device;                  /* number of its device, as the driver counts */
    void *native;                /* state of its device operations */
    _Atomic size_t bytes, peak;  /* now allocated by dp_slot_take, and at most */
    struct dp_launches launches;
    struct dp_slot_info info;
};

#define DP_STAGE_BYTES 65536

struct dp_group {
    const struct dp_kind *kind;
    const struct dp_backend *backend;
    const struct dp_comm_ops *comm;
    const struct dp_products *products; /* cpu/products.h; NULL: kernels make them */
    char products_name[64];             /* "oneDNN 2.6.3 brg:avx512_core" */
    enum dp_math math;
    struct dp_slot host;
    struct dp_slot *slot[DP_MAX_SLOTS];
    int size;                      /* slots, which are the local ranks */
    int world, first;              /* world size; rank of slot 0 */
    const struct dp_world *others; /* NULL: one process */
    bool broken;                   /* a collective between processes has failed: no more calls */
    char software[96];
    bool oversubscribed, bound_caller;
    bool wide_blas; /* products use several threads: dp_group_config.wide_blas */
    bool in_team;   /* workers are busy: a nested parallel call is an error */
    struct dp_error errors[DP_MAX_SLOTS]; /* of replicas, or of their transfers */
    bool graphs;                          /* launches that are held back may become CUDA graphs */
    struct dp_topology *topology;
    struct dp_workers *workers;
    struct dp_second *second; /* NULL: not started */
    struct dp_nccl *nccl;     /* NULL: another communicator */
    struct dp_mpi_team *mpi;  /* the same */
    unsigned deadline_s;      /* for a collective that may never end */
    size_t slice_bytes;       /* see dp_group_config; 0: the default */
    struct dp_trace *trace;
    struct dp_kernel_log *log;
    struct dp_delayed *delayed;             /* NULL: no transfer takes longer on purpose */
    struct dp_faults *faults;               /* NULL: nothing fails on purpose */
    struct dp_silent_faults *silent_faults; /* NULL: no silent fault */
    struct dp_lag *lag;                     /* NULL: nothing runs late on purpose */
    size_t next_param;
    uint64_t next_run;
    unsigned char *stage; /* DP_STAGE_BYTES of host memory */
};

/* comm.c: DP_EINVAL inside a replica, and for slots of another group, because the workers of this
 * group never run that group's tasks. */
int dp_team_check(const struct dp_team *team, struct dp_error *err);
/* DP_EINVAL if no kernel can add that type. */
int dp_check_sum(enum dp_dtype dtype, struct dp_error *err);
/* Call the communicator of the team's group, after dp_team_check. If the call fails, they wait
 * until all queues are empty. */
int dp_comm_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                 struct dp_error *err);
int dp_comm_reduce(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                   int n, enum dp_phase phase, struct dp_error *err);
/* DP_ENOTSUP if the communicator has no collectives for ranks. */
int dp_comm_start(struct dp_group *group, struct dp_error *err);
/* Call the operations of the communicator. After a failure all but allreduce wait until all queues
 * are empty; after a failed allreduce the caller calls dp_comm_abort. In one process agree does
 * nothing. */
int dp_comm_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                      enum dp_phase phase, struct dp_error *err);
int dp_comm_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
int dp_comm_collective(struct dp_group *group, const struct dp_collective_call *s,
                       struct dp_error *err);
int dp_comm_poll(struct dp_group *group, struct dp_error *err);
int dp_comm_allreduce_max(struct dp_group *group, int64_t values[], int n, struct dp_error *err);
/* Waits until all queues are empty. A group of several processes is broken afterwards. */
void dp_comm_abort(struct dp_group *group);

/* world.c: dp_world_count counts the ranks of all processes, when the slots are open.
 * dp_world_ready tells the other processes that the whole group is open. */
int dp_world_count(struct dp_group *group, struct dp_error *err);
int dp_world_ready(struct dp_group *group, struct dp_error *err);

/* These wrap the device operations. */
int dp_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
              struct dp_error *err);
int dp_launch_ahead(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                    struct dp_error *err);
int dp_convolve(struct dp_queue *queue, const struct dp_convolution *c, bool *made,
                struct dp_error *err);
int dp_event_wait(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err);
int dp_queue_sync(struct dp_queue *queue, struct dp_error *err);
int dp_slot_wait(struct dp_slot *slot, struct dp_error *err); /* both queues */
bool dp_is_host(const struct dp_slot *slot);

/* hold.c: from dp_slots_hold to dp_slots_issue the calling thread owns the compute queues of n
 * slots, so that they may hold its launches back. */
void dp_slots_hold(struct dp_slot *const slots[], int n);
int dp_slots_issue(struct dp_slot *const slots[], int n, struct dp_error *err);
/* Issues what is held back, and continues to hold. Call it before another thread goes on. */
int dp_slots_flush(struct dp_slot *const slots[], int n, struct dp_error *err);

/* worker.c: crowded means more workers than cores. */
int dp_workers_open(struct dp_group *group, bool bind, bool crowded, struct dp_error *err);
void dp_workers_close(struct dp_group *group);
/* Runs function(i, arg) for every replica of the team on the worker of its slot, and waits for all.
 * A single replica runs on the calling thread. */
void dp_team_run(const struct dp_team *team, void (*function)(int i, void *arg), void *arg);

/* topology.c */
/* The parts of the machine to read in addition to cores and NUMA nodes; each takes time. */
enum dp_topology_parts { DP_TOPOLOGY_CORES, DP_TOPOLOGY_DEVICES, DP_TOPOLOGY_ALL };
int dp_topology_open(struct dp_topology **topology, enum dp_topology_parts parts,
                     struct dp_error *err);
void dp_topology_close(struct dp_topology *topology);
/* True if it is not this machine: hwloc says so, or the kernel has more processing units. */
bool dp_topology_foreign(const struct dp_topology *topology);
/* True if some of n slots share a core. Call it when all are placed. */
bool dp_topology_crowded(const struct dp_topology *topology, int n);
/* Places slot i near the device with this PCI bus id. False: its location is unknown. Call it
 * before anything is placed. */
bool dp_topology_near(struct dp_topology *topology, int i, const char *bus);
/* For slots without a device: all processes that may use these cores have config->sharing such
 * slots, and config->sharing_before of them come first. Call it before anything is placed. */
void dp_topology_share(struct dp_topology *topology, const struct dp_group_config *config);
/* Writes core set i of n, as text and NUMA node. The sets are disjoint, unless there are too few
 * cores. If the slot has a device, they are near it. */
void dp_topology_place(struct dp_topology *topology, int i, int n, struct dp_slot_info *info);
/* Binds the calling thread to core set i of n, or to all of these sets. */
enum { DP_TOPOLOGY_TOGETHER = -1 };
int dp_topology_bind(struct dp_topology *topology, int i, int n, struct dp_error *err);
void dp_topology_unbind(struct dp_topology *topology);

/* kernel_log.c: adds a launch that began at `begin` and has ended. Only if there is a log. */
uint64_t dp_now_ns(void);
void dp_kernel_log_convolution(const struct dp_queue *queue, const struct dp_convolution *c,
                               uint64_t begin); /* trace.c */
void dp_kernel_log_add(const struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                       uint64_t begin);

/* trace.c: adds times and bytes of a replica; does nothing without a trace. A span is everything
 * that is queued between its begin and its end. dp_trace_begin and dp_trace_end are for work that
 * has happened when they are called. */
struct dp_span dp_span_begin(struct dp_queue *queue, int replica, enum dp_phase phase);
void dp_span_end(const struct dp_span *span, size_t bytes);
/* Adds a time of a replica. The time of a span is subtracted from its outer phase. */
void dp_trace_add(struct dp_trace *trace, int replica, enum dp_lane lane,
                  const struct dp_interval *time);
void dp_span_add(struct dp_trace *trace, const struct dp_span *span, uint64_t begin_ns,
                 uint64_t end_ns);
uint64_t dp_trace_begin(const struct dp_group *group);
void dp_trace_end(struct dp_group *group, int replica, enum dp_phase phase, uint64_t begin,
                  size_t bytes);
/* Adds a matrix product that the worker of the slot has made. */
void dp_trace_matmul(const struct dp_slot *slot, uint64_t begin);
/* dp_move_traffic returns the bytes of a transfer that cross slots. dp_trace_sums adds those of
 * sums to the trace of every replica. */
size_t dp_move_traffic(const struct dp_move *move);
void dp_trace_sums(const struct dp_team *team, const struct dp_slot *dst_slot,
                   const struct dp_sum sums[], int n, enum dp_phase phase);

#endif
