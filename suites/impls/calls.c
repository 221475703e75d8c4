/* calls.c: the rows of calls.h. In JSON the fields are in this order. */
#include "calls.h"

#include <string.h>

#define AT(type, member) offsetof(struct type, member)

static const struct impl_field open_fields[] = {
    {"devices", FIELD_TEXT, FIELD_IN, .offset = AT(impl_open_call, config.devices)},
    {"options", FIELD_TEXT, FIELD_IN, .offset = AT(impl_open_call, config.options)},
    {"host_only", FIELD_FLAG, FIELD_IN, .offset = AT(impl_open_call, config.host_only)},
    {"seed", FIELD_SIZE, FIELD_IN, .offset = AT(impl_open_call, config.seed)},
    {"about", FIELD_ABOUT, FIELD_OUT, .offset = AT(impl_open_call, about)},
    {"session", FIELD_HANDLE, FIELD_OUT, .offset = AT(impl_open_call, session)},
};

static const struct impl_field split_fields[] = {
    {"rows", FIELD_SIZE, FIELD_IN, .offset = AT(impl_split, rows)},
    {"devices", FIELD_INT, FIELD_IN, .offset = AT(impl_split, devices)},
    {"size", FIELD_SIZES_HERE, FIELD_OUT, .offset = AT(impl_split, size), .most = IMPL_MAX_DEVICES,
     .length = AT(impl_split, n)},
};

static const struct impl_field scatter_fields[] = {
    {"input", FIELD_ARRAY, FIELD_IN, .offset = AT(impl_scatter, input)},
    {"devices", FIELD_INTS, FIELD_IN, .offset = AT(impl_scatter, devices), .n = AT(impl_scatter, n),
     .length = AT(impl_scatter, n)},
    {"dim", FIELD_INT, FIELD_IN, .offset = AT(impl_scatter, dim)},
    {"size", FIELD_SIZES, FIELD_IN, .offset = AT(impl_scatter, size), .n = AT(impl_scatter, n)},
    {"shards", FIELD_ARRAYS, FIELD_OUT, .offset = AT(impl_scatter, shards),
     .n = AT(impl_scatter, n), .length = AT(impl_scatter, n_shards)},
    {"source_after", FIELD_ARRAY, FIELD_WANTED, .offset = AT(impl_scatter, source_after)},
};

static const struct impl_field gather_fields[] = {
    {"parts", FIELD_ARRAYS, FIELD_IN, .offset = AT(impl_gather, parts), .n = AT(impl_gather, n),
     .length = AT(impl_gather, n)},
    {"dim", FIELD_INT, FIELD_IN, .offset = AT(impl_gather, dim)},
    {"device", FIELD_INT, FIELD_IN, .offset = AT(impl_gather, device)},
    {"out", FIELD_ARRAY, FIELD_OUT, .offset = AT(impl_gather, out)},
    {"out_after", FIELD_ARRAY, FIELD_WANTED, .offset = AT(impl_gather, out_after)},
};

static const struct impl_field broadcast_fields[] = {
    {"src", FIELD_ARRAYS, FIELD_IN, .offset = AT(impl_broadcast, src), .n = AT(impl_broadcast, n),
     .length = AT(impl_broadcast, n)},
    {"devices", FIELD_INTS, FIELD_IN, .offset = AT(impl_broadcast, devices),
     .n = AT(impl_broadcast, n_devices), .length = AT(impl_broadcast, n_devices)},
    {"buffer_bytes", FIELD_SIZE, FIELD_IN, .offset = AT(impl_broadcast, buffer_bytes)},
    {"poke", FIELD_INT, FIELD_IN, .offset = AT(impl_broadcast, poke)},
    {"copies", FIELD_ARRAYS, FIELD_OUT, .offset = AT(impl_broadcast, copies),
     .n = AT(impl_broadcast, n), .times = AT(impl_broadcast, n_devices)},
    {"src_after", FIELD_ARRAYS, FIELD_WANTED, .offset = AT(impl_broadcast, src_after),
     .n = AT(impl_broadcast, n)},
    {"transfers", FIELD_COUNT, FIELD_OUT, .offset = AT(impl_broadcast, transfers)},
    {"default_bytes", FIELD_COUNT, FIELD_OUT, .offset = AT(impl_broadcast, default_bytes)},
};

