/* answer.c: the answers of an implementation in another process: a byte for the operation, then its
 * line.
 *
 * The linker replaces process_ask and process_end, which use a process, by those of this file: see
 * CMakeLists.txt. */
#include "fuzz.h"

#include "exec.h"
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

enum { ARRAYS = 2 * IMPL_MAX_IO, ROOM = 64 };

int __wrap_process_ask(struct process *p, const char *line, size_t length,
                       struct process_limits limits, char reason[PROCESS_REASON]);
void __wrap_process_end(struct process *p, bool patient);

/* The answer is in p->line already. */
int __wrap_process_ask(struct process *p, const char *line, size_t length,
                       struct process_limits limits, char reason[PROCESS_REASON])
{
    fuzz_must(length > 0 && line[length - 1] == '\n', "a request that is no line");
    if (p->length <= limits.bytes)
        return 0;
    snprintf(reason, PROCESS_REASON, "too long");
    return -1;
}

void __wrap_process_end(struct process *p, bool patient)
{
    (void)p;
    (void)patient;
}

struct operands {
    struct exec_session *session;
    struct impl_model model;
    struct impl_array array[ARRAYS];
    unsigned char room[ARRAYS][ROOM];
    struct impl_trace trace;
};

static int ask_about(struct operands *o, struct impl_error *err)
{
    struct impl_about about;
    struct answer a;
    const int status =
        session_ask(o->session, (struct question){.op = "open", .fields = json_object()}, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_about(&a, &about);
    fuzz_must(about.devices >= 0 && about.devices <= IMPL_MAX_DEVICES, "too many devices");
    return answer_end(&a);
}

static int ask_split(struct operands *o, struct impl_error *err)
{
    struct impl_split op = {.rows = 7, .devices = 3};
    const int status = remote_ops.split(&o->session->base, &op, err);

    fuzz_must(op.n >= 0 && op.n <= IMPL_MAX_DEVICES, "more shards than there is room for");
    return status;
}

static int ask_scatter(struct operands *o, struct impl_error *err)
{
    const int devices[] = {0, 1};
    const struct impl_array input = {.data = o->room[0], .dtype = IMPL_F32, .ndim = 1, .dim = {3}};
    struct impl_scatter op = {.input = &input,
                              .devices = devices,
                              .n = 2,
                              .shards = o->array + 1,
                              .source_after = &o->array[3]};

    return remote_ops.scatter(&o->session->base, &op, err);
}

static int ask_reduce(struct operands *o, struct impl_error *err)
{
    const struct impl_array src = {.data = o->room[0], .dtype = IMPL_I64, .ndim = 0};
    struct impl_reduce op = {.src = &src, .n = 1, .k = 1, .poke = -1, .sums = o->array + 1};

    return remote_ops.reduce(&o->session->base, &op, err);
}

static int ask_apply(struct operands *o, struct impl_error *err)
{
    struct impl_call call = {.description = "{}", .out = o->array};
    struct impl_apply op = {.calls = &call, .n = 1, .trace = &o->trace};

    return remote_ops.apply(&o->session->base, &op, err);
}

static int ask_buckets(struct operands *o, struct impl_error *err)
{
    const size_t bytes[] = {4, 8, 4}, limits[] = {8};
    const enum impl_dtype dtype[] = {IMPL_F32, IMPL_F64, IMPL_F32};
    int bucket[3];
    size_t limit_of[3];
    struct impl_buckets op = {.bytes = bytes,
                              .dtype = dtype,
                              .n = 3,
                              .limits = limits,
                              .n_limits = 1,
                              .bucket = bucket,
                              .limit_of = limit_of};
    const int status = remote_ops.buckets(&o->session->base, &op, err);

    for (int i = 0; status == IMPL_OK && i < 3; ++i)
        fuzz_must(bucket[i] >= 0 && bucket[i] < 3, "no such bucket");
    return status;
}

static int ask_sampler(struct operands *o, struct impl_error *err)
{
    size_t index[4];
    struct impl_sampler op = {.items = 7, .ranks = 2, .index = index, .capacity = 4};
    const int status = remote_ops.sampler(&o->session->base, &op, err);

    fuzz_must(status != IMPL_OK || op.n <= 4, "more than there is room for");
    return status;
}

static int ask_open(struct operands *o, struct impl_error *err)
{
    struct impl_model *model = NULL;
    const int status = remote_ops.model_open(&o->session->base, "{}", 2, &model, err);

    fuzz_must((status == IMPL_OK) == (model != NULL), "a model with an error, or neither");
    remote_forget_models(&o->session->base);
    return status;
}

static int ask_param(struct operands *o, struct impl_error *err)
{
    struct impl_param param;

    return remote_ops.param(&o->model, 0, &param, err);
}

static int ask_get(struct operands *o, struct impl_error *err)
{
    return remote_ops.get(&o->model, 0, IMPL_VALUE, 0, &o->array[0], err);
}

static int ask_forward(struct operands *o, struct impl_error *err)
{
    struct impl_forward op = {.out = o->array, .trace = &o->trace};
    const int status = remote_ops.forward(&o->model, &op, err);

    fuzz_must(status != IMPL_OK || (op.n_out >= 0 && op.n_out <= IMPL_MAX_IO), "too many outputs");
    return status;
}

static int ask_backward(struct operands *o, struct impl_error *err)
{
    struct impl_backward op = {.grad_in = o->array, .n_in = 2, .trace = &o->trace};

    return remote_ops.backward(&o->model, &op, err);
}

static int (*const operations[])(struct operands *, struct impl_error *) = {
    ask_about, ask_split, ask_scatter, ask_reduce,  ask_apply,    ask_buckets,
    ask_open,  ask_param, ask_get,     ask_forward, ask_backward, ask_sampler,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct operands o;
    struct exec_session session = {.base.carry = exec_carry, .limit_ms = 1};
    struct impl_error err = {.status = IMPL_OK};
    int status;

    if (bytes < 1)
        return 0;
    session.process.line = fuzz_text(data + 1, bytes - 1);
    session.process.length = bytes - 1;
    o.session = &session;
    o.model = (struct impl_model){.session = &session.base, .number = 1, .ranks = 2};
    for (int i = 0; i < ARRAYS; ++i)
        o.array[i] = (struct impl_array){.data = o.room[i], .capacity = ROOM};
    status = operations[data[0] % (sizeof operations / sizeof operations[0])](&o, &err);
    fuzz_must(status == IMPL_OK || status == err.status, "the status is not the error's");
    if (status != IMPL_OK)
        fuzz_must_be_line(err.text);
    free(session.process.line);
    return 0;
}
