/* collectives.c: standalone collectives, on memory that belongs to no module. */
#include "../backend.h"

#include "../ddp.h"

/* Everything that one call needs. */
struct alone {
    struct dp_collective all;
    int member[DP_MAX_SLOTS];
    struct dp_part part[DP_MAX_SLOTS];
    void *piece[DP_MAX_SLOTS];
    struct dp_move moves[DP_MAX_SLOTS];
    _Atomic uint64_t done_ns[DP_MAX_SLOTS];
    size_t bytes;
};

static int collectives_check(const struct dp_group *group, const struct dp_tensor tensor[],
                             struct dp_error *err)
{
    if (group->size == 0 || group->in_team)
        return dp_fail(err, DP_EINVAL, "a collective %s",
                       group->size == 0 ? "needs devices" : "inside a replica is not supported");
    for (int r = 0; r < group->size; ++r) {
        if (tensor[r].slot != group->slot[r])
            return dp_fail(err, DP_EDEVICE, "tensor %d of a collective is on %s, must be on %s", r,
                           tensor[r].slot ? tensor[r].slot->info.name : "no slot",
                           group->slot[r]->info.name);
        if (tensor[r].dtype != tensor[0].dtype ||
            dp_tensor_count(&tensor[r]) != dp_tensor_count(&tensor[0]))
            return dp_fail(err, DP_ESHAPE,
                           "tensor %d of a collective is not of the type and size of tensor 0", r);
    }
    return dp_tensor_count(&tensor[0]) > 0
               ? 0
               : dp_fail(err, DP_ESHAPE, "the tensors of a collective have no elements");
}

/* The collective starts after the work that is in the compute queues. */
static int collectives_begin(struct dp_group *group, const struct dp_tensor tensor[],
                             struct alone *alone, struct dp_error *err)
{
    int status = collectives_check(group, tensor, err);
    if (status == 0)
        status = dp_comm_start(group, err);
    if (status)
        return status;
    dp_silent_fault_step(group);
    for (int w = 0; w < group->world; ++w)
        alone->member[w] = w;
    alone->bytes = dp_tensor_bytes(&tensor[0]);
    for (int r = 0; r < group->size; ++r) {
        struct dp_slot *slot = group->slot[r];
        alone->piece[r] = tensor[r].data;
        alone->part[r] = (struct dp_part){.slot = slot,
                                          .rank = group->first + r,
                                          .replica = r,
                                          .piece = &alone->piece[r],
                                          .moves = &alone->moves[r],
                                          .done_ns = &alone->done_ns[r]};
        slot->ops->record(&slot->compute, &alone->part[r].ready);
    }
    alone->all = (struct dp_collective){.member = alone->member,
                                        .n_members = group->world,
                                        .part = alone->part,
                                        .n_parts = group->size,
                                        .bytes = &alone->bytes,
                                        .n_pieces = 1,
                                        .scale = 1.0f,
                                        .last = true};
    return 0;
}

int dp_allreduce(struct dp_group *group, const struct dp_tensor tensor[], struct dp_error *err)
{
    struct alone alone;
    if (group->size > 0 && tensor[0].dtype != DP_F32)
        return dp_fail(err, DP_EINVAL, "an allreduce is of float");
    int status = collectives_begin(group, tensor, &alone, err);
    if (status)
        return status;
    status = dp_comm_allreduce(group, &alone.all, err);
    if (status == 0)
        status = dp_comm_poll(group, err);
    else
        dp_comm_abort(group);
    for (int r = 0; status == 0 && r < group->size; ++r)
        status = dp_event_wait(&group->slot[r]->compute, &alone.part[r].done, err);
    if (status == 0)
        dp_silent_fault_result(group, alone.piece, alone.bytes);
    return status;
}

int dp_broadcast(struct dp_group *group, const struct dp_tensor tensor[], int root,
                 struct dp_error *err)
{
    struct alone alone;
    if (root < 0 || root >= group->world)
        return dp_fail(err, DP_EINVAL, "root %d of a broadcast: there are ranks 0 to %d", root,
                       group->world - 1);
    int status = collectives_begin(group, tensor, &alone, err);
    if (status == 0)
        status = dp_comm_broadcast(group, &alone.all, root, DP_PHASE_REPLICATE, err);
    if (status == 0)
        dp_silent_fault_result(group, alone.piece, alone.bytes);
    return status;
}

