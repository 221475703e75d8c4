/* backend.h: the seam between the parallel layer and what it runs on. Internal to core/.
 *
 * Three small tables: device operations (memory, queues, events), kernels, and a communicator. A
 * backend is kernels for a kind of device, and the communicator that it has unless another one is
 * asked for. A fourth table, the bootstrap, says who the processes of a group are. The parallel
 * layer never calls a slot of a table directly, but the wrappers below. Two queues per slot:
 * compute (layers, losses, updates) and comm (all transfers); events order them. Host memory (slot
 * "host") is always settled: a call that reads or writes it has finished with it when it returns.
 */
#ifndef DP_BACKEND_H
#define DP_BACKEND_H

#include "ddp.h"
#include "faults.h"
#include "kernels.h"

#include <stdatomic.h>

/* What belongs to no phase of a step. */
#define DP_PHASE_NONE DP_PHASES

struct dp_queue {
    struct dp_slot *slot;
    struct dp_lag_queue *lag; /* late operations, NULL on a device that runs them at once */
    void *native;             /* of a device with queues of its own */
    uint64_t kernels;         /* launched by dp_launch; written by who may use the queue */
    enum dp_phase phase;      /* of the span that is open, DP_PHASE_NONE: none, or no trace */
};

/* A position in a queue: everything issued to it before dp_event_record. */
struct dp_event {
    struct dp_queue *queue;
    uint64_t position;
};

/* See dp_run_call. */
struct dp_host_call {
    dp_kernel_fn *function;
    const void *args;
    size_t bytes;
    const struct dp_use *uses;
    int n_uses;
};

/* Of a device that works by itself: times between positions in its queues. A span that cannot be
 * timed is an error of read, never a time of something else. */
struct dp_timer_ops {
    void (*open)(struct dp_slot *slot); /* makes what begin and end need; once */
    uint64_t (*begin)(struct dp_queue *queue, const struct dp_span *span);
    void (*end)(struct dp_queue *queue, uint64_t begin);
    void (*forget)(struct dp_slot *slot);
    /* Of an idle slot: its times get their place on the host's clock. */
    void (*place)(struct dp_slot *slot);
    /* Of an idle slot: adds all since the last read. */
    int (*read)(struct dp_slot *slot, struct dp_trace *trace, struct dp_error *err);
};

struct dp_device_ops {
    const struct dp_timer_ops *timer; /* NULL: the host's clock tells */
    /* Fills the slot's info with what is known of the device. */
    int (*open)(struct dp_slot *slot, struct dp_error *err);
    void (*close)(struct dp_slot *slot);
    /* The calling thread is new and will work for the slot. NULL: nothing to do. */
    void (*adopt)(struct dp_slot *slot);
    int (*alloc)(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err);
    void (*release)(struct dp_slot *slot, void *memory);
    /* Memory of the slot "host" of a group of this kind that its devices copy to and from on their
     * own, side by side. NULL: that is so of any memory. */
    int (*host_alloc)(struct dp_slot *host, size_t bytes, void **memory, struct dp_error *err);
    void (*host_release)(struct dp_slot *host, void *memory);
    int (*launch)(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                  struct dp_error *err);
    /* A whole convolution by a library. NULL, or *made false: nothing was written, and the layer
     * launches the kernels that it is made of. */
    int (*convolve)(struct dp_queue *queue, const struct dp_convolution *c, bool *made,
                    struct dp_error *err);
    /* A C function in the queue's order. */
    int (*call)(struct dp_queue *queue, const struct dp_host_call *call, struct dp_error *err);
    /* So many events of each queue of an idle slot are to be told apart from now on; else a wait
     * for an old one may be for a newer one, too. NULL: all are. */
    int (*events)(struct dp_slot *slot, int n, struct dp_error *err);
    void (*record)(struct dp_queue *queue, struct dp_event *event);
    /* Later work in queue waits for the event, which may be of another kind of device. */
    int (*wait)(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err);
    /* The calling thread waits for an event of this device. */
    int (*finish)(const struct dp_event *event, struct dp_error *err);
    int (*sync)(struct dp_queue *queue, struct dp_error *err);
    /* Between hold(true) and hold(false), which nest, launches may be held back and issued
     * together: by flush, or before anything else could tell: a copy, a call, an event, a wait for
     * the queue. flush also returns failures of those. NULL: none are ever held back. */
    void (*hold)(struct dp_queue *queue, bool on);
    /* Launches ahead of what is held back; no held operation may touch its output. NULL: as
     * launch. */
    int (*ahead)(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                 struct dp_error *err);
    int (*flush)(struct dp_queue *queue, struct dp_error *err);
};
extern const struct dp_device_ops dp_device_cpu; /* cpu/device.c: at once */
/* cuda/device.c; in a build without CUDA cuda/absent.c, without operations */
extern const struct dp_device_ops dp_device_cuda;

