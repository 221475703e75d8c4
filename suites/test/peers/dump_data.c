/* dump_data.c: the numbers of a workload as bytes, for data_test.py to compare its own with.
 * usage: dump_data WORKLOAD SEED SET ROWS: its parameters, inputs, and what the loss compares
 * outputs with. */
#include <stdio.h>
#include <stdlib.h>

#include "workload.h"

/* Numbers of 4 bytes. */
static int dump(const void *values, size_t n)
{
    return fwrite(values, 4, n, stdout) == n ? 0 : -1;
}

static int dump_side(const struct workload *workload, const struct workload_set *set,
                     enum workload_side side, size_t rows, void *values)
{
    workload_fill_side(workload, set, side, rows, values);
    return dump(values, rows * workload_row(workload, side).width);
}

static int dump_all(const struct workload *workload, const struct workload_set *set, size_t rows,
                    float values[])
{
    for (size_t p = 0; p < workload_n_params(workload); ++p) {
        workload_fill_param(workload, set, p, values);
        if (dump(values, workload_param_count(workload, p)))
            return -1;
    }
    return dump_side(workload, set, WORKLOAD_INPUT, rows, values) ||
                   dump_side(workload, set, WORKLOAD_TARGET, rows, values)
               ? -1
               : 0;
}

int main(int argc, char **argv)
{
    struct workload workload;
    struct workload_set set;
    char why[200];
    size_t rows, most = 0;
    float *values;
    int status;

    if (argc != 5 || workload_parse(argv[1], &workload, why, sizeof why))
        return 2;
    rows = strtoull(argv[4], NULL, 10);
    set = workload_batch(&workload, rows, DP_MATH_F32, strtoull(argv[2], NULL, 10), atoi(argv[3]));
    for (size_t i = 0; i < workload.n_sizes; ++i)
        most = rows * workload.size[i] > most ? rows * workload.size[i] : most;
    for (size_t p = 0; p < workload_n_params(&workload); ++p)
        if (workload_param_count(&workload, p) > most)
            most = workload_param_count(&workload, p);
    values = calloc(most, sizeof *values);
    status = !values || dump_all(&workload, &set, rows, values);
    free(values);
    return status == 0 ? 0 : 1;
}
