/* proxy_echo.c: the same operations run on echo.c in this process and through a pipe: all results
 * are the same to the last bit. */
#include "proxy.h"

#include <math.h>
#include <string.h>

enum { ROOM = 4096, OUTPUTS = 16 };

/* The two sides, and the outputs of each. */
struct sides {
    struct proxy_tally *tally;
    const struct impl_ops *ops[2];
    struct impl_session *session[2];
    struct impl_array out[2][OUTPUTS];
    unsigned char data[2][OUTPUTS][ROOM];
    int status[2];
    struct impl_error err[2];
};

static void clear(struct sides *s)
{
    for (int side = 0; side < 2; ++side) {
        const struct impl_error none = {.status = IMPL_OK};

        s->err[side] = none;
        for (int i = 0; i < OUTPUTS; ++i) {
            const struct impl_array empty = {
                .data = s->data[side][i], .capacity = ROOM, .device = IMPL_NOWHERE};

            s->out[side][i] = empty;
            memset(s->data[side][i], 0xFF, ROOM);
        }
    }
}

static bool same_array(const struct impl_array *a, const struct impl_array *b)
{
    if (a->dtype != b->dtype || a->device != b->device || a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; ++i)
        if (a->dim[i] != b->dim[i])
            return false;
    return memcmp(a->data, b->data, ROOM) == 0;
}

/* Both sides must succeed with the same outputs. */
static void compare_sides(struct sides *s, const char *what)
{
    proxy_expect(s->tally, s->status[0] == IMPL_OK && s->status[1] == IMPL_OK,
                 "%s: status %d and %d: %s", what, s->status[0], s->status[1], s->err[1].text);
    for (int i = 0; i < OUTPUTS; ++i)
        proxy_expect(s->tally, same_array(&s->out[0][i], &s->out[1][i]),
                     "%s: output %d is not the same behind a pipe", what, i);
}

static void same_bytes(struct sides *s, const char *what, const void *a, const void *b,
                       size_t bytes)
{
    proxy_expect(s->tally, memcmp(a, b, bytes) == 0, "%s is not the same behind a pipe", what);
}

/* ---- what is sent ---------------------------------------------------------------------------- */

struct inputs {
    float f32[6];
    double f64[3];
    int32_t i32[2];
    int64_t i64[2];
    struct impl_array array[6];
};

static void make_inputs(struct inputs *in)
{
    static const uint32_t payload = 0x7fa01234; /* a signalling NaN */
    const struct inputs values = {
        .f32 = {-0.0F, INFINITY, 1e-45F, 0.1F, 3.4028235e38F},
        .f64 = {-INFINITY, 5e-324, 0.1},
        .i32 = {INT32_MIN, INT32_MAX},
        .i64 = {INT64_MIN, INT64_MAX},
        .array = {{.dtype = IMPL_F32, .ndim = 3, .dim = {1, 2, 3}, .device = 2, .needs_grad = true},
                  {.dtype = IMPL_F64, .ndim = 1, .dim = {3}, .device = IMPL_HOST},
                  {.dtype = IMPL_I32, .ndim = 5, .dim = {1, 1, 2, 1, 1}, .device = 0},
                  {.dtype = IMPL_I64, .ndim = 1, .dim = {2}, .device = 1},
                  {.dtype = IMPL_F32, .ndim = 2, .dim = {0, 7}, .device = 1},
                  {.dtype = IMPL_NONE}},
    };
    void *const data[] = {in->f32, in->f64, in->i32, in->i64, in->f32, NULL};

    *in = values;
    memcpy(&in->f32[5], &payload, sizeof payload);
    for (int i = 0; i < 6; ++i)
        in->array[i].data = data[i];
}

/* ---- operations ------------------------------------------------------------------------------ */

static void echo_slices(struct sides *s, const struct inputs *in)
{
    static const int devices[] = {2, 0, 1};
    static const size_t sizes[] = {1, 0, 2};
    struct impl_split split[2];

    memset(split, 0, sizeof split);
    for (int k = 0; k < 2; ++k) {
        split[k].rows = SIZE_MAX;
        split[k].devices = 4;
        s->status[k] = s->ops[k]->split(s->session[k], &split[k], &s->err[k]);
    }
    same_bytes(s, "split", &split[0], &split[1], sizeof split[0]);
    proxy_expect(s->tally, split[1].size[1] == UINT64_MAX - 2, "the seed is not the same");
    for (int i = 0; i < 6; ++i) {
        clear(s);
        for (int k = 0; k < 2; ++k) {
            struct impl_scatter op = {.input = &in->array[i],
                                      .devices = devices,
                                      .n = 3,
                                      .dim = i % 2 - 1,
                                      .size = i % 2 == 0 ? sizes : NULL,
                                      .shards = s->out[k],
                                      .source_after = i < 3 ? &s->out[k][3] : NULL};
            s->status[k] = s->ops[k]->scatter(s->session[k], &op, &s->err[k]);
        }
        compare_sides(s, "scatter");
    }
    clear(s);
    for (int k = 0; k < 2; ++k) {
        struct impl_gather op = {.parts = in->array,
                                 .n = 3,
                                 .dim = 1,
                                 .device = IMPL_HOST,
                                 .out = s->out[k],
                                 .out_after = &s->out[k][1]};
        s->status[k] = s->ops[k]->gather(s->session[k], &op, &s->err[k]);
    }
    compare_sides(s, "gather");
}

