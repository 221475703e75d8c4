/* bench/world.c: asks processes for the rounds of overlap. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "bench/overlap.h"
#include "check/rank_pool.h"
#include "command/command.h"
#include "command/device_list.h"
#include "files/stop.h"

struct world {
    const struct bench_options *options;
    struct rank_asker asker;
};

/* As rank_pool_request, as long as nobody wants to stop. */
static json_t *ask(struct world *world, const char *op, json_t *request, struct dp_error *err)
{
    if (!stop_requested())
        return rank_pool_request(&world->asker, op, request, err);
    json_decref(request);
    dp_fail(err, DP_EFAULT, "interrupted: there is no result");
    return NULL;
}

/* ---- the begin ------------------------------------------------------------------------------ */

static int start(struct world *world, const char *own, struct overlap_maker *maker,
                 struct dp_error *err)
{
    const struct bench_options *o = world->options;
    struct text_error why = {""};
    char ranks[256] = "";
    json_t *ok;

    if (rank_pool_start(o->processes.launcher, "bencher", maker->processes, o->processes.timeout,
                        &world->asker.pool, &why))
        return rank_pool_fail(why.text, err);
    ok = ask(world, "group",
             json_pack("{s:s, s:s, s:I, s:i}", "devices", own, "backend", o->backend, "bytes",
                       (json_int_t)o->bytes, "each", maker->each),
             err);
    if (!ok)
        return err->status;
    maker->oversubscribed = json_is_true(json_object_get(ok, "oversubscribed"));
    maker->hosts = rank_pool_hosts(world->asker.pool, maker->each, ranks, sizeof ranks);
    json_decref(ok);
    return 0;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static int open_rows(void *self, size_t rows, struct overlap_first *first, struct dp_error *err)
{
    json_t *ok = ask(self, "rows", json_pack("{s:I}", "rows", (json_int_t)rows), err);
    const char *unverified = json_string_value(json_object_get(ok, "unverified"));

    if (!ok)
        return err->status;
    *first = (struct overlap_first){
        .compared = (size_t)json_integer_value(json_object_get(ok, "compared"))};
    if (unverified)
        snprintf(first->unverified.text, sizeof first->unverified.text, "%s", unverified);
    json_decref(ok);
    return 0;
}

static int ask_round(void *self, size_t number, struct overlap_round *round, struct dp_error *err)
{
    json_t *ok = ask(self, "round", json_pack("{s:I}", "round", (json_int_t)number), err);
    json_int_t compared;
    int read;

    if (!ok)
        return err->status;
    read =
        json_unpack(ok, "{s:F, s:F, s:F, s:I}", "compute", &round->times.compute_ns, "comm",
                    &round->times.comm_ns, "whole", &round->times.whole_ns, "compared", &compared);
    json_decref(ok);
    if (read != 0 || compared <= 0)
        return rank_pool_fail("what the processes say of a round cannot be used", err);
    round->compared = (size_t)compared;
    return 0;
}

int overlap_launched(const char *command, const struct bench_options *options, const char *own)
{
    const int each = (int)options->processes.per_process;
    struct world world = {.options = options};
    struct overlap_maker maker = {.self = &world,
                                  .open = open_rows,
                                  .round = ask_round,
                                  .processes = device_list_count(options->devices) / each,
                                  .each = each};
    struct dp_error err = {0};
    int status;

    stop_watch_signals();
    if (start(&world, own, &maker, &err))
        status = command_core_error(command, &err);
    else
        status = overlap_run(command, options, &maker);
    rank_pool_close(world.asker.pool);
    return status != EXIT_PASSED && stop_requested() ? EXIT_INTERRUPTED : status;
}
