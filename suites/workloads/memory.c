/* memory.c: what devices hold in training, planned from the sizes of a model. */
#include "descriptor.h"

#include <math.h>
#include <stdint.h>

/* The least size in which core allocates memory of a step. */
static const double PIECE = 1 << 16;
/* Two are timed, and the probe. */
enum { SETS = WORKLOAD_SETS + 1, MOST_ROWS = 1 << 30 };

bool workload_footprint(const struct workload *workload, const struct workload_use *use, bool first,
                        size_t rows, struct workload_footprint *held)
{
    const double number = sizeof(float), tokens = (double)workload_tokens(workload);

    *held = (struct workload_footprint){.weights = 0};
    if (!workload->is->tokens || use->devices == 0)
        return false;

    const struct workload_kept kept = workload->is->sized->kept(workload);
    const bool alone = use->way == WORKLOAD_ALONE;
    const size_t shards = alone ? 1 : use->devices, shard = rows / shards + (rows % shards != 0);
    const double here = tokens * (double)shard, whole = tokens * (double)rows;

    size_t tensors = kept.tensors;

    /* A replica on another device has weights and gradients. The first replica, and the first rank,
     * has separate gradients, too, because the sum is not computed in those of the base. */
    const double bytes = number * (double)workload_params(workload);
    const bool others = use->way == WORKLOAD_REPLICAS && !first;

    held->weights = held->gradients = bytes;
    held->states = others ? 0 : 2 * bytes;
    held->gathered = use->way != WORKLOAD_ALONE && first ? bytes : 0;
    held->batches = number * 2 * SETS * (use->way == WORKLOAD_RANKS ? here : first ? whole : 0);
    held->step = number * here * kept.numbers;
    if (use->math == DP_MATH_BF16) {
        /* Inputs and weights forward, gradients of outputs backward: two bytes each. */
        held->step += sizeof(uint16_t) * (here * kept.operands + kept.weights);
        tensors += kept.rounded;
    }
    if (use->way == WORKLOAD_REPLICAS && first && use->devices > 1)
        held->step += number * kept.outputs * (2 * whole - here);
    held->spare = fmin(held->step, PIECE * (double)tensors);
    return true;
}

static struct workload_memory memory_sum_of(const struct workload_footprint *held)
{
    const double least = held->weights + held->gradients + held->states + held->gathered +
                         held->batches + held->step;

    return (struct workload_memory){least, least + held->spare};
}

struct workload_memory workload_memory(const struct workload *workload,
                                       const struct workload_use *use, bool shared, size_t rows)
{
    const double others = use->way == WORKLOAD_ALONE ? 0 : (double)use->devices - 1;
    struct workload_footprint held;

    if (!workload_footprint(workload, use, true, rows, &held))
        return (struct workload_memory){NAN, NAN};

    struct workload_memory sum = memory_sum_of(&held);

    if (shared && others > 0 && workload_footprint(workload, use, false, rows, &held)) {
        const struct workload_memory other = memory_sum_of(&held);

        sum.least += others * other.least;
        sum.most += others * other.most;
    }
    return sum;
}

size_t workload_fits(const struct workload *workload, const struct workload_use *use, bool shared,
                     double bytes)
{
    size_t fits = 0, beyond = MOST_ROWS;

    while (beyond - fits > 1) {
        const size_t rows = fits + (beyond - fits) / 2;

        if (workload_memory(workload, use, shared, rows).most <= bytes)
            fits = rows;
        else
            beyond = rows;
    }
    return fits;
}
