/* train/train.c: `lockstep train`: trainings one after the other, what they print and leave. */
#include "train/train.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/backend.h"
#include "command/command.h"
#include "command/device_list.h"
#include "descriptor.h"
#include "files/stop.h"
#include "files/text_out.h"
#include "files/weights.h"
#include "record/output.h"

/* What a run of the command has open. */
struct session {
    const char *command;
    struct train_options options;
    struct train_model model;
    struct dataset data;
    struct dp_group *group, *other_group;
    struct train_world *world; /* --launcher: it makes the steps */
    struct train_side side, other;
    struct train_against against;
    bool compares, opened, writes; /* --against, --out: its file is open, and takes lines */
    int lost;                      /* exit status for what could not be written */
    size_t asked;                  /* --batch before it was filled up for ranks */
    struct output output;
    struct train_epoch *epoch; /* of all seeds, n_epochs so far */
    size_t n_epochs;
    double result[TRAIN_SEEDS]; /* accuracies; of a text test losses */
};

/* One line of the record, which it frees; the last one closes it. What cannot be written is no
 * reason to lose a training: it goes on without. */
static void append(struct session *s, char *line, bool last)
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

static void stepped(void *user, const struct train_epoch *epoch, size_t steps, double loss)
{
    (void)user;
    train_show_step(epoch, steps, loss);
}

static int finished(void *user, const struct train_epoch *epoch, struct dp_error *err)
{
    struct session *s = user;

    (void)err;
    train_show_epoch(&s->options, epoch);
    s->epoch[s->n_epochs++] = *epoch;
    append(s, record_train_epoch(epoch), false);
    return 0;
}

/* Model and data, from their names. */
static int open_data(struct session *s)
{
    struct train_options *o = &s->options;
    struct dataset_want want;
    struct dp_error err = {0};
    char why[200];

    if (train_model_want(o->model, &want, why, sizeof why)) {
        command_complain(s->command, "--model: %s", why);
        return EXIT_MISUSE;
    }
    want.header = o->header;
    if (o->data[0] == '\0')
        snprintf(o->data, sizeof o->data, "%s", want.text ? "text" : "digits");
    if (dataset_open(o->data, &want, &s->data, &err))
        return command_core_error(s->command, &err);
    if (train_model_make(o->model, &s->data, &s->model, why, sizeof why)) {
        command_complain(s->command, "--model: %s", why);
        return EXIT_MISUSE;
    }
    if (s->model.classes < 2) {
        command_complain(s->command, "%s: with one class every answer is right; at least 2",
                         s->data.path);
        return EXIT_MISUSE;
    }
    if (s->model.table > 0 && o->ddp) {
        command_complain(s->command,
                         "--mode ddp: %s has a table on the host, but a rank has its whole "
                         "model on one device",
                         s->model.name);
        return EXIT_MISUSE;
    }
    if (o->epochs > (SIZE_MAX / sizeof *s->epoch - 1) / o->seeds - 1)
        return EXIT_MISUSE;
    s->epoch = calloc((o->epochs + 1) * o->seeds, sizeof *s->epoch);
    if (s->epoch)
        return 0;
    command_complain(s->command, "no memory for %zu epochs", o->epochs);
    return EXIT_MISUSE;
}

static size_t count_ranks(const struct session *s)
{
    return s->options.processes.launcher[0] != '\0' ? (size_t)device_list_count(s->options.devices)
                                                    : (size_t)dp_group_size(s->group);
}

/* As many rows for every part of every rank, so that the mean over them is the mean over rows; and
 * what follows from the steps then. */
