/* dump_data.c: the numbers of a workload as bytes, for data_test.py to compare its own with.
 * usage: dump_data WORKLOAD MATH SEED SET ROWS: its parameters, inputs, and what the loss compares
 * outputs with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* -1: no such math. */
static int math_of(const char *name)
{
    for (int math = 0; math < DP_MATHS; ++math)
        if (strcmp(name, dp_math_name((enum dp_math)math)) == 0)
            return math;
    return -1;
}

int main(int argc, char **argv)
{
    struct workload workload;
    struct workload_set set;
    char why[200];
    size_t rows, most = 0;
    float *values;
    int status;

    if (argc != 6 || math_of(argv[2]) < 0 || workload_parse(argv[1], &workload, why, sizeof why))
        return 2;
    rows = strtoull(argv[5], NULL, 10);
    set = workload_batch(&workload, rows, (enum dp_math)math_of(argv[2]),
                         strtoull(argv[3], NULL, 10), atoi(argv[4]));
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
