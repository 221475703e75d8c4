/* verify/model.c: memory of a reference, and where the reference has a row. */
#include "verify/model.h"
#include "text/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t verify_shard(const struct verify *v, size_t n)
{
    const size_t least = v->rows / v->devices, longer = v->rows % v->devices;

    if (!v->ranks)
        return n / ((v->rows + v->devices - 1) / v->devices);
    return n < longer * (least + 1) ? n / (least + 1) : longer + (n - longer * (least + 1)) / least;
}

int verify_name_device(const struct verify *v, const char *const name[], size_t n,
                       struct text_error *why)
{
    const struct text_error found = *why;
    const int row = (int)strcspn(found.text, ":");
    const size_t device = verify_shard(v, n);
    const bool known = name[device] != NULL;

    if (v->devices > 1)
        snprintf(why->text, sizeof why->text, "%.*s, computed by device %zu of %zu%s%.40s%s%.200s",
                 row, found.text, device, v->devices, known ? " (" : "", known ? name[device] : "",
                 known ? ")" : "", found.text + row);
    return 1;
}

size_t verify_place(const struct verify *v, size_t n)
{
    const size_t shard = v->patterns > v->kinds ? verify_shard(v, n) : 0;

    return shard * v->kinds + workload_pattern(&v->set, n);
}

double *verify_numbers(size_t rows, size_t columns)
{
    return calloc(rows * columns + 1, sizeof(double));
}

int verify_starved(struct text_error *why)
{
    snprintf(why->text, sizeof why->text, "out of memory for the reference");
    return VERIFY_STARVED;
}

int verify_exact(double largest, struct text_error *why)
{
    if (largest < VERIFY_FLOAT_LIMIT)
        return 0;
    return text_fail(why,
                     "a sum of |terms| may reach %.0f, not below %.0f: results would not be exact",
                     largest, VERIFY_FLOAT_LIMIT);
}

struct reference_array *reference_result(struct reference_arrays *arrays, int i)
{
    return i < REFERENCE_PARAMS ? &arrays->grad[i] : &arrays->output;
}

void reference_clear(struct reference_array *array)
{
    memset(array->value, 0, array->n * sizeof *array->value);
    memset(array->bound, 0, array->n * sizeof *array->bound);
}

struct verify *verify_new(const struct workload *workload)
{
    struct verify *v = cli_alloc(1, sizeof *v);

    v->arrays = cli_alloc(1, sizeof *v->arrays);
    v->workload = *workload;
    v->sum_limit = VERIFY_FLOAT_LIMIT;
    return v;
}

void verify_close(struct verify *verify)
{
    struct reference_arrays *d = verify ? verify->arrays : NULL;

    if (!verify)
        return;
    for (size_t l = 0; l < verify->layers; ++l) {
        free(verify->layer[l].weight);
        free(verify->layer[l].bias);
        free(verify->layer[l].input);
        free(verify->layer[l].upstream);
        free(verify->layer[l].input_error);
        free(verify->layer[l].upstream_error);
    }
    for (int i = 0; i < REFERENCE_RESULTS; ++i) {
        free(reference_result(d, i)->value);
        free(reference_result(d, i)->bound);
    }
    for (int p = 0; p < REFERENCE_PARAMS; ++p)
        free(d->param[p].value);
    free(d->input);
    free(d->upstream);
    free(d);
    free(verify->weight);
    free(verify);
}
