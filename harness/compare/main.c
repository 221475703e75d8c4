/* compare/main.c: `lockstep compare`: its options, and the order of reading, judging and
 * printing. */
#include "compare/baseline.h"
#include "compare/pairs.h"

#include "command/command.h"
#include "numbers/rank.h"
#include "record/files.h"
#include "text/alloc.h"

#include <stdlib.h>
#include <string.h>

static const char NAME[] = "lockstep compare";

enum { KEY_OUT = 256, KEY_AB };
enum { OF_ARMS = 4 }; /* the first rows: if one of them is given, it is a comparison of pairs */

#define PLACE(member) .offset = offsetof(struct compare_options, member)

static const struct command_option option_table[] = {
    {"ab", KEY_AB, "OLD",
     "write --ab OLD NEW: compare two lockstep programs, on cells that options of `lockstep sweep` "
     "name",
     COMMAND_POINTER, PLACE(ab), .group = COMMAND_WHAT},
    {"aa", 0, "PROGRAM",
     "compare a program with itself: could this machine show a change of these cells?",
     COMMAND_POINTER, PLACE(aa), .group = COMMAND_WHAT},
    {"a", 0, "OPTIONS", "compare two sets of options of this build: --a is OLD, --b is NEW",
     COMMAND_POINTER, PLACE(arm[PAIRS_OLD]), .group = COMMAND_WHAT},
    {"b", 0, "OPTIONS", "the other set: NEW", COMMAND_POINTER, PLACE(arm[PAIRS_NEW]),
     .group = COMMAND_WHAT},
    {"pairs", 0, "N", "pairs of each cell (default 12, more for many cells)", COMMAND_SIZE,
     PLACE(pairs), .least = 1, .most = RANK_MOST, .group = COMMAND_HOW_LONG},
    {"looks", 0, "N",
     "2: judge after --pairs, and if that settles nothing, again after as many more (default 1)",
     COMMAND_SIZE, PLACE(looks), .least = 1, .most = PAIRS_LOOKS_MOST, .group = COMMAND_RARE},
    {"figure", 0, "DIR", "draw the ratios of all cells: DIR/forest.svg and .png", COMMAND_POINTER,
     PLACE(figure), .group = COMMAND_RARE},
    {"out", KEY_OUT, "FILE", "keep all pairs and verdicts, as JSON Lines", .kind = COMMAND_OWN,
     .group = COMMAND_WHERE_TO},
    {"baseline", 0, "NAME",
     "compare one file with the sessions that `lockstep compare baseline add` put into NAME",
     COMMAND_POINTER, PLACE(baseline), .group = COMMAND_WHAT},
    {"dir", 0, "DIR", "where baselines are (default " BASELINE_FOLDER ")", COMMAND_POINTER,
     PLACE(folder), .group = COMMAND_RARE},
    {"strict", 0, NULL,
     "exit with 4 if something is INCONCLUSIVE, or a baseline is too short for a gate (default if "
     "CI=true)",
     COMMAND_FLAG, PLACE(strict), .group = COMMAND_RARE},
    {"no-strict", 0, NULL, "undo --strict: INCONCLUSIVE is exit status 0, also where CI=true",
     COMMAND_FLAG, PLACE(lenient), .group = COMMAND_RARE},
    {"exact", 'e', NULL, "exit with 1 if an exact number CHANGED", COMMAND_FLAG, PLACE(exact),
     .group = COMMAND_RARE},
    {"allow-dirty", 0, NULL, "accept programs built from a tree with uncommitted changes",
     COMMAND_FLAG, PLACE(allow_dirty), .group = COMMAND_RARE},
    {"allow-disturbed", 0, NULL,
     "also judge pairs that other programs or virtual machines disturbed", COMMAND_FLAG,
     PLACE(allow_disturbed), .group = COMMAND_RARE},
    {"verbose", 0, NULL, "as text: print all cells, and how they were judged", COMMAND_FLAG,
     PLACE(verbose), .group = COMMAND_RARE},
    {"format", 'f', "text|json|md|csv|bmf|github|openmetrics|annotations|junit",
     "what to print (default text); md for a job's summary", .kind = COMMAND_OWN,
     .group = COMMAND_WHERE_TO},
    {0}};

