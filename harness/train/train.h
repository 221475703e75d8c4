/* train/train.h: declarations that the files of `lockstep train` share. */
#ifndef HARNESS_TRAIN_H
#define HARNESS_TRAIN_H

#include <stdio.h>

#include "dataset.h"
#include "dp.h"
#include "files/weights.h"
#include "launch/launcher.h"
#include "loader.h"
#include "measure/session.h"
#include "workload.h"

enum { TRAIN_SEEDS = 100, TRAIN_PATH = 512 };

/* ---- updates: train/update.c --------------------------------------------------------------- */

enum train_optimizer_kind { TRAIN_SGD, TRAIN_ADAMW, TRAIN_OWN /* the model's */ };

/* How the parameters are updated from gradients. In options NAN, and TRAIN_OWN_STEPS, mean: not
 * given. */
#define TRAIN_OWN_STEPS SIZE_MAX
struct train_update {
    enum train_optimizer_kind kind;
    double lr, momentum, decay; /* momentum: of SGD */
    double clip;          /* largest norm of all gradients together; 0: they are not clipped */
    bool cosine;          /* lr warms up and falls, see dp_cosine; else it stays */
    size_t warmup, steps; /* of cosine; steps of all epochs */
    size_t parts;         /* of a batch, one after the other; their gradients are added */
};

/* The update of a session, not opened yet. */
struct update train_update_begin(const struct train_update *options);
/* The learning rate of a step of cosine; steps are counted from 0. */
double train_update_rate(const struct train_update *options, uint64_t step);
const char *train_optimizer_name(enum train_optimizer_kind kind); /* "sgd", "adamw" */

/* ---- options: train/options.c ------------------------------------------------------------- */

/* Ranks in processes that a launcher starts. */
struct launcher_options {
    char launcher[LAUNCHER_BYTES]; /* "": all ranks are in this process */
    size_t per_process;            /* devices per process; 0: not given */
    double timeout;                /* seconds that a process waits for another; 0: not given */
};

struct train_options {
    char model[96], data[TRAIN_PATH], devices[64], backend[16], communicator[32];
    char against[64], against_backend[16], against_communicator[32]; /* "": no comparison */
    char save[TRAIN_PATH], load[TRAIN_PATH], out[TRAIN_PATH], figure[TRAIN_PATH];
    size_t batch, epochs, seeds;
    size_t required; /* devices, at least */
    uint64_t seed;   /* the first of seeds */
    struct train_update update;
    double require; /* least median in percent, or the largest loss; negative: none */
    bool no_prefetch, dp, ddp, header; /* dp: --mode dp was given */
    struct launcher_options processes; /* the processes of the ranks */
};

/* Parses the options. Returns 0, or an exit status after one line on stderr. */
int train_parse(int argc, char **argv, struct train_options *options);

/* ---- models: train/model.c ---------------------------------------------------------------- */

struct train_model {
    char name[96];
    struct workload workload;
    size_t width; /* numbers of a row */
    int classes;
    size_t table; /* not 0: a row is the number of a row of a table that has this many */
    bool text;    /* a row is a window of a text: width numbers, and the same number of classes */
    enum train_optimizer_kind optimizer; /* the one that it trains with by default */
    double lr;                           /* learning rate of that one */
    /* A chain of linear layers, convolutions, ReLU and max-pooling, in the order of its parameters,
     * is exact on integers. positions: the most places of an image that share a weight. */
    bool exact;
    size_t positions;
};

/* The sizes that a model needs, by its name alone; 0 for those that the data decide. Returns 0, or
 * -1 and the reason. */
int train_model_want(const char *name, struct dataset_want *want, char *why, size_t bytes);
/* Makes the model for data that have those sizes. Returns 0, or -1 and the reason. */
int train_model_make(const char *name, const struct dataset *data, struct train_model *model,
                     char *why, size_t bytes);
/* Makes the model of a workload. Returns 0; or -1 and the reason: the workload lists no learning
 * rate. */
int train_model_of(const struct workload *workload, struct train_model *model, char *why,
                   size_t bytes);
/* Checks whether there is enough memory for the model on devices of the CPU, and for a language
 * model also for a batch on that many devices, in all processes. Linux promises more memory than it
 * has, and kills processes that use it. DP_EINVAL: it is not enough. */
int train_model_fits(const struct train_model *model, struct dp_group *group, size_t devices,
                     const struct train_options *options, struct dp_error *err);
