/* compare/main.c: `lockstep compare`: its options, and the order of reading, judging and
 * printing. */
#include "compare/baseline.h"
#include "compare/pairs.h"

#include "command/command.h"
#include "record/files.h"

#include <stdlib.h>
#include <string.h>

static const char NAME[] = "lockstep compare";

enum { KEY_DIRTY = 256, KEY_PAIRS, KEY_BASELINE, KEY_FOLDER, KEY_STRICT, KEY_LENIENT };

struct arguments {
    struct compare *compare;
    struct baseline_options baseline; /* without a name, two files are compared */
    int strict;                       /* -1: not given */
    size_t format;
    uint64_t seen; /* options that were given */
};

/* The options of pairs are listed here for the help text, and refused without --ab (pairs_options.c
 * reads them). */
static const struct argp_option option_table[] = {
    {"ab", KEY_PAIRS, "OLD", 0,
     "With NEW after it: measure two builds of lockstep in interleaved pairs, on the cells that "
     "options of `lockstep sweep` say",
     0},
    {"aa", KEY_PAIRS, "PROGRAM", 0,
     "Measure a build with itself so: whether this machine is fit for comparisons of these cells",
     0},
    {"a", KEY_PAIRS, "OPTIONS", 0, "With --b: compare two sets of options of this build so", 0},
    {"b", KEY_PAIRS, "OPTIONS", 0, "The other set: NEW", 0},
    {"pairs", KEY_PAIRS, "N", 0, "Pairs of each cell (default 12, or what so many cells take)", 0},
    {"looks", KEY_PAIRS, "N", 0,
     "2: judge after that many pairs, and, if it is not settled, again after as many more (default "
     "1)",
     0},
    {"figure", KEY_PAIRS, "DIR", 0, "Draw the ratios of all cells: DIR/forest.svg and .png", 0},
    {"out", KEY_PAIRS, "FILE", 0, "Keep all pairs and verdicts, as JSON Lines", 0},
    {"baseline", KEY_BASELINE, "NAME", 0,
     "Hold one file against the sessions that `lockstep compare baseline add` put into NAME", 0},
    {"dir", KEY_FOLDER, "DIR", 0, "Where baselines are (default " BASELINE_FOLDER ")", 0},
    {"strict", KEY_STRICT, NULL, 0,
     "Exit with 4 if something is INCONCLUSIVE, or no gate (default if CI=true)", 0},
    {"no-strict", KEY_LENIENT, NULL, 0, "Exit with 0 then", 0},
    {"exact", 'e', NULL, 0, "Exit with 1 if an exact number CHANGED", 0},
    {"allow-dirty", KEY_DIRTY, NULL, 0, "Take programs that were built from changed trees", 0},
    {"allow-disturbed", KEY_PAIRS, NULL, 0,
     "Judge pairs all the same while which other programs or other machines had the cores", 0},
    {"format", 'f', "text|json|md|csv|bmf|github|openmetrics|annotations|junit", 0,
     "What to print (default text): md for a job's summary, bmf for Bencher, github for "
     "github-action-benchmark, annotations for GitHub Actions",
     0},
    {0}};

