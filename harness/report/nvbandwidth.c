/* report/nvbandwidth.c: reads what nvbandwidth writes with -j. */
#include "report/external.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

static const double SPEED_MOST = 1e6; /* GB/s */

/* How the matrix of a test is read, taken from the source of its tests: the arrows in their
 * descriptions do not show the direction of the data. */
enum shape { BY_DEVICE, FROM_ROW, FROM_COLUMN };

static const struct known {
    const char *name;
    enum shape shape;
} known[NVBANDWIDTH_TESTS] = {
    [NVBANDWIDTH_FROM_HOST] = {"host_to_device_memcpy_ce", BY_DEVICE},
    [NVBANDWIDTH_TO_HOST] = {"device_to_host_memcpy_ce", BY_DEVICE},
    [NVBANDWIDTH_WITHIN] = {"device_local_copy", BY_DEVICE},
    [NVBANDWIDTH_WRITE] = {"device_to_device_memcpy_write_ce", FROM_ROW},
    [NVBANDWIDTH_READ] = {"device_to_device_memcpy_read_ce", FROM_COLUMN},
};

static int read_matrix(const json_t *matrix, enum nvbandwidth_test test,
                       struct nvbandwidth *nvbandwidth, struct text_error *err)
{
    const enum shape shape = known[test].shape;
    const size_t rows = json_array_size(matrix);
    const size_t columns = json_array_size(json_array_get(matrix, 0));
    double *rate;