/* Fills in the values that options leave to the model. Returns 0, or -1 and the reason
 * (train/update.c). */
int train_model_update(const struct train_model *model, struct train_update *update, char *why,
                       size_t bytes);
/* Fills every parameter, as a function of seed alone, like dp_module_init. A text model begins as
 * GPT-2 does, but with uniform numbers of the same variance instead of normal ones. */
int train_model_init(const struct train_model *model, struct dp_module *module, uint64_t seed,
                     struct dp_error *err);

/* ---- one model on one list of devices: train/side.c --------------------------------------- */

struct train_side_config {
    const struct train_model *model;
    size_t batch; /* the most rows of a step, all parts of it */
    struct train_update update;
    bool ddp; /* DistributedDataParallel: batches are a multiple of the number of devices */
    struct dp_mpi *mpi; /* connects the processes of the group; NULL: there is one */
    /* For tests: puts a module between the wrapper and the model. NULL: none. */
    int (*tamper)(void *user, struct dp_group *group, struct dp_module *model,
                  struct dp_module **module, struct dp_error *err);
};

/* The report of a rank about a step, or of all of them: its loss is a float. */
struct train_report {
    double loss;
    uint64_t arrived; /* train_rows_digest of the rows that it had */
};

struct train_side {
    struct train_side_config config;
    struct dp_group *group;
    struct dp_slot *slot; /* of inputs, parameters and outputs */
    /* Frozen: it runs forward, loss and backward of a batch that is lent. */
    struct session *session;
    /* The module that a user has: all of the model in a wrapper, or a part of it. With ranks it
     * runs the tests only. */
    struct dp_module *top;
    uint64_t step;                  /* of cosine: the next one, from 0 */
    struct train_report *reports;   /* of all ranks of the world */
    size_t width, labels;           /* numbers of a row, and classes */
    struct dp_tensor input, target; /* of a whole batch */
    float *feature;                 /* [batch, width] */
    int32_t *number, *label;        /* the same as whole numbers; [batch, labels] */
    uint64_t arrived; /* digest of the rows of the last step as they were on the devices */
    size_t n_logits;
    float *logits; /* [batch, classes], on the host; NULL: it is a text */
    int n_params;
    struct weights_list list;
    struct dp_param **param; /* of the list */
    size_t n_values;
    float *value; /* all parameters on the host, one after the other */
};

/* Opens a side. Close it by train_side_close in any case. */
int train_side_open(struct train_side *side, struct dp_group *group,
                    const struct train_side_config *config, struct dp_error *err);
void train_side_close(struct train_side *side);

/* Runs one step of training; *loss is the mean over the rows. */
int train_side_step(struct train_side *side, const struct loader_batch *batch, float *loss,
                    struct dp_error *err);

/* For ranks. spread: call it after the parameters were written, to give them to all ranks. agree:
 * checks that all ranks have the same bits, DP_EFAULT if not. */
int train_side_spread(struct train_side *side, struct dp_error *err);
int train_side_agree(struct train_side *side, struct dp_error *err);

struct train_test {
    size_t rows, right;
    double loss;  /* mean over the rows */
    bool stopped; /* a stop was requested: not all rows were tested */
};
/* Tests with an epoch of loader in eval mode, or the part of it that was done when a stop was
 * requested. A row is wrong if its largest output is not that of its class, or is not a number; for
 * texts only the loss is reported. */
int train_side_test(struct train_side *side, struct loader *loader, struct train_test *test,
                    struct dp_error *err);
/* Reads the parameters (of float32, buffers too) to side->value. */
int train_side_read(struct train_side *side, struct dp_error *err);
/* Sets the parameters to these values. */
int train_side_write(struct train_side *side, const float value[], struct dp_error *err);
/* Gives the name of the parameter that value[i] belongs to, and the index of the element in it. */
void train_side_where(const struct train_side *side, size_t i, char *name, size_t bytes,
                      size_t *element);

/* Runs a step on the devices of the group, verified like that of a cell; for ranks it includes
 * their mean (train/first.c). DP_EFAULT: it is wrong; DP_EINVAL: the correct result is not
 * known. */
int train_first(const struct train_model *model, const struct train_options *options,
                const struct dataset *data, struct dp_group *group, bool ranks,
                struct dp_error *err);

/* ---- a training: train/run.c -------------------------------------------------------------- */

