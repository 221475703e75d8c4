/* train/train.h: what the files of `lockstep train` share. */
#ifndef HARNESS_TRAIN_H
#define HARNESS_TRAIN_H

#include <stdio.h>

#include "dataset.h"
#include "dp.h"
#include "files/weights.h"
#include "loader.h"
#include "plan/launcher_options.h"
#include "train/ranks.h"
#include "workload.h"

enum { TRAIN_MAX_DIMS = DP_MAX_DIMS - 1, TRAIN_SEEDS = 100, TRAIN_PATH = 512 };

/* ---- updates: train/update.c --------------------------------------------------------------- */

enum train_optimizer_kind { TRAIN_SGD, TRAIN_ADAMW, TRAIN_OWN /* the model's */ };

/* How the parameters follow from gradients. In options NAN, and TRAIN_OWN_STEPS: not given. */
#define TRAIN_OWN_STEPS SIZE_MAX
struct train_update {
    enum train_optimizer_kind kind;
    double lr, momentum, decay; /* momentum: of SGD */
    double clip;                /* the largest norm of all gradients together; 0: as they are */
    bool cosine;                /* lr warms up and falls, see dp_cosine; else it stays */
    size_t warmup, steps;       /* of cosine; steps of all epochs */
    size_t parts;               /* of a batch, one behind the other; their gradients are added */
};

/* What an update is of a base module, or of ranks. */
struct train_optimizer {
    struct train_update update;
    struct dp_adamw_config config;
    struct dp_sgd *sgd; /* of a module */
    struct dp_adamw *adamw;
    struct dp_clip *clip;
    struct dp_ddp *ddp; /* of ranks; not its own */
    uint64_t step;      /* the next one, from 0 */
};

/* module, or ddp. Closed by train_optimizer_close in any case. */
int train_optimizer_open(struct train_optimizer *optimizer, const struct train_update *update,
                         struct dp_module *module, struct dp_ddp *ddp, struct dp_error *err);
void train_optimizer_close(struct train_optimizer *optimizer);
/* Between backward and the next one. */
int train_optimizer_step(struct train_optimizer *optimizer, struct dp_error *err);
const char *train_optimizer_name(enum train_optimizer_kind kind); /* "sgd", "adamw" */

/* ---- options: train/options.c ------------------------------------------------------------- */

struct train_options {
    char model[96], data[TRAIN_PATH], devices[64], backend[16], communicator[32];
    char against[64], against_backend[16], against_communicator[32]; /* "": no comparison */
    char save[TRAIN_PATH], load[TRAIN_PATH], out[TRAIN_PATH], figure[TRAIN_PATH];
    size_t batch, epochs, seeds;
    size_t required; /* devices, at least */
    uint64_t seed;   /* the first of seeds */
    struct train_update update;
    double require; /* percent that the median must reach, or a loss; negative: none */
    bool no_prefetch, dp, ddp, header; /* dp: --mode dp was said */
    struct launcher_options processes; /* that have the ranks */
    uint64_t seen;                     /* options that were given */
};

/* 0, or an exit status after one line on stderr. */
int train_parse(int argc, char **argv, struct train_options *options);
/* Those of --launcher, which it completes. The same. train/launched.c */
int train_check_launched(const char *command, struct train_options *options);

/* ---- models: train/model.c ---------------------------------------------------------------- */

struct train_model {
    char name[96];
    struct workload workload;
    int ndim; /* dimensions of a sample */
    size_t dim[TRAIN_MAX_DIMS];
    int classes;
    size_t table; /* not 0: a row is the number of a row of a table of so many */
    bool text;    /* a row is a window of a text: dim[0] numbers, and as many classes */
    enum train_optimizer_kind optimizer; /* with which it trains when nobody says another */
    double lr;                           /* of that one */
    /* A chain of linear layers, convolutions, ReLU and max-pooling, in the order of its parameters:
     * exact on integers. positions: the most places of an image that share a weight. */
    bool exact;
    size_t positions;
};

/* What a model takes, from its name alone; 0 for what the data decide. 0, or -1 and why. */
int train_model_want(const char *name, struct dataset_want *want, char *why, size_t bytes);
/* The model for data that are as wanted. 0, or -1 and why. */
int train_model_make(const char *name, const struct dataset *data, struct train_model *model,
                     char *why, size_t bytes);
/* The model of a workload. 0; -1 and why: it lists no learning rate. */
int train_model_of(const struct workload *workload, struct train_model *model, char *why,
                   size_t bytes);