static const char documentation[] =
    "Compares two builds in pairs (--ab), a record file of `lockstep sweep` with a baseline, or "
    "two record files: cell by cell, B against A."
    "\v--ab OLD NEW runs launches of both programs in pairs, each pair in random order. A cell, or "
    "all cells together, is REGRESSED if NEW is slower by 2 % or more, and an exact signed rank "
    "test shows that it is slower by more than 1 %; IMPROVED if it is faster in the same way; "
    "EQUIVALENT if the interval of the change lies within 3 %; else INCONCLUSIVE: no change was "
    "shown, and none was ruled out. A cell is INVALID if a launch is not verified, or if more than "
    "25 % of its pairs were disturbed.\n\n"
    "--aa PROGRAM compares a program with itself, and says how fit the machine is: FIT if there is "
    "no false alarm, and a change of 5 % would be found in each cell; TOO NOISY if it would not be "
    "found; NOT FIT if there is a false alarm, or a cell is INVALID.\n\n"
    "--baseline NAME compares one session with earlier ones (see `lockstep compare baseline`). A "
    "cell is REGRESSED if it is slower than their mean by 2 % or more, and the prediction interval "
    "of one more session (Student's t) shows more than 1 %. With fewer than 6 sessions all is "
    "INVALID. With fewer than 10 it is no gate: a regression does not fail.\n\n"
    "Two files are two sessions. Launches of two sessions also differ because the machine does, so "
    "this is never a pass and never a gate. A cell is SUSPECT if its times differ by more than 5 "
    "%, and an exact rank sum test shows a difference (p <= 0.05 for all cells together). The time "
    "of a launch is its floor: the 5th percentile of its steps, with fewer than 40 steps the 10th, "
    "with fewer than 20 the minimum.\n\n"
    "Bytes moved, peak memory, work, shards and parameters must be the same on any machine. A "
    "number that differs is CHANGED. Details: docs/compare.md.\n\n"
    "Exit status: 0 nothing regressed, FIT, or two files were compared (also with SUSPECT cells); "
    "1 REGRESSED, or with --exact a number CHANGED; 2 misuse, unreadable or torn input, a program "
    "that is no such build, or no cell in both; 3 something is INVALID, a false alarm, or NOT FIT; "
    "4 TOO NOISY, or with --strict: something is INCONCLUSIVE, or a baseline is no gate; 130 "
    "interrupted.\n\nExamples:\n"
    "  lockstep compare old.jsonl new.jsonl\n"
    "  lockstep compare --ab old/lockstep new/lockstep --devices virt:1 --batch 256";

/* Checks which options go together: those of pairs, of one file with a baseline, and of two files.
 */
static error_t check_options(const struct compare_options *options, const struct argp_state *state)
{
    const bool pairs = options->n_sweep > 0, one = !pairs && options->baseline;
    const bool two = !pairs && !one, ab = options->ab != NULL, aa = options->aa != NULL;
    const bool a = options->arm[PAIRS_OLD] != NULL, b = options->arm[PAIRS_NEW] != NULL;
    char arm[64], files[80];
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        {options->strict && options->lenient, "--strict and --no-strict exclude each other"},
        {pairs && (options->baseline || options->folder),
         "--baseline and --dir are of one record file"},
        {aa && (ab || a || b), "--aa compares a program with itself: not with --ab, --a or --b"},
        {aa && options->looks > 0, "--looks is not of --aa, which needs all pairs"},
        {aa && (options->strict || options->lenient),
         "--aa has the exit status 4 if the machine is too noisy, whatever --strict says"},
        {ab && (a || b), "--ab compares two programs, --a and --b two sets of options of this one: "
                         "use one of them"},
        {ab && state->arg_num == 0, "NEW is missing: write it as --ab OLD NEW"},
        {pairs && !ab && a != b, arm},
        {!pairs && (options->pairs > 0 || options->looks > 0 || options->figure ||
                    options->allow_disturbed || command_seen(state, "out")),
         "--pairs, --looks, --figure, --out and --allow-disturbed are of --ab OLD NEW, of --aa, or "
         "of --a and --b"},
        {one && state->arg_num != 1, files},
        {two && (options->strict || options->lenient),
         "--strict and --no-strict are of --ab OLD NEW, of --a and --b, and of --baseline"},
        {two && options->folder, "--dir is of --baseline NAME"},
        {two && state->arg_num < COMPARE_SIDES, files}};

    snprintf(arm, sizeof arm, "%s is missing: --a 'OPTIONS' --b 'OPTIONS'", a ? "--b" : "--a");
    snprintf(files, sizeof files,
             one ? "%u record files: --baseline NAME takes one, the new session"
                 : "%u of 2 record files: name A and B, as `lockstep sweep` writes them",
             state->arg_num);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i)
        if (rules[i].wrong)
            return command_bad_option(state, "%s", rules[i].why);
    return 0;
}

static error_t parse_files(int key, char *value, struct argp_state *state)
{
    struct compare_options *options = command_input(state);
    const char *names[COMPARE_FORMATS];

    switch (key) {
    case 'f':
        for (size_t i = 0; i < COMPARE_FORMATS; ++i)
            names[i] = compare_format_name(i);
        return command_choice(state, "format", "format", value, names, COMPARE_FORMATS,
                              &options->format);
    case KEY_OUT:
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= COMPARE_SIDES)
            return command_bad_option(state, "'%.60s' is a third file: two are compared", value);
        options->path[state->arg_num] = value;
        return 0;
    case ARGP_KEY_END:
        return check_options(options, state);
    default:
        return command_key(key, value, state);
    }
}