/* What a device list says: slot i is device[i] of that kind. host: n is 0. */
struct dp_device_list {
    const struct dp_kind *kind;
    int n, device[DP_MAX_SLOTS];
    bool lag;            /* they are late */
    uint64_t delay_ns;   /* of every operation of a comm queue; 0: none */
    uint64_t delay_rate; /* bytes per second: so much longer for what it writes, too; 0: none */
    enum dp_fault fault; /* that operation fails in its call number fault_at */
    uint64_t fault_at;   /* 0: none does */
    struct dp_harm_spec harm;
};

extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];  /* cpu/kernels_ref.c */
extern dp_kernel_fn *const dp_kernels_blas[DP_KERNELS]; /* cpu/kernels_blas.c */
extern const bool dp_onednn_is_built;                   /* cpu/onednn.c */
void dp_blas_one_thread(void);                          /* cpu/blas_*.c */
void dp_blas_describe(char *text, size_t bytes);
/* DP_ENOTSUP unless the BLAS has threads of its own that can be counted and placed. */
int dp_blas_check_threads(struct dp_error *err);
/* From now on n threads for a product, the calling one included. The pool grows by what is missing
 * at once, and a new thread is bound as the calling one is. */
int dp_blas_threads(int n, struct dp_error *err);
/* Whether there is room for what n threads need in the BLAS, which may not come back when there is
 * none. */
int dp_blas_check_room(int n, struct dp_error *err);

/* The slots of one parallel call: replica i is on slot[i] and runs on its worker. */
struct dp_team {
    struct dp_group *group;
    struct dp_slot *const *slot;
    int n;
};

/* One transfer between two slots, carried out for one replica. */
struct dp_move {
    struct dp_slot *dst_slot, *src_slot;
    struct dp_copy copy;
};
struct dp_moves {
    const struct dp_move *move;
    int n;
};

/* dst += or = the sum over the team's replicas i of src[i], in replica order unless the
 * communicator has DP_COMM_FREE_SUMS. */
struct dp_sum {
    enum dp_dtype dtype;
    bool accumulate;
    size_t n;
    void *dst;
    const void *const *src; /* one per replica of the team */
};

/* Who the processes of a group are, for a few bytes at a time. All of them make the same calls in
 * the same order; a call waits for the others. */
struct dp_bootstrap {
    const char *name;
    int (*size)(void *self); /* processes */
    int (*rank)(void *self); /* of this one */
    /* Everyone's bytes to all, in the order of their ranks: size * bytes of all. */
    int (*exchange)(void *self, const void *mine, size_t bytes, void *all, struct dp_error *err);
    int (*barrier)(void *self, struct dp_error *err);
    void (*abort)(void *self); /* the others' calls fail, those under way too */
};
extern const struct dp_bootstrap dp_bootstrap_self; /* world.c: one process */

/* Of dp_group_config: the processes that open a group together, and what carries their bytes. */
struct dp_world {
    const struct dp_bootstrap *bootstrap;
    void *self;                     /* of the bootstrap */
    const struct dp_comm_ops *comm; /* NULL: that of the configuration */
};

