/* soak/selftest.c: `lockstep soak selftest`: a table of faults, and which detector finds each. */
#include "numbers/stats.h"
#include "soak/soak.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "command/command.h"
#include "files/files.h"
#include "launch/child.h"
#include "text/alloc.h"

enum { FLIPS = 100, FLIPS_QUICK = 5, FLIPS_MOST = 100000, FLIP_ITERATIONS = 6, SECONDS = 120 };
enum { LINE_BYTES = 256, WORDS = 18 }; /* of a run of soak */

/* Values are compared in steps that are short, rates in steps that are long enough to be judged. */
static const struct selftest_setting values = {"ddp", "mlp:24,16,8", "40", "0.5", 3};
static const struct selftest_setting beside = {"overlap", "mlp:24,16,8", "40", "0.5", 3};
static const struct selftest_setting rates = {"ddp", "mlp:256,256,64", "1024", "0.5", 2};

static const struct selftest_case rows[] = {
    {"one bit flips", "flip", &values, 5, 12, 1, "", .detector = SELFTEST_RESULT},
    {"three bits flip", "flips", &values, 6, 12, 2, "", .detector = SELFTEST_RESULT},
    {"a row is stuck", "row", &values, 7, 12, 0, "", .detector = SELFTEST_RESULT},
    {"NaN", "nan", &values, 8, 12, 1, "", .detector = SELFTEST_RESULT},
    {"a bucket is dropped", "drop", &values, 9, 12, 2, "", .detector = SELFTEST_MEAN},
    {"a bucket is doubled", "double", &values, 10, 12, 0, "", .detector = SELFTEST_MEAN},
    {"a bucket is stale", "stale", &values, 11, 12, 1, "", .detector = SELFTEST_MEAN},
    {"dropped, overlapped", "drop", &beside, 9, 12, 2, "", .detector = SELFTEST_MEAN},
    {"doubled, overlapped", "double", &beside, 10, 12, 0, "", .detector = SELFTEST_MEAN},
    {"stale, overlapped", "stale", &beside, 11, 12, 1, "", .detector = SELFTEST_MEAN},
    {"a device is dead", "dead", &values, 4, 12, 2, "", .detector = SELFTEST_DEAD},
    {"a device hangs", "hang", &values, 3, 12, 0, "", .detector = SELFTEST_LIMIT},
    {"a device is slow", "slow", &rates, 1, 112, 1, "/200", .detector = SELFTEST_SPEED},
    {"a clock drops", "slow", &rates, 120, 240, 1, "/200", .detector = SELFTEST_DROP},
    {"no fault", NULL, &values, 0, 400, -1, "", .detector = SELFTEST_DETECTORS},
    {"no fault, overlapped", NULL, &beside, 0, 400, -1, "", .detector = SELFTEST_DETECTORS},
    {"no fault, long steps", NULL, &rates, 0, 112, -1, "", .detector = SELFTEST_DETECTORS},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

enum form { FORM_TEXT, FORM_JSON, FORM_SETS, FORMS = FORM_SETS + 4 };
static const char *const form_names[FORMS] = {"text", "json",        "junit",
                                              "csv",  "openmetrics", "annotations"};
static const enum export_format sets[FORMS - FORM_SETS] = {EXPORT_JUNIT, EXPORT_CSV,
                                                           EXPORT_OPENMETRICS, EXPORT_ANNOTATIONS};

struct arguments {
    const char *command;
    size_t flips, form, seed;
    bool quick;
};

/* ---- a run ------------------------------------------------------------------------------- */

/* Runs this program, and drops its complaints: its status shows that a fault was not found. 0, or
 * an exit status after a complaint. */
static int run_row(const struct arguments *arguments, struct selftest_case *row)
{
    const struct selftest_setting *setting = row->setting;
    char fault[48] = "", line[LINE_BYTES], *argument[WORDS + 1], *rest = line;
    const struct launch_how how = {.program = "/proc/self/exe",
                                   .argument = argument,
                                   .heard = LAUNCH_OUTPUT_ALONE,
                                   .seconds = SECONDS};
    struct program output;
    int n = 0;

    if (row->fault)
        snprintf(fault, sizeof fault, "+fault:%s@%u/%d%s", row->fault, row->step, row->device,
                 row->percent);
    snprintf(line, sizeof line,
             "lockstep soak --devices virt:%d%s --iterations %u --mode %s --workload %s --batch %s "
             "--spread %s --timeout %d --format json",
             setting->devices, fault, row->iterations, setting->mode, setting->workload,
             setting->batch, setting->spread, row->detector == SELFTEST_LIMIT ? 3 : 60);
    while (n < WORDS && (argument[n] = strtok_r(NULL, " ", &rest)))
        ++n;
    argument[n] = NULL;
    if (launch_program(&how, &output) != 0) {
        command_complain(arguments->command, "a process for a run of soak: %s", strerror(errno));
        return EXIT_FAILED;
    }
    row->seen.status = WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
    selftest_read(output.text ? output.text : "", output.length, row->device, &row->seen);
    free(output.text);
    return output.interrupted ? EXIT_INTERRUPTED : 0;
}

/* A change of speed is found in the iterations around it, all else in the one where it is. */
static bool is_there(const struct selftest_case *row)
{
    const uint64_t at = row->seen.at[row->detector];

    return row->detector == SELFTEST_DROP ? at * 5 >= row->step * 4 && at * 5 <= row->step * 6
                                          : at == row->step;
}

static const char *verdict_of(const struct selftest_case *row)
{
    const struct selftest_seen *seen = &row->seen;

    if (!seen->understood)
        return "FAILED: the run did not end as it should";
    if (row->setting == &beside && seen->beside == 0)
        return "FAILED: no bucket was reduced while backward went on";
    if (row->setting == &rates && seen->unjudged)
        return "FAILED: the speed of a device was not judged";
    if (!row->fault)
        return seen->findings == 0 && seen->status == EXIT_PASSED ? "silent"
                                                                  : "FAILED: something was found";
    if (seen->findings == 0 || seen->status != EXIT_FAILED)
        return "FAILED: not found";
    if (!is_there(row))
        return "FAILED: found by another detector, or in another iteration";
    return seen->elsewhere == 0 ? "right" : "FAILED: another device, or none, is named";
}

/* The rows of the table, then many flips at drawn places. 0, or an exit status. */
static int run_rows(const struct arguments *arguments, struct selftest *t)
{
    const bool text = arguments->form == FORM_TEXT;

    if (text)
        selftest_text_heading();
    for (size_t i = 0; i < ROWS + arguments->flips; ++i) {
        const uint64_t draw = random_mixed((arguments->seed + 1) * 0x9e3779b97f4a7c15U + i - ROWS);
        struct selftest_case *item = &t->item[t->n];

        if (i < ROWS)
            *item = rows[i];
        else
            *item = (struct selftest_case){"a flip",
                                           "flip",
                                           &values,
                                           (unsigned)(1 + draw % FLIP_ITERATIONS),
                                           FLIP_ITERATIONS,
                                           (int)((draw >> 32) % (uint64_t)values.devices),
                                           "",
                                           .detector = SELFTEST_RESULT,
                                           .drawn = true};
        const struct selftest_seen *seen = &item->seen;
        const bool drawn = item->drawn;
        const int status = run_row(arguments, item);

        if (status)
            return status;
        /* A drawn flip is one bit, and only one: in that iteration, on that device. */
        const uint64_t bits = seen->wrong_bits;
        const bool one_bit = seen->understood && seen->status == EXIT_FAILED && is_there(item) &&
                             seen->findings == 1 && seen->elsewhere == 0 && bits != 0 &&
                             (bits & (bits - 1)) == 0;

        item->verdict = !drawn    ? verdict_of(item)
                        : one_bit ? "right"
                                  : "FAILED: not one bit, in that iteration, on that device";
        const bool wrong = selftest_wrong(item);

        ++t->n;
        t->sums.wrong += wrong;
        t->sums.found += !drawn && item->fault && !wrong;
        t->sums.silent += !drawn && !item->fault && !wrong;
        t->sums.flips += drawn;
        t->sums.flips_right += drawn && !wrong;
        if (text && (!drawn || wrong))
            selftest_text_case(item);
    }
    return 0;
}

/* ---- the command ------------------------------------------------------------------------- */

enum { KEY_FLIPS = 256 };

static const struct command_option option_table[] = {
    {"flips", KEY_FLIPS, "N", "also flip N single bits, at random places (default 100)",
     COMMAND_SIZE, .offset = offsetof(struct arguments, flips), .most = FLIPS_MOST,
     .group = COMMAND_WHAT},
    {"seed", 'S', "N", "seed of these places (default 1)", COMMAND_SIZE,
     .offset = offsetof(struct arguments, seed), .most = SIZE_MAX, .group = COMMAND_RARE},
    {"quick", 'q', NULL, "flip only 5 bits, as --flips 5 does", COMMAND_FLAG,
     .offset = offsetof(struct arguments, quick), .group = COMMAND_WHAT},
    {"format", 'f', "text|json|junit|csv|openmetrics|annotations",
     "what to print (default text); annotations are for the log of GitHub Actions", COMMAND_CHOICE,
     .offset = offsetof(struct arguments, form), .most = FORMS, .names = form_names,
     .group = COMMAND_WHERE_TO},
    {0}};

static const char documentation[] =
    "Plants faults in virtual devices, and shows that lockstep soak finds each of them, and "
    "nothing where there is none."
    "\vA row of the table is a fault, with its device and the step in which it begins. A column is "
    "a detector, with the first iteration in which it found something: a device's own results, the "
    "mean of the gradients, an error, the time limit, the speed against the other devices, a "
    "change of that speed. A row is right if the detector for this fault found it in that step, "
    "and every finding names that device. Without a fault nothing may be found.\n\n"
    "Exit status: 0 all as it should be; 1 a fault was not found, or something was found without "
    "one; 2 misuse; 130 interrupted.\n\nExamples:\n"
    "  lockstep soak selftest --quick\n"
    "  lockstep soak selftest --flips 1000 --format junit >selftest.xml";

int selftest_main(int argc, char **argv)
{
    const struct command_syntax syntax = {
        .options = option_table, .what = "What to run", .doc = documentation};
    struct arguments arguments = {.flips = SIZE_MAX, .seed = 1};
    struct selftest t = {.item = NULL};
    int status;

    if ((status = command_read(&syntax, argc, argv, &arguments)))
        return status;
    if (arguments.flips == SIZE_MAX)
        arguments.flips = arguments.quick ? FLIPS_QUICK : FLIPS;
    arguments.command = argv[0];
    t.sums.seed = arguments.seed;
    stop_watch_signals();
    t.item = cli_alloc(ROWS + arguments.flips, sizeof *t.item);
    status = run_rows(&arguments, &t);
    /* An interruption leaves the findings before it, which are still printed. */
    t.sums.interrupted = status == EXIT_INTERRUPTED;
    if (status != EXIT_FAILED) {
        if (arguments.form == FORM_TEXT)
            selftest_text_end(&t.sums);
        else if (arguments.form == FORM_JSON)
            selftest_json(stdout, &t);
        else
            selftest_export(stdout, &t, sets[arguments.form - FORM_SETS]);
    }
    if (status == 0 && t.sums.wrong > 0)
        status = EXIT_FAILED;
    free(t.item);
    return status;
}
