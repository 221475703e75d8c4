/* serve_operations.c: each operation of the protocol, as a call of the table. */
#include "serve.h"

#include <string.h>

/* An implementation may make results larger than its inputs. */
enum { MORE = 65536, MODEL_ROOM = 1 << 22 };

static int serve_open(struct serve *s, json_t **ok, struct impl_error *err)
{
    const json_t *request = s->request.ok;
    const char *devices = json_string_value(json_object_get(request, "devices"));
    const char *options = json_string_value(json_object_get(request, "options"));
    const struct impl_config config = {
        .devices = !devices ? "" : devices,
        .options = !options || options[0] == '\0' ? s->source.options : options,
        .host_only = serve_true(s, "host_only"),
        .seed = answer_size(&s->request, request, "", "seed"),
    };
    struct impl_about about;
    int status;

    memset(&about, 0, sizeof about);
    status = s->source.ops->open(&config, &about, &s->session, err);
    if (status == IMPL_OK)
        *ok = serve_about(&about);
    return status;
}

static int serve_reset(struct serve *s, json_t **ok, struct impl_error *err)
{
    memset(s->model, 0, sizeof s->model);
    *ok = json_object();
    return s->source.ops->reset(s->session, err);
}

static int serve_split(struct serve *s, json_t **ok, struct impl_error *err)
{
    struct impl_split op = {.rows = (size_t)answer_size(&s->request, s->request.ok, "", "rows"),
                            .devices = serve_int(s, "devices")};
    const int status = s->source.ops->split(s->session, &op, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:o}", "size", json_sizes(op.size, (size_t)op.n));
    return status;
}

static int serve_scatter(struct serve *s, json_t **ok, struct impl_error *err)
{
    size_t n, n_sizes;
    const struct impl_array *input = serve_array(s, "input");
    const int *devices = serve_ints(s, "devices", &n);
    const size_t bytes = serve_bytes(input, 1) + MORE;
    struct impl_scatter op = {
        .input = input,
        .devices = devices,
        .n = (int)n,
        .dim = serve_int(s, "dim"),
        .size = serve_sizes(s, "size", &n_sizes),
        .shards = serve_outputs(s, n, bytes),
        .source_after = serve_true(s, "source_after") ? serve_outputs(s, 1, bytes) : NULL};
    const int status = s->source.ops->scatter(s->session, &op, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:o, s:o}", "shards", json_arrays(op.shards, (size_t)op.n_shards),
                        "source_after",
                        op.source_after == NULL ? json_null() : json_array_of(op.source_after));
    return status;
}

static int serve_gather(struct serve *s, json_t **ok, struct impl_error *err)
{
    size_t n;
    const struct impl_array *parts = serve_arrays(s, s->request.ok, "parts", &n);
    const size_t bytes = serve_bytes(parts, n) + MORE;
    struct impl_gather op = {.parts = parts,
                             .n = (int)n,
                             .dim = serve_int(s, "dim"),
                             .device = serve_int(s, "device"),
                             .out = serve_outputs(s, 1, bytes),
                             .out_after =
                                 serve_true(s, "out_after") ? serve_outputs(s, 1, bytes) : NULL};
    const int status = s->source.ops->gather(s->session, &op, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:o, s:o}", "out", json_array_of(op.out), "out_after",
                        op.out_after == NULL ? json_null() : json_array_of(op.out_after));
    return status;
}

/* The largest of them: a result for each of many tensors must not have room for all of them. */
static size_t largest(const struct impl_array *arrays, size_t n)
{
    size_t bytes = 0;

    for (size_t i = 0; i < n; ++i)
        if (arrays[i].capacity > bytes)
            bytes = arrays[i].capacity;
    return bytes + 64;
}

static int serve_broadcast(struct serve *s, json_t **ok, struct impl_error *err)
{
    size_t n, devices;
    const struct impl_array *src = serve_arrays(s, s->request.ok, "src", &n);
    const int *ids = serve_ints(s, "devices", &devices);
    const size_t bytes = largest(src, n);
    struct impl_broadcast op = {
        .src = src,
        .n = (int)n,
        .devices = ids,
        .n_devices = (int)devices,
        .buffer_bytes = (size_t)answer_size(&s->request, s->request.ok, "", "buffer_bytes"),
        .poke = serve_int(s, "poke"),
        .copies = serve_outputs(s, n * devices, bytes),
        .src_after = serve_true(s, "src_after") ? serve_outputs(s, n, bytes) : NULL};
    const int status = s->source.ops->broadcast(s->session, &op, err);

    if (status == IMPL_OK)
        *ok = json_pack(
            "{s:o, s:o, s:o, s:o}", "copies", json_arrays(op.copies, n * devices), "src_after",
            op.src_after == NULL ? json_null() : json_arrays(op.src_after, n), "transfers",
            json_size(op.transfers), "default_bytes", json_size(op.default_bytes));
    return status;
}

