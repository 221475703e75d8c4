/* dataset.c: tests of the reader of CSV files and of the data sets by name. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"

static int dataset_read_text(const char *text, size_t bytes, const struct dataset_want *want,
                             struct dataset *data, struct dp_error *err)
{
    /* fmemopen refuses a size of 0. */
    FILE *file = bytes > 0 ? fmemopen((void *)text, bytes, "r") : fopen("/dev/null", "r");

    cr_assert(file);
    const int status = dataset_read_csv(file, "a.csv", want, data, err);

    fclose(file);
    return status;
}

/* Returns what is read, which must be readable; the caller frees it. */
static struct dataset dataset_of_text(const char *text, const struct dataset_want *want)
{
    struct dp_error err = {0};
    struct dataset data;

    cr_assert(dataset_read_text(text, strlen(text), want, &data, &err) == 0, "%s", err.text);
    return data;
}

static void dataset_refused(const char *text, size_t bytes, const struct dataset_want *want,
                            const char *message)
{
    struct dp_error err = {0};
    struct dataset data;

    cr_assert(dataset_read_text(text, bytes, want, &data, &err) == DP_EINVAL, "%s", message);
    cr_assert(strcmp(err.text, message) == 0, "'%s', wanted '%s'", err.text, message);
    dataset_free(&data);
}

Test(dataset, lines_that_are_read)
{
    static const char *const texts[] = {
        "1,2.5,0\n-3e2,.5,2\n",
        "1,2.5,0\r\n-3e2,.5,2\r\n",
        "1,2.5,0\n-3e2,.5,2",
        " 1 ,\t2.5, 0\n-300,+0.5 ,2\r",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        struct dataset data = dataset_of_text(texts[i], &(struct dataset_want){0});

        cr_assert(data.rows == 2 && data.features == 2 && data.classes == 3);
        cr_assert(data.feature[0] == 1 && data.feature[1] == 2.5F);
        cr_assert(data.feature[2] == -300 && data.feature[3] == 0.5F);
        cr_assert(data.label[0] == 0 && data.label[1] == 2);
        cr_assert(data.unit == 512);
        dataset_free(&data);
    }
}

struct bad {
    const char *text, *message;
    struct dataset_want want;
};

