/* check/catalogue.c: the areas, rules and cases that exist: it names them, prints --list and
 * --rules, and selects the cases of --profile, --area and --only. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "text/alloc.h"
#include "text/options.h"
#include "words.h"

const char *const runner_obligation_words[] = {
    [MUST] = "MUST", [MUST_REFUSE] = "MUST_REFUSE", [MAY] = "MAY"};
const char *const runner_evidence_words[] = {[OBSERVED] = "observed", [REPORTED] = "reported"};
const char *const runner_verdict_words[] = {
    [CHECK_PASS] = "PASS", [CHECK_FAIL] = "FAIL", [CHECK_SKIP] = "SKIP", [CHECK_BROKEN] = "BROKEN"};

const struct runner_profile runner_profiles[RUNNER_PROFILES] = {
    {"primitives", PROFILE_PRIMITIVES,
     IMPL_CAP_SPLIT | IMPL_CAP_SCATTER | IMPL_CAP_GATHER | IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE |
         IMPL_CAP_BUCKETS | IMPL_CAP_SAMPLER,
     2},
    {"dataparallel", PROFILE_DATAPARALLEL,
     IMPL_CAP_SPLIT | IMPL_CAP_SCATTER | IMPL_CAP_GATHER | IMPL_CAP_BROADCAST | IMPL_CAP_REDUCE |
         IMPL_CAP_APPLY | IMPL_CAP_PARALLEL | IMPL_CAP_FUNCTIONAL | IMPL_CAP_TRACE |
         IMPL_CAP_TRAFFIC | IMPL_CAP_ARGUMENTS,
     2},
    {"ddp", PROFILE_DDP, IMPL_CAP_DDP, 2},
};

void runner_rule(const struct check_area *area, int number, char rule[32])
{
    snprintf(rule, 32, "%.24s-%02d", area->name, number % 1000);
}

/* It is called for each rule and case, so it compares texts instead of printing all names. */
const struct check_area *runner_area_of(const char *rule)
{
    for (int i = 0; i < check_n_areas; ++i) {
        const struct check_area *area = check_areas[i];
        const size_t length = strlen(area->name);
        char name[32];

        if (strncmp(rule, area->name, length) != 0 || rule[length] != '-')
            continue;
        const long number = strtol(rule + length + 1, NULL, 10);

        if (number < 1 || number > area->n_rules)
            continue;
        runner_rule(area, (int)number, name);
        if (strcmp(name, rule) == 0)
            return area;
    }
    return NULL;
}

const struct check_excuse *runner_excuse(const struct check_area *area, const char *rule)
{
    for (int i = 0; i < area->n_excuses; ++i)
        if (strcmp(area->excuses[i].rule, rule) == 0)
            return &area->excuses[i];
    return NULL;
}

/* ---- --list, --rules ------------------------------------------------------------------------- */

const char *runner_obligation(const struct check_case *test, bool failed)
{
    static const char *const words[] = {
        [MUST] = "must", [MUST_REFUSE] = "must refuse", [MAY] = "optional"};

    return failed && test->obligation == MAY ? "required if offered" : words[test->obligation];
}

const char *runner_area_name(const struct check_case *test)
{
    const struct check_area *area = runner_area_of(test->rule);

    return area ? area->name : test->rule;
}

void runner_list(FILE *stream, const struct check_case *const tests[], size_t n)
{
    char needs[RUNNER_TEXT], devices[32];

    for (size_t i = 0; i < n; ++i) {
        const struct check_case *test = tests[i];

        needs[0] = '\0';
        for (int c = 0; c < RUNNER_CAPABILITIES; ++c)
            if (test->needs >> c & 1)
                text_list(needs, sizeof needs, ",", impl_capability_word((uint64_t)1 << c));
        snprintf(devices, sizeof devices, "%d device%s", test->devices,
                 test->devices == 1 ? "" : "s");
        if (test->devices > 0)
            text_list(needs, sizeof needs, ",", devices);
        fprintf(stream, "%-25s %-11s %s\n", test->id, runner_obligation(test, false),
                needs[0] != '\0' ? needs : "nothing");
    }
}

void runner_rules(FILE *stream, uint64_t areas)
{
    char rule[32], text[RUNNER_TEXT];
    int count[3] = {0};

    for (int a = 0; a < check_n_areas; ++a) {
        const struct check_area *area = check_areas[a];

        if (areas >> a & 1)
            fprintf(stream, "%s: %s\n", area->name, check_words(area->name));
        for (int i = 1; i <= area->n_rules && areas >> a & 1; ++i) {
            runner_rule(area, i, rule);

            const struct check_excuse *excuse = runner_excuse(area, rule);
            const struct check_case *test;
            int cases = 0;

            for (int k = 0; (test = check_area_case(area, k)); ++k)
                cases += strcmp(test->rule, rule) == 0;
            if (!excuse)
                snprintf(text, sizeof text, "covered         %d case%s", cases,
                         cases == 1 ? "" : "s");
            else
                snprintf(text, sizeof text, "%-15s %s",
                         excuse->pending ? "pending" : "not applicable", excuse->reason);
            ++count[excuse == NULL ? 0 : excuse->pending ? 1 : 2];
            fprintf(stream, "%-9s ", rule);
            command_wrap(stream, text, 10, 26, 80);
            fprintf(stream, "%10s", "");
            command_wrap(stream, check_words(rule), 10, 10, 80);
        }
    }
    fprintf(stream, "%d rules: %d covered, %d pending, %d not applicable\n",
            count[0] + count[1] + count[2], count[0], count[1], count[2]);
}

