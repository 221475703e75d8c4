/* serve.c: the process in which an implementation runs: makes the calls that it is asked for, and
 * returns their results. It judges nothing. */
#include "inside.h"

#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNHEARD = 3 };

/* Reads the next request. False: there are no more. */
static bool hear_request(const struct wall_serve *serve, uint64_t *number)
{
    ssize_t n;

    do
        n = read(serve->ask, number, sizeof *number);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *number;
}

static void tell_answer(const struct wall_serve *serve, uint64_t number)
{
    ssize_t n;

    do
        n = write(serve->answer, &number, sizeof number);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof number)
        _exit(UNHEARD);
}

static void load_served(struct wall_serve *serve, struct impl_source *source)
{
    struct wall_box *box = serve->box;
    struct around around;

    around_begin(&around);
    box->status = impl_load(serve->plan->spec, serve->plan->options, source, box->reason) == 0
                      ? IMPL_OK
                      : IMPL_EBROKEN;
    around_end(&around, box->changed);
    if (box->status != IMPL_OK)
        return;
    memcpy(&box->table, source->ops, sizeof box->table);
    memcpy(box->options, source->options, sizeof box->options);
}

_Noreturn void wall_serve(struct wall_serve *serve)
{
    struct impl_source source;
    uint64_t number = 0;

    arena_shut(&serve->arena);
    load_served(serve, &source);
    tell_answer(serve, number);
    while (hear_request(serve, &number)) {
        const struct impl_ops *ops = source.ops;
        struct wall_box *box = serve->box;
        struct around around;
        int status;

        for (size_t i = 0; i < box->n_fresh && i < ARENA_FRESH; ++i)
            arena_allow(&serve->arena, box->fresh[i]);
        around_begin(&around);
        status = impl_invoke(ops, (enum impl_op)box->op, box->session, box->model, box->arguments,
                             &box->error);
        around_end(&around, box->changed);
        box->status = status;
        tell_answer(serve, number);
    }
    if (serve->plan->sanitized)
        exit(EXIT_SUCCESS);
    _exit(EXIT_SUCCESS);
}
