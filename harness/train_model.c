/* train_model.c: models of `lockstep train` by name, and how their parameters start.
 *
 * "mlp" alone takes its widths from the data: one hidden layer between them. All other names are
 * those of the workloads. */
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HIDDEN = 128 };

static bool is_free(const char *name)
{
    return strcmp(name, "mlp") == 0;
}

static int parse(const char *name, struct workload *workload, char *why, size_t bytes)
{
    if (strncmp(name, "mlp:", 4) != 0 && strcmp(name, "tutorial") != 0) {
        snprintf(why, bytes, "unknown model '%.60s'; known are mlp, mlp:SIZES and tutorial", name);
        return -1;
    }
    return workload_parse(name, workload, why, bytes);
}

int train_model_want(const char *name, struct dataset_want *want, char *why, size_t bytes)
{
    struct workload workload;

    *want = (struct dataset_want){.features = 0};
    if (is_free(name))
        return 0;
    if (parse(name, &workload, why, bytes))
        return -1;
    want->features = workload.size[0];
    want->classes = (int)workload.size[workload.n_sizes - 1];
    return 0;
}

int train_model_make(const char *name, const struct dataset *data, struct train_model *model,
                     char *why, size_t bytes)
{
    char whole[96];

    snprintf(whole, sizeof whole, "%s", name);
    if (is_free(name))
        snprintf(whole, sizeof whole, "mlp:%zu,%d,%d", data->features, HIDDEN, data->classes);
    *model = (struct train_model){.ndim = 1, .exact = true, .positions = 1};
    if (parse(whole, &model->workload, why, bytes))
        return -1;
    snprintf(model->name, sizeof model->name, "%s", model->workload.name);
    model->dim[0] = model->workload.size[0];
    model->classes = (int)model->workload.size[model->workload.n_sizes - 1];
    return 0;
}

int train_model_open(const struct train_model *model, struct dp_group *group,
                     struct dp_module **module, struct dp_error *err)
{
    return workload_open(&model->workload, group, module, err);
}

/* What the numbers of a parameter are drawn from: +-bound, or all of them are fixed. */
struct start {
    double bound, fixed;
};

/* A bias starts as PyTorch's does, within the bound of the weight before it in the list; so does
 * what else has one dimension, but not norms: their weight is 1 and their bias 0. */
static struct start start_of(const struct dp_param *param, struct start before)
{
    const bool weight = strncmp(param->name, "weight", 6) == 0;
    size_t inputs = 1;

    for (int d = 1; d < param->value.ndim; d++)
        inputs *= param->value.dim[d];
    if (param->value.ndim >= 2)
        return (struct start){1 / sqrt((double)(inputs > 0 ? inputs : 1)), 0};
    return weight ? (struct start){0, 1} : (struct start){before.bound, 0};
}

int train_model_init(struct dp_module *module, uint64_t seed, struct dp_error *err)
{
    struct start start = {0, 0};
    const int n = dp_module_params(module, NULL, 0);
    struct dp_param **list = calloc((size_t)n + 1, sizeof(struct dp_param *));
    int rc = 0;

    if (list == NULL)
        return dp_fail(err, DP_ENOMEM, "no memory for a list of %d parameters", n);
    dp_module_params(module, list, n);
    for (int p = 0; p < n && rc == 0; p++) {
        struct stream stream = stream_open(seed, STREAM_OF_WEIGHTS, (uint64_t)p);
        const size_t count = dp_tensor_count(&list[p]->value);

        if (list[p]->buffer || list[p]->value.dtype != DP_F32)
            continue;
        float *value = malloc((count + 1) * sizeof *value);

        start = start_of(list[p], start);
        for (size_t i = 0; value != NULL && i < count; i++)
            value[i] = (float)(start.fixed + start.bound * (2 * stream_uniform(&stream) - 1));
        rc = value != NULL ? dp_tensor_write(&list[p]->value, value, err)
                           : dp_fail(err, DP_ENOMEM, "no memory for %zu numbers", count);
        free(value);
    }
    free(list);
    return rc;
}
