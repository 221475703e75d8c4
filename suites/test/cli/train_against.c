/* train_against.c: `--against` must let a right implementation pass and recognize wrong ones.
 *
 * A faulty module is put between the data-parallel wrapper and the model of the first side: it
 * works on memory directly, which virtual devices allow. */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../next_sgemm.h"
#include "files/files.h"
#include "train/train.h"

enum { BATCH = 30, EPOCHS = 2 };

enum fault {
    FAULT_NONE,
    FAULT_ULP,     /* the last bit of one output of replica 1 */
    FAULT_ROWS,    /* replica 1 gives its rows in another order */
    FAULT_SCALE,   /* its gradient is larger by a thousandth */
    FAULT_NOTHING, /* it has no gradient */
    FAULT_NAN,
    FAULT_BATCH, /* a number of a batch, where it has come to */
    FAULT_DRIFT, /* the last bit of a parameter of rank 1, which then is its own */
    FAULT_STOP   /* none; in one forward there is a request to stop */
};

static atomic_int forwards, stop_at; /* those of FAULT_STOP so far, and that one */

static void spoil_output(enum fault fault, const struct dp_tensor *out)
{
    float *value = out->data;
    const size_t width = out->dim[1];

    if (fault == FAULT_ULP)
        value[0] = nextafterf(value[0], INFINITY);
    if (fault == FAULT_NAN)
        value[0] = NAN;
    for (size_t j = 0; fault == FAULT_ROWS && out->dim[0] > 1 && j < width; ++j) {
        const float kept = value[j];

        value[j] = value[width + j];
        value[width + j] = kept;
    }
}

static int train_against_forward(struct dp_module *module, struct dp_run *run,
                                 const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                                 int *n_out, struct dp_error *err)
{
    const enum fault *fault = dp_module_self(module);
    const int status = dp_forward(dp_module_child(module, 0), run, in, n_in, out, n_out, err);

    if (status == 0 && dp_run_replica(run) == 1)
        spoil_output(*fault, &out[0]);
    if (status == 0 && dp_run_replica(run) == 1 && *fault == FAULT_DRIFT) {
        struct dp_param *first = NULL;

        if (dp_module_params(module, &first, 1) < 1)
            return dp_fail(err, DP_ENOMEM, "no parameter to spoil");
        float *value = dp_run_value(run, first)->data;

        value[0] = nextafterf(value[0], INFINITY);
    }
    if (*fault == FAULT_BATCH && dp_run_replica(run) <= 0)
        ((float *)in[0].data)[1] += 1;
    if (*fault == FAULT_STOP && dp_run_replica(run) <= 0 && /* of one device there is no replica */
        atomic_fetch_add(&forwards, 1) + 1 == atomic_load(&stop_at))
        raise(SIGTERM);
    return status;
}

static int train_against_backward(struct dp_module *module, struct dp_run *run,
                                  const struct dp_tensor grad_out[], int n_out,
                                  struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const enum fault *fault = dp_module_self(module);
    float *value = grad_out[0].data;

    for (size_t i = 0; dp_run_replica(run) == 1 && i < dp_tensor_count(&grad_out[0]); ++i) {
        if (*fault == FAULT_SCALE)
            value[i] *= 1.001F;
        if (*fault == FAULT_NOTHING)
            value[i] = 0;
    }
    return dp_backward(dp_module_child(module, 0), run, grad_out, n_out, grad_in, n_in, err);
}

static int put_between(const enum fault *fault, struct dp_group *group, struct dp_module *model,
                       struct dp_module **module, struct dp_error *err)
{
    static const struct dp_module_ops ops = {
        .kind = "fault", .forward = train_against_forward, .backward = train_against_backward};

    return dp_module_open(group, &ops, (void *)fault, &model, 1, module, err);
}