/* What one local rank brings to a collective: memory of its own slot, in pieces. */
struct dp_part {
    struct dp_slot *slot;
    int rank;              /* in the world */
    int replica;           /* among the local ones */
    void *const *piece;    /* as many as the collective says */
    struct dp_move *room;  /* of a broadcast: one per piece, the communicator's during the call */
    struct dp_event ready; /* behind the work that made them, in the slot's compute queue */
    struct dp_event done;  /* set by poll: the result is there, nobody uses the memory */
    _Atomic uint64_t *done_ns; /* of an allreduce: when that was issued; if timed, when it was so */
    struct dp_event added;     /* the communicator's own */
};

/* The same operation on all ranks that take part. Alike on each: the members, the number of pieces
 * and their bytes. No rank's memory is named to another process. */
struct dp_collective {
    const int *member; /* ranks of the world that take part, ascending */
    int n_members;
    struct dp_part *part; /* the local ones among them, in the same order */
    int n_parts;
    const size_t *bytes; /* of each piece; of an allreduce whole floats */
    int n_pieces;
    float scale; /* of an allreduce: every rank's numbers are multiplied by it first */
    bool timed;
    bool last;                  /* the calling thread is about to poll */
    struct dp_collective *next; /* from here on the communicator's own, until poll or abort */
    int number, summed;
};

/* A collective by itself, from one memory to another. */
struct dp_spread {
    enum dp_spread_kind kind;
    enum dp_dtype dtype;
    size_t n; /* elements of a block; of allreduce and broadcast, which have none, of all */
    int root; /* of a broadcast */
    const void *in[DP_MAX_SLOTS]; /* by slot, on it; so is out */
    void *out[DP_MAX_SLOTS];
};
bool dp_spread_sums(enum dp_spread_kind kind);

/* move and reduce are issued by the calling thread for all replicas at once. They start after the
 * work already in the compute queues of every slot they touch, and later work there starts after
 * them.
 * Collectives are issued by one thread at a time, for all local ranks at once, in the same order in
 * every process. */
struct dp_comm_ops {
    const char *name;    /* of a composite RANKS+MOVES: who has the collectives, who the moves */
    const char *instead; /* name of what open may replace it by; NULL: nothing */
    unsigned can, needs; /* DP_COMM_; flags that a kind of device has that it serves */
    /* Connects the slots, which are open; may replace group->comm. NULL: nothing to do. */
    int (*open)(struct dp_group *group, struct dp_error *err);
    /* Before the first collective, and maybe again. NULL: nothing to do. */
    int (*start)(struct dp_group *group, struct dp_error *err);
    void (*close)(struct dp_group *group); /* of what open and start have made. NULL: nothing */
    int (*move)(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                struct dp_error *err);
    int (*reduce)(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                  int n, enum dp_phase phase, struct dp_error *err);
    /* The pieces of member root to all others. By the calling thread; ordered as a move. */
    int (*broadcast)(struct dp_group *group, const struct dp_collective *c, int root,
                     enum dp_phase phase, struct dp_error *err);
    /* Every rank's pieces become the sum over the members, in rank order unless it has
     * DP_COMM_FREE_ORDER: the same bits on all of them. c stays the communicator's until poll or
     * abort; in between all have the same members. Without DP_COMM_OVERLAP by the calling thread,
     * while the workers are idle. */
    int (*allreduce)(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
    /* By the calling thread while the workers are idle, which help: all allreduces are issued to
     * the queues, and their events done are set. The failure of any. NULL: they are already. */
    int (*poll)(struct dp_group *group, struct dp_error *err);
    /* By the calling thread; ordered as a move. NULL: by move and reduce, of one process. */
    int (*spread)(struct dp_group *group, const struct dp_spread *spread, struct dp_error *err);
    /* Gives up what no queue has yet. Other processes' collectives fail. NULL: nothing to do. */
    void (*abort)(struct dp_group *group);
    /* The greatest of all processes' numbers, each by itself. By the calling thread. NULL without
     * DP_COMM_WORLD. */
    int (*agree)(struct dp_group *group, int64_t values[], int n, struct dp_error *err);
};
extern const struct dp_comm_ops dp_comm_staged;  /* cpu/comm_staged.c: the definition */
extern const struct dp_comm_ops dp_comm_threads; /* cpu/comm_threads.c */
extern const struct dp_comm_ops dp_comm_peer; /* cuda/comm_peer.c; else absent.c: no operations */
/* cuda/comm_nccl.c; in a build without NCCL nccl_absent.c, without operations. Moves by peer, or by
 * NCCL what it has a call for. */
extern const struct dp_comm_ops dp_comm_nccl, dp_comm_nccl_nccl;
/* mpi/comm.c; in a build without MPI mpi/absent.c, without operations */
extern const struct dp_comm_ops dp_comm_mpi;

/* second.c: an allreduce by a second worker per slot, where work in any slot's queues may use the
 * memory of all slots. */
int dp_second_start(struct dp_group *group, struct dp_error *err);
void dp_second_close(struct dp_group *group);
int dp_second_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
int dp_second_poll(struct dp_group *group, struct dp_error *err);
void dp_second_abort(struct dp_group *group);

/* collective.c: of one process, by move and reduce of the group's communicator. */
int dp_moved_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                       enum dp_phase phase, struct dp_error *err);
int dp_moved_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
int dp_moved_spread(struct dp_group *group, const struct dp_spread *s, struct dp_error *err);

