/* train/model.c: the models of `lockstep train`, which are the workloads of the sweep.
 *
 * "mlp" alone takes its widths from the data, with one hidden layer between them. */
#include "train/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "descriptor.h"
#include "files/weights.h"
#include "plan/plan.h"

enum { HIDDEN = 128 };

static bool is_free(const char *name)
{
    return strcmp(name, "mlp") == 0;
}

int train_model_of(const struct workload *workload, struct train_model *model, char *why,
                   size_t bytes)
{
    const struct workload_descriptor *is = workload->is;

    *model = (struct train_model){.workload = *workload,
                                  .width = workload_row(workload, WORKLOAD_INPUT).width,
                                  .classes = (int)workload->size[workload->n_sizes - 1],
                                  .table = is->table ? WORKLOAD_TABLE : 0,
                                  .text = is->tokens,
                                  .exact = is->positions > 0,
                                  .positions = is->positions,
                                  .lr = is->lr};
    model->optimizer = workload_end(workload)->adamw ? TRAIN_ADAMW : TRAIN_SGD;
    snprintf(model->name, sizeof model->name, "%s", workload->name);
    if (is->lr > 0)
        return 0;
    snprintf(why, bytes, "%s: its descriptor lists no learning rate above 0", workload->name);
    return -1;
}

static int parse(const char *name, struct train_model *model, char *why, size_t bytes)
{
    struct workload workload;

    if (workload_parse(name, &workload, why, bytes))
        return -1;
    return train_model_of(&workload, model, why, bytes);
}

int train_model_want(const char *name, struct dataset_want *want, char *why, size_t bytes)
{
    struct train_model model;

    *want = (struct dataset_want){.features = 0};
    if (is_free(name))
        return 0;
    if (parse(name, &model, why, bytes))
        return -1;
    want->features = model.width;
    want->classes = model.classes;
    want->table = model.table;
    want->text = model.text;
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

int train_model_init(const struct train_model *model, struct dp_module *module, uint64_t seed,
                     struct dp_error *err)
{
    const double deviation = 0.02, layers = (double)model->workload.size[GPT_LAYERS];
    struct weights_list list = {.n = 0};
    int status = 0;

    if (model->text)
        status = weights_list_open(module, &model->workload, &list, err);
    for (int p = 0; p < list.n; ++p) {
        struct dp_param *param = list.param[p];
        /* The projections whose outputs are added to the residual stream begin with smaller
         * values. */
        const double part = strstr(list.name[p], ".c_proj.") ? 1 / sqrt(2 * layers) : 1;

        if (param->init_bound >= 0)
            param->init_bound = param->value.ndim > 1 ? (float)(deviation * part * sqrt(3)) : -1.0F;
    }
    weights_list_close(&list);
    return status ? status : dp_module_init(module, seed, err);
}

/* Compares the available memory with that of weights, gradients, the state of the optimizer and the
 * weights of the replicas, then with that of a batch. This is less than a training takes: a model
 * that does not fit is refused, but one that is not refused may still not fit. */
int train_model_fits(const struct train_model *model, struct dp_group *group, size_t devices,
                     const struct train_options *options, struct dp_error *err)
{
    const struct train_update *update = &options->update;
    const size_t here = (size_t)dp_group_size(group), each = options->processes.per_process;
    const size_t states = update->kind == TRAIN_ADAMW ? 2 : update->momentum > 0 ? 1 : 0;
    const size_t copies = 2 + states + (here > 1 ? here - 1 : 0);
    const double weights = (double)workload_params(&model->workload) * sizeof(float);
    const double need = weights * (double)copies, gibi = 1 << 30;
    struct plan_room room = {.cores = true, .bytes = NAN};
    struct dp_machine machine;
    struct text_error why = {""};
    int status;

    /* The memory that is available; of several GPUs, that of the one with the least. */
    for (size_t i = 0; i < here; ++i) {
        struct dp_slot_info slot;

        dp_slot_describe(dp_group_slot(group, (int)i), &slot);
        room.cores = room.cores && !(slot.flags & DP_KIND_GPU);
        if (slot.flags & DP_KIND_GPU)
            room.bytes = fmin(room.bytes, (double)slot.memory_bytes);
    }
    if (room.cores && (status = dp_machine_read(&machine, err)))
        return status;
    if (room.cores && machine.usable_bytes > 0)
        room.bytes = (double)machine.usable_bytes;
    if (room.cores && need > room.bytes)
        return dp_fail(
            err, DP_EINVAL,
            "--workload: %s: %.4g GiB of weights, %zu times with gradients and replicas, do not "
            "fit in this machine's %.4g GiB of memory",
            model->name, weights / gibi, copies, room.bytes / gibi);

    /* A step must fit, as a sweep plans it; a test takes less memory. */
    const struct cell_config cell = {.workload = model->workload,
                                     .n_devices = devices > 0 ? (int)devices : 1,
                                     .mode = devices == 0   ? CELL_PLAIN
                                             : options->ddp ? CELL_DDP
                                                            : CELL_DP,
                                     .per_process = each,
                                     .rows = options->batch / update->parts};
    const size_t optimizers = options->ddp && room.cores && each == 0 ? devices : 1;

    room.unused = weights * (double)((2 - states) * optimizers);
    if (options->epochs == 0 || plan_check_cell(&cell, &room, &why) == 0)
        return 0;
    return dp_fail(err, DP_EINVAL, "--batch: %s%.200s", update->parts > 1 ? "in each part " : "",
                   why.text);
}
