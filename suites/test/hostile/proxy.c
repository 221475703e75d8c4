/* proxy.c: proxy_test SERVE ECHO: tests suites/impls/exec and load.c without the runner. */
#include "load.h"
#include "process.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct proxy_paths {
    const char *serve, *echo; /* the program, the shared object */
};

struct proxy_tally {
    int held, failed;
};

/* Counts an expectation, and complains if it does not hold. */
static void proxy_expect(struct proxy_tally *tally, bool holds, const char *format, ...)
{
    va_list args;

    if (holds) {
        ++tally->held;
        return;
    }
    ++tally->failed;
    va_start(args, format);
    fprintf(stderr, "FAILED: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
}

/* Opens a source and a session; returns NULL after a complaint. */
static struct impl_session *proxy_open(struct proxy_tally *tally, const char *spec,
                                       const char *options, struct impl_source *source,
                                       struct impl_about *about)
{
    struct impl_session *session = NULL;
    struct impl_error err = {.status = IMPL_OK};
    char reason[600] = "";

    if (impl_load(spec, options, source, reason) == 0) {
        const struct impl_config config = {"cuda:\"0\"", source->options, false, UINT64_MAX - 2};

        if (source->ops->open(&config, about, &session, &err) == IMPL_OK)
            return session;
    }
    proxy_expect(tally, false, "%s cannot be opened: %s%s", spec, reason, err.text);
    return NULL;
}

/* ---- names of implementations: which are accepted, and the errors for the others ------------- */

static void refused(struct proxy_tally *tally, const char *spec, const char *options,
                    const char *part)
{
    struct impl_source source;
    char reason[600] = "";
    const int status = impl_load(spec, options, &source, reason);

    proxy_expect(tally, status == -1 && strstr(reason, part) && !strchr(reason, '\n'),
                 "'%s' gives %d and '%s', not '%s'", spec, status, reason, part);
}

static void proxy_load(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    static const char *const layers[] = {
        "torch:",         "torch:m",        "torch:m:",    "torch::N",         "torch:m:1",
        "torch:m:N;true", "torch:m:N:O",    "torch:m n:N", "torch:$(true):N",  "torch:m:N N",
        "torch:-c:N",     "torch:--x.py:N", "torch:a/b:N", "torch:a-b:N",      "torch:a/b.pyc:N",
        "torch:'m':N",    "torch:m:N.O",    "torch:m&:N",  "torch:m:\303\251", "torch@5:m",
        "torch:m\\n:N",   "torch:/.py/x:N", "torch:`m`:N", "torch:m:N\\"};
    struct impl_source source;
    char reason[600], many[2000];

    memset(many, 'x', sizeof many);
    many[sizeof many - 1] = '\0';
    refused(tally, "PyTorch", "", "unknown implementation 'PyTorch': reference, mutant:NAME");
    refused(tally, "exec", "", "unknown implementation 'exec'");
    refused(tally, "torches:a:B", "", "unknown implementation 'torches:a:B'");
    refused(tally, "", "", "unknown implementation ''");
    refused(tally, many, "", "unknown implementation 'xxx");
    refused(tally, "mutant:M99", "", "unknown mutant 'M99'; known: none, ");
    refused(tally, "mutant:none", "x", "a mutant takes no options");
    refused(tally, "exec:", "", "exec:COMMAND");
    refused(tally, "exec: \t", "", "exec:COMMAND");
    refused(tally, "exec:a\nb", "", "one line");
    refused(tally, "exec@0:x", "", "exec@SECONDS:COMMAND");
    refused(tally, "exec@nan:x", "", "exec@SECONDS:COMMAND");
    refused(tally, "exec@x:x", "", "exec@SECONDS:COMMAND");
    refused(tally, "exec@2", "", "exec@SECONDS:COMMAND");
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; ++i)
        refused(tally, layers[i], "", "is not MODULE:NAME: a module is of letters");
    refused(tally, "exec:true", many, "longer than");
    refused(tally, "reference", many, "longer than");
    refused(tally, "./no-such-file.so", "", "cannot load: ./no-such-file.so");
    refused(tally, "/dev/null", "", "cannot load: /dev/null");
    refused(tally, paths->serve, "", "cannot load: ");

    proxy_expect(tally,
                 impl_load("reference", "", &source, reason) == 0 && source.options[0] == '\0' &&
                     !source.process,
                 "reference: %s", reason);
    proxy_expect(tally,
                 impl_load("exec@2.5:x y", "z", &source, reason) == 0 && source.process &&
                     source.limit_ms == 2500 && source.resident &&
                     strcmp(source.options, "2500\nx y\nz") == 0,
                 "exec: %s", reason);
    proxy_expect(tally,
                 impl_load(paths->echo, "a", &source, reason) == 0 && !source.process &&
                     source.library && strcmp(source.options, "a") == 0,
                 "echo: %s", reason);
}

/* ---- data that go through the pipe come out the same ----------------------------------------- */

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

