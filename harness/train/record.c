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

    o = value_add(
        o,
        "schema:s created_utc:s program_version:s git:s build_type:s cpu_model:s blas:s model:s "
        "data:s rows:n features:n classes:i missing_classes:i first_missing_classes:o devices:s "
        "n_devices:i mode:s backend:s communicator:s oversubscribed:b",
        "lockstep/train/1.0", created, BUILD_VERSION, BUILD_GIT, BUILD_TYPE, machine.cpu_model,
        about ? about->blas : blas, model->name, data->name, data->rows, data->features,
        data->classes, data->gaps, gaps, options->devices,
        about ? about->ranks : dp_group_size(group), options->ddp ? "ddp" : "dp",
        about ? about->backend : dp_group_backend(group),
        about ? about->communicator : dp_group_communicator(group),
        about ? about->oversubscribed : dp_group_oversubscribed(group));
    if (about)
        o = value_add(o, "launcher:s per_process:n processes:i hosts:i host_ranks:s mpi_library:s",
                      options->processes.launcher, options->processes.per_process, about->processes,
                      about->hosts, about->host_ranks, about->library);
    o = value_add(o,
                  "against:s batch:n epochs:n optimizer:s lr:r momentum:r decay:r clip:r cosine:b "
                  "warmup:n accumulate:n seed:o seeds:n",
                  options->against, options->batch, options->epochs,
                  train_optimizer_name(update->kind), update->lr, update->momentum, update->decay,
                  update->clip, update->cosine, update->warmup, update->parts, big(options->seed),
                  options->seeds);
    return document_text(o, JSON_COMPACT);
}

char *record_train_epoch(const struct train_epoch *epoch)
{
    const double tokens_per_s =
        epoch->tokens > 0 ? epoch->samples_per_s * (double)epoch->context : (double)NAN;

    return document_text(
        value_object("schema:s seed:o epoch:n steps:n train_loss:r test_loss:r "
                     "test_accuracy_percent:r against_test_loss:r against_test_accuracy_percent:r "
                     "tokens:o tokens_per_s:r samples_per_s:o",
                     "lockstep/train-epoch/1.0", big(epoch->seed), epoch->epoch, epoch->steps,
                     epoch->train_loss, epoch->test_loss, epoch->accuracy, epoch->other_loss,
                     epoch->other_accuracy,
                     epoch->context > 0 ? value_count(epoch->tokens) : json_null(), tokens_per_s,
                     epoch->steps > 0 ? value_real(epoch->samples_per_s) : json_null()),
        JSON_COMPACT);
}

static json_t *divergence(const struct train_divergence *divergence)
{
    return divergence->here ? value_object("step:n where:s", divergence->step, divergence->where)
                            : json_null();
}

char *record_train_end(const struct train_model *model, double median, int status,
                       const struct train_against *against)
{
    json_t *comparison = json_null();

    if (against)
        comparison = value_object(
            "holds:b exact_steps:n reference_steps:n exact_why:s inexact:o steps:n difference:s "
            "parted:o most:r last:r judged_steps:n judged_bound:r beyond:o",
            train_against_holds(against), against->exact_steps, against->reference_steps,
            against->exact_why, divergence(&against->inexact), against->steps,
            against->mean ? "mean" : "largest", divergence(&against->diverged), against->most,
            against->last, against->judged, against->judged_bound, divergence(&against->beyond));
    return document_text(
        value_object(
            "schema:s median_accuracy_percent:r median_test_loss:r exit_status:i against:o",
            "lockstep/train-end/1.0", model->text ? (double)NAN : median,
            model->text ? median : (double)NAN, status, comparison),
        JSON_COMPACT);
}
