/* gather.c: concatenates parts to one tensor, in replica order. Source: torch.nn.parallel.gather.
 */
#include "parallel.h"

static int check_part(const struct dp_tensor parts[], int i, int dim, struct dp_error *err)
{
    char a[DP_SHAPE_TEXT], b[DP_SHAPE_TEXT];
    const struct dp_tensor *part = &parts[i], *first = &parts[0];
    bool fits = part->slot && part->dtype == first->dtype && part->ndim == first->ndim;
    if (part->slot && dp_is_host(part->slot))
        return dp_fail(err, DP_EDEVICE, "gather: part %d is on the host", i);
    for (int d = 0; fits && d < part->ndim; ++d)
        fits = d == dim || part->dim[d] == first->dim[d];
    if (!fits)
        return dp_fail(err, DP_ESHAPE,
                       "gather along dim %d: part %d has shape %s, part 0 has shape %s", dim, i,
                       dp_shape_text(part, a), dp_shape_text(first, b));
    return 0;
}

/* The shape of the result; a scalar part counts as a vector of one number. */
static int result_shape(const struct dp_tensor parts[], int n, int dim, struct dp_tensor *shape,
                        struct dp_error *err)
{
    *shape = parts[0];
    shape->needs_grad = false;
    size_t rows = 0;
    for (int i = 0; i < n; ++i) {
        const int status = check_part(parts, i, dim, err);
        if (status)
            return status;
        rows += parts[i].ndim == 0 ? 1 : parts[i].dim[dim];
        shape->needs_grad = shape->needs_grad || parts[i].needs_grad;
    }
    shape->ndim = shape->ndim == 0 ? 1 : shape->ndim;
    shape->dim[dim] = rows;
    return 0;
}

static int wrap_dim(const struct dp_tensor *part, int dim, int *wrapped, struct dp_error *err)
{
    if (part->ndim > 0)
        return dp_dim_wrap("gather", dim, part->ndim, wrapped, err);
    if (dim != 0)
        return dp_fail(err, DP_EINVAL, "gather of tensors without dimensions: dim 0 only, not %d",
                       dim);
    *wrapped = 0;
    return 0;
}

int dp_gather_phase(struct dp_run *run, const struct dp_tensor parts[], int n, int dim,
                    struct dp_slot *output, enum dp_phase phase, struct dp_tensor *out,
                    struct dp_error *err)
{
    struct dp_slot *slots[DP_MAX_SLOTS];
    struct dp_move move[DP_MAX_SLOTS];
    struct dp_moves moves[DP_MAX_SLOTS];
    struct dp_tensor shape, whole;
    if (n < 1 || n > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "gather of %d parts: 1 to %d", n, DP_MAX_SLOTS);
    if (!parts[0].slot)
        return dp_fail(err, DP_ESHAPE, "gather: part 0 is not a tensor");
    int status = wrap_dim(&parts[0], dim, &dim, err);
    if (status == 0)
        status = result_shape(parts, n, dim, &shape, err);
    if (status == 0)
        status = dp_run_tensor(run, output, shape.dtype, shape.ndim, shape.dim, &whole, err);
    if (status)
        return status;
    size_t first = 0;
    for (int i = 0; i < n; ++i) {
        struct dp_tensor part = parts[i];
        if (part.ndim == 0)
            part.dim[part.ndim++] = 1;
        slots[i] = part.slot;
        move[i] =
            (struct dp_move){output, part.slot, dp_piece_copy(&whole, &part, dim, first, false)};
        moves[i] = (struct dp_moves){&move[i], dp_tensor_bytes(&part) > 0 ? 1 : 0};
        first += part.dim[dim];
    }
    const struct dp_team team = {run->group, slots, n};
    status = dp_comm_move(&team, moves, phase, err);
    if (status)
        return status;
    whole.needs_grad = shape.needs_grad;
    *out = whole;
    return 0;
}

int dp_gather(struct dp_run *run, const struct dp_tensor parts[], int n, int dim,
              struct dp_slot *output, struct dp_tensor *out, struct dp_error *err)
{
    return dp_gather_phase(run, parts, n, dim, output, DP_PHASE_GATHER, out, err);
}
