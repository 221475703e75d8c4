/* train/trainee.c: `lockstep trainee`: one of several processes that hold the ranks of a training.
 *
 * Each sends its own answers, and the process that asks compares them. They must be the same: after
 * a step all ranks have the same losses and parameters. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "files/files.h"
#include "launch/rank_pool.h"
#include "text/alloc.h"
#include "train/train.h"

struct trainee {
    struct rank_worker worker;
    struct train_options options;
    struct train_model model;
    struct dataset data;
    struct dp_group *group;
    struct train_side side;
    struct loader *loader;
};

/* ---- what is asked --------------------------------------------------------------------------- */

/* Opens the data. Errors of this process alone show here, so that no other process waits for it in
 * a collective call. */
static int do_open(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    struct trainee *t = self;
    struct train_options *o = &t->options;
    struct dataset_want want;
    char digest[DIGEST_HEX], why[200];
    int status;

    if (!train_bytes_of(rank_worker_text(request, "options"), o, sizeof *o))
        return dp_fail(err, DP_EINVAL, "the options of the training cannot be read");
    if (train_model_want(o->model, &want, why, sizeof why))
        return dp_fail(err, DP_EINVAL, "%s", why);
    want.header = o->header;
    if ((status = dataset_open(o->data, &want, &t->data, err)))
        return status;
    if (train_model_make(o->model, &t->data, &t->model, why, sizeof why))
        return dp_fail(err, DP_EINVAL, "%s", why);
    if (train_data_digest(&t->data, digest))
        return dp_fail(err, DP_ENOMEM, "no memory for a digest of the data");
    if (strcmp(digest, rank_worker_text(request, "digest")) != 0)
        return dp_fail(err, DP_EINVAL,
                       "%s has other data here than where the training was asked for",
                       t->data.path);
    *ok = json_object();
    return 0;
}

static int do_group(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    struct trainee *t = self;
    struct dp_group_config config = {.devices = t->options.devices,
                                     .backend = t->options.backend,
                                     .world = dp_mpi_world(t->worker.mpi)};
    char blas[160];
    bool crowded;
    int status;

    (void)request;
    share_cores(t->worker.mpi, (int)t->options.processes.per_process, &config);
    if ((status = dp_group_open(&config, &t->group, err)) ||
        (status = share_oversubscribed(t->group, &crowded, err)))
        return status;
    if ((status = train_first(&t->model, &t->options, &t->data, t->group, true, err)))
        return status;
    dp_group_blas(t->group, blas, sizeof blas);
    *ok = json_pack("{s:s, s:s, s:s, s:s, s:b}", "blas", blas, "backend",
                    dp_group_backend(t->group), "communicator", dp_group_communicator(t->group),
                    "library", dp_mpi_library(t->worker.mpi), "oversubscribed", crowded);
    return 0;
}

/* Reports the digest of the parameters. One process also sends the parameters, if it is asked
 * to. */
static int say_values(struct trainee *t, bool whole, json_t **ok, struct dp_error *err)
{
    const bool first = dp_mpi_rank(t->worker.mpi) == 0;
    char digest[DIGEST_HEX], *values;
    int status = train_side_agree(&t->side, err);

    if (status)
        return status;
    if (!(values = train_values_text(&t->side, err)))
        return err->status;
    if (digest_sha256(values, strlen(values), digest) == 0)
        *ok = json_pack("{s:s, s:s*}", "digest", digest, "values", whole && first ? values : NULL);
    free(values);
    return 0;
}

/* Opens the side and the loader again, so that a seed has no state of the one before it. */
static int do_start(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    struct trainee *t = self;
    const struct train_options *o = &t->options;
    const size_t world = (size_t)dp_group_world(t->group);
    const struct train_side_config config = {.model = &t->model,
                                             .batch = o->batch / world * o->processes.per_process,
                                             .update = o->update,
                                             .ddp = true,
                                             .mpi = t->worker.mpi};
    const uint64_t seed = strtoull(rank_worker_text(request, "seed"), NULL, 10);
    int status;

    train_side_close(&t->side);
    loader_close(t->loader);
    t->loader = NULL;
    if ((status = train_side_open(&t->side, t->group, &config, err)) ||
        (status = train_values_put(&t->side, rank_worker_text(request, "values"), err)) ||
        (status = train_side_spread(&t->side, err)) ||
        (status =
             train_loader_open(o, &t->data, seed, world * o->update.parts, false, &t->loader, err)))
        return status;
    return say_values(t, false, ok, err);
}

static int do_steps(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    struct trainee *t = self;
    const size_t n = (size_t)json_integer_value(json_object_get(request, "n"));
    const json_int_t epoch = json_integer_value(json_object_get(request, "epoch"));
    struct train_report *steps = cli_alloc(n, sizeof *steps);
    struct loader_batch batch;
    char *text = NULL;
    int status = 0;

    if (epoch > 0) /* it begins */
        loader_start(t->loader, (uint64_t)epoch);
    for (size_t i = 0; i < n && status == 0; ++i) {
        float loss = 0;

        loader_next(t->loader, &batch);
        if (batch.rows == 0)
            status = dp_fail(err, DP_EINVAL, "the epoch has no batch any more");
        else
            status = train_side_step(&t->side, &batch, &loss, err);
        steps[i] = (struct train_report){(double)loss, t->side.arrived};
    }
    if (status == 0 && (text = train_text_of(steps, n * sizeof *steps, err)))
        *ok = json_pack("{s:s}", "steps", text);
    free(steps);
    free(text);
    return status;
}

static int do_values(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    (void)request;
    return say_values(self, true, ok, err);
}

/* ---- answers --------------------------------------------------------------------------------- */

static json_t *answer(void *self, json_t *request)
{
    static const struct rank_operation ops[] = {{"open", do_open},
                                                {"group", do_group},
                                                {"start", do_start},
                                                {"steps", do_steps},
                                                {"values", do_values}};
    const struct trainee *t = self;

    return rank_worker_answer(t->worker.mpi, ops, sizeof ops / sizeof ops[0], self, request);
}

int trainee_main(int argc, char **argv)
{
    struct trainee t = {.loader = NULL};
    const struct rank_part part = {answer, NULL, &t, rank_answer_digest};
    const int status = rank_worker_serve(&t.worker, argc, argv, "train",
                                         "Worker of train: some of the ranks of a model.", &part);

    if (status)
        return status;
    train_side_close(&t.side);
    loader_close(t.loader);
    dp_group_close(t.group);
    dataset_free(&t.data);
    rank_worker_end(&t.worker);
}