static void echo_coalesced(struct sides *s, const struct inputs *in)
{
    static const int devices[] = {2, 0};
    size_t counts[2][4];

    memset(counts, 0, sizeof counts);
    clear(s);
    for (int k = 0; k < 2; ++k) {
        struct impl_broadcast op = {.src = in->array,
                                    .n = 4,
                                    .devices = devices,
                                    .n_devices = 2,
                                    .buffer_bytes = SIZE_MAX - 1,
                                    .poke = 1,
                                    .copies = s->out[k],
                                    .src_after = &s->out[k][8]};
        s->status[k] = s->ops[k]->broadcast(s->session[k], &op, &s->err[k]);
        counts[k][0] = op.transfers;
        counts[k][1] = op.default_bytes;
    }
    compare_sides(s, "broadcast");
    clear(s);
    for (int k = 0; k < 2; ++k) {
        struct impl_reduce op = {.src = in->array,
                                 .n = 2,
                                 .k = 2,
                                 .device = 1,
                                 .buffer_bytes = 17,
                                 .poke = -1,
                                 .sums = s->out[k]};
        s->status[k] = s->ops[k]->reduce(s->session[k], &op, &s->err[k]);
        counts[k][2] = op.transfers;
        counts[k][3] = op.default_bytes;
    }
    compare_sides(s, "reduce");
    same_bytes(s, "counts of transfers", counts[0], counts[1], sizeof counts[0]);
}

static void echo_lists(struct sides *s, const struct inputs *in)
{
    static const size_t bytes[] = {40, 60, 100}, limits[] = {SIZE_MAX - 41, 200};
    static const enum impl_dtype dtype[] = {IMPL_F32, IMPL_F64, IMPL_I32};
    struct impl_trace trace[2];
    int bucket[2][3], n_out[2][2];
    size_t limit_of[2][3], index[2][5];

    memset(bucket, 0xFF, sizeof bucket);
    memset(limit_of, 0, sizeof limit_of);
    memset(index, 0, sizeof index);
    memset(trace, 0xFF, sizeof trace);
    clear(s);
    for (int k = 0; k < 2; ++k) {
        struct impl_buckets op = {.bytes = bytes,
                                  .dtype = dtype,
                                  .n = 3,
                                  .limits = limits,
                                  .n_limits = 2,
                                  .bucket = bucket[k],
                                  .limit_of = limit_of[k]};
        struct impl_sampler sampler = {.items = 10,
                                       .ranks = 4,
                                       .rank = 3,
                                       .drop_last = true,
                                       .index = index[k],
                                       .capacity = 5};
        struct impl_call calls[2] = {
            {.description = "{\"a\":\"\\u00e9\\n\"}", .device = 1, .in = in->array, .n_in = 4},
            {.description = "", .device = 0, .in = &in->array[2], .n_in = 1}};
        struct impl_apply apply = {
            .calls = calls, .n = 2, .grad = true, .train = false, .trace = &trace[k]};

        calls[0].out = s->out[k];
        calls[1].out = &s->out[k][IMPL_MAX_IO];
        s->status[k] = s->ops[k]->buckets(s->session[k], &op, &s->err[k]) |
                       s->ops[k]->sampler(s->session[k], &sampler, &s->err[k]) |
                       s->ops[k]->apply(s->session[k], &apply, &s->err[k]);
        n_out[k][0] = calls[0].n_out;
        n_out[k][1] = calls[1].n_out;
        index[k][4] = sampler.n;
    }
    compare_sides(s, "apply");
    same_bytes(s, "bucket", bucket[0], bucket[1], sizeof bucket[0]);
    same_bytes(s, "limit_of", limit_of[0], limit_of[1], sizeof limit_of[0]);
    same_bytes(s, "index", index[0], index[1], sizeof index[0]);
    same_bytes(s, "n_out", n_out[0], n_out[1], sizeof n_out[0]);
    same_bytes(s, "the trace of apply", &trace[0], &trace[1], sizeof trace[0]);
}

/* ---- models ---------------------------------------------------------------------------------- */

static int model_calls(struct sides *s, int k, struct impl_model *m, const struct inputs *in,
                       struct impl_param *param, struct impl_trace trace[2])
{
    static const bool active[] = {true, false};
    const struct impl_ops *ops = s->ops[k];
    struct impl_error *err = &s->err[k];
    const struct impl_step step = {0.1F, 1e-45F, 3e38F, 0.9F, 0.999F, 1e-8F, 0.01F, true};
    struct impl_forward forward = {.in = in->array,
                                   .n_in = 2,
                                   .args = &in->array[3],
                                   .n_args = 1,
                                   .out = s->out[k],
                                   .grad = false,
                                   .train = true,
                                   .active = active,
                                   .no_sync = true,
                                   .trace = &trace[0]};
    struct impl_backward backward = {.grad_out = &in->array[2],
                                     .n_grad_out = 2,
                                     .grad_in = &s->out[k][8],
                                     .n_in = 4,
                                     .trace = &trace[1]};
    int n = 0, status = ops->params(m, &n, err);