/* A kind of devices, whether this build can open them or not. */
struct dp_kind {
    const char *name, *words, *form; /* "virt", "virtual devices", "virt:COUNT" */
    unsigned flags;                  /* DP_KIND_ */
    const struct dp_device_ops *ops; /* without open: not in this build */
    /* Reads "NAME:...", without suffixes: which devices. */
    int (*list)(const char *text, struct dp_device_list *list, struct dp_error *err);
    void (*software)(char *text, size_t bytes); /* its versions. NULL: nothing to say */
};

enum dp_onednn { DP_ONEDNN_NO, DP_ONEDNN_WHERE_FASTER, DP_ONEDNN_ONLY };

struct dp_backend {
    const char *name;
    const struct dp_kind *kind;     /* of device that it is for */
    dp_kernel_fn *const *kernels;   /* of devices whose kernels are C functions, and of the host */
    const struct dp_comm_ops *comm; /* unless another one is asked for */
    enum dp_onednn onednn;          /* whose large products are */
};

/* registry.c: the one list of kinds, backends and communicators. The line of an error lists those
 * that could be asked for. name NULL: the first backend of that kind. */
const struct dp_backend *dp_backend_find(const char *name, const struct dp_kind *kind,
                                         struct dp_error *err);
const struct dp_comm_ops *dp_comm_find(const char *name, const struct dp_kind *kind,
                                       struct dp_error *err);
/* DP_ENOTSUP unless a communicator, which need not be in the list, can do all that. */
int dp_comm_check(const struct dp_comm_ops *comm, const struct dp_kind *kind, unsigned can,
                  struct dp_error *err);
int dp_devices_parse(const char *text, struct dp_device_list *list, struct dp_error *err);

/* device_list.c. "virt:4", and what is behind the devices of any list: from at, its first '+' or
 * its end. whole: the list, for messages. */
int dp_virtual_list(const char *text, struct dp_device_list *list, struct dp_error *err);
int dp_suffixes_parse(const char *whole, const char *at, struct dp_device_list *list,
                      struct dp_error *err);

/* cuda/devices.c; in a build without CUDA cuda/absent.c. */
int dp_cuda_list(const char *text, struct dp_device_list *list, struct dp_error *err);
/* The versions of driver, runtime and cuBLAS. */
void dp_cuda_software(char *text, size_t bytes);

/* lag.c: wraps the open slots of a group before they have any memory, and runs what they are given
 * late; seed as in dp_group_config. dp_lag_pending: operations that were issued and have not run.
 */
struct dp_lag;
int dp_lag_open(struct dp_group *group, uint64_t seed, struct dp_error *err);
void dp_lag_close(struct dp_group *group);
uint64_t dp_lag_pending(const struct dp_group *group);

/* delay.c: wraps the slots of an open group; every operation of a comm queue takes ns longer, and
 * what its bytes take at so many per second (0: nothing). */
int dp_delay_open(struct dp_group *group, uint64_t ns, uint64_t rate, struct dp_error *err);

struct dp_worker;   /* worker.c */
struct dp_second;   /* second.c */
struct dp_nccl;     /* cuda/nccl_team.h */
struct dp_mpi_team; /* mpi/inside.h */

