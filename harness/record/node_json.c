/* record/node_json.c: converts the node of a run and the GPUs of a cell to JSON and back. The input
 * is untrusted: lengths are checked before anything is stored, and each series must be as long as
 * its times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

/* One of the arrays of objects of a node: the fields of its members, and where they are stored. */
struct list {
    const char *name;
    const struct record_field *fields;
    /* Offsets in struct record_node of the first member and of their number; size of one. */
    size_t offset, count, bytes;
    int most;
};
static const struct list lists[] = {
    {"numa", record_numa_fields, offsetof(struct record_node, numa),
     offsetof(struct record_node, n_numa), sizeof(struct record_numa), RECORD_MAX_NUMA},
    {"gpus", record_gpu_fields, offsetof(struct record_node, gpu),
     offsetof(struct record_node, n_gpus), sizeof(struct record_gpu), RECORD_MAX_GPUS},
    {"nics", record_nic_fields, offsetof(struct record_node, nic),
     offsetof(struct record_node, n_nics), sizeof(struct record_nic), RECORD_MAX_NICS},
};
enum { LISTS = sizeof lists / sizeof lists[0] };

/* ---- to JSON ------------------------------------------------------------------------------ */

/* If a value is NULL, setting it fails, and with it the whole record. */
static json_t *reading_json(const struct record_reading *reading)
{
    json_t *object = record_json_of(record_reading_fields, reading), *links = json_array();
    int status = reading->n_links < 0 || reading->n_links > RECORD_MAX_LINKS ? -1 : 0;
    for (int i = 0; status == 0 && i < reading->n_links; ++i) {
        status =
            json_array_append_new(links, record_json_of(record_nvlink_fields, &reading->link[i]));
    }
    status |= json_object_set_new(object, "links", links);
    if (status != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *element_json(const struct list *list, const void *element)
{
    json_t *object = record_json_of(list->fields, element);
    if (list->fields == record_gpu_fields) {
        const struct record_gpu *gpu = element;
        if (json_object_set_new(object, "reading", reading_json(&gpu->reading)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

int record_node_to_json(json_t *root, const struct record_node *node)
{
    int status = 0;
    for (int l = 0; l < LISTS; ++l) {
        const struct list *list = &lists[l];
        const char *first = (const char *)node + list->offset;
        const int n = *(const int *)((const char *)node + list->count);
        if (n < 0 || n > list->most) {
            return -1;
        }
        json_t *array = n > 0 ? json_array() : NULL;
        for (int i = 0; i < n; ++i) {
            status |=
                json_array_append_new(array, element_json(list, first + (size_t)i * list->bytes));
        }
        status |= n > 0 ? json_object_set_new(root, list->name, array) : 0;
    }
    return status;
}

static json_t *watched_json(const struct record_watched *watched)
{
    json_t *object = record_json_of(record_watched_fields, watched);
    int status = json_object_set_new(object, "before", reading_json(&watched->before));
    status |= json_object_set_new(object, "during",
                                  record_json_of(record_during_fields, &watched->during));
    status |= json_object_set_new(object, "after", reading_json(&watched->after));
    if (status != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int record_watched_to_json(json_t *root, const struct record_cell *cell)
{
    if (cell->n_gpus == 0) {
        return 0;
    }
    if (cell->n_gpus < 0 || cell->n_gpus > RECORD_MAX_GPUS) {
        return -1;
    }
    json_t *array = json_array();
    int status = 0;
    for (int i = 0; i < cell->n_gpus; ++i) {
        status |= json_array_append_new(array, watched_json(&cell->gpu[i]));
    }
    return status | json_object_set_new(root, "gpus", array);
}

/* ---- from JSON ---------------------------------------------------------------------------- */

/* Finds the array of that name, with at most most elements; *array is NULL if it is missing. */
static int find_list(const json_t *root, const char *name, int most, const json_t **array,
                     struct text_error *err)
{
    *array = json_object_get(root, name);
    if (!*array || (json_is_array(*array) && json_array_size(*array) <= (size_t)most)) {
        return 0;
    }
    return record_fail(err, "\"%s\" is not an array of at most %d", name, most);
}

/* Reads an element of an array. All of its members may be missing, but not the object. */
static int read_members(const json_t *from, const struct record_field *fields, void *to,
                        struct text_error *err)
{
    record_unknown(fields, to);
    return json_is_object(from)
               ? record_json_fields(from, fields, to, err)
               : record_fail(err, "an element with \"%s\" is no object", fields->name);
}

static int read_reading(const json_t *object, const char *name, struct record_reading *reading,
                        struct text_error *err)
{
    const json_t *from = record_json_object(object, name, err), *links = NULL;
    record_unknown(record_reading_fields, reading);
    if (!from || record_json_fields(from, record_reading_fields, reading, err) != 0 ||
        find_list(from, "links", RECORD_MAX_LINKS, &links, err) != 0) {
        return -1;
    }
    reading->n_links = (int)json_array_size(links);
    for (int i = 0; i < reading->n_links; ++i) {
        if (read_members(json_array_get(links, (size_t)i), record_nvlink_fields, &reading->link[i],
                         err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_element(const struct list *list, const json_t *from, void *to,
                        struct text_error *err)
{
    if (read_members(from, list->fields, to, err) != 0) {
        return -1;
    }
    struct record_gpu *gpu = to;
    return list->fields == record_gpu_fields ? read_reading(from, "reading", &gpu->reading, err)
                                             : 0;
}

int record_node_from_json(const json_t *root, struct record_node *node, struct text_error *err)
{
    for (int l = 0; l < LISTS; ++l) {
        const struct list *list = &lists[l];
        char *first = (char *)node + list->offset;
        const json_t *array = NULL;
        if (find_list(root, list->name, list->most, &array, err) != 0) {
            return -1;
        }
        *(int *)((char *)node + list->count) = (int)json_array_size(array);
        for (size_t i = 0; i < json_array_size(array); ++i) {
            if (read_element(list, json_array_get(array, i), first + i * list->bytes, err) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* Checks that each series has one number for each time, and that the times increase. */
static int check_during(const struct record_during *during, struct text_error *err)
{
    const size_t n = during->at_ns.n;
    for (const struct record_field *f = record_during_fields; f->name; ++f) {
        const struct record_series *series = (const void *)((const char *)during + f->offset);
        if (series->n != n) {
            return record_fail(err, "\"%s\" of \"during\" has %zu numbers, \"at_ns\" has %zu",
                               f->name, series->n, n);
        }
    }
    for (size_t i = 0; i < n; ++i) {
        if (!(during->at_ns.value[i] >= (i > 0 ? during->at_ns.value[i - 1] : 0))) {
            return record_fail(err, "\"at_ns\" of \"during\" goes back at %zu", i);
        }
    }
    return 0;
}

static int read_watched(const json_t *from, struct record_watched *watched, struct text_error *err)
{
    const json_t *during = record_json_object(from, "during", err);
    return !during || record_json_fields(from, record_watched_fields, watched, err) != 0 ||
                   read_reading(from, "before", &watched->before, err) != 0 ||
                   record_json_fields(during, record_during_fields, &watched->during, err) != 0 ||
                   check_during(&watched->during, err) != 0 ||
                   read_reading(from, "after", &watched->after, err) != 0
               ? -1
               : 0;
}

int record_watched_from_json(const json_t *root, struct record_cell *cell, struct text_error *err)
{
    const json_t *array = NULL;
    if (find_list(root, "gpus", RECORD_MAX_GPUS, &array, err) != 0) {
        return -1;
    }
    const size_t n = json_array_size(array);
    cell->gpu = n > 0 ? calloc(n, sizeof *cell->gpu) : NULL;
    if (n > 0 && !cell->gpu) {
        return record_fail(err, "no memory for %zu GPUs", n);
    }
    cell->n_gpus = (int)n;
    for (size_t i = 0; i < n; ++i) {
        if (read_watched(json_array_get(array, i), &cell->gpu[i], err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Reads an array of numbers and nulls. An earlier series is freed with the object, by its owner. */
int record_series_from_json(const json_t *value, const char *name, struct record_series *series,
                            struct text_error *err)
{
    const size_t n = json_array_size(value);
    if (!json_is_array(value) || n > RECORD_MOST_READINGS) {
        return record_fail(err, "\"%s\" is not an array of at most %d numbers", name,
                           RECORD_MOST_READINGS);
    }
    series->value = calloc(n + 1, sizeof *series->value);
    if (!series->value) {
        return record_fail(err, "no memory for %zu numbers", n);
    }
    series->n = n;
    for (size_t i = 0; i < n; ++i) {
        if (record_json_real(json_array_get(value, i), name, &series->value[i], err) != 0) {
            return -1;
        }
    }
    return 0;
}
