/* forecast/main.c: `lockstep forecast`: options, reading, refusing, and printing. */
#include "forecast/forecast.h"

#include "command/command.h"
#include "machine/machine.h"
#include "record/files.h"
#include "text/alloc.h"

#include <stdlib.h>

/* A line has no number. */
enum { EXIT_NOT_RESOLVED = 3, KEY_DIRTY = 256 };

static const char NAME[] = "lockstep forecast";

struct arguments {
    size_t to, format;
    bool allow_dirty;
    const char *platform;
    double timeout;
    struct command_files files;
};

static void (*const writers[])(FILE *stream, const struct forecast *forecast) = {
    forecast_text, forecast_json, forecast_csv, forecast_markdown};
enum { FORMS = sizeof writers / sizeof writers[0] };
static const char *const names[FORMS] = {"text", "json", "csv", "md"};

static const struct command_option option_table[] = {
    {"to", 't', "N", "forecast 1, 2, 4, .. up to N ranks (required; at most 65536)", COMMAND_SIZE,
     .offset = offsetof(struct arguments, to), .least = 1, .most = FORECAST_TO,
     .group = COMMAND_WHAT},
    {"simulate", 's', "PLATFORM",
     "also simulate the steps with SMPI of SimGrid, on a network: fitted (made of the measured "
     "times), the name of a shipped platform, or a FILE.xml of SimGrid",
     COMMAND_POINTER, .offset = offsetof(struct arguments, platform), .group = COMMAND_WHAT},
    {"timeout", 'T', "SECONDS", "end a simulation that takes longer (default 120)", COMMAND_REAL,
     .offset = offsetof(struct arguments, timeout), .from = 0.1, .to = 86400,
     .group = COMMAND_RARE},
    {"format", 'f', "text|json|csv|md", "what to print (default text)", COMMAND_CHOICE,
     .offset = offsetof(struct arguments, format), .most = FORMS, .names = names,
     .group = COMMAND_WHERE_TO},
    {"allow-dirty", KEY_DIRTY, NULL,
     "accept records of a program built from a tree with uncommitted changes", COMMAND_FLAG,
     .offset = offsetof(struct arguments, allow_dirty), .group = COMMAND_RARE},
    {0}};

static const char documentation[] =
    "Forecasts the time of DistributedDataParallel steps on more ranks, from records of `lockstep "
    "sweep --mode ddp`, all of one machine."
    "\vThe time of a step has two parts: what a rank computes, which is a straight line over its "
    "rows; and what its reduction takes that no computation hides. A reduction is a number of "
    "transfers. Each takes alpha, and beta for each byte. Next to each measured point is the "
    "forecast of a fit without that point, and its error. The interval is that over launches, made "
    "wider on both sides by the largest of these errors. A line beyond twice the measured ranks "
    "says *extrapolated*.\n\n"
    "With --simulate each line also has the time of the same step in the simulator. On `fitted` a "
    "message takes alpha and beta; on any other platform its time was not measured.\n\n"
    "Exit status: 0 every line has a number; 2 misuse, unreadable or torn input, or records that "
    "no forecast can be made of: unverified, of different machines, without mode ddp, with too few "
    "counts of ranks, or those that `lockstep compare` refuses; 3 a line has no number, or was not "
    "simulated.\n\nExamples:\n"
    "  lockstep forecast my.jsonl --to 64\n"
    "  lockstep forecast my.jsonl --to 64 --simulate fitted";

static error_t check_call(int key, char *value, struct argp_state *state)
{
    const struct arguments *arguments = command_input(state);

    if (key != ARGP_KEY_END)
        return command_key(key, value, state);
    if (arguments->files.n == 0)
        return command_bad_option(
            state, "no record file: name at least one, as `lockstep sweep` writes them");
    return arguments->to > 0 ? 0
                             : command_bad_option(state, "--to N is missing: up to how many ranks");
}

int forecast_main(int argc, char **argv)
{
    static const struct command_syntax syntax = {.options = option_table,
                                                 .what = "What to forecast",
                                                 .args_doc = "F.jsonl...",
                                                 .doc = documentation,
                                                 .other = check_call,
                                                 .files = true,
                                                 .files_at = offsetof(struct arguments, files)};
    struct arguments arguments = {.timeout = 120};

    if (command_read(&syntax, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    struct report report = {.file = cli_alloc(arguments.files.n, sizeof *report.file)};
    const enum provenance_dirty dirty = arguments.allow_dirty ? PROVENANCE_TAKEN : PROVENANCE_ASKED;
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];
    int status = 0;

    for (size_t f = 0; f < arguments.files.n && status == 0; ++f) {
        const char *const path = arguments.files.path[f];
        const struct record_run *first = &report.file[0].run, *run = &report.file[f].run;

        status = input_records(NAME, path, false, NULL, &report.file[f]);
        if (status != 0)
            break;
        report.n_files = f + 1;
        if (provenance_doubts(run, dirty, doubt) > 0)
            status = command_refuse(NAME, "%s: it is of %s", path, doubt[0]);
        else if (!report_same_machine(first, run))
            status =
                command_refuse(NAME, "the machines differ: %s is of node %s, %s of node %s",
                               arguments.files.path[0], first->node_hash, path, run->node_hash);
    }
    if (status == 0)
        status = report_rows_make(NAME, &report);
    if (status == 0) {
        struct forecast forecast = {
            .report = &report,
            .to = (int)arguments.to,
            .simulation = {.platform = arguments.platform, .timeout = arguments.timeout}};
        struct text_error why = {{0}};

        if (forecast_gather(&forecast, &why) != 0 || forecast_fill(&forecast, &why) != 0 ||
            (arguments.platform && forecast_simulate(&forecast, &why) != 0)) {
            status = command_refuse(NAME, "%s", why.text);
        } else {
            writers[arguments.format](stdout, &forecast);

            const struct forecast_counts counts = forecast_count(&forecast);

            status = counts.without > 0 || counts.not_simulated > 0 ? EXIT_NOT_RESOLVED : 0;
            if (counts.without > 0)
                command_complain(NAME, "%zu of %zu lines %s no number: the last column says why",
                                 counts.without, counts.lines,
                                 counts.without == 1 ? "has" : "have");
            else if (counts.not_simulated > 0)
                command_complain(
                    NAME, "%zu of %zu lines %s not simulated: the last column says why",
                    counts.not_simulated, counts.lines, text_were(counts.not_simulated));
        }
        forecast_free(&forecast);
    }
    report_rows_free(&report);
    for (size_t f = 0; f < report.n_files; ++f)
        record_file_free(&report.file[f]);
    free(report.file);
    return status;
}