struct dp_slot {
    struct dp_group *group;
    const struct dp_device_ops *ops;
    dp_kernel_fn *const *kernels; /* of a device whose kernels are C functions */
    void *products;               /* state of group->products here */
    struct dp_queue compute, comm;
    struct dp_event ready, done; /* of the communication under way */
    struct dp_worker *worker;    /* NULL: the calling thread */
    int device;                  /* number of the device that the slot is on, by its driver */
    void *native;                /* state of its device operations */
    _Atomic size_t bytes, peak;  /* taken by dp_slot_take now, and at most */
    struct dp_launches launches;
    struct dp_slot_info info;
};

#define DP_STAGE_BYTES 65536

struct dp_group {
    const struct dp_kind *kind;
    const struct dp_backend *backend;
    const struct dp_comm_ops *comm;
    const struct dp_products *products; /* cpu/products.h; NULL: those of the kernels */
    char products_name[64];             /* "oneDNN 2.6.3 brg:avx512_core" */
    enum dp_math math;
    struct dp_slot host;
    struct dp_slot *slot[DP_MAX_SLOTS];
    int size;                      /* slots, which are the local ranks */
    int world, first;              /* ranks of all processes; the rank of slot 0 */
    const struct dp_world *others; /* NULL: one process */
    bool broken;                   /* a collective between processes has failed: no others */
    char software[96];
    bool oversubscribed, bound_caller;
    bool wide_blas;                       /* products have threads of the BLAS */
    bool in_team;                         /* workers are busy: no nested parallel call */
    struct dp_error errors[DP_MAX_SLOTS]; /* of its replicas, or of those of a transfer */
    bool graphs;                          /* launches that are held back may become CUDA graphs */
    struct dp_topology *topology;
    struct dp_workers *workers;
    struct dp_second *second; /* NULL: not started */
    struct dp_nccl *nccl;     /* NULL: another communicator */
    struct dp_mpi_team *mpi;  /* the same */
    unsigned deadline_s;      /* of a collective that may never end */
    size_t slice_bytes;       /* see dp_group_config; 0: the communicator's own */
    struct dp_trace *trace;
    struct dp_kernel_log *log;
    struct dp_delayed *delayed; /* NULL: no transfer takes longer on purpose */
    struct dp_faults *faults;   /* NULL: nothing fails on purpose */
    struct dp_harmed *harmed;   /* NULL: nothing goes wrong on purpose */
    struct dp_lag *lag;         /* NULL: nothing runs late on purpose */
    size_t next_param;
    uint64_t next_run;
    unsigned char *stage; /* DP_STAGE_BYTES of host memory */
};

/* comm.c: DP_EINVAL inside a replica and for slots of another group, whose workers never run what
 * this group's are given. */
int dp_team_check(const struct dp_team *team, struct dp_error *err);
/* DP_EINVAL: a type that no kernel adds. */
int dp_check_sum(enum dp_dtype dtype, struct dp_error *err);
/* The communicator of the team's group, for teams that pass the check; drains on failure. */
int dp_comm_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                 struct dp_error *err);
int dp_comm_reduce(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                   int n, enum dp_phase phase, struct dp_error *err);
/* DP_ENOTSUP where the communicator has no collectives for ranks. */
int dp_comm_start(struct dp_group *group, struct dp_error *err);
/* The communicator's operations of the same names. All but allreduce drain on failure; when that
 * fails, the caller aborts. agree: nothing to do in one process. */
int dp_comm_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                      enum dp_phase phase, struct dp_error *err);
int dp_comm_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err);
int dp_comm_spread(struct dp_group *group, const struct dp_spread *s, struct dp_error *err);
int dp_comm_poll(struct dp_group *group, struct dp_error *err);
int dp_comm_agree(struct dp_group *group, int64_t values[], int n, struct dp_error *err);
/* Drains, and breaks a group of several processes. */
void dp_comm_abort(struct dp_group *group);

/* world.c: counts the ranks of all processes, once the slots are open; and says that this group is
 * open, once all of it is. */
