/* carry.c: a call through the wall: writes its arguments into the mailbox, and reads its results
 * from it.
 *
 * The other process wrote those results, so they are copied first, and then the cases check
 * them. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wall_session {
    struct impl_session base;
    struct wall *wall;
    struct impl_session *theirs; /* an address in the other process */
};

static size_t bytes_behind(const struct impl_field *field, const void *arguments, int ranks)
{
    const char *text = impl_field_target(field, arguments);

    if (field->kind == FIELD_TEXT)
        return text ? strlen(text) + 1 : 0;
    return impl_field_count(field, arguments, ranks) * impl_field_bytes(field->kind);
}

/* Copies the data that pointers of the arguments point to into the mailbox, and gives `put`
 * pointers to the copies. calls: the memory in which the calls of an apply are put together. */
static void put_fields(struct wall *wall, const struct impl_operation *row, const void *arguments,
                       int ranks, void *put, struct impl_call *calls)
{
    memcpy(put, arguments, row->bytes);
    for (size_t i = 0; i < row->n_fields; ++i) {
        const struct impl_field *field = &row->field[i];
        const void *from;
        void *to;

        if (!impl_field_is_pointer(field->kind))
            continue;
        from = impl_field_target(field, arguments);
        if (field->kind == FIELD_CALLS) {
            for (size_t c = 0; c < impl_field_count(field, arguments, ranks); ++c)
                put_fields(wall, &impl_call_operation, (const struct impl_call *)from + c, ranks,
                           &calls[c], NULL);
            from = calls;
        }
        to = wall_put(wall, from, bytes_behind(field, arguments, ranks));
        memcpy(impl_field_at(field, put), &to, sizeof to);
    }
}

/* The caller's descriptions of inputs must stay as they are. */
static void compare_arrays(struct wall *wall, const struct impl_array *arrays,
                           const struct impl_array *theirs, size_t n)
{
    for (size_t i = 0; arrays && theirs && i < n; ++i) {
        const struct impl_array *a = &arrays[i], *b = &theirs[i];

        if (wall->changed[0] == '\0' &&
            (a->data != b->data || a->dtype != b->dtype || a->ndim != b->ndim ||
             a->device != b->device || a->needs_grad != b->needs_grad ||
             memcmp(a->dim, b->dim, sizeof a->dim) != 0))
            snprintf(wall->changed, sizeof wall->changed,
                     "the caller's description of an input array");
    }
}

/* put, calls: the pointers that we wrote. Those that are in the mailbox now may have been
 * changed. */
static void take_fields(struct wall *wall, const struct impl_operation *row, void *arguments,
                        int ranks, const void *put, const void *theirs,
                        const struct impl_call *calls)
{
    for (size_t i = 0; i < row->n_fields; ++i) {
        const struct impl_field *field = &row->field[i];
        const size_t n = impl_field_count(field, arguments, ranks);
        const bool behind = impl_field_is_pointer(field->kind);
        void *ours = behind ? impl_field_target(field, arguments) : impl_field_at(field, arguments);
        const void *there = behind ? impl_field_target(field, put) : impl_field_at(field, theirs);

        if (field->way == FIELD_IN) {
            if (field->kind == FIELD_ARRAY || field->kind == FIELD_ARRAYS)
                compare_arrays(wall, ours, there, n);
            continue;
        }
        if (field->way == FIELD_BOTH) {
            for (size_t c = 0; there && c < n; ++c)
                take_fields(wall, &impl_call_operation, (struct impl_call *)ours + c, ranks,
                            &calls[c], (const struct impl_call *)there + c, NULL);
            continue;
        }
        if (ours && there)
            memcpy(ours, there,
                   behind ? n * impl_field_bytes(field->kind) : impl_field_bytes(field->kind));
        if (field->length > 0)
            memcpy((char *)arguments + field->length, (const char *)theirs + field->length,
                   field->wide ? sizeof(size_t) : sizeof(int));
    }
}

static int wall_carry(struct impl_session *session, struct impl_model *model, enum impl_op op,
                      void *arguments, struct impl_error *err)
{
    const struct wall_session *s = (const struct wall_session *)session;
    const struct impl_operation *row = &impl_operations[op];
    const int ranks = model ? model->ranks : 1;
    struct wall *wall = s->wall;
    struct impl_call *calls = NULL;
    union impl_arguments put;
    const void *theirs = NULL;
    int status;

    if (op == IMPL_OP_APPLY) {
        const int n = ((const struct impl_apply *)arguments)->n;

        calls = calloc(n > 0 ? (size_t)n : 1, sizeof *calls);
        if (!calls)
            return IMPL_EBROKEN;
    }
    if (arguments) {
        put_fields(wall, row, arguments, ranks, &put, calls);
        theirs = wall_put(wall, &put, row->bytes);
    }
    wall->box->session = s->theirs;
    wall->box->model = model ? model->theirs : NULL;
    wall->box->arguments = (void *)theirs;
    status = wall_call(wall, op, err);
    if (theirs)
        take_fields(wall, row, arguments, ranks, &put, theirs, calls);
    free(calls);
    return status;
}

int wall_open(const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err)
{
    struct impl_open_call open = {.config = *config};
    struct wall_session *made = calloc(1, sizeof *made);
    int status;

    *session = NULL;
    if (!made)
        return IMPL_EBROKEN;
    made->base.carry = wall_carry;
    made->wall = ((const struct wall_config *)config)->wall;
    status = wall_carry(&made->base, NULL, IMPL_OP_OPEN, &open, err);
    if (status != IMPL_OK || !open.session) {
        free(made);
        return status;
    }
    made->theirs = open.session;
    *about = open.about;
    *session = &made->base;
    return IMPL_OK;
}

void wall_close(struct impl_session *session)
{
    struct impl_error ignored = {.status = IMPL_OK};

    wall_carry(session, NULL, IMPL_OP_CLOSE, NULL, &ignored);
    remote_forget_models(session);
    free(session);
}