static void proxy_echo(struct proxy_tally *tally, const struct proxy_paths *paths)
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

/* ---- what is left of a session whose process is bad ------------------------------------------ */

static int call(const struct impl_source *source, struct impl_session *session,
                struct impl_error *err)
{
    struct impl_split split = {.rows = 10, .devices = 4};

    memset(err, 0, sizeof *err);
    return source->ops->split(session, &split, err);
}

/* A session that broke fails at once, in the same words, and can be closed. */
static void stays_dead(struct proxy_tally *tally, const char *mode,
                       const struct impl_source *source, struct impl_session *session,
                       const struct impl_error *first)
{
    struct timespec before, after;
    struct impl_error err;
    struct impl_model *model;

    clock_gettime(CLOCK_MONOTONIC, &before);
    proxy_expect(tally,
                 call(source, session, &err) == IMPL_EBROKEN && strcmp(err.text, first->text) == 0,
                 "%s: afterwards: '%s'", mode, err.text);
    proxy_expect(tally, source->ops->reset(session, &err) == IMPL_EBROKEN, "%s: reset succeeds",
                 mode);
    proxy_expect(tally, source->ops->model_open(session, "", 1, &model, &err) == IMPL_EBROKEN,
                 "%s: model_open succeeds", mode);
    clock_gettime(CLOCK_MONOTONIC, &after);
    proxy_expect(tally, after.tv_sec - before.tv_sec < 2, "%s: a dead session takes its time",
                 mode);
}

/* A mode of lockstep_serve ends the session, or is no fault of it (IMPL_OK, IMPL_EROOM). */
static void one(struct proxy_tally *tally, const struct proxy_paths *paths, const char *mode,
                int wanted)
{
    struct impl_source source;
    struct impl_about about;
    struct impl_session *session;
    struct impl_error err;
    char spec[2048];

    snprintf(spec, sizeof spec, "exec@10:exec '%s' '%s' %s", paths->serve, paths->echo, mode);
    session = proxy_open(tally, spec, "", &source, &about);
    if (!session)
        return;
    const int status = call(&source, session, &err);
    proxy_expect(tally, status == wanted, "%s: status %d, '%s'", mode, status, err.text);
    if (wanted == IMPL_EBROKEN)
        stays_dead(tally, mode, &source, session, &err);
    else
        proxy_expect(tally, source.ops->reset(session, &err) == IMPL_OK, "%s: %s", mode, err.text);
    source.ops->close(session);
}

/* A line that is written after the answer is found with the next request. On a busy machine both
 * may be there before the answer is read, and the error says so: then it returns false, to be tried
 * again. */
static bool late_word_once(struct proxy_tally *tally, const char *spec)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    struct impl_source source;
    struct impl_about about;
    struct impl_error err;
    struct impl_session *session = proxy_open(tally, spec, "", &source, &about);
    bool apart = true;

    if (!session)
        return true;
    if (call(&source, session, &err) != IMPL_OK) {
        apart = !strstr(err.text, "split: wrote more than one line: 'by the way");
        proxy_expect(tally, !apart, "late-word: %s", err.text);
    } else {
        nanosleep(&pause, NULL);
        proxy_expect(tally,
                     call(&source, session, &err) == IMPL_EBROKEN &&
                         strstr(err.text, "split: wrote without being asked: 'by the way"),
                     "late-word: '%s'", err.text);
    }
    source.ops->close(session);
    return apart;
}

static void late_word(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    enum { ATTEMPTS = 20 };
    char spec[2048];
    bool apart = false;

    snprintf(spec, sizeof spec, "exec@2:'%s' '%s' late-word", paths->serve, paths->echo);
    for (int i = 0; i < ATTEMPTS && !apart; ++i)
        apart = late_word_once(tally, spec);
    proxy_expect(tally, apart, "late-word: always read with the answer, %d times", ATTEMPTS);
}

static void proxy_bad(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    one(tally, paths, "rubbish", IMPL_EBROKEN);
    one(tally, paths, "crash", IMPL_EBROKEN);
    one(tally, paths, "many", IMPL_EROOM);
    one(tally, paths, "background", IMPL_OK);
    one(tally, paths, "talkative", IMPL_OK);
    late_word(tally, paths);
}

/* ---- nothing that was started is left, and a process that is gone does no harm --------------- */

/* Waits up to two seconds until a process of the group has memory, or none has: while a program is
 * being loaded, and for processes that init has not collected yet, there is no memory. */
static bool becomes(pid_t group, bool there)
{
    const struct timespec tick = {.tv_nsec = 2000000};
    const struct process p = {.pid = group};
    size_t bytes;

    for (int i = 0; i < 1000; ++i) {
        if ((process_resident(&p, &bytes) == 0) == there)
            return true;
        nanosleep(&tick, NULL);
    }
    return false;
}

static const struct process_limits limits = {300, 65536};

/* Runs a command with one question, and expects the words; afterwards none of its processes is
 * left. */
