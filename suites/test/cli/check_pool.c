/* check_pool.c: the results of cases whose process dies, hangs or lies.
 *
 * usage: check_pool FAKE.so */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/pool.h"

enum { CASES = 6 };

static void split(struct check *c)
{
    struct impl_split op = {.rows = 10, .devices = 4};

    check_split(c, &op);
    check_int(c, "shards", op.n, 4);
}

static void compare_nothing(struct check *c)
{
    struct impl_split op = {.rows = 10, .devices = 4};

    check_split(c, &op);
}

static const struct check_case six[CASES] = {
    {.id = "T-01.a", .rule = "T-01", .run = split}, {.id = "T-01.b", .rule = "T-01", .run = split},
    {.id = "T-01.c", .rule = "T-01", .run = split}, {.id = "T-01.d", .rule = "T-01", .run = split},
    {.id = "T-01.e", .rule = "T-01", .run = split}, {.id = "T-01.f", .rule = "T-01", .run = split}};

static const struct check_case idle[1] = {
    {.id = "T-02.idle", .rule = "T-02", .run = compare_nothing}};

struct scene {
    const char *name, *options;
    enum runner_mode mode;
    double limit_s;
    const char *verdicts; /* of the six cases: P F S B; N: broken and not run */
    const char *words;    /* of the first reason that is not empty */
};

static const struct scene scenes[] = {
    {"all pass in one process", "good", RUNNER_SHARED, 0, "PPPPPP", ""},
    {"all pass, a session each", "good", RUNNER_EACH, 0, "PPPPPP", ""},
    {"dies at every second", "crash@2", RUNNER_SHARED, 0, "PFPFPF", "signal 11"},
    {"a session each never gets so far", "crash@2", RUNNER_EACH, 0, "PPPPPP", ""},
    {"ends at every third", "exit0@3", RUNNER_SHARED, 0, "PPFPPF", "status 0 and without"},
    {"hangs at every second", "hang@2", RUNNER_SHARED, 0.2, "PFPFPF", "no answer after 0.2 s"},
    {"hangs always", "hang", RUNNER_SHARED, 0.2, "FFFNNN", "no answer after 0.2 s, in split"},
    {"never opens", "open-crash", RUNNER_SHARED, 0, "FFNNNN", "signal 11"},
    {"refuses to open", "open-error", RUNNER_SHARED, 0, "BBNNNN", "no ?[31mdriver"},
    {"dies when closed", "close-crash", RUNNER_SHARED, 0, "PPPPPF", "signal 11"},
    {"dies when closed, a session each", "close-crash", RUNNER_EACH, 0, "FFFFFF", ", in close"},
    {"forges", "forge@3", RUNNER_SHARED, 0, "PPFPPF", "something other than the suite"},
    {"closes everything", "close@3", RUNNER_SHARED, 0, "PPFPPF", "status 3"},
    {"is wrong", "wrong", RUNNER_SHARED, 0, "PPPPPP", ""},
    {"talks and dies", "noise-crash@4", RUNNER_SHARED, 0, "PPPFPP", "said: ?[31mlast words"},
};

static char verdict_letter(const struct runner_result *result)
{
    if (result->verdict == CHECK_BROKEN && !result->ran)
        return strncmp(result->reason, "not run", 7) == 0 ? 'N' : '?';
    return "PFSB"[result->verdict];
}

static struct runner_job new_job(const char *path, const char *options, enum runner_mode mode,
                                 struct runner_result *list[], size_t n)
{
    return (struct runner_job){.spec = path,
                               .library = true,
                               .impl_options = options,
                               .devices = "",
                               .mode = mode,
                               .result = list,
                               .n = n};
}

static void check_pool_prepare(struct runner_result result[], struct runner_result *list[],
                               const struct check_case tests[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        result[i] = (struct runner_result){.test = &tests[i], .verdict = CHECK_PASS};
        list[i] = &result[i];
    }
}

