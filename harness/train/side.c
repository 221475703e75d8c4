/* train/side.c: one model on one list of devices: a step of training, a test, its parameters.
 *
 * All memory is allocated when it is opened; steps allocate nothing. */
#include "train/train.h"

#include <stdlib.h>
#include <string.h>

#include "files/stop.h"
#include "files/weights.h"

/* Wraps the part of the model that a user would wrap; if there are no devices, it is used
 * unwrapped. *inner is inside of the wrapper. */
static int wrap_tampered(const struct train_side_config *config, struct dp_module *part,
                         struct dp_module **inner, struct dp_module **wrapped, struct dp_error *err)
{
    const struct dp_parallel_config all = {0};
    struct dp_group *group = dp_module_group(part);
    int status = 0;

    if (config->tamper)
        status = config->tamper(group, part, inner, err);
    else
        *inner = dp_module_retain(part);
    if (status == 0 && dp_group_size(group) > 0)
        return dp_parallel(*inner, &all, wrapped, err);
    if (status == 0)
        *wrapped = dp_module_retain(*inner);
    return status;
}

static int wrap(void *user, struct dp_module *part, struct dp_module **wrapped,
                struct dp_error *err)
{
    struct dp_module *inner = NULL;
    const int status = wrap_tampered(user, part, &inner, wrapped, err);

    dp_module_close(inner);
    return status;
}

/* Ranks have the whole model. The wrapper gives it PyTorch's names, and runs the tests. */
static int open_modules(struct train_side *side, const struct train_side_config *config,
                        struct dp_error *err)
{
    struct train_side_config copy = *config;
    const struct workload *workload = &config->model->workload;
    /* The mean over a batch is the sum of the means over its parts, divided by their number. */
    const float part = 1 / (float)config->update.parts;
    struct dp_module *model = NULL;
    int status;

    if ((status = dp_loss(side->group, DP_LOSS_XENT, part, true, &side->loss, err)) ||
        (status = dp_run_open(side->group, &side->run, err)))
        return status;
    if (!config->ddp) {
        status =
            workload_open_wrapped(workload, side->group, side->slot, wrap, &copy, &side->top, err);
    } else if ((status = workload_open(workload, side->group, &model, err)) == 0) {
        status = dp_module_to(model, side->slot, err);
        if (status == 0)
            status = wrap_tampered(config, model, &side->inner, &side->top, err);
        dp_module_close(model);
        if (status == 0)
            status = train_ranks_open(&side->ranks, side->group, side->inner, side->loss,
                                      config->mpi, err);
    }
    return status ? status
                  : train_optimizer_open(&side->optimizer, &config->update, side->top,
                                         side->ranks.ddp, err);
}

static int open_params(struct train_side *side, const struct workload *workload,
                       struct dp_error *err)
{
    const int status = weights_list_open(side->top, workload, &side->list, err);

    if (status)
        return status;
    side->param = side->list.param;
    side->n_params = side->list.n;
    for (int p = 0; p < side->n_params; ++p)
        if (side->param[p]->value.dtype == DP_F32)
            side->n_values += dp_tensor_count(&side->param[p]->value);
    side->value = calloc(side->n_values + 1, sizeof *side->value);
    return side->value ? 0 : dp_fail(err, DP_ENOMEM, "no memory for %zu numbers", side->n_values);
}

/* Opens the memory of a batch. Ranks also get their rows from the first device; row numbers of a
 * table are where the table is. */
static int open_batch(struct train_side *side, const struct train_side_config *config,
                      struct dp_error *err)
{
    const struct train_model *model = config->model;
    struct dp_slot *host = dp_group_host(side->group), *slot = side->slot;
    const bool table = model->table > 0, numbers = table || model->text;
    size_t dim[DP_MAX_DIMS] = {config->batch};
    int status;

    for (int d = 0; d < model->ndim; ++d)
        dim[d + 1] = model->dim[d];
    if ((status = dp_tensor_alloc(table ? host : slot, numbers ? DP_I32 : DP_F32,
                                  table ? 1 : model->ndim + 1, dim, &side->input, err)) ||
        (status = dp_tensor_alloc(slot, DP_I32, model->text ? model->ndim + 1 : 1, dim,
                                  &side->target, err)))
        return status;
    side->width = train_model_width(model);
    side->labels = model->text ? side->width : 1;
    side->feature = malloc(config->batch * side->width * sizeof *side->feature);
    side->number = malloc(config->batch * side->width * sizeof *side->number);
    side->label = malloc(config->batch * side->labels * sizeof *side->label);
    if (!model->text) {
        side->n_logits = config->batch * (size_t)model->classes;
        side->logits = malloc(side->n_logits * sizeof *side->logits);
    }
    return side->feature && side->number && side->label && (side->logits || model->text)
               ? 0
               : dp_fail(err, DP_ENOMEM, "no memory for batches of %zu rows", config->batch);
}