/* ---- --profile, --area, --only --------------------------------------------------------------- */

/* The parts of a list that is separated by commas. */
struct parts {
    char text[RUNNER_TEXT];
    char *part[RUNNER_AREAS];
    size_t hits[RUNNER_AREAS];
    bool exists[RUNNER_AREAS]; /* --only: there is such a case, asked for or not */
    size_t n;
};

static int cut_list(const char *command, const char *option, const char *list, struct parts *parts)
{
    char *rest = NULL;

    *parts = (struct parts){.n = 0};
    snprintf(parts->text, sizeof parts->text, "%s", list);
    for (char *one = strtok_r(parts->text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (parts->n == RUNNER_AREAS)
            return command_refuse(command, "%s: at most %d names", option, RUNNER_AREAS);
        parts->part[parts->n++] = one;
    }
    if (parts->n == 0 && list[0] != '\0')
        return command_refuse(command, "%s: '%.40s' names nothing", option, list);
    return 0;
}

int runner_names(const char *command, const char *option, const char *list,
                 const char *const names[], size_t n, uint64_t *bits)
{
    struct text_error why;
    struct parts parts;
    size_t index;
    const int status = cut_list(command, option, list, &parts);

    *bits = 0;
    for (size_t i = 0; i < parts.n && status == 0; ++i) {
        if (option_name(option + 2, parts.part[i], names, n, &index, &why))
            return command_refuse(command, "%s: %s", option, why.text);
        *bits |= (uint64_t)1 << index;
    }
    return status;
}

int runner_areas(const char *command, const struct runner_options *options, uint64_t *areas)
{
    const char *names[RUNNER_AREAS];

    for (int a = 0; a < check_n_areas && a < RUNNER_AREAS; ++a)
        names[a] = check_areas[a]->name;
    const int status =
        runner_names(command, "--area", options->area, names, (size_t)check_n_areas, areas);

    if (options->area[0] == '\0')
        *areas = ~(uint64_t)0;
    return status;
}

/* With the profile ddp alone, what all else rests on comes first: area DDP. */
static int area_at(const struct runner_options *options, int k)
{
    int first = options->profiles == PROFILE_DDP ? check_n_areas - 1 : 0;

    while (first > 0 && strcmp(check_areas[first]->name, "DDP") != 0)
        --first;
    return k == 0 ? first : k <= first ? k - 1 : k;
}

int runner_select(const char *command, const struct runner_options *options,
                  const struct check_case ***tests, size_t *n)
{
    const struct check_case *test;
    struct parts only;
    uint64_t areas;
    size_t total = 1;
    int status = runner_areas(command, options, &areas);

    *n = 0;
    if (status == 0)
        status = cut_list(command, "--only", options->only[0] == '@' ? "" : options->only, &only);
    if (status)
        return status;
    for (int a = 0; a < check_n_areas; ++a)
        total += (size_t)check_area_size(check_areas[area_at(options, a)]);
    *tests = cli_alloc(total, sizeof **tests);
    for (int k = 0; k < check_n_areas; ++k) {
        const int a = area_at(options, k);

        for (int i = 0; (test = check_area_case(check_areas[a], i)); ++i) {
            const bool asked = (test->profiles & options->profiles) != 0 && (areas >> a & 1) != 0;
            bool matches = only.n == 0; /* an empty list matches all */

            for (size_t j = 0; j < only.n; ++j)
                if (fnmatch(only.part[j], test->id, 0) == 0 ||
                    fnmatch(only.part[j], test->rule, 0) == 0) {
                    only.hits[j] += asked;
                    only.exists[j] = true;
                    matches = true;
                }
            if (matches && asked)
                (*tests)[(*n)++] = test;
        }
    }
    for (size_t i = 0; i < only.n; ++i)
        if (only.hits[i] == 0)
            return command_refuse(command, "--only: '%.60s' %s; --list shows them", only.part[i],
                                  only.exists[i] ? "is outside of --area or --profile"
                                                 : "matches no case");
    if (*n > 0)
        return 0;
    return command_refuse(command, "no case is selected: --area and --profile together leave none");
}

size_t runner_left_out(const struct runner_run *run)
{
    const struct check_case *test;
    unsigned profiles = 0;
    size_t n = 0, ran = 0;

    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if ((runner_profiles[p].required & ~run->is.about.capabilities) == 0)
            profiles |= runner_profiles[p].bit & run->profiles;
    if (profiles == 0)
        profiles = run->profiles;
    for (int a = 0; a < check_n_areas && run->options->part; ++a)
        for (int i = 0; (test = check_area_case(check_areas[a], i)); ++i)
            n += (test->profiles & profiles) != 0;
    for (size_t i = 0; i < run->n; ++i)
        ran += (run->result[i].test->profiles & profiles) != 0 &&
               runner_area_of(run->result[i].test->rule);
    return n > ran ? n - ran : 0;
}
