/* collective.c: collectives of one process, made of move and reduce of the communicator.
 *
 * This is the slow and simple way, which defines the results: every rank multiplies its numbers,
 * the first member adds them in rank order, and all others get its sum. The calling thread does all
 * of it. */
#include "backend.h"

static struct dp_team team_of(struct dp_group *group, const struct dp_collective *c,
                              struct dp_slot *slots[])
{
    for (int i = 0; i < c->n_parts; ++i)
        slots[i] = c->part[i].slot;
    return (struct dp_team){group, slots, c->n_parts};
}

/* Two moves that are adjacent in memory on both sides become one. */
static int add_move(struct dp_move move[], int n, const struct dp_part *to,
                    const struct dp_part *from, int k, size_t bytes)
{
    struct dp_copy *last = n > 0 ? &move[n - 1].copy : NULL;
    if (last && (const char *)last->src + last->width == from->piece[k] &&
        (char *)last->dst + last->width == to->piece[k]) {
        last->width += bytes;
        last->src_pitch = last->dst_pitch = last->width;
        return n;
    }
    move[n] = (struct dp_move){
        to->slot, from->slot, {to->piece[k], from->piece[k], bytes, 1, bytes, bytes}};
    return n + 1;
}

static int collective_place_of(const struct dp_collective *c, int root)
{
    for (int i = 0; i < c->n_parts; ++i) {
        if (c->part[i].rank == c->member[root])
            return i;
    }
    return -1;
}

int dp_moved_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                       enum dp_phase phase, struct dp_error *err)
{
    struct dp_slot *slots[DP_MAX_SLOTS];
    struct dp_moves moves[DP_MAX_SLOTS];
    const int source = collective_place_of(c, root);
    if (source < 0)
        return dp_fail(err, DP_EFAULT, "rank %d is of another process", c->member[root]);
    for (int i = 0; i < c->n_parts; ++i) {
        const struct dp_part *part = &c->part[i];
        int n = 0;
        for (int k = 0; i != source && k < c->n_pieces; ++k)
            n = add_move(part->moves, n, part, &c->part[source], k, c->bytes[k]);
        moves[i] = (struct dp_moves){part->moves, n};
    }
    const struct dp_team team = team_of(group, c, slots);
    return dp_comm_move(&team, moves, phase, err);
}

static int scale_piece(const struct dp_collective *c, int k, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i) {
        float *piece = c->part[i].piece[k];
        const struct dp_mean_args mean = {1, c->scale, c->bytes[k] / sizeof *piece, piece, {piece}};
        status = dp_launch(&c->part[i].slot->compute, DP_KERNEL_MEAN, &mean, sizeof mean, err);
    }
    return status;
}

int dp_moved_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    struct dp_slot *slots[DP_MAX_SLOTS];
    const struct dp_team team = team_of(group, c, slots);
    int status = 0;
    for (int k = 0; status == 0 && k < c->n_pieces; ++k) {
        status = c->scale != 1.0f ? scale_piece(c, k, err) : 0;
        if (status == 0 && team.n > 1) {
            /* The first member gets the sum, and sends it to the others. */
            const size_t bytes = c->bytes[k];
            const void *src[DP_MAX_SLOTS];
            struct dp_move move[DP_MAX_SLOTS];
            struct dp_moves moves[DP_MAX_SLOTS];
            float *total = c->part[0].piece[k];
            for (int i = 0; i < team.n; ++i) {
                src[i] = c->part[i].piece[k];
                move[i] = (struct dp_move){team.slot[i],
                                           team.slot[0],
                                           {c->part[i].piece[k], total, bytes, 1, bytes, bytes}};
                moves[i] = (struct dp_moves){&move[i], i > 0};
            }
            const struct dp_sum sum = {DP_F32, false, bytes / sizeof *total, total, src};
            status = dp_comm_reduce(&team, team.slot[0], &sum, 1, DP_PHASE_NONE, err);
            if (status == 0)
                status = dp_comm_move(&team, moves, DP_PHASE_NONE, err);
        }
    }
    if (status == 0 && c->timed)
        status = dp_group_wait(group, err);
    for (int i = 0; i < c->n_parts; ++i) {
        struct dp_part *part = &c->part[i];
        part->slot->ops->record(&part->slot->comm, &part->done);
        atomic_store(part->done_ns, dp_now_ns());
    }
    /* Counts the bytes as if each rank sent and received its share of the data, and then all
     * shares. */
    size_t bytes = 0;
    for (int k = 0; k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    for (int i = 1; group->trace && i < c->n_parts; ++i)
        group->trace->replica[c->part[i].replica].bytes[DP_PHASE_REDUCE] += 2 * bytes;
    return status;
}
