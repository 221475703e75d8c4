/* inside.h: the inside of struct dp_mpi. Internal to core/mpi.
 *
 * Calls are what all processes do together. A process's calls go one by one, in the order in which
 * they were given to the carrier, the thread that makes all calls of MPI. A call is a head to each
 * process that gets something, which says what call it is, and flows: messages one behind the
 * other, from or to one process. Small calls have all their bytes in the heads. Nothing that is
 * received goes to the caller's memory by itself: it comes to rooms of the carrier, which copies
 * it. So a message that is still on its way when a call is given up does no harm. A head has the
 * digest of all that was sent before it: what came as something else is found at the next call. */
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
    WIRE_TAG_NUMBERS, /* to be added or copied */
    WIRE_TAG_SUMS
};

/* A head and what is behind it goes as one message that needs no answer. */
#define WIRE_HEAD_BYTES  64
#define WIRE_SMALL_BYTES 3840
#define WIRE_BLOCK_MOST  ((size_t)256 << 10) /* of a message */
#define WIRE_BLOCK_FAR   ((size_t)60 << 10)  /* where there are several hosts */
#define WIRE_BLOCK_LEAST ((size_t)32 << 10)
#define WIRE_WINDOW      4 /* blocks of a flow that are on their way */
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

/* The ranks of a group, and what a step would have to allocate. */
struct dp_mpi_team {
    struct dp_mpi *mpi;
    struct dp_group *group;
    int *first; /* [process]; first[size] is the world */
    /* Allreduces that are issued, until poll: in the pool, and those that it was too small for. */
    struct mpi_call *pool, *spare, *last;
    int issued, pool_size;
};

/* One call, as it is given to the carrier. */
struct mpi_call {
    struct mpi_call *next, *later; /* of the carrier's list; of a team's spare ones */
    enum mpi_kind kind;
    const struct dp_mpi_team *team; /* NULL: between processes, with memory of the host */
    const struct dp_collective *c;  /* a collective in pieces, */
    const struct dp_spread *spread; /* or one by itself, */
    const void *mine;               /* or bytes of each process to all */
    void *all;
    size_t bytes;
    int root; /* of a broadcast: rank of the world */
    /* Behind the lock. Which one it is: of this process; calls of all processes before it, and how
     * many behind the last of those. */
    uint64_t number, world_at, since_at;
    bool ended;
    uint64_t begin_ns, end_ns;
};

/* What each message of a call says in front: it fits WIRE_HEAD_BYTES. */
struct mpi_head {
    uint64_t number; /* of heads from that process to this one */
    uint64_t digest; /* of all that has gone that way: with this head, and in calls before */
    uint64_t bytes, members;
    uint32_t kind, pieces, root, dtype, scale, small;
};

/* Bytes in pieces, which are read and written as one. */
struct mpi_piece {
    struct dp_slot *slot; /* NULL: the host's */
    char *data;
    size_t bytes;
};
struct mpi_strip {
    struct mpi_piece *piece;
    int n;
};

/* Memory that MPI reads or writes, by process and purpose; grows. Never freed once given up. */
struct mpi_room {
    unsigned char *bytes;
    size_t size;
    uint64_t *request;
    size_t requests;
};
enum { ROOM_OUT, ROOM_IN, ROOM_SUMS_OUT, ROOM_SUMS_IN, ROOMS };

/* Message m is block m / turns, of strip m % turns when it is sent. */
struct mpi_flow {
    bool on, sends, kept; /* kept: what comes stays in the room until it is added */
    int peer, tag;
    size_t begin, bytes, block; /* of the strips */
    const struct mpi_strip *strip;
    int n_strips; /* sent in turns; or each is written what comes; or, kept, the ranks there */
    size_t count, posted, ended, freed, limit;
    const struct mpi_flow *behind; /* what comes overwrites what this one sends */
    struct mpi_room *room;
    size_t ring; /* messages of the room */
};

/* A call, to and from one other process. */
struct mpi_link {
    int peer;
    bool sends, receives; /* heads */
    bool sent, come;
    uint64_t out_request, in_request;
    struct mpi_flow out, in, sums_out, sums_in;
};

/* Where the numbers of a member are: on a local slot, or what a link has brought. */
struct mpi_source {
    const struct mpi_strip *strip; /* NULL: of the link */
    int link, turn;
};

/* The call that the carrier is at. */
struct mpi_active {
    struct mpi_call *call; /* NULL: none */
    struct mpi_head head;
    bool small;
    struct mpi_link *link; /* room for size */
    int n_links;
    struct mpi_piece *piece; /* room */
    size_t piece_room, pieces;
    struct mpi_strip out, own, to[DP_MAX_SLOTS]; /* own: from this process to itself, */
    int n_to;                                    /* to each of these */
    struct mpi_strip *in;                        /* [process * DP_MAX_SLOTS + slot] */
    /* A sum of all members' bytes begin..begin+bytes. */
    bool sums;
    enum dp_dtype dtype;
    struct mpi_strip from[DP_MAX_SLOTS]; /* the local members' */
    int n_from;
    struct mpi_source source[DP_MAX_SLOTS];
    int n_sources;
    size_t begin, bytes, block, block_most;
    size_t shift; /* where the first strip of to begins */
    size_t added; /* blocks */
    uint64_t moved_ns;
};

