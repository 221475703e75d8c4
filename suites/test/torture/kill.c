/* kill.c: kill -9 at random moments of sweeps, then resume, until each is finished, in many rounds;
 * --help says how.
 *
 * Whichever process was killed: complete lines do not change, no process is left, and in the end
 * the file has the contents of an undisturbed sweep. */
#include "process.h"
#include "records.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum kill_whom { KILL_SWEEP, KILL_STOPPED, KILL_BOTH, KILL_WORKER, KILL_CUT, KILL_WHOMS };

enum { KILL_MAX_CELLS = 64 };

/* Counts of what the kills of all rounds hit. */
struct kill_counts {
    size_t kills[KILL_WHOMS], after_end;    /* kills of sweeps that had ended */
    size_t no_file, no_header, ended, torn; /* the state of the file then */
    size_t cells[KILL_MAX_CELLS + 1];       /* a header and so many verified cells */
};

struct kill_torture {
    const char *lockstep;
    char folder[512];
    uint64_t seed;
    double seconds; /* that an undisturbed sweep takes */
    struct records undisturbed;
    struct kill_counts counts;
};

enum { SITTINGS_MAX = 4, ARGUMENTS = 24, REPORT_FILES = 64, PATH_BYTES = 700 };

static const double SITTING_SECONDS = 120, LEFTOVER_SECONDS = 10;

static const char *const kill_whom_names[KILL_WHOMS] = {
    "the sweep", "the sweep of a worker that is stopped", "sweep and worker", "the worker",
    "the sweep, and a line torn"};

struct round {
    struct kill_torture *torture;
    uint64_t random; /* state of the generator */
    char folder[PATH_BYTES - 100], file[PATH_BYTES], log[PATH_BYTES];
    size_t sittings, not_verified;
    struct records before; /* the file after the last session */
};

/* splitmix64 */
static uint64_t kill_round_next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15U;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

/* 0 <= x < 1 */
static double next_fraction(uint64_t *state)
{
    return (double)(kill_round_next_random(state) >> 11) / 9007199254740992.0;
}

static pid_t start_sweep(struct round *round, bool resume)
{
    char seed[32];
    char *const argv[ARGUMENTS] = {(char *)round->torture->lockstep,
                                   "sweep",
                                   "--bind=none",
                                   "--devices=virt:2",
                                   "--counts=2",
                                   "--launches=2",
                                   "--batch=10,64",
                                   "--workload=tutorial",
                                   "--seconds=0.01",
                                   "--steps=2:3",
                                   "--seed",
                                   seed,
                                   "--out",
                                   round->file,
                                   resume ? "--resume" : NULL};

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(round->torture->seed % 1000000));
    snprintf(round->log, sizeof round->log, "%s/log-%zu", round->folder, round->sittings++);
    return process_start(argv, NULL, round->log, NULL);
}

