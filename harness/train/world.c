/* train/world.c: asks the processes of a training for steps and parameters. */
#include "train/train.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/device_list.h"
#include "files/files.h"
#include "launch/rank_pool.h"
#include "launch/watch.h"
#include "text/alloc.h"

/* The seconds that a request for steps may take: a user watches, and may want to stop. */
static const double soon = 0.25;

struct train_world {
    const struct train_options *options;
    struct rank_pool *pool;
    struct train_world_about about;
    char digest[DIGEST_HEX];   /* digest of the parameters that all processes have reported last */
    struct train_report *step; /* steps that were run: [taken, made) are not used yet */
    size_t made, taken;
    size_t at_once, left; /* steps of a request; steps that the epoch still has */
    size_t begins;        /* the epoch that the next request begins; 0: it goes on */
};

/* ---- the begin ------------------------------------------------------------------------------- */

static int start_processes(struct train_world *world, const struct dataset *data,
                           struct dp_error *err)
{
    const struct train_options *o = world->options;
    struct train_world_about *about = &world->about;
    const struct {
        const char *name;
        char *to;
        size_t bytes;
    } texts[] = {{"backend", about->backend, sizeof about->backend},
                 {"communicator", about->communicator, sizeof about->communicator},
                 {"blas", about->blas, sizeof about->blas},
                 {"library", about->library, sizeof about->library}};
    struct text_error why = {""};
    struct train_options first = *o; /* with the devices of the first process */
    char digest[DIGEST_HEX], *options;
    json_t *ok;

    if (train_data_digest(data, digest))
        return dp_fail(err, DP_ENOMEM, "no memory for a digest of the data");
    if (rank_pool_start(o->processes.launcher, "trainee", about->processes, o->processes.timeout,
                        &world->pool, &why))
        return rank_pool_fail(why.text, err);
    if (device_list_first(o->devices, o->processes.per_process, first.devices,
                          sizeof first.devices))
        return rank_pool_fail("the devices cannot be divided among the processes", err);
    if (!(options = train_text_of(&first, sizeof first, err)))
        return err->status;
    ok = rank_pool_request(world->pool, "open",
                           json_pack("{s:s, s:s}", "options", options, "digest", digest), err);
    free(options);
    if (!ok)
        return err->status;
    json_decref(ok);
    if (!(ok = rank_pool_request(world->pool, "group", json_object(), err)))
        return err->status;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        const char *text = json_string_value(json_object_get(ok, texts[i].name));

        snprintf(texts[i].to, texts[i].bytes, "%s", text ? text : "");
        text_clean(texts[i].to, ' ');
    }
    about->oversubscribed = json_is_true(json_object_get(ok, "oversubscribed"));
    about->hosts = rank_pool_hosts(world->pool, (int)o->processes.per_process, about->host_ranks,
                                   sizeof about->host_ranks);
    json_decref(ok);
    return 0;
}

int train_world_open(const struct train_options *options, const struct dataset *data,
                     struct train_world **world, struct dp_error *err)
{
    struct train_world *w = cli_alloc(1, sizeof *w);
    int status;

    *world = NULL;
    w->options = options;
    w->about.ranks = device_list_count(options->devices);
    w->about.processes = w->about.ranks / (int)options->processes.per_process;
    if ((status = start_processes(w, data, err))) {
        train_world_close(w);
        return status;
    }
    *world = w;
    return 0;
}

void train_world_close(struct train_world *world)
{
    if (!world)
        return;
    rank_pool_close(world->pool);
    free(world->step);
    free(world);
}

const struct train_world_about *train_world_about(const struct train_world *world)
{
    return &world->about;
}

/* ---- a training ------------------------------------------------------------------------------ */

int train_world_holds(const struct train_world *world, const struct train_side *side,
                      struct dp_error *err)
{
    char *values = train_values_text(side, err), digest[DIGEST_HEX];
    int status = values ? 0 : err->status;

    if (status == 0 && digest_sha256(values, strlen(values), digest))
        status = dp_fail(err, DP_ENOMEM, "no memory for a digest of parameters");
    if (status == 0 && strcmp(world->digest, digest) != 0)
        status = rank_pool_fail("the processes have other parameters than are here", err);
    free(values);
    return status;
}

/* Checks that the parameters that the processes have reported are those of side. */
static int check_values(struct train_world *world, const struct train_side *side, const json_t *ok,
                        struct dp_error *err)
{
    const char *theirs = json_string_value(json_object_get(ok, "digest"));

    snprintf(world->digest, sizeof world->digest, "%s", theirs ? theirs : "");
    return train_world_holds(world, side, err);
}

int train_world_start(struct train_world *world, struct train_side *side, uint64_t seed,
                      struct dp_error *err)
{
    char *values = train_values_text(side, err), number[24];
    json_t *ok;
    int status;

    if (!values)
        return err->status;
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    world->at_once = 1;
    ok = rank_pool_request(world->pool, "start",
                           json_pack("{s:s, s:s}", "seed", number, "values", values), err);
    free(values);
    status = ok ? check_values(world, side, ok, err) : err->status;
    json_decref(ok);
    return status;
}

void train_world_epoch(struct train_world *world, size_t epoch, size_t steps)
{
    world->made = world->taken = 0;
    world->left = steps;
    world->begins = epoch;
    world->step = cli_resize(world->step, steps, sizeof *world->step);
}

/* Asks for more steps. */
static int more_steps(struct train_world *world, struct dp_error *err)
{
    const size_t n = world->at_once < world->left ? world->at_once : world->left;
    struct watch watch;
    double seconds;
    json_t *ok;

    if (n == 0)
        return rank_pool_fail("the epoch has no step any more", err);
    watch_start(&watch);
    ok = rank_pool_request(
        world->pool, "steps",
        json_pack("{s:I, s:I}", "epoch", (json_int_t)world->begins, "n", (json_int_t)n), err);
    seconds = watch_seconds(&watch);
    watch_close(&watch);
    if (!ok)
        return err->status;

    const char *steps = json_string_value(json_object_get(ok, "steps"));
    const bool all = steps && train_bytes_of(steps, world->step, n * sizeof *world->step);

    json_decref(ok);
    if (!all)
        return rank_pool_fail("the processes did not make the steps that were asked for", err);
    world->made = n;
    world->taken = 0;
    world->left -= n;
    world->begins = 0;
    /* With --against there is one step per request, because parameters are compared after each
     * step. */
    if (seconds < soon / 2 && n == world->at_once && world->options->against[0] == '\0')
        world->at_once *= 2;
    else if (seconds > soon && world->at_once > 1)
        world->at_once /= 2;
    return 0;
}

int train_world_step(struct train_world *world, float *loss, uint64_t *arrived,
                     struct dp_error *err)
{
    const int status = world->taken == world->made ? more_steps(world, err) : 0;

    if (status)
        return status;
    *loss = (float)world->step[world->taken].loss;
    *arrived = world->step[world->taken++].arrived;
    return 0;
}

bool train_world_settled(const struct train_world *world)
{
    return world->taken == world->made;
}

int train_world_read(struct train_world *world, struct train_side *side, struct dp_error *err)
{
    json_t *ok = rank_pool_request(world->pool, "values", json_object(), err);
    const char *values = json_string_value(json_object_get(ok, "values"));
    int status = ok ? 0 : err->status;

    if (status == 0)
        status = values ? train_values_put(side, values, err)
                        : rank_pool_fail("the processes gave no parameters", err);
    if (status == 0)
        status = check_values(world, side, ok, err);
    json_decref(ok);
    return status;
}
