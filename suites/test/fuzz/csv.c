/* csv.c: a data set as CSV; the first byte says what the model wants. What is accepted can be
 * printed, and read again the same. */
#include "fuzz.h"

#include "dataset.h"

#include <stdlib.h>
#include <string.h>

static int csv_read_text(char *text, size_t bytes, const struct dataset_want *want,
                         struct dataset *data, struct dp_error *err)
{
    FILE *file = fmemopen(text, bytes, "r");
    int status;

    fuzz_must(file != NULL, "no memory for a file");
    status = dataset_read_csv(file, "data.csv", want, data, err);
    fclose(file);
    return status;
}

static char *print(const struct dataset *data, size_t *bytes)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, bytes);

    fuzz_must(file != NULL, "no memory for a file");
    for (size_t row = 0; row < data->rows; ++row) {
        for (size_t i = 0; i < data->features; ++i)
            fprintf(file, "%.9g,", (double)data->feature[row * data->features + i]);
        fprintf(file, "%d\n", (int)data->label[row]);
    }
    fuzz_must(fclose(file) == 0, "no memory to print a data set");
    return text;
}

static void try_again(const struct dataset *data, const struct dataset_want *want)
{
    const struct dataset_want same = {want->features, want->classes, want->table, false, false};
    struct dp_error err = {0};
    struct dataset again;
    size_t bytes = 0;
    char *text = print(data, &bytes);

    fuzz_must(csv_read_text(text, bytes, &same, &again, &err) == 0, "rows as printed are refused");
    fuzz_must(again.rows == data->rows && again.features == data->features &&
                  again.classes == data->classes,
              "rows as printed are others");
    fuzz_must(memcmp(again.feature, data->feature,
                     data->rows * data->features * sizeof *data->feature) == 0 &&
                  memcmp(again.label, data->label, data->rows * sizeof *data->label) == 0,
              "numbers as printed are others");
    dataset_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct dataset_want wants[] = {{0},
                                                {.features = 3},
                                                {.classes = 4},
                                                {.features = 2, .classes = 10, .table = 1000},
                                                {.header = true}};
    const struct dataset_want *want = bytes > 0 ? &wants[data[0] % 5] : wants;
    struct dp_error err = {0};
    struct dataset set;
    char *text;

    if (bytes < 2)
        return 0;
    text = fuzz_text(data + 1, bytes - 1);
    if (csv_read_text(text, bytes - 1, want, &set, &err) == 0)
        try_again(&set, want);
    else
        fuzz_must_show(err.text);
    dataset_free(&set);
    free(text);
    return 0;
}
