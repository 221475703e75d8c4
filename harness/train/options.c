/* train/options.c: the options of train. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/backend.h"
#include "command/command.h"
#include "train/train.h"
#include "workload_list.h"

enum {
    MAX_BATCH = 1 << 20,
    MAX_EPOCHS = 1000000,
    MAX_STEPS = 1 << 30,
    KEY_HEADER = 256,
    KEY_AGAINST_COMMUNICATOR,
    KEY_OPTIMIZER,
    KEY_DECAY,
    KEY_CLIP,
    KEY_WARMUP,
    KEY_ACCUMULATE
};

static const char *const modes[] = {"dp", "ddp"};
static const char *const optimizers[] = {[TRAIN_SGD] = "sgd", [TRAIN_ADAMW] = "adamw"};
static const char *const on_or_off[] = {"on", "off"};

/* What is read; the choices become members of the options when all were read. */
struct given {
    struct train_options options;
    size_t mode, optimizer, off, seed;
};
#define AT(member) offsetof(struct given, member)

static const struct command_option option_table[] = {
    {"model", 'm', "NAME", "mlp (default: with a hidden layer of 128), " WORKLOADS_OR, COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, model)},
    {"data", 'D', "FILE",
     "a CSV file, its last column the class; or digits (default) or random. Of gpt models "
     "text:FILE, whose bytes are the tokens, or text (default: the documents of this "
     "project)",
     COMMAND_TEXT, COMMAND_FIELD(struct train_options, data)},
    {"header", KEY_HEADER, NULL, "the first line of --data FILE has the names of the columns",
     COMMAND_FLAG, .offset = AT(options.header)},
    COMMAND_REQUIRE_ROW(struct train_options),
    {"devices", 'd', "LIST",
     COMMAND_DEVICES_DOC ", with suffixes such as +lag, or host for no data parallelism "
                         "(default: one virtual device per core)",
     COMMAND_TEXT, COMMAND_FIELD(struct train_options, devices)},
    {"mode", 'w', "MODE",
     "dp: DataParallel (default); ddp: DistributedDataParallel, a rank on every device",
     COMMAND_CHOICE, .offset = AT(mode), .most = 2, .names = modes},
    LAUNCHER_OPTIONS("--mode ddp"),
    COMMAND_BACKEND_ROW(struct train_options, backend),
    COMMAND_COMMUNICATOR_ROW(struct train_options, communicator),
    {"epochs", 'e', "E", "number of epochs (default 30); 0 only tests", COMMAND_SIZE,
     .offset = AT(options.epochs), .most = MAX_EPOCHS},
    {"batch", 'n', "ROWS",
     "rows of a step (default 32); with --mode ddp: of all ranks together, rounded up to a "
     "multiple of the ranks",
     COMMAND_SIZE, .offset = AT(options.batch), .least = 1, .most = MAX_BATCH},
    {"lr", 'l', "RATE", "learning rate (default: the model's own, see results/training.md)",
     COMMAND_REAL, .offset = AT(options.update.lr), .from = 1e-9, .to = 1e3},
    {"momentum", 'M', "M", "momentum of SGD (default 0.9)", COMMAND_REAL,
     .offset = AT(options.update.momentum), .to = 0.9999},
    {"optimizer", KEY_OPTIMIZER, "NAME", "sgd, or adamw (default: adamw for gpt models, else sgd)",
     COMMAND_CHOICE, .offset = AT(optimizer), .most = 2, .names = optimizers},
    {"decay", KEY_DECAY, "D",
     "weight decay of all parameters (default: 0.1 with adamw, 0 with sgd)", COMMAND_REAL,
     .offset = AT(options.update.decay), .to = 1e3},
    {"clip", KEY_CLIP, "NORM",
     "the largest norm of all gradients together, after their reduction; 0: any (default: "
     "1 with adamw, 0 with sgd)",
     COMMAND_REAL, .offset = AT(options.update.clip), .to = 1e9},
    {"warmup", KEY_WARMUP, "STEPS",
     "let the rate rise for so many steps, then fall as a cosine to a tenth (default: with "
     "adamw a tenth of all steps, at most 100; with sgd the rate stays)",
     COMMAND_SIZE, .offset = AT(options.update.warmup), .most = MAX_STEPS},
    {"accumulate", KEY_ACCUMULATE, "K",
     "run each batch in K parts of as many rows, whose gradients add up (default 1)", COMMAND_SIZE,
     .offset = AT(options.update.parts), .least = 1, .most = MAX_BATCH},
    {"seed", 's', "S", "seed of the split, the order of rows and the first parameters (default 1)",
     COMMAND_SIZE, .offset = AT(seed), .most = SIZE_MAX - TRAIN_SEEDS},
    {"seeds", 'N', "N", "run N trainings with the seeds S, S+1, ... and print their median",
     COMMAND_SIZE, .offset = AT(options.seeds), .least = 1, .most = TRAIN_SEEDS},
    {"require", 'r', "PERCENT",
     "exit with 1 if the median test accuracy is lower; of a text, if the median test loss "
     "is higher than this",
     COMMAND_REAL, .offset = AT(options.require), .to = 100},
    {"against", 'a', "LIST",
     "also train on these devices and compare; exit with 1 if the trainings diverge too far",
     COMMAND_TEXT, COMMAND_FIELD(struct train_options, against)},
    {"against-backend", 'A', "NAME", "backend of --against (default: that of its devices)",
     COMMAND_BACKEND, COMMAND_FIELD(struct train_options, against_backend)},
    {"against-communicator", KEY_AGAINST_COMMUNICATOR, "NAME",
     "communicator of --against (default: its backend's own)", COMMAND_COMMUNICATOR,
     COMMAND_FIELD(struct train_options, against_communicator)},
    {"prefetch", 'p', "HOW", "on (default): a thread prepares the next batch; off", COMMAND_CHOICE,
     .offset = AT(off), .most = 2, .names = on_or_off},
    {"save", 'S', "FILE", "write the weights to FILE", COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, save)},
    {"load", 'L', "FILE", "start from these weights", COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, load)},
    {"out", 'o', "FILE", "write a record as JSON Lines, a line per epoch", COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, out)},
    {"figure", 'f', "DIR",
     "loss and accuracy by epoch, of a text loss by tokens, as train.svg and train.png",
     COMMAND_TEXT, COMMAND_FIELD(struct train_options, figure)},
    {0}};