static void ends(struct proxy_tally *tally, const char *command, const char *part, bool patient)
{
    struct process p;
    char reason[PROCESS_REASON] = "";
    int status = process_start(&p, command, reason);
    const pid_t group = p.pid;

    if (status == 0)
        status = process_ask(&p, "hello\n", 6, limits, reason);
    proxy_expect(tally, part == NULL ? status == 0 : status != 0 && strstr(reason, part),
                 "%s: '%s', wanted '%s'", command, reason, part == NULL ? "an answer" : part);
    process_end(&p, patient);
    proxy_expect(tally, becomes(group, false), "%s: somebody stays", command);
}

/* This process is killed, and can do nothing any more. */
static void dies_with_us(struct proxy_tally *tally)
{
    int ends_of[2];
    pid_t group = 0, us;

    if (pipe(ends_of) != 0)
        return;
    us = fork();
    if (us == 0) {
        struct process p;
        char reason[PROCESS_REASON];

        if (process_start(&p, "trap '' HUP INT TERM; sleep 1000 & sleep 1000", reason) != 0 ||
            write(ends_of[1], &p.pid, sizeof p.pid) != sizeof p.pid)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends_of[1]);
    proxy_expect(tally, read(ends_of[0], &group, sizeof group) == sizeof group && group > 0,
                 "no process was started");
    close(ends_of[0]);
    if (group <= 0)
        return;
    proxy_expect(tally, becomes(group, true), "it is gone before we are");
    kill(us, SIGKILL);
    waitpid(us, NULL, 0);
    proxy_expect(tally, becomes(group, false), "it outlives us");
}

static void has_memory(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    struct impl_source source;
    struct impl_about about;
    struct impl_error err = {.status = IMPL_OK};
    struct impl_session *session, *host = NULL;
    size_t bytes = 0;
    char spec[2048];

    snprintf(spec, sizeof spec, "exec:'%s' '%s'", paths->serve, paths->echo);
    session = proxy_open(tally, spec, "", &source, &about);
    if (!session)
        return;
    proxy_expect(tally,
                 source.resident(session, &bytes) == 0 && bytes > 100000 && bytes < 1000000000,
                 "it has %zu bytes", bytes);
    const struct impl_config config = {"", source.options, true, 0};

    proxy_expect(tally,
                 source.ops->open(&config, &about, &host, &err) == IMPL_OK && about.devices == 0,
                 "a session without devices: %s", err.text);
    if (host)
        source.ops->close(host);
    proxy_expect(tally, source.ops->reset(session, &err) == IMPL_OK, "beside it: %s", err.text);
    source.ops->close(session);
}

/* Sends a long request to a process that writes while it should read. */
static void long_request(struct proxy_tally *tally, const char *command, const char *part)
{
    enum { LENGTH = 1 << 20 };
    static char request[LENGTH + 1];
    const struct process_limits patient = {5000, 65536};
    struct process p;
    char reason[PROCESS_REASON] = "";
    int status;

    memset(request, 'x', LENGTH);
    request[LENGTH - 1] = '\n';
    status = process_start(&p, command, reason);
    if (status == 0)
        status = process_ask(&p, request, LENGTH, part == NULL ? patient : limits, reason);
    proxy_expect(tally, part == NULL ? status == 0 : status != 0 && strstr(reason, part),
                 "%s: '%s'", command, reason);
    process_end(&p, false);
}

static void proxy_life(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    ends(tally, "read x; echo $x; cat", NULL, true);
    ends(tally, "read x; echo $x; sleep 1000 & cat", NULL, true);
    ends(tally, "read x; echo $x; trap '' TERM HUP; while :; do sleep 1000; done", NULL, false);
    ends(tally, "exec <&-; sleep 1000", "no answer within 0.3 s", false);
    ends(tally, "exec >&-; sleep 1000", "closed its output without an answer", false);
    ends(tally, "exec <&- >&- 2>&-; sleep 1000", "closed its output without an answer", false);
    ends(tally, "sleep 1000 & exit 4", "ended with status 4", false);
    ends(tally, "kill -STOP $$", "no answer within 0.3 s", false);
    long_request(tally, "head -n 1 >&2; echo done", NULL);
    long_request(tally, "exec <&-; sleep 1000", "no answer within 0.3 s");
    long_request(tally, "sleep 1000", "did not read its request within 0.3 s");
    long_request(tally, "yes", "y?y?y?y");
    dies_with_us(tally);
    has_memory(tally, paths);
}

int main(int argc, char **argv)
{
    struct proxy_tally tally = {0};
    struct proxy_paths paths;

    if (argc != 3) {
        fprintf(stderr, "usage: proxy_test SERVE ECHO\n");
        return 2;
    }
    paths.serve = argv[1];
    paths.echo = argv[2];
    proxy_load(&tally, &paths);
    proxy_echo(&tally, &paths);
    proxy_bad(&tally, &paths);
    proxy_life(&tally, &paths);
    printf("%d held, %d failed\n", tally.held, tally.failed);
    return tally.failed > 0 || tally.held == 0;
}