int dp_world_count(struct dp_group *group, struct dp_error *err);
int dp_world_ready(struct dp_group *group, struct dp_error *err);

/* Wrappers of the device operations. */
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

/* hold.c: from dp_slots_hold to dp_slots_issue the compute queues of n slots are the calling
 * thread's, and may hold its launches back. */
void dp_slots_hold(struct dp_slot *const slots[], int n);
int dp_slots_issue(struct dp_slot *const slots[], int n, struct dp_error *err);
/* Issues what is held back, and goes on holding: before another thread goes on. */
int dp_slots_flush(struct dp_slot *const slots[], int n, struct dp_error *err);

/* worker.c; crowded: more workers than cores. */
int dp_workers_open(struct dp_group *group, bool bind, bool crowded, struct dp_error *err);
void dp_workers_close(struct dp_group *group);
/* Runs function(i, arg) for every replica of the team, each on its slot's worker, and waits for
 * all. One replica: on the calling thread. */
void dp_team_run(const struct dp_team *team, void (*function)(int i, void *arg), void *arg);

/* topology.c */
/* What is read of the machine, besides cores and NUMA nodes: each takes time. */
enum dp_topology_parts { DP_TOPOLOGY_CORES, DP_TOPOLOGY_DEVICES, DP_TOPOLOGY_ALL };
int dp_topology_open(struct dp_topology **topology, enum dp_topology_parts parts,
                     struct dp_error *err);
void dp_topology_close(struct dp_topology *topology);
/* It is not this machine's: hwloc says so, or the kernel has more processing units. */
bool dp_topology_foreign(const struct dp_topology *topology);
/* Whether some of n slots share a core. Call it when all are placed. */
bool dp_topology_crowded(const struct dp_topology *topology, int n);
/* Slot i belongs beside the device with this PCI bus id. False: nothing is known of that place.
 * Before anything is placed. */
bool dp_topology_near(struct dp_topology *topology, int i, const char *bus);
/* Of those slots without a device of their own: they are some of so many, behind so many. Before
 * anything is placed. */
void dp_topology_share(struct dp_topology *topology, const struct dp_group_config *config);
/* Core set i of n disjoint ones (shared when there are too few cores), those beside its device if
 * it has one, as text and NUMA node. */
void dp_topology_place(struct dp_topology *topology, int i, int n, struct dp_slot_info *info);
int dp_topology_bind(struct dp_topology *topology, int i, int n, struct dp_error *err);
void dp_topology_unbind(struct dp_topology *topology);

/* kernel_log.c: a launch that began then has ended. Where there is a log. */
uint64_t dp_now_ns(void);
void dp_kernel_log_convolution(const struct dp_queue *queue, const struct dp_convolution *c,
                               uint64_t begin); /* trace.c */
void dp_kernel_log_add(const struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                       uint64_t begin);

/* trace.c: time spent and bytes moved for a replica; nothing when no trace is set. A span is what
 * is put into a queue between its begin and its end; dp_trace_begin and dp_trace_end are for what
 * has happened when they are called. */
struct dp_span dp_span_begin(struct dp_queue *queue, int replica, enum dp_phase phase);
void dp_span_end(const struct dp_span *span, size_t bytes);
/* A time of a replica. That of a span is taken from its outer phase. */
void dp_trace_add(struct dp_trace *trace, int replica, enum dp_lane lane,
                  const struct dp_interval *time);
void dp_span_add(struct dp_trace *trace, const struct dp_span *span, uint64_t begin_ns,
                 uint64_t end_ns);
uint64_t dp_trace_begin(const struct dp_group *group);
void dp_trace_end(struct dp_group *group, int replica, enum dp_phase phase, uint64_t begin,
                  size_t bytes);
/* A matrix product that the slot's worker has done. */
void dp_trace_matmul(const struct dp_slot *slot, uint64_t begin);
/* Bytes of a transfer that cross slots; those of a sum, added to every replica's trace. */
size_t dp_move_traffic(const struct dp_move *move);
void dp_trace_sums(const struct dp_team *team, const struct dp_slot *dst_slot,
                   const struct dp_sum sums[], int n, enum dp_phase phase);

#endif
