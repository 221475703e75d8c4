/* operations.c: the primitives with their guards: each function makes one call, and checks that it
 * changed nothing else. */
#include "inside.h"

#include "impls/calls.h"
#include "impls/words.h"

#include <stdio.h>
#include <string.h>

void call_begin(struct check *c, const char *what)
{
    const struct impl_error none = {
        .replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};

    c->error = none;
    c->got = false;
    if (c->settings->doing)
        snprintf(c->settings->doing, 64, "%s", what);
    guard_before(c);
    state_before(c->settings, &c->around);
}

void call_failed(struct check *c, const char *what, int status)
{
    hint_search(c);
    if (status == IMPL_ELOST && c->of_ranks)
        snprintf(c->outcome->hint, sizeof c->outcome->hint,
                 "if a rank waits: do all call the same collectives in the same order, also for a "
                 "parameter that one does not use?");
    check_fail(c, "%s failed (%s): %s", what, impl_status_word(status), c->error.text);
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
    if (status < IMPL_OK || status > IMPL_ELOST)
        check_fail(c, "%s returned the status %d, which impl.h does not know", what, status);
    if (status == IMPL_OK && error->status != IMPL_OK)
        check_fail(c, "%s returned 0 and filled an error: %s", what, error->text);
    if (status != IMPL_OK && (error->status != status || error->text[0] == '\0'))
        check_fail(c, "%s returned the status %s, its error says %s '%s'", what,
                   impl_status_word(status), impl_status_word(error->status), error->text);
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

/* ---- try ------------------------------------------------------------------------------------- */

static void *output_at(const struct impl_field *field, const void *arguments)
{
    if (field->way == FIELD_IN)
        return NULL;
    return impl_field_is_pointer(field->kind) ? impl_field_target(field, arguments)
                                              : impl_field_at(field, arguments);
}

/* Fills what a call must write, so that what it leaves as it was shows. */
static void poison_outputs(const struct impl_operation *row, void *arguments)
{
    for (size_t i = 0; i < row->n_fields; ++i) {
        const struct impl_field *field = &row->field[i];
        const size_t n = impl_field_count(field, arguments, 1);
        const bool zero = field->kind == FIELD_TRACE || field->kind == FIELD_COUNT;
        void *at = output_at(field, arguments);

        if (!at)
            continue;
        if (field->kind == FIELD_ARRAY || field->kind == FIELD_ARRAYS)
            guard_poison(at, n);
        else if (field->kind != FIELD_CALLS)
            memset(at, zero ? 0 : 0xFF,
                   (impl_field_is_pointer(field->kind) ? n : 1) * impl_field_bytes(field->kind));
        for (size_t call = 0; field->kind == FIELD_CALLS && call < n; ++call)
            poison_outputs(&impl_call_operation, (struct impl_call *)at + call);
        if (field->length > 0 && field->way != FIELD_BOTH)
            memset((char *)arguments + field->length, 0xFF,
                   field->wide ? sizeof(size_t) : sizeof(int));
    }
}

/* Checks what a successful call wrote: how many of each there are, and all arrays. */
static void guard_outputs(struct check *c, const char *name, const struct impl_operation *row,
                          const void *arguments)
{
    for (size_t i = 0; i < row->n_fields; ++i) {
        const struct impl_field *field = &row->field[i];
        const size_t n = impl_field_count(field, arguments, 1);
        const struct impl_array *arrays = output_at(field, arguments);
        char what[64];
        int used = (int)n;

        if (!arrays)
            continue;
        for (size_t call = 0; field->kind == FIELD_CALLS && call < n; ++call)
            guard_outputs(c, name, &impl_call_operation,
                          (const struct impl_call *)(const void *)arrays + call);
        if (field->length > 0 && field->wide)
            used = impl_field_used(field, arguments, 1) > n
                       ? -1
                       : (int)impl_field_used(field, arguments, 1);
        else if (field->length > 0)
            memcpy(&used, (const char *)arguments + field->length, sizeof used);
        if (used < 0 || (size_t)used > n)
            check_fail(c, "%s: %d %s, must be 0..%zu", name, used, field->name, n);
        snprintf(what, sizeof what, field->way == FIELD_WANTED ? "%s, %s" : "%s", name,
                 field->name);
        for (int k = 0; (field->kind == FIELD_ARRAY || field->kind == FIELD_ARRAYS) && k < used;
             ++k)
            guard_output(c, what, &arrays[k]);
    }
}

static int try_call(struct check *c, enum impl_op op, bool present, void *arguments)
{
    const struct impl_operation *row = &impl_operations[op];
    int status;

    if (!present)
        check_fail(c, "there is no operation %s", row->name);
    poison_outputs(row, arguments);
    call_begin(c, row->name);
    status =
        call_end(c, row->name,
                 impl_invoke(c->session->ops, op, c->session->session, NULL, arguments, &c->error));
    if (status == IMPL_OK)
        guard_outputs(c, row->name, row, arguments);
    return status;
}

int check_try_split(struct check *c, struct impl_split *op)
{
    return try_call(c, IMPL_OP_SPLIT, c->session->ops->split != NULL, op);
}

int check_try_scatter(struct check *c, struct impl_scatter *op)
{
    return try_call(c, IMPL_OP_SCATTER, c->session->ops->scatter != NULL, op);
}

int check_try_gather(struct check *c, struct impl_gather *op)
{
    return try_call(c, IMPL_OP_GATHER, c->session->ops->gather != NULL, op);
}

int check_try_broadcast(struct check *c, struct impl_broadcast *op)
{
    c->guarded = 2 * (op->n * op->n_devices + op->n);
    return try_call(c, IMPL_OP_BROADCAST, c->session->ops->broadcast != NULL, op);
}

int check_try_reduce(struct check *c, struct impl_reduce *op)
{
    c->guarded = 2 * op->n * (op->k + 1);
    return try_call(c, IMPL_OP_REDUCE, c->session->ops->reduce != NULL, op);
}

int check_try_apply(struct check *c, struct impl_apply *op)
{
    return try_call(c, IMPL_OP_APPLY, c->session->ops->apply != NULL, op);
}

static int check_try_buckets(struct check *c, struct impl_buckets *op)
{
    return try_call(c, IMPL_OP_BUCKETS, c->session->ops->buckets != NULL, op);
}

static int check_try_sampler(struct check *c, struct impl_sampler *op)
{
    return try_call(c, IMPL_OP_SAMPLER, c->session->ops->sampler != NULL, op);
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