/* Whether memory is enough for the model on the CPU's devices, and of a language model for a batch
 * on so many devices, in whatever processes. Linux promises more than it has, and kills who takes
 * it. Errors DP_EINVAL it is not. */
int train_model_fits(const struct train_model *model, struct dp_group *group, size_t devices,
                     const struct train_options *options, struct dp_error *err);
/* What options leave to the model. 0, or -1 and why. train/update.c */
int train_model_update(const struct train_model *model, struct train_update *update, char *why,
                       size_t bytes);
/* Fills every parameter, a function of seed alone: as dp_module_init; of a text as GPT-2 begins,
 * but for normal numbers uniform ones of the same variance. */
int train_model_init(const struct train_model *model, struct dp_module *module, uint64_t seed,
                     struct dp_error *err);
/* Numbers of a row. */
size_t train_model_width(const struct train_model *model);

/* ---- one model on one list of devices: train/side.c --------------------------------------- */

struct train_side_config {
    const struct train_model *model;
    size_t batch; /* the most rows of a step, all parts of it */
    struct train_update update;
    bool ddp; /* DistributedDataParallel: batches are a multiple of the number of devices */
    struct dp_mpi *mpi; /* of the group's world; NULL: it has none */
    /* For tests: puts something between the wrapper and the model. NULL: nothing. */
    int (*tamper)(struct dp_group *group, struct dp_module *model, struct dp_module **module,
                  struct dp_error *err);
};

struct train_side {
    struct dp_group *group;
    struct dp_slot *slot; /* of inputs, parameters and outputs */
    /* top: what a user has; all of the model in a wrapper, or a part of it. inner: of ranks, what
     * they have. */
    struct dp_module *top, *inner, *loss;
    struct dp_run *run;
    struct train_optimizer optimizer;
    struct train_ranks ranks;       /* of DistributedDataParallel */
    size_t width, labels;           /* numbers of a row, and classes */
    struct dp_tensor input, target; /* of a whole batch */
    float *feature;                 /* [batch, width] */
    int32_t *number, *label;        /* the same as whole numbers; [batch, labels] */
    uint64_t arrived; /* of the last step: the digest of the rows as they were on the devices */
    size_t n_logits;
    float *logits; /* [batch, classes], host; NULL: of a text */
    int n_params;
    struct weights_list list;
    struct dp_param **param; /* of the list */
    size_t n_values;
    float *value; /* all parameters on the host, one behind the other */
};

/* Closed by train_side_close in any case. */
int train_side_open(struct train_side *side, struct dp_group *group,
                    const struct train_side_config *config, struct dp_error *err);
void train_side_close(struct train_side *side);

/* One step of training; *loss is the mean over the rows. */
int train_side_step(struct train_side *side, const struct loader_batch *batch, float *loss,
                    struct dp_error *err);

/* Writes rows to where the model takes them; *input is a view of them. */
int train_side_put(struct train_side *side, size_t rows, const float feature[],
                   struct dp_tensor *input, struct dp_error *err);
/* Of ranks: after the parameters were written, to give them to all; and that all have the same
 * bits, DP_EFAULT when not. */
int train_side_spread(struct train_side *side, struct dp_error *err);
int train_side_agree(struct train_side *side, struct dp_error *err);

struct train_test {
    size_t rows, right;
    double loss;  /* mean over the rows */
    bool stopped; /* a stop was requested: not all rows are in it */
};
/* An epoch of loader in eval mode, or what of it was done when a stop was requested. A row whose
 * largest output is not its class's, or is not a number, is wrong; of texts only the loss is told.
 */
int train_side_test(struct train_side *side, struct loader *loader, struct train_test *test,
                    struct dp_error *err);
/* Parameters (of float32, buffers too) to side->value. */
int train_side_read(struct train_side *side, struct dp_error *err);
/* Sets the parameters to these values. */
int train_side_write(struct train_side *side, const float value[], struct dp_error *err);
/* The name of the parameter that value[i] is of, and the element's index in it. */
void train_side_where(const struct train_side *side, size_t i, char *name, size_t bytes,
                      size_t *element);

/* A step on the group's devices, verified as that of a cell; of ranks, with their mean. Errors
 * DP_EFAULT it is wrong; DP_EINVAL nothing is known of what must come of it. train/first.c */
int train_first(const struct train_model *model, const struct train_options *options,
                const struct dataset *data, struct dp_group *group, bool ranks,
                struct dp_error *err);

/* ---- a training: train/run.c -------------------------------------------------------------- */

