/* train/run.c: runs a training: split, epochs, tests. */

#include "files/files.h"
#include "train/train.h"

#include <math.h>
#include <stdlib.h>

/* The state of a training. */
struct work {
    const struct train_run *run;
    struct loader *train, *test;
    struct dp_error *err;
};

/* The rows of a batch. A test has no more than a part of a step, so that it needs no more
 * memory. */
static size_t batch_of(const struct train_options *options, bool test)
{
    return test ? options->batch / options->update.parts : options->batch;
}

/* For a text, an epoch has as many whole batches as cover the number of bytes of its first part. */
int train_epoch_steps(const struct train_options *options, const struct dataset *data,
                      size_t shares, size_t *steps, struct dp_error *err)
{
    size_t rows = 0;
    const int status = dataset_part(data, &rows, err);

    if (data->text)
        rows = (dataset_text_part(data) + data->features - 1) / data->features;
    rows = (rows + shares - 1) / shares * shares;
    *steps = (rows + options->batch - 1) / options->batch;
    return status;
}

/* Opens the loader of a text. Windows for training are drawn; those of the test follow each other,
 * so that every byte is predicted once. */
static int open_text(const struct train_options *options, const struct dataset *data, uint64_t seed,
                     bool test, struct loader **loader, struct dp_error *err)
{
    const size_t part = dataset_text_part(data), context = data->features;
    const size_t windows = (data->rows + context - part - 1) / context;
    struct loader_config config = {.data = data,
                                   .batch = batch_of(options, test),
                                   .seed = seed,
                                   .prefetch = !options->no_prefetch};
    size_t *index = NULL, steps = 0;
    int status = train_epoch_steps(options, data, 1, &steps, err);

    if (test) {
        index = malloc((windows + 1) * sizeof *index);
        if (!index)
            return dp_fail(err, DP_ENOMEM, "no memory for %zu windows", windows);
        for (size_t w = 0; w < windows; ++w)
            index[w] = part + w * context;
        config.index = index;
        config.n = windows;
    } else {
        config.n = part - context;
        config.draws = steps * options->batch;
    }
    if (status == 0)
        status = loader_open(&config, loader, err);
    free(index);
    return status;
}

int train_loader_open(const struct train_options *options, const struct dataset *data,
                      uint64_t seed, size_t shares, bool test, struct loader **loader,
                      struct dp_error *err)
{
    if (data->text)
        return open_text(options, data, seed, test, loader, err);
    size_t *index = malloc((data->rows + 1) * sizeof *index);
    size_t train = 0;
    int status;

    if (!index)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows", data->rows);
    if ((status = dataset_split(data, seed, index, &train, err)) == 0) {
        const struct loader_config config = {.data = data,
                                             .index = test ? index + train : index,
                                             .n = test ? data->rows - train : train,
                                             .batch = batch_of(options, test),
                                             .seed = seed,
                                             .shuffle = !test,
                                             .prefetch = !options->no_prefetch,
                                             .multiple = test ? 1 : shares,
                                             .scale = data->table > 0 ? 1 : 1 / data->unit};

        status = loader_open(&config, loader, err);
    }
    free(index);
    return status;
}

/* Reports a loss that is not finite. If no parameter was updated yet, the learning rate is not the
 * cause. */
static int runs_away(const struct work *work, const char *what, size_t step, size_t epoch)
{
    const struct train_options *o = work->run->options;
    char where[48] = "", advice[160] = "try a smaller --lr";

    if (step > 0)
        snprintf(where, sizeof where, " step %zu of", step);
    if ((epoch == 0 || (epoch == 1 && step == 1)) && work->run->keep)
        snprintf(advice, sizeof advice, "the weights in %.120s give no better", o->load);
    return dp_fail(work->err, DP_EFAULT, "the %s%s epoch %zu is not finite; %s", what, where, epoch,
                   advice);
}

/* Reads the parameters after the steps of the processes to side. */
static int get_parameters(struct work *work)
{
    return work->run->world ? train_world_read(work->run->world, work->run->side, work->err) : 0;
}

