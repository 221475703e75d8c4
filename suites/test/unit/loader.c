/* loader.c: tests of the batches of a data set. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"

enum { ROWS = 103, FEATURES = 3, BATCH = 10, EPOCHS = 3 };

/* Feature j of row i is 10 i + j, the class of row i is i mod 7. */
static const struct dataset *loader_data(void)
{
    static float feature[ROWS * FEATURES];
    static int32_t label[ROWS];
    static const struct dataset data = {
        .rows = ROWS, .features = FEATURES, .classes = 7, .feature = feature, .label = label};

    static bool made;

    if (made)
        return &data;
    made = true;
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < FEATURES; ++j)
            feature[i * FEATURES + j] = (float)(10 * i + j);
        label[i] = i % 7;
    }
    return &data;
}

static struct loader *open_loader(const struct loader_config *config)
{
    struct loader *loader = NULL;
    struct dp_error err = {0};

    cr_assert(loader_open(config, &loader, &err) == 0, "%s", err.text);
    return loader;
}

/* One epoch: the rows in their order, each batch checked. */
static size_t read_epoch(struct loader *loader, uint64_t epoch, size_t order[], float scale)
{
    const struct dataset *data = loader_data();
    struct loader_batch batch;
    size_t n = 0;

    loader_start(loader, epoch);
    for (loader_next(loader, &batch); batch.rows > 0; loader_next(loader, &batch)) {
        for (size_t i = 0; i < batch.rows; ++i) {
            const size_t row = batch.index[i];

            cr_assert(row < data->rows && n < data->rows);
            cr_assert(batch.label[i] == data->label[row]);
            for (size_t j = 0; j < data->features; ++j)
                cr_assert(batch.feature[i * data->features + j] ==
                          data->feature[row * data->features + j] * scale);
            order[n++] = row;
        }
    }
    return n;
}