/* Removes the folder of a round, NAME-NUMBER, with what is known in it. */
static void kill_remove(const struct kill_torture *torture, const char *name, size_t number)
{
    char path[700];

    for (int i = 0; i < 20; ++i) {
        snprintf(path, sizeof path, "%s/%s-%zu/log-%d", torture->folder, name, number, i);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/%s-%zu/sweep.jsonl", torture->folder, name, number);
    remove(path);
    snprintf(path, sizeof path, "%s/%s-%zu", torture->folder, name, number);
    remove(path);
}

static void open_round(struct round *round, struct kill_torture *torture, const char *name,
                       size_t number)
{
    *round = (struct round){.torture = torture, .random = torture->seed};
    for (int i = 0; i < 2; ++i) /* neighbouring seeds and numbers give unrelated states */
        round->random = kill_round_next_random(&round->random) + number;
    snprintf(round->folder, sizeof round->folder, "%.500s/%s-%zu", torture->folder, name, number);
    snprintf(round->file, sizeof round->file, "%s/sweep.jsonl", round->folder);
    kill_remove(torture, name, number); /* files of an earlier run */
    mkdir(round->folder, 0777);
}

static int check_leftover(struct text_error *err)
{
    const pid_t pid = process_leftover(LEFTOVER_SECONDS);

    return pid == 0 ? 0 : records_say(err, "process %ld outlived its sweep", (long)pid);
}

/* Reads the file anew: lines that were complete before must be unchanged. */
static int kill_round_look(struct round *round, struct text_error *err)
{
    struct records now;

    if (records_load(round->file, &now, err))
        return -1;
    if (!records_continue(&round->before, &now)) {
        records_free(&now);
        return records_say(err, "lines that were complete have changed or are gone");
    }
    records_free(&round->before);
    round->before = now;
    return 0;
}

static void count_stage(struct kill_counts *counts, const struct records *records)
{
    counts->torn += records->whole < records->bytes && records->n_headers > 0;
    if (records->bytes == 0 && records->text && records->n_headers == 0)
        ++counts->no_file;
    else if (records->n_headers == 0)
        ++counts->no_header;
    else if (records->n_ends > 0)
        ++counts->ended;
    else
        ++counts->cells[records->n_cells < KILL_MAX_CELLS ? records->n_cells : KILL_MAX_CELLS];
}

/* Cuts the last line somewhere, as a power cut would. */
static int tear(struct round *round, struct text_error *err)
{
    const struct records *records = &round->before;
    size_t start = records->bytes; /* the start of the last line */

    if (records->bytes == 0)
        return 0;
    while (start > 0 && (start == records->bytes || records->text[start - 1] != '\n'))
        --start;

    const double length = (double)(records->bytes - start);
    const size_t keep = start + (size_t)(next_fraction(&round->random) * length);

    if (truncate(round->file, (off_t)keep))
        return records_say(err, "cannot cut %.100s", round->file);
    records_free(&round->before); /* the part that was cut off is not missed */
    return kill_round_look(round, err);
}

/* Kills a process. A stopped worker cannot end by itself: if it is gone, it died with its sweep. */
static void kill_whom(enum kill_whom whom, pid_t sweep)
{
    pid_t worker[16];
    size_t n = 0;

    if (whom == KILL_BOTH || whom == KILL_WORKER || whom == KILL_STOPPED)
        n = process_children(sweep, worker, sizeof worker / sizeof worker[0]);
    for (size_t i = 0; i < n && whom == KILL_STOPPED; ++i)
        if (process_is_worker(worker[i]))
            kill(worker[i], SIGSTOP);
    if (whom != KILL_WORKER)
        kill(sweep, SIGKILL);
    for (size_t i = 0; i < n && whom != KILL_STOPPED; ++i)
        kill(worker[i], SIGKILL);
}

/* Checks that a cell which the sweep has announced as finished is in the file. */
static int check_announced(const struct round *round, size_t cells_before, struct text_error *err)
{
    FILE *log = fopen(round->log, "r");
    size_t announced = 0;
    char line[512];

    if (!log)
        return records_say(err, "there is no %.160s", round->log);
    while (fgets(line, sizeof line, log))
        announced += line[0] == '[' && strchr(line, '\n');
    fclose(log);
    return round->before.n_cells >= cells_before + announced
               ? 0
               : records_say(err, "%zu cells were announced, %zu are in the file", announced,
                             round->before.n_cells - cells_before);
}

/* Returns the time that an undisturbed session would take now: a tenth is for the start. */
static double seconds_left(const struct round *round)
{
    const size_t planned = round->torture->undisturbed.run.planned;
    const size_t done = round->before.n_cells < planned ? round->before.n_cells : planned;

    return round->torture->seconds * (1 - 0.9 * (double)done / (double)planned);
}

/* Runs a session and disturbs it. *ended: it came to its end all the same. */
static int sit_disturbed(struct round *round, bool resume, bool *ended, struct text_error *err)
{
    struct kill_counts *counts = &round->torture->counts;
    static const enum kill_whom whoms[] = {KILL_SWEEP, KILL_SWEEP, KILL_STOPPED, KILL_STOPPED,
                                           KILL_BOTH,  KILL_BOTH,  KILL_WORKER,  KILL_CUT};
    const enum kill_whom whom = whoms[kill_round_next_random(&round->random) % 8];
    const double delay = 1.02 * seconds_left(round) * next_fraction(&round->random);
    const bool in_a_hurry = kill_round_next_random(&round->random) % 2 == 0;
    const double begin = process_now();
    const size_t cells_before = round->before.n_cells, ends_before = round->before.n_ends;
    const pid_t pid = start_sweep(round, resume);
    int status = 0;

    if (pid < 0)
        return records_say(err, "no sweep could be started");
    process_sleep_until(begin + delay);
    kill_whom(whom, pid);
    if (!process_wait(pid, SITTING_SECONDS, &status))
        return records_say(err, "the sweep hangs after a kill");
    /* Half of the time it is resumed at once, as a script would. */
    if (!in_a_hurry && check_leftover(err))
        return -1;
    *ended = !WIFSIGNALED(status);
    if (*ended && WEXITSTATUS(status) > (whom == KILL_WORKER ? 1 : 0))
        return records_say(err, "status %d of a sweep, see %.120s", WEXITSTATUS(status),
                           round->log);
    ++counts->kills[whom];
    counts->after_end += *ended && WEXITSTATUS(status) == 0;
    if (kill_round_look(round, err) || check_announced(round, cells_before, err))
        return -1;
    /* The killed process may be the one that looks for the devices: then no cell was begun. */
    round->not_verified += *ended && WEXITSTATUS(status) == 1 && round->before.n_ends > ends_before;
    count_stage(counts, &round->before);
    return whom == KILL_CUT ? tear(round, err) : 0;
}

/* Runs the last session, which is not disturbed. */
static int sit(struct round *round, bool resume, int *status, struct text_error *err)
{
    const pid_t pid = start_sweep(round, resume);

    if (pid < 0)
        return records_say(err, "no sweep could be started");
    if (!process_wait(pid, SITTING_SECONDS, status))
        return records_say(err, "the sweep hangs");
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
        return records_say(err, "a sweep ended with wait status %d, see %.120s", *status,
                           round->log);
    return kill_round_look(round, err) ? -1 : check_leftover(err);
}

/* Without a file there is nothing to resume, and the program says so. */
static int check_nothing(struct round *round, struct text_error *err)
{
    const pid_t pid = start_sweep(round, true);
    int status = 0;

    if (pid < 0 || !process_wait(pid, SITTING_SECONDS, &status))
        return records_say(err, "a resume of nothing hangs");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 2 || access(round->file, F_OK) == 0)
        return records_say(err, "a resume of nothing ended with wait status %d", status);
    return 0;
}

