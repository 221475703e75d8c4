/* primitives.c: the operations without a model. */
#include "session.h"

#include <stdio.h>

int exec_split(struct impl_session *session, struct impl_split *op, struct impl_error *err)
{
    const struct question question = {
        .op = "split",
        .fields = json_pack("{s:o, s:i}", "rows", json_size(op->rows), "devices", op->devices)};
    struct answer a;
    const int status = session_ask(session, question, &a, err);
    const json_t *list;

    if (status != IMPL_OK)
        return status;
    list = answer_list_up_to(&a, a.ok, "", "size", IMPL_MAX_DEVICES);
    op->n = (int)json_array_size(list);
    for (int i = 0; i < op->n; ++i)
        op->size[i] = (size_t)answer_size_of(&a, json_array_get(list, (size_t)i), "size");
    return answer_end(&a);
}

int exec_scatter(struct impl_session *session, struct impl_scatter *op, struct impl_error *err)
{
    const size_t n = op->n > 0 ? (size_t)op->n : 0;
    const struct question question = {
        .op = "scatter",
        .fields = json_pack("{s:o, s:o, s:i, s:o, s:b}", "input", json_array_of(op->input),
                            "devices", json_ints(op->devices, n), "dim", op->dim, "size",
                            json_sizes(op->size, n), "source_after", op->source_after != NULL),
        .room = arrays_room(op->shards, n) + arrays_room(op->source_after, 1)};
    struct answer a;
    const int status = session_ask(session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    op->n_shards = (int)answer_arrays_up_to(&a, a.ok, "", "shards", op->shards, n);
    answer_array_field(&a, "source_after", op->source_after);
    return answer_end(&a);
}

int exec_gather(struct impl_session *session, struct impl_gather *op, struct impl_error *err)
{
    const struct question question = {
        .op = "gather",
        .fields = json_pack("{s:o, s:i, s:i, s:b}", "parts",
                            json_arrays(op->parts, op->n > 0 ? (size_t)op->n : 0), "dim", op->dim,
                            "device", op->device, "out_after", op->out_after != NULL),
        .room = arrays_room(op->out, 1) + arrays_room(op->out_after, 1)};
    struct answer a;
    const int status = session_ask(session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_array_field(&a, "out", op->out);
    answer_array_field(&a, "out_after", op->out_after);
    return answer_end(&a);
}

/* Counts that an implementation may not have. */
static void read_counts(struct answer *a, size_t *transfers, size_t *default_bytes)
{
    *transfers = *default_bytes = 0;
    if (json_object_get(a->ok, "transfers"))
        *transfers = (size_t)answer_size(a, a->ok, "", "transfers");
    if (json_object_get(a->ok, "default_bytes"))
        *default_bytes = (size_t)answer_size(a, a->ok, "", "default_bytes");
}

int exec_broadcast(struct impl_session *session, struct impl_broadcast *op, struct impl_error *err)
{
    const size_t n = op->n > 0 ? (size_t)op->n : 0;
    const size_t devices = op->n_devices > 0 ? (size_t)op->n_devices : 0;
    const struct question question = {
        .op = "broadcast",
        .fields =
            json_pack("{s:o, s:o, s:o, s:i, s:b}", "src", json_arrays(op->src, n), "devices",
                      json_ints(op->devices, devices), "buffer_bytes", json_size(op->buffer_bytes),
                      "poke", op->poke, "src_after", op->src_after != NULL),
        .room = arrays_room(op->copies, n * devices) + arrays_room(op->src_after, n)};
    struct answer a;
    const int status = session_ask(session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_arrays_field(&a, "copies", op->copies, n * devices);
    answer_arrays_field(&a, "src_after", op->src_after, n);
    read_counts(&a, &op->transfers, &op->default_bytes);
    return answer_end(&a);
}

int exec_reduce(struct impl_session *session, struct impl_reduce *op, struct impl_error *err)
{
    const size_t n = op->n > 0 ? (size_t)op->n : 0;
    const size_t k = op->k > 0 ? (size_t)op->k : 0;
    const struct question question = {
        .op = "reduce",
        .fields = json_pack("{s:o, s:i, s:i, s:i, s:o, s:i}", "src", json_arrays(op->src, n * k),
                            "n", op->n, "k", op->k, "device", op->device, "buffer_bytes",
                            json_size(op->buffer_bytes), "poke", op->poke),
        .room = arrays_room(op->sums, n)};
    struct answer a;
    const int status = session_ask(session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_arrays_field(&a, "sums", op->sums, n);
    read_counts(&a, &op->transfers, &op->default_bytes);
    return answer_end(&a);
}

static json_t *json_calls(const struct impl_apply *op)
{
    json_t *list = json_array();

    for (int i = 0; i < op->n; ++i) {
        const struct impl_call *call = &op->calls[i];
        json_t *one = json_pack("{s:s, s:i, s:o}", "description", call->description, "device",
                                call->device, "in", json_arrays(call->in, (size_t)call->n_in));

        if (json_array_append_new(list, one) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

int exec_apply(struct impl_session *session, struct impl_apply *op, struct impl_error *err)
{
    struct question question = {.op = "apply",
                                .fields = json_pack("{s:o, s:b, s:b, s:b}", "calls", json_calls(op),
                                                    "grad", op->grad, "train", op->train, "trace",
                                                    op->trace != NULL)};
    struct answer a;
    const json_t *list;
    char where[24];
    int status;

    for (int i = 0; i < op->n; ++i)
        question.room += arrays_room(op->calls[i].out, IMPL_MAX_IO);
    status = session_ask(session, question, &a, err);
    if (status != IMPL_OK)
        return status;
    list = answer_list(&a, a.ok, "", "calls", op->n > 0 ? (size_t)op->n : 0);
    for (int i = 0; i < op->n && list; ++i) {
        snprintf(where, sizeof where, "calls[%d]", i);
        op->calls[i].n_out = (int)answer_arrays_up_to(&a, json_array_get(list, (size_t)i), where,
                                                      "out", op->calls[i].out, IMPL_MAX_IO);
    }
    answer_trace(&a, op->trace);
    return answer_end(&a);
}

static json_t *json_dtypes(const enum impl_dtype *dtypes, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; ++i)
        json_array_append_new(list, json_string(impl_dtype_word(dtypes[i])));
    return list;
}

int exec_buckets(struct impl_session *session, struct impl_buckets *op, struct impl_error *err)
{
    const size_t n = op->n > 0 ? (size_t)op->n : 0;
    const struct question question = {
        .op = "buckets",
        .fields = json_pack("{s:o, s:o, s:o}", "bytes", json_sizes(op->bytes, n), "dtype",
                            json_dtypes(op->dtype, n), "limits",
                            json_sizes(op->limits, op->n_limits > 0 ? (size_t)op->n_limits : 0)),
        .room = n * 32};
    struct answer a;
    const int status = session_ask(session, question, &a, err);
    const json_t *bucket, *limit;
    json_t *entry;
    size_t i;

    if (status != IMPL_OK)
        return status;
    bucket = answer_list(&a, a.ok, "", "bucket", n);
    json_array_foreach(bucket, i, entry)
    {
        if (!json_is_integer(entry) || json_integer_value(entry) < 0 ||
            json_integer_value(entry) >= (json_int_t)n)
            answer_fault(&a, "bucket[%zu] is not a number of 0 .. %zu", i, n - 1);
        op->bucket[i] = a.fault[0] == '\0' ? (int)json_integer_value(entry) : -1;
    }
    limit = answer_list_up_to(&a, a.ok, "", "limit_of", n);
    json_array_foreach(limit, i, entry) op->limit_of[i] =
        (size_t)answer_size_of(&a, entry, "limit_of");
    op->n_buckets = (int)json_array_size(limit);
    return answer_end(&a);
}

int exec_sampler(struct impl_session *session, struct impl_sampler *op, struct impl_error *err)
{
    const struct question question = {
        .op = "sampler",
        .fields = json_pack("{s:o, s:i, s:i, s:b}", "items", json_size(op->items), "ranks",
                            op->ranks, "rank", op->rank, "drop_last", op->drop_last),
        .room = op->capacity < SIZE_MAX / 32 ? op->capacity * 24 : SIZE_MAX};
    struct answer a;
    const int status = session_ask(session, question, &a, err);
    const json_t *list;
    json_t *entry;
    size_t i;

    if (status != IMPL_OK)
        return status;
    list = answer_list_up_to(&a, a.ok, "", "index", op->capacity);
    op->n = json_array_size(list);
    json_array_foreach(list, i, entry) op->index[i] = (size_t)answer_size_of(&a, entry, "index");
    return answer_end(&a);
}