static int loader_compare(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

Test(loader, every_row_comes_once_an_epoch)
{
    size_t order[ROWS];

    for (int prefetch = 0; prefetch < 2; ++prefetch) {
        struct loader *loader = open_loader(&(struct loader_config){.data = loader_data(),
                                                                    .batch = BATCH,
                                                                    .seed = 5,
                                                                    .shuffle = true,
                                                                    .prefetch = prefetch == 1});

        for (uint64_t epoch = 0; epoch < EPOCHS; ++epoch) {
            cr_assert(read_epoch(loader, epoch, order, 1) == ROWS);
            qsort(order, ROWS, sizeof order[0], loader_compare);
            for (size_t i = 0; i < ROWS; ++i)
                cr_assert(order[i] == i);
        }
        loader_close(loader);
    }
}

Test(loader, the_last_batch_has_what_is_left)
{
    struct loader_batch batch;

    struct loader *loader =
        open_loader(&(struct loader_config){.data = loader_data(), .batch = BATCH});

    cr_assert(loader_batches(loader) == 11);
    loader_start(loader, 0);
    for (int b = 0; b < 10; ++b) {
        loader_next(loader, &batch);
        cr_assert(batch.rows == BATCH && batch.index[0] == (size_t)b * BATCH);
    }
    loader_next(loader, &batch);
    cr_assert(batch.rows == 3 && batch.index[2] == ROWS - 1);
    loader_next(loader, &batch);
    cr_assert(batch.rows == 0);
    loader_next(loader, &batch);
    cr_assert(batch.rows == 0);
    loader_close(loader);
}

/* As in DistributedSampler, 103 rows on 4 ranks become 104, on 64 they become 128, with the first
 * ones again. */
Test(loader, an_order_is_filled_up_from_its_start)
{
    static const size_t multiples[] = {4, 64, 250}, rows[] = {104, 128, 250};
    struct loader_batch batch;
    size_t order[250];

    for (size_t m = 0; m < 3; ++m) {
        struct loader *loader = open_loader(&(struct loader_config){.data = loader_data(),
                                                                    .batch = 8,
                                                                    .seed = 5,
                                                                    .shuffle = true,
                                                                    .multiple = multiples[m]});
        size_t n = 0;

        cr_assert(loader_rows(loader) == rows[m]);
        loader_start(loader, 1);
        for (loader_next(loader, &batch); batch.rows > 0; loader_next(loader, &batch))
            for (size_t i = 0; i < batch.rows; ++i)
                order[n++] = batch.index[i];
        cr_assert(n == rows[m], "%zu", n);
        for (size_t i = ROWS; i < n; ++i)
            cr_assert(order[i] == order[i - ROWS]);
        qsort(order, ROWS, sizeof order[0], loader_compare);
        for (size_t i = 0; i < ROWS; ++i)
            cr_assert(order[i] == i);
        loader_close(loader);
    }
}

Test(loader, order_is_by_seed_and_epoch_with_prefetch_and_without)
{
    size_t order[2][ROWS], other[ROWS];
    struct loader *loader[2];

    for (int k = 0; k < 2; ++k)
        loader[k] = open_loader(&(struct loader_config){.data = loader_data(),
                                                        .batch = BATCH,
                                                        .seed = 7,
                                                        .shuffle = true,
                                                        .prefetch = k == 1,
                                                        .scale = 0.5F});
    for (uint64_t epoch = 0; epoch < EPOCHS; ++epoch) {
        for (int k = 0; k < 2; ++k)
            cr_assert(read_epoch(loader[k], epoch, order[k], 0.5F) == ROWS);
        cr_assert(memcmp(order[0], order[1], sizeof order[0]) == 0);
        /* Epochs may come in any order. */
        read_epoch(loader[1], epoch + 1, other, 0.5F);
        cr_assert(memcmp(order[0], other, sizeof other) != 0);
    }
    loader_close(loader[0]);
    loader[0] = open_loader(
        &(struct loader_config){.data = loader_data(), .batch = BATCH, .seed = 8, .shuffle = true});
    read_epoch(loader[0], EPOCHS - 1, other, 1);
    cr_assert(memcmp(order[0], other, sizeof other) != 0);
    for (int k = 0; k < 2; ++k)
        loader_close(loader[k]);
}

Test(loader, an_epoch_may_be_given_up)
{
    size_t order[ROWS], other[ROWS];
    struct loader_batch batch;

    struct loader *loader = open_loader(&(struct loader_config){
        .data = loader_data(), .batch = 4, .seed = 7, .shuffle = true, .prefetch = true});

    cr_assert(read_epoch(loader, 0, order, 1) == ROWS);
    for (int k = 0; k < 200; ++k) {
        loader_start(loader, 1);
        for (int b = 0; b < k % 5; ++b)
            loader_next(loader, &batch);
    }
    cr_assert(read_epoch(loader, 0, other, 1) == ROWS);
    cr_assert(memcmp(order, other, sizeof order) == 0);
    loader_start(loader, 2);
    loader_close(loader);
    loader_close(NULL);
}

Test(loader, a_part_of_the_rows)
{
    size_t index[ROWS], order[ROWS], train = 0;
    struct dp_error err = {0};
    bool seen[ROWS] = {false};

    cr_assert(dataset_split(loader_data(), 3, index, &train, &err) == 0);
    cr_assert(train == 82); /* four fifths of 103, rounded down */
    for (size_t i = 0; i < ROWS; ++i) {
        cr_assert(index[i] < ROWS && !seen[index[i]]);
        seen[index[i]] = true;
    }
    struct loader *loader = open_loader(&(struct loader_config){
        .data = loader_data(), .index = index + train, .n = ROWS - train, .batch = 50});

    cr_assert(read_epoch(loader, 0, order, 1) == ROWS - train);
    cr_assert(memcmp(order, index + train, (ROWS - train) * sizeof order[0]) == 0);
    loader_close(loader);
}

Test(loader, what_is_refused)
{
    size_t bad = ROWS;
    struct loader *loader = NULL;

    const struct loader_config rows[] = {
        {.data = loader_data(), .batch = 0},
        {.data = loader_data(), .batch = 1, .index = &bad, .n = 0},
        {.data = loader_data(), .batch = 1, .index = &bad, .n = 1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct dp_error err = {0};

        cr_assert(loader_open(&rows[i], &loader, &err) == DP_EINVAL);
        cr_assert(err.text[0] != '\0' && !loader);
    }
    struct dataset one = *loader_data();

    one.rows = 1;
    cr_assert(dataset_split(&one, 1, &bad, &bad, NULL) == DP_EINVAL);
}

enum { CONTEXT = 7, BYTES = 200, WINDOWS = BYTES - CONTEXT, FIRST = 150, DRAWS = 64 };

/* Draws an epoch of windows of a text whose byte i is i, from the first ones, and writes where each
 * window begins. */
static void draw_epoch(struct loader *loader, uint64_t epoch, size_t begin[DRAWS])
{
    struct loader_batch batch;
    size_t n = 0;

    loader_start(loader, epoch);
    for (loader_next(loader, &batch); batch.rows > 0; loader_next(loader, &batch)) {
        cr_assert(batch.rows == 8);
        for (size_t i = 0; i < batch.rows; ++i) {
            begin[n] = batch.index[i];
            cr_assert(begin[n] < FIRST);
            for (size_t t = 0; t < CONTEXT; ++t) {
                cr_assert(batch.feature[i * CONTEXT + t] == (float)(begin[n] + t));
                cr_assert(batch.label[i * CONTEXT + t] == (int32_t)(begin[n] + t + 1));
            }
            ++n;
        }
    }
    cr_assert(n == DRAWS);
}

Test(loader, windows_of_a_text_are_drawn)
{
    unsigned char text[BYTES];
    size_t begin[2][DRAWS], other[DRAWS], different = 0;
    const struct dataset data = {
        .rows = WINDOWS, .features = CONTEXT, .classes = 256, .text = text};
    struct loader_config config = {
        .data = &data, .n = FIRST, .draws = DRAWS, .batch = 8, .seed = 7};
    struct loader *loader = NULL;
    struct dp_error err = {0};
    bool last = false;

    for (int i = 0; i < BYTES; ++i)
        text[i] = (unsigned char)i;
    for (int k = 0; k < 2; ++k) {
        config.prefetch = k == 1;
        loader = open_loader(&config);
        draw_epoch(loader, 1, begin[k]);
        draw_epoch(loader, 2, other);
        loader_close(loader);
    }
    cr_assert(memcmp(begin[0], begin[1], sizeof begin[0]) == 0);
    cr_assert(memcmp(begin[0], other, sizeof other) != 0);
    for (size_t i = 1; i < DRAWS; ++i)
        different += begin[0][i] != begin[0][0];
    cr_assert(different > DRAWS / 2);
    /* The last one that may begin a window does. */
    config.n = 3;
    loader = open_loader(&config);
    loader_start(loader, 0);
    for (struct loader_batch batch = {.rows = 1}; batch.rows > 0; loader_next(loader, &batch))
        for (size_t i = 0; batch.index && i < batch.rows; ++i)
            last = last || batch.index[i] == 2;
    cr_assert(last);
    loader_close(loader);
    config.n = WINDOWS + 1;
    cr_assert(loader_open(&config, &loader, &err) == DP_EINVAL);
    cr_assert(strcmp(err.text, "the first 194 rows to draw from, of a data set of 193") == 0);
}