struct train_epoch {
    uint64_t seed;
    size_t epoch; /* 1.. */
    size_t steps;
    /* accuracy is in percent, NAN for a text; other: those of the side of --against. */
    double train_loss, test_loss, accuracy, other_loss, other_accuracy;
    double samples_per_s;
    /* For a text: the tokens of a row, and those that it has trained on since epoch 1 began; else
     * 0. */
    size_t context, tokens;
    bool stopped; /* a stop was requested: it ended after that many steps, without a test */
    bool in_test; /* ... or in the test after them, which is not reported */
};

struct train_against;
struct train_world;

struct train_run {
    const struct train_options *options;
    const struct train_model *model;
    const struct dataset *data;
    struct train_side *side;
    struct train_against *against; /* NULL: no comparison */
    struct train_world *world; /* runs the steps, and side gets the results; NULL: side runs them */
    /* stepped is called after each step, finished after each epoch. NULL allowed. steps: those of
     * the epoch, of which epoch->steps are done. */
    void (*stepped)(void *user, const struct train_epoch *epoch, size_t steps, double loss);
    void (*finished)(void *user, const struct train_epoch *epoch);
    void *user;
    uint64_t seed;
    bool keep; /* side has its parameters already */
};

/* Opens a loader of the rows for training, in a new order for each epoch, or of those for the test.
 * A step has as many rows for each part of each rank: their number is a multiple of `shares`. */
int train_loader_open(const struct train_options *options, const struct dataset *data,
                      uint64_t seed, size_t shares, bool test, struct loader **loader,
                      struct dp_error *err);
/* Gives the number of steps of an epoch. It returns the errors of dataset_part. */
int train_epoch_steps(const struct train_options *options, const struct dataset *data,
                      size_t shares, size_t *steps, struct dp_error *err);

/* Trains all epochs; *last is the last one (if there are none, a test of the present parameters). A
 * request to stop (files/files.h) ends it after a step, or after a batch of a test: last->stopped.
 * Errors: those of core; DP_EFAULT: a loss is not finite. */
int train_run(const struct train_run *run, struct train_epoch *last, struct dp_error *err);

/* ---- two trainings next to each other: train/against.c, train/exact.c ---------------------- */

enum { TRAIN_SHUFFLED = 3, TRAIN_EXACT_STEPS = 8 };

/* A difference of two sides. */
struct train_divergence {
    bool here;
    size_t step;     /* 1.. */
    char where[160]; /* "0.weight[17] is 0.125 and 0.25" */
};

/* The other side, and the results of the comparison. results/training.md explains what is
 * judged. */
struct train_against {
    struct train_side *side;
    struct train_side shuffled[TRAIN_SHUFFLED]; /* on the group of the other side */
    uint64_t seed;
    size_t width;   /* numbers of a row */
    size_t labels;  /* classes of a row */
    bool mean;      /* with AdamW: differences are means over all parameters, not the largest */
    float *feature; /* a batch in another order */
    int32_t *label;
    size_t *order;
    size_t steps;
    double rounding;     /* the farthest that rounding has moved a parameter so far */
    double bound;        /* of the last step */
    double last, most;   /* the difference of parameters: in the last step, in all steps */
    bool loose;          /* the bound has become too wide to judge by */
    size_t judged;       /* steps before that */
    double judged_bound; /* of the last of them */
    struct train_divergence diverged; /* the first step with other bits */
    struct train_divergence beyond;   /* the first step beyond its bound */
    size_t exact_steps;               /* compared bit for bit; see train_exact */
    size_t reference_steps;           /* ... with the float64 model, too */
    char exact_why[160];              /* why there are none */
    struct train_divergence inexact;
};

int train_against_open(struct train_against *against, struct train_side *side,
                       const struct train_side_config *config, struct dp_error *err);
void train_against_close(struct train_against *against); /* not side */
/* Gives all sides the parameters of first. */
int train_against_start(struct train_against *against, struct train_side *first, uint64_t seed,
                        struct dp_error *err);
/* Runs the step that first has just made, and compares. */
int train_against_step(struct train_against *against, struct train_side *first,
                       const struct loader_batch *batch, struct dp_error *err);
/* Runs steps on whole numbers, small enough that every sum is exact: both sides must have the same
 * bits after them. Sides of the same configurations run them. */
int train_exact(struct train_against *against, const struct train_side *first,
                const struct train_model *model, const struct dataset *data, uint64_t seed,
                size_t batch, struct dp_error *err);
bool train_against_holds(const struct train_against *against);