static int run_epoch(struct work *work, struct train_epoch *epoch)
{
    const struct train_run *run = work->run;
    double began = watch_now(); /* moved on by the time that comparisons take */
    struct loader_batch batch;
    double sum = 0;
    size_t rows = 0;
    int status = 0;

    loader_start(work->train, epoch->epoch);
    if (run->world)
        train_world_epoch(run->world, epoch->epoch, loader_batches(work->train));
    for (loader_next(work->train, &batch); batch.rows > 0; loader_next(work->train, &batch)) {
        float loss = 0;
        uint64_t arrived = 0;

        status = run->world ? train_world_step(run->world, &loss, &arrived, work->err)
                            : train_side_step(run->side, &batch, &loss, work->err);
        if (status)
            return status;
        arrived = run->world ? arrived : run->side->arrived;
        if (arrived != train_rows_digest(&batch, run->side->width, run->side->labels))
            return dp_fail(work->err, DP_EFAULT,
                           "the devices had other rows than those of the batch");
        sum += (double)loss * (double)batch.rows;
        rows += batch.rows;
        ++epoch->steps;
        if (!isfinite(loss))
            return runs_away(work, "loss of", epoch->steps, epoch->epoch);
        const double done = watch_now();

        epoch->samples_per_s = (double)rows / (done - began);
        if (run->against &&
            ((status = get_parameters(work)) ||
             (status = train_against_step(run->against, run->side, &batch, work->err))))
            return status;
        began += watch_now() - done;
        if (run->stepped)
            run->stepped(run->user, epoch, loader_batches(work->train), sum / (double)rows);
        epoch->stopped = stop_requested() && (!run->world || train_world_settled(run->world));
        if (epoch->stopped)
            return get_parameters(work);
    }
    epoch->train_loss = sum / (double)rows;
    epoch->tokens = epoch->epoch * rows * epoch->context;
    return 0;
}

static double percent(const struct train_test *test)
{
    return 100 * (double)test->right / (double)test->rows;
}

static int test_epoch(struct work *work, struct train_epoch *epoch)
{
    const struct train_run *run = work->run;
    struct train_test test;
    int status = get_parameters(work);

    if (status || (status = train_side_test(run->side, work->test, &test, work->err)) ||
        (status = train_side_agree(run->side, work->err)))
        return status;
    epoch->stopped = epoch->in_test = test.stopped;
    if (epoch->stopped)
        return 0;
    if (!isfinite(test.loss))
        return runs_away(work, "test loss after", 0, epoch->epoch);
    epoch->test_loss = test.loss;
    epoch->accuracy = run->data->text ? NAN : percent(&test);
    if (!run->against)
        return 0;
    status = train_side_test(run->against->side, work->test, &test, work->err);
    epoch->other_loss = test.loss;
    epoch->other_accuracy = run->data->text ? NAN : percent(&test);
    epoch->stopped = epoch->in_test = test.stopped;
    return status;
}

int train_run(const struct train_run *run, struct train_epoch *last, struct dp_error *err)
{
    const int ranks =
        run->world ? train_world_about(run->world)->ranks : run->side->session->n_ranks;
    const size_t shares = (size_t)ranks * run->options->update.parts;
    const size_t epochs = run->options->epochs;
    struct work work = {.run = run, .err = err};
    int status = 0;

    if (!run->keep)
        status = train_model_init(run->model, run->side->top, run->seed, err);
    if (status == 0)
        status = train_side_spread(run->side, err);
    if (status == 0 && run->world)
        status = train_world_start(run->world, run->side, run->seed, err);
    if (status == 0 && run->against)
        status = train_against_start(run->against, run->side, run->seed, err);
    if (status == 0)
        status =
            train_loader_open(run->options, run->data, run->seed, shares, false, &work.train, err);
    if (status == 0)
        status = train_loader_open(run->options, run->data, run->seed, 1, true, &work.test, err);
    /* Epoch 0 is a test only. */
    for (size_t e = epochs > 0 ? 1 : 0; status == 0 && e <= epochs; ++e) {
        *last = (struct train_epoch){.seed = run->seed,
                                     .epoch = e,
                                     .context = run->data->text ? run->data->features : 0,
                                     .train_loss = NAN,
                                     .other_loss = NAN,
                                     .other_accuracy = NAN};
        if (e > 0)
            status = run_epoch(&work, last);
        if (status == 0 && !last->stopped)
            status = test_epoch(&work, last);
        if (status || last->stopped)
            break;
        if (run->finished)
            run->finished(run->user, last);
    }
    loader_close(work.train);
    loader_close(work.test);
    return status;
}
