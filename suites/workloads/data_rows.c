/* data_rows.c: what a row of a workload is, on both sides of a step, and the numbers of a batch. */
#include "descriptor.h"

struct workload_row workload_row(const struct workload *workload, enum workload_side side)
{
    const bool input = side == WORKLOAD_INPUT;
    struct workload_row row = {.dtype = DP_F32, .ndim = 1};

    row.width = workload->size[input ? 0 : workload->n_sizes - 1];
    if (workload->is->tokens || (input && workload->is->table))
        row.dtype = DP_I32;
    if (workload->is->tokens)
        row.width = workload->size[GPT_CONTEXT];
    if (input && workload->is->table)
        row.ndim = 0;
    row.dim[0] = row.width;
    return row;
}

size_t workload_width(const struct workload *workload)
{
    if (workload->is->tokens)
        return workload->size[GPT_CONTEXT] * workload->size[GPT_VOCABULARY];
    return workload->size[workload->n_sizes - 1];
}

const struct workload_end *workload_end(const struct workload *workload)
{
    static const struct workload_end end = {.loss = DP_LOSS_SUM};

    return workload->is->end ? workload->is->end : &end;
}

/* From token `first` of each row's on. */
static void fill_tokens(const struct workload *workload, const struct workload_set *set,
                        size_t first, size_t rows, int32_t values[])
{
    const size_t context = workload->size[GPT_CONTEXT];

    for (size_t n = 0; n < rows; ++n)
        for (size_t t = 0; t < context; ++t)
            values[n * context + t] =
                workload_token(workload, set, workload_pattern(set, n), first + t);
}

void workload_fill_side(const struct workload *workload, const struct workload_set *set,
                        enum workload_side side, size_t rows, void *values)
{
    const bool input = side == WORKLOAD_INPUT;

    if (workload->is->tokens)
        fill_tokens(workload, set, input ? 0 : 1, rows, values);
    else if (input && workload->is->table)
        for (size_t n = 0; n < rows; ++n)
            ((int32_t *)values)[n] = workload_number(set, workload_pattern(set, n));
    else if (input)
        workload_fill_inputs(workload, set, rows, values);
    else
        workload_fill_upstream(workload, set, rows, values);
}