/* Who a process is. */
struct mpi_who {
    char host[WIRE_NAME_BYTES];
    long pid;
    bool meets; /* it is on this host, and may use a core that this process may use, too */
};

/* The sum of the digests of all messages that went to a process, or came from it. */
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

/* Asking around, because a call does not end. */
struct mpi_inquiry {
    bool on, defers; /* to somebody who waits in an earlier call */
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
    size_t block_most; /* of a message of this world */
    struct dp_world world;
    pthread_t carrier;
    _Atomic uint64_t beat; /* when the carrier last came by */
    pthread_mutex_t lock;
    pthread_cond_t changed, wake; /* for those who wait for a call; for the carrier */
    /* Behind the lock. */
    enum mpi_state state;
    struct dp_error error; /* why it is broken */
    struct mpi_call *head, *tail;
    uint64_t calls, world_calls, since;
    enum mpi_kind last;
    int waiting;  /* threads */
    bool give_up; /* as the program says */
    bool gone;    /* the carrier */
    int *first;   /* [process]: ranks of the last group; first[size] 0: none yet */
    /* The carrier's own. */
    bool told, common; /* why it broke: others have said it; is said in the same words to all */
    struct mpi_active active;
    struct mpi_room (*room)[ROOMS]; /* [process] */
    unsigned char *heads_out, *heads_in;
    struct mpi_tally *sent, *come; /* by process */
    struct mpi_letter (*letter)[WIRE_LETTERS];
    struct mpi_control incoming;
    uint64_t control_request;
    struct mpi_inquiry inquiry;
};

const char *dp_mpi_kind_name(enum mpi_kind kind);

/* module.c: the table of the module; stays loaded. */
int dp_mpi_load(const char *module, const struct dp_wire **wire, struct dp_error *err);

/* call.c: who gives calls to the carrier. begin does not wait; end waits for the call. */
int dp_mpi_begin(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err);
int dp_mpi_end(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err);
int dp_mpi_call(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err);
/* For so long, or until the condition is signalled. With the lock held. */
void dp_mpi_wait(struct dp_mpi *mpi, pthread_cond_t *condition, uint64_t ns);
/* Waits until state is not `from`, or for ns: false. With the lock held. */
bool dp_mpi_wait_state(struct dp_mpi *mpi, enum mpi_state from, uint64_t ns);
bool dp_mpi_wait_gone(struct dp_mpi *mpi, uint64_t ns); /* the same of the carrier's end */
extern const struct dp_bootstrap dp_bootstrap_mpi;

/* carrier.c: the thread. */
void *dp_mpi_carry(void *mpi);

/* identity.c: who all are, and whether they fit. */
int dp_mpi_identify(struct dp_mpi *mpi, struct dp_error *err);

/* control.c: what processes say of each other. "rank 1 (host H, process 12)" */
void dp_mpi_name(struct dp_mpi *mpi, int process, char *text, size_t bytes);
int dp_mpi_control_open(struct dp_mpi *mpi, struct dp_error *err);
/* Reads what has come. The verdict of another process is an error. */
int dp_mpi_control_read(struct dp_mpi *mpi, struct dp_error *err);
/* Of the active call, which has not moved for too long: 0 while others are asked. */
int dp_mpi_inquire(struct dp_mpi *mpi, struct dp_error *err);
/* Tells all others, for a while. */
void dp_mpi_tell(struct dp_mpi *mpi, const char *verdict);
int dp_mpi_wire_failed(const struct dp_mpi *mpi, const char *why, struct dp_error *err);

/* plan.c: the flows of a call. */
int dp_mpi_plan(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err);

/* step.c: heads are sent, what stays here is copied; then goes on with the active call. *moved:
 * something has happened; *ended: all has. */
int dp_mpi_begin_step(struct dp_mpi *mpi, struct dp_error *err);
int dp_mpi_step(struct dp_mpi *mpi, bool *moved, bool *ended, struct dp_error *err);

/* strip.c. The bytes from `at` on that are one behind the other, and where; at most *n. */
struct mpi_piece dp_mpi_span(const struct mpi_strip *strip, size_t at, size_t n);
void dp_mpi_pack(void *to, const struct mpi_strip *strip, size_t at, size_t n);
/* By the queues of transfers of the slots; dp_mpi_settle waits for them. */
int dp_mpi_write(const struct mpi_strip *strip, size_t at, const void *from, size_t n,
                 struct dp_error *err);
int dp_mpi_copy(const struct mpi_strip *to, size_t to_at, const struct mpi_strip *from, size_t at,
                size_t n, struct dp_error *err);
int dp_mpi_settle(const struct mpi_call *call, struct dp_error *err);

/* digest.c: the digest of the bytes of one message; place: the number of the message, and of a flow
 * its tag, too (dp_mpi_place). A digest shows with certainty that one word of 8 bytes is another.
 */
uint64_t dp_mpi_digest(uint64_t place, const void *bytes, size_t n);
uint64_t dp_mpi_place(int tag, size_t message);

/* sum.c: adds the blocks whose numbers are there. */
int dp_mpi_add(struct dp_mpi *mpi, bool *moved, struct dp_error *err);
size_t dp_mpi_blocks(const struct mpi_active *a);

#endif
