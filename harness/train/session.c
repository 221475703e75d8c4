/* train/session.c: opens all that a run of `lockstep train` needs, and refuses options that are not
 * possible. */
#include "train/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/backend.h"
#include "command/command.h"
#include "command/device_list.h"
#include "descriptor.h"
#include "files/text_out.h"
#include "files/weights.h"

void train_session_append(struct train_session *s, char *line, bool last)
{
    struct text_error why = {""};

    if (!s->writes) {
        free(line);
        return;
    }
    if ((last ? output_end : output_append)(&s->output, line, &why) == 0)
        return;
    train_show_clear();
    command_complain(s->command, "%s", why.text);
    s->writes = false;
    s->lost = EXIT_MISUSE;
}

/* Opens model and data by their names. */
static int open_model_and_data(struct train_session *s)
{
    struct train_options *o = &s->options;
    struct dataset_want want;
    struct dp_error err = {0};
    char why[200];

    if (train_model_want(o->model, &want, why, sizeof why))
        return command_refuse(s->command, "--model: %s", why);
    want.header = o->header;
    if (o->data[0] == '\0')
        snprintf(o->data, sizeof o->data, "%s", want.text ? "text" : "digits");
    if (dataset_open(o->data, &want, &s->data, &err))
        return command_core_error(s->command, &err);
    if (train_model_make(o->model, &s->data, &s->model, why, sizeof why))
        return command_refuse(s->command, "--model: %s", why);
    if (s->model.classes < 2)
        return command_refuse(s->command, "%s: with one class every answer is right; at least 2",
                              s->data.path);
    if (s->model.table > 0 && o->ddp)
        return command_refuse(s->command,
                              "--mode ddp: %s has a table on the host, but a rank has its whole "
                              "model on one device",
                              s->model.name);
    if (o->epochs > (SIZE_MAX / sizeof *s->epoch - 1) / o->seeds - 1)
        return EXIT_MISUSE;
    s->epoch = calloc((o->epochs + 1) * o->seeds, sizeof *s->epoch);
    if (s->epoch)
        return 0;
    return command_refuse(s->command, "no memory for %zu epochs", o->epochs);
}

size_t train_session_ranks(const struct train_session *s)
{
    return s->options.processes.launcher[0] != '\0' ? (size_t)device_list_count(s->options.devices)
                                                    : (size_t)dp_group_size(s->group);
}

/* Makes the batch a multiple, so that every part of every rank has the same number of rows: then
 * the mean over them is the mean over rows. It also sets the values that depend on the number of
 * steps. */
static int fit_batch(struct train_session *s)
{
    struct train_options *o = &s->options;
    const size_t ranks = o->ddp ? train_session_ranks(s) : 1, shares = ranks * o->update.parts;
    struct dp_error err = {0};
    char why[200];
    size_t steps = 0;

    if (ranks == 0)
        return command_refuse(s->command, "--mode ddp needs devices: a rank on each");

    s->asked = o->batch;
    o->batch = (o->batch + shares - 1) / shares * shares;
    if (train_epoch_steps(o, &s->data, shares, &steps, &err))
        return command_core_error(s->command, &err);
    o->update.steps = steps * o->epochs;
    if (train_model_update(&s->model, &o->update, why, sizeof why) == 0)
        return 0;
    return command_refuse(s->command, "%s", why);
}

static int open_devices(struct train_session *s)
{
    const struct train_options *o = &s->options;
    /* With ranks in processes, this process has one device for the parameters that they have in the
     * end. */
    const bool apart = o->processes.launcher[0] != '\0';
    const struct dp_group_config one = {.devices = apart ? "virt:1" : o->devices,
                                        .backend = o->backend,
                                        .communicator = command_given(o->communicator)};
    const struct dp_group_config two = {.devices = o->against,
                                        .backend = o->against_backend,
                                        .communicator = command_given(o->against_communicator)};
    int status = command_open_group(s->command, &one, apart ? 0 : o->required, &s->group);

    s->compares = o->against[0] != '\0';
    if (status == 0)
        status = fit_batch(s);
    return status != 0 || !s->compares ? status
                                       : command_open_group(s->command, &two, 0, &s->other_group);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, two;

    if (stat(a, &one) == 0 && stat(b, &two) == 0)
        return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
    return a[0] != '\0' && strcmp(a, b) == 0;
}

/* Checks for errors that would otherwise be found only after the training, or after a record was
 * begun. */
static int check_files(struct train_session *s)
{
    const struct train_options *o = &s->options;
    const struct train_side_config config = {.model = &s->model, .batch = 1, .update = o->update};
    struct dp_error err = {0};
    int status = 0;

    if (s->compares && s->model.workload.is->shards)
        status = dp_fail(&err, DP_EINVAL,
                         "--against: what %s gives for a row depends on the rows of its shard, so "
                         "trainings on other devices differ by more than rounding",
                         s->model.name);
    if (status == 0)
        status = train_model_fits(&s->model, s->group, train_session_ranks(s), o, &err);
    if (status == 0 &&
        (is_same_file(o->save, dataset_file(o->data)) || is_same_file(o->save, o->out)))
        status = dp_fail(&err, DP_EINVAL, "--save %.200s is the file of %s: name another", o->save,
                         is_same_file(o->save, dataset_file(o->data)) ? "--data" : "--out");
    if (status == 0 && o->load[0] != '\0') {
        status = train_side_open(&s->side, s->group, &config, &err);
        if (status == 0)
            status = weights_load(s->side.top, &s->model.workload, o->load, &err);
        train_side_close(&s->side);
    }
    if (status == 0 && o->save[0] != '\0')
        status = weights_check(o->save, &err);
    if (status == 0 && o->figure[0] != '\0' && text_folder(o->figure) != 0)
        status = dp_fail(&err, DP_EINVAL, "cannot make the directory '%.100s': %s", o->figure,
                         strerror(errno));
    return status ? command_core_error(s->command, &err) : 0;
}

static int open_record(struct train_session *s)
{
    struct text_error why = {""};
    struct stat there;

    if (s->options.out[0] == '\0')
        return 0;
    if (stat(s->options.out, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0)
        return command_refuse(s->command, "--out: %.200s is not empty: name a new file",
                              s->options.out);
    if (output_open(&s->output, s->options.out, false, &why) == 0 &&
        output_repair(&s->output, &why) == 0) {
        s->opened = s->writes = true;
        train_session_append(
            s, record_train_head(&s->options, &s->model, &s->data, s->group, s->world), false);
        return s->lost;
    }
    command_complain(s->command, "%s", why.text);
    output_close(&s->output);
    return EXIT_MISUSE;
}

int train_session_open(struct train_session *s)
{
    const struct train_options *o = &s->options;
    const bool launched = o->processes.launcher[0] != '\0';
    struct dp_error err = {0};
    int status = open_model_and_data(s);

    if (status == 0)
        status = open_devices(s);
    if (status == 0)
        status = check_files(s);
    /* A step is verified on the devices; of ranks in processes, each process verifies its own. */
    if (status == 0 &&
        (train_first(&s->model, o, &s->data, s->group, o->ddp && !launched, &err) ||
         (s->compares && train_first(&s->model, o, &s->data, s->other_group, false, &err)) ||
         (launched && train_world_open(o, &s->data, &s->world, &err))))
        status = command_core_error(s->command, &err);
    return status ? status : open_record(s);
}

void train_session_close(struct train_session *s)
{
    if (s->opened)
        output_close(&s->output);
    dataset_free(&s->data);
    train_world_close(s->world);
    dp_group_close(s->other_group);
    dp_group_close(s->group);
    free(s->epoch);
}