static int disturb(struct round *round, struct text_error *err)
{
    bool again = true;

    for (int i = 0; i < SITTINGS_MAX - 1 && again; ++i) {
        const bool resume = access(round->file, F_OK) == 0;
        bool ended = false;

        if (sit_disturbed(round, resume, &ended, err))
            return -1;
        again = kill_round_next_random(&round->random) % 3 == 0;
    }
    return 0;
}

static int run_round(struct round *round, struct text_error *err)
{
    int status = 0;

    if (disturb(round, err))
        return -1;
    const bool resume = access(round->file, F_OK) == 0;
    const size_t ends = round->before.n_ends;

    if (!resume && check_nothing(round, err))
        return -1;
    if (sit(round, resume, &status, err))
        return -1;
    if (round->before.n_ends != ends + 1)
        return records_say(err, "%zu end lines, wanted %zu", round->before.n_ends, ends + 1);
    return records_compare(&round->torture->undisturbed, &round->before, round->not_verified, err);
}

/* Kills and resumes until the sweep is finished, in a separate folder, round-NUMBER; the actions
 * follow from the seed and the number alone. */
static int kill_round(struct kill_torture *torture, size_t number, struct text_error *err)
{
    struct round round;

    open_round(&round, torture, "round", number);
    const int status = run_round(&round, err);

    process_leftover(status ? 0 : LEFTOVER_SECONDS);
    records_free(&round.before);
    return status;
}

/* Sweeps three times without a kill; fills seconds and undisturbed. */
static int kill_prepare(struct kill_torture *torture, struct text_error *err)
{
    double seconds[3];

    for (size_t i = 0; i < 3; ++i) {
        struct round round;
        int status = 0;

        open_round(&round, torture, "whole", i);
        const double begin = process_now();

        if (sit(&round, false, &status, err) ||
            records_compare(&round.before, &round.before, 0, err)) {
            records_free(&round.before);
            return -1;
        }
        seconds[i] = process_now() - begin;
        records_free(&torture->undisturbed);
        torture->undisturbed = round.before;
    }
    for (size_t i = 0; i < 3; ++i) /* the median */
        if ((seconds[i] >= seconds[(i + 1) % 3]) + (seconds[i] >= seconds[(i + 2) % 3]) == 1 ||
            i == 2)
            torture->seconds = seconds[i];
    return 0;
}

/* The report of the rounds' files must find every planned cell verified. */
static int kill_report(struct kill_torture *torture, size_t first, size_t last,
                       struct text_error *err)
{
    char file[REPORT_FILES][PATH_BYTES], folder[PATH_BYTES], log[PATH_BYTES];
    char *argv[REPORT_FILES + 5] = {(char *)torture->lockstep, "report", "--out", folder};
    int status = 0;

    if (last - first >= REPORT_FILES)
        return records_say(err, "%zu files are too many", last - first + 1);
    for (size_t i = first; i <= last; ++i) {
        snprintf(file[i - first], PATH_BYTES, "%s/round-%zu/sweep.jsonl", torture->folder, i);
        argv[4 + i - first] = file[i - first];
    }
    snprintf(folder, sizeof folder, "%s/report", torture->folder);
    snprintf(log, sizeof log, "%s/report.log", torture->folder);
    const pid_t pid = process_start(argv, NULL, log, NULL);

    if (pid < 0 || !process_wait(pid, SITTING_SECONDS, &status))
        return records_say(err, "the report hangs");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return records_say(err,
                           "the report of rounds %zu to %zu ended with wait status %d, see %.100s",
                           first, last, status, log);
    return 0;
}

/* ---- many rounds ----------------------------------------------------------------------------- */

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
