/* train/side.c: one model on one list of devices: a step of training, a test, its parameters.
 *
 * All memory is allocated when it is opened; steps allocate nothing. */
#include "train/train.h"

#include <stdlib.h>
#include <string.h>

#include "dp_mpi.h"
#include "files/files.h"
#include "files/weights.h"

static int keep_model(void *user, struct dp_group *group, struct dp_module *model,
                      struct dp_module **module, struct dp_error *err)
{
    (void)user, (void)group, (void)err;
    *module = dp_module_retain(model);
    return 0;
}

/* Opens the part of the model that a user would wrap in its wrapper; ranks have the whole model.
 * The wrapper around it gives it PyTorch's names, and runs the tests. */
static int open_modules(struct train_side *side, struct dp_error *err)
{
    const struct train_side_config *config = &side->config;
    const struct dp_parallel_config all = {0};
    const int devices = dp_group_size(side->group), world = dp_group_world(side->group);
    const struct cell_config cell = {.workload = config->model->workload,
                                     .rows = config->batch,
                                     .n_devices = devices,
                                     .mode = config->ddp   ? CELL_DDP
                                             : devices > 0 ? CELL_DP
                                                           : CELL_PLAIN};
    /* The mean over a batch is the sum of the means over its parts, divided by their number. */
    const struct update update = train_update_begin(&config->update);
    const struct session_use use = {.update = &update,
                                    .around = config->tamper ? config->tamper : keep_model,
                                    .loss = DP_LOSS_XENT,
                                    .factor = 1 / (float)config->update.parts,
                                    .inside = true,
                                    .frozen = true,
                                    .lent = true};
    struct session *s = side->session = calloc(1, sizeof *s);
    int status;

    side->reports = calloc((size_t)world + 1, sizeof *side->reports);
    if (!s || !side->reports)
        return dp_fail(err, DP_ENOMEM, "no memory for the losses of %d ranks", world);
    status = session_open(s, side->group, &cell, &use, err);
    s->workload = &config->model->workload; /* it outlives the cell */
    session_set_traced(s, false);
    if (status)
        return status;
    if (config->ddp)
        return dp_parallel(s->probed, &all, &side->top, err);
    side->top = dp_module_retain(s->top);
    return 0;
}

int train_side_open(struct train_side *side, struct dp_group *group,
                    const struct train_side_config *config, struct dp_error *err)
{
    const struct train_model *model = config->model;
    const struct workload_row row = workload_row(&model->workload, WORKLOAD_INPUT);
    const size_t batch = config->batch, classes = (size_t)model->classes;
    int status;

    *side = (struct train_side){.config = *config, .group = group};
    side->slot = dp_group_size(group) > 0 ? dp_group_slot(group, 0) : dp_group_host(group);
    if ((status = open_modules(side, err)) ||
        (status = weights_list_open(side->top, &model->workload, &side->list, err)))
        return status;
    side->param = side->list.param;
    side->n_params = side->list.n;
    for (int p = 0; p < side->n_params; ++p)
        if (side->param[p]->value.dtype == DP_F32)
            side->n_values += dp_tensor_count(&side->param[p]->value);
    side->value = calloc(side->n_values + 1, sizeof *side->value);
    if (!side->value)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu numbers", side->n_values);
    /* Ranks also get their rows from the first device; row numbers of a table are where the table
     * is. */
    side->width = model->width;
    side->labels = model->text ? side->width : 1;
    side->n_logits = model->text ? 0 : batch * classes;
    if ((status =
             dp_tensor_alloc(model->table > 0 ? dp_group_host(group) : side->slot, row.dtype,
                             1 + row.ndim, (size_t[]){batch, side->width}, &side->input, err)) ||
        (status = dp_tensor_alloc(side->slot, DP_I32, model->text ? 2 : 1,
                                  (size_t[]){batch, side->width}, &side->target, err)))
        return status;
    side->feature = malloc(batch * side->width * sizeof *side->feature);
    side->number = malloc(batch * side->width * sizeof *side->number);
    side->label = malloc(batch * side->labels * sizeof *side->label);
    if (!model->text)
        side->logits = malloc(side->n_logits * sizeof *side->logits);
    return side->feature && side->number && side->label && (side->logits || model->text)
               ? 0
               : dp_fail(err, DP_ENOMEM, "no memory for batches of %zu rows", batch);
}

