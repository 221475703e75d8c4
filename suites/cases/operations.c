/* operations.c: the primitives with their guards: each function makes one call, and checks that it
 * changed nothing else. */
#include "inside.h"

#include <stdio.h>
#include <string.h>

void call_begin(struct check *c, const char *what)
{
    const struct impl_error none = {
        .replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};

    c->error = none;
    if (c->settings->doing)
        snprintf(c->settings->doing, 64, "%s", what);
    guard_before(c);
    state_before(c->settings, &c->around);
}

void call_failed(struct check *c, const char *what, int status)
{
    check_fail(c, "%s failed (status %d): %s", what, status, c->error.text);
}

void call_controls(struct check *c)
{
    for (const struct asked *asked = c->asked; asked->what; ++asked)
        if (asked->refused && !asked->accepted)
            check_fail(c, "%s was refused each time: a right one must be accepted", asked->what);
}

/* The adapter reports that it is broken, or its process is gone. */
static _Noreturn void call_broken(struct check *c, const char *what)
{
    const void *const touched = !c->settings->wall ? NULL : c->settings->wall->touched;
    char near[120] = "";

    if (!state_fell(c->settings, c->session->session))
        check_broken(c, "%s: %s", what, c->error.text);
    c->outcome->fell = true;
    if (touched)
        guard_touched(c, touched, near, sizeof near);
    check_fail(c, "%s%s", c->error.text, near);
}

int call_end(struct check *c, const char *what, int status)
{
    const struct impl_error *error = &c->error;
    char changed[AROUND_WORDS];

    state_after(c->settings, &c->around, changed);
    check_clean(c->error.text, sizeof c->error.text);
    if (status == IMPL_EBROKEN)
        call_broken(c, what);
    if (changed[0] != '\0')
        check_fail(c, "%s changed %s", what, changed);
    guard_after(c, what);
    if (status < IMPL_OK || status > IMPL_EBROKEN)
        check_fail(c, "%s returned the status %d, which impl.h does not know", what, status);
    if (status == IMPL_OK && error->status != IMPL_OK)
        check_fail(c, "%s returned 0 and filled an error: %s", what, error->text);
    if (status != IMPL_OK && (error->status != status || error->text[0] == '\0'))
        check_fail(c, "%s returned the status %d, its error says %d '%s'", what, status,
                   error->status, error->text);
    struct asked *asked = c->asked;

    while (asked->what && strcmp(asked->what, what) != 0)
        ++asked;
    if (asked == &c->asked[MOST_ASKED - 1])
        check_broken(c, "more kinds of operations than a case has room for");
    asked->what = what;
    asked->accepted = asked->accepted || status == IMPL_OK;
    asked->refused = asked->refused || status != IMPL_OK;
    return status;
}

const struct impl_error *check_error(const struct check *c)
{
    return &c->error;
}

static void must_have(struct check *c, bool present, const char *what)
{
    if (!present)
        check_fail(c, "there is no operation %s", what);
}

/* Checks the outputs that a successful call filled. */
static void outputs(struct check *c, const char *what, const struct impl_array *arrays, int n)
{
    for (int i = 0; i < n; ++i)
        guard_output(c, what, &arrays[i]);
}

/* ---- try ------------------------------------------------------------------------------------ */

int check_try_split(struct check *c, struct impl_split *op)
{
    int status;

    must_have(c, c->session->ops->split != NULL, "split");
    memset(op->size, 0xFF, sizeof op->size);
    op->n = -1;
    call_begin(c, "split");
    status = call_end(c, "split", c->session->ops->split(c->session->session, op, &c->error));
    if (status == IMPL_OK && (op->n < 0 || op->n > IMPL_MAX_DEVICES))
        check_fail(c, "split: %d shards", op->n);
    return status;
}

int check_try_scatter(struct check *c, struct impl_scatter *op)
{
    int status;

    must_have(c, c->session->ops->scatter != NULL, "scatter");
    guard_poison(op->shards, op->n > 0 ? (size_t)op->n : 0);
    if (op->source_after)
        guard_poison(op->source_after, 1);
    op->n_shards = -1;
    call_begin(c, "scatter");
    status = call_end(c, "scatter", c->session->ops->scatter(c->session->session, op, &c->error));
    if (status != IMPL_OK)
        return status;
    if (op->n_shards < 0 || op->n_shards > op->n)
        check_fail(c, "scatter: %d shards on %d devices", op->n_shards, op->n);
    outputs(c, "scatter", op->shards, op->n_shards);
    if (op->source_after)
        outputs(c, "scatter, source", op->source_after, 1);
    return status;
}

int check_try_gather(struct check *c, struct impl_gather *op)
{
    int status;

    must_have(c, c->session->ops->gather != NULL, "gather");
    guard_poison(op->out, 1);
    if (op->out_after)
        guard_poison(op->out_after, 1);
    call_begin(c, "gather");
    status = call_end(c, "gather", c->session->ops->gather(c->session->session, op, &c->error));
    if (status != IMPL_OK)
        return status;
    outputs(c, "gather", op->out, 1);
    if (op->out_after)
        outputs(c, "gather, second reading", op->out_after, 1);
    return status;
}