static const struct impl_field reduce_fields[] = {
    {"src", FIELD_ARRAYS, FIELD_IN, .offset = AT(impl_reduce, src), .n = AT(impl_reduce, n),
     .times = AT(impl_reduce, k)},
    {"n", FIELD_INT, FIELD_IN, .offset = AT(impl_reduce, n)},
    {"k", FIELD_INT, FIELD_IN, .offset = AT(impl_reduce, k)},
    {"device", FIELD_INT, FIELD_IN, .offset = AT(impl_reduce, device)},
    {"buffer_bytes", FIELD_SIZE, FIELD_IN, .offset = AT(impl_reduce, buffer_bytes)},
    {"poke", FIELD_INT, FIELD_IN, .offset = AT(impl_reduce, poke)},
    {"sums", FIELD_ARRAYS, FIELD_OUT, .offset = AT(impl_reduce, sums), .n = AT(impl_reduce, n)},
    {"transfers", FIELD_COUNT, FIELD_OUT, .offset = AT(impl_reduce, transfers)},
    {"default_bytes", FIELD_COUNT, FIELD_OUT, .offset = AT(impl_reduce, default_bytes)},
};

static const struct impl_field call_fields[] = {
    {"description", FIELD_TEXT, FIELD_IN, .offset = AT(impl_call, description)},
    {"device", FIELD_INT, FIELD_IN, .offset = AT(impl_call, device)},
    {"in", FIELD_ARRAYS, FIELD_IN, .offset = AT(impl_call, in), .n = AT(impl_call, n_in),
     .length = AT(impl_call, n_in)},
    {"out", FIELD_ARRAYS, FIELD_OUT, .offset = AT(impl_call, out), .most = IMPL_MAX_IO,
     .length = AT(impl_call, n_out)},
};

static const struct impl_field apply_fields[] = {
    {"calls", FIELD_CALLS, FIELD_BOTH, .offset = AT(impl_apply, calls), .n = AT(impl_apply, n),
     .length = AT(impl_apply, n)},
    {"grad", FIELD_FLAG, FIELD_IN, .offset = AT(impl_apply, grad)},
    {"train", FIELD_FLAG, FIELD_IN, .offset = AT(impl_apply, train)},
    {"trace", FIELD_TRACE, FIELD_WANTED, .offset = AT(impl_apply, trace)},
};

static const struct impl_field buckets_fields[] = {
    {"bytes", FIELD_SIZES, FIELD_IN, .offset = AT(impl_buckets, bytes), .n = AT(impl_buckets, n),
     .length = AT(impl_buckets, n)},
    {"dtype", FIELD_DTYPES, FIELD_IN, .offset = AT(impl_buckets, dtype), .n = AT(impl_buckets, n)},
    {"limits", FIELD_SIZES, FIELD_IN, .offset = AT(impl_buckets, limits),
     .n = AT(impl_buckets, n_limits), .length = AT(impl_buckets, n_limits)},
    {"bucket", FIELD_BUCKETS, FIELD_OUT, .offset = AT(impl_buckets, bucket),
     .n = AT(impl_buckets, n)},
    {"limit_of", FIELD_SIZES, FIELD_OUT, .offset = AT(impl_buckets, limit_of),
     .n = AT(impl_buckets, n), .length = AT(impl_buckets, n_buckets)},
};

static const struct impl_field sampler_fields[] = {
    {"items", FIELD_SIZE, FIELD_IN, .offset = AT(impl_sampler, items)},
    {"ranks", FIELD_INT, FIELD_IN, .offset = AT(impl_sampler, ranks)},
    {"rank", FIELD_INT, FIELD_IN, .offset = AT(impl_sampler, rank)},
    {"drop_last", FIELD_FLAG, FIELD_IN, .offset = AT(impl_sampler, drop_last)},
    {"index", FIELD_SIZES, FIELD_OUT, .offset = AT(impl_sampler, index),
     .n = AT(impl_sampler, capacity), .length = AT(impl_sampler, n), .wide = true},
};

static const struct impl_field model_open_fields[] = {
    {"description", FIELD_TEXT, FIELD_IN, .offset = AT(impl_model_open_call, description)},
    {"ranks", FIELD_INT, FIELD_IN, .offset = AT(impl_model_open_call, ranks)},
    {"model", FIELD_HANDLE, FIELD_OUT, .offset = AT(impl_model_open_call, model)},
};

static const struct impl_field params_fields[] = {
    {"n", FIELD_INT, FIELD_OUT, .offset = AT(impl_number_call, number), .most = 1 << 20},
};

