/* train_model.c: models of `lockstep train` by name.
 *
 * "mlp" alone takes its widths from the data, with one hidden layer between them; "mlp:SIZES" is
 * that workload; all others are rows of a table. */
#include "train.h"

#include <string.h>

enum { HIDDEN = 128 };

static int open_tutorial(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_linear(group, 5, 2, true, module, err);
}

/* A model more is a row more. */
static const struct train_model named[] = {
    {.name = "tutorial",
     .ndim = 1,
     .dim = {5},
     .classes = 2,
     .exact = true,
     .positions = 1,
     .open = open_tutorial},
};

enum { NAMED = sizeof named / sizeof named[0] };

static bool is_free(const char *name)
{
    return strcmp(name, "mlp") == 0;
}

static void complain(const char *name, char *why, size_t bytes)
{
    size_t used =
        (size_t)snprintf(why, bytes, "unknown model '%.60s'; known are mlp, mlp:SIZES", name);

    for (int i = 0; i < NAMED && used < bytes; i++)
        used += (size_t)snprintf(why + used, bytes - used, ", %s", named[i].name);
}

static int parse(const char *name, struct train_model *model, char *why, size_t bytes)
{
    struct workload *workload = &model->workload;

    *model = (struct train_model){.ndim = 1, .exact = true, .positions = 1};
    if (strncmp(name, "mlp:", 4) == 0) {
        if (workload_parse(name, workload, why, bytes))
            return -1;
        snprintf(model->name, sizeof model->name, "%s", workload->name);
        model->dim[0] = workload->size[0];
        model->classes = (int)workload->size[workload->n_sizes - 1];
        return 0;
    }
    for (int i = 0; i < NAMED; i++) {
        if (strcmp(named[i].name, name) == 0) {
            *model = named[i];
            return 0;
        }
    }
    complain(name, why, bytes);
    return -1;
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
    return model->open != NULL ? model->open(group, module, err)
                               : workload_open(&model->workload, group, module, err);
}
