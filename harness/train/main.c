/* train/main.c: `lockstep train`: opens all that its trainings need, and refuses options that are
 * not possible; runs the trainings one after the other, prints their results and saves their
 * weights. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "command/device_list.h"
#include "descriptor.h"
#include "files/files.h"
#include "files/weights.h"
#include "numbers/stats.h"
#include "record/files.h"
#include "text/alloc.h"
#include "train/train.h"

struct train_session {
    const char *command;
    struct train_options options;
    struct train_model model;
    struct dataset data;
    struct dp_group *group, *other_group;
    struct train_world *world; /* --launcher: it runs the steps */
    struct train_side side, other;
    struct train_against against;
    bool compares, opened, writes; /* --against, --out: its file is open, and takes lines */
    int lost;                      /* exit status for what could not be written */
    size_t asked;                  /* --batch before it was rounded up for ranks */
    struct output output;
    struct train_epoch *epoch; /* of all seeds, n_epochs so far */
    size_t n_epochs;
    double result[TRAIN_SEEDS]; /* accuracies; for a text test losses */
};

/* Writes one line of the record, and frees it; the last one closes the record. A training goes on
 * if a line cannot be written, so that it is not lost. */
static void append_line(struct train_session *s, char *line, bool last)
{
    struct text_error why = {""};

    if (!s->writes) {
        free(line);
        return;
    }
    if (output_append(&s->output, line, last, &why) == 0)
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
        return command_refuse(s->command, "--workload: %s", why);
    want.header = o->header;
    if (o->data[0] == '\0')
        snprintf(o->data, sizeof o->data, "%s", want.text ? "text" : "digits");
    if (dataset_open(o->data, &want, &s->data, &err))
        return command_core_error(s->command, &err);
    if (train_model_make(o->model, &s->data, &s->model, why, sizeof why))
        return command_refuse(s->command, "--workload: %s", why);
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
    s->epoch = cli_alloc((o->epochs + 1) * o->seeds, sizeof *s->epoch);
    return 0;
}

/* The number of ranks in all processes. */
static size_t count_ranks(const struct train_session *s)
{
    return s->options.processes.launcher[0] != '\0' ? (size_t)device_list_count(s->options.devices)
                                                    : (size_t)dp_group_size(s->group);
}

