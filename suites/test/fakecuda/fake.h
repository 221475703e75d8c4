/* fake.h: declarations that the files of the fake share. One lock protects all of it: every
 * function below is called between fake_enter and fake_leave.
 *
 * Device memory has two addresses: its face, which the program knows and cannot touch, and its
 * body, where the data are. Pinned host memory has both, too, so that the program can be kept from
 * touching it while the fake works on it. */
#ifndef LOCKSTEP_FAKE_H
#define LOCKSTEP_FAKE_H

#include "fakecuda.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

#define FAKE_STREAMS  256 /* at a time */
#define FAKE_BRANCHES 8   /* streams of a capture */
#define FAKE_NAMES    128 /* functions of the API */
#define FAKE_HOST     (-1)

/* How many operations of each stream have run. */
struct fake_clock {
    uint32_t at[FAKE_STREAMS];
};

/* An area has height rows of width bytes. */
struct fake_area {
    const char *lo;
    size_t width, height, pitch;
};

/* FAKE_SCRATCH: the memory is written, and no other operation may use the data. */
enum fake_use { FAKE_READ = 1, FAKE_WRITE = 2, FAKE_BOTH = 3, FAKE_SCRATCH = 6 };

/* A past access that the host has not waited for yet. */
struct fake_record {
    struct fake_area area;
    unsigned use;
    int stream, device;
    uint32_t tick;
    const char *name;
};

/* An allocation. Freed ones stay listed until their address is given out again. */
struct fake_block {
    char *face, *body;
    size_t bytes, lead, span; /* span: what is reserved, from lead bytes before the face */
    int device;               /* FAKE_HOST: pinned memory */
    uint64_t serial;
    bool live, guarded;
    struct fake_record *record;
    size_t records, room;
};

#define FAKE_CHUNK ((size_t)16 << 10)
struct fake_arena {
    char *face, *body;
    unsigned char *shadow;  /* one per word: was it ever written? */
    unsigned char *touched; /* one per chunk: 0 when its shadow is 0 everywhere */
    size_t span, used, peak, cursor, filled;
};

/* A position in a stream: everything that was put there before it. */
struct fake_point {
    struct CUstream_st *stream;
    uint64_t position;
};
struct fake_token {
    struct fake_point point;
    struct fake_clock clock;
};

struct fake_access {
    struct fake_area area;
    uint64_t serial; /* of the block */
    unsigned use;
};

/* An operation that runs once or, in a graph, many times. */
struct fake_work {
    int users;
    const char *name;
    int device;
    bool copies;  /* passes data on without using them; reaches all devices */
    bool on_host; /* a function of the program, called without the lock */
    void (*run)(const void *args);
    /* If other streams must come to this operation, it returns the stream that must go on first:
     * its own stream when it can run, NULL when it never will. */
    struct CUstream_st *(*meet)(const void *args);
    void *args, *owned;
    struct fake_access *access;
    int accesses;
    double operations; /* arithmetic operations, if they limit the time */
    cudaError_t error; /* the first that was found while it was put together */
};

/* The time at which a point was passed. */
struct fake_stamp {
    int users;
    bool passed;
    uint64_t ns;
};

enum fake_op_kind { FAKE_OP_WORK, FAKE_OP_WAIT, FAKE_OP_MARK };
struct fake_op {
    struct fake_op *next;
    enum fake_op_kind kind;
    struct fake_work *work;
    struct fake_point until;
    struct fake_stamp *stamp;
    struct fake_clock *clock; /* of a host function */
    bool posted;
    uint64_t issued_ns;
};

struct fake_capture;

/* Structs of destroyed handles are used again only after many others, so that a stale handle can be
 * recognized. */
#define FAKE_STALE 2048
struct CUstream_st {
    struct CUstream_st *next;
    bool live, internal; /* internal: of a graph */
    int id, device, priority;
    struct fake_op *head, **tail;
    uint64_t issued, done;
    uint64_t late_ns; /* how late its operations are, by slow ones or because they waited for late
                       * ones */
    struct fake_clock clock;
    struct fake_capture *capture;
    int branch;
};

struct CUevent_st {
    struct CUevent_st *next, *next_stale;
    bool live, timed, recorded;
    int device;
    struct fake_token token;
    struct fake_stamp *stamp;
    uint64_t capture; /* serial of the capture that recorded it, or 0 */
    int node, branch, seen[FAKE_BRANCHES];
};

struct fake_count {
    const char *name;
    long calls;
};