/* ---- from one memory to another ---------------------------------------------------------- */

/* Whether in and out of a rank have a block for each rank. */
static const struct {
    const char *name;
    bool in_blocks, out_blocks, sums, rooted;
} kinds[DP_COLLECTIVE_KINDS] = {
    [DP_COLLECTIVE_ALLREDUCE] = {"allreduce", .sums = true},
    [DP_COLLECTIVE_BROADCAST] = {"broadcast", .rooted = true},
    [DP_COLLECTIVE_ALLGATHER] = {"allgather", .out_blocks = true},
    [DP_COLLECTIVE_REDUCESCATTER] = {"reducescatter", .in_blocks = true, .sums = true},
    [DP_COLLECTIVE_ALLTOALL] = {"alltoall", .in_blocks = true, .out_blocks = true},
};

bool dp_collective_sums(enum dp_collective_kind kind)
{
    return (unsigned)kind < DP_COLLECTIVE_KINDS && kinds[kind].sums;
}

size_t dp_collective_bytes(const struct dp_collective_call *s, int world, int rank)
{
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype), others = (size_t)world - 1;
    if (s->kind == DP_COLLECTIVE_ALLREDUCE)
        return 2 * others * bytes / (size_t)world;
    if (s->kind == DP_COLLECTIVE_BROADCAST)
        return rank == s->root ? 0 : bytes;
    return others * bytes;
}

/* Each tensor must have the size of one block, or of the blocks of all ranks. */
static int check_collective(const struct dp_group *group, enum dp_collective_kind kind, int root,
                            const struct dp_tensor in[], const struct dp_tensor out[],
                            struct dp_error *err)
{
    int status = collectives_check(group, in, err);
    if (status == 0)
        status = collectives_check(group, out, err);
    if (status)
        return status;
    if ((unsigned)kind >= DP_COLLECTIVE_KINDS)
        return dp_fail(err, DP_EINVAL, "there is no collective %d: they are 0 to %d", (int)kind,
                       DP_COLLECTIVE_KINDS - 1);
    const size_t world = (size_t)group->world, has = dp_tensor_count(&in[0]),
                 gets = dp_tensor_count(&out[0]);
    if (in[0].dtype != out[0].dtype)
        return dp_fail(err, DP_ESHAPE, "%s from one type to another", kinds[kind].name);
    if (has * (kinds[kind].in_blocks ? 1 : world) != gets * (kinds[kind].out_blocks ? 1 : world) ||
        (kinds[kind].in_blocks && has % world != 0))
        return dp_fail(err, DP_ESHAPE, "%s of %zu elements to %zu, on %zu ranks", kinds[kind].name,
                       has, gets, world);
    if (kinds[kind].sums && dp_check_sum(in[0].dtype, err))
        return err ? err->status : DP_EINVAL;
    if (kind == DP_COLLECTIVE_ALLTOALL && in[0].data == out[0].data)
        return dp_fail(err, DP_EINVAL, "an alltoall in place is not supported");
    if (kinds[kind].rooted && (root < 0 || root >= group->world))
        return dp_fail(err, DP_EINVAL, "root %d of a %s: there are ranks 0 to %d", root,
                       kinds[kind].name, group->world - 1);
    return 0;
}

int dp_collective_run(struct dp_group *group, enum dp_collective_kind kind, int root,
                      const struct dp_tensor in[], const struct dp_tensor out[],
                      struct dp_error *err)
{
    struct dp_collective_call collective_call = {.kind = kind, .root = root};
    void *result[DP_MAX_SLOTS];
    int status = check_collective(group, kind, root, in, out, err);
    if (status == 0)
        status = dp_comm_start(group, err);
    if (status)
        return status;
    collective_call.dtype = in[0].dtype;
    collective_call.n =
        dp_tensor_count(&in[0]) / (kinds[kind].in_blocks ? (size_t)group->world : 1);
    for (int r = 0; r < group->size; ++r) {
        collective_call.in[r] = in[r].data;
        result[r] = collective_call.out[r] = out[r].data;
    }
    dp_silent_fault_step(group);
    status = dp_comm_collective(group, &collective_call, err);
    if (status == 0)
        dp_silent_fault_result(group, result, dp_tensor_bytes(&out[0]));
    return status;
}
