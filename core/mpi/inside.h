/* inside.h: internals of struct dp_mpi. Internal to core/mpi.
 *
 * All processes make a call together. A process makes its calls one by one, in the order in which
 * they are given to the carrier, the thread that makes all calls of MPI. A call sends a head to
 * each process that receives something; the head says which call it is. Flows follow: sequences of
 * messages to or from one process. A small call has all its bytes in the heads. Received data never
 * go directly to memory of the caller. They go to receive buffers of the carrier, which copies
 * them. So a message that arrives after a call was given up does no damage. A head has the digest
 * of everything that was sent before it, so the next call finds data that changed on the way. */
#ifndef MPI_INSIDE_H
#define MPI_INSIDE_H

#include "../backend.h"
#include "../dp_mpi.h"
#include "wire.h"

#include <pthread.h>

enum {
    WIRE_TAG_CONTROL = 11,
    WIRE_TAG_IDENTITY,
    WIRE_TAG_HEAD,
    WIRE_TAG_NUMBERS, /* data to add or copy */
    WIRE_TAG_SUMS
};

/* A head and the data with it are one message, which needs no answer. */
#define WIRE_HEAD_BYTES  64
#define WIRE_SMALL_BYTES 3840
#define WIRE_BLOCK_MOST  ((size_t)256 << 10) /* of a message */
#define WIRE_BLOCK_FAR   ((size_t)60 << 10)  /* between several hosts */
#define WIRE_BLOCK_LEAST ((size_t)32 << 10)
#define WIRE_WINDOW      4 /* blocks of a flow that may be in progress */
#define WIRE_NAME_BYTES  64

enum mpi_kind {
    CALL_EXCHANGE,
    CALL_BARRIER,
    CALL_AGREE,
    CALL_BROADCAST,
    CALL_ALLREDUCE,
    CALL_ALLGATHER,
    CALL_REDUCESCATTER,
    CALL_ALLTOALL,
    CALL_CLOSE,
    CALL_KINDS
};

/* The ranks of a group, and the memory that a step would otherwise allocate. */
struct dp_mpi_team {
    struct dp_mpi *mpi;
    struct dp_group *group;
    int *first; /* [process]; first[size] is the world size */
    /* Allreduces issued before poll: those of the pool, and those for which it was too small. */
    struct mpi_call *pool, *spare, *last;
    int issued, pool_size;
};

/* One call, as it is given to the carrier. */
struct mpi_call {
    struct mpi_call *next, *later; /* in the list of the carrier; in the spare list of a team */
    enum mpi_kind kind;
    const struct dp_mpi_team *team; /* NULL: between processes, with memory of the host */
    const struct dp_collective *c;  /* a collective in pieces, */
    const struct dp_collective_call *collective_call; /* or a standalone one, */
    const void *mine;                                 /* or bytes of each process for all */
    void *all;
    size_t bytes;
    int root; /* of a broadcast: a rank of the world */
    /* The lock protects these. number: of this process. world_at: calls of all processes before it.
     * since_at: calls after the last of those. */
    uint64_t number, world_at, since_at;
    bool ended;
    uint64_t begin_ns, end_ns;
};

/* The head of each message of a call; it fits WIRE_HEAD_BYTES. */
struct mpi_head {
    uint64_t number; /* of heads from that process to this one */
    uint64_t digest; /* of everything sent that way, in this head and in earlier calls */
    uint64_t bytes, members;
    uint32_t kind, pieces, root, dtype, scale, small;
};

/* Bytes in several pieces, read and written as one. */
struct mpi_piece {
    struct dp_slot *slot; /* NULL: the host */
    char *data;
    size_t bytes;
};
struct mpi_strip {
    struct mpi_piece *piece;
    int n;
};

/* Memory that MPI reads or writes, by process and purpose. It grows, and is never freed after a
 * call was given up. */
struct mpi_buffer {
    unsigned char *bytes;
    size_t size;
    uint64_t *request;
    size_t requests;
};
enum { BUFFER_OUT, BUFFER_IN, BUFFER_SUMS_OUT, BUFFER_SUMS_IN, BUFFERS };

/* Message m is block m / turns; when it is sent, of strip m % turns. */
struct mpi_flow {
    bool on, sends, kept; /* kept: received data stay in the receive buffer until they are added */
    int peer, tag;
    size_t begin, bytes, block; /* of the strips */
    const struct mpi_strip *strip;
    int n_strips; /* sent in turns; or each gets the received data; or, if kept, the ranks there */
    size_t count, posted, ended, freed, limit;
    const struct mpi_flow *behind; /* received data overwrite what this one sends */
    struct mpi_buffer *buffer;
    size_t ring; /* number of messages in the receive buffer */
};

