/* soak/selftest.c: `lockstep selftest`: a table of faults, and which detector finds each. */
#include "soak/selftest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "files/stop.h"
#include "text/options.h"

enum { FLIPS = 100, FLIPS_QUICK = 5, FLIPS_MOST = 100000, FLIP_ITERATIONS = 6, SECONDS = 120 };

/* Values are compared in steps that are short, rates in steps that are long enough to be judged. */
struct setting {
    const char *workload, *batch, *spread;
    int devices;
};
static const struct setting values = {"mlp:24,16,8", "40", "0.5", 3};
static const struct setting rates = {"mlp:256,256,64", "512", "0.5", 2};

struct row {
    const char *name, *fault; /* fault NULL: none */
    const struct setting *setting;
    unsigned step, iterations;
    int device;
    const char *percent; /* of slow: "/200" */
    enum selftest_detector detector;
};

static const struct row rows[] = {
    {"one bit flips", "flip", &values, 5, 12, 1, "", SELFTEST_RESULT},
    {"three bits flip", "flips", &values, 6, 12, 2, "", SELFTEST_RESULT},
    {"a row is stuck", "row", &values, 7, 12, 0, "", SELFTEST_RESULT},
    {"NaN", "nan", &values, 8, 12, 1, "", SELFTEST_RESULT},
    {"a bucket is dropped", "drop", &values, 9, 12, 2, "", SELFTEST_MEAN},
    {"a bucket is doubled", "double", &values, 10, 12, 0, "", SELFTEST_MEAN},
    {"a bucket is stale", "stale", &values, 11, 12, 1, "", SELFTEST_MEAN},
    {"a device is dead", "dead", &values, 4, 12, 2, "", SELFTEST_DEAD},
    {"a device hangs", "hang", &values, 3, 12, 0, "", SELFTEST_LIMIT},
    {"a device is slow", "slow", &rates, 1, 112, 1, "/200", SELFTEST_SPEED},
    {"a clock drops", "slow", &rates, 120, 240, 1, "/200", SELFTEST_DROP},
    {"no fault", NULL, &values, 0, 400, -1, "", SELFTEST_DETECTORS},
    {"no fault, long steps", NULL, &rates, 0, 112, -1, "", SELFTEST_DETECTORS},
};

static const char *const detector_words[SELFTEST_DETECTORS] = {
    [SELFTEST_RESULT] = "result", [SELFTEST_MEAN] = "mean",   [SELFTEST_DEAD] = "error",
    [SELFTEST_LIMIT] = "limit",   [SELFTEST_SPEED] = "speed", [SELFTEST_DROP] = "change"};

struct selftest {
    const char *command;
    size_t flips, wrong, silent, found;
    uint64_t seed, seen; /* seen: options that were given */
    bool quick, interrupted;
};

/* ---- a run ------------------------------------------------------------------------------- */

/* 0, or an exit status after a complaint. */
static int run_row(struct selftest *t, const struct row *row, struct selftest_seen *seen)
{
    char devices[SELFTEST_TEXT], iterations[16];
    struct text_error why = {""};
    const char *const arguments[] = {"lockstep",
                                     "soak",
                                     "--devices",
                                     devices,
                                     "--iterations",
                                     iterations,
                                     "--workload",
                                     row->setting->workload,
                                     "--batch",
                                     row->setting->batch,
                                     "--spread",
                                     row->setting->spread,
                                     "--limit",
                                     row->detector == SELFTEST_LIMIT ? "3" : "60",
                                     "--format",
                                     "json",
                                     NULL};
    int status;

    snprintf(iterations, sizeof iterations, "%u", row->iterations);
    if (row->fault)
        snprintf(devices, sizeof devices, "virt:%d+fault:%s@%u/%d%s", row->setting->devices,
                 row->fault, row->step, row->device, row->percent);
    else
        snprintf(devices, sizeof devices, "virt:%d", row->setting->devices);
    status = selftest_run(arguments, SECONDS, row->device, seen, &why);
    if (status < 0) {
        command_complain(t->command, "%s", why.text);
        return EXIT_FAILED;
    }
    t->interrupted = status > 0;
    return status > 0 ? EXIT_INTERRUPTED : 0;
}

/* A change of speed is found in the iterations around it, all else in the one where it is. */
static bool is_there(const struct row *row, const struct selftest_seen *seen)
{
    const uint64_t at = seen->at[row->detector];

    return row->detector == SELFTEST_DROP ? at * 5 >= row->step * 4 && at * 5 <= row->step * 6
                                          : at == row->step;
}

static const char *verdict_of(const struct row *row, const struct selftest_seen *seen)
{
    if (!seen->understood)
        return "FAILED: the run did not end as it should";
    if (!row->fault)
        return seen->findings == 0 && seen->status == EXIT_PASSED ? "silent"
                                                                  : "FAILED: something was found";
    if (seen->findings == 0 || seen->status != EXIT_FAILED)
        return "FAILED: not found";
    if (!is_there(row, seen))
        return "FAILED: found by another detector, or in another iteration";
    return seen->elsewhere == 0 ? "right" : "FAILED: another device, or none, is named";
}

/* ---- the table --------------------------------------------------------------------------- */

static void put_heading(void)
{
    printf("%-22s%-8s%5s ", "fault", "device", "step");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        printf("%8s", detector_words[d]);
    printf("   device named\n");
}