/* Returns the row of the table that an argument names. */
static const struct command_option *find_option(const char *argument)
{
    const struct command_option *o = option_table;

    for (; o->name; ++o) {
        const char letter[] = {'-', (char)o->key, '\0'};
        const size_t length = strlen(o->name);

        if (strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, o->name, length) == 0 &&
            (argument[length + 2] == '\0' || argument[length + 2] == '='))
            return o;
        if (o->key < 256 && strcmp(argument, letter) == 0)
            return o;
    }
    return NULL;
}

/* Parts the command line of pairs: arguments of this table, whose number it returns, and those of a
 * sweep. For a command line without pairs all are of this table. */
static int part_arguments(int argc, char **argv, char **own, struct compare_options *options)
{
    bool pairs = false;
    int n = 0;

    for (int i = 1; i < argc; ++i) {
        const struct command_option *o = find_option(argv[i]);

        pairs = pairs || (o && o < option_table + OF_ARMS);
    }
    if (pairs)
        options->sweep[options->n_sweep++] = argv[0];
    own[n++] = argv[0];
    for (int i = 1; i < argc; ++i) {
        const struct command_option *o = find_option(argv[i]);

        if (pairs && (!o || o->key == KEY_OUT) && !command_is_always(argv[i])) {
            options->sweep[options->n_sweep++] = argv[i];
            continue;
        }
        own[n++] = argv[i];
        if (!pairs || !o || !o->arg || strchr(argv[i], '='))
            continue;
        for (int values = o->key == KEY_AB ? 2 : 1; values > 0 && i + 1 < argc; --values)
            own[n++] = argv[++i];
    }
    return n;
}

static int compare_two(const struct compare_options *options)
{
    struct compare *compare = cli_alloc(1, sizeof *compare);
    int status = 0;
    struct record_file *file = compare->file;
    struct text_error why = {"A and B hold the same run: a launch counts once"};

    compare->options = options;
    /* The rows of a file are those of the report, with their verification. */
    for (int side = 0; side < COMPARE_SIDES && status == 0; ++side) {
        status = input_records(NAME, options->path[side], true, NULL, &file[side]);
        compare->report[side] = (struct report){.file = &file[side], .n_files = 1};
        if (status == 0)
            status = report_rows_make(NAME, &compare->report[side]);
    }
    if (status == 0 && (strcmp(file[COMPARE_A].run.run_id, file[COMPARE_B].run.run_id) == 0 ||
                        record_copied(&file[COMPARE_A], &file[COMPARE_B], &why) != 0))
        status = command_refuse(NAME, "%s", why.text);
    if (status == 0) {
        compare_files(compare);
        compare_cells(compare);
        compare_judge(compare);
        compare_warmups(compare);
        if (compare->n_cells == compare->count[COMPARE_UNMEASURED])
            status =
                command_refuse(NAME,
                               "nothing to compare: %zu cell%s only in %s, %zu only in %s, and "
                               "%zu in both, verified in neither",
                               compare->only[COMPARE_A], text_s(compare->only[COMPARE_A]),
                               options->path[COMPARE_A], compare->only[COMPARE_B],
                               options->path[COMPARE_B], compare->n_cells);
        else
            status = compare_print(&compare_files_judge, compare, compare->n_cells, options->format,
                                   options->verbose);
    }
    if (status == 0)
        status = compare_exit(compare);
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

int compare_main(int argc, char **argv)
{
    static const struct command_syntax syntax = {
        .options = option_table,
        .other = parse_files,
        .what = "What to compare",
        .args_doc = "A.jsonl B.jsonl\n--baseline NAME NEW.jsonl\n--ab OLD NEW\n--aa PROGRAM",
        .doc = documentation};
    char **own = cli_alloc((size_t)argc + 1, sizeof own[0]);
    struct compare_options options = {.sweep = cli_alloc((size_t)argc + 1, sizeof own[0])};
    const char *const ci = getenv("CI");
    int status = EXIT_MISUSE;

    if (command_read(&syntax, part_arguments(argc, argv, own, &options), own, &options) == 0) {
        options.folder = options.folder ? options.folder : BASELINE_FOLDER;
        options.strict = options.strict || (!options.lenient && ci && strcmp(ci, "true") == 0);
        status = options.n_sweep > 0 ? pairs_main(&options)
                 : options.baseline  ? baseline_compare_main(&options)
                                     : compare_two(&options);
    }
    free(own);
    free(options.sweep);
    return status;
}