static error_t train_option(int key, char *value, struct argp_state *state)
{
    struct given *given = command_input(state);
    struct train_options *o = &given->options;

    if (key == LAUNCHER_KEY || key == LAUNCHER_KEY_EACH || key == LAUNCHER_KEY_TIMEOUT)
        return launcher_option(key, value, state, &o->processes);
    if (key != ARGP_KEY_END)
        return command_key(key, value, state);
    for (const struct command_option *row = option_table; row->name; ++row)
        if (row->kind == COMMAND_TEXT && command_seen(state, row->name) &&
            ((const char *)given)[row->offset] == '\0')
            return command_bad_option(state, "--%s is empty", row->name);
    o->dp = command_seen(state, "mode") && given->mode == 0;
    o->ddp = given->mode == 1;
    o->no_prefetch = given->off == 1;
    o->seed = given->seed;
    if (command_seen(state, "optimizer"))
        o->update.kind = (enum train_optimizer_kind)given->optimizer;
    return 0;
}

int train_parse(int argc, char **argv, struct train_options *options)
{
    const struct command_syntax syntax = {
        .options = option_table,
        .other = train_option,
        .doc =
            "Trains a model on real data, data-parallel, and tests it on a fifth that it was "
            "not trained on, of a text on the last tenth."
            "\vPrints the test accuracy of each seed, of a text the test loss, and their median, "
            "on standard output. "
            "With --against also whether both trainings did the same: bit for bit in "
            "steps on whole numbers, and on the data no further apart than trainings of the other "
            "side that differ in rounding only.\n\n"
            "Before the first step, one step is verified on the same devices, value by value.\n\n"
            "Exit status: 0 all done and held; 1 --require was missed, --against does not "
            "hold, a loss is not finite, the verified step is wrong, a named device is missing, or "
            "the figure could not "
            "be drawn; 2 misuse, unreadable input or unwritable output; 77 cuda:all where there "
            "are no GPUs; 130 interrupted (--save has the weights of the last step)."};

    struct given given = {.options = {.model = "mlp",
                                      .batch = 32,
                                      .epochs = 30,
                                      .seeds = 1,
                                      .update = {.kind = TRAIN_OWN,
                                                 .lr = NAN,
                                                 .momentum = NAN,
                                                 .decay = NAN,
                                                 .clip = NAN,
                                                 .warmup = TRAIN_OWN_STEPS,
                                                 .parts = 1},
                                      .require = -1},
                          .seed = 1};

    command_default_devices(given.options.devices, sizeof given.options.devices);
    if (command_read(&syntax, argc, argv, &given))
        return EXIT_MISUSE;
    *options = given.options;
    if (options->backend[0] == '\0')
        snprintf(options->backend, sizeof options->backend, "%s",
                 command_default_backend(options->devices));
    if (options->against[0] != '\0' && options->against_backend[0] == '\0')
        snprintf(options->against_backend, sizeof options->against_backend, "%s",
                 command_default_backend(options->against));
    struct train_options *o = options;
    const bool against = o->against[0] != '\0', launched = o->processes.launcher[0] != '\0';
    const struct {
        bool wrong;
        const char *what;
    } rows[] = {
        {o->against_backend[0] != '\0' && !against, "--against-backend needs --against LIST"},
        {o->against_communicator[0] != '\0' && !against,
         "--against-communicator needs --against LIST"},
        {against && o->seeds > 1, "--against compares one training: leave out --seeds"},
        {against && o->epochs == 0, "--against needs a training: --epochs 1 at least"},
        {o->save[0] != '\0' && o->seeds > 1,
         "--save writes the weights of one training: leave out --seeds"},
        {o->load[0] != '\0' && o->seeds > 1, "--load starts one training: leave out --seeds"},
        {o->figure[0] != '\0' && o->epochs == 0, "--figure needs a training: --epochs 1 at least"},
        {launched && o->dp, "--launcher is for ranks: it does not go with --mode dp"},
        {launched && o->communicator[0] != '\0',
         "--launcher does not go with --communicator, which is mpi between processes"},
    };
    int status;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (rows[i].wrong)
            return launcher_refuse(argv[0], rows[i].what);
    o->ddp = o->ddp || launched;
    status = launcher_options_check(argv[0], &o->processes, o->devices, o->required);
    /* A training on the host needs no communicator. */
    if (status == 0 && !launched)
        status = command_check_communicator(argv[0], o->communicator, o->backend, o->devices,
                                            DP_COMM_PARALLEL | (o->ddp ? DP_COMM_RANKS : 0));
    if (status == 0 && against)
        status =
            command_check_communicator(argv[0], o->against_communicator, o->against_backend,
                                       o->against, DP_COMM_PARALLEL | (o->ddp ? DP_COMM_RANKS : 0));
    return status;
}