/* A call, between this and one other process. */
struct mpi_link {
    int peer;
    bool sends, receives; /* heads */
    bool sent, come;
    uint64_t out_request, in_request;
    struct mpi_flow out, in, sums_out, sums_in;
};

/* The numbers of a member: on a local slot, or received through a link. */
struct mpi_source {
    const struct mpi_strip *strip; /* NULL: received */
    int link, turn;
};

/* The call that the carrier works on. */
struct mpi_active {
    struct mpi_call *call; /* NULL: none */
    struct mpi_head head;
    bool small;
    struct mpi_link *link; /* capacity size */
    int n_links;
    struct mpi_piece *piece; /* workspace */
    size_t piece_capacity, pieces;
    struct mpi_strip out, own, to[DP_MAX_SLOTS]; /* own: from this process to itself, */
    int n_to;                                    /* to each of these */
    struct mpi_strip *in;                        /* [process * DP_MAX_SLOTS + slot] */
    /* Sums bytes begin..begin+bytes of all members. */
    bool sums;
    enum dp_dtype dtype;
    struct mpi_strip from[DP_MAX_SLOTS]; /* of the local members */
    int n_from;
    struct mpi_source source[DP_MAX_SLOTS];
    int n_sources;
    size_t begin, bytes, block, block_most;
    size_t shift; /* where the first strip of `to` begins */
    size_t added; /* in blocks */
    uint64_t moved_ns;
};

/* The identity of a process. */
struct mpi_who {
    char host[WIRE_NAME_BYTES];
    long pid;
    bool meets; /* it is on this host, and may use a core that this process may use, too */
};

/* The sum of the digests of all messages to a process, or from it. */
struct mpi_tally {
    uint64_t heads, digest;
};

enum mpi_control_kind { CONTROL_ASK, CONTROL_STATE, CONTROL_VERDICT };
struct mpi_control {
    uint32_t kind, last;
    uint64_t calls, world, since;
    char text[sizeof(((struct dp_error *)0)->text)];
};
#define WIRE_LETTERS 4 /* to one process at a time */
struct mpi_letter {
    struct mpi_control control;
    uint64_t request;
    bool busy;
};

/* An inquiry: other processes are asked, because a call does not end. */
struct mpi_inquiry {
    bool on, defers; /* to a process that waits in an earlier call */
    uint64_t begin_ns;
    bool *answered;             /* [process] */
    struct mpi_control *answer; /* [process] */
};

enum mpi_state { STATE_STARTING, STATE_OPEN, STATE_BROKEN, STATE_CLOSED };

struct dp_mpi {
    const struct dp_wire *wire;
    void *self; /* of the wire */
    uint64_t deadline_ns, start_ns;
    int processes;
    char build[128], plan[128];
    char library[DP_WIRE_TEXT], host[DP_WIRE_TEXT];
    int rank, size;
    struct mpi_who *who;
    size_t block_most; /* of a message in this world */
    struct dp_world world;
    pthread_t carrier;
    _Atomic uint64_t beat; /* when the carrier last passed */
    pthread_mutex_t lock;
    pthread_cond_t changed, wake; /* for threads that wait for a call; for the carrier */
    /* The lock protects the fields that follow. */
    enum mpi_state state;
    struct dp_error error; /* why it is broken */
    struct mpi_call *head, *tail;
    uint64_t calls, world_calls, since;
    enum mpi_kind last;
    int waiting;  /* number of threads */
    bool give_up; /* the program says so */
    bool gone;    /* the carrier has ended */
    int *first;   /* [process]: ranks of the last group; first[size] 0: none yet */
    /* Only the carrier uses the fields that follow. */
    bool told, common; /* failure: others have reported it; all use the same words */
    struct mpi_active active;
    struct mpi_buffer (*buffer)[BUFFERS]; /* [process] */
    unsigned char *heads_out, *heads_in;
    struct mpi_tally *sent, *come; /* by process */
    struct mpi_letter (*letter)[WIRE_LETTERS];
    struct mpi_control incoming;
    uint64_t control_request;
    struct mpi_inquiry inquiry;
};

const char *dp_mpi_kind_name(enum mpi_kind kind);

/* module.c: returns the table of the plug-in, which stays loaded. */
int dp_mpi_load(const char *module, const struct dp_wire **wire, struct dp_error *err);

/* call.c: gives calls to the carrier. begin does not wait; end waits for the call. */
int dp_mpi_begin(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err);
int dp_mpi_end(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err);
int dp_mpi_call(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err);
/* Waits for ns, or until the condition is signalled. Called with the lock held. */
void dp_mpi_wait(struct dp_mpi *mpi, pthread_cond_t *condition, uint64_t ns);
/* Waits until state is not `from`; false: it took longer than ns. Called with the lock held. */
bool dp_mpi_wait_state(struct dp_mpi *mpi, enum mpi_state from, uint64_t ns);
bool dp_mpi_wait_gone(struct dp_mpi *mpi, uint64_t ns); /* the same for the end of the carrier */
extern const struct dp_bootstrap dp_bootstrap_mpi;

