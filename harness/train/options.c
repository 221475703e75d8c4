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
#define AT(member)   .offset = offsetof(struct given, member)
#define TEXT(member) .kind = COMMAND_TEXT, COMMAND_FIELD(struct train_options, member)

static const struct command_option option_table[] = {
    {.name = "model",
     .key = 'm',
     .arg = "NAME",
     .doc = "mlp (default: with a hidden layer of 128), " WORKLOADS_OR,
     TEXT(model)},
    {.name = "data",
     .key = 'D',
     .arg = "FILE",
     .doc = "a CSV file, its last column the class; or digits (default) or random. Of gpt models "
            "text:FILE, whose bytes are the tokens, or text (default: the documents of this "
            "project)",
     TEXT(data)},
    {.name = "header",
     .key = KEY_HEADER,
     .doc = "the first line of --data FILE has the names of the columns",
     .kind = COMMAND_FLAG,
     AT(options.header)},
    COMMAND_REQUIRE_ROW(struct train_options),
    {.name = "devices",
     .key = 'd',
     .arg = "LIST",
     .doc = COMMAND_DEVICES_DOC ", with suffixes such as +lag, or host for no data parallelism "
                                "(default: one virtual device per core)",
     TEXT(devices)},
    {.name = "mode",
     .key = 'w',
     .arg = "MODE",
     .doc = "dp: DataParallel (default); ddp: DistributedDataParallel, a rank on every device",
     .kind = COMMAND_CHOICE,
     AT(mode),
     .most = 2,
     .names = modes},
    LAUNCHER_OPTIONS("--mode ddp"),
    COMMAND_BACKEND_ROW(struct train_options, backend),
    COMMAND_COMMUNICATOR_ROW(struct train_options, communicator),
    {.name = "epochs",
     .key = 'e',
     .arg = "E",
     .doc = "number of epochs (default 30); 0 only tests",
     .kind = COMMAND_SIZE,
     AT(options.epochs),
     .most = MAX_EPOCHS},
    {.name = "batch",
     .key = 'n',
     .arg = "ROWS",
     .doc = "rows of a step (default 32); with --mode ddp: of all ranks together, rounded up to a "
            "multiple of the ranks",
     .kind = COMMAND_SIZE,
     AT(options.batch),
     .least = 1,
     .most = MAX_BATCH},
    {.name = "lr",
     .key = 'l',
     .arg = "RATE",
     .doc = "learning rate (default: the model's own, see results/training.md)",
     .kind = COMMAND_REAL,
     AT(options.update.lr),
     .from = 1e-9,
     .to = 1e3},
    {.name = "momentum",
     .key = 'M',
     .arg = "M",
     .doc = "momentum of SGD (default 0.9)",
     .kind = COMMAND_REAL,
     AT(options.update.momentum),
     .to = 0.9999},
    {.name = "optimizer",
     .key = KEY_OPTIMIZER,
     .arg = "NAME",
     .doc = "sgd, or adamw (default: adamw for gpt models, else sgd)",
     .kind = COMMAND_CHOICE,
     AT(optimizer),
     .most = 2,
     .names = optimizers},
    {.name = "decay",
     .key = KEY_DECAY,
     .arg = "D",
     .doc = "weight decay of all parameters (default: 0.1 with adamw, 0 with sgd)",
     .kind = COMMAND_REAL,
     AT(options.update.decay),
     .to = 1e3},
    {.name = "clip",
     .key = KEY_CLIP,
     .arg = "NORM",
     .doc = "the largest norm of all gradients together, after their reduction; 0: any (default: "
            "1 with adamw, 0 with sgd)",
     .kind = COMMAND_REAL,
     AT(options.update.clip),
     .to = 1e9},
    {.name = "warmup",
     .key = KEY_WARMUP,
     .arg = "STEPS",
     .doc = "let the rate rise for so many steps, then fall as a cosine to a tenth (default: with "
            "adamw a tenth of all steps, at most 100; with sgd the rate stays)",
     .kind = COMMAND_SIZE,
     AT(options.update.warmup),
     .most = MAX_STEPS},
    {.name = "accumulate",
     .key = KEY_ACCUMULATE,
     .arg = "K",
     .doc = "run each batch in K parts of as many rows, whose gradients add up (default 1)",
     .kind = COMMAND_SIZE,
     AT(options.update.parts),
     .least = 1,
     .most = MAX_BATCH},
    {.name = "seed",
     .key = 's',
     .arg = "S",
     .doc = "seed of the split, the order of rows and the first parameters (default 1)",
     .kind = COMMAND_SIZE,
     AT(seed),
     .most = SIZE_MAX - TRAIN_SEEDS},
    {.name = "seeds",
     .key = 'N',
     .arg = "N",
     .doc = "run N trainings with the seeds S, S+1, ... and print their median",
     .kind = COMMAND_SIZE,
     AT(options.seeds),
     .least = 1,
     .most = TRAIN_SEEDS},
    {.name = "require",
     .key = 'r',
     .arg = "PERCENT",
     .doc = "exit with 1 if the median test accuracy is lower; of a text, if the median test loss "
            "is higher than this",
     .kind = COMMAND_REAL,
     AT(options.require),
     .to = 100},
    {.name = "against",
     .key = 'a',
     .arg = "LIST",
     .doc = "also train on these devices and compare; exit with 1 if the trainings diverge too far",
     TEXT(against)},
    {.name = "against-backend",
     .key = 'A',
     .arg = "NAME",
     .doc = "backend of --against (default: that of its devices)",
     .kind = COMMAND_BACKEND,
     COMMAND_FIELD(struct train_options, against_backend)},
    {.name = "against-communicator",
     .key = KEY_AGAINST_COMMUNICATOR,
     .arg = "NAME",
     .doc = "communicator of --against (default: its backend's own)",
     .kind = COMMAND_COMMUNICATOR,
     COMMAND_FIELD(struct train_options, against_communicator)},
    {.name = "prefetch",
     .key = 'p',
     .arg = "HOW",
     .doc = "on (default): a thread prepares the next batch; off",
     .kind = COMMAND_CHOICE,
     AT(off),
     .most = 2,
     .names = on_or_off},
    {.name = "save", .key = 'S', .arg = "FILE", .doc = "write the weights to FILE", TEXT(save)},
    {.name = "load", .key = 'L', .arg = "FILE", .doc = "start from these weights", TEXT(load)},
    {.name = "out",
     .key = 'o',
     .arg = "FILE",
     .doc = "write a record as JSON Lines, a line per epoch",
     TEXT(out)},
    {.name = "figure",
     .key = 'f',
     .arg = "DIR",
     .doc = "loss and accuracy by epoch, of a text loss by tokens, as train.svg and train.png",
     TEXT(figure)},
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