static const struct impl_field param_fields[] = {
    {"i", FIELD_INT, FIELD_IN, .offset = AT(impl_param_call, i)},
    {"param", FIELD_PARAM, FIELD_OUT, .offset = AT(impl_param_call, param)},
};

static const struct impl_field set_fields[] = {
    {"rank", FIELD_INT, FIELD_IN, .offset = AT(impl_value_call, rank)},
    {"what", FIELD_WHAT, FIELD_IN, .offset = AT(impl_value_call, what)},
    {"i", FIELD_INT, FIELD_IN, .offset = AT(impl_value_call, i)},
    {"array", FIELD_ARRAY, FIELD_IN, .offset = AT(impl_value_call, array)},
};

static const struct impl_field get_fields[] = {
    {"rank", FIELD_INT, FIELD_IN, .offset = AT(impl_value_call, rank)},
    {"what", FIELD_WHAT, FIELD_IN, .offset = AT(impl_value_call, what)},
    {"i", FIELD_INT, FIELD_IN, .offset = AT(impl_value_call, i)},
    {"array", FIELD_ARRAY, FIELD_OUT, .offset = AT(impl_value_call, array)},
};

static const struct impl_field to_fields[] = {
    {"device", FIELD_INT, FIELD_IN, .offset = AT(impl_number_call, number)},
};

static const struct impl_field forward_fields[] = {
    {"in", FIELD_ARRAYS, FIELD_IN, .offset = AT(impl_forward, in), .n = AT(impl_forward, n_in),
     .each_rank = true},
    {"n_in", FIELD_INT, FIELD_IN, .offset = AT(impl_forward, n_in)},
    {"args", FIELD_ARRAYS, FIELD_IN, .offset = AT(impl_forward, args),
     .n = AT(impl_forward, n_args), .length = AT(impl_forward, n_args)},
    {"grad", FIELD_FLAG, FIELD_IN, .offset = AT(impl_forward, grad)},
    {"train", FIELD_FLAG, FIELD_IN, .offset = AT(impl_forward, train)},
    {"active", FIELD_FLAGS, FIELD_IN, .offset = AT(impl_forward, active), .each_rank = true},
    {"no_sync", FIELD_FLAG, FIELD_IN, .offset = AT(impl_forward, no_sync)},
    {"out", FIELD_OUTPUTS, FIELD_OUT, .offset = AT(impl_forward, out), .most = IMPL_MAX_IO,
     .each_rank = true},
    {"n_out", FIELD_INT, FIELD_OUT, .offset = AT(impl_forward, n_out)},
    {"trace", FIELD_TRACE, FIELD_WANTED, .offset = AT(impl_forward, trace)},
};

static const struct impl_field backward_fields[] = {
    {"grad_out", FIELD_ARRAYS, FIELD_IN, .offset = AT(impl_backward, grad_out),
     .n = AT(impl_backward, n_grad_out), .each_rank = true},
    {"n_grad_out", FIELD_INT, FIELD_IN, .offset = AT(impl_backward, n_grad_out)},
    {"n_in", FIELD_INT, FIELD_IN, .offset = AT(impl_backward, n_in)},
    {"grad_in", FIELD_ARRAYS, FIELD_OUT, .offset = AT(impl_backward, grad_in),
     .n = AT(impl_backward, n_in)},
    {"trace", FIELD_TRACE, FIELD_WANTED, .offset = AT(impl_backward, trace)},
};

static const struct impl_field step_fields[] = {
    {"lr", FIELD_FLOAT, FIELD_IN, .offset = AT(impl_step, lr)},
    {"momentum", FIELD_FLOAT, FIELD_IN, .offset = AT(impl_step, momentum)},
    {"max_norm", FIELD_FLOAT, FIELD_IN, .offset = AT(impl_step, max_norm)},
    {"adamw", FIELD_ADAMW, FIELD_IN, .offset = 0},
};

#define FIELDS(list) .field = (list), .n_fields = sizeof(list) / sizeof(list)[0]

