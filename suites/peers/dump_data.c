/* dump_data.c: the numbers of a workload as bytes, for data_test.py to compare its own with.
 * usage: dump_data WORKLOAD SEED SET ROWS: weights and biases of each layer, inputs, upstream. */
#include <stdio.h>
#include <stdlib.h>

#include "workload.h"

static int dump(const float values[], size_t n)
{
    return fwrite(values, sizeof *values, n, stdout) == n ? 0 : -1;
}

static int dump_all(const struct workload *workload, const struct workload_set *set, size_t rows,
                    float values[])
{
    const size_t *size = workload->size, layers = workload_layers(workload);

    for (size_t l = 0; l < layers; l++) {
        workload_fill_weights(workload, set, l, values);
        if (dump(values, size[l] * size[l + 1]))
            return -1;
        workload_fill_biases(workload, set, l, values);
        if (dump(values, size[l + 1]))
            return -1;
    }
    workload_fill_inputs(workload, set, rows, values);
    if (dump(values, rows * size[0]))
        return -1;
    workload_fill_upstream(workload, set, rows, values);
    return dump(values, rows * size[layers]);
}

int main(int argc, char **argv)
{
    struct workload workload;
    struct workload_set set;
    char why[200];
    size_t rows, most;
    float *values;
    int rc;

    if (argc != 5 || workload_parse(argv[1], &workload, why, sizeof why))
        return 2;
    set = workload_set(strtoull(argv[2], NULL, 10), atoi(argv[3]));
    rows = strtoull(argv[4], NULL, 10);
    most = rows;
    for (size_t i = 0; i < workload.n_sizes; i++)
        most = workload.size[i] > most ? workload.size[i] : most;
    values = calloc(most * most, sizeof *values);
    rc = values == NULL || dump_all(&workload, &set, rows, values);
    free(values);
    return rc == 0 ? 0 : 1;
}
