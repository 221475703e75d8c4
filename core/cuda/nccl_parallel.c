/* nccl_parallel.c: moves and sums of DataParallel, in addition to NCCL's collectives: by peer, or
 * by NCCL if it has a call for them.
 *
 * The same bytes from one replica to all others are a broadcast. A sum is a reduce to the replica
 * that gets it. Scatter and gather use peer. */
#include "nccl_team.h"

/* At most this many moves or sums are one group of calls. */
enum { MOST_PIECES = 64 };

/* ---- by peer ----------------------------------------------------------------------------- */

/* A copy from or to memory of the host waits inside of CUDA, without a deadline. */
static int watch_host(const struct dp_move *move, struct dp_error *err)
{
    struct dp_slot *slot = dp_is_host(move->dst_slot) ? move->src_slot : move->dst_slot;
    if (dp_is_host(slot) || (!dp_is_host(move->dst_slot) && !dp_is_host(move->src_slot)))
        return 0;
    const int status = dp_nccl_watch(&slot->compute, err);
    return status ? status : dp_nccl_watch(&slot->comm, err);
}

int dp_nccl_peer_move(const struct dp_team *team, const struct dp_moves moves[],
                      enum dp_phase phase, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; i < team->n; ++i) {
        for (int k = 0; status == 0 && k < moves[i].n; ++k)
            status = watch_host(&moves[i].move[k], err);
    }
    return status ? status : dp_comm_peer.move(team, moves, phase, err);
}

int dp_nccl_peer_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                        const struct dp_sum sums[], int n, enum dp_phase phase,
                        struct dp_error *err)
{
    return dp_comm_peer.reduce(team, dst_slot, sums, n, phase, err);
}

/* ---- replicas as ranks ------------------------------------------------------------------- */

/* The replicas of a team, in the order of their slots. */
struct ranks {
    int member[DP_MAX_SLOTS], n;
    int root; /* the one on the slot of the root */
    struct dp_part part[DP_MAX_SLOTS];
};

/* True if the replicas are on different slots, and the root is on one of several. */
static bool find_ranks(const struct dp_team *team, const struct dp_slot *root, struct ranks *ranks)
{
    const struct dp_group *group = team->group;
    ranks->n = 0;
    ranks->root = -1;
    for (int at = 0; at < group->size; ++at) {
        int found = 0;
        for (int i = 0; i < team->n; ++i) {
            if (team->slot[i] != group->slot[at] || found++ > 0)
                continue;
            ranks->root = team->slot[i] == root ? ranks->n : ranks->root;
            ranks->member[ranks->n] = group->first + at;
            ranks->part[ranks->n++] =
                (struct dp_part){.slot = team->slot[i], .rank = group->first + at, .replica = i};
        }
    }
    return ranks->n == team->n && ranks->n > 1 && ranks->root >= 0;
}

static struct dp_collective collective_of(struct ranks *ranks, const size_t bytes[], int n)
{
    return (struct dp_collective){.member = ranks->member,
                                  .n_members = ranks->n,
                                  .part = ranks->part,
                                  .n_parts = ranks->n,
                                  .bytes = bytes,
                                  .n_pieces = n};
}

/* ---- copies ------------------------------------------------------------------------------ */

/* A broadcast has the moves of each replica from this one on; the root has none. */
struct copies {
    const struct dp_moves *moves;
    int first;
};

static ncclResult_t issue_copy(const struct dp_nccl_at *at)
{
    const struct copies *copies = at->what->of;
    const int replica = at->c->part[at->i].replica;
    const int other = at->c->part[at->what->root == 0 ? 1 : 0].replica;
    const int k = copies->first + at->k;
    const void *from = copies->moves[other].move[k].copy.src;
    void *to = (void *)from;
    if (at->i != at->what->root)
        to = copies->moves[replica].move[k].copy.dst;
    return at->call->broadcast(to, to, at->c->bytes[at->k], ncclUint8, at->what->root, at->comm,
                               at->stream);
}

/* True if all replicas but the root get the same bytes of it, each in one row. */
static bool is_broadcast(const struct dp_team *team, const struct dp_moves moves[],
                         const struct ranks *ranks)
{
    const struct dp_part *root = &ranks->part[ranks->root];
    const struct dp_moves *like = &moves[ranks->part[ranks->root == 0 ? 1 : 0].replica];
    for (int i = 0; i < team->n; ++i) {
        if (moves[i].n != (i == root->replica ? 0 : like->n))
            return false;
        for (int k = 0; k < moves[i].n; ++k) {
            const struct dp_move *move = &moves[i].move[k];
            if (move->src_slot != root->slot || move->dst_slot != team->slot[i] ||
                move->copy.height != 1 || move->copy.src != like->move[k].copy.src ||
                move->copy.width != like->move[k].copy.width)
                return false;
        }
    }
    return like->n > 0;
}

/* The root is the source of the first of all moves. */
static const struct dp_slot *root_of(const struct dp_team *team, const struct dp_moves moves[])
{
    for (int i = 0; i < team->n; ++i) {
        if (moves[i].n > 0)
            return moves[i].move[0].src_slot;
    }
    return NULL;
}

