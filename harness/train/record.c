/* train/record.c: makes the lines of JSON that `lockstep train --out` writes. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "build_info.h"
#include "record/json.h"
#include "train/train.h"

void record_train_use_memory(void)
{
    json_set_alloc_funcs(malloc, free);
}

/* Large integers are written as text, because many readers round them. */
static json_t *big(uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return json_string(text);
}

/* A member of an object, whose value belongs to it. */
struct member {
    const char *name;
    json_t *value; /* NULL: there was no memory for it */
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Adds the members to object. Returns it; or NULL, and object is freed: memory is short. */
static json_t *with_members(json_t *object, const struct member member[], size_t n)
{
    int failed = 0;

    for (size_t i = 0; i < n; ++i)
        failed |= json_object_set_new(object, member[i].name, member[i].value);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

char *record_train_head(const struct train_options *options, const struct train_model *model,
                        const struct dataset *data, struct dp_group *group,
                        const struct train_world *world)
{
    const struct train_world_about *about = world ? train_world_about(world) : NULL;
    const struct train_update *update = &options->update;
    const time_t now = time(NULL);
    struct dp_machine machine = {.packages = 0};
    struct dp_error err = {0};
    struct tm utc;
    char blas[160] = "", created[32] = "";
    json_t *o = json_object(), *gaps = json_array();

    if (dp_machine_read(&machine, &err)) {
        json_decref(o);
        json_decref(gaps);
        return NULL;
    }
    if (gmtime_r(&now, &utc))
        strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    for (int i = 0; i < data->gaps && i < DATASET_GAPS; ++i)
        if (json_array_append_new(gaps, json_integer(data->gap[i]))) {
            json_decref(gaps);
            gaps = NULL;
        }
    if (!about)
        dp_group_blas(group, blas, sizeof blas);

    const struct member first[] = {
        {"schema", json_string("lockstep/train/1.0")},
        {"created_utc", json_string(created)},
        {"program_version", json_string(BUILD_VERSION)},
        {"git", json_string(BUILD_GIT)},
        {"build_type", json_string(BUILD_TYPE)},
        {"cpu_model", json_string(machine.cpu_model)},
        {"blas", json_string(about ? about->blas : blas)},
        {"model", json_string(model->name)},
        {"data", json_string(data->name)},
        {"rows", value_count(data->rows)},
        {"features", value_count(data->features)},
        {"classes", json_integer(data->classes)},
        {"missing_classes", json_integer(data->gaps)},
        {"first_missing_classes", gaps},
        {"devices", json_string(options->devices)},
        {"n_devices", json_integer(about ? about->ranks : dp_group_size(group))},
        {"mode", json_string(options->ddp ? "ddp" : "dp")},
        {"backend", json_string(about ? about->backend : dp_group_backend(group))},
        {"communicator", json_string(about ? about->communicator : dp_group_communicator(group))},
        {"oversubscribed",
         json_boolean(about ? about->oversubscribed : dp_group_oversubscribed(group))},
    };

    o = with_members(o, first, COUNT(first));
    if (about) {
        const struct member processes[] = {
            {"launcher", json_string(options->processes.launcher)},
            {"per_process", value_count(options->processes.per_process)},
            {"processes", json_integer(about->processes)},
            {"hosts", json_integer(about->hosts)},
            {"host_ranks", json_string(about->host_ranks)},
            {"mpi_library", json_string(about->library)},
        };

        o = with_members(o, processes, COUNT(processes));
    }

    const struct member last[] = {
        {"against", json_string(options->against)},
        {"batch", value_count(options->batch)},
        {"epochs", value_count(options->epochs)},
        {"optimizer", json_string(train_optimizer_name(update->kind))},
        {"lr", value_real(update->lr)},
        {"momentum", value_real(update->momentum)},
        {"decay", value_real(update->decay)},
        {"clip", value_real(update->clip)},
        {"cosine", json_boolean(update->cosine)},
        {"warmup", value_count(update->warmup)},
        {"accumulate", value_count(update->parts)},
        {"seed", big(options->seed)},
        {"seeds", value_count(options->seeds)},
    };

    return document_text(with_members(o, last, COUNT(last)), JSON_COMPACT);
}

char *record_train_epoch(const struct train_epoch *epoch)
{
    const double tokens_per_s =
        epoch->tokens > 0 ? epoch->samples_per_s * (double)epoch->context : (double)NAN;
    const struct member members[] = {
        {"schema", json_string("lockstep/train-epoch/1.0")},
        {"seed", big(epoch->seed)},
        {"epoch", value_count(epoch->epoch)},
        {"steps", value_count(epoch->steps)},
        {"train_loss", value_real(epoch->train_loss)},
        {"test_loss", value_real(epoch->test_loss)},
        {"test_accuracy_percent", value_real(epoch->accuracy)},
        {"against_test_loss", value_real(epoch->other_loss)},
        {"against_test_accuracy_percent", value_real(epoch->other_accuracy)},
        {"tokens", epoch->context > 0 ? value_count(epoch->tokens) : json_null()},
        {"tokens_per_s", value_real(tokens_per_s)},
        {"samples_per_s", epoch->steps > 0 ? value_real(epoch->samples_per_s) : json_null()},
    };

    return document_text(with_members(json_object(), members, COUNT(members)), JSON_COMPACT);
}

static json_t *divergence(const struct train_divergence *divergence)
{
    const struct member members[] = {{"step", value_count(divergence->step)},
                                     {"where", json_string(divergence->where)}};
    json_t *o = with_members(json_object(), members, COUNT(members));

    if (divergence->here)
        return o;
    json_decref(o);
    return json_null();
}

char *record_train_end(const struct train_model *model, double median, int status,
                       const struct train_against *against)
{
    json_t *comparison = json_null();

    if (against) {
        const struct member members[] = {
            {"holds", json_boolean(train_against_holds(against))},
            {"exact_steps", value_count(against->exact_steps)},
            {"reference_steps", value_count(against->reference_steps)},
            {"exact_why", json_string(against->exact_why)},
            {"inexact", divergence(&against->inexact)},
            {"steps", value_count(against->steps)},
            {"difference", json_string(against->mean ? "mean" : "largest")},
            {"parted", divergence(&against->diverged)},
            {"most", value_real(against->most)},
            {"last", value_real(against->last)},
            {"judged_steps", value_count(against->judged)},
            {"judged_bound", value_real(against->judged_bound)},
            {"beyond", divergence(&against->beyond)},
        };

        comparison = with_members(json_object(), members, COUNT(members));
    }

    const struct member members[] = {
        {"schema", json_string("lockstep/train-end/1.0")},
        {"median_accuracy_percent", value_real(model->text ? (double)NAN : median)},
        {"median_test_loss", value_real(model->text ? median : (double)NAN)},
        {"exit_status", json_integer(status)},
        {"against", comparison},
    };

    return document_text(with_members(json_object(), members, COUNT(members)), JSON_COMPACT);
}
