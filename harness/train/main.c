/* train/main.c: `lockstep train`: runs trainings one after the other, prints their results and
 * saves their weights. */
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "files/stop.h"
#include "files/weights.h"
#include "numbers/stats.h"
#include "train/session.h"

static void stepped(void *user, const struct train_epoch *epoch, size_t steps, double loss)
{
    (void)user;
    train_show_step(epoch, steps, loss);
}

static int finished(void *user, const struct train_epoch *epoch, struct dp_error *err)
{
    struct train_session *s = user;

    (void)err;
    train_show_epoch(&s->options, epoch);
    s->epoch[s->n_epochs++] = *epoch;
    train_session_append(s, record_train_epoch(epoch), false);
    return 0;
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

static int run_seeds(struct train_session *s)
{
    const size_t seeds = s->options.seeds;
    int status = EXIT_PASSED;

    for (size_t i = 0; i < seeds && status == EXIT_PASSED; ++i) {
        const uint64_t seed = s->options.seed + i;
        struct train_epoch last = {.seed = seed};
        struct dp_error err = {0};

        if (train_seed(s, seed, &last, &err) == 0) {
            s->result[i] = s->model.text ? last.test_loss : last.accuracy;
            status = finish_training(s, &last);
        } else {
            train_show_clear();
            status = command_core_error(s->command, &err);
        }
        if (status != EXIT_PASSED || i + 1 < seeds)
            close_sides(s);
    }
    return status;
}

static int run_all(struct train_session *s)
{
    const struct train_options *o = &s->options;
    const size_t ranks = o->ddp ? train_session_ranks(s) : 1, parts = o->update.parts;
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
    if ((status = run_seeds(s)) != EXIT_PASSED)
        return status;
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
    train_session_append(
        s, record_train_end(&s->model, median, status, s->compares ? &s->against : NULL), true);
    close_sides(s);
    return s->lost > status ? s->lost : status;
}

int train_main(int argc, char **argv)
{
    struct train_session *s = calloc(1, sizeof *s);
    int status;

    if (!s)
        return command_refuse(argv[0], "out of memory");
    s->command = argv[0];
    stop_watch_signals(); /* before a file exists that an interrupt would leave */
    if ((status = train_parse(argc, argv, &s->options)) == 0 &&
        (status = train_session_open(s)) == 0)
        status = run_all(s);
    train_session_close(s);
    free(s);
    return status;
}
