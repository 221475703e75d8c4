/* train/options.c: the options of train. */
#include <math.h>
#include <stdio.h>

#include "command/command.h"
#include "command/device_list.h"
#include "launch/launcher.h"
#include "train/train.h"
#include "workload_list.h"

enum { MAX_BATCH = 1 << 20, MAX_EPOCHS = 1000000, MAX_STEPS = 1 << 30 };

_Static_assert(LAUNCHER_BYTES == sizeof((struct record_run *)0)->launcher, "a field of records");

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
    {"workload", 'm', "NAME", "mlp (default: with a hidden layer of 128), " WORKLOADS_OR,
     COMMAND_TEXT, .was = "model", COMMAND_FIELD(struct train_options, model),
     .group = COMMAND_WHAT},
    {"data", 'D', "FILE",
     "digits (default), random, or a CSV file whose last column is the class; for gpt models text "
     "(default: the documents of this project) or text:FILE",
     COMMAND_TEXT, COMMAND_FIELD(struct train_options, data), .group = COMMAND_WHAT},
    {"header", 0, NULL, "the first line of --data FILE has the names of the columns", COMMAND_FLAG,
     .offset = AT(options.header), .group = COMMAND_RARE},
    COMMAND_REQUIRE_ROW(struct train_options),
    {"devices", 'd', "LIST",
     COMMAND_DEVICES_DOC ", or host for no data parallelism (default: one virtual device per core)",
     COMMAND_TEXT, COMMAND_FIELD(struct train_options, devices), .group = COMMAND_WHAT},
    {"mode", 'w', "dp|ddp",
     "dp: DataParallel (default); ddp: DistributedDataParallel, a rank on every device",
     COMMAND_CHOICE, .offset = AT(mode), .most = 2, .names = modes, .group = COMMAND_WHAT},
    {"launcher", 0, "COMMAND",
     "--mode ddp: run the ranks in several processes, joined by MPI: " LAUNCHER_DOC, COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, processes.launcher), .group = COMMAND_RARE},
    {"per-process", 0, "N",
     "with --launcher: devices of each process (default 1); --devices are those of all",
     COMMAND_SIZE, .offset = AT(options.processes.per_process), .least = 1, .most = DP_MAX_SLOTS,
     .group = COMMAND_RARE},
    {"timeout", 0, "SECONDS",
     "with --launcher: seconds that a process waits for another one (default 60)", COMMAND_REAL,
     .offset = AT(options.processes.timeout), .from = 1, .to = 86400, .group = COMMAND_RARE},
    COMMAND_BACKEND_ROW(struct train_options, backend),
    COMMAND_COMMUNICATOR_ROW(struct train_options, communicator),
    {"epochs", 'e', "N", "number of epochs (default 30); 0 only tests", COMMAND_SIZE,
     .offset = AT(options.epochs), .most = MAX_EPOCHS, .group = COMMAND_HOW_LONG},
    {"batch", 'n', "N", "rows of a step, of all devices together (default 32)", COMMAND_SIZE,
     .offset = AT(options.batch), .least = 1, .most = MAX_BATCH, .group = COMMAND_WHAT},
    {"lr", 'l', "RATE", "learning rate (default: the model's own, see results/training.md)",
     COMMAND_REAL, .offset = AT(options.update.lr), .from = 1e-9, .to = 1e3, .group = COMMAND_RARE},
    {"momentum", 'M', "NUMBER", "momentum of SGD (default 0.9)", COMMAND_REAL,
     .offset = AT(options.update.momentum), .to = 0.9999, .group = COMMAND_RARE},
    {"optimizer", 0, "sgd|adamw", "sgd or adamw (default: adamw for gpt models, else sgd)",
     COMMAND_CHOICE, .offset = AT(optimizer), .most = 2, .names = optimizers,
     .group = COMMAND_RARE},
    {"decay", 0, "NUMBER", "weight decay of all parameters (default: 0.1 with adamw, 0 with sgd)",
     COMMAND_REAL, .offset = AT(options.update.decay), .to = 1e3, .group = COMMAND_RARE},
    {"clip", 0, "NORM",
     "clip the norm of all gradients together to NORM, after they are reduced; 0: do not (default: "
     "1 with adamw, 0 with sgd)",
     COMMAND_REAL, .offset = AT(options.update.clip), .to = 1e9, .group = COMMAND_RARE},
    {"warmup", 0, "STEPS",
     "raise the learning rate for so many steps, then lower it as a cosine to a tenth (default: "
     "with adamw a tenth of all steps, at most 100; with sgd the rate stays)",
     COMMAND_SIZE, .offset = AT(options.update.warmup), .most = MAX_STEPS, .group = COMMAND_RARE},
    {"accumulate", 0, "N",
     "run each batch in N parts of as many rows, and add up their gradients (default 1)",
     COMMAND_SIZE, .offset = AT(options.update.parts), .least = 1, .most = MAX_BATCH,
     .group = COMMAND_RARE},
    {"seed", 's', "N", "seed of the split, the order of rows and the first parameters (default 1)",
     COMMAND_SIZE, .offset = AT(seed), .most = SIZE_MAX - TRAIN_SEEDS, .group = COMMAND_RARE},
    {"seeds", 'N', "N",
     "run N trainings with the seeds S, S+1, ... and print their median (default 1)", COMMAND_SIZE,
     .offset = AT(options.seeds), .least = 1, .most = TRAIN_SEEDS, .group = COMMAND_RARE},
    {"require", 'r', "PERCENT",
     "exit with 1 if the median test accuracy is lower; of a text, if the median test loss is "
     "higher (default: no limit)",
     COMMAND_REAL, .offset = AT(options.require), .to = 100, .group = COMMAND_RARE},
    {"against", 'a', "LIST",
     "also train on these devices and compare; exit with 1 if the trainings diverge too far",
     COMMAND_TEXT, COMMAND_FIELD(struct train_options, against), .group = COMMAND_RARE},
    {"against-backend", 'A', "NAME", "backend of --against (default: that of its devices)",
     COMMAND_BACKEND, COMMAND_FIELD(struct train_options, against_backend), .group = COMMAND_RARE},
    {"against-communicator", 0, "NAME", "communicator of --against (default: that of its backend)",
     COMMAND_COMMUNICATOR, COMMAND_FIELD(struct train_options, against_communicator),
     .group = COMMAND_RARE},
    {"prefetch", 'p', "on|off",
     "on (default) or off: a thread prepares the next batch during a step", COMMAND_CHOICE,
     .offset = AT(off), .most = 2, .names = on_or_off, .group = COMMAND_RARE},
    {"save", 'S', "FILE", "write the weights to FILE", COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, save), .group = COMMAND_WHERE_TO},
    {"load", 'L', "FILE", "start from the weights in FILE", COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, load), .group = COMMAND_WHERE_TO},
    {"out", 'o', "FILE", "write a record as JSON Lines, a line per epoch", COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, out), .group = COMMAND_WHERE_TO},
    {"figure", 'f', "DIR", "loss and accuracy by epoch, as train.svg and train.png", COMMAND_TEXT,
     COMMAND_FIELD(struct train_options, figure), .group = COMMAND_WHERE_TO},
    {0}};

