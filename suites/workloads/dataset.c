/* dataset.c: data sets by name, the random one, and the split into two parts. */
#include "dataset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

/* The tutorial's sizes, for a model that does not ask for others. */
enum { RANDOM_ROWS = 100, RANDOM_FEATURES = 5, RANDOM_CLASSES = 2, RANDOM_SEED = 1 };
/* Rows for each of a table's, so that hardly one is never trained. */
enum { RANDOM_REPEATS = 5 };

/* Made by plots/Embed.cmake from data/digits.csv; zero-terminated. */
extern const unsigned char dataset_digits[];

void dataset_free(struct dataset *data)
{
    free(data->feature);
    free(data->label);
    free(data->text);
    *data = (struct dataset){.rows = 0};
}

void dataset_measure(struct dataset *data)
{
    float most = 0;
    int power = 0;

    for (size_t i = 0; i < data->rows * data->features; ++i)
        most = fmaxf(most, fabsf(data->feature[i]));
    /* most is part * 2^power, part from 0.5 to below 1; 2^128 is no float, nor the inverse of less
     * than 2^-126. */
    const float part = frexpf(most, &power);

    power -= part == 0.5F;
    power = power < -126 ? -126 : power;
    data->unit = most > 0 ? ldexpf(1, power < 127 ? power : 127) : 1;
}

static int alloc(struct dataset *data, struct dp_error *err)
{
    if (data->features == 0 || data->rows > SIZE_MAX / sizeof(float) / data->features)
        return dp_fail(err, DP_EINVAL, "%zu rows of %zu features are not a data set", data->rows,
                       data->features);
    data->feature = malloc(data->rows * data->features * sizeof *data->feature);
    data->label = malloc(data->rows * sizeof *data->label);
    if (data->feature && data->label)
        return 0;
    return dp_fail(err, DP_ENOMEM, "no memory for %zu rows of %zu", data->rows, data->features);
}

/* The largest product with the rows of a teacher, which are drawn anew for every row of the data:
 * that needs no memory. */
static int32_t teach(const struct dataset *data, uint64_t seed, const float row[])
{
    struct stream teacher = stream_open(seed, STREAM_OF_TEACHER, 0);
    double best = -INFINITY;
    int32_t label = 0;

    for (int c = 0; c < data->classes; ++c) {
        double product = 0;

        for (size_t j = 0; j < data->features; ++j)
            product += stream_normal(&teacher) * (double)row[j];
        if (product > best) {
            best = product;
            label = c;
        }
    }
    return label;
}

int dataset_random(size_t rows, const struct dataset_want *want, uint64_t seed,
                   struct dataset *data, struct dp_error *err)
{
    int status;

    *data = (struct dataset){.name = "random",
                             .path = "random",
                             .rows = rows,
                             .features = want->features,
                             .classes = want->classes,
                             .table = want->table};
    if (rows == 0 || want->classes < 1)
        return dp_fail(err, DP_EINVAL, "%zu rows of %d classes are not a data set", rows,
                       want->classes);
    if ((status = alloc(data, err)))
        return status;
    for (size_t i = 0; i < rows; ++i) {
        struct stream stream = stream_open(seed, STREAM_OF_DATA, i);
        float *row = &data->feature[i * data->features];

        for (size_t j = 0; j < data->features; ++j)
            row[j] = data->table > 0 ? (float)stream_below(&stream, data->table)
                                     : (float)stream_normal(&stream);
        if (data->table > 0) {
            stream = stream_open(seed, STREAM_OF_TEACHER, (size_t)row[0]);
            data->label[i] = (int32_t)stream_below(&stream, (size_t)data->classes);
        } else {
            data->label[i] = teach(data, seed, row);
        }
    }
    dataset_measure(data);
    return 0;
}

static int check_want(const struct dataset *data, const struct dataset_want *want,
                      struct dp_error *err)
{
    if (want->features != 0 && data->features != want->features)
        return dp_fail(err, DP_EINVAL, "%s has %zu numbers a row, the model takes %zu", data->path,
                       data->features, want->features);
    if (want->classes != 0 && data->classes > want->classes)
        return dp_fail(err, DP_EINVAL, "%s has %d classes, the model tells %d apart", data->path,
                       data->classes, want->classes);
    return 0;
}

int dataset_open(const char *what, const struct dataset_want *want, struct dataset *data,
                 struct dp_error *err)
{
    *data = (struct dataset){.rows = 0};
    if (dataset_is_text(what) != want->text)
        return dp_fail(err, DP_EINVAL,
                       want->text ? "data '%.80s' is no text: this model takes text or text:FILE"
                                  : "data '%.80s' is a text, which a model of rows does not take",
                       what);
    if (want->header && (want->text || strcmp(what, "digits") == 0 || strcmp(what, "random") == 0))
        return dp_fail(err, DP_EINVAL, "--header is for a file: %.80s has no line of names", what);
    if (want->text)
        return dataset_open_text(what, want, data, err);
    if (strcmp(what, "digits") == 0) {
        static const struct dataset_want digits = {.features = 64, .classes = 10};
        const size_t bytes = strlen((const char *)dataset_digits);
        FILE *file = fmemopen((void *)dataset_digits, bytes, "r");

        if (!file)
            return dp_fail(err, DP_ENOMEM, "no memory for digits");
        const int status = dataset_read_csv(file, "digits", &digits, data, err);

        fclose(file);
        return status ? status : check_want(data, want, err);
    }
    if (strcmp(what, "random") == 0) {
        struct dataset_want all = *want;

        /* The tutorial's sizes for what a model does not ask for. */
        all.features = want->features != 0 ? want->features : RANDOM_FEATURES;
        all.classes = want->classes != 0 ? want->classes : RANDOM_CLASSES;
        return dataset_random(want->table > 0 ? RANDOM_REPEATS * want->table : RANDOM_ROWS, &all,
                              RANDOM_SEED, data, err);
    }
    const char *slash = strrchr(what, '/');
    FILE *file = fopen(what, "r");

    if (!file)
        return dp_fail(err, DP_EINVAL,
                       "data '%.80s' is neither digits nor random, nor a file that can be read: %s",
                       what, strerror(errno));
    const int status = dataset_read_csv(file, what, want, data, err);

    fclose(file);
    snprintf(data->name, sizeof data->name, "%s", slash != NULL ? slash + 1 : what);
    return status;
}

int dataset_part(const struct dataset *data, size_t *train, struct dp_error *err)
{
    if (data->text) {
        *train = dataset_text_part(data) - data->features;
        return 0;
    }
    if (data->rows < 2)
        return dp_fail(err, DP_EINVAL,
                       "%s has %zu row: at least 2 are needed, to train and to test", data->path,
                       data->rows);
    *train = data->rows - (data->rows + 4) / 5;
    return 0;
}

int dataset_split(const struct dataset *data, uint64_t seed, size_t index[], size_t *train,
                  struct dp_error *err)
{
    struct stream stream = stream_open(seed, STREAM_OF_SPLIT, 0);
    const int status = dataset_part(data, train, err);

    if (status)
        return status;
    for (size_t i = 0; i < data->rows; ++i)
        index[i] = i;
    stream_shuffle(&stream, index, data->rows);
    return 0;
}
