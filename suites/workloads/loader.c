/* loader.c: see loader.h. Two buffers: one is used while the thread fills the other.
 *
 * The thread and its caller share made, used and ending, under the lock. Batch b is in buffer b %
 * 2; the thread may fill it when b < used + 2, where used counts the batches given back. Order is
 * written only while the thread has nothing to do. */
#include "loader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

enum { BUFFERS = 2 };

struct loader {
    struct loader_config config;
    size_t *index; /* config.n rows; NULL: they are drawn */
    size_t *order; /* rows of an epoch */
    size_t rows;
    float *feature[BUFFERS];
    int32_t *label[BUFFERS];
    size_t next; /* the batch that loader_next gives */
    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    size_t made, used; /* batches of this epoch */
    bool idle;         /* the thread waits */
    bool ending;
};

size_t loader_batches(const struct loader *loader)
{
    return (loader->rows + loader->config.batch - 1) / loader->config.batch;
}

size_t loader_rows(const struct loader *loader)
{
    return loader->rows;
}

static size_t batch_rows(const struct loader *loader, size_t b)
{
    const size_t left = loader->rows - b * loader->config.batch;

    return left < loader->config.batch ? left : loader->config.batch;
}

static void loader_fill(struct loader *loader, size_t b)
{
    const struct dataset *data = loader->config.data;
    const size_t rows = batch_rows(loader, b), width = data->features;
    const size_t *order = loader->order + b * loader->config.batch;
    float *feature = loader->feature[b % BUFFERS];

    for (size_t i = 0; data->text && i < rows; ++i) {
        /* A window of a text, and for each of its bytes the next one. */
        const unsigned char *text = data->text + order[i];

        for (size_t t = 0; t < data->features; ++t) {
            feature[i * width + t] = text[t];
            loader->label[b % BUFFERS][i * width + t] = text[t + 1];
        }
    }
    for (size_t i = 0; !data->text && i < rows; ++i) {
        const float *from = data->feature + order[i] * width;

        for (size_t j = 0; j < width; ++j)
            feature[i * width + j] = from[j] * loader->config.scale;
        loader->label[b % BUFFERS][i] = data->label[order[i]];
    }
}

static void *run_thread(void *argument)
{
    struct loader *loader = argument;

    pthread_mutex_lock(&loader->lock);
    while (!loader->ending) {
        const size_t b = loader->made;

        if (b >= loader_batches(loader) || b >= loader->used + BUFFERS) {
            loader->idle = true;
            pthread_cond_broadcast(&loader->change);
            pthread_cond_wait(&loader->change, &loader->lock);
            continue;
        }
        loader->idle = false;
        pthread_mutex_unlock(&loader->lock);
        loader_fill(loader, b);
        pthread_mutex_lock(&loader->lock);
        ++loader->made;
        pthread_cond_broadcast(&loader->change);
    }
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}

static int start_thread(struct loader *loader, struct dp_error *err)
{
    /* No epoch yet: all batches count as made. */
    loader->made = loader->used = loader_batches(loader);
    if (pthread_mutex_init(&loader->lock, NULL) != 0)
        return dp_fail(err, DP_ENOMEM, "no lock for the loader");
    if (pthread_cond_init(&loader->change, NULL) != 0) {
        pthread_mutex_destroy(&loader->lock);
        return dp_fail(err, DP_ENOMEM, "no condition for the loader");
    }
    if (pthread_create(&loader->thread, NULL, run_thread, loader) != 0) {
        pthread_cond_destroy(&loader->change);
        pthread_mutex_destroy(&loader->lock);
        return dp_fail(err, DP_ENOMEM, "no thread for the loader");
    }
    loader->threaded = true;
    return 0;
}

static int loader_check(const struct loader_config *config, struct dp_error *err)
{
    if (config->n == 0 || config->batch == 0)
        return dp_fail(err, DP_EINVAL, "a loader of %zu rows in batches of %zu", config->n,
                       config->batch);
    if (config->draws > 0 && (config->n > config->data->rows || config->index))
        return dp_fail(err, DP_EINVAL, "%s %zu rows to draw from, of a data set of %zu",
                       config->index ? "a list of" : "the first", config->n, config->data->rows);
    for (size_t i = 0; config->index && i < config->n; ++i)
        if (config->index[i] >= config->data->rows)
            return dp_fail(err, DP_EINVAL, "row %zu of a data set of %zu", config->index[i],
                           config->data->rows);
    return 0;
}