void train_side_close(struct train_side *side)
{
    if (side->session)
        session_close(side->session);
    free(side->session);
    dp_tensor_free(&side->input);
    dp_tensor_free(&side->target);
    dp_module_close(side->top);
    weights_list_close(&side->list);
    free(side->reports);
    free(side->value);
    free(side->logits);
    free(side->feature);
    free(side->number);
    free(side->label);
    *side = (struct train_side){.group = NULL};
}

/* Writes a batch to where the model takes it; in has its rows and targets. */
static int put_batch(struct train_side *side, const struct loader_batch *batch,
                     struct dp_tensor in[2], struct dp_error *err)
{
    const void *from = batch->feature;
    int status;

    if ((status = dp_tensor_rows(&side->input, 0, batch->rows, &in[0], err)) ||
        (status = dp_tensor_rows(&side->target, 0, batch->rows, &in[1], err)))
        return status;
    for (size_t i = 0; in[0].dtype != DP_F32 && i < dp_tensor_count(&in[0]); ++i)
        side->number[i] = (int32_t)batch->feature[i];
    if (in[0].dtype != DP_F32)
        from = side->number;
    status = dp_tensor_write(&in[0], from, err);
    return status ? status : dp_tensor_write(&in[1], batch->label, err);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Runs forward, loss and backward on these rows, whose gradients are added; *loss is the mean over
 * all ranks of the world. The digest of the rows that the devices had grows. */
static int run_pass(struct train_side *side, const struct dp_tensor in[2], float *loss,
                    struct dp_error *err)
{
    struct session *s = side->session;
    const int world = s->ddp ? dp_group_world(side->group) : 1;
    const struct loader_batch back = {
        .rows = in[0].dim[0], .feature = side->feature, .label = side->label};
    const bool numbers = in[0].dtype != DP_F32;
    void *const to = numbers ? (void *)side->number : side->feature;
    struct train_report here[DP_MAX_SLOTS] = {{0}};
    double sum = 0;
    int status;

    dp_run_train_mode(s->run, true);
    dp_run_grad_mode(s->run, true);
    if ((status = session_lend(s, in, err)) || (status = s->kind->step(s, 0, err)))
        return status;
    /* The rows that a step has read are still there. */
    if ((status = dp_tensor_read(to, &in[0], err)) ||
        (status = dp_tensor_read(side->label, &in[1], err)))
        return status;
    for (size_t i = 0; numbers && i < dp_tensor_count(&in[0]); ++i)
        side->feature[i] = (float)side->number[i];
    here[0].arrived = train_rows_digest(&back, side->width, side->labels);
    for (int r = 0; r < s->n_ranks; ++r) {
        if ((status = dp_tensor_read(loss, &s->out[r * DP_MAX_IO], err)))
            return status;
        here[r].loss = (double)*loss;
    }
    if (side->config.mpi)
        status = dp_mpi_exchange(side->config.mpi, here, (size_t)s->n_ranks * sizeof *here,
                                 side->reports, err);
    else
        memcpy(side->reports, here, (size_t)s->n_ranks * sizeof *here);
    /* The losses are added in the order of ranks, whichever process these are in. */
    for (int r = 0; status == 0 && r < world; ++r) {
        sum += side->reports[r].loss;
        side->arrived += side->reports[r].arrived;
    }
    *loss = (float)(sum / world);
    return status;
}

/* Copies rows r, r + W, r + 2 W, ... of from, for the local ranks r, one after the other; W is the
 * world size, and a row has bytes bytes. Returns how many were copied. [DDP-28] */
static size_t deal_rows(const struct train_side *side, size_t rows, size_t bytes, const void *from,
                        void *to)
{
    const struct session *s = side->session;
    const size_t world = s->ddp ? (size_t)dp_group_world(side->group) : 1;
    const size_t first = s->ddp ? (size_t)dp_group_first(side->group) : 0;
    char *next = to;
    size_t dealt = 0;

    for (size_t r = first; r < first + (size_t)s->n_ranks; ++r)
        for (size_t i = r; i < rows; i += world, ++dealt) {
            memcpy(next, (const char *)from + i * bytes, bytes);
            next += bytes;
        }
    return dealt;
}

int train_side_step(struct train_side *side, const struct loader_batch *batch, float *loss,
                    struct dp_error *err)
{
    const size_t parts = side->config.update.parts, rows = batch->rows / parts;
    struct session *s = side->session;
    int status = 0;

