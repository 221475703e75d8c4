/* scatter.c: copies rows to slots. Sources: torch.nn.parallel.scatter, comm.scatter. */
#include "parallel.h"

static int check_sizes(const struct dp_tensor *input, int dim, int n, const size_t sizes[],
                       struct dp_error *err)
{
    size_t left = input->dim[dim];
    for (int s = 0; s < n; ++s) {
        if (sizes[s] > left)
            return dp_fail(err, DP_EINVAL,
                           "explicit size %d is %zu, dim %d has %zu of %zu rows left", s, sizes[s],
                           dim, left, input->dim[dim]);
        left -= sizes[s];
    }
    if (left > 0)
        return dp_fail(err, DP_EINVAL, "%d explicit sizes leave %zu of %zu rows of dim %d", n, left,
                       input->dim[dim], dim);
    return 0;
}

/* A shard of consecutive rows that is already on its slot needs no copy. */
static bool is_view(const struct dp_tensor *input, const struct dp_slot *slot, int dim)
{
    for (int d = 0; d < dim; ++d) {
        if (input->dim[d] != 1)
            return false;
    }
    return input->slot == slot;
}

static int place_shard(struct dp_run *run, const struct dp_tensor *input, struct dp_slot *slot,
                       int dim, struct dp_shard at, struct dp_tensor *shard, struct dp_move *move,
                       struct dp_moves *moves, struct dp_error *err)
{
    size_t dims[DP_MAX_DIMS];
    for (int d = 0; d < input->ndim; ++d)
        dims[d] = d == dim ? at.rows : input->dim[d];
    if (is_view(input, slot, dim)) {
        *shard = *input;
        shard->dim[dim] = at.rows;
        shard->data = dp_piece_copy(input, shard, dim, at.first, false).dst;
        return 0;
    }
    const int status = dp_run_tensor(run, slot, input->dtype, input->ndim, dims, shard, err);
    if (status)
        return status;
    shard->needs_grad = input->needs_grad;
    *move = (struct dp_move){slot, input->slot, dp_piece_copy(input, shard, dim, at.first, true)};
    *moves = (struct dp_moves){move, dp_tensor_bytes(shard) > 0 ? 1 : 0};
    return 0;
}

int dp_scatter_phase(struct dp_run *run, const struct dp_tensor *input,
                     struct dp_slot *const slots[], int n_slots, int dim, const size_t sizes[],
                     enum dp_phase phase, struct dp_tensor shards[], int *n_shards,
                     struct dp_error *err)
{
    struct dp_move move[DP_MAX_SLOTS];
    struct dp_moves moves[DP_MAX_SLOTS];
    if (n_slots < 1 || n_slots > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "scatter to %d slots: 1 to %d", n_slots, DP_MAX_SLOTS);
    if (input->ndim < 1)
        return dp_fail(err, DP_EINVAL, "scatter of a tensor without dimensions: at least 1");
    int status = dp_dim_wrap("scatter", dim, input->ndim, &dim, err);
    if (status == 0 && sizes)
        status = check_sizes(input, dim, n_slots, sizes, err);
    if (status)
        return status;
    const size_t rows = input->dim[dim];
    const int m = sizes ? n_slots : dp_split_count(rows, n_slots);
    size_t first = 0;
    for (int s = 0; status == 0 && s < m; ++s) {
        struct dp_shard at = {first, sizes ? sizes[s] : 0};
        moves[s] = (struct dp_moves){NULL, 0};
        status = sizes ? 0 : dp_split(rows, n_slots, s, &at, err);
        if (status == 0)
            status =
                place_shard(run, input, slots[s], dim, at, &shards[s], &move[s], &moves[s], err);
        first += at.rows;
    }
    if (status)
        return status;
    const struct dp_team team = {run->group, slots, m};
    status = dp_comm_move(&team, moves, phase, err);
    if (status == 0)
        *n_shards = m;
    return status;
}

int dp_scatter(struct dp_run *run, const struct dp_tensor *input, struct dp_slot *const slots[],
               int n_slots, int dim, const size_t sizes[], struct dp_tensor shards[], int *n_shards,
               struct dp_error *err)
{
    return dp_scatter_phase(run, input, slots, n_slots, dim, sizes, DP_PHASE_SCATTER, shards,
                            n_shards, err);
}
