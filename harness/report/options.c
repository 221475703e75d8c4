/* report/options.c: the options of `lockstep report`, and which of them go together. */
#include "command/command.h"
#include "report/page.h"
#include "text/quantity.h"

/* Options without a letter. */
enum { KEY_PEAK = 256, KEY_SLIDE };

#define REPORT_OPTION(member)                                                                      \
    .kind = COMMAND_POINTER, .offset = offsetof(struct report_arguments, member)
static const struct command_option option_table[] = {
    {"out", 'o', "DIR",
     "write the report into DIR, which is created if missing (required without --format)",
     REPORT_OPTION(out), .group = COMMAND_WHERE_TO},
    {"check", 'c', "FILE",
     "a result of `lockstep check --format json`: adds a page about conformance",
     REPORT_OPTION(check), .group = COMMAND_WHAT},
    {"peer", 'p', "FILE",
     "a record of `scripts/compare-pytorch`: adds a section and a figure next to PyTorch",
     REPORT_OPTION(peer), .group = COMMAND_WHAT},
    {"limits", 'l', "FILE",
     "what `lockstep sweep limits --format json` measured here: adds each phase of each workload "
     "against its limit, as a figure and a table",
     REPORT_OPTION(limits), .group = COMMAND_WHAT},
    {"beside", 'b', "FILE",
     "what nccl-tests printed, or wrote with -J, of one collective: its bandwidths next to those "
     "of the same collectives here; can be repeated. Or what nvbandwidth wrote with -j, next to "
     "the copies of `sweep --parts`",
     .repeated = true, .group = COMMAND_WHAT},
    {"peak", KEY_PEAK, "RATE",
     "the most operations per second of one device in the math of these records, dense, as its "
     "data sheet has it, like 494.5TFLOP/s: adds the share of it that the tokens of language "
     "models take",
     .kind = COMMAND_OWN, .group = COMMAND_RARE},
    {"slide", KEY_SLIDE, NULL,
     "also write slide.png (1920 x 1080) and slide.svg: DataParallel and DDP against the fastest "
     "single process, of at most four settings, with three sentences",
     COMMAND_FLAG, .offset = offsetof(struct report_arguments, slide), .group = COMMAND_RARE},
    {"strict", 0, NULL, "exit with 1 if the answer is not certain", COMMAND_FLAG,
     .offset = offsetof(struct report_arguments, strict), .group = COMMAND_RARE},
    {"format", 'f', REPORT_FORMAT_NAMES "|nccl-tests",
     "instead of a report print the numbers, for other programs: md for the summary of a job, bmf "
     "for Bencher, annotations for GitHub Actions",
     .kind = COMMAND_OWN, .group = COMMAND_WHERE_TO},
    {.name = NULL}};

#define FIGURE_NAME(id, name, title) " " #name
#define FIGURE_NAMES                 REPORT_FIGURE_LIST(FIGURE_NAME)
static const char documentation[] =
    "Makes a report of one or more record files of `lockstep sweep`, all of one machine."
    "\vWrites DIR/index.html (one self-contained page), summary.md (short, for a CI job), and the "
    "figures as NAME.svg and NAME.png with their data and scripts, those that have something to "
    "show of:" FIGURE_NAMES ". "
    "Prints the path of the page, and the answer. With --check also DIR/conformance.html; without "
    "record files only that, and with --peer a page about the comparison only.\n\n"
    "If a launch is in two files, its line in the later file counts.\n\n"
    "With --format a cell has numbers only if all its planned launches are verified: medians over "
    "launches, and their intervals.\n\n"
    "Exit status: 0 every planned launch is verified; 1 the report was written, but a planned "
    "launch failed or is missing, or the slide has nothing to show, or a figure is missing because "
    "gnuplot is missing or failed, or the result of --check is not a pass, or a file of --beside "
    "has wrong numbers or an error, or with --strict the answer is not certain; 2 misuse, "
    "unreadable or torn input, or output that cannot be "
    "written; 3 the files are of different machines or GPU software and nothing was written, or no "
    "launch is verified and the page says so; 130 interrupted.\n\nExamples:\n"
    "  lockstep report my.jsonl --out my-report\n"
    "  lockstep report my.jsonl --format csv >my.csv";

