/* bench/world.c: overlap with its ranks in processes: options, and the requests for rounds. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "bench/overlap.h"
#include "check/rank_pool.h"
#include "command/backend.h"
#include "command/command.h"
#include "command/device_list.h"
#include "files/stop.h"

struct world {
    const struct bench_options *options;
    struct rank_asker asker;
};

/* As rank_pool_request, unless a stop was requested. */
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

/* ---- options --------------------------------------------------------------------------------- */

/* An option that is for one process only, in words; NULL: none was given. */
static const char *find_other(const struct bench_options *o)
{
    if (o->name != BENCH_OVERLAP)
        return "--launcher is for overlap: the copies of DataParallel are of one process";
    if (o->communicator[0] != '\0')
        return "--launcher does not go with --communicator, which is mpi between processes";
    return NULL;
}

int bench_check_launched(const char *command, struct bench_options *o, size_t required)
{
    const char *other = o->processes.launcher[0] != '\0' ? find_other(o) : NULL;

    return other ? launcher_refuse(command, other)
                 : launcher_options_check(command, &o->processes, o->devices, required);
}

/* Sizes and devices that are wrong are found here, before there are processes, each of which would
 * say so. */
int bench_launched(const char *command, struct bench_options *options)
{
    char own[sizeof options->devices];
    const struct dp_group_config config = {.devices = own,
                                           .backend = command_given(options->backend)};
    struct dp_group *group = NULL;
    struct workload workload;
    struct dp_error err = {0};
    size_t bucket_bytes;
    int status;

    if (overlap_model(options->bytes, &workload, &bucket_bytes, &err))
        return command_core_error(command, &err);
    if (device_list_first(options->devices, options->processes.per_process, own, sizeof own)) {
        command_complain(command, "--devices: '%s' is too long", options->devices);
        return command_misuse(command);
    }
    if ((status = command_open_group(command, &config, 0, &group)))
        return status;
    status = bench_check_devices(command, group, options, device_list_count(options->devices));
    dp_group_close(group);
    return status ? status : overlap_launched(command, options, own);
}