int check_try_broadcast(struct check *c, struct impl_broadcast *op)
{
    const int n = op->n * op->n_devices;
    int status;

    must_have(c, c->session->ops->broadcast != NULL, "broadcast");
    guard_poison(op->copies, n > 0 ? (size_t)n : 0);
    if (op->src_after)
        guard_poison(op->src_after, (size_t)op->n);
    op->transfers = op->default_bytes = 0;
    c->guarded = 2 * (n + op->n);
    call_begin(c, "broadcast");
    status =
        call_end(c, "broadcast", c->session->ops->broadcast(c->session->session, op, &c->error));
    if (status != IMPL_OK)
        return status;
    outputs(c, "broadcast", op->copies, n);
    if (op->src_after)
        outputs(c, "broadcast, source", op->src_after, op->n);
    return status;
}

int check_try_reduce(struct check *c, struct impl_reduce *op)
{
    int status;

    must_have(c, c->session->ops->reduce != NULL, "reduce");
    guard_poison(op->sums, (size_t)op->n);
    op->transfers = op->default_bytes = 0;
    c->guarded = 2 * op->n * (op->k + 1);
    call_begin(c, "reduce");
    status = call_end(c, "reduce", c->session->ops->reduce(c->session->session, op, &c->error));
    if (status == IMPL_OK)
        outputs(c, "reduce", op->sums, op->n);
    return status;
}

int check_try_apply(struct check *c, struct impl_apply *op)
{
    int status;

    must_have(c, c->session->ops->apply != NULL, "apply");
    for (int i = 0; i < op->n; ++i) {
        guard_poison(op->calls[i].out, IMPL_MAX_IO);
        op->calls[i].n_out = -1;
    }
    if (op->trace)
        memset(op->trace, 0, sizeof *op->trace);
    call_begin(c, "apply");
    status = call_end(c, "apply", c->session->ops->apply(c->session->session, op, &c->error));
    for (int i = 0; status == IMPL_OK && i < op->n; ++i) {
        if (op->calls[i].n_out < 0 || op->calls[i].n_out > IMPL_MAX_IO)
            check_fail(c, "apply: call %d has %d outputs", i, op->calls[i].n_out);
        outputs(c, "apply", op->calls[i].out, op->calls[i].n_out);
    }
    return status;
}

int check_try_buckets(struct check *c, struct impl_buckets *op)
{
    must_have(c, c->session->ops->buckets != NULL, "buckets");
    memset(op->bucket, 0xFF, (size_t)op->n * sizeof *op->bucket);
    memset(op->limit_of, 0xFF, (size_t)op->n * sizeof *op->limit_of);
    op->n_buckets = -1;
    call_begin(c, "buckets");
    return call_end(c, "buckets", c->session->ops->buckets(c->session->session, op, &c->error));
}

int check_try_sampler(struct check *c, struct impl_sampler *op)
{
    int status;

    must_have(c, c->session->ops->sampler != NULL, "sampler");
    memset(op->index, 0xFF, op->capacity * sizeof *op->index);
    op->n = op->capacity + 1;
    call_begin(c, "sampler");
    status = call_end(c, "sampler", c->session->ops->sampler(c->session->session, op, &c->error));
    if (status == IMPL_OK && op->n > op->capacity)
        check_fail(c, "sampler: %zu indices, there is room for %zu", op->n, op->capacity);
    return status;
}

/* ---- must succeed ---------------------------------------------------------------------------- */

static void operations_must(struct check *c, const char *what, int status)
{
    if (status != IMPL_OK)
        call_failed(c, what, status);
}

void check_split(struct check *c, struct impl_split *op)
{
    operations_must(c, "split", check_try_split(c, op));
}

void check_scatter(struct check *c, struct impl_scatter *op)
{
    operations_must(c, "scatter", check_try_scatter(c, op));
}

void check_gather(struct check *c, struct impl_gather *op)
{
    operations_must(c, "gather", check_try_gather(c, op));
}

void check_broadcast(struct check *c, struct impl_broadcast *op)
{
    operations_must(c, "broadcast", check_try_broadcast(c, op));
}

void check_reduce(struct check *c, struct impl_reduce *op)
{
    operations_must(c, "reduce", check_try_reduce(c, op));
}

void check_apply(struct check *c, struct impl_apply *op)
{
    operations_must(c, "apply", check_try_apply(c, op));
}

void check_buckets(struct check *c, struct impl_buckets *op)
{
    operations_must(c, "buckets", check_try_buckets(c, op));
}

void check_sampler(struct check *c, struct impl_sampler *op)
{
    operations_must(c, "sampler", check_try_sampler(c, op));
}