    if (nvbandwidth->rate[test])
        return record_fail(err, "it has results twice");
    if (columns < 1 || columns > NVBANDWIDTH_DEVICES)
        return record_fail(err, "\"bandwidth_matrix\" has %zu columns, 1 to %d are allowed",
                           columns, NVBANDWIDTH_DEVICES);
    if (rows != (shape == BY_DEVICE ? 1 : columns))
        return record_fail(err, "\"bandwidth_matrix\" has %zu rows of %zu columns, not %zu", rows,
                           columns, shape == BY_DEVICE ? 1 : columns);
    if (nvbandwidth->devices != 0 && columns != (size_t)nvbandwidth->devices)
        return record_fail(err, "\"bandwidth_matrix\" is of %zu devices, one before it of %d",
                           columns, nvbandwidth->devices);
    for (size_t row = 0; row < rows; ++row)
        if (json_array_size(json_array_get(matrix, row)) != columns)
            return record_fail(err,
                               "row %zu of \"bandwidth_matrix\" has %zu columns, row 0 has %zu",
                               row, json_array_size(json_array_get(matrix, row)), columns);
    rate = nvbandwidth->rate[test] = calloc(rows * columns, sizeof *rate);
    if (!rate)
        return record_fail(err, "no memory for %zu results", rows * columns);
    nvbandwidth->devices = (int)columns;
    for (size_t i = 0; i < rows * columns; ++i) {
        const size_t row = i / columns, column = i % columns;
        /* "26.03", or "N/A" as NaN */
        const char *text = json_string_value(json_array_get(json_array_get(matrix, row), column));
        double *to = &rate[shape == FROM_COLUMN ? column * columns + row : i];
        char *end = NULL;

        if (!text)
            return record_fail(err, "an element of \"bandwidth_matrix\" is no text");
        *to = (double)NAN;
        if (strcmp(text, "N/A") == 0)
            continue;
        const double number = isdigit((unsigned char)text[0]) ? strtod(text, &end) : -1;

        if (!(number > 0) || !(number <= SPEED_MOST) || *end != '\0')
            return record_fail(err,
                               "\"%.40s\" is no bandwidth above 0 and up to %g GB/s, and not N/A",
                               text, SPEED_MOST);
        *to = 1e9 * number;
    }
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Counts the numbers of a test that measures something else. */
static void count_others(const json_t *matrix, struct nvbandwidth *nvbandwidth)
{
    for (size_t row = 0; row < json_array_size(matrix); ++row) {
        const json_t *values = json_array_get(matrix, row);

        for (size_t i = 0; i < json_array_size(values); ++i) {
            const char *text = json_string_value(json_array_get(values, i));

            nvbandwidth->others += text && strcmp(text, "N/A") != 0;
        }
    }
}

static void keep_name(char to[NVBANDWIDTH_NAME], const char *name)
{
    snprintf(to, NVBANDWIDTH_NAME, "%s", name);
    text_clean(to, ' ');
}

static int read_test(const json_t *test, struct nvbandwidth *nvbandwidth, struct text_error *err)
{
    const char *name = json_string_value(json_object_get(test, "name"));
    const char *status = json_string_value(json_object_get(test, "status"));
    struct text_error why = {""};

    if (!name || name[0] == '\0')
        return record_fail(err, "\"name\" is missing or no text");
    if (!status)
        return record_fail(err, "%.60s: \"status\" is missing or no text", name);
    if (strcmp(status, "Passed") == 0) {
        const json_t *matrix = json_object_get(test, "bandwidth_matrix");
        int which = 0;

        if (!json_is_array(matrix))
            return record_fail(err, "%.60s: \"bandwidth_matrix\" is missing or no array", name);
        while (which < NVBANDWIDTH_TESTS && strcmp(name, known[which].name) != 0)
            ++which;
        if (which < NVBANDWIDTH_TESTS)
            return read_matrix(matrix, (enum nvbandwidth_test)which, nvbandwidth, &why) == 0
                       ? 0
                       : record_fail(err, "%.60s: %.200s", name, why.text);
        count_others(matrix, nvbandwidth);
        return 0;
    }
    if (strcmp(status, "Error") == 0 || strcmp(status, "ERROR") == 0) {
        char failed[NVBANDWIDTH_NAME];

        /* nvbandwidth adds a failed test a second time, after the entry with which it began. */
        keep_name(failed, name);
        if (nvbandwidth->failed++ == 0)
            keep_name(nvbandwidth->first, name);
        if (strcmp(nvbandwidth->running, failed) == 0)
            nvbandwidth->running[0] = '\0';
    } else if (strcmp(status, "Waived") == 0 || strcmp(status, "Not Found") == 0)
        ++nvbandwidth->idle;
    else if (strcmp(status, "Running") == 0)
        keep_name(nvbandwidth->running, name);
    else
        return record_fail(err,
                           "%.60s: \"status\" is \"%.40s\"; allowed are Passed, Error, Waived, Not "
                           "Found and Running",
                           name, status);
    return 0;
}

static int read_tests(const json_t *root, struct nvbandwidth *nvbandwidth, struct text_error *err)
{
    const json_t *all = json_object_get(root, "nvbandwidth");
    const json_t *tests = json_object_get(all, "testcases"), *error = json_object_get(all, "error");
    const json_t *gpus = json_object_get(all, "GPU Device list");

    if (error && !json_is_string(error))
        return record_fail(err, "\"error\" is no text");
    if (tests && !json_is_array(tests))
        return record_fail(err, "\"testcases\" is no array");
    for (size_t i = 0; i < json_array_size(tests); ++i) {
        struct text_error why = {""};

        if (read_test(json_array_get(tests, i), nvbandwidth, &why))
            return record_fail(err, "test %zu: %.280s", i + 1, why.text);
    }
    /* Texts like "0: NVIDIA H100 80GB HBM3 (00000000:19:00): (node)". */
    for (size_t i = 0; i < json_array_size(gpus) && i < NVBANDWIDTH_DEVICES; ++i) {
        const char *text = json_string_value(json_array_get(gpus, i));
        struct nvbandwidth_place found = {.known = true};

        for (const char *at = text ? strchr(text, '(') : NULL; at; at = strchr(at + 1, '('))
            if (sscanf(at, "(%8x:%2x:%2x)", &found.domain, &found.bus, &found.device) == 3)
                nvbandwidth->place[i] = found;
    }
    nvbandwidth->stopped = error != NULL;
    if (error) {
        snprintf(nvbandwidth->error, sizeof nvbandwidth->error, "%s", json_string_value(error));
        text_clean(nvbandwidth->error, ' ');
    }
    return json_array_size(tests) > 0 || error ? 0 : record_fail(err, "it has no test");
}

struct nvbandwidth *nvbandwidth_read(const json_t *root, struct text_error *err)
{
    struct nvbandwidth *nvbandwidth = calloc(1, sizeof *nvbandwidth);

    if (!nvbandwidth)
        record_fail(err, "no memory");
    else if (read_tests(root, nvbandwidth, err) == 0)
        return nvbandwidth;
    nvbandwidth_free(nvbandwidth);
    return NULL;
}

void nvbandwidth_free(struct nvbandwidth *nvbandwidth)
{
    for (int i = 0; nvbandwidth && i < NVBANDWIDTH_TESTS; ++i)
        free(nvbandwidth->rate[i]);
    free(nvbandwidth);
}

double nvbandwidth_rate(const struct nvbandwidth *nvbandwidth, enum nvbandwidth_test test, int from,
                        int to)
{
    const double *rate = nvbandwidth->rate[test];
    const int devices = nvbandwidth->devices, device = from == NVBANDWIDTH_HOST ? to : from;

    if (!rate || from >= devices || to >= devices || device < 0)
        return (double)NAN;
    if (known[test].shape == BY_DEVICE)
        return rate[device];
    return from < 0 || to < 0 ? (double)NAN : rate[from * devices + to];
}

bool nvbandwidth_is_wrong(const struct nvbandwidth *nvbandwidth)
{
    return nvbandwidth->failed > 0 || nvbandwidth->stopped;
}