/* Defines a tamper function for each fault. */
#define TAMPER(name, kind)                                                                         \
    static int name(void *user, struct dp_group *group, struct dp_module *model,                   \
                    struct dp_module **module, struct dp_error *err)                               \
    {                                                                                              \
        static const enum fault fault = kind;                                                      \
                                                                                                   \
        (void)user;                                                                                \
        return put_between(&fault, group, model, module, err);                                     \
    }

TAMPER(tamper_none, FAULT_NONE)
TAMPER(tamper_ulp, FAULT_ULP)
TAMPER(tamper_rows, FAULT_ROWS)
TAMPER(tamper_scale, FAULT_SCALE)
TAMPER(tamper_nothing, FAULT_NOTHING)
TAMPER(tamper_nan, FAULT_NAN)
TAMPER(tamper_batch, FAULT_BATCH)
TAMPER(tamper_drift, FAULT_DRIFT)
TAMPER(tamper_stop, FAULT_STOP)

/* This program's product comes before the library's: while `doubled` is set, both sides get twice
 * each product, and so the same bits. */
static atomic_bool doubled;

void cblas_sgemm(int layout, int turn_a, int turn_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    next_sgemm()(layout, turn_a, turn_b, m, n, k, atomic_load(&doubled) ? 2 * alpha : alpha, a, lda,
                 b, ldb, beta, c, ldc);
}

struct row {
    const char *name;
    int (*tamper)(void *user, struct dp_group *group, struct dp_module *model,
                  struct dp_module **module, struct dp_error *err);
    bool inexact, beyond; /* must be reported, in steps on integers and on data */
    bool refused;         /* the training itself ends */
    bool ddp, apart;      /* on two ranks; they do not agree, which ends everything */
    bool alike;           /* both sides are wrong alike: only exact steps can tell */
    bool adamw;           /* on data only: steps on integers have a different update */
    bool other;           /* it is put into the other side instead */
};

static const struct row rows[] = {
    {.name = "right", .tamper = tamper_none},
    /* One ulp of one output is what rounding does, too: only exact steps can tell. */
    {.name = "one ulp", .tamper = tamper_ulp, .inexact = true},
    {.name = "rows", .tamper = tamper_rows, .inexact = true, .beyond = true},
    {.name = "gradient of 1.001", .tamper = tamper_scale, .inexact = true, .beyond = true},
    {.name = "no gradient", .tamper = tamper_nothing, .inexact = true, .beyond = true},
    {.name = "not a number", .tamper = tamper_nan, .inexact = true, .refused = true},
    {.name = "a batch", .tamper = tamper_batch, .inexact = true, .refused = true},
    {.name = "ddp: a batch", .tamper = tamper_batch, .inexact = true, .refused = true, .ddp = true},
    {.name = "both sides alike", .tamper = tamper_none, .inexact = true, .alike = true},
    {.name = "ddp: both sides alike",
     .tamper = tamper_none,
     .inexact = true,
     .ddp = true,
     .alike = true},
    {.name = "ddp: right", .tamper = tamper_none, .ddp = true},
    {.name = "ddp: one ulp", .tamper = tamper_ulp, .inexact = true, .ddp = true},
    {.name = "ddp: rows", .tamper = tamper_rows, .inexact = true, .beyond = true, .ddp = true},
    {.name = "ddp: gradient of 1.001",
     .tamper = tamper_scale,
     .inexact = true,
     .beyond = true,
     .ddp = true},
    {.name = "ddp: no gradient",
     .tamper = tamper_nothing,
     .inexact = true,
     .beyond = true,
     .ddp = true},
    {.name = "ddp: drift", .tamper = tamper_drift, .ddp = true, .apart = true},
    /* AdamW takes a gradient of 1.001 times its size for the same. */
    {.name = "adamw: right", .tamper = tamper_none, .adamw = true},
    {.name = "adamw: rows", .tamper = tamper_rows, .beyond = true, .adamw = true},
    {.name = "adamw: no gradient", .tamper = tamper_nothing, .beyond = true, .adamw = true},
    {.name = "adamw, ddp: right", .tamper = tamper_none, .adamw = true, .ddp = true},
    {.name = "adamw, ddp: rows", .tamper = tamper_rows, .beyond = true, .adamw = true, .ddp = true},
};