const struct impl_operation impl_operations[IMPL_OPS] = {
    [IMPL_OP_OPEN] = {"open", sizeof(struct impl_open_call), FIELDS(open_fields)},
    [IMPL_OP_CLOSE] = {.name = "close"},
    [IMPL_OP_RESET] = {.name = "reset"},
    [IMPL_OP_SPLIT] = {"split", sizeof(struct impl_split), FIELDS(split_fields)},
    [IMPL_OP_SCATTER] = {"scatter", sizeof(struct impl_scatter), FIELDS(scatter_fields)},
    [IMPL_OP_GATHER] = {"gather", sizeof(struct impl_gather), FIELDS(gather_fields)},
    [IMPL_OP_BROADCAST] = {"broadcast", sizeof(struct impl_broadcast), FIELDS(broadcast_fields),
                           .room = ROOM_OF_LARGEST},
    [IMPL_OP_REDUCE] = {"reduce", sizeof(struct impl_reduce), FIELDS(reduce_fields),
                        .room = ROOM_OF_LARGEST},
    [IMPL_OP_APPLY] = {"apply", sizeof(struct impl_apply), FIELDS(apply_fields),
                       .room = ROOM_OF_MODEL},
    [IMPL_OP_BUCKETS] = {"buckets", sizeof(struct impl_buckets), FIELDS(buckets_fields)},
    [IMPL_OP_SAMPLER] = {"sampler", sizeof(struct impl_sampler), FIELDS(sampler_fields)},
    [IMPL_OP_MODEL_OPEN] = {"model_open", sizeof(struct impl_model_open_call),
                            FIELDS(model_open_fields)},
    [IMPL_OP_MODEL_CLOSE] = {.name = "model_close", .on_model = true},
    [IMPL_OP_PARAMS] = {"params", sizeof(struct impl_number_call), FIELDS(params_fields),
                        .on_model = true},
    [IMPL_OP_PARAM] = {"param", sizeof(struct impl_param_call), FIELDS(param_fields),
                       .on_model = true},
    [IMPL_OP_SET] = {"set", sizeof(struct impl_value_call), FIELDS(set_fields), .on_model = true},
    [IMPL_OP_GET] = {"get", sizeof(struct impl_value_call), FIELDS(get_fields),
                     .room = ROOM_OF_PARAM, .on_model = true},
    [IMPL_OP_TO] = {"to", sizeof(struct impl_number_call), FIELDS(to_fields), .on_model = true},
    [IMPL_OP_ZERO_GRAD] = {.name = "zero_grad", .on_model = true},
    [IMPL_OP_FORWARD] = {"forward", sizeof(struct impl_forward), FIELDS(forward_fields),
                         .room = ROOM_OF_MODEL, .on_model = true},
    [IMPL_OP_BACKWARD] = {"backward", sizeof(struct impl_backward), FIELDS(backward_fields),
                          .room = ROOM_OF_MODEL, .on_model = true},
    [IMPL_OP_STEP] = {"step", sizeof(struct impl_step), FIELDS(step_fields), .on_model = true},
};

const struct impl_operation impl_call_operation = {"calls", sizeof(struct impl_call),
                                                   FIELDS(call_fields), .room = ROOM_OF_MODEL};

enum impl_op impl_op_of(const char *name)
{
    int op = 0;

    while (op < IMPL_OPS && strcmp(impl_operations[op].name, name) != 0)
        ++op;
    return (enum impl_op)op;
}

/* ---- a field of a call ----------------------------------------------------------------------- */

static size_t int_at(const void *arguments, size_t offset)
{
    int number;

    memcpy(&number, (const char *)arguments + offset, sizeof number);
    return number > 0 ? (size_t)number : 0;
}

static size_t size_at(const void *arguments, size_t offset)
{
    size_t number;

    memcpy(&number, (const char *)arguments + offset, sizeof number);
    return number;
}

size_t impl_field_count(const struct impl_field *field, const void *arguments, int ranks)
{
    size_t n = field->most > 0 ? field->most : 1;

    if (field->wide)
        return size_at(arguments, field->n);
    if (field->n > 0)
        n *= int_at(arguments, field->n);
    if (field->times > 0)
        n *= int_at(arguments, field->times);
    if (field->each_rank)
        n *= ranks > 0 ? (size_t)ranks : 0;
    return n;
}

size_t impl_field_used(const struct impl_field *field, const void *arguments, int ranks)
{
    if (field->length == 0)
        return impl_field_count(field, arguments, ranks);
    return field->wide ? size_at(arguments, field->length) : int_at(arguments, field->length);
}

void impl_field_use(const struct impl_field *field, void *arguments, size_t n)
{
    const int number = (int)n;

    if (field->wide)
        memcpy((char *)arguments + field->length, &n, sizeof n);
    else if (field->length > 0)
        memcpy((char *)arguments + field->length, &number, sizeof number);
}

bool impl_field_is_pointer(enum impl_kind kind)
{
    return kind >= FIELD_TEXT;
}

