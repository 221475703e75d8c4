/* soak/main.c: `lockstep soak`: options, devices, exit status. */
#include "soak/soak.h"

#include <stdlib.h>

#include "command/command.h"
#include "files/files.h"
#include "text/alloc.h"
#include "verify/verify.h"

static const char DEFAULT_WORKLOAD[] = "mlp:512,512,512,64";

enum { ROWS_DEFAULT = 4096, ROWS_MOST = 1 << 20, ITERATIONS_MOST = 1000000000, SHOWN_DEFAULT = 20 };
enum { MINUTES_MOST = 60 * 24 * 30, LIMIT_MOST = 86400 };

static const char *const formats[] = {[SOAK_TEXT] = "text", [SOAK_JSON] = "json"};

#define AT(member) offsetof(struct soak_options, member)

static const struct command_option option_table[] = {
    {"minutes", 'm', "MINUTES", "run for so long, like 0.5 or 60; this or --iterations is required",
     COMMAND_REAL, .offset = AT(minutes), .from = 0.001, .to = MINUTES_MOST,
     .group = COMMAND_HOW_LONG},
    {"iterations", 'n', "N", "run so many iterations; with --minutes: at most so many",
     COMMAND_SIZE, .offset = AT(iterations), .least = 1, .most = ITERATIONS_MOST,
     .group = COMMAND_HOW_LONG},
    {"first", 0, "N",
     "begin with iteration N, to repeat it: its data follow from its number (default 1)",
     COMMAND_SIZE, .offset = AT(first), .least = 1, .most = SIZE_MAX / 4, .group = COMMAND_RARE},
    {"devices", 'd', "LIST", COMMAND_DEVICES_DOC " (default: one virtual device per core)",
     COMMAND_TEXT, COMMAND_FIELD(struct soak_options, devices), .group = COMMAND_WHAT},
    COMMAND_BACKEND_ROW(struct soak_options, backend),
    COMMAND_COMMUNICATOR_ROW(struct soak_options, communicator),
    COMMAND_REQUIRE_ROW(struct soak_options),
    {"workload", 'w', "NAME",
     "a model that rounds nothing, like mlp:SIZES, blocks or cnn (default mlp:512,512,512,64)",
     .kind = COMMAND_OWN, .group = COMMAND_WHAT},
    {"mode", 'M', "ddp|overlap|dp",
     "ddp (default): each device is a rank; its gradients are compared, and then their mean; "
     "overlap: buckets are reduced during backward, and only the mean is compared; dp: "
     "DataParallel, the sum of the gradients is compared",
     COMMAND_CHOICE, .offset = AT(mode), .most = SOAK_MODES, .names = soak_mode_words,
     .group = COMMAND_WHAT},
    {"batch", 'B', "N", "rows of each device (default 4096)", COMMAND_SIZE, .offset = AT(rows),
     .least = 1, .most = ROWS_MOST, .group = COMMAND_WHAT},
    {"seed", 'S', "N", "seed of the data (default 1)", COMMAND_SIZE, .offset = AT(seed),
     .most = SIZE_MAX, .group = COMMAND_RARE},
    {"timeout", 0, "SECONDS", "an iteration that takes longer is hung (default 60)", COMMAND_REAL,
     .offset = AT(limit), .from = 0.1, .to = LIMIT_MOST, .was = "limit", .group = COMMAND_RARE},
    {"spread", 0, "X",
     "a device is slow if its step takes more than 1 + X times as long as that of the "
     "others (default 0.05)",
     COMMAND_REAL, .offset = AT(spread), .from = 0.001, .to = 10, .group = COMMAND_RARE},
    {"show", 0, "N", "print the first N differences; all are counted (default 20)", COMMAND_SIZE,
     .offset = AT(shown), .most = ITERATIONS_MOST, .group = COMMAND_RARE},
    {"format", 'f', "text|json", "what to print (default text)", COMMAND_CHOICE,
     .offset = AT(format), .most = 2, .names = formats, .group = COMMAND_WHERE_TO},
    {0}};

static const char documentation[] =
    "Runs one training step on all devices again and again, and compares all results with the "
    "known answer, bit for bit."
    "\vAll devices have the same rows and parameters. In each iteration the outputs, the loss and "
    "the gradients of each device are compared with those of an independent model. Then the "
    "gradients are reduced, and the result is compared, too. A line about a difference names "
    "iteration, device, tensor, index, both bit patterns and their XOR. The run goes on, and "
    "counts all differences.\n\n"
    "A device is SLOW if it is shown to take more than 1 + spread times as long as the others. It "
    "is CLOCK DROPPED if it became that much slower during the run.\n\n"
    "A run that found a difference ends with a command, which repeats the iteration of the first "
    "one.\n\n"
    "Exit status: 0 nothing found; 1 a difference, a slow, dead or hung device, or with --mode "
    "overlap no bucket was reduced during backward; 2 misuse; 77 skipped: cuda:all where there are "
    "no GPUs; 130 interrupted: what was found is printed.\n\nExamples:\n"
    "  lockstep soak --minutes 60\n"
    "  lockstep soak --devices virt:2 --iterations 100 --workload mlp:64,64,8";