struct fixture {
    struct dataset data;
    struct train_model model;
    struct dp_group *group[3]; /* of the first side, the other side, and ranks */
};

static int open_sides(const struct fixture *f, const struct row *row, struct train_side side[2],
                      struct train_against *against, struct dp_error *err)
{
    struct train_side_config config = {.model = &f->model,
                                       .batch = BATCH,
                                       .update = {.lr = 0.125, .momentum = 0.5, .parts = 1},
                                       .ddp = row->ddp};
    if (row->adamw)
        config.update = (struct train_update){
            .kind = TRAIN_ADAMW, .lr = 0.001, .decay = 0.1, .clip = 1, .parts = 1};

    config.tamper = row->other ? NULL : row->tamper;
    int status = train_side_open(&side[0], f->group[row->ddp ? 2 : 0], &config, err);

    /* Names have the level of the faulty module on one side only: the order is compared. */
    config.tamper = row->other ? row->tamper : NULL;
    config.ddp = false;
    if (status == 0)
        status = train_side_open(&side[1], f->group[1], &config, err);
    return status ? status : train_against_open(against, &side[1], &config, err);
}

/* Returns the finding as a text for people. */
static const char *found(const struct train_against *against, const struct dp_error *err)
{
    if (err->status != 0)
        return err->text;
    if (against->inexact.here)
        return against->inexact.where;
    return against->beyond.here ? against->beyond.where : against->diverged.where;
}

/* exact: runs steps on integers; otherwise a training on the data. */
static int run_row(const struct fixture *f, const struct row *row, bool exact)
{
    static const struct train_options options = {
        .batch = BATCH, .epochs = EPOCHS, .seeds = 1, .update = {.parts = 1}};
    struct train_side side[2];
    struct train_against against;
    struct train_epoch last;
    struct dp_error err = {0};
    int status;

    memset(side, 0, sizeof side);
    memset(&against, 0, sizeof against);
    const struct train_run run = {.options = &options,
                                  .model = &f->model,
                                  .data = &f->data,
                                  .side = &side[0],
                                  .against = &against,
                                  .seed = 1};

    status = open_sides(f, row, side, &against, &err);
    atomic_store(&doubled, row->alike && exact);
    if (status == 0)
        status = exact ? train_exact(&against, &side[0], &f->model, &f->data, 1, BATCH, &err)
                       : train_run(&run, &last, &err);
    atomic_store(&doubled, false);
    const bool differs = exact ? against.inexact.here : against.beyond.here;
    const bool wanted = exact ? row->inexact : row->beyond;
    const bool refused = (!exact && row->refused) || row->apart;
    const bool right =
        refused ? status == DP_EFAULT
                : status == 0 && differs == wanted && train_against_holds(&against) == !wanted;

    printf("%-14s %-22s %-5s %s: %s\n", f->model.name, row->name, exact ? "exact" : "data",
           right ? "right" : "WRONG", found(&against, &err));
    train_against_close(&against);
    train_side_close(&side[0]);
    train_side_close(&side[1]);
    return right ? 0 : 1;
}

/* Opens the model of that name, and data that fit it. */
static int train_against_open_model(struct fixture *f, const char *name)
{
    struct dataset_want want;
    struct dp_error err = {0};
    char why[200] = "";

    if (train_model_want(name, &want, why, sizeof why) == 0 &&
        dataset_open("random", &want, &f->data, &err) == 0 &&
        train_model_make(name, &f->data, &f->model, why, sizeof why) == 0)
        return 0;
    fprintf(stderr, "FAILED: %s: %s%s\n", name, err.text, why);
    return 1;
}

/* Other exact models have a reference, too: steps on integers, when both sides are right and when
 * both are wrong alike. */