int train_side_open(struct train_side *side, struct dp_group *group,
                    const struct train_side_config *config, struct dp_error *err)
{
    int status;

    *side = (struct train_side){.group = group};
    side->slot = dp_group_size(group) > 0 ? dp_group_slot(group, 0) : dp_group_host(group);
    if ((status = open_modules(side, config, err)) ||
        (status = open_params(side, &config->model->workload, err)))
        return status;
    return open_batch(side, config, err);
}

void train_side_close(struct train_side *side)
{
    train_optimizer_close(&side->optimizer);
    train_ranks_close(&side->ranks);
    dp_run_close(side->run);
    dp_tensor_free(&side->input);
    dp_tensor_free(&side->target);
    dp_module_close(side->top);
    dp_module_close(side->inner);
    dp_module_close(side->loss);
    weights_list_close(&side->list);
    free(side->value);
    free(side->logits);
    free(side->feature);
    free(side->number);
    free(side->label);
    *side = (struct train_side){.group = NULL};
}

int train_side_put(struct train_side *side, size_t rows, const float feature[],
                   struct dp_tensor *input, struct dp_error *err)
{
    const int status = dp_tensor_rows(&side->input, 0, rows, input, err);

    if (status || input->dtype == DP_F32)
        return status ? status : dp_tensor_write(input, feature, err);
    for (size_t i = 0; i < dp_tensor_count(input); ++i)
        side->number[i] = (int32_t)feature[i];
    return dp_tensor_write(input, side->number, err);
}

/* Writes a batch to where the model takes it; in has its rows and targets. */
static int put_batch(struct train_side *side, const struct loader_batch *batch,
                     struct dp_tensor in[2], struct dp_error *err)
{
    int status;

    dp_run_reset(side->run);
    if ((status = train_side_put(side, batch->rows, batch->feature, &in[0], err)) ||
        (status = dp_tensor_rows(&side->target, 0, batch->rows, &in[1], err)))
        return status;
    return dp_tensor_write(&in[1], batch->label, err);
}

/* Adds the digest of the rows that the devices had. The rows that a step has read are still
 * there. */
static int take_back(struct train_side *side, const struct dp_tensor in[2], uint64_t *digest,
                     struct dp_error *err)
{
    const struct loader_batch back = {
        .rows = in[0].dim[0], .feature = side->feature, .label = side->label};
    const bool numbers = in[0].dtype != DP_F32;
    int status;

    if ((status = dp_tensor_read(numbers ? (void *)side->number : side->feature, &in[0], err)) ||
        (status = dp_tensor_read(side->label, &in[1], err)))
        return status;
    for (size_t i = 0; numbers && i < dp_tensor_count(&in[0]); ++i)
        side->feature[i] = (float)side->number[i];
    *digest += train_rows_digest(&back, side->width, side->labels);
    return 0;
}

/* Runs the model, then the loss. outputs[0] is that of the model, outputs[1] the loss. */
static int forward(struct train_side *side, const struct loader_batch *batch,
                   struct dp_tensor in[2], struct dp_tensor outputs[2], struct dp_error *err)
{
    struct dp_tensor terms[2], out[DP_MAX_IO], loss[DP_MAX_IO];
    int n = 0, status;

    if ((status = put_batch(side, batch, in, err)) ||
        (status = dp_forward(side->top, side->run, in, 1, out, &n, err)))
        return status;
    if (n != 1 || (side->logits && (out[0].ndim != 2 || dp_tensor_count(&out[0]) > side->n_logits)))
        return dp_fail(err, DP_ESHAPE, "the model gave %d outputs, not one of [rows, classes]", n);
    outputs[0] = out[0];
    terms[0] = out[0];
    terms[0].needs_grad = true;
    terms[1] = in[1];
    if ((status = dp_forward(side->loss, side->run, terms, 2, loss, &n, err)))
        return status;
    outputs[1] = loss[0];
    return 0;
}

/* Runs a pass in which each rank gets its rows of the batch. */
static int pass_ranks(struct train_side *side, const struct loader_batch *batch, float *loss,
                      struct dp_error *err)
{
    struct loader_batch dealt = {.feature = side->feature, .label = side->label};
    struct train_said messages[DP_MAX_SLOTS];
    struct dp_tensor in[2];
    uint64_t arrived = 0;
    int status;

    dealt.rows = train_ranks_deal(&side->ranks, batch->rows, side->width * sizeof *side->feature,
                                  batch->feature, side->feature);
    train_ranks_deal(&side->ranks, batch->rows, side->labels * sizeof *side->label, batch->label,
                     side->label);
    if ((status = put_batch(side, &dealt, in, err)))
        return status;
    if ((status = train_ranks_pass(&side->ranks, &in[0], &in[1], messages, NULL, err)) ||
        (status = take_back(side, in, &messages[0].arrived, err)) ||
        (status = train_ranks_mean(&side->ranks, messages, loss, &arrived, err)))
        return status;
    side->arrived += arrived;
    return 0;
}

static int pass_alone(struct train_side *side, const struct loader_batch *batch, float *loss,
                      struct dp_error *err)
{
    struct dp_tensor in[2], outputs[2], grad[2] = {0};
    int status;

