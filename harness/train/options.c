/* train/options.c: the option table of train. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/backend.h"
#include "command/command.h"
#include "text/options.h"
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

static error_t copy_text(const struct argp_state *state, const char *name, char *field,
                         size_t bytes, const char *arg)
{
    if (arg[0] == '\0')
        return command_bad_option(state, "--%s is empty", name);
    if (command_copy(field, bytes, arg) == 0)
        return 0;
    return command_bad_option(state, "--%s: longer than %zu characters", name, bytes - 1);
}

static error_t parse_size(const struct argp_state *state, const char *name, const char *arg,
                          size_t min, size_t max, size_t *size)
{
    struct text_error why;

    if (option_size(arg, min, max, size, &why) == 0)
        return 0;
    return command_bad_option(state, "--%s: %s", name, why.text);
}

static error_t parse_real(const struct argp_state *state, const char *name, const char *arg,
                          double min, double max, double *number)
{
    struct text_error why;

    if (option_real(arg, min, max, number, &why) == 0)
        return 0;
    return command_bad_option(state, "--%s: %s", name, why.text);
}

static error_t parse_seed(const struct argp_state *state, const char *arg,
                          struct train_options *options)
{
    size_t seed = 0;
    const error_t bad = parse_size(state, "seed", arg, 0, SIZE_MAX - TRAIN_SEEDS, &seed);

    options->seed = bad ? options->seed : seed;
    return bad;
}

static error_t parse_mode(const struct argp_state *state, const char *arg,
                          struct train_options *options)
{
    static const char *const names[] = {"dp", "ddp"};
    size_t index = 0;
    const error_t status = command_choice(state, "mode", "mode", arg, names, 2, &index);

    options->dp = status == 0 && index == 0;
    options->ddp = index == 1;
    return status;
}

static error_t parse_optimizer(const struct argp_state *state, const char *arg,
                               struct train_update *update)
{
    static const char *const names[] = {"sgd", "adamw"};
    size_t index = 0;
    const error_t status = command_choice(state, "optimizer", "optimizer", arg, names, 2, &index);

    update->kind = index == 1 ? TRAIN_ADAMW : TRAIN_SGD;
    return status;
}

static error_t parse_prefetch(const struct argp_state *state, const char *arg,
                              struct train_options *options)
{
    static const char *const names[] = {"on", "off"};
    size_t index = 0;
    const error_t status = command_choice(state, "prefetch", "prefetch", arg, names, 2, &index);

    options->no_prefetch = index == 1;
    return status;
}

/* Copies the value of an option that is a text to its field. */
static error_t parse_text(int key, const char *arg, const struct argp_state *state,
                          struct train_options *o)
{
    const struct {
        int key;
        const char *name;
        char *field;
        size_t bytes;
    } texts[] = {{'m', "model", o->model, sizeof o->model},
                 {'D', "data", o->data, sizeof o->data},
                 {'d', "devices", o->devices, sizeof o->devices},
                 {'a', "against", o->against, sizeof o->against},
                 {'S', "save", o->save, sizeof o->save},
                 {'L', "load", o->load, sizeof o->load},
                 {'o', "out", o->out, sizeof o->out},
                 {'f', "figure", o->figure, sizeof o->figure}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        if (texts[i].key == key)
            return copy_text(state, texts[i].name, texts[i].field, texts[i].bytes, arg);
    return ARGP_ERR_UNKNOWN;
}

/* Parses the options about what a step does with gradients. */
static error_t parse_update(int key, const char *arg, const struct argp_state *state,
                            struct train_update *update)
{
    switch (key) {
    case 'l':
        return parse_real(state, "lr", arg, 1e-9, 1e3, &update->lr);
    case 'M':
        return parse_real(state, "momentum", arg, 0, 0.9999, &update->momentum);
    case KEY_OPTIMIZER:
        return parse_optimizer(state, arg, update);
    case KEY_DECAY:
        return parse_real(state, "decay", arg, 0, 1e3, &update->decay);
    case KEY_CLIP:
        return parse_real(state, "clip", arg, 0, 1e9, &update->clip);
    case KEY_WARMUP:
        return parse_size(state, "warmup", arg, 0, MAX_STEPS, &update->warmup);
    case KEY_ACCUMULATE:
        return parse_size(state, "accumulate", arg, 1, MAX_BATCH, &update->parts);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_value(int key, char *arg, struct argp_state *state)
{
    struct train_options *o = state->input;
    error_t status = arg ? parse_text(key, arg, state, o) : ARGP_ERR_UNKNOWN;

    if (status == ARGP_ERR_UNKNOWN && arg)
        status = parse_update(key, arg, state, &o->update);
    if (status != ARGP_ERR_UNKNOWN)
        return status;
    switch (key) {
    case 'b':
        return command_backend(state, "backend", arg, o->backend, sizeof o->backend);
    case 'c':
        return command_communicator(state, "communicator", arg, o->communicator,
                                    sizeof o->communicator);
    case KEY_AGAINST_COMMUNICATOR:
        return command_communicator(state, "against-communicator", arg, o->against_communicator,
                                    sizeof o->against_communicator);
    case 'A':
        return command_backend(state, "against-backend", arg, o->against_backend,
                               sizeof o->against_backend);
    case 'n':
        return parse_size(state, "batch", arg, 1, MAX_BATCH, &o->batch);
    case 'e':
        return parse_size(state, "epochs", arg, 0, MAX_EPOCHS, &o->epochs);
    case 'N':
        return parse_size(state, "seeds", arg, 1, TRAIN_SEEDS, &o->seeds);
    case 's':
        return parse_seed(state, arg, o);
    case 'r':
        return parse_real(state, "require", arg, 0, 100, &o->require);
    case 'p':
        return parse_prefetch(state, arg, o);
    case 'w':
        return parse_mode(state, arg, o);
    case LAUNCHER_KEY:
    case LAUNCHER_KEY_EACH:
    case LAUNCHER_KEY_TIMEOUT:
        return launcher_option(key, arg, state, &o->processes);
    case KEY_HEADER:
        o->header = true;
        return 0;
    case COMMAND_REQUIRE:
        return command_require(state, arg, &o->required);
    default:
        return command_key(key, arg, state);
    }
}

static const struct argp_option option_table[] = {
    {.name = "model",
     .key = 'm',
     .arg = "NAME",
     .doc = "mlp (default: with a hidden layer of 128), " WORKLOADS_OR},
    {.name = "data",
     .key = 'D',
     .arg = "FILE",
     .doc = "a CSV file, its last column the class; or digits (default) or random. Of gpt models "
            "text:FILE, whose bytes are the tokens, or text (default: the documents of this "
            "project)"},
    {.name = "header",
     .key = KEY_HEADER,
     .doc = "the first line of --data FILE has the names of the columns"},
    COMMAND_REQUIRE_OPTION,
    {.name = "devices",
     .key = 'd',
     .arg = "LIST",
     .doc = COMMAND_DEVICES_DOC ", with suffixes such as +lag, or host for no data parallelism "
                                "(default: one virtual device per core)"},
    {.name = "mode",
     .key = 'w',
     .arg = "MODE",
     .doc = "dp: DataParallel (default); ddp: DistributedDataParallel, a rank on every device"},
    LAUNCHER_OPTIONS("--mode ddp"),
    COMMAND_BACKEND_OPTION('b'),
    COMMAND_COMMUNICATOR_OPTION('c'),
    {.name = "epochs",
     .key = 'e',
     .arg = "E",
     .doc = "number of epochs (default 30); 0 only tests"},
    {.name = "batch",
     .key = 'n',
     .arg = "ROWS",
     .doc = "rows of a step (default 32); with --mode ddp: of all ranks together, rounded up to a "
            "multiple of the ranks"},
    {.name = "lr",
     .key = 'l',
     .arg = "RATE",
     .doc = "learning rate (default: the model's own, see results/training.md)"},
    {.name = "momentum", .key = 'M', .arg = "M", .doc = "momentum of SGD (default 0.9)"},
    {.name = "optimizer",
     .key = KEY_OPTIMIZER,
     .arg = "NAME",
     .doc = "sgd, or adamw (default: adamw for gpt models, else sgd)"},
    {.name = "decay",
     .key = KEY_DECAY,
     .arg = "D",
     .doc = "weight decay of all parameters (default: 0.1 with adamw, 0 with sgd)"},
    {.name = "clip",
     .key = KEY_CLIP,
     .arg = "NORM",
     .doc = "the largest norm of all gradients together, behind their reduction; 0: any (default: "
            "1 with adamw, 0 with sgd)"},
    {.name = "warmup",
     .key = KEY_WARMUP,
     .arg = "STEPS",
     .doc = "let the rate rise for so many steps, then fall as a cosine to a tenth (default: with "
            "adamw a tenth of all steps, at most 100; with sgd the rate stays)"},
    {.name = "accumulate",
     .key = KEY_ACCUMULATE,
     .arg = "K",
     .doc = "run each batch in K parts of as many rows, whose gradients add up (default 1)"},
    {.name = "seed",
     .key = 's',
     .arg = "S",
     .doc = "seed of the split, the order of rows and the first parameters (default 1)"},
    {.name = "seeds",
     .key = 'N',
     .arg = "N",
     .doc = "run N trainings with the seeds S, S+1, ... and print their median"},
    {.name = "require",
     .key = 'r',
     .arg = "PERCENT",
     .doc = "exit with 1 if the median test accuracy is lower; of a text, if the median test loss "
            "is higher than this"},
    {.name = "against",
     .key = 'a',
     .arg = "LIST",
     .doc =
         "also train on these devices and compare; exit with 1 if the trainings diverge too far"},
    {.name = "against-backend",
     .key = 'A',
     .arg = "NAME",
     .doc = "backend of --against (default: that of its devices)"},
    {.name = "against-communicator",
     .key = KEY_AGAINST_COMMUNICATOR,
     .arg = "NAME",
     .doc = "communicator of --against (default: its backend's own)"},
    {.name = "prefetch",
     .key = 'p',
     .arg = "HOW",
     .doc = "on (default): a thread prepares the next batch; off"},
    {.name = "save", .key = 'S', .arg = "FILE", .doc = "write the weights to FILE"},
    {.name = "load", .key = 'L', .arg = "FILE", .doc = "start from these weights"},
    {.name = "out",
     .key = 'o',
     .arg = "FILE",
     .doc = "write a record as JSON Lines, a line per epoch"},
    {.name = "figure",
     .key = 'f',
     .arg = "DIR",
     .doc = "loss and accuracy by epoch, of a text loss by tokens, as train.svg and train.png"},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct train_options *options = state->input;
    const error_t status = command_once(state, option_table, key, &options->seen);

    return status ? status : parse_value(key, arg, state);
}

/* Checks that the options fit together. */
static int check_options(const char *command, const struct train_options *o)
{
    const char *what = NULL;

    if (o->against_backend[0] != '\0' && o->against[0] == '\0')
        what = "--against-backend needs --against LIST";
    else if (o->against_communicator[0] != '\0' && o->against[0] == '\0')
        what = "--against-communicator needs --against LIST";
    else if (o->against[0] != '\0' && o->seeds > 1)
        what = "--against compares one training: leave out --seeds";
    else if (o->against[0] != '\0' && o->epochs == 0)
        what = "--against needs a training: --epochs 1 at least";
    else if (o->save[0] != '\0' && o->seeds > 1)
        what = "--save writes the weights of one training: leave out --seeds";
    else if (o->load[0] != '\0' && o->seeds > 1)
        what = "--load starts one training: leave out --seeds";
    else if (o->figure[0] != '\0' && o->epochs == 0)
        what = "--figure needs a training: --epochs 1 at least";
    if (!what)
        return 0;
    command_complain(command, "%s", what);
    return command_misuse(command);
}

/* Checks the communicators. A training on the host needs none. */
static int check_communicators(const char *command, const struct train_options *o)
{
    const unsigned can = DP_COMM_PARALLEL | (o->ddp ? DP_COMM_RANKS : 0);
    const int status =
        o->processes.launcher[0] != '\0'
            ? 0
            : command_check_communicator(command, o->communicator, o->backend, o->devices, can);

    return status || o->against[0] == '\0'
               ? status
               : command_check_communicator(command, o->against_communicator, o->against_backend,
                                            o->against, can);
}

int train_parse(int argc, char **argv, struct train_options *options)
{
    const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
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

    *options = (struct train_options){.model = "mlp",
                                      .batch = 32,
                                      .epochs = 30,
                                      .seeds = 1,
                                      .seed = 1,
                                      .update = {.kind = TRAIN_OWN,
                                                 .lr = NAN,
                                                 .momentum = NAN,
                                                 .decay = NAN,
                                                 .clip = NAN,
                                                 .warmup = TRAIN_OWN_STEPS,
                                                 .parts = 1},
                                      .require = -1};
    command_default_devices(options->devices, sizeof options->devices);
    if (command_parse(&argp, argc, argv, options))
        return EXIT_MISUSE;
    if (options->backend[0] == '\0')
        snprintf(options->backend, sizeof options->backend, "%s",
                 command_default_backend(options->devices));
    if (options->against[0] != '\0' && options->against_backend[0] == '\0')
        snprintf(options->against_backend, sizeof options->against_backend, "%s",
                 command_default_backend(options->against));

    int status = check_options(argv[0], options);

    if (status == 0)
        status = train_check_launched(argv[0], options);
    return status ? status : check_communicators(argv[0], options);
}
