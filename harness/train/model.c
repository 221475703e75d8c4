/* train/model.c: models of `lockstep train`: the workloads of the sweep.
 *
 * "mlp" alone takes its widths from the data, with one hidden layer between them. */
#include "train/train.h"

#include <string.h>

enum { HIDDEN = 128 };

/* What a workload's name does not say. positions: in how many places of a row a weight is used at
 * most, of those that are exact on whole numbers (see train/exact.c); 0: they have functions that
 * round. lr: found on the digits, see results/training.md. */
static const struct {
    const char *begin; /* of the name */
    size_t positions;
    double lr;
} facts[] = {
    {"tutorial", 1, 0.1}, {"mlp:", 1, 0.1}, {"blocks", 1, 0.1}, {"mixed", 1, 0.1},
    {"cnn", 64, 0.1},     {"rnn", 0, 0.02}, {"lstm", 0, 0.2},   {"capsnet", 0, 0.2},
};

static bool is_free(const char *name)
{
    return strcmp(name, "mlp") == 0;
}

static int parse(const char *name, struct train_model *model, char *why, size_t bytes)
{
    struct workload *workload = &model->workload;

    *model = (struct train_model){.ndim = 1};
    if (workload_parse(name, workload, why, bytes))
        return -1;
    snprintf(model->name, sizeof model->name, "%s", workload->name);
    model->dim[0] = workload->size[0];
    model->classes = (int)workload->size[workload->n_sizes - 1];
    model->table = workload->kind == WORKLOAD_MIXED ? WORKLOAD_TABLE : 0;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; ++i) {
        if (strncmp(model->name, facts[i].begin, strlen(facts[i].begin)) == 0) {
            model->exact = facts[i].positions > 0;
            model->positions = facts[i].positions;
            model->lr = facts[i].lr;
        }
    }
    return 0;
}

size_t train_model_width(const struct train_model *model)
{
    size_t width = 1;

    for (int d = 0; d < model->ndim; ++d)
        width *= model->dim[d];
    return width;
}

int train_model_want(const char *name, struct dataset_want *want, char *why, size_t bytes)
{
    struct train_model model;

    *want = (struct dataset_want){.features = 0};
    if (is_free(name))
        return 0;
    if (parse(name, &model, why, bytes))
        return -1;
    want->features = train_model_width(&model);
    want->classes = model.classes;
    want->table = model.table;
    return 0;
}

int train_model_make(const char *name, const struct dataset *data, struct train_model *model,
                     char *why, size_t bytes)
{
    char whole[96];

    snprintf(whole, sizeof whole, "%s", name);
    if (is_free(name))
        snprintf(whole, sizeof whole, "mlp:%zu,%d,%d", data->features, HIDDEN, data->classes);
    return parse(whole, model, why, bytes);
}

int train_model_open(const struct train_model *model, struct dp_group *group,
                     struct dp_module **module, struct dp_error *err)
{
    return workload_open(&model->workload, group, module, err);
}

/* Of weights, gradients, what SGD keeps with a momentum, and the replicas' weights: less than what
 * a training takes, so what does not fit is refused, and not all of what is not refused fits. */
int train_model_fits(const struct train_model *model, struct dp_group *group, double momentum,
                     struct dp_error *err)
{
    const size_t devices = (size_t)dp_group_size(group);
    const size_t copies = (momentum > 0 ? 3 : 2) + (devices > 1 ? devices - 1 : 0);
    const double weights = (double)workload_params(&model->workload) * sizeof(float);
    const double need = weights * (double)copies, gibi = 1 << 30;
    struct dp_slot_info slot = {.kind = ""};
    struct dp_machine machine;
    int status;

    if (devices > 0)
        dp_slot_describe(dp_group_slot(group, 0), &slot);
    if (strcmp(slot.kind, "cuda") == 0)
        return 0;
    if ((status = dp_machine_read(&machine, err)) || machine.memory_bytes == 0 ||
        need <= (double)machine.memory_bytes)
        return status;
    return dp_fail(
        err, DP_EINVAL,
        "--model: %s: %.4g GiB of weights, %zu times with gradients and replicas, do not "
        "fit in this machine's %.4g GiB of memory",
        model->name, weights / gibi, copies, (double)machine.memory_bytes / gibi);
}