static bool is_known(const struct workload *workload)
{
    return workload_is_exact(workload) && verify_has_ranks(workload);
}

static error_t soak_option(int key, char *arg, struct argp_state *state)
{
    struct soak_options *o = command_input(state);
    char why[200], known[200];

    if (key == ARGP_KEY_END)
        return o->minutes == 0 && o->iterations == 0
                   ? command_bad_option(state, "how long? --minutes M, or --iterations N")
                   : 0;
    if (key != 'w')
        return command_key(key, arg, state);
    if (workload_parse(arg, &o->workload, why, sizeof why))
        return command_bad_option(state, "--workload: %s", why);
    if (is_known(&o->workload))
        return 0;
    workload_names(is_known, known, sizeof known);
    return command_bad_option(state,
                              "--workload: %.60s has no answer that is known to the bit on every "
                              "device; %s have",
                              arg, known);
}

static int soak_on(const char *command, struct dp_group *group, const struct soak_options *options)
{
    struct soak *soak = cli_alloc(1, sizeof *soak);
    struct dp_error err = {0};
    struct text_error why = {""};
    int status = EXIT_FAILED;

    soak->command = command;
    soak->options = options;
    if (soak_answer_open(options, dp_group_size(group), &soak->answer, &why)) {
        command_complain(command, "%s with --batch %zu: %s", options->workload.name, options->rows,
                         why.text);
        status = EXIT_MISUSE;
    } else if (soak_ranks_open(&soak->ranks, group, options, &soak->answer, &err)) {
        status = command_core_error(command, &err);
    } else {
        const struct soak_answer *a = &soak->answer;
        size_t largest = a->rows * a->width * (size_t)soak->ranks.n;
        struct soak_watch *watch;

        for (int p = 0; p < a->n_params; ++p)
            largest = a->count[p] > largest ? a->count[p] : largest;
        soak->rates.devices = soak->ranks.n;
        soak->found.finding = cli_alloc(SOAK_KEPT, sizeof *soak->found.finding);
        soak->room = calloc(largest, sizeof *soak->room);
        watch = soak_watch_open(soak);
        if (soak->room && watch)
            soak_iterate(soak);
        else
            command_complain(command, "out of memory, or of threads");
        soak_watch_close(watch);
        if (soak->room && watch)
            status = soak_conclude(soak);
    }
    soak_ranks_close(&soak->ranks);
    soak_answer_close(&soak->answer);
    free(soak->room);
    free(soak->found.finding);
    free(soak);
    return status;
}

/* The communicator must be able to do this. */
static const unsigned needs[SOAK_MODES] = {[SOAK_DDP] = DP_COMM_RANKS,
                                           [SOAK_OVERLAP] = DP_COMM_RANKS | DP_COMM_OVERLAP,
                                           [SOAK_DP] = DP_COMM_PARALLEL};

int soak_main(int argc, char **argv)
{
    const struct command_syntax syntax = {
        .options = option_table, .what = "What to run", .other = soak_option, .doc = documentation};
    struct soak_options options = {.rows = ROWS_DEFAULT,
                                   .shown = SHOWN_DEFAULT,
                                   .limit = 60,
                                   .spread = 0.05,
                                   .seed = 1,
                                   .first = 1};
    struct dp_group *group = NULL;
    int status;

    if ((status = command_read(&syntax, argc, argv, &options)))
        return status;
    char why[200];

    if (options.workload.n_sizes == 0 &&
        workload_parse(DEFAULT_WORKLOAD, &options.workload, why, sizeof why))
        abort(); /* it is one of ours */
    if (options.devices[0] == '\0')
        command_default_devices(options.devices, sizeof options.devices);
    stop_watch_signals();
    const struct dp_group_config config = {.devices = options.devices,
                                           .backend = command_given(options.backend),
                                           .communicator = command_given(options.communicator),
                                           .bind = true};

    if ((status = command_check_communicator(argv[0], options.communicator, options.backend,
                                             options.devices, needs[options.mode])))
        return status;
    if ((status = command_open_group(argv[0], &config, options.required, &group)))
        return status;
    struct dp_slot_info info = {.lag = false};

    if (dp_group_size(group) > 0)
        dp_slot_describe(dp_group_slot(group, 0), &info);
    if (dp_group_size(group) < 1)
        status = command_refuse(argv[0], "--devices: '%s' has no devices", options.devices);
    else if (info.lag) /* late devices compute in order, but their times mean nothing */
        status = command_refuse(argv[0], "--devices: '%s' runs late on purpose; use virt:N",
                                options.devices);
    else
        status = soak_on(argv[0], group, &options);
    status = command_ended(argv[0], group, status);
    dp_group_close(group);
    return status;
}