    if ((status = forward(side, batch, in, outputs, err)) ||
        (status = dp_backward(side->loss, side->run, NULL, 0, grad, 2, err)) ||
        (status = dp_backward(side->top, side->run, grad, 1, NULL, 1, err)) ||
        (status = take_back(side, in, &side->arrived, err)))
        return status;
    return dp_tensor_read(loss, &outputs[1], err);
}

int train_side_step(struct train_side *side, const struct loader_batch *batch, float *loss,
                    struct dp_error *err)
{
    const size_t parts = side->optimizer.update.parts, rows = batch->rows / parts;
    int status = 0;

    dp_run_train_mode(side->run, true);
    dp_run_grad_mode(side->run, true);
    if (side->ranks.ddp)
        dp_ddp_zero_grad(side->ranks.ddp);
    else
        dp_zero_grad(side->top);
    *loss = 0;
    side->arrived = 0;
    for (size_t p = 0; p < parts && status == 0; ++p) {
        const struct loader_batch part = {.rows = rows,
                                          .feature = batch->feature + p * rows * side->width,
                                          .label = batch->label + p * rows * side->labels};
        float of_part = 0;

        if (side->ranks.ddp)
            dp_ddp_no_sync(side->ranks.ddp, p + 1 < parts);
        status = side->ranks.ddp ? pass_ranks(side, &part, &of_part, err)
                                 : pass_alone(side, &part, &of_part, err);
        *loss += of_part;
    }
    return status ? status : train_optimizer_step(&side->optimizer, err);
}

/* Whether the class has the largest number; of several that are equal the first counts, as in
 * argmax. */
static bool is_right(const float logits[], size_t classes, int32_t label)
{
    const size_t wanted = (size_t)label;

    for (size_t c = 0; c < classes; ++c)
        if (!(c < wanted ? logits[wanted] > logits[c] : logits[wanted] >= logits[c]))
            return false;
    return wanted < classes;
}

static int test_batch(struct train_side *side, const struct loader_batch *batch,
                      struct train_test *test, struct dp_error *err)
{
    struct dp_tensor in[2], outputs[2];
    float loss = 0;
    int status;

    if ((status = forward(side, batch, in, outputs, err)) ||
        (status = side->logits ? dp_tensor_read(side->logits, &outputs[0], err) : 0) ||
        (status = dp_tensor_read(&loss, &outputs[1], err)))
        return status;
    const size_t classes = outputs[0].dim[1];

    for (size_t i = 0; side->logits && i < batch->rows; ++i)
        test->right += is_right(side->logits + i * classes, classes, batch->label[i]);
    test->rows += batch->rows;
    test->loss += (double)loss * (double)side->optimizer.update.parts * (double)batch->rows;
    return 0;
}

int train_side_test(struct train_side *side, struct loader *loader, struct train_test *test,
                    struct dp_error *err)
{
    struct loader_batch batch;
    int status = 0;

    *test = (struct train_test){.stopped = stop_requested()};
    dp_run_train_mode(side->run, false);
    dp_run_grad_mode(side->run, false);
    loader_start(loader, 0);
    for (loader_next(loader, &batch); batch.rows > 0 && status == 0 && !test->stopped;
         loader_next(loader, &batch)) {
        status = test_batch(side, &batch, test, err);
        test->stopped = stop_requested();
    }
    test->loss /= (double)test->rows;
    return status;
}

int train_side_spread(struct train_side *side, struct dp_error *err)
{
    return side->ranks.ddp ? train_ranks_spread(&side->ranks, err) : 0;
}

int train_side_agree(struct train_side *side, struct dp_error *err)
{
    return side->ranks.ddp ? dp_ddp_compare(side->ranks.ddp, err) : 0;
}

int train_side_read(struct train_side *side, struct dp_error *err)
{
    float *to = side->value;
    int status;

    for (int p = 0; p < side->n_params; ++p) {
        const struct dp_tensor *value = &side->param[p]->value;

        if (value->dtype != DP_F32)
            continue;
        if ((status = dp_tensor_read(to, value, err)))
            return status;
        to += dp_tensor_count(value);
    }
    return 0;
}

int train_side_write(struct train_side *side, const float value[], struct dp_error *err)
{
    int status = 0;

    for (int p = 0; p < side->n_params && status == 0; ++p)
        if (side->param[p]->value.dtype == DP_F32) {
            status = dp_tensor_write(&side->param[p]->value, value, err);
            value += dp_tensor_count(&side->param[p]->value);
        }
    return status;
}

void train_side_where(const struct train_side *side, size_t i, char *name, size_t bytes,
                      size_t *element)
{
    snprintf(name, bytes, "?");
    *element = i;
    for (int p = 0; p < side->n_params; ++p) {
        const struct dp_tensor *value = &side->param[p]->value;
        const size_t count = value->dtype == DP_F32 ? dp_tensor_count(value) : 0;

        if (*element < count) {
            snprintf(name, bytes, "%s", side->list.name[p]);
            return;
        }
        *element -= count;
    }
}