static const char documentation[] =
    "Compares two builds, measured in pairs (--ab), a record file of `lockstep sweep` with a "
    "baseline, or two of them: cell by cell, B against A."
    "\v--ab OLD NEW, with options of `lockstep sweep`, is evidence of class I: launches of both, "
    "next to each other, in an order that is drawn for each pair. A cell, or all together, is "
    "REGRESSED if an exact signed rank test shows that NEW is more than 1 % slower (0.04 for the "
    "cells, by Holm, and 0.01 for all together), by 2 % or more; IMPROVED, likewise; EQUIVALENT "
    "if the simultaneous interval lies within 3 %; else INCONCLUSIVE. A cell with a launch that "
    "is not verified is INVALID, and so is one of which more than 25 % of the pairs were "
    "disturbed by other programs or machines, without --allow-disturbed; what is shown has to be "
    "shown without the disturbed pairs, too. Exit status: 0 nothing regressed; 1 REGRESSED, or "
    "with --exact an exact number CHANGED; 2 misuse, or a program that is no such build; 3 "
    "something is INVALID, or OLD and NEW are the same program and were told apart; 4 with "
    "--strict: something is INCONCLUSIVE; 130 interrupted.\n\n"
    "--aa PROGRAM compares a program with itself. Nothing is slower than itself, so what is found "
    "is the machine's. Exit status: 0 FIT: no false alarm, and 5 % is found in each cell; 3 NOT "
    "FIT: a false alarm, or something is INVALID; 4 TOO NOISY: no false alarm, and 5 % is not "
    "found.\n\n"
    "--baseline NAME is evidence of class II: one session against the history of many, see "
    "`lockstep compare baseline`. A cell is REGRESSED if the interval in which one more session "
    "like the "
    "others lies (Student's t, 0.05 shared by the cells) puts it more than 1 % above them, and by "
    "2 % or more; IMPROVED and EQUIVALENT likewise. With fewer than 6 sessions everything is "
    "INVALID; with fewer than 10 the verdicts are not a gate, and REGRESSED does not fail. Exit "
    "status as with --ab; with --strict also 4 if it is not a gate.\n\n"
    "Two files are two sessions, which differ for reasons of the machine, too: this is evidence "
    "of class III. It is never a pass and never a gate. A cell is SUSPECT if its launches differ "
    "by an exact rank sum test, adjusted by Holm over all cells, at p <= 0.05, and by more than 5 "
    "%; else there is NO EVIDENCE. A launch counts as its floor: the 5th percentile of its steps "
    "after the warm-up from 40 steps on, the 10th from 20 on, else the minimum. Both sides use "
    "the rule that the one with fewer steps allows.\n\n"
    "Times are INVALID if the files are of different or unknown classes of machine, of other "
    "build types, of sanitizers, of a changed tree, or simulated; a cell is INVALID if it is "
    "oversubscribed, has a launch that is not verified, or has too few launches. Another commit, "
    "environment, driver or start of the machine is said.\n\n"
    "Bytes moved, peak memory, work, shards and parameters have to be the same on any machine: "
    "each that is not is CHANGED.\n\n"
    "Exit status of two files: 0 all cells in both files were compared, SUSPECT ones included; 1 "
    "with --exact: an exact number CHANGED, whatever the times say; 2 misuse, unreadable or torn "
    "input, or no cell is in both files; 3 something is INVALID.";

/* With a baseline there is one file, and options are allowed that two files do not have. */
static error_t check_end(const struct arguments *arguments, struct argp_state *state)
{
    if (arguments->baseline.name)
        return state->arg_num == 1
                   ? 0
                   : command_bad_option(state,
                                        "%u record files: --baseline NAME takes one, the new "
                                        "session",
                                        state->arg_num);
    if (arguments->strict >= 0)
        return command_bad_option(state, "--strict and --no-strict are of --ab OLD NEW, of --a and "
                                         "--b, and of --baseline");
    if (arguments->baseline.folder)
        return command_bad_option(state, "--dir is of --baseline NAME");
    if (state->arg_num < COMPARE_SIDES)
        return command_bad_option(state,
                                  "%u of 2 record files: name A and B, as `lockstep "
                                  "sweep` writes them",
                                  state->arg_num);
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct compare *compare = arguments->compare;
    const char *names[COMPARE_FORMATS];
    const error_t status = command_once(state, option_table, key, &arguments->seen);

    if (status)
        return status;
    for (size_t i = 0; i < COMPARE_FORMATS; ++i)
        names[i] = compare_format_name(i);
    switch (key) {
    case 'e':
        compare->exact = true;
        return 0;
    case KEY_DIRTY:
        compare->allow_dirty = true;
        return 0;
    case KEY_PAIRS:
        return command_bad_option(
            state,
            "--pairs, --looks, --figure, --out and --allow-disturbed are of --ab OLD NEW, of "
            "--aa, or of --a and --b");
    case KEY_BASELINE:
        arguments->baseline.name = value;
        return 0;
    case KEY_FOLDER:
        arguments->baseline.folder = value;
        return 0;
    case KEY_STRICT:
    case KEY_LENIENT:
        if (arguments->strict >= 0)
            return command_bad_option(state, "--strict and --no-strict exclude each other");
        arguments->strict = key == KEY_STRICT;
        return 0;
    case 'f':
        return command_choice(state, "format", "format", value, names, COMPARE_FORMATS,
                              &arguments->format);
    case ARGP_KEY_ARG:
        if (state->arg_num >= COMPARE_SIDES)
            return command_bad_option(state, "'%.60s' is a third file: two are compared", value);
        compare->path[state->arg_num] = value;
        return 0;
    case ARGP_KEY_END:
        return check_end(arguments, state);
    default:
        return command_key(key, value, state);
    }
}