static int fit_batch(struct session *s)
{
    struct train_options *o = &s->options;
    const size_t ranks = o->ddp ? count_ranks(s) : 1, shares = ranks * o->update.parts;
    struct dp_error err = {0};
    char why[200];
    size_t steps = 0;

    if (ranks == 0) {
        command_complain(s->command, "--mode ddp needs devices: a rank on each");
        return EXIT_MISUSE;
    }

    s->asked = o->batch;
    o->batch = (o->batch + shares - 1) / shares * shares;
    if (train_epoch_steps(o, &s->data, shares, &steps, &err))
        return command_core_error(s->command, &err);
    o->update.steps = steps * o->epochs;
    if (train_model_update(&s->model, &o->update, why, sizeof why) == 0)
        return 0;
    command_complain(s->command, "%s", why);
    return EXIT_MISUSE;
}

/* Once nothing is refused any more: an error is a line of its own. */
static void tell_batch(const struct session *s)
{
    const struct train_options *o = &s->options;
    const size_t ranks = o->ddp ? count_ranks(s) : 1, parts = o->update.parts;
    char in_parts[48] = "";

    if (o->batch == s->asked)
        return;
    if (parts > 1)
        snprintf(in_parts, sizeof in_parts, " in %zu parts", parts);
    fprintf(stderr, "batch: %zu rows, %zu for each of %zu rank%s%s (%zu is not a multiple)\n",
            o->batch, o->batch / ranks, ranks, ranks == 1 ? "" : "s", in_parts, s->asked);
}