static error_t train_option(int key, char *value, struct argp_state *state)
{
    struct given *given = command_input(state);
    struct train_options *o = &given->options;

    if (key != ARGP_KEY_END)
        return command_key(key, value, state);
    o->dp = command_seen(state, "mode") && given->mode == 0;
    o->ddp = given->mode == 1;
    o->no_prefetch = given->off == 1;
    o->seed = given->seed;
    if (command_seen(state, "optimizer"))
        o->update.kind = (enum train_optimizer_kind)given->optimizer;
    return 0;
}

/* Checks the options about ranks in processes, and fills in those that were not given. The devices
 * must be virtual ones, and the same number in each process. Returns 0, or an exit status after a
 * line. */
static int check_processes(const char *command, struct train_options *o)
{
    struct launcher_options *options = &o->processes;
    const int n = device_list_count(o->devices);
    struct dp_kind_row kind;
    struct text_error why;

    if (options->launcher[0] == '\0')
        return options->per_process > 0 || options->timeout > 0
                   ? command_refuse_call(command, "--per-process and --timeout need --launcher")
                   : 0;
    if (launcher_check(options->launcher, &why))
        return command_refuse_call(command, "--launcher: %s", why.text);
    options->per_process = options->per_process > 0 ? options->per_process : 1;
    options->timeout = options->timeout > 0 ? options->timeout : 60;
    if (!dp_kind_of(o->devices, &kind) || (kind.flags & DP_KIND_CORES) == 0 || n < 1)
        return command_refuse_call(
            command, "--launcher: the devices are virtual ones, like --devices virt:8");
    if (device_list_faulty(o->devices))
        return command_refuse_call(command, "--launcher: devices do not fail on purpose there");
    if ((size_t)n % options->per_process != 0)
        return command_refuse_call(command, "--per-process %zu: %d devices are no multiple of it",
                                   options->per_process, n);
    if ((size_t)n / options->per_process > MSG_PROCESSES)
        return command_refuse_call(command,
                                   "--launcher: %zu processes are too many; allowed are %d",
                                   (size_t)n / options->per_process, MSG_PROCESSES);
    if ((size_t)n >= o->required)
        return 0;
    command_complain(command, "--require-devices %zu: '%s' has %d", o->required, o->devices, n);
    return EXIT_FAILED;
}

int train_parse(int argc, char **argv, struct train_options *options)
{
    const struct command_syntax syntax = {
        .options = option_table,
        .other = train_option,
        .what = "What to train",
        .doc =
            "Trains a model on real data with data parallelism, and tests it on data that it was "
            "not trained on: a fifth of the rows, or the last tenth of a text."
            "\vPrints the test accuracy of each seed (of a text the test loss) and their median on "
            "standard output. With --against it also says whether both trainings did the same: bit "
            "for bit in steps on whole numbers; on the data, no further apart than two trainings "
            "that differ in rounding only.\n\n"
            "With --mode ddp a batch is rounded up to a multiple of the ranks.\n\n"
            "Before the first step, one step is verified on the same devices, value by value.\n\n"
            "Exit status: 0 done, and all that was asked for holds; 1 --require was missed, "
            "--against does not hold, a loss is not finite, the verified step is wrong, a named "
            "device is missing, or the figure could not be drawn; 2 misuse, unreadable input or "
            "unwritable output; 77 skipped: cuda:all where there are no GPUs; 130 interrupted "
            "(--save has the weights of the last step).\n\nExamples:\n"
            "  lockstep train --devices virt:2 --epochs 5\n"
            "  lockstep train --devices virt:2 --mode ddp --epochs 1 --against virt:1"};

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
            return command_refuse_call(argv[0], "%s", rows[i].what);
    o->ddp = o->ddp || launched;
    status = check_processes(argv[0], o);
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