static int serve_reduce(struct serve *s, json_t **ok, struct impl_error *err)
{
    size_t all;
    const struct impl_array *src = serve_arrays(s, s->request.ok, "src", &all);
    const int n = serve_int(s, "n");
    struct impl_reduce op = {
        .src = src,
        .n = n,
        .k = serve_int(s, "k"),
        .device = serve_int(s, "device"),
        .buffer_bytes = (size_t)answer_size(&s->request, s->request.ok, "", "buffer_bytes"),
        .poke = serve_int(s, "poke"),
        .sums = serve_outputs(s, (size_t)n, largest(src, all))};
    const int status = s->source.ops->reduce(s->session, &op, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:o, s:o, s:o}", "sums", json_arrays(op.sums, (size_t)n), "transfers",
                        json_size(op.transfers), "default_bytes", json_size(op.default_bytes));
    return status;
}

static int serve_apply(struct serve *s, json_t **ok, struct impl_error *err)
{
    const json_t *list = json_object_get(s->request.ok, "calls");
    const size_t n = json_array_size(list);
    struct impl_trace *trace =
        serve_true(s, "trace") ? serve_memory(s, sizeof(struct impl_trace)) : NULL;
    struct impl_apply op = {.calls = serve_memory(s, (n + 1) * sizeof *op.calls),
                            .n = (int)n,
                            .grad = serve_true(s, "grad"),
                            .train = serve_true(s, "train"),
                            .trace = trace};
    json_t *results;
    int status;

    for (size_t i = 0; i < n; ++i) {
        const json_t *call = json_array_get(list, i);
        size_t n_in;

        op.calls[i].description = json_string_value(json_object_get(call, "description"));
        op.calls[i].device = (int)json_integer_value(json_object_get(call, "device"));
        op.calls[i].in = serve_arrays(s, call, "in", &n_in);
        op.calls[i].n_in = (int)n_in;
        op.calls[i].out = serve_outputs(s, IMPL_MAX_IO, MODEL_ROOM);
    }
    status = s->source.ops->apply(s->session, &op, err);
    if (status != IMPL_OK)
        return status;
    results = json_array();
    for (size_t i = 0; i < n; ++i)
        json_array_append_new(
            results,
            json_pack("{s:o}", "out", json_arrays(op.calls[i].out, (size_t)op.calls[i].n_out)));
    *ok = json_pack("{s:o, s:o}", "calls", results, "trace", serve_trace(trace));
    return status;
}

static int serve_buckets(struct serve *s, json_t **ok, struct impl_error *err)
{
    const json_t *words = json_object_get(s->request.ok, "dtype");
    size_t n, n_limits;
    const size_t *bytes = serve_sizes(s, "bytes", &n);
    enum impl_dtype *dtype = serve_memory(s, (n + 1) * sizeof *dtype);
    const size_t *limits = serve_sizes(s, "limits", &n_limits);
    struct impl_buckets op = {.bytes = bytes,
                              .dtype = dtype,
                              .n = (int)n,
                              .limits = limits,
                              .n_limits = (int)n_limits,
                              .bucket = serve_memory(s, (n + 1) * sizeof *op.bucket),
                              .limit_of = serve_memory(s, (n + 1) * sizeof *op.limit_of)};
    int status;

    for (size_t i = 0; i < n; ++i)
        dtype[i] = impl_dtype_of(json_string_value(json_array_get(words, i)));
    status = s->source.ops->buckets(s->session, &op, err);
    if (status == IMPL_OK)
        *ok = json_pack("{s:o, s:o}", "bucket", json_ints(op.bucket, n), "limit_of",
                        json_sizes(op.limit_of, (size_t)op.n_buckets));
    return status;
}

static int serve_sampler(struct serve *s, json_t **ok, struct impl_error *err)
{
    const size_t items = (size_t)answer_size(&s->request, s->request.ok, "", "items");
    const size_t room = items < MODEL_ROOM ? items + 1024 : MODEL_ROOM;
    struct impl_sampler op = {.items = items,
                              .ranks = serve_int(s, "ranks"),
                              .rank = serve_int(s, "rank"),
                              .drop_last = serve_true(s, "drop_last"),
                              .index = serve_memory(s, room * sizeof *op.index),
                              .capacity = room};
    const int status = s->source.ops->sampler(s->session, &op, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:o}", "index", json_sizes(op.index, op.n));
    return status;
}

int serve_operation(struct serve *s, const char *op, json_t **ok, struct impl_error *err)
{
    static const struct {
        const char *op;
        int (*run)(struct serve *s, json_t **ok, struct impl_error *err);
    } table[] = {
        {"open", serve_open},       {"reset", serve_reset},   {"split", serve_split},
        {"scatter", serve_scatter}, {"gather", serve_gather}, {"broadcast", serve_broadcast},
        {"reduce", serve_reduce},   {"apply", serve_apply},   {"buckets", serve_buckets},
        {"sampler", serve_sampler},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
        if (strcmp(table[i].op, op) == 0)
            return table[i].run(s, ok, err);
    return serve_model_operation(s, op, ok, err);
}