static int open_devices(struct session *s)
{
    const struct train_options *o = &s->options;
    /* Of ranks in processes it has one with what they have in the end. */
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

/* What would be found out only after the training, or after a record was begun. */
static int check_files(struct session *s)
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
        status = train_model_fits(&s->model, s->group, &o->update, &err);
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

static int open_world(struct session *s)
{
    struct dp_error err = {0};

    if (s->options.processes.launcher[0] == '\0' ||
        train_world_open(&s->options, &s->data, &s->world, &err) == 0)
        return 0;
    return command_core_error(s->command, &err);
}

static int open_record(struct session *s)
{
    struct text_error why = {""};
    struct stat there;

    if (s->options.out[0] == '\0')
        return 0;
    if (stat(s->options.out, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0) {
        command_complain(s->command, "--out: %.200s is not empty: name a new file", s->options.out);
        return EXIT_MISUSE;
    }
    if (output_open(&s->output, s->options.out, false, &why) == 0 &&
        output_repair(&s->output, &why) == 0) {
        s->opened = s->writes = true;
        append(s, record_train_head(&s->options, &s->model, &s->data, s->group, s->world), false);
        return s->lost;
    }
    command_complain(s->command, "%s", why.text);
    output_close(&s->output);
    return EXIT_MISUSE;
}

static int open_sides(struct session *s, struct dp_error *err)
{
    const struct train_options *o = &s->options;
    struct train_side_config config = {
        .model = &s->model, .batch = o->batch, .update = o->update, .ddp = o->ddp && !s->world};
    int status = train_side_open(&s->side, s->group, &config, err);

    if (status || !s->compares)
        return status;
    config.ddp = false;
    if ((status = train_side_open(&s->other, s->other_group, &config, err)) ||
        (status = train_against_open(&s->against, &s->other, &config, err)))
        return status;
    return train_exact(&s->against, &s->side, &s->model, &s->data, o->seed, o->batch, err);
}

static void close_sides(struct session *s)
{
    train_side_close(&s->side);
    if (!s->compares)
        return;
    train_against_close(&s->against);
    train_side_close(&s->other);
}

static int train_seed(struct session *s, uint64_t seed, struct train_epoch *last,
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
    int status = open_sides(s, err);

    if (status == 0 && run.keep)
        status = weights_load(s->side.top, &s->model.workload, o->load, err);
    return status ? status : train_run(&run, last, err);
}

/* Whether the weights were wanted and are in their file. */
static bool save(struct session *s)
{
    struct dp_error err = {0};

    if (s->options.save[0] == '\0')
        return false;
    if (weights_save(s->side.top, &s->model.workload, s->options.save, &err) == 0)
        return true;
    const int status = command_core_error(s->command, &err);

    s->lost = status > s->lost ? status : s->lost;
    return false;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of an even number the lower middle one, which some seed has reached. */
static double median_of(double number[], size_t n)
{
    qsort(number, n, sizeof number[0], compare_numbers);
    return number[(n - 1) / 2];
}

/* The exit status of what was asked for. */
static int judge(struct session *s, double median)
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

static int draw(struct session *s, double median)
{
    char why[256];
    int status;

    if (s->options.figure[0] == '\0')
        return 0;
    status = train_plot(s->options.figure, &s->options, &s->model, s->epoch, s->n_epochs, median,
                        why, sizeof why);
    if (status == 0)
        fprintf(stderr, "%s/train.svg\n", s->options.figure);
    else
        command_complain(s->command, "no figure: %s", why);
    return status;
}

/* After a training: what came of it. An exit status. */
static int finish(struct session *s, const struct train_epoch *last)
{
    const struct train_options *o = &s->options;

    if (!last->stopped) {
        char result[64];

        train_show_result(&s->model, s->model.text ? last->test_loss : last->accuracy, result,
                          sizeof result);
        printf("seed %llu: %s after %zu epoch%s\n", (unsigned long long)last->seed, result,
               last->epoch, last->epoch == 1 ? "" : "s");
        fflush(stdout);
        save(s);
        return EXIT_PASSED;
    }
    train_show_clear();
    const bool saved = save(s);

    command_complain(s->command, "interrupted after step %zu of epoch %zu of %zu%s%.200s",
                     last->steps, last->epoch, o->epochs, saved ? ", whose weights are in " : "",
                     saved ? o->save : "");
    return EXIT_INTERRUPTED;
}

static int run_seeds(struct session *s)
{
    const size_t seeds = s->options.seeds;
    int status = EXIT_PASSED;

    for (size_t i = 0; i < seeds && status == EXIT_PASSED; ++i) {
        const uint64_t seed = s->options.seed + i;
        struct train_epoch last = {.seed = seed};
        struct dp_error err = {0};

        if (train_seed(s, seed, &last, &err) == 0) {
            s->result[i] = s->model.text ? last.test_loss : last.accuracy;
            status = finish(s, &last);
        } else {
            train_show_clear();
            status = command_core_error(s->command, &err);
        }
        if (status != EXIT_PASSED || i + 1 < seeds)
            close_sides(s);
    }
    return status;
}

static int run_all(struct session *s)
{
    int status, drawn;

    tell_batch(s);
    train_show_gaps(&s->data);
    if ((status = run_seeds(s)) != EXIT_PASSED)
        return status;
    const double median = median_of(s->result, s->options.seeds);
    char result[64];

    train_show_result(&s->model, median, result, sizeof result);
    if (s->options.seeds > 1)
        printf("median of %zu seeds: %s\n", s->options.seeds, result);
    status = judge(s, median);
    drawn = draw(s, median);
    status = drawn > status ? drawn : status;
    status = s->lost > status ? s->lost : status;
    status = command_ended(s->command, s->group, status);
    status = command_ended(s->command, s->other_group, status);
    append(s, record_train_end(&s->model, median, status, s->compares ? &s->against : NULL), true);
    close_sides(s);
    return s->lost > status ? s->lost : status;
}

int train_main(int argc, char **argv)
{
    struct session *s = calloc(1, sizeof *s);
    int status;

    if (!s) {
        command_complain(argv[0], "out of memory");
        return EXIT_MISUSE;
    }
    s->command = argv[0];
    stop_watch_signals(); /* before there is a file that would be left */
    if ((status = train_parse(argc, argv, &s->options)) == 0 && (status = open_data(s)) == 0 &&
        (status = open_devices(s)) == 0 && (status = check_files(s)) == 0 &&
        (status = open_world(s)) == 0 && (status = open_record(s)) == 0)
        status = run_all(s);
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
