/* train/record.c: makes the lines of JSON that `lockstep train --out` writes. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "build_info.h"
#include "record/document.h"
#include "record/memory.h"
#include "train/train.h"

/* Large integers are written as text, because many readers round them. */
static json_t *big(uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return json_string(text);
}

/* Returns the line, and frees object. */
static char *finish(json_t *object, int failed)
{
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return record_memory_text(object, JSON_COMPACT);
}

static json_t *utc_now(void)
{
    const time_t now = time(NULL);
    struct tm utc;
    char text[32] = "";

    if (gmtime_r(&now, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

static json_t *missing(const struct dataset *data)
{
    json_t *list = json_array();
    int failed = list == NULL;

    for (int i = 0; i < data->gaps && i < DATASET_GAPS; ++i)
        failed |= json_array_append_new(list, json_integer(data->gap[i]));
    if (failed) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* Adds the members about ranks in processes. */
static int put_world(json_t *o, const struct train_options *options,
                     const struct train_world_about *about)
{
    int failed = json_object_set_new(o, "launcher", json_string(options->processes.launcher));

    failed |= json_object_set_new(o, "per_process", value_count(options->processes.per_process));
    failed |= json_object_set_new(o, "processes", json_integer(about->processes));
    failed |= json_object_set_new(o, "hosts", json_integer(about->hosts));
    failed |= json_object_set_new(o, "host_ranks", json_string(about->host_ranks));
    failed |= json_object_set_new(o, "mpi_library", json_string(about->library));
    return failed;
}

static int put_update(json_t *o, const struct train_update *update)
{
    int failed =
        json_object_set_new(o, "optimizer", json_string(train_optimizer_name(update->kind)));

    failed |= json_object_set_new(o, "lr", value_real(update->lr));
    failed |= json_object_set_new(o, "momentum", value_real(update->momentum));
    failed |= json_object_set_new(o, "decay", value_real(update->decay));
    failed |= json_object_set_new(o, "clip", value_real(update->clip));
    failed |= json_object_set_new(o, "cosine", json_boolean(update->cosine));
    failed |= json_object_set_new(o, "warmup", value_count(update->warmup));
    failed |= json_object_set_new(o, "accumulate", value_count(update->parts));
    return failed;
}

char *record_train_head(const struct train_options *options, const struct train_model *model,
                        const struct dataset *data, struct dp_group *group,
                        const struct train_world *world)
{
    const struct train_world_about *about = world ? train_world_about(world) : NULL;
    const char *backend = about ? about->backend : dp_group_backend(group);
    const char *communicator = about ? about->communicator : dp_group_communicator(group);
    struct dp_machine machine = {.packages = 0};
    struct dp_error err = {0};
    char blas[160] = "";
    json_t *o = json_object();
    int failed = dp_machine_read(&machine, &err);

    if (!about)
        dp_group_blas(group, blas, sizeof blas);
    failed |= json_object_set_new(o, "schema", json_string("lockstep/train/1.0"));
    failed |= json_object_set_new(o, "created_utc", utc_now());
    failed |= json_object_set_new(o, "program_version", json_string(BUILD_VERSION));
    failed |= json_object_set_new(o, "git", json_string(BUILD_GIT));
    failed |= json_object_set_new(o, "build_type", json_string(BUILD_TYPE));
    failed |= json_object_set_new(o, "cpu_model", json_string(machine.cpu_model));
    failed |= json_object_set_new(o, "blas", json_string(about ? about->blas : blas));
    failed |= json_object_set_new(o, "model", json_string(model->name));
    failed |= json_object_set_new(o, "data", json_string(data->name));
    failed |= json_object_set_new(o, "rows", value_count(data->rows));
    failed |= json_object_set_new(o, "features", value_count(data->features));
    failed |= json_object_set_new(o, "classes", json_integer(data->classes));
    failed |= json_object_set_new(o, "missing_classes", json_integer(data->gaps));
    failed |= json_object_set_new(o, "first_missing_classes", missing(data));
    failed |= json_object_set_new(o, "devices", json_string(options->devices));
    failed |= json_object_set_new(
        o, "n_devices", json_integer(world ? train_world_ranks(world) : dp_group_size(group)));
    failed |= json_object_set_new(o, "mode", json_string(options->ddp ? "ddp" : "dp"));
    failed |= json_object_set_new(o, "backend", json_string(backend));
    failed |= json_object_set_new(o, "communicator", json_string(communicator));
    failed |= json_object_set_new(
        o, "oversubscribed",
        json_boolean(about ? about->oversubscribed : dp_group_oversubscribed(group)));
    if (about)
        failed |= put_world(o, options, about);
    failed |= json_object_set_new(o, "against", json_string(options->against));
    failed |= json_object_set_new(o, "batch", value_count(options->batch));
    failed |= json_object_set_new(o, "epochs", value_count(options->epochs));
    failed |= put_update(o, &options->update);
    failed |= json_object_set_new(o, "seed", big(options->seed));
    failed |= json_object_set_new(o, "seeds", value_count(options->seeds));
    return finish(o, failed);
}

char *record_train_epoch(const struct train_epoch *epoch)
{
    json_t *o = json_object();
    int failed = json_object_set_new(o, "schema", json_string("lockstep/train-epoch/1.0"));

    failed |= json_object_set_new(o, "seed", big(epoch->seed));
    failed |= json_object_set_new(o, "epoch", value_count(epoch->epoch));
    failed |= json_object_set_new(o, "steps", value_count(epoch->steps));
    failed |= json_object_set_new(o, "train_loss", value_real(epoch->train_loss));
    failed |= json_object_set_new(o, "test_loss", value_real(epoch->test_loss));
    failed |= json_object_set_new(o, "test_accuracy_percent", value_real(epoch->accuracy));
    failed |= json_object_set_new(o, "against_test_loss", value_real(epoch->other_loss));
    failed |=
        json_object_set_new(o, "against_test_accuracy_percent", value_real(epoch->other_accuracy));
    failed |= json_object_set_new(o, "tokens",
                                  epoch->context > 0 ? value_count(epoch->tokens) : json_null());
    failed |= json_object_set_new(o, "tokens_per_s",
                                  epoch->tokens > 0
                                      ? value_real(epoch->samples_per_s * (double)epoch->context)
                                      : json_null());
    failed |= json_object_set_new(
        o, "samples_per_s", epoch->steps > 0 ? value_real(epoch->samples_per_s) : json_null());
    return finish(o, failed);
}

static json_t *divergence(const struct train_divergence *divergence)
{
    json_t *o = json_object();

    if (!divergence->here) {
        json_decref(o);
        return json_null();
    }
    if (json_object_set_new(o, "step", value_count(divergence->step)) |
        json_object_set_new(o, "where", json_string(divergence->where))) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static json_t *comparison(const struct train_against *against)
{
    json_t *o = json_object();
    int failed = json_object_set_new(o, "holds", json_boolean(train_against_holds(against)));

    failed |= json_object_set_new(o, "exact_steps", value_count(against->exact_steps));
    failed |= json_object_set_new(o, "reference_steps", value_count(against->reference_steps));
    failed |= json_object_set_new(o, "exact_why", json_string(against->exact_why));
    failed |= json_object_set_new(o, "inexact", divergence(&against->inexact));
    failed |= json_object_set_new(o, "steps", value_count(against->steps));
    failed |= json_object_set_new(o, "difference", json_string(against->mean ? "mean" : "largest"));
    failed |= json_object_set_new(o, "parted", divergence(&against->diverged));
    failed |= json_object_set_new(o, "most", value_real(against->most));
    failed |= json_object_set_new(o, "last", value_real(against->last));
    failed |= json_object_set_new(o, "judged_steps", value_count(against->judged));
    failed |= json_object_set_new(o, "judged_bound", value_real(against->judged_bound));
    failed |= json_object_set_new(o, "beyond", divergence(&against->beyond));
    if (failed) {
        json_decref(o);
        return NULL;
    }
    return o;
}

char *record_train_end(const struct train_model *model, double median, int status,
                       const struct train_against *against)
{
    json_t *o = json_object();
    int failed = json_object_set_new(o, "schema", json_string("lockstep/train-end/1.0"));

    failed |=
        json_object_set_new(o, "median_accuracy_percent", value_real(model->text ? NAN : median));
    failed |= json_object_set_new(o, "median_test_loss", value_real(model->text ? median : NAN));
    failed |= json_object_set_new(o, "exit_status", json_integer(status));
    failed |=
        json_object_set_new(o, "against", against != NULL ? comparison(against) : json_null());
    return finish(o, failed);
}