/* ---- ranks in several processes: train/world.c, train/trainee.c ------------------------------ */

/* A launcher starts the processes. Each (`lockstep trainee`) has the data, the model and an
 * optimizer for its ranks, and runs the steps that this process asks for. Each reports what it was
 * asked and what it has then, and this process compares the reports: losses after steps, parameters
 * at the begin and after an epoch. This process runs the test, and writes the record and the final
 * weights. */
enum { TRAIN_WORLD_TEXT = 128 };

/* Where the processes are, and what they run on. */
struct train_world_about {
    int processes, hosts, ranks;
    char host_ranks[TRAIN_WORLD_TEXT], library[TRAIN_WORLD_TEXT]; /* of each host, "2,2"; of MPI */
    char backend[16], communicator[32], blas[160];
    bool oversubscribed; /* of at least one process */
};

/* Starts the processes. DP_EFAULT: one does not begin, or they do not fit together; else the error
 * of a process. */
int train_world_open(const struct train_options *options, const struct dataset *data,
                     struct train_world **world, struct dp_error *err);
void train_world_close(struct train_world *world); /* NULL allowed */
const struct train_world_about *train_world_about(const struct train_world *world);

/* Starts a training from the parameters of side on. */
int train_world_start(struct train_world *world, struct train_side *side, uint64_t seed,
                      struct dp_error *err);
/* Starts an epoch of that many steps. */
void train_world_epoch(struct train_world *world, size_t epoch, size_t steps);
/* Gives the next step of the epoch. The processes run several at once: as many as take a fraction
 * of a second. */
int train_world_step(struct train_world *world, float *loss, uint64_t *arrived,
                     struct dp_error *err);
/* Whether all steps that the processes have run were taken by train_world_step. */
bool train_world_settled(const struct train_world *world);
/* Reads the parameters that all ranks have to side. */
int train_world_read(struct train_world *world, struct train_side *side, struct dp_error *err);
/* Checks that side still has the parameters that all ranks had then; else DP_EFAULT. */
int train_world_holds(const struct train_world *world, const struct train_side *side,
                      struct dp_error *err);

/* Bytes as text, and back (train/values.c); bool: the text is that of so many bytes. Then
 * parameters and buffers so, bit by bit. Texts are malloc'ed; NULL and *err. */
char *train_text_of(const void *bytes, size_t n, struct dp_error *err);
bool train_bytes_of(const char *text, void *bytes, size_t n);
char *train_values_text(const struct train_side *side, struct dp_error *err);
int train_values_put(struct train_side *side, const char *text, struct dp_error *err);
/* The digest of all rows of a batch; their order does not matter. */
uint64_t train_rows_digest(const struct loader_batch *batch, size_t width, size_t labels);
/* Computes SHA-256 of the contents of a data set. Returns 0, or -1. */
int train_data_digest(const struct dataset *data, char *hex);

/* ---- what a person sees, records, the figure ---------------------------------------------- */

/* These print on stderr. train_show_clear: call it before other output, which would appear after
 * the bar. */
void train_show_clear(void);
void train_show_gaps(const struct dataset *data); /* classes without a row */
void train_show_step(const struct train_epoch *epoch, size_t steps, double loss);
void train_show_epoch(const struct train_options *options, const struct train_epoch *epoch);
/* Writes "test accuracy 97.50 %", or for a text "test loss 1.8124". */
void train_show_result(const struct train_model *model, double result, char text[], size_t bytes);
void train_show_against(FILE *stream, const struct train_against *against);

/* Call this first: a line that gets no memory is lost, but not the training. */
void record_train_use_memory(void);
/* These return lines of JSON, malloc'ed; NULL: no memory (train/record.c). */
char *record_train_head(const struct train_options *options, const struct train_model *model,
                        const struct dataset *data, struct dp_group *group,
                        const struct train_world *world);
char *record_train_epoch(const struct train_epoch *epoch);
char *record_train_end(const struct train_model *model, double median, int status,
                       const struct train_against *against);

/* Writes DIR/train.svg and .png: loss and accuracy by epoch, for a text loss by tokens, and the
 * median of the seeds. Returns an exit status, and why has the reason (train/plot.c). */
int train_plot(const char *directory, const struct train_options *options,
               const struct train_model *model, const struct train_epoch epoch[], size_t n,
               double median, char *why, size_t bytes);

/* Embedded by plots/Embed.cmake; zero-terminated. */
extern const unsigned char train_asset_figure[];

#endif
