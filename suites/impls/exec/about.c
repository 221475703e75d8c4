/* about.c: reads the description that the process gives of itself and of a parameter, and
 * traces. */
#include "session.h"

#include <stdio.h>
#include <string.h>

static void read_device_names(struct answer *a, struct impl_about *about)
{
    const json_t *list = answer_field(a, a->ok, "", "devices");

    if (list && (!json_is_array(list) || json_array_size(list) > IMPL_MAX_DEVICES)) {
        answer_fault(a, "devices is not a list of at most %d names", IMPL_MAX_DEVICES);
        return;
    }
    about->devices = (int)json_array_size(list);
    for (int i = 0; i < about->devices; ++i) {
        const json_t *name = json_array_get(list, (size_t)i);

        if (!json_is_string(name))
            answer_fault(a, "devices[%d] is not a text", i);
        else
            process_excerpt(json_string_value(name), json_string_length(name),
                            about->device_name[i], sizeof about->device_name[i]);
    }
}

void answer_about(struct answer *a, struct impl_about *about)
{
    memset(about, 0, sizeof *about);
    answer_text(a, a->ok, "", "name", about->name, sizeof about->name);
    answer_text(a, a->ok, "", "version", about->version, sizeof about->version);
    read_device_names(a, about);
    const json_t *list = answer_field(a, a->ok, "", "capabilities");

    if (list && !json_is_array(list))
        answer_fault(a, "capabilities is not a list");
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const char *word = json_string_value(json_array_get(list, i));
        const uint64_t capability = !word ? 0 : impl_capability_of(word);

        if (capability == 0)
            answer_fault(a, "capabilities[%zu] '%.40s' is not a capability", i,
                         word == NULL ? "" : word);
        about->capabilities |= capability;
    }
    json_t *object = answer_field(a, a->ok, "", "dialects");
    const char *name;
    json_t *value;

    if (object && !json_is_object(object))
        answer_fault(a, "dialects is not an object");
    json_object_foreach(object, name, value)
    {
        const char *word = json_is_string(value) ? json_string_value(value) : "";
        const int dialect = impl_dialect_of(name);

        if (dialect < 0)
            answer_fault(a, "dialects: '%.40s' is not a dialect", name);
        else if (!impl_dialect_allows((enum impl_dialect)dialect, impl_choice_of(word))) {
            enum impl_choice choices[IMPL_MAX_CHOICES];
            const int n = impl_dialect_choices((enum impl_dialect)dialect, choices);
            char allowed[80] = "";
            size_t used = 0;

            for (int i = 0; i < n; ++i)
                used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                         i > 0 ? ", " : "", impl_choice_word(choices[i]));
            answer_fault(a, "dialects.%s '%.24s' is none of: %s",
                         impl_dialect_word((enum impl_dialect)dialect), word, allowed);
        } else {
            about->dialect[dialect] = impl_choice_of(word);
        }
    }
    if (json_object_get(a->ok, "blas")) /* this field is optional */
        answer_text(a, a->ok, "", "blas", about->blas, sizeof about->blas);
    if (json_object_get(a->ok, "gpu_software"))
        answer_text(a, a->ok, "", "gpu_software", about->gpu_software, sizeof about->gpu_software);
}

void answer_param(struct answer *a, struct impl_param *param)
{
    answer_text(a, a->ok, "", "name", param->name, sizeof param->name);
    param->dtype = answer_dtype(a, a->ok, "");
    answer_dims(a, a->ok, "", &param->ndim, param->dim);
    param->device = (int)answer_int(a, a->ok, "", "device", IMPL_HOST, IMPL_MAX_DEVICES - 1);
    param->buffer = answer_flag(a, a->ok, "", "buffer");
    param->frozen = answer_flag(a, a->ok, "", "frozen");
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void read_replica(struct answer *a, const json_t *object, int i,
                         struct impl_replica *replica)
{
    char where[24];

    snprintf(where, sizeof where, "replicas[%d]", i);
    if (!json_is_object(object))
        answer_fault(a, "trace: %s is not an object", where);
    replica->device = (int)answer_int(a, object, where, "device", IMPL_HOST, IMPL_MAX_DEVICES - 1);
    replica->calls = (size_t)answer_size(a, object, where, "calls");
    replica->rows = (size_t)answer_size(a, object, where, "rows");
    replica->thread = (uint64_t)answer_int(a, object, where, "thread", INT64_MIN, INT64_MAX);
    replica->grad = answer_flag(a, object, where, "grad");
    replica->train = answer_flag(a, object, where, "train");
    replica->bytes_to = answer_size(a, object, where, "bytes_to");
    replica->bytes_from = answer_size(a, object, where, "bytes_from");
}

/* Not every process has these fields. */
static void read_buckets(struct answer *a, const json_t *object, struct impl_trace *trace)
{
    const json_t *list = json_object_get(object, "buckets");

    if (!list)
        return;
    list = answer_list_up_to(a, object, "trace", "buckets", IMPL_MAX_BUCKETS);
    trace->buckets = (int)json_array_size(list);
    for (int i = 0; i < trace->buckets; ++i) {
        const json_t *bucket = json_array_get(list, (size_t)i);
        char where[24];

        snprintf(where, sizeof where, "buckets[%d]", i);
        trace->bucket[i].bytes = answer_size(a, bucket, where, "bytes");
        trace->bucket[i].launch_ns = answer_size(a, bucket, where, "launch_ns");
    }
}

void answer_trace(struct answer *a, struct impl_trace *trace)
{
    const json_t *object, *list;

    if (!trace)
        return;
    memset(trace, 0, sizeof *trace);
    object = answer_field(a, a->ok, "", "trace");
    if (!object || json_is_null(object))
        return;
    if (!json_is_object(object)) {
        answer_fault(a, "trace is not an object");
        return;
    }
    list = answer_list_up_to(a, object, "trace", "replicas", IMPL_MAX_DEVICES);
    trace->replicas = (int)json_array_size(list);
    for (int i = 0; i < trace->replicas; ++i)
        read_replica(a, json_array_get(list, (size_t)i), i, &trace->replica[i]);
    trace->caller = (uint64_t)answer_int(a, object, "trace", "caller", INT64_MIN, INT64_MAX);
    trace->live_bytes = answer_size(a, object, "trace", "live_bytes");
    read_buckets(a, object, trace);
}

json_t *json_trace(const struct impl_trace *trace)
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