    session_clear(s);
    *loss = 0;
    side->arrived = 0;
    for (size_t p = 0; p < parts && status == 0; ++p) {
        struct loader_batch dealt = {.feature = side->feature, .label = side->label};
        struct dp_tensor in[2];
        float of_part = 0;

        dealt.rows = deal_rows(side, rows, side->width * sizeof *side->feature,
                               batch->feature + p * rows * side->width, side->feature);
        deal_rows(side, rows, side->labels * sizeof *side->label,
                  batch->label + p * rows * side->labels, side->label);
        if (s->ddp)
            dp_ddp_no_sync(s->ddp, p + 1 < parts);
        status = put_batch(side, &dealt, in, err);
        if (status == 0)
            status = run_pass(side, in, &of_part, err);
        *loss += of_part;
    }
    if (status)
        return status;
    if (side->config.update.cosine)
        update_set_rate(&s->update, train_update_rate(&side->config.update, side->step++));
    return update_step(&s->update, s->ddp, err);
}

/* ---- a test ---------------------------------------------------------------------------------- */

static int test_batch(struct train_side *side, const struct loader_batch *batch,
                      struct train_test *test, struct dp_error *err)
{
    struct session *s = side->session;
    struct dp_tensor in[2], terms[2], out[DP_MAX_IO], loss[DP_MAX_IO];
    float mean = 0;
    int n = 0, status;

    dp_run_reset(s->run);
    if ((status = put_batch(side, batch, in, err)) ||
        (status = dp_forward(side->top, s->run, in, 1, out, &n, err)))
        return status;
    if (n != 1 || (side->logits && (out[0].ndim != 2 || dp_tensor_count(&out[0]) > side->n_logits)))
        return dp_fail(err, DP_ESHAPE, "the model gave %d outputs, not one of [rows, classes]", n);
    terms[0] = out[0];
    terms[1] = in[1];
    if ((status = dp_forward(s->loss_module, s->run, terms, 2, loss, &n, err)) ||
        (status = side->logits ? dp_tensor_read(side->logits, &out[0], err) : 0) ||
        (status = dp_tensor_read(&mean, &loss[0], err)))
        return status;
    /* The class must have the largest number; of several that are equal the first counts, as in
     * argmax. */
    for (size_t i = 0; side->logits && i < batch->rows; ++i) {
        const size_t classes = out[0].dim[1], wanted = (size_t)batch->label[i];
        const float *logits = side->logits + i * classes;
        bool right = wanted < classes;

        for (size_t c = 0; right && c < classes; ++c)
            right = c < wanted ? logits[wanted] > logits[c] : logits[wanted] >= logits[c];
        test->right += right;
    }
    test->rows += batch->rows;
    test->loss += (double)mean * (double)side->config.update.parts * (double)batch->rows;
    return 0;
}

int train_side_test(struct train_side *side, struct loader *loader, struct train_test *test,
                    struct dp_error *err)
{
    struct loader_batch batch;
    int status = 0;

    *test = (struct train_test){.stopped = stop_requested()};
    dp_run_train_mode(side->session->run, false);
    dp_run_grad_mode(side->session->run, false);
    loader_start(loader, 0);
    for (loader_next(loader, &batch); batch.rows > 0 && status == 0 && !test->stopped;
         loader_next(loader, &batch)) {
        status = test_batch(side, &batch, test, err);
        test->stopped = stop_requested();
    }
    test->loss /= (double)test->rows;
    return status;
}

/* ---- parameters ------------------------------------------------------------------------------ */

int train_side_spread(struct train_side *side, struct dp_error *err)
{
    const struct session *s = side->session;
    struct dp_ddp_param from, to;
    int status;

    for (int p = 0; p < side->n_params; ++p)
        for (int r = 1; r < s->n_ranks; ++r)
            if ((status = dp_ddp_param(s->ddp, 0, p, &from, err)) ||
                (status = dp_ddp_param(s->ddp, r, p, &to, err)) ||
                (status = dp_tensor_copy(&to.value, &from.value, err)))
                return status;
    return 0;
}

int train_side_agree(struct train_side *side, struct dp_error *err)
{
    return side->session->ddp ? dp_ddp_compare(side->session->ddp, err) : 0;
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