struct train_epoch {
    uint64_t seed;
    size_t epoch; /* 1.. */
    size_t steps;
    /* Percent, NAN: of a text; other: of --against. */
    double train_loss, test_loss, accuracy, other_loss, other_accuracy;
    double samples_per_s;
    /* Of a text: tokens of a row, and those that it has trained on since epoch 1 began; else 0. */
    size_t context, tokens;
    bool stopped; /* a stop was requested: it ended after so many steps, without a test */
    bool in_test; /* ... or in the test behind them, of which nothing is told */
};

struct train_against;
struct train_world;

struct train_run {
    const struct train_options *options;
    const struct train_model *model;
    const struct dataset *data;
    struct train_side *side;
    struct train_against *against; /* NULL: no comparison */
    struct train_world *world; /* makes the steps, side has what comes of them; NULL: side does */
    /* After each step, and after each epoch. NULL allowed. Not 0 ends the training with it.
     * Of steps in the epoch, epoch->steps are done. */
    void (*stepped)(void *user, const struct train_epoch *epoch, size_t steps, double loss);
    int (*finished)(void *user, const struct train_epoch *epoch, struct dp_error *err);
    void *user;
    uint64_t seed;
    bool keep; /* parameters are there already */
};

/* The rows that train, in an order of each epoch's own, or those that test. As many of a step for
 * each part of each rank: a multiple of `shares`. */
int train_loader_open(const struct train_options *options, const struct dataset *data,
                      uint64_t seed, size_t shares, bool test, struct loader **loader,
                      struct dp_error *err);
/* Steps of an epoch. Errors as dataset_part. */
int train_epoch_steps(const struct train_options *options, const struct dataset *data,
                      size_t shares, size_t *steps, struct dp_error *err);

/* Trains all epochs; *last is that of the last one (of none: a test of what is there).
 * A request to stop (files/stop.h) ends it after a step, or a batch of a test: last->stopped.
 * Errors: of core; DP_EFAULT a loss that is not finite. */
int train_run(const struct train_run *run, struct train_epoch *last, struct dp_error *err);

/* ---- two trainings next to each other: train/against.c, train/exact.c ---------------------- */

enum { TRAIN_SHUFFLED = 3, TRAIN_EXACT_STEPS = 8 };

/* A difference of two sides. */
struct train_divergence {
    bool here;
    size_t step;     /* 1.. */
    char where[160]; /* "0.weight[17] is 0.125 and 0.25" */
};

/* The other side, and what the comparison found. results/training.md says what is judged. */
struct train_against {
    struct train_side *side;
    struct train_side shuffled[TRAIN_SHUFFLED]; /* on the other side's group */
    uint64_t seed;
    size_t width;   /* numbers of a row */
    size_t labels;  /* classes of a row */
    bool mean;      /* differences are means over all parameters, not the largest: of AdamW */
    float *feature; /* a batch in another order */
    int32_t *label;
    size_t *order;
    size_t steps;
    double rounding;                  /* the farthest that rounding drove a parameter so far */
    double bound;                     /* of the last step */
    double last, most;                /* the difference of parameters: last step, all steps */
    bool loose;                       /* the bound says nothing any more */
    size_t judged;                    /* steps before that */
    double judged_bound;              /* of the last of them */
    struct train_divergence diverged; /* the first step that left other bits */
    struct train_divergence beyond;   /* the first step beyond its bound */
    size_t exact_steps;               /* compared bit for bit; see train_exact */
    size_t reference_steps;           /* ... with the float64 model, too */
    char exact_why[160];              /* when there are none */
    struct train_divergence inexact;
};

int train_against_open(struct train_against *against, struct train_side *side,
                       const struct train_side_config *config, struct dp_error *err);
void train_against_close(struct train_against *against); /* not side */
/* Gives all sides the parameters of first. */
int train_against_start(struct train_against *against, struct train_side *first, uint64_t seed,
                        struct dp_error *err);
/* The same step as first has just made, and the comparison. */
int train_against_step(struct train_against *against, struct train_side *first,
                       const struct loader_batch *batch, struct dp_error *err);
/* Steps on whole numbers, small enough that every sum is exact: both sides must leave the same
 * bits. Their parameters are undefined afterwards. */
int train_exact(struct train_against *against, struct train_side *first,
                const struct train_model *model, const struct dataset *data, uint64_t seed,
                size_t batch, struct dp_error *err);
/* The largest sum of absolute values that such a step of rows can have, with all parameters in
 * values and features of at most most_feature; factor is that of c. train/bound.c */
