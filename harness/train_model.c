/* train_model.c: models of `lockstep train`: the workloads of the sweep.
 *
 * "mlp" alone takes its widths from the data, with one hidden layer between them. */
#include "train.h"

#include <string.h>

enum { HIDDEN = 128 };

/* The workloads that are exact on whole numbers (see train_exact.c), and in how many places of a
 * row a weight of theirs is used at most. The others have functions that round. */
static const struct {
    const char *begin; /* of the name */
    size_t positions;
} exact[] = {{"tutorial", 1}, {"mlp:", 1}, {"blocks", 1}, {"cnn", 64}};

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
    if (strcmp(workload->name, "mixed") == 0) {
        snprintf(why, bytes, "mixed takes numbers of rows in a table, not features");
        return -1;
    }
    snprintf(model->name, sizeof model->name, "%s", workload->name);
    model->dim[0] = workload->size[0];
    model->classes = (int)workload->size[workload->n_sizes - 1];
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        if (strncmp(model->name, exact[i].begin, strlen(exact[i].begin)) == 0) {
            model->exact = true;
            model->positions = exact[i].positions;
        }
    }
    return 0;
}

size_t train_model_width(const struct train_model *model)
{
    size_t width = 1;

    for (int d = 0; d < model->ndim; d++)
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