static int compare_two(struct compare *compare, size_t format)
{
    struct record_file *file = compare->file;
    struct text_error why = {"A and B hold the same run: a launch counts once"};

    /* The rows of a file are those of the report, with their verification. */
    for (int side = 0; side < COMPARE_SIDES; ++side) {
        if (input_steps(NAME, compare->path[side], &file[side]) != 0)
            return EXIT_MISUSE;
        compare->report[side] = (struct report){.file = &file[side], .n_files = 1};
        if (report_rows_make(NAME, &compare->report[side]) != 0)
            return EXIT_MISUSE;
    }
    if (strcmp(file[COMPARE_A].run.run_id, file[COMPARE_B].run.run_id) == 0 ||
        record_copied(&file[COMPARE_A], &file[COMPARE_B], &why) != 0)
        return command_refuse(NAME, "%s", why.text);
    compare_files(compare);
    if (compare_cells(compare) != 0 || compare_judge(compare) != 0)
        return command_refuse(NAME, "no memory for the comparison");
    compare_warmups(compare);
    if (compare->n_cells == compare->count[COMPARE_UNMEASURED])
        return command_refuse(NAME,
                              "nothing to compare: %zu cells are only in %s, %zu only in %s, and "
                              "%zu in both, verified in neither",
                              compare->only[COMPARE_A], compare->path[COMPARE_A],
                              compare->only[COMPARE_B], compare->path[COMPARE_B], compare->n_cells);
    if (compare_print(&compare_files_judge, compare, compare->n_cells, format) != 0)
        return EXIT_MISUSE;
    return compare_exit(compare);
}

int compare_main(int argc, char **argv)
{
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "A.jsonl B.jsonl\n--baseline NAME NEW.jsonl\n--ab OLD NEW\n--aa PROGRAM",
        .doc = documentation};
    if (pairs_wanted(argc, argv))
        return pairs_main(argc, argv);

    struct compare *compare = calloc(1, sizeof *compare);
    struct arguments arguments = {.compare = compare, .strict = -1};
    struct baseline_options *baseline = &arguments.baseline;
    const char *const ci = getenv("CI");
    int status = EXIT_MISUSE;

    if (!compare)
        return command_refuse(NAME, "no memory");
    if (command_parse(&parser, argc, argv, &arguments) == 0) {
        baseline->path = compare->path[0];
        baseline->allow_dirty = compare->allow_dirty;
        baseline->exact = compare->exact;
        baseline->format = arguments.format;
        baseline->strict =
            arguments.strict >= 0 ? arguments.strict > 0 : ci && strcmp(ci, "true") == 0;
        if (!baseline->folder)
            baseline->folder = BASELINE_FOLDER;
        status = baseline->name ? baseline_compare_main(baseline)
                                : compare_two(compare, arguments.format);
    }
    for (int side = 0; side < COMPARE_SIDES; ++side) {
        report_rows_free(&compare->report[side]);
        record_file_free(&compare->file[side]);
    }
    free(compare->launch);
    free(compare->cell);
    free(compare->changes);
    free(compare);
    return status;
}
