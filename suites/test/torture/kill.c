/* kill.c: kill -9 at random moments of sweeps, many rounds; --help says how. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kill.h"
#include "process.h"

enum { ROUNDS_MAX = 100000, REPORT_EVERY = 20 };

struct options {
    const char *lockstep, *folder;
    uint64_t seed;
    size_t rounds, only; /* only: SIZE_MAX, or this round alone */
};

static const char usage[] =
    "usage: torture_kill --lockstep PROGRAM --folder FOLDER [--rounds N] [--seed S] [--only "
    "ROUND]\n"
    "Kills sweeps at random moments and resumes them; rounds count from 0. FOLDER is made, and\n"
    "its rounds are removed unless they fail.\n"
    "exit: 0 all rounds passed, 1 a round failed (the last line says which), 2 misuse\n";

static int parse_number(const char *name, const char *text, uint64_t max, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value <= max)
        return 0;
    fprintf(stderr, "torture_kill: %s must be a whole number up to %" PRIu64 ", not '%s'\n", name,
            max, text);
    return 2;
}

/* -1: go on; else the exit status. */
static int kill_parse(int argc, char **argv, struct options *options)
{
    static const struct option table[] = {{"lockstep", required_argument, NULL, 'l'},
                                          {"folder", required_argument, NULL, 'f'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    uint64_t number;
    int key;

    while ((key = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (key == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (key == 'l')
            options->lockstep = optarg;
        else if (key == 'f')
            options->folder = optarg;
        else if (key == 'r' && parse_number("--rounds", optarg, ROUNDS_MAX, &number) == 0)
            options->rounds = number;
        else if (key == 's' && parse_number("--seed", optarg, UINT64_MAX, &number) == 0)
            options->seed = number;
        else if (key == 'o' && parse_number("--only", optarg, ROUNDS_MAX - 1, &number) == 0)
            options->only = number;
        else
            return 2;
    }
    if (optind == argc && options->lockstep && options->folder && options->rounds > 0)
        return -1;
    fputs(usage, stderr);
    return 2;
}

static void print_counts(const struct kill_torture *torture)
{
    const struct kill_counts *counts = &torture->counts;

    printf("killed:");
    for (int i = 0; i < KILL_WHOMS; ++i)
        printf("%s %zu %s", i > 0 ? "," : "", counts->kills[i], kill_whom_names[i]);
    printf("; %zu of them had ended\nthe file was: %zu not there or empty, %zu a part of a header",
           counts->after_end, counts->no_file, counts->no_header);
    for (size_t i = 0; i <= torture->undisturbed.run.planned && i <= KILL_MAX_CELLS; ++i)
        printf(", %zu %zu cells", counts->cells[i], i);
    printf(", %zu ended; %zu with a torn line\n", counts->ended, counts->torn);
}

static size_t count_kills(const struct kill_counts *counts)
{
    size_t n = 0;

    for (int i = 0; i < KILL_WHOMS; ++i)
        n += counts->kills[i];
    return n;
}

/* Kills that hit nothing prove nothing. */
static int check_hits(const struct kill_torture *torture, size_t rounds, struct text_error *err)
{
    const struct kill_counts *counts = &torture->counts;
    const size_t kills = count_kills(counts);
    size_t between = 0;

    for (size_t i = 0; i < torture->undisturbed.run.planned && i <= KILL_MAX_CELLS; ++i)
        between += counts->cells[i];
    if (kills >= rounds && 2 * counts->after_end <= kills &&
        (rounds < 100 || between >= rounds / 4))
        return 0;
    snprintf(err->text, sizeof err->text,
             "%zu kills in %zu rounds, %zu after the end, %zu among the cells: too few that tell",
             kills, rounds, counts->after_end, between);
    return -1;
}

/* Rounds first..last-1; *failed is the one that did not pass. */
static int run_rounds(struct kill_torture *torture, size_t first, size_t last, size_t *failed,
                      struct text_error *err)
{
    size_t reported = first;

    for (size_t i = first; i < last; ++i) {
        *failed = i;
        if (kill_round(torture, i, err))
            return -1;
        if ((i + 1 - first) % REPORT_EVERY != 0 && i + 1 != last)
            continue;
        if (kill_report(torture, reported, i, err))
            return -1;
        for (; reported <= i; ++reported)
            kill_remove(torture, "round", reported);
        fprintf(stderr, "[%zu/%zu] rounds passed\n", i + 1 - first, last - first);
    }
    return check_hits(torture, last - first, err);
}

static int kill_run(const struct options *options)
{
    const bool one = options->only != SIZE_MAX;
    const size_t first = one ? options->only : 0, last = one ? first + 1 : options->rounds;
    struct kill_torture torture = {.lockstep = options->lockstep, .seed = options->seed};
    struct text_error err = {""};
    size_t failed = first;

    snprintf(torture.folder, sizeof torture.folder, "%.400s", options->folder);
    if (process_adopt() || (mkdir(torture.folder, 0777) && errno != EEXIST)) {
        fprintf(stderr, "torture_kill: %s: %s\n", torture.folder, strerror(errno));
        return 2;
    }
    if (kill_prepare(&torture, &err)) {
        printf("FAIL an undisturbed sweep: %s; kept in %s\n", err.text, torture.folder);
        return 1;
    }
    fprintf(stderr, "seed %" PRIu64 ", an undisturbed sweep of %zu cells takes %.3f s\n",
            options->seed, torture.undisturbed.run.planned, torture.seconds);
    const int status = run_rounds(&torture, first, last, &failed, &err);

    print_counts(&torture);
    if (status == 0)
        printf("PASS %zu of %zu\n", last - first, last - first);
    else
        printf("FAIL round %zu, seed %" PRIu64 ": %s; kept in %s/round-%zu\n", failed,
               options->seed, err.text, torture.folder, failed);
    for (size_t i = 0; i < 3; ++i)
        kill_remove(&torture, "whole", i);
    records_free(&torture.undisturbed);
    return status ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct options options = {.rounds = 10, .seed = 1, .only = SIZE_MAX};
    const int status = kill_parse(argc, argv, &options);

    setvbuf(stdout, NULL, _IOLBF, 0);
    return status >= 0 ? status : kill_run(&options);
}