size_t impl_field_bytes(enum impl_kind kind)
{
    static const size_t bytes[] = {
        [FIELD_INT] = sizeof(int),
        [FIELD_SIZE] = sizeof(size_t),
        [FIELD_COUNT] = sizeof(size_t),
        [FIELD_FLAG] = sizeof(bool),
        [FIELD_FLOAT] = sizeof(float),
        [FIELD_WHAT] = sizeof(enum impl_what),
        [FIELD_ADAMW] = sizeof(struct impl_step),
        [FIELD_HANDLE] = sizeof(void *),
        [FIELD_ABOUT] = sizeof(struct impl_about),
        [FIELD_PARAM] = sizeof(struct impl_param),
        [FIELD_SIZES_HERE] = IMPL_MAX_DEVICES * sizeof(size_t),
        [FIELD_TEXT] = 1,
        [FIELD_INTS] = sizeof(int),
        [FIELD_BUCKETS] = sizeof(int),
        [FIELD_SIZES] = sizeof(size_t),
        [FIELD_FLAGS] = sizeof(bool),
        [FIELD_DTYPES] = sizeof(enum impl_dtype),
        [FIELD_ARRAY] = sizeof(struct impl_array),
        [FIELD_ARRAYS] = sizeof(struct impl_array),
        [FIELD_OUTPUTS] = sizeof(struct impl_array),
        [FIELD_CALLS] = sizeof(struct impl_call),
        [FIELD_TRACE] = sizeof(struct impl_trace),
    };

    return bytes[kind];
}

void *impl_field_at(const struct impl_field *field, const void *arguments)
{
    return (char *)arguments + field->offset;
}

void *impl_field_target(const struct impl_field *field, const void *arguments)
{
    void *target;

    memcpy(&target, (const char *)arguments + field->offset, sizeof target);
    return target;
}

/* ---- making a call --------------------------------------------------------------------------- */

int impl_invoke(const struct impl_ops *ops, enum impl_op op, struct impl_session *session,
                struct impl_model *model, void *arguments, struct impl_error *err)
{
    union impl_arguments *a = arguments;

    switch (op) {
    case IMPL_OP_OPEN:
        return ops->open(&a->open.config, &a->open.about, &a->open.session, err);
    case IMPL_OP_CLOSE:
        ops->close(session);
        return IMPL_OK;
    case IMPL_OP_RESET:
        return ops->reset(session, err);
    case IMPL_OP_SPLIT:
        return ops->split(session, &a->split, err);
    case IMPL_OP_SCATTER:
        return ops->scatter(session, &a->scatter, err);
    case IMPL_OP_GATHER:
        return ops->gather(session, &a->gather, err);
    case IMPL_OP_BROADCAST:
        return ops->broadcast(session, &a->broadcast, err);
    case IMPL_OP_REDUCE:
        return ops->reduce(session, &a->reduce, err);
    case IMPL_OP_APPLY:
        return ops->apply(session, &a->apply, err);
    case IMPL_OP_BUCKETS:
        return ops->buckets(session, &a->buckets, err);
    case IMPL_OP_SAMPLER:
        return ops->sampler(session, &a->sampler, err);
    case IMPL_OP_MODEL_OPEN:
        return ops->model_open(session, a->model_open.description, a->model_open.ranks,
                               &a->model_open.model, err);
    case IMPL_OP_MODEL_CLOSE:
        ops->model_close(model);
        return IMPL_OK;
    case IMPL_OP_PARAMS:
        return ops->params(model, &a->number.number, err);
    case IMPL_OP_PARAM:
        return ops->param(model, a->param.i, &a->param.param, err);
    case IMPL_OP_SET:
        return ops->set(model, a->value.rank, a->value.what, a->value.i, a->value.array, err);
    case IMPL_OP_GET:
        return ops->get(model, a->value.rank, a->value.what, a->value.i, a->value.array, err);
    case IMPL_OP_TO:
        return ops->to(model, a->number.number, err);
    case IMPL_OP_ZERO_GRAD:
        return ops->zero_grad(model, err);
    case IMPL_OP_FORWARD:
        return ops->forward(model, &a->forward, err);
    case IMPL_OP_BACKWARD:
        return ops->backward(model, &a->backward, err);
    case IMPL_OP_STEP:
        return ops->step(model, &a->step, err);
    case IMPL_OPS:
        break;
    }
    return IMPL_EBROKEN;
}
