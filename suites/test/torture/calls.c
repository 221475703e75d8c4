/* calls.c: torture_calls makes every call fail in turn that a command of the program makes, one
 * call per run, and checks how the command ends. */
#include "calls_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

enum { ERRORS = 3 };

/* most: the points of one process; if there are more, that many are chosen evenly. 0: all. */
static const struct {
    const char *name;
    unsigned most;
    int error[ERRORS];
} kinds[FAULT_KINDS] = {
    [FAULT_OWN] = {"own", 0, {ENOMEM}},
    [FAULT_JANSSON] = {"jansson", 0, {ENOMEM}},
    [FAULT_LIBC] = {"libc", 40, {ENOMEM}},
    [FAULT_WRITE] = {"write", 40, {ENOSPC, EIO, EINTR}},
    [FAULT_READ] = {"read", 40, {EIO, EINTR}},
    [FAULT_FSYNC] = {"fsync", 0, {EIO, ENOSPC}},
    [FAULT_OPEN] = {"open", 0, {EMFILE}},
    [FAULT_CLOSE] = {"close", 40, {EIO}},
    [FAULT_RENAME] = {"rename", 0, {EIO, ENOSPC}},
    [FAULT_FORK] = {"fork", 0, {EAGAIN, ENOMEM}},
    [FAULT_PIPE] = {"pipe", 0, {EMFILE}},
    [FAULT_POLL] = {"poll", 20, {ENOMEM, EINTR}},
    [FAULT_THREAD] = {"thread", 0, {EAGAIN}},
    [FAULT_STDIO] = {"stdio", 40, {ENOSPC}},
    [FAULT_UNLINK] = {"unlink", 40, {EIO, EINTR}},
    [FAULT_WAIT] = {"wait", 20, {EIO}},
    [FAULT_STREAM] = {"stream", 80, {EISDIR}},
};

struct options {
    const char *kinds, *only;
    unsigned sample; /* 0: all points */
    unsigned seed;
    unsigned part, parts; /* every parts-th point, from 0 */
    bool stays;
};

struct torture {
    struct options options;
    struct fault_place place;
    const struct fault_command *command;
    struct fault_point *point;
    size_t n;
    unsigned verdict[FAULT_KINDS][FAULT_VERDICTS];
};

static int calls_complain(const char *what)
{
    fprintf(stderr, "torture_calls: %s: %s\n", what, strerror(errno));
    return 2;
}

/* ---- what there is to fail ------------------------------------------------------------------- */

static bool wanted(const struct options *options, const char *name)
{
    const size_t length = strlen(name);
    const char *at = options->kinds;

    while (at && *at != '\0') {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
        at = strchr(at, ',');
        at = !at ? NULL : at + 1;
    }
    return options->kinds == NULL;
}

/* Adds the points of one kind in one process; the array grows as needed. */
static int add_points(struct torture *t, int process, enum fault_kind kind, unsigned calls)
{
    const unsigned most = kinds[kind].most;
    const unsigned n = most > 0 && calls > most ? most : calls;
    struct fault_point *grown = realloc(t->point, (t->n + (size_t)n * ERRORS + 1) * sizeof *grown);

    if (!grown)
        return -1;
    t->point = grown;
    for (unsigned i = 0; i < n; ++i)
        for (int e = 0; e < ERRORS && kinds[kind].error[e] != 0; ++e)
            t->point[t->n++] =
                (struct fault_point){.process = process,
                                     .kind = kind,
                                     .n = 1 + (unsigned)((unsigned long long)i * calls / n),
                                     .error = kinds[kind].error[e],
                                     .stays = t->options.stays};
    return 0;
}

static int list_points(struct torture *t)
{
    const struct fault_page *page = t->place.page;

    for (int p = 0; p < page->n_processes && p < FAULT_PROCESSES; ++p)
        for (int k = 0; k < FAULT_KINDS; ++k)
            if (wanted(&t->options, kinds[k].name) &&
                add_points(t, p, (enum fault_kind)k, page->in[p].calls[k]) != 0)
                return -1;
    return t->n > 0 ? 0 : -1;
}