static int open_devices(struct train_session *s)
{
    struct train_options *o = &s->options;
    /* With ranks in processes, this process has one device for the parameters that they have in the
     * end. */
    const bool apart = o->processes.launcher[0] != '\0';
    const struct dp_group_config one = {.devices = apart ? "virt:1" : o->devices,
                                        .backend = o->backend,
                                        .communicator = command_given(o->communicator)};
    const struct dp_group_config two = {.devices = o->against,
                                        .backend = o->against_backend,
                                        .communicator = command_given(o->against_communicator)};
    struct dp_error err = {0};
    char why[200];
    size_t ranks, shares, steps = 0;
    int status = command_open_group(s->command, &one, apart ? 0 : o->required, &s->group);

    if (status)
        return status;
    ranks = o->ddp ? count_ranks(s) : 1;
    if (ranks == 0)
        return command_refuse(s->command, "--mode ddp needs devices: a rank on each");
    /* The batch becomes a multiple, so that every part of every rank has the same number of rows:
     * then the mean over them is the mean over rows. Other values depend on the number of steps. */
    shares = ranks * o->update.parts;
    s->asked = o->batch;
    o->batch = (o->batch + shares - 1) / shares * shares;
    if (train_epoch_steps(o, &s->data, shares, &steps, &err))
        return command_core_error(s->command, &err);
    o->update.steps = steps * o->epochs;
    if (train_model_update(&s->model, &o->update, why, sizeof why))
        return command_refuse(s->command, "%s", why);
    s->compares = o->against[0] != '\0';
    return s->compares ? command_open_group(s->command, &two, 0, &s->other_group) : 0;
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
        status = train_model_fits(&s->model, s->group, count_ranks(s), o, &err);
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

/* Opens model, data, devices, processes and the record, for options that were parsed, and checks
 * for errors that would otherwise be found only after a training. Returns 0, or an exit status
 * after one line. */
static int open_session(struct train_session *s)
{
    const struct train_options *o = &s->options;
    const bool launched = o->processes.launcher[0] != '\0';
    struct dp_error err = {0};
    struct text_error why = {""};
    struct stat there;
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
    if (status || o->out[0] == '\0')
        return status;
    if (stat(o->out, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0)
        return command_refuse(s->command, "--out: %.200s is not empty: name a new file", o->out);
    if (output_open(&s->output, o->out, false, &why) == 0 && output_repair(&s->output, &why) == 0) {
        s->opened = s->writes = true;
        append_line(s, record_train_head(o, &s->model, &s->data, s->group, s->world), false);
        return s->lost;
    }
    command_complain(s->command, "%s", why.text);
    output_close(&s->output);
    return EXIT_MISUSE;
}

/* ---- trainings ------------------------------------------------------------------------------- */

static void stepped(void *user, const struct train_epoch *epoch, size_t steps, double loss)
{
    (void)user;
    train_show_step(epoch, steps, loss);
}

static void finished(void *user, const struct train_epoch *epoch)
{
    struct train_session *s = user;

    train_show_epoch(&s->options, epoch);
    s->epoch[s->n_epochs++] = *epoch;
    append_line(s, record_train_epoch(epoch), false);
}

static void close_sides(struct train_session *s)
{
    train_side_close(&s->side);
    if (!s->compares)
        return;
    train_against_close(&s->against);
    train_side_close(&s->other);
}

static int train_seed(struct train_session *s, uint64_t seed, struct train_epoch *last,
                      struct dp_error *err)
{
    const struct train_options *o = &s->options;
    const struct train_run run = {.options = o,
                                  .model = &s->model,
                                  .data = &s->data,
                                  .side = &s->side,
                                  .against = s->compares ? &s->against : NULL,
                                  .world = s->world,
                                  .stepped = stepped,
                                  .finished = finished,
                                  .user = s,
                                  .seed = seed,
                                  .keep = o->load[0] != '\0'};
    struct train_side_config config = {
        .model = &s->model, .batch = o->batch, .update = o->update, .ddp = o->ddp && !s->world};
    int status = train_side_open(&s->side, s->group, &config, err);

    config.ddp = false;
    if (status == 0 && s->compares &&
        ((status = train_side_open(&s->other, s->other_group, &config, err)) == 0))
        status = train_against_open(&s->against, &s->other, &config, err);
    if (status == 0 && s->compares && s->world)
        snprintf(s->against.exact_why, sizeof s->against.exact_why,
                 "each process has verified a step by itself");
    else if (status == 0 && s->compares)
        status = train_exact(&s->against, &s->side, &s->model, &s->data, o->seed, o->batch, err);
    if (status == 0 && run.keep)
        status = weights_load(s->side.top, &s->model.workload, o->load, err);
    return status ? status : train_run(&run, last, err);
}

/* Saves the weights if that was asked for. Returns whether they are in their file, which is read
 * again to see whether it has the parameters of the processes. */
static bool save_weights(struct train_session *s)
{
    const char *file = s->options.save;
    struct dp_error err = {0};
    int status;

    if (file[0] == '\0')
        return false;
    status = weights_save(s->side.top, &s->model.workload, file, &err);
    if (status == 0 && s->world) {
        if ((status = weights_load(s->side.top, &s->model.workload, file, &err)) ||
            (status = train_world_holds(s->world, &s->side, &err)))
            remove(file);
    }
    if (status == 0)
        return true;
    status = command_core_error(s->command, &err);
    s->lost = status > s->lost ? status : s->lost;
    return false;
}

/* Judges the comparison and the result that were asked for. Returns an exit status. */
static int judge_training(struct train_session *s, double median)
{
    int status = EXIT_PASSED;

    if (s->compares) {
        const bool holds = train_against_holds(&s->against);

        train_show_against(stdout, &s->against);
        printf("%s against %s: %s\n", s->options.devices, s->options.against,
               holds ? "holds" : "DOES NOT HOLD");
        status = holds ? status : EXIT_FAILED;
    }
    const double required = s->options.require;
    const bool reached = s->model.text ? required < 0 || median <= required : median >= required;
    char result[64];

    train_show_result(&s->model, median, result, sizeof result);
    if (!reached) {
        command_complain(s->command, "%s is %s than --require %g", result,
                         s->model.text ? "more" : "less", required);
        status = EXIT_FAILED;
    }
    return status;
}

/* Finishes a training: saves and prints its result. Returns an exit status. */
static int finish_training(struct train_session *s, const struct train_epoch *last)
{
    const struct train_options *o = &s->options;

    if (!last->stopped) {
        char result[64];

        train_show_result(&s->model, s->model.text ? last->test_loss : last->accuracy, result,
                          sizeof result);
        printf("seed %llu: %s after %zu epoch%s\n", (unsigned long long)last->seed, result,
               last->epoch, last->epoch == 1 ? "" : "s");
        fflush(stdout);
        save_weights(s);
        return EXIT_PASSED;
    }
    train_show_clear();
    const bool saved = save_weights(s);
    char where[80];

    if (last->in_test)
        snprintf(where, sizeof where, "in the test after");
    else
        snprintf(where, sizeof where, "after step %zu of", last->steps);
    command_complain(s->command, "interrupted %s epoch %zu of %zu%s%.200s", where, last->epoch,
                     o->epochs, saved ? ", whose weights are in " : "", saved ? o->save : "");
    return EXIT_INTERRUPTED;
}

static int run_trainings(struct train_session *s)
{
    const struct train_options *o = &s->options;
    const size_t ranks = o->ddp ? count_ranks(s) : 1, parts = o->update.parts;
    char in_parts[48] = "", result[64], why[256];
    int status, drawn = 0;

    /* By how much the batch grew is told when no option can be refused any more, because an error
     * must be the only line. */
    if (parts > 1)
        snprintf(in_parts, sizeof in_parts, " in %zu parts", parts);
    if (o->batch != s->asked)
        fprintf(stderr, "batch: %zu rows, %zu for each of %zu rank%s%s (%zu is not a multiple)\n",
                o->batch, o->batch / ranks, ranks, ranks == 1 ? "" : "s", in_parts, s->asked);
    train_show_gaps(&s->data);
    for (size_t i = 0; i < o->seeds; ++i) {
        const uint64_t seed = o->seed + i;
        struct train_epoch last = {.seed = seed};
        struct dp_error err = {0};

        if (train_seed(s, seed, &last, &err) == 0) {
            s->result[i] = s->model.text ? last.test_loss : last.accuracy;
            status = finish_training(s, &last);
        } else {
            train_show_clear();
            status = command_core_error(s->command, &err);
        }
        if (status != EXIT_PASSED || i + 1 < o->seeds)
            close_sides(s);
        if (status != EXIT_PASSED)
            return status;
    }
    /* Of an even number of results it is the lower middle one, so that some seed has reached it. */
    stats_sort(s->result, o->seeds);
    const double median = s->result[(o->seeds - 1) / 2];

    train_show_result(&s->model, median, result, sizeof result);
    if (o->seeds > 1)
        printf("median of %zu seeds: %s\n", o->seeds, result);
    status = judge_training(s, median);
    if (o->figure[0] != '\0') {
        drawn = train_plot(o->figure, o, &s->model, s->epoch, s->n_epochs, median, why, sizeof why);
        if (drawn == 0)
            fprintf(stderr, "%s/train.svg\n", o->figure);
        else
            command_complain(s->command, "no figure: %s", why);
    }
    status = drawn > status ? drawn : status;
    status = s->lost > status ? s->lost : status;
    status = command_ended(s->command, s->group, status);
    status = command_ended(s->command, s->other_group, status);
    append_line(s, record_train_end(&s->model, median, status, s->compares ? &s->against : NULL),
                true);
    close_sides(s);
    return s->lost > status ? s->lost : status;
}

int train_main(int argc, char **argv)
{
    struct train_session *s = cli_alloc(1, sizeof *s);
    int status;

    record_train_use_memory();
    s->command = argv[0];
    stop_watch_signals(); /* before a file exists that an interrupt would leave */
    if ((status = train_parse(argc, argv, &s->options)) == 0 && (status = open_session(s)) == 0)
        status = run_trainings(s);
    if (s->opened)
        output_close(&s->output);
    dataset_free(&s->data);
    train_world_close(s->world);
    dp_group_close(s->other_group);
    dp_group_close(s->group);
    free(s->epoch);
    free(s);
    return status;
}