int dp_nccl_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                 struct dp_error *err)
{
    struct ranks ranks;
    if (phase == DP_PHASE_REPLICATE && find_ranks(team, root_of(team, moves), &ranks) &&
        is_broadcast(team, moves, &ranks)) {
        const struct dp_moves *like = &moves[ranks.part[ranks.root == 0 ? 1 : 0].replica];
        struct copies copies = {.moves = moves};
        const struct dp_nccl_operation what = {"ncclBroadcast", issue_copy, ranks.root, &copies};
        int status = 0;
        for (int n; status == 0 && copies.first < like->n; copies.first += n) {
            size_t bytes[MOST_PIECES], total = 0, got[DP_MAX_SLOTS];
            n = like->n - copies.first < MOST_PIECES ? like->n - copies.first : MOST_PIECES;
            for (int k = 0; k < n; ++k)
                total += bytes[k] = like->move[copies.first + k].copy.width;
            for (int i = 0; i < ranks.n; ++i)
                got[i] = i == ranks.root ? 0 : total;
            const struct dp_collective c = collective_of(&ranks, bytes, n);
            status = dp_nccl_in_order(team->group, &c, &what, phase, got, err);
        }
        return status;
    }
    return dp_nccl_peer_move(team, moves, phase, err);
}

/* ---- sums -------------------------------------------------------------------------------- */

/* A reduce of these sums, or of elements first..first+n of one sum to other memory. */
struct addition {
    const struct dp_sum *sum;
    size_t first;
    void *to; /* NULL: the destinations of the sums */
};

static ncclResult_t issue_sum(const struct dp_nccl_at *at)
{
    const struct addition *addition = at->what->of;
    const struct dp_sum *sum = &addition->sum[at->k];
    const size_t unit = dp_dtype_bytes(sum->dtype);
    const char *from = (const char *)sum->src[at->c->part[at->i].replica] + addition->first * unit;
    void *to = addition->to ? addition->to : sum->dst;
    return at->call->reduce(from, at->i == at->what->root ? to : NULL, at->c->bytes[at->k] / unit,
                            dp_nccl_type(sum->dtype), ncclSum, at->what->root, at->comm,
                            at->stream);
}

static int nccl_add_up(const struct dp_team *team, struct ranks *ranks,
                       const struct addition *addition, const size_t bytes[], int n,
                       enum dp_phase phase, struct dp_error *err)
{
    static const size_t nothing[DP_MAX_SLOTS]; /* dp_trace_sums counts them */
    const struct dp_nccl_operation what = {"ncclReduce", issue_sum, ranks->root, addition};
    const struct dp_collective c = collective_of(ranks, bytes, n);
    return dp_nccl_in_order(team->group, &c, &what, phase, nothing, err);
}

/* Adds to existing numbers: by way of other memory, a part at a time. */
static int accumulate(const struct dp_team *team, struct ranks *ranks, const struct dp_sum *sum,
                      enum dp_phase phase, struct dp_error *err)
{
    struct dp_slot *slot = ranks->part[ranks->root].slot;
    const size_t unit = dp_dtype_bytes(sum->dtype), most = DP_CUDA_STAGE_BYTES / unit;
    void *stage = NULL;
    int status = dp_cuda_stage(slot, &stage, err);
    struct addition addition = {.sum = sum, .to = stage};
    for (size_t n; status == 0 && addition.first < sum->n; addition.first += n) {
        const size_t left = sum->n - addition.first;
        n = left < most ? left : most;
        const struct dp_reduce_args args = {
            sum->dtype, 1, true, n, (char *)sum->dst + addition.first * unit, {stage}};
        status = nccl_add_up(team, ranks, &addition, (size_t[]){n * unit}, 1, phase, err);
        if (status == 0)
            status = dp_launch(&slot->comm, DP_KERNEL_REDUCE, &args, sizeof args, err);
        slot->ops->record(&slot->comm, &slot->done);
        if (status == 0)
            status = dp_event_wait(&slot->compute, &slot->done, err);
    }
    return status;
}

int dp_nccl_reduce(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                   int n, enum dp_phase phase, struct dp_error *err)
{
    struct ranks ranks;
    int status = 0;
    if (!find_ranks(team, dst_slot, &ranks))
        return dp_nccl_peer_reduce(team, dst_slot, sums, n, phase, err);
    dp_trace_sums(team, dst_slot, sums, n, phase);
    for (int k = 0, alike; status == 0 && k<n; k += alike> 0 ? alike : 1) {
        const struct addition addition = {.sum = &sums[k]};
        size_t bytes[MOST_PIECES];
        /* How many sums, from sums[k] on, can be one group. */
        alike = 0;
        while (k + alike < n && alike < MOST_PIECES && !sums[k + alike].accumulate)
            ++alike;
        for (int i = 0; i < alike; ++i)
            bytes[i] = sums[k + i].n * dp_dtype_bytes(sums[k + i].dtype);
        if (alike > 0)
            status = nccl_add_up(team, &ranks, &addition, bytes, alike, phase, err);
        else
            status = accumulate(team, &ranks, &sums[k], phase, err);
    }
    return status;
}