static unsigned calls_next_random(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* Moves that many points, chosen at random, to the beginning. */
static void choose_sample(struct torture *t)
{
    unsigned state = t->options.seed;
    size_t n = 0;

    for (size_t i = t->options.part; i < t->n && t->options.parts > 0; i += t->options.parts)
        t->point[n++] = t->point[i];
    t->n = t->options.parts > 0 ? n : t->n;
    if (t->options.sample == 0 || t->options.sample >= t->n)
        return;
    for (size_t i = 0; i < t->options.sample; ++i) {
        const size_t other = i + calls_next_random(&state) % (t->n - i);
        const struct fault_point point = t->point[i];

        t->point[i] = t->point[other];
        t->point[other] = point;
    }
    t->n = t->options.sample;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Parses PROCESS:KIND:N:ERROR. */
static int parse_only(struct torture *t)
{
    struct fault_point *point = calloc(1, sizeof *point);
    char name[16];

    if (!point || sscanf(t->options.only, "%d:%15[a-z]:%u:%d", &point->process, name, &point->n,
                         &point->error) != 4) {
        free(point);
        return -1;
    }
    while (point->kind < FAULT_KINDS && strcmp(kinds[point->kind].name, name) != 0)
        ++point->kind;
    point->stays = t->options.stays;
    t->point = point;
    t->n = 1;
    return point->kind < FAULT_KINDS ? 0 : -1;
}

static void calls_tell(const struct torture *t, const struct fault_point *point, const char *why,
                       const struct fault_end *end)
{
    printf("BAD %s --only %d:%s:%u:%d%s at %#lx: %s\n", t->command->name, point->process,
           kinds[point->kind].name, point->n, point->error, point->stays ? " --stays" : "",
           (unsigned long)t->place.page->where, why);
    if (end->err[0] != '\0')
        printf("    %.400s\n", end->err);
    fflush(stdout);
}

static int run_points(struct torture *t)
{
    struct fault_end end;
    char why[256];

    for (size_t i = 0; i < t->n; ++i) {
        const struct fault_point *point = &t->point[i];

        if (fault_run(&t->place, t->command, point, &end) != 0)
            return calls_complain("a run");
        const enum fault_verdict verdict = fault_judge(&t->place, t->command, point, &end, why);

        ++t->verdict[point->kind][verdict];
        if (verdict == FAULT_BAD)
            calls_tell(t, point, why, &end);
        if (t->options.only)
            printf("%s%sstatus %d\n", end.out, end.err, WEXITSTATUS(end.status));
    }
    return 0;
}

static int calls_sum_up(const struct torture *t)
{
    unsigned sum[FAULT_VERDICTS] = {0}, points = 0;

    printf("%-14s %-8s %6s %6s %9s %10s %6s\n", "command", "calls", "points", "said", "unharmed",
           "unreached", "bad");
    for (int k = 0; k <= FAULT_KINDS; ++k) {
        const unsigned *v = k < FAULT_KINDS ? t->verdict[k] : sum;
        const unsigned n = v[FAULT_SAID] + v[FAULT_UNHARMED] + v[FAULT_UNREACHED] + v[FAULT_BAD];

        for (int i = 0; i < FAULT_VERDICTS && k < FAULT_KINDS; ++i)
            sum[i] += v[i];
        points += k < FAULT_KINDS ? n : 0;
        if (n > 0)
            printf("%-14s %-8s %6u %6u %9u %10u %6u\n", t->command->name,
                   k < FAULT_KINDS ? kinds[k].name : "all", n, v[FAULT_SAID], v[FAULT_UNHARMED],
                   v[FAULT_UNREACHED], v[FAULT_BAD]);
    }
    if (points == sum[FAULT_UNREACHED] || sum[FAULT_BAD] > 0) {
        printf("FAIL %s: %u of %u points are bad, %u were not reached\n", t->command->name,
               sum[FAULT_BAD], points, sum[FAULT_UNREACHED]);
        return 1;
    }
    printf("PASS %s: %u points\n", t->command->name, points);
    return 0;
}

/* Runs without a fault: the other runs are compared with the files that it leaves. */
static int run_true(struct torture *t)
{
    const struct fault_point none = {.n = 0};
    struct fault_end end;
    char why[256];

    for (int i = 0; i < 2; ++i) {
        if (fault_run(&t->place, t->command, &none, &end) != 0)
            return calls_complain("a run");
        if (!WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0) {
            fprintf(stderr, "torture_calls: without a fault: status %d\n%s%s",
                    WEXITSTATUS(end.status), end.out, end.err);
            return 2;
        }
        if (i == 0 && (fault_remove("../true") != 0 || rename("../run", "../true") != 0 ||
                       rename("../out", "../true.out") != 0 || mkdir("../run", 0777) != 0 ||
                       chdir("../run") != 0))
            return calls_complain("the folder of a run");
    }
    if (fault_judge(&t->place, t->command, &none, &end, why) != FAULT_BAD)
        return 0;
    fprintf(stderr, "torture_calls: two runs without a fault differ: %s\n", why);
    return 2;
}

static int calls_prepare(struct fault_place *place, const char *folder)
{
    int file;

    snprintf(place->page_path, sizeof place->page_path, "%s/page", folder);
    if (chdir(folder) != 0 || fault_remove("run") != 0 || mkdir("run", 0777) != 0 ||
        chdir("run") != 0)
        return calls_complain(folder);
    file = open(place->page_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, sizeof *place->page) != 0)
        return calls_complain(place->page_path);
    place->page = mmap(NULL, sizeof *place->page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (place->page == MAP_FAILED)
        return calls_complain(place->page_path);
    return process_adopt() == 0 ? 0 : calls_complain("orphans cannot be adopted");
}

static int calls_parse(int argc, char **argv, struct options *options)
{
    for (int i = 5; i < argc; ++i) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--stays") == 0) {
            options->stays = true;
            continue;
        }
        if (!value)
            return -1;
        if (strcmp(argv[i], "--kinds") == 0)
            options->kinds = value;
        else if (strcmp(argv[i], "--only") == 0)
            options->only = value;
        else if (strcmp(argv[i], "--sample") == 0)
            options->sample = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--part") == 0 &&
                 sscanf(value, "%u/%u", &options->part, &options->parts) == 2)
            ;
        else if (strcmp(argv[i], "--seed") == 0)
            options->seed = (unsigned)strtoul(value, NULL, 10);
        else
            return -1;
        ++i;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct torture t = {.place = {.limit_s = 60}, .command = fault_commands};
    int status;

    if (argc < 5 || calls_parse(argc, argv, &t.options) != 0) {
        fputs("usage: torture_calls LOCKSTEP SHIM FOLDER COMMAND [--kinds KIND,..] [--stays]\n"
              "           [--part I/N] [--sample N --seed S | --only PROCESS:KIND:N:ERROR]\n",
              stderr);
        return 2;
    }
    while (t.command->name && strcmp(t.command->name, argv[4]) != 0)
        ++t.command;
    if (!t.command->name) {
        fprintf(stderr, "torture_calls: no command '%s'\n", argv[4]);
        return 2;
    }
    t.place.program = argv[1];
    t.place.shim = argv[2];
    status = calls_prepare(&t.place, argv[3]);
    if (status == 0)
        status = run_true(&t);
    if (status == 0 && (t.options.only != NULL ? parse_only(&t) : list_points(&t)) != 0) {
        fputs("torture_calls: no points: is the shim for this program?\n", stderr);
        status = 2;
    }
    if (status == 0) {
        choose_sample(&t);
        status = run_points(&t);
    }
    if (status == 0)
        status = calls_sum_up(&t);
    free(t.point);
    return status;
}
