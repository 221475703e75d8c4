/* soak/answer.c: what every device must compute, by the independent model, and the mean that a
 * reduction must give. Nothing here is read from a device. */
#include "soak/soak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "measure/measure.h"

enum { FACTORS = 8, STRIDE = 2 };

float soak_factor_of_iteration(uint64_t iteration)
{
    return iteration % 2 == 0 ? 1.0f : (float)(1 << STRIDE);
}

float soak_factor(int r, uint64_t iteration)
{
    return ldexpf(soak_factor_of_iteration(iteration), r % FACTORS);
}

static float brought(float g, int r, uint64_t iteration, int who, enum soak_part part)
{
    if (r != who || part == SOAK_RIGHT)
        return g * soak_factor(r, iteration);
    if (part == SOAK_DROPPED)
        return 0;
    return part == SOAK_DOUBLED ? 2 * g * soak_factor(r, iteration)
                                : g * soak_factor(r, iteration + 1);
}

/* Each rank's number is multiplied by scale, rounded, and added in the order of ranks: what core
 * promises of ranks, with 1 / ranks, and of a DataParallel, with 1. Of two in a row the factors are
 * the same one way and back, so the iteration before has those of the one after. */
float soak_mean(float g, int ranks, float scale, uint64_t iteration, int who, enum soak_part part)
{
    float sum = scale * brought(g, 0, iteration, who, part);

    for (int r = 1; r < ranks; ++r) {
        const float product = scale * brought(g, r, iteration, who, part);

        sum += product;
    }
    return sum;
}

static float *floats(size_t n, struct text_error *why)
{
    float *values = n <= SIZE_MAX / sizeof(float) ? calloc(n + 1, sizeof(float)) : NULL;

    if (!values)
        snprintf(why->text, sizeof why->text, "out of memory for %zu numbers", n);
    return values;
}

int soak_answer_open(const struct soak_options *options, int ranks, struct soak_answer *answer,
                     struct text_error *why)
{
    const struct workload *w = &options->workload;
    /* The model of one device, with numbers as wide as are proved exact. */
    const struct cell_config config = {
        .workload = *w, .rows = options->rows, .seed = options->seed};
    struct soak_answer *a = answer;
    struct verify *model = NULL;
    int status;

    memset(a, 0, sizeof *a);
    a->rows = options->rows;
    a->width = w->size[w->n_sizes - 1];
    a->scale = options->mode == SOAK_DP ? 1 : (float)(1.0 / ranks);
    a->n_params = (int)workload_n_params(w);
    if (a->n_params > SOAK_PARAMS)
        return text_fail(why, "%d parameters, at most %d are allowed", a->n_params, SOAK_PARAMS);
    status = measure_reference(&config, 0, &a->set, &model, why);
    if (status == 0 && !(a->outputs = floats(a->rows * a->width, why)))
        status = -1;
    for (int p = 0; status == 0 && p < a->n_params; ++p) {
        a->count[p] = workload_param_count(w, (size_t)p);
        if (!(a->value[p] = floats(a->count[p], why)) ||
            !(a->gradient[p] = floats(a->count[p], why)) ||
            !(a->reduced[p] = floats(a->count[p], why)))
            status = -1;
    }
    if (status == 0)
        status = verify_answer(model, a->outputs, &a->loss, a->gradient, why);
    verify_close(model);
    for (int p = 0; status == 0 && p < a->n_params; ++p) {
        workload_fill_param(w, &a->set, (size_t)p, a->value[p]);
        for (size_t i = 0; i < a->count[p]; ++i)
            a->reduced[p][i] = soak_mean(a->gradient[p][i], ranks, a->scale, 0, -1, SOAK_RIGHT);
    }
    return status ? -1 : 0;
}

void soak_answer_close(struct soak_answer *answer)
{
    free(answer->outputs);
    for (int p = 0; p < SOAK_PARAMS; ++p) {
        free(answer->value[p]);
        free(answer->gradient[p]);
        free(answer->reduced[p]);
    }
    memset(answer, 0, sizeof *answer);
}