double train_bound(const struct train_side *side, const struct train_model *model,
                   const float values[], double most_feature, size_t rows, size_t factor);
/* Outputs, loss (the sum of c * y), gradients and w - g of a step on whole numbers, all parameters
 * in value; the caller frees them. *result is NULL for a model that rounds. 0, or -1
 * when memory is short. train/reference.c */
struct train_numbers {
    size_t rows;
    const float *value, *feature, *c;
};
int train_reference(const struct workload *workload, const struct train_numbers *numbers,
                    double **result);
bool train_against_holds(const struct train_against *against);

/* ---- ranks in several processes: train/world.c, train/trainee.c ------------------------------ */

/* A launcher starts them. Each (`lockstep trainee`) has the data, the model and an optimizer for
 * its ranks, and makes the steps that it is asked for. Each says by itself what it
 * was asked and what it has then, which are compared here: losses after steps, parameters at the
 * begin and after an epoch. The one that asks has the test, the record,
 * and the weights that came of it. */
enum { TRAIN_WORLD_TEXT = 128 };

/* Where they are. */
struct train_world_about {
    int processes, hosts;
    char host_ranks[TRAIN_WORLD_TEXT], library[TRAIN_WORLD_TEXT]; /* "2,2": of each host; of MPI */
    char backend[16], communicator[32], blas[160];
    bool oversubscribed; /* one of them, at least */
};

/* Starts them. Errors DP_EFAULT one does not begin, or they do not fit together; those of a
 * process. */
int train_world_open(const struct train_options *options, const struct dataset *data,
                     struct train_world **world, struct dp_error *err);
void train_world_close(struct train_world *world); /* NULL allowed */
int train_world_ranks(const struct train_world *world);
const struct train_world_about *train_world_about(const struct train_world *world);

/* A training from side's parameters on. */
int train_world_start(struct train_world *world, struct train_side *side, uint64_t seed,
                      struct dp_error *err);
/* An epoch of so many steps. */
int train_world_epoch(struct train_world *world, size_t epoch, size_t steps, struct dp_error *err);
/* Its next step. They make some at once: those of a fraction of a second. */
int train_world_step(struct train_world *world, float *loss, uint64_t *arrived,
                     struct dp_error *err);
/* They have made no step that was not asked for here. */
bool train_world_settled(const struct train_world *world);
/* The parameters that all ranks have, to side. */
int train_world_read(struct train_world *world, struct train_side *side, struct dp_error *err);
/* Whether side still has what all ranks had then: else DP_EFAULT. */
int train_world_holds(const struct train_world *world, const struct train_side *side,
                      struct dp_error *err);

/* Parameters and buffers as text, bit by bit. train/values.c */
/* Malloc'ed; NULL and *err. */
char *train_values_text(const struct train_side *side, struct dp_error *err);
int train_values_put(struct train_side *side, const char *text, struct dp_error *err);
/* The digest of all rows of a batch; their order does not matter. */
uint64_t train_rows_digest(const struct loader_batch *batch, size_t width, size_t labels);
/* SHA-256 of what a data set has. 0, or -1. */
int train_data_digest(const struct dataset *data, char *hex);

/* ---- what a person sees, records, the figure ---------------------------------------------- */

/* On stderr. train_show_clear: before other words, which would stand behind the bar. */
void train_show_clear(void);
void train_show_gaps(const struct dataset *data); /* classes without a row */
void train_show_step(const struct train_epoch *epoch, size_t steps, double loss);
void train_show_epoch(const struct train_options *options, const struct train_epoch *epoch);
/* "test accuracy 97.50 %", or of a text "test loss 1.8124". */
void train_show_result(const struct train_model *model, double result, char text[], size_t bytes);
void train_show_against(FILE *stream, const struct train_against *against);

/* Lines of JSON, malloc'ed; NULL: no memory. train/record.c */
char *record_train_head(const struct train_options *options, const struct train_model *model,
                        const struct dataset *data, struct dp_group *group,
                        const struct train_world *world);
char *record_train_epoch(const struct train_epoch *epoch);
char *record_train_end(const struct train_model *model, double median, int status,
                       const struct train_against *against);

/* DIR/train.svg and .png: loss and accuracy by epoch, of a text loss by tokens, and the median of
 * the seeds. An exit status, and why. train/plot.c */
int train_plot(const char *directory, const struct train_options *options,
               const struct train_model *model, const struct train_epoch epoch[], size_t n,
               double median, char *why, size_t bytes);

/* Embedded by plots/Embed.cmake; zero-terminated. */
extern const unsigned char train_asset_figure[];

#endif