static const double PEAK_MOST = 1e21;

static error_t check_arguments(const struct argp_state *state,
                               const struct report_arguments *arguments)
{
    static const char *const others[] = {"out", "check", "peer", "limits", "beside", "slide"};

    for (const struct command_option *o = option_table; o->kind == COMMAND_POINTER; ++o) {
        const char *name = *(const char *const *)((const char *)arguments + o->offset);

        if (name && name[0] == '\0')
            return command_bad_option(state, "--%s is empty: name a %s", o->name,
                                      o->key == 'o' ? "directory" : "file");
    }
    if (arguments->format == REPORT_PAGE)
        return arguments->out
                   ? 0
                   : command_bad_option(state, "--out DIR is missing: where the report should go");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
        if (command_seen(state, others[i]))
            return command_bad_option(
                state,
                "--format prints the numbers of record files on standard output: leave out --%s",
                others[i]);
    if (arguments->peak > 0.0 && arguments->format != REPORT_SUMMARY)
        return command_bad_option(
            state, "--peak is for reports and for --format md: other formats have no share of it");
    return 0;
}

static error_t parse_report_option(int key, char *value, struct argp_state *state)
{
    struct report_arguments *arguments = command_input(state);
    const char *names[REPORT_PAGE];
    struct text_error why;

    switch (key) {
    case 'b':
        if (value[0] == '\0')
            return command_bad_option(state, "--beside is empty: name a file");
        if (arguments->n_external == REPORT_EXTERNAL_MOST)
            return command_bad_option(state, "--beside: at most %d are allowed",
                                      REPORT_EXTERNAL_MOST);
        arguments->external[arguments->n_external++] = value;
        return 0;
    case KEY_PEAK:
        if (quantity_read(value, QUANTITY_WORK, &arguments->peak, &why) != 0)
            return command_bad_option(state, "--peak: %s", why.text);
        if (!(arguments->peak >= 1.0 && arguments->peak <= PEAK_MOST))
            return command_bad_option(
                state, "--peak: '%.60s' is outside 1 FLOP/s to 1000000 PFLOP/s", value);
        return 0;
    case 'f':
        for (size_t i = 0; i < REPORT_FORMATS; ++i)
            names[i] = report_format_name(i);
        names[REPORT_NCCL_TESTS] = "nccl-tests";
        return command_choice(state, "format", "format", value, names, REPORT_PAGE,
                              &arguments->format);
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* argp then passes all of them together, as ARGP_KEY_ARGS */
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->n_files = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (arguments->n_external > 0)
            return command_bad_option(
                state, "--beside stands next to collectives or copies in record files: name one");
        if (arguments->limits || arguments->peak > 0.0 || arguments->slide)
            return command_bad_option(state, "--%s stands next to cells in record files: name one",
                                      arguments->limits       ? "limits"
                                      : arguments->peak > 0.0 ? "peak"
                                                              : "slide");
        if (!arguments->check && !arguments->peer)
            return command_bad_option(
                state, "no record file: name at least one, as `lockstep sweep` writes them");
        return 0;
    case ARGP_KEY_END:
        return check_arguments(state, arguments);
    default:
        return command_key(key, value, state);
    }
}

int report_options(int argc, char **argv, struct report_arguments *arguments)
{
    static const struct command_syntax syntax = {.options = option_table,
                                                 .what = "What to show",
                                                 .args_doc = "F.jsonl...",
                                                 .doc = documentation,
                                                 .other = parse_report_option};

    *arguments = (struct report_arguments){.format = REPORT_PAGE};
    return command_read(&syntax, argc, argv, arguments);
}