static void put_row(const struct row *row, const struct selftest_seen *seen, const char *verdict)
{
    if (row->fault)
        printf("%-22svirt:%-3d%5u ", row->name, row->device, row->step);
    else
        printf("%-22s%-8s%5s ", row->name, "-", "-");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        if (seen->at[d] > 0)
            printf("%8" PRIu64, seen->at[d]);
        else
            printf("%8s", ".");
    printf("   %s\n", verdict);
    fflush(stdout);
}

static int run_rows(struct selftest *t)
{
    put_heading();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct selftest_seen seen;
        const int status = run_row(t, &rows[i], &seen);
        const char *verdict;

        if (status)
            return status;
        verdict = verdict_of(&rows[i], &seen);
        put_row(&rows[i], &seen, verdict);
        t->wrong += verdict[0] == 'F';
        t->found += verdict[0] == 'r';
        t->silent += verdict[0] == 's';
    }
    return 0;
}

/* ---- many flips -------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

/* One bit, and only one: in that iteration, on that device. */
static bool flip_is_right(const struct row *row, const struct selftest_seen *seen)
{
    const uint64_t bits = seen->wrong_bits;

    return seen->understood && seen->status == EXIT_FAILED && is_there(row, seen) &&
           seen->findings == 1 && seen->elsewhere == 0 && bits != 0 && (bits & (bits - 1)) == 0;
}

static int run_flips(struct selftest *t)
{
    size_t right = 0;

    for (size_t i = 0; i < t->flips; ++i) {
        const uint64_t draw = mix((t->seed + 1) * 0x9e3779b97f4a7c15U + i);
        const struct row row = {"a flip",
                                "flip",
                                &values,
                                (unsigned)(1 + draw % FLIP_ITERATIONS),
                                FLIP_ITERATIONS,
                                (int)((draw >> 32) % (uint64_t)values.devices),
                                "",
                                SELFTEST_RESULT};
        struct selftest_seen seen;
        const int status = run_row(t, &row, &seen);

        if (status)
            return status;
        if (flip_is_right(&row, &seen))
            ++right;
        else
            put_row(&row, &seen, "FAILED");
    }
    if (t->flips > 0)
        printf("%zu of %zu flips found, with device, iteration and bit\n", right, t->flips);
    t->wrong += t->flips - right;
    return 0;
}

/* ---- the command ------------------------------------------------------------------------- */

enum { KEY_FLIPS = 256 };

static const struct argp_option option_table[] = {
    {.name = "flips",
     .key = KEY_FLIPS,
     .arg = "N",
     .doc = "more single bits that flip, at drawn places (default 100)"},
    {.name = "seed", .key = 'S', .arg = "N", .doc = "of these places (default 1)"},
    {.name = "quick", .key = 'q', .doc = "5 of them"},
    {0}};

static const char documentation[] =
    "Runs lockstep soak on virtual devices that go wrong on purpose, and on some that do not."
    "\vA row of the table is a fault, the device that has it and the step that it begins in; a "
    "column is a detector, with the first iteration in which it found something: a device's own "
    "results, the mean of the gradients, an error, the time limit, the speed beside the other "
    "devices, a change of that speed. A row is right if the detector that is meant for the fault "
    "found it in that step, and every finding names that device. Without a fault nothing may be "
    "found.\n\n"
    "Exit status: 0 all as it should be; 1 a fault was not found, or something was found without "
    "one; 2 misuse; 130 interrupted.";

static error_t parse_number(const struct argp_state *state, const char *name, const char *arg,
                            size_t max, size_t *number)
{
    struct text_error why;

    return option_size(arg, 0, max, number, &why)
               ? command_bad_option(state, "--%s: %s", name, why.text)
               : 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct selftest *t = state->input;
    size_t number = 0;
    error_t status = command_once(state, option_table, key, &t->seen);

    if (status)
        return status;
    switch (key) {
    case KEY_FLIPS:
        return parse_number(state, "flips", arg, FLIPS_MOST, &t->flips);
    case 'S':
        status = parse_number(state, "seed", arg, SIZE_MAX, &number);
        t->seed = number;
        return status;
    case 'q':
        t->quick = true;
        return 0;
    case ARGP_KEY_END:
        if (t->flips == SIZE_MAX)
            t->flips = t->quick ? FLIPS_QUICK : FLIPS;
        return 0;
    default:
        return command_key(key, arg, state);
    }
}

static void put_end(const struct selftest *t)
{
    if (t->interrupted)
        printf("interrupted: ");
    printf("%zu kinds of faults found, nothing found in %zu runs without one; %zu wrong\n",
           t->found, t->silent, t->wrong);
}

int selftest_main(int argc, char **argv)
{
    const struct argp argp = {
        .options = option_table, .parser = parse_option, .doc = documentation};
    struct selftest t = {.flips = SIZE_MAX, .seed = 1};
    int status;

    if ((status = command_parse(&argp, argc, argv, &t)))
        return status;
    t.command = argv[0];
    stop_watch_signals();
    status = run_rows(&t);
    if (status == 0)
        status = run_flips(&t);
    if (status == EXIT_FAILED)
        return status;
    put_end(&t);
    if (t.interrupted)
        return EXIT_INTERRUPTED;
    return t.wrong > 0 ? EXIT_FAILED : EXIT_PASSED;
}