    status |= ops->to(m, 2, err);
    status |= ops->param(m, 7, &param[0], err);
    status |= ops->zero_grad(m, err);
    status |= ops->param(m, 0, &param[1], err);
    status |= ops->step(m, &step, err);
    status |= ops->forward(m, &forward, err);
    status |= ops->backward(m, &backward, err);
    status |= ops->get(m, 1, IMPL_GRAD, 1, &s->out[k][12], err);
    status |= ops->set(m, 1, IMPL_GRAD, 2, &in->array[0], err);
    status |= ops->get(m, 0, IMPL_VALUE, 0, &s->out[k][13], err);
    status |= ops->set(m, 1, IMPL_GRAD, 2, &in->array[5], err);
    status |= ops->get(m, 0, IMPL_VALUE, 0, &s->out[k][14], err);
    return status | (n == 20 && forward.n_out == 2 ? IMPL_OK : IMPL_EBROKEN);
}

static void echo_models(struct sides *s, const struct inputs *in)
{
    struct impl_param param[2][2];
    struct impl_trace trace[2][2];

    memset(param, 0, sizeof param);
    memset(trace, 0xFF, sizeof trace);
    clear(s);
    for (int k = 0; k < 2; ++k) {
        struct impl_model *other = NULL, *model = NULL;

        s->status[k] = s->ops[k]->model_open(s->session[k], "another", 1, &other, &s->err[k]) |
                       s->ops[k]->model_open(s->session[k], "\\ \"x\"", 2, &model, &s->err[k]);
        if (s->status[k] == IMPL_OK)
            s->status[k] = model_calls(s, k, model, in, param[k], trace[k]);
        if (other)
            s->ops[k]->model_close(other);
        if (model)
            s->ops[k]->model_close(model);
    }
    compare_sides(s, "models");
    same_bytes(s, "param", param[0], param[1], sizeof param[0]);
    same_bytes(s, "traces", trace[0], trace[1], sizeof trace[0]);
    proxy_expect(s->tally, strcmp(param[1][0].name, "\\ \"x\"") == 0, "a name is '%s'",
                 param[1][0].name);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void echo_errors(struct sides *s, const struct inputs *in)
{
    static const int device = 0;
    struct impl_array small = {.data = s->data[1][0], .capacity = 23};
    struct impl_scatter op = {
        .input = &in->array[0], .devices = &device, .n = 1, .dim = 99, .shards = &small};
    const struct impl_error *err = &s->err[1];

    clear(s);
    proxy_expect(s->tally,
                 s->ops[1]->scatter(s->session[1], &op, &s->err[1]) == IMPL_ESHAPE &&
                     err->status == IMPL_ESHAPE && err->replica == 1 && err->device == 0 &&
                     err->device_also == IMPL_HOST &&
                     strcmp(err->text, "no \"99\"?dimensions") == 0,
                 "an error came through as %d, %d, %d, %d, '%s'", err->status, err->replica,
                 err->device, err->device_also, err->text);
    clear(s);
    op.dim = 0;
    proxy_expect(s->tally,
                 s->ops[1]->scatter(s->session[1], &op, &s->err[1]) == IMPL_EROOM &&
                     s->data[1][0][0] == 0xFF,
                 "24 bytes into a room of 23: %s", err->text);
    small.capacity = 24;
    proxy_expect(s->tally,
                 s->ops[1]->scatter(s->session[1], &op, &s->err[1]) == IMPL_OK &&
                     small.capacity == 24 && s->data[1][0][24] == 0xFF,
                 "24 bytes into a room of 24: %s", err->text);
}

void proxy_echo(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    static struct sides sides; /* its arrays are too large for a stack */
    struct sides *s = &sides;
    struct impl_source source[2];
    struct impl_about about[2];
    struct inputs in;
    char spec[2048];

    make_inputs(&in);
    memset(about, 0, sizeof about);
    s->tally = tally;
    snprintf(spec, sizeof spec, "exec:'%s' '%s'", paths->serve, paths->echo);
    s->session[0] = proxy_open(tally, paths->echo, "some \\ options", &source[0], &about[0]);
    s->session[1] = proxy_open(tally, spec, "some \\ options", &source[1], &about[1]);
    if (!s->session[0] || !s->session[1])
        return;
    for (int k = 0; k < 2; ++k)
        s->ops[k] = source[k].ops;
    same_bytes(s, "about", &about[0], &about[1], sizeof about[0]);
    proxy_expect(tally, strcmp(about[1].name, "echo of some \\ options") == 0, "it is '%s'",
                 about[1].name);
    echo_slices(s, &in);
    echo_coalesced(s, &in);
    echo_lists(s, &in);
    echo_models(s, &in);
    echo_errors(s, &in);
    for (int k = 0; k < 2; ++k)
        s->ops[k]->close(s->session[k]);
}