static int run_others(struct fixture *f)
{
    static const char *const names[] = {"cnn", "mixed", "blocks"};
    int wrong = 0;

    for (size_t m = 0; m < sizeof names / sizeof names[0]; ++m) {
        if (train_against_open_model(f, names[m]))
            return 1;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
            if (rows[i].tamper == tamper_none && !rows[i].adamw &&
                !(rows[i].ddp && f->model.table > 0))
                wrong += run_row(f, &rows[i], true);
        dataset_free(&f->data);
    }
    return wrong;
}

static int open_fixture(struct fixture *f)
{
    static const struct dp_group_config list[3] = {
        {.devices = "virt:3"}, {.devices = "virt:1"}, {.devices = "virt:2"}};
    struct dp_error err = {0};
    char why[200];

    if (dataset_open("digits", &(struct dataset_want){.features = 0}, &f->data, &err) == 0 &&
        train_model_make("mlp:64,32,10", &f->data, &f->model, why, sizeof why) == 0 &&
        dp_group_open(&list[0], &f->group[0], &err) == 0 &&
        dp_group_open(&list[1], &f->group[1], &err) == 0 &&
        dp_group_open(&list[2], &f->group[2], &err) == 0)
        return 0;
    fprintf(stderr, "FAILED: %s\n", err.text);
    return 1;
}

/* With the digits an epoch has 48 batches to train and 12 to test. */
static const struct stop {
    const char *name;
    int at; /* the forward in which a stop is requested */
    size_t epochs;
    bool other; /* a forward of the other side, whose test is the second */
} stops[] = {{"a test before all epochs", 1, 0, false},
             {"a test after an epoch", 48 + 5, 1, false},
             {"the last batch of a test", 48 + 12, 1, true},
             {"the other side's test", 48 + 3, 1, true}};

static void count_finished(void *user, const struct train_epoch *epoch)
{
    (void)epoch;
    ++*(int *)user;
}

/* Runs in a separate process, because a request to stop lasts until a process ends. */
static int run_stop(const struct stop *stop)
{
    const struct row row = {.tamper = tamper_stop, .other = stop->other};
    const struct train_options options = {
        .batch = BATCH, .epochs = stop->epochs, .seeds = 1, .update = {.parts = 1}};
    struct fixture f = {.group = {NULL}};
    struct train_side side[2];
    struct train_against against;
    struct train_epoch last = {.seed = 0};
    struct dp_error err = {0};
    int finished = 0;

    memset(side, 0, sizeof side);
    memset(&against, 0, sizeof against);
    const struct train_run run = {.options = &options,
                                  .model = &f.model,
                                  .data = &f.data,
                                  .side = &side[0],
                                  .against = &against,
                                  .finished = count_finished,
                                  .user = &finished,
                                  .seed = 1};

    stop_watch_signals();
    atomic_store(&stop_at, stop->at);
    if (open_fixture(&f) || open_sides(&f, &row, side, &against, &err) ||
        train_run(&run, &last, &err))
        return 1;
    return last.stopped && last.in_test && last.epoch == stop->epochs && finished == 0 &&
                   atomic_load(&forwards) == stop->at
               ? 0
               : 1;
}

static int run_stops(void)
{
    int wrong = 0;

    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; ++i) {
        const pid_t child = fork();
        int state = -1;

        if (child == 0)
            _exit(run_stop(&stops[i]));
        const bool right = child > 0 && waitpid(child, &state, 0) == child && state == 0;

        printf("a stop in %-25s %s\n", stops[i].name, right ? "right" : "WRONG");
        wrong += right ? 0 : 1;
    }
    return wrong;
}

int main(void)
{
    struct fixture f = {.group = {NULL}};
    int wrong = run_stops();

    if (open_fixture(&f))
        return 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        wrong += (rows[i].adamw ? 0 : run_row(&f, &rows[i], true)) + run_row(&f, &rows[i], false);
    dataset_free(&f.data);
    wrong += run_others(&f);
    dp_group_close(f.group[0]);
    dp_group_close(f.group[1]);
    dp_group_close(f.group[2]);
    return wrong == 0 ? 0 : 1;
}