Test(dataset, lines_that_are_refused)
{
    static const struct bad rows[] = {
        {"", "a.csv:1:1: the file is empty", {0}},
        {"\n", "a.csv:1:1: the line is empty", {0}},
        {"1,0\n\n2,0\n", "a.csv:2:1: the line is empty", {0}},
        {"7\n", "a.csv:1:1: a line needs at least 2 columns, numbers and a class", {0}},
        {"1.5,0\n",
         "a.csv:1:1: '1.5' is not a row of the model's table, 0 to 9",
         {.features = 1, .table = 10}},
        {"1,0\n10,0\n",
         "a.csv:2:1: '10' is not a row of the model's table, 0 to 9",
         {.features = 1, .table = 10}},
        {"-1,0\n",
         "a.csv:1:1: '-1' is not a row of the model's table, 0 to 9",
         {.features = 1, .table = 10}},
        {"1,2,0\n1,2\n", "a.csv:2:3: the column is missing: the line has 2 of 3", {0}},
        {"1,2,0\n1,2,0,0\n", "a.csv:2:4: the line has more than 3 columns", {0}},
        {"1,2,0\n", "a.csv:1:4: the column is missing: the line has 3 of 4", {.features = 3}},
        {"1,2,3,4,0\n", "a.csv:1:5: the line has more than 4 columns", {.features = 3}},
        {"1,2,0\n1,abc,0\n", "a.csv:2:2: 'abc' is not a number", {0}},
        {"x,y,class\n",
         "a.csv:1:1: 'x' is not a number (for a first line of names say --header)",
         {0}},
        {"x,y,class\nx,y,class\n", "a.csv:2:1: 'x' is not a number", {.header = true}},
        {"1,2,0\n",
         "a.csv:1:1: all cells are numbers: a row, not names; leave out --header",
         {.header = true}},
        {"x,y,class\n", "a.csv:2:1: there is no row after the names", {.header = true}},
        {"x,y,class\n1,0\n",
         "a.csv:2:3: the column is missing: the line has 2 of 3",
         {.header = true}},
        {"x,class\n",
         "a.csv:1:1: the line has 2 names, the model takes 4 columns",
         {.features = 3, .header = true}},
        {"1,,0\n", "a.csv:1:2: the cell is empty", {0}},
        {"1, ,0\n", "a.csv:1:2: the cell is empty", {0}},
        {"1,2,0\n,2,0\n", "a.csv:2:1: the cell is empty", {0}},
        {"1,2,0\n1,nan,0\n", "a.csv:2:2: 'nan' is not a finite number", {0}},
        {"1,2,0\n1,-NaN,0\n", "a.csv:2:2: '-NaN' is not a finite number", {0}},
        {"1,2,0\ninf,2,0\n", "a.csv:2:1: 'inf' is not a finite number", {0}},
        {"1,2,0\n1,-Infinity,0\n", "a.csv:2:2: '-Infinity' is not a finite number", {0}},
        {"1,2,0\n1,2,nan\n", "a.csv:2:3: 'nan' is not a finite number", {0}},
        {"1,2,0\n1e39,2,0\n", "a.csv:2:1: '1e39' is too large for single precision", {0}},
        {"1,2,0\n0x10,2,0\n", "a.csv:2:1: '0x10' is not a number", {0}},
        {"1,2,0\n1.2.3,2,0\n", "a.csv:2:1: '1.2.3' is not a number", {0}},
        {"1,2,0\n1 2,2,0\n", "a.csv:2:1: '1 2' is not a number", {0}},
        {"1,2,0\n\"1\",2,0\n", "a.csv:2:1: '\"1\"' is not a number", {0}},
        {"1,2,0\n1;2,0\n", "a.csv:2:1: '1;2' is not a number", {0}},
        {"1,2,10\n", "a.csv:1:3: class '10' is not a whole number from 0 to 9", {.classes = 10}},
        {"1,2,-1\n", "a.csv:1:3: class '-1' is not a whole number from 0 to 9", {.classes = 10}},
        {"1,2,.5\n", "a.csv:1:3: class '.5' is not a whole number from 0 to 9", {.classes = 10}},
        {"1,2,0.99999999999\n",
         "a.csv:1:3: class '0.99999999999' is not a whole number from 0 to 65535",
         {0}},
        {"0.99999999999,0\n",
         "a.csv:1:1: '0.99999999999' is not a row of the model's table, 0 to 9",
         {.features = 1, .table = 10}},
        {"1,1e-50,0\n", "a.csv:1:2: '1e-50' is too small for single precision", {0}},
        {"\xef\xbb\xbf"
         "1,2,0\n",
         "a.csv:1:1: a byte order mark has no place here: save it as UTF-8 without",
         {0}},
        {"1,2,65536\n", "a.csv:1:3: class '65536' is not a whole number from 0 to 65535", {0}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        dataset_refused(rows[i].text, strlen(rows[i].text), &rows[i].want, rows[i].message);
}

Test(dataset, names_and_gaps)
{
    static const char text[] = "x, 2,\"class\"\n1,2,0\n1,2,4\n1,2,2\n";
    const struct dataset_want wants[] = {{.header = true}, {.classes = 14, .header = true}};
    const int gaps[] = {2, 11};

    for (int i = 0; i < 2; ++i) {
        struct dataset data = dataset_of_text(text, &wants[i]);

        cr_assert(data.rows == 3 && data.features == 2 && data.feature[0] == 1);
        cr_assert(data.gaps == gaps[i] && data.gap[0] == 1 && data.gap[1] == 3);
        cr_assert(i == 0 || data.gap[DATASET_GAPS - 1] == 10);
        dataset_free(&data);
    }
}

Test(dataset, a_zero_byte_is_no_end)
{
    static const char text[] = "1,2,0\n1\0,2,0\n";

    dataset_refused(text, sizeof text - 1, &(struct dataset_want){0},
                    "a.csv:2:1: a byte is 0: the file is not text");
}

Test(dataset, long_lines_and_cells_are_refused)
{
    const struct dataset_want any = {0};
    const size_t bytes = (1U << 20) + 8;
    char *text = malloc(bytes);

    cr_assert(text);
    memset(text, '1', bytes);
    dataset_refused(text, bytes, &any, "a.csv:1:1: the line is longer than 1048576 bytes");
    memcpy(text + 200, ",0\n", 3);
    dataset_refused(text, 203, &any,
                    "a.csv:1:1: '1111111111111111111111111111111111111111'... is longer than 63 "
                    "characters");
    for (size_t i = 0; i < bytes; ++i)
        text[i] = i % 2 == 0 ? '1' : ',';
    dataset_refused(text, 1 << 20, &any, "a.csv:1:65537: more than 65536 columns");
    free(text);
}

Test(dataset, digits)
{
    struct dp_error err = {0};
    struct dataset data;
    size_t count[10] = {0}, sum = 0;

    cr_assert(dataset_open("digits", &(struct dataset_want){0}, &data, &err) == 0, "%s", err.text);
    cr_assert(data.rows == 1797 && data.features == 64 && data.classes == 10 && data.unit == 16);
    for (size_t i = 0; i < data.rows; ++i)
        ++count[data.label[i]];
    for (size_t i = 0; i < data.rows * data.features; ++i)
        sum += (size_t)data.feature[i];
    /* As counted by awk in the file. */
    cr_assert(count[0] == 178 && count[1] == 182 && count[8] == 174 && count[9] == 180);
    cr_assert(sum == 561718, "%zu", sum);
    dataset_free(&data);
    cr_assert(dataset_open("digits", &(struct dataset_want){.features = 5}, &data, &err) ==
              DP_EINVAL);
    cr_assert(strstr(err.text, "64 numbers a row, the model takes 5"), "%s", err.text);
    dataset_free(&data);
}

Test(dataset, random_is_by_seed)
{
    const struct dataset_want want = {.features = 5, .classes = 2};
    struct dp_error err = {0};
    struct dataset a, b, other;

    cr_assert(dataset_random(100, &want, 1, &a, &err) == 0);
    cr_assert(dataset_random(100, &want, 1, &b, &err) == 0);
    cr_assert(dataset_random(100, &want, 2, &other, &err) == 0);
    cr_assert(memcmp(a.feature, b.feature, 500 * sizeof(float)) == 0);
    cr_assert(memcmp(a.label, b.label, 100 * sizeof(int32_t)) == 0);
    cr_assert(memcmp(a.feature, other.feature, 500 * sizeof(float)) != 0);
    /* Both classes are there, or nothing could be learned. */
    size_t ones = 0;

    for (size_t i = 0; i < 100; ++i)
        ones += a.label[i] == 1;
    cr_assert(ones > 20 && ones < 80, "%zu", ones);
    dataset_free(&a);
    dataset_free(&b);
    dataset_free(&other);
}

/* A number of the table has one class, wherever it is. */
Test(dataset, random_numbers_of_a_table)
{
    const struct dataset_want want = {.features = 1, .classes = 10, .table = 50};
    struct dp_error err = {0};
    struct dataset data;
    int class_of[50];

    cr_assert(dataset_random(500, &want, 1, &data, &err) == 0);
    for (size_t i = 0; i < 50; ++i)
        class_of[i] = -1;
    for (size_t i = 0; i < 500; ++i) {
        const size_t number = (size_t)data.feature[i];

        cr_assert(data.feature[i] == (float)number && number < 50);
        cr_assert(class_of[number] == -1 || class_of[number] == data.label[i]);
        cr_assert(data.label[i] >= 0 && data.label[i] < 10);
        class_of[number] = data.label[i];
    }
    for (size_t i = 1; i < 50; ++i)
        cr_assert(class_of[i] != -1, "%zu never comes", i);
    dataset_free(&data);
}

Test(dataset, the_unit_and_its_inverse_are_finite)
{
    static const struct {
        const char *text;
        float unit;
    } rows[] = {{"0,0\n", 1},
                {"16,0\n", 16},
                {"-17,0\n", 32},
                {"1e-45,0\n", 0x1p-126F},
                {"2e-38,0\n", 0x1p-125F},
                {"3.4e38,0\n", 0x1p127F}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct dataset data = dataset_of_text(rows[i].text, &(struct dataset_want){0});

        cr_assert(data.unit == rows[i].unit && isfinite(1 / data.unit), "%s gives %g", rows[i].text,
                  (double)data.unit);
        dataset_free(&data);
    }
}

/* A file of that many bytes, each i mod modulus but for the last. */
static void write_bytes(const char *path, size_t bytes, size_t modulus, int last)
{
    FILE *file = fopen(path, "w");

    cr_assert(file);
    for (size_t i = 0; i < bytes; ++i)
        cr_assert(putc(i + 1 < bytes ? (int)(i % modulus) : last, file) != EOF);
    cr_assert(fclose(file) == 0);
}

struct text {
    const char *what, *message; /* message NULL: it is read */
    size_t bytes, features, part;
    int last, classes;
    bool header;
};

Test(dataset, texts)
{
    static const char path[] = "dataset_text.bin";
    static const struct text rows[] = {
        {"text:dataset_text.bin", NULL, 1000, 7, 900, 0, 97, false},
        {"text:dataset_text.bin", NULL, 70000, 7, 63000, 0, 97, false},
        {"text:dataset_text.bin", NULL, 79, 7, 71, 96, 97, false}, /* one window tests */
        {"text:dataset_text.bin", NULL, 16, 7, 8, 0, 97, false},
        {"text:dataset_text.bin",
         "dataset_text.bin has 15 bytes: a context of 7 needs 16 at least, 8 to train and as many "
         "to test",
         15, 7, 0, 0, 97, false},
        {"text:dataset_text.bin", "dataset_text.bin has 0 bytes", 0, 7, 0, 0, 97, false},
        {"text:dataset_text.bin",
         "dataset_text.bin: byte 1000 is 97, the model's vocabulary has 0 to 96", 1000, 7, 0, 97,
         97, false},
        {"text:nowhere", "cannot read nowhere: No such file", 16, 7, 0, 0, 97, false},
        {"text:.", "cannot read .: Is a directory", 16, 7, 0, 0, 97, false},
        {"text", "--header is for a file: text has no line of names", 16, 7, 0, 0, 256, true},
        {"digits", "data 'digits' is no text", 16, 7, 0, 0, 256, false},
        {"texts", "data 'texts' is no text", 16, 7, 0, 0, 256, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct text *row = &rows[i];
        const struct dataset_want want = {.features = row->features,
                                          .classes = row->classes,
                                          .text = true,
                                          .header = row->header};
        struct dp_error err = {0};
        struct dataset data;
        size_t train = 0, wrong = 0;

        write_bytes(path, row->bytes, 97, row->last);
        const int status = dataset_open(row->what, &want, &data, &err);

        if (row->message) {
            cr_assert(status == DP_EINVAL, "row %zu", i);
            cr_assert(strncmp(err.text, row->message, strlen(row->message)) == 0, "%s", err.text);
        } else {
            cr_assert(status == 0, "%s", err.text);
            cr_assert(data.rows == row->bytes - 7 && dataset_labels(&data) == 7);
            for (size_t b = 0; b + 1 < row->bytes; ++b)
                wrong += data.text[b] != b % 97;
            cr_assert(wrong == 0 && data.text[row->bytes - 1] == row->last);
            cr_assert(dataset_text_part(&data) == row->part, "%zu", dataset_text_part(&data));
            cr_assert(dataset_part(&data, &train, &err) == 0 && train == row->part - 7);
        }
        dataset_free(&data);
    }
    remove(path);
}

Test(dataset, the_text_that_is_always_there)
{
    const struct dataset_want want = {.features = 128, .classes = 256, .text = true};
    struct dataset data;
    struct dp_error err = {0};

    cr_assert(dataset_open("text", &want, &data, &err) == 0, "%s", err.text);
    cr_assert(data.rows > 300000 && strcmp(data.name, "text") == 0);
    cr_assert(strncmp((const char *)data.text, "# Architecture\n", 15) == 0);
    dataset_free(&data);
    cr_assert(strcmp(dataset_file("text:a/b"), "a/b") == 0);
    cr_assert(strcmp(dataset_file("text"), "text") == 0);
    cr_assert(strcmp(dataset_file("a.csv"), "a.csv") == 0);
    cr_assert(dataset_open("text", &(struct dataset_want){0}, &data, &err) == DP_EINVAL);
}