struct fake_state {
    struct fakecuda_config config;
    bool started, registered, stop_helper, helping, handler;
    bool forked;     /* this is a child of the process that started it */
    bool unreleased; /* objects that are left at the end are no leaks */
    uint64_t generation, random, serial;
    int visible[FAKECUDA_DEVICES]; /* physical index of each device */
    bool taken[FAKECUDA_DEVICES];  /* no other process can use it */
    int violations;
    char first[700];
    struct fake_count count[FAKE_NAMES];
    long calls;
    struct fakecuda_failure failure;
    char failing[64]; /* the name in failure */
    char slow[64];    /* operations that take slow_ns longer */
    uint64_t slow_ns;
    char visited[64]; /* the function whose calls begin with visit */
    void (*visit)(void *user);
    void *visit_user;
    bool peer[FAKECUDA_DEVICES][FAKECUDA_DEVICES];
    struct fake_arena arena[FAKECUDA_DEVICES];
    struct fake_block **block; /* by address */
    size_t blocks, block_room;
    int guarded;
    struct fake_clock host; /* what the program has waited for */
    struct CUstream_st *streams, *by_id[FAKE_STREAMS];
    uint32_t ticks[FAKE_STREAMS];
    struct CUevent_st *events, *stale, *last_stale; /* stale: destroyed, oldest first */
    int all_streams, all_stale;
    struct fake_capture *captures;
    struct CUgraph_st *graphs;
    struct CUgraphExec_st *execs;
    struct cublasContext *handles;
    int host_functions; /* not called yet */
    pthread_t helper;
    /* State of NCCL. */
    struct ncclComm *comms;
    struct fake_clique *cliques;
    long nccl_ids, nccl_collectives, nccl_groups;
    int bringing;             /* depth of streams that wait for others to come */
    const char *half_issued;  /* a collective that some ranks' streams have, and others not yet */
    void (*close_more)(void); /* NULL: it was not called */
    long waits_to_drop;       /* until the one that does nothing; below 1: none */
    struct clock_log *log;    /* NULL: no clock was started */
    uint64_t clocks;          /* that were */
};
/* The state is global because an API without handles has no other place for it. */
extern struct fake_state fake;

struct fake_thread {
    uint64_t generation;
    int device;
    cudaError_t last;
    enum cudaStreamCaptureMode mode;
    bool inside, in_host_function, chosen;
    const char *running;
    const char *group_of; /* a call that is in a group of NCCL which is still open */
    uint64_t clock;       /* the last one that has seen this thread, under that number */
    int number;
};
extern _Thread_local struct fake_thread fake_me;

/* ---- state.c */
enum fake_rule {
    FAKE_UNSAFE = 1, /* may wait: not while this thread captures */
    FAKE_ALWAYS = 2, /* made to fail, it works all the same */
    FAKE_ALLOCATES = 4,
    FAKE_LAUNCHES = 8,
    FAKE_NO_DRIVER = 16, /* works without one */
    FAKE_MARKS = 32,     /* stands for what is in a stream */
    FAKE_CHOSEN = 64,    /* goes by its stream, and opens the first device for a thread that has
                            chosen none */
};
struct fake_call {
    const char *name;
    unsigned rules;
    cudaError_t error;
    bool refused;
};
/* Takes the lock. Returns false if the call ends here, with call->error. */
bool fake_enter(struct fake_call *call);
/* Sets the result of a call; the first error is kept. */
void fake_result(struct fake_call *call, cudaError_t error);
/* Releases the lock and returns the result, which cudaGetLastError repeats. */
cudaError_t fake_leave(struct fake_call *call);
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t fake_random(uint64_t below);
uint64_t fake_now_ns(void);
void fake_lock(void);
void fake_unlock(void);
void fake_wake(void);
/* Returns false if nothing happened in that time. */
bool fake_sleep(unsigned ms);
void *fake_memory(size_t bytes); /* zeroed; the process ends if there is none */

/* ---- memory.c */
void fake_memory_open(void);
void fake_memory_close(void);
cudaError_t fake_allocate(int device, size_t bytes, void **face);
cudaError_t fake_release(void *face, int device, const char *call); /* device: any that is not
                                                                       FAKE_HOST */
void fake_memory_leaks(void);
void fake_memory_reset(int device);
struct fake_block *fake_find(const void *pointer); /* live or freed */
int fake_device_of(const void *pointer);           /* of a device's addresses, or FAKE_HOST */
void *fake_body(const struct fake_block *block, const void *face);

/* ---- shadow.c: which words of device memory were ever written */
void fake_shadow_set(const struct fake_area *area);
/* The bytes, which are in one chunk, count as never written. Returns false if none of them had been
 * written. */
bool fake_shadow_forget(const char *address, size_t bytes);
/* Returns the offset of the first byte that was never written; negative: all were. */
long long fake_shadow_missing(const struct fake_area *area);
bool fake_shadow_none(const struct fake_area *area);
void fake_shadow_copy(const struct fake_area *to, const struct fake_area *from);

/* ---- area.c */
struct fake_area fake_area(const void *lo, size_t width, size_t height, size_t pitch);
size_t fake_area_span(const struct fake_area *area);
bool fake_area_meets(const struct fake_area *a, const struct fake_area *b);
bool fake_area_holds(const struct fake_area *outer, const struct fake_area *inner);

/* ---- order.c: happens-before */
void fake_clock_join(struct fake_clock *clock, const struct fake_clock *other);
void fake_order_check(struct fake_block *block, const struct fake_access *access,
                      const struct fake_work *work, const struct CUstream_st *stream);
/* Forgets accesses that the host has waited for. Returns the first one that is left, or NULL. */
const struct fake_record *fake_order_open(struct fake_block *block);
void fake_host_learns(const struct fake_clock *clock);

