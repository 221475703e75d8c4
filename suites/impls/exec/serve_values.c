/* serve_values.c: the fields of a request as C has them, and parts of answers. */
#include "serve.h"

#include <stddef.h>
#include <stdlib.h>

struct serve_piece {
    struct serve_piece *next;
    max_align_t data[];
};

void *serve_memory(struct serve *s, size_t bytes)
{
    struct serve_piece *piece = calloc(1, sizeof *piece + bytes + 1);

    if (!piece)
        abort();
    piece->next = s->pieces;
    s->pieces = piece;
    return piece->data;
}

void serve_forget(struct serve *s)
{
    while (s->pieces) {
        struct serve_piece *next = s->pieces->next;
        free(s->pieces);
        s->pieces = next;
    }
}

static void read_array(struct serve *s, const json_t *value, const char *name,
                       struct impl_array *array)
{
    array->capacity = json_string_length(json_object_get(value, "data")) / 2;
    array->data = serve_memory(s, array->capacity);
    answer_array(&s->request, value, name, array);
    array->needs_grad = json_is_true(json_object_get(value, "needs_grad"));
}

struct impl_array *serve_array(struct serve *s, const char *name)
{
    struct impl_array *array = serve_memory(s, sizeof *array);
    const json_t *value = answer_field(&s->request, s->request.ok, "", name);

    if (!value)
        return NULL;
    read_array(s, value, name, array);
    return array;
}

struct impl_array *serve_arrays(struct serve *s, const json_t *object, const char *name, size_t *n)
{
    const json_t *list = answer_field(&s->request, object, "", name);
    struct impl_array *arrays;

    *n = json_array_size(list);
    arrays = serve_memory(s, (*n + 1) * sizeof *arrays);
    for (size_t i = 0; i < *n; ++i)
        read_array(s, json_array_get(list, i), name, &arrays[i]);
    return arrays;
}

struct impl_array *serve_outputs(struct serve *s, size_t n, size_t bytes)
{
    struct impl_array *arrays = serve_memory(s, (n + 1) * sizeof *arrays);

    for (size_t i = 0; i < n; ++i) {
        arrays[i].data = serve_memory(s, bytes);
        arrays[i].capacity = bytes;
        arrays[i].device = IMPL_NOWHERE;
    }
    return arrays;
}

size_t serve_bytes(const struct impl_array *arrays, size_t n)
{
    return arrays_room(arrays, n);
}

int *serve_ints(struct serve *s, const char *name, size_t *n)
{
    const json_t *list = answer_field(&s->request, s->request.ok, "", name);
    int *values;

    *n = json_array_size(list);
    values = serve_memory(s, (*n + 1) * sizeof *values);
    for (size_t i = 0; i < *n; ++i)
        values[i] = (int)json_integer_value(json_array_get(list, i));
    return values;
}

size_t *serve_sizes(struct serve *s, const char *name, size_t *n)
{
    const json_t *list = answer_field(&s->request, s->request.ok, "", name);
    size_t *values;

    *n = json_array_size(list);
    if (!json_is_array(list))
        return NULL;
    values = serve_memory(s, (*n + 1) * sizeof *values);
    for (size_t i = 0; i < *n; ++i)
        values[i] = (size_t)answer_size_of(&s->request, json_array_get(list, i), name);
    return values;
}

bool serve_true(const struct serve *s, const char *name)
{
    return json_is_true(json_object_get(s->request.ok, name));
}

int serve_int(struct serve *s, const char *name)
{
    return (int)answer_int(&s->request, s->request.ok, "", name, INT32_MIN, INT32_MAX);
}

json_t *serve_trace(const struct impl_trace *trace)
{
    json_t *list, *buckets;

    if (!trace)
        return json_null();
    list = json_array();
    for (int i = 0; i < trace->replicas && i < IMPL_MAX_DEVICES; ++i) {
        const struct impl_replica *r = &trace->replica[i];

        json_array_append_new(
            list, json_pack("{s:i, s:o, s:o, s:I, s:b, s:b, s:o, s:o}", "device", r->device,
                            "calls", json_size(r->calls), "rows", json_size(r->rows), "thread",
                            (json_int_t)r->thread, "grad", r->grad, "train", r->train, "bytes_to",
                            json_size(r->bytes_to), "bytes_from", json_size(r->bytes_from)));
    }
    buckets = json_array();
    for (int i = 0; i < trace->buckets && i < IMPL_MAX_BUCKETS; ++i)
        json_array_append_new(buckets,
                              json_pack("{s:o, s:o}", "bytes", json_size(trace->bucket[i].bytes),
                                        "launch_ns", json_size(trace->bucket[i].launch_ns)));
    return json_pack("{s:o, s:I, s:o, s:o}", "replicas", list, "caller", (json_int_t)trace->caller,
                     "live_bytes", json_size(trace->live_bytes), "buckets", buckets);
}

json_t *serve_about(const struct impl_about *about)
{
    json_t *devices = json_array(), *capabilities = json_array(), *dialects = json_object();

    for (int i = 0; i < about->devices; ++i)
        json_array_append_new(devices, json_string(about->device_name[i]));
    for (int i = 0; i < IMPL_CAPABILITIES; ++i)
        if ((about->capabilities >> i & 1) != 0)
            json_array_append_new(capabilities,
                                  json_string(impl_capability_word((uint64_t)1 << i)));
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if (about->dialect[i] != IMPL_UNDECLARED)
            json_object_set_new(dialects, impl_dialect_word((enum impl_dialect)i),
                                json_string(impl_choice_word(about->dialect[i])));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "name", about->name, "version",
                     about->version, "devices", devices, "capabilities", capabilities, "dialects",
                     dialects, "blas", about->blas, "gpu_software", about->gpu_software);
}