static int alloc(struct loader *loader, struct dp_error *err)
{
    struct loader_config *config = &loader->config;
    const size_t rows = config->batch < loader->rows ? config->batch : loader->rows;
    bool missing = false;

    for (int b = 0; b < BUFFERS; ++b) {
        loader->feature[b] = malloc(rows * config->data->features * sizeof *loader->feature[b]);
        loader->label[b] = malloc(rows * dataset_labels(config->data) * sizeof *loader->label[b]);
        missing = missing || !loader->feature[b] || !loader->label[b];
    }
    loader->order = malloc(loader->rows * sizeof *loader->order);
    if (config->draws == 0)
        loader->index = malloc(config->n * sizeof *loader->index);
    if (missing || !loader->order || (config->draws == 0 && !loader->index))
        return dp_fail(err, DP_ENOMEM, "no memory for batches of %zu rows", rows);
    for (size_t i = 0; loader->index && i < config->n; ++i)
        loader->index[i] = config->index ? config->index[i] : i;
    config->index = loader->index;
    return 0;
}

int loader_open(const struct loader_config *config, struct loader **loader, struct dp_error *err)
{
    struct loader *made = calloc(1, sizeof *made);
    int status;

    if (!made)
        return dp_fail(err, DP_ENOMEM, "no memory for a loader");
    made->config = *config;
    if (!config->index && config->draws == 0)
        made->config.n = config->data->rows;
    if (made->config.scale == 0)
        made->config.scale = 1;
    if (made->config.multiple == 0)
        made->config.multiple = 1;
    made->rows = config->draws > 0 ? config->draws : made->config.n;
    made->rows =
        (made->rows + made->config.multiple - 1) / made->config.multiple * made->config.multiple;
    if ((status = loader_check(&made->config, err)) || (status = alloc(made, err)) ||
        (config->prefetch && (status = start_thread(made, err)))) {
        loader_close(made);
        return status;
    }
    made->next = loader_batches(made);
    *loader = made;
    return 0;
}

void loader_close(struct loader *loader)
{
    if (!loader)
        return;
    if (loader->threaded) {
        pthread_mutex_lock(&loader->lock);
        loader->ending = true;
        pthread_cond_broadcast(&loader->change);
        pthread_mutex_unlock(&loader->lock);
        pthread_join(loader->thread, NULL);
        pthread_cond_destroy(&loader->change);
        pthread_mutex_destroy(&loader->lock);
    }
    for (int b = 0; b < BUFFERS; ++b) {
        free(loader->feature[b]);
        free(loader->label[b]);
    }
    free(loader->index);
    free(loader->order);
    free(loader);
}

static void set_order(struct loader *loader, uint64_t epoch)
{
    struct stream stream = stream_open(loader->config.seed, STREAM_OF_ORDER, epoch);
    const size_t draws = loader->config.draws, rows = draws > 0 ? draws : loader->config.n;

    for (size_t i = 0; i < draws; ++i)
        loader->order[i] = stream_below(&stream, loader->config.n);
    if (draws == 0)
        memcpy(loader->order, loader->index, rows * sizeof *loader->order);
    if (draws == 0 && loader->config.shuffle)
        stream_shuffle(&stream, loader->order, rows);
    for (size_t i = rows; i < loader->rows; ++i)
        loader->order[i] = loader->order[i - rows];
}

void loader_start(struct loader *loader, uint64_t epoch)
{
    loader->next = 0;
    if (!loader->threaded) {
        set_order(loader, epoch);
        return;
    }
    pthread_mutex_lock(&loader->lock);
    /* The rest of an epoch that is given up is not made. */
    loader->made = loader->used = loader_batches(loader);
    while (!loader->idle)
        pthread_cond_wait(&loader->change, &loader->lock);
    set_order(loader, epoch);
    loader->made = loader->used = 0;
    loader->idle = false;
    pthread_cond_broadcast(&loader->change);
    pthread_mutex_unlock(&loader->lock);
}

void loader_next(struct loader *loader, struct loader_batch *batch)
{
    const size_t b = loader->next;

    *batch = (struct loader_batch){.rows = 0};
    if (b >= loader_batches(loader))
        return;
    if (loader->threaded) {
        /* Gives back the batches before b, and waits until b is there. */
        pthread_mutex_lock(&loader->lock);
        loader->used = b;
        pthread_cond_broadcast(&loader->change);
        while (loader->made <= b)
            pthread_cond_wait(&loader->change, &loader->lock);
        pthread_mutex_unlock(&loader->lock);
    } else {
        loader_fill(loader, b);
    }
    ++loader->next;
    *batch = (struct loader_batch){.rows = batch_rows(loader, b),
                                   .feature = loader->feature[b % BUFFERS],
                                   .label = loader->label[b % BUFFERS],
                                   .index = loader->order + b * loader->config.batch};
}