/* ---- guard.c: keeps the program from host memory that a device works on */
void fake_guard_install(void);
void fake_guard(struct fake_block *block, const struct fake_access *access);
void fake_guard_lift(void);

/* ---- work.c */
struct fake_work *fake_work_new(const char *name, const struct CUstream_st *stream);
/* Declares an access and returns the address at which to make it. */
void *fake_uses(struct fake_work *work, const void *pointer, size_t bytes, unsigned use);
void *fake_uses_area(struct fake_work *work, const struct fake_area *area, unsigned use);
void fake_work_runs(struct fake_work *work, void (*run)(const void *), const void *args,
                    size_t bytes);
void fake_work_drop(struct fake_work *work);
void fake_work_do(struct fake_work *work, const struct CUstream_st *stream);
/* Takes the work over: it goes into the stream, or into the graph that the stream captures. */
cudaError_t fake_issue(struct CUstream_st *stream, struct fake_work *work);
cudaError_t fake_issue_now(struct CUstream_st *stream, struct fake_work *work);

/* ---- queue.c */
struct CUstream_st *fake_stream_new(int device);
void fake_stream_drop(struct CUstream_st *stream);
bool fake_stream_is(struct CUstream_st *stream, const char *call); /* alive, and none of the
                                                                       default ones */
void fake_put_work(struct CUstream_st *stream, struct fake_work *work);
void fake_put_wait(struct CUstream_st *stream, const struct fake_token *token);
void fake_put_mark(struct CUstream_st *stream, struct fake_token *token, struct fake_stamp *stamp);
struct fake_token fake_token_of(const struct CUstream_st *stream);
/* The host waits for a position, or asks whether it was reached, for which some of the operations
 * run; then it knows all before it. The token is a copy: another thread may change the event. */
cudaError_t fake_host_waits(struct fake_token token, const char *call);
cudaError_t fake_host_asks(struct fake_token token);
bool fake_wait_device(int device, const char *call);
void fake_some(void); /* random order: a few operations anywhere */
void fake_queue_close(void);
void fake_queue_leaks(void);

/* ---- clock.c: records a call, an operation before it is in its stream, a wait of the host */
void fake_clock_call(void);
void fake_clock_put(const struct CUstream_st *stream, const struct fake_op *op);
void fake_clock_sync(const struct fake_point *point);
void fake_clock_close(void);

/* ---- host_function.c: the thread that calls the program back */
void fake_helper_start(void);
void fake_helper_stop(void);

/* ---- queue.c, for host_function.c */
bool fake_advance(struct CUstream_st *stream, uint64_t position); /* without waiting */
void fake_complete(struct CUstream_st *stream);

/* ---- error.c */
bool fake_error_named(const char *name, cudaError_t *error); /* "cudaErrorNoDevice" */

/* ---- event.c */
bool fake_event_is(const struct CUevent_st *event, const char *call);
void fake_stamp_drop(struct fake_stamp *stamp);
void fake_events_close(void);

/* ---- capture.c */
struct fake_node {
    struct fake_work *work; /* NULL: only a wait */
    int branch, after;      /* node that it waits for; -1: the beginning */
};
struct fake_capture {
    struct fake_capture *next;
    uint64_t serial;
    struct CUstream_st *origin;
    pthread_t thread;
    enum cudaStreamCaptureMode mode;
    cudaError_t broken;
    struct fake_node *node;
    int nodes, room, branches;
    int device[FAKE_BRANCHES], last[FAKE_BRANCHES], seen[FAKE_BRANCHES][FAKE_BRANCHES];
};
/* The capture of this thread, or of any, that forbids calls which may wait. */
struct fake_capture *fake_capture_forbids(void);
void fake_capture_break(struct fake_capture *capture, cudaError_t error);
cudaError_t fake_capture_work(struct CUstream_st *stream, struct fake_work *work);
cudaError_t fake_capture_record(struct CUstream_st *stream, struct CUevent_st *event);
cudaError_t fake_capture_wait(struct CUstream_st *stream, const struct CUevent_st *event);
struct fake_capture *fake_capture_find(uint64_t serial);
void fake_captures_close(void);
void fake_nodes_drop(struct fake_node *node, int nodes);

struct CUgraph_st {
    struct CUgraph_st *next;
    bool live;
    struct fake_node *node;
    int nodes, branches, device[FAKE_BRANCHES];
};

/* ---- graph.c */
void fake_graphs_close(void);

/* ---- blas.c */
void fake_blas_close(void);

/* ---- launch.c: launches of kernels, which are functions for the host in the tests */
struct fake_launch {
    struct fake_call call;
    struct CUstream_st *stream;
    struct fake_work *work; /* NULL: the launch has failed */
};
/* Begins a launch; the name is kept, not copied. Declare the memory it uses, then end it, which
 * launches. */
struct fake_launch fake_launch_begin(const char *name, struct CUstream_st *stream);
int fake_launch_end(struct fake_launch *launch, void (*run)(const void *), const void *args,
                    size_t bytes);

#endif