static int play(const char *path, const struct scene *scene)
{
    struct runner_result result[CASES], *list[CASES];
    struct runner_job job = new_job(path, scene->options, scene->mode, list, CASES);
    char got[CASES + 1] = "";
    const char *reason = "";

    check_pool_prepare(result, list, six, CASES);
    job.limit_s = scene->limit_s;

    const int status = runner_pool(&job, 1, 1, NULL);

    for (int i = CASES; i-- > 0;) {
        got[i] = verdict_letter(&result[i]);
        if (result[i].reason[0] != '\0')
            reason = result[i].reason;
    }
    if (status == 0 && strcmp(got, scene->verdicts) == 0 && strstr(reason, scene->words) &&
        (scene->words[0] != '\0' || reason[0] == '\0'))
        return 0;
    printf("%s: status %d, %s, wanted %s; '%s', wanted '%s'\n", scene->name, status, got,
           scene->verdicts, reason, scene->words);
    return 1;
}

/* The library says FAIL; if a process said PASS, the parent would decide the same. */
static int play_nothing(const char *path)
{
    struct runner_result result[1], *list[1];
    struct runner_job job = new_job(path, "good", RUNNER_EACH, list, 1);

    check_pool_prepare(result, list, idle, 1);
    if (runner_pool(&job, 1, 1, NULL) == 0 && result[0].verdict == CHECK_FAIL &&
        strstr(result[0].reason, "compared nothing"))
        return 0;
    printf("a case that compares nothing: %d '%s'\n", result[0].verdict, result[0].reason);
    return 1;
}

/* Messages are believed only if all their fields are right. */
static int play_messages(void)
{
    struct runner_result result[1], *list[1];
    struct runner_job job = new_job("", "", RUNNER_SHARED, list, 1);
    const struct runner_message wanted = {
        .token = 5, .kind = RUNNER_VERDICT, .outcome = {.verdict = CHECK_PASS, .compared = 1}};
    int faults = 0;

    for (int wrong = 0; wrong < 7; ++wrong) {
        struct runner_process process = {.job = &job, .token = 5, .opened = wrong != 1};
        struct runner_message message = wanted;

        check_pool_prepare(result, list, idle, 1);
        result[0].verdict = CHECK_BROKEN;
        job.next = wrong == 6 ? 1 : 0;
        message.token += wrong == 2;
        message.index += wrong == 3;
        message.outcome.verdict += wrong == 4 ? 100 : 0;
        message.outcome.compared -= wrong == 5;
        process.message = message;
        runner_process_take(&process);

        const bool passed = result[0].verdict == CHECK_PASS;

        if (passed == (wrong == 0) && process.damaged == (wrong != 0 && wrong != 5))
            continue;
        printf("message %d: passed %d, damaged %d\n", wrong, passed, process.damaged);
        ++faults;
    }
    return faults;
}

/* Several jobs run at a time, and there are more jobs than slots. */
static int play_many(const char *path)
{
    static const char *const options[] = {"good", "crash@2", "good", "exit3@3", "hang@4", "good"};
    static const char *const wanted[] = {"PPPPPP", "PFPFPF", "PPPPPP",
                                         "PPFPPF", "PPPFPP", "PPPPPP"};
    struct runner_result result[CASES][CASES], *list[CASES][CASES];
    struct runner_job job[CASES];
    int faults = 0;

    for (int j = 0; j < CASES; ++j) {
        check_pool_prepare(result[j], list[j], six, CASES);
        job[j] = new_job(path, options[j], RUNNER_SHARED, list[j], CASES);
        job[j].limit_s = 1;
    }
    if (runner_pool(job, CASES, 3, NULL) != 0)
        ++faults;
    for (int j = 0; j < CASES; ++j)
        for (int i = 0; i < CASES; ++i)
            faults += verdict_letter(&result[j][i]) != wanted[j][i];
    if (faults > 0)
        printf("many at a time: %d wrong verdicts\n", faults);
    return faults;
}

int main(int argc, char **argv)
{
    int faults = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: check_pool FAKE.so\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i)
        faults += play(argv[1], &scenes[i]);
    faults += play_nothing(argv[1]) + play_messages() + play_many(argv[1]);
    return faults > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
