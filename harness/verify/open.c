/* verify/open.c: opens the reference of a step, and turns it into that of a step of
 * DistributedDataParallel. */
#include <math.h>
#include <stdlib.h>

#include "descriptor.h"
#include "verify/arrays.h"

int verify_open(const struct workload *workload, const struct workload_set *set, size_t rows,
                size_t devices, enum dp_math math, struct verify **verify, struct text_error *why)
{
    /* The last place of an operand: bf16 is rounded to the nearest of 8 bits; tf32 may be cut off
     * after 11. */
    static const double units[DP_MATHS] = {[DP_MATH_TF32] = 0x1p-10, [DP_MATH_BF16] = 0x1p-8};
    const double unit = (unsigned)math < DP_MATHS ? units[math] : 0;
    struct verify *v = verify_new(workload);
    int status;

    v->rows = rows;
    v->devices = devices;
    v->operand_limit = workload_operand_limit(math);
    v->set = *set;
    v->probe = workload_is_probe(set);
    v->operands = 2 * unit + unit * unit;
    v->math = math;
    v->divisor = 1;
    v->arrays->exact = workload_is_exact(workload) && !v->probe;
    v->kinds = workload_patterns(set, rows);
    v->patterns = workload->is->shards ? v->kinds * devices : v->kinds;
    status = (workload_is_chain(workload) ? reference_chain_open : reference_arrays_open)(v, why);
    if (status == 0)
        *verify = v;
    else
        verify_close(v);
    return status;
}

int reference_given(const struct workload *workload, const struct reference_numbers *numbers,
                    struct verify **verify, struct text_error *why)
{
    const bool chain = workload_is_chain(workload);
    struct verify *v = verify_new(workload);
    int status;

    v->rows = v->patterns = v->kinds = v->set.period = numbers->rows;
    v->devices = v->divisor = 1;
    v->operand_limit = v->sum_limit = INFINITY;
    v->arrays->exact = true;
    status = (chain ? reference_chain_given : reference_arrays_given)(v, numbers, why);
    if (status == 0)
        *verify = v;
    else
        verify_close(v);
    return status;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

bool verify_has_ranks(const struct workload *workload)
{
    return !workload->is->table;
}

/* The loss of each rank is a float. The comparison adds them up in double. */
static int sum_losses(struct verify *v, struct text_error *why)
{
    const struct workload_set *set = &v->set;
    struct reference_arrays *d = v->arrays;
    const size_t width = d->output.n / v->patterns;
    double *loss = verify_numbers(1, v->patterns), total = 0;

    if (!loss)
        return verify_starved(why);
    for (size_t r = 0; r < v->patterns; ++r)
        for (size_t i = 0; i < width; ++i)
            loss[r] += workload_upstream(set, r, i) * d->output.value[r * width + i];
    for (size_t rank = 0, n = 0; rank < v->devices; ++rank) {
        const size_t end = n + v->rows / v->devices + (rank < v->rows % v->devices);
        double sum = 0;

        for (; n < end; ++n)
            sum += workload_scale(set, n) * loss[workload_pattern(set, n)];
        total += (double)(float)sum;
    }
    d->loss = total;
    free(loss);
    return 0;
}

int verify_ranks(struct verify *verify, struct text_error *why)
{
    const size_t ranks = verify->devices;
    struct reference_arrays *d = verify->arrays;
    const bool rounds = (ranks & (ranks - 1)) != 0;
    const bool mean = workload_end(&verify->workload)->loss == DP_LOSS_XENT;
    /* The largest sum of |terms| of an update, in units of its smallest bit: the learning rate
     * / ranks. Weights and biases of layers are at most 2. */
    const double unit = (double)ranks / VERIFY_LEARNING_RATE;
    double bound = d->exact ? verify->bound + 2 * unit : 0;
    int status;

    for (int p = 0; d->exact && p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i)
            bound = fmax(bound, d->grad[p].bound[i] + fabs(d->param[p].value[i]) * unit);
    if (rounds && !verify->probe)
        return text_fail(why, "the mean over %zu ranks is not exact: ranks must be a power of two",
                         ranks);
    if (verify_exact(bound, why))
        return -1;
    verify->ranks = true;
    verify->mean_roundings = rounds ? 2 : 0; /* of 1/ranks, and of the product with it */
    if (mean && verify->rows < ranks)
        return text_fail(why, "%zu rows on %zu ranks: there is no mean of no rows", verify->rows,
                         ranks);
    /* Both splits are the same if every rank has as many rows. */
    const bool splits = (mean || verify->patterns > verify->kinds) && verify->rows % ranks != 0;

    if ((splits || (verify->layers == 0 && rounds)) &&
        (status = reference_arrays_again(verify, why)))
        return status;
    /* For a probe, or if the number of ranks is a power of two. The bound of a model that is not
     * exact allows for as many parts of its sums as there are devices. */
    for (int p = 0; !mean && p < REFERENCE_PARAMS; ++p)
        for (size_t i = 0; i < d->grad[p].n; ++i) {
            d->grad[p].value[i] /= (double)ranks;
            d->grad[p].bound[i] /= d->exact ? 1 : (double)ranks;
        }
    verify->divisor = ranks;
    return d->exact ? sum_losses(verify, why) : 0;
}