/* carrier.c: the function of the thread. */
void *dp_mpi_carry(void *mpi);

/* identity.c: exchanges identities, and checks that they fit. */
int dp_mpi_identify(struct dp_mpi *mpi, struct dp_error *err);

/* control.c: names another process: "rank 1 (host H, process 12)". */
void dp_mpi_name(struct dp_mpi *mpi, int process, char *text, size_t bytes);
int dp_mpi_control_open(struct dp_mpi *mpi, struct dp_error *err);
/* Reads letters that have arrived. A verdict of another process is an error. */
int dp_mpi_control_read(struct dp_mpi *mpi, struct dp_error *err);
/* Inquires about the active call, which has not moved for too long; returns 0 while others are
 * asked. */
int dp_mpi_inquire(struct dp_mpi *mpi, struct dp_error *err);
/* Tells all other processes, for a while. */
void dp_mpi_tell(struct dp_mpi *mpi, const char *verdict);
int dp_mpi_wire_failed(const struct dp_mpi *mpi, const char *why, struct dp_error *err);

/* plan.c: makes the flows of a call. */
int dp_mpi_plan(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err);

/* step.c: dp_mpi_begin_step sends heads, and copies what stays in this process. dp_mpi_step
 * advances the active call. *moved: something has happened; *ended: all is done. */
int dp_mpi_begin_step(struct dp_mpi *mpi, struct dp_error *err);
int dp_mpi_step(struct dp_mpi *mpi, bool *moved, bool *ended, struct dp_error *err);

/* strip.c: the consecutive bytes from `at` on, and their place; at most *n. */
struct mpi_piece dp_mpi_span(const struct mpi_strip *strip, size_t at, size_t n);
void dp_mpi_pack(void *to, const struct mpi_strip *strip, size_t at, size_t n);
/* These use the comm queues of the slots; dp_mpi_settle waits for them. */
int dp_mpi_write(const struct mpi_strip *strip, size_t at, const void *from, size_t n,
                 struct dp_error *err);
int dp_mpi_copy(const struct mpi_strip *to, size_t to_at, const struct mpi_strip *from, size_t at,
                size_t n, struct dp_error *err);
int dp_mpi_settle(const struct mpi_call *call, struct dp_error *err);

/* digest.c: the digest of the bytes of one message. place is the number of the message; for a flow
 * it includes the tag (dp_mpi_place). If a single word of 8 bytes changes, the digest changes, too.
 */
uint64_t dp_mpi_digest(uint64_t place, const void *bytes, size_t n);
uint64_t dp_mpi_place(int tag, size_t message);

/* sum.c: adds the blocks whose numbers have all arrived. */
int dp_mpi_add(struct dp_mpi *mpi, bool *moved, struct dp_error *err);
size_t dp_mpi_blocks(const struct mpi_active *a);

/* ---- plan.c, plan_flow.c, plan_sum.c ------------------------------------------------------ */

/* plan_flow.c. The number of ranks of a process; and the largest such number. */
int mpi_locals(const struct dp_mpi_team *team, int process);
int mpi_most_locals(const struct dp_mpi *mpi, const struct dp_mpi_team *team);
/* Allocates space for all pieces of the call first, so that they are not moved. */
int mpi_open_pieces(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err);
struct mpi_strip mpi_strip_of(struct mpi_active *a, struct dp_slot *slot, const void *data,
                              size_t bytes);
struct mpi_strip mpi_strip_of_part(struct mpi_active *a, const struct dp_collective *c, int i);
/* Returns the link to a process, and makes it if there is none; then its flows. strip NULL:
 * received data of n ranks are kept. */
struct mpi_link *mpi_link_to(struct mpi_active *a, int peer);
void mpi_send_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                   const struct mpi_strip *strip, int n);
void mpi_receive_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                      const struct mpi_strip *strip, int n);
/* most: bytes of the largest flow of any process. message: what a head would have to carry. */
void mpi_choose_size(struct mpi_active *a, size_t most, size_t message);
int mpi_open_buffers(struct dp_mpi *mpi, struct dp_error *err);

/* plan_sum.c */
int mpi_plan_allreduce(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err);
void mpi_plan_sum(struct dp_mpi *mpi, const struct mpi_call *call);
void mpi_plan_reducescatter(struct dp_mpi *mpi, const struct mpi_call *call);

#endif
