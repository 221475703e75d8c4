/* check_catalogue.c: the tables of cases fit together: every rule has a case or an excuse and never
 * both, every case belongs to a rule of its area, and so on. Tables that do not fit are found, each
 * for its own fault. Prints what went wrong, exit status 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"

/* ---- what must hold -------------------------------------------------------------------------- */

static bool is_rule_of(const struct check_area *area, const char *rule)
{
    char name[32];

    for (int i = 1; i <= area->n_rules; ++i) {
        runner_rule(area, i, name);
        if (strcmp(name, rule) == 0)
            return true;
    }
    return false;
}

static int cases_of(const struct check_area *area, const char *rule)
{
    const struct check_case *test;
    int n = 0;

    for (int i = 0; (test = check_area_case(area, i)); ++i)
        n += strcmp(test->rule, rule) == 0;
    return n;
}

static int check_case_row(const struct check_area *area, const struct check_case *test,
                          struct text_error *why)
{
    const unsigned profiles = PROFILE_PRIMITIVES | PROFILE_DATAPARALLEL | PROFILE_DDP;

    if (!test->id || !test->rule || !test->run + !test->each + !test->ranks != 2)
        return text_fail(why, "area %s: a case without an id, a rule or a function", area->name);
    if (!is_rule_of(area, test->rule))
        return text_fail(why, "%.80s: '%.40s' is not a rule of the area %s", test->id, test->rule,
                         area->name);

    const size_t length = strlen(test->rule);

    if (strncmp(test->id, test->rule, length) != 0 || test->id[length] != '.' ||
        test->id[length + 1] == '\0')
        return text_fail(why, "%.80s: the id must begin with the rule, '%s.'", test->id,
                         test->rule);
    /* Ids are typed, quoted and matched by globs. */
    if (test->id[strspn(
            test->id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")] != '\0')
        return text_fail(why, "%.80s: an id has letters, digits, '_', '-' and '.' only", test->id);
    if (test->profiles == 0 || (test->profiles & ~profiles) != 0)
        return text_fail(why, "%.80s: belongs to no profile, or to one that is not there",
                         test->id);
    if (test->needs >> RUNNER_CAPABILITIES != 0 || test->devices < 0 ||
        test->devices > IMPL_MAX_DEVICES)
        return text_fail(why, "%.80s: needs something that is not in impl.h", test->id);
    /* An implementation with all capabilities that a profile requires must be able to pass it. */
    for (int i = 0; test->obligation != MAY && i < RUNNER_PROFILES; ++i)
        if ((test->profiles & runner_profiles[i].bit) != 0 &&
            (test->needs & ~runner_profiles[i].required) != 0)
            return text_fail(why,
                             "%.80s: needs a capability that its profile '%s' does not require",
                             test->id, runner_profiles[i].name);
    return 0;
}

static int check_area_row(const struct check_area *area, struct text_error *why)
{
    const struct check_case *test;
    char rule[32];

    if (area->n_rules < 1 || area->n_rules > 99)
        return text_fail(why, "area %s: no rules", area->name);
    /* An id begins with a rule of its area, so another area cannot have it. */
    for (int i = 0; (test = check_area_case(area, i)); ++i) {
        if (check_case_row(area, test, why))
            return -1;
        for (int k = 0; k < i; ++k)
            if (strcmp(check_area_case(area, k)->id, test->id) == 0)
                return text_fail(why, "two cases are called %.80s", test->id);
    }
    for (int i = 0; i < area->n_excuses; ++i) {
        const struct check_excuse *excuse = &area->excuses[i];

        if (!is_rule_of(area, excuse->rule))
            return text_fail(why, "an excuse for '%.40s', which is not a rule of the area %s",
                             excuse->rule, area->name);
        if (runner_excuse(area, excuse->rule) != excuse)
            return text_fail(why, "%s has two excuses", excuse->rule);
        if (!excuse->reason || excuse->reason[0] == '\0')
            return text_fail(why, "%s has an excuse without a reason", excuse->rule);
    }
    for (int i = 1; i <= area->n_rules; ++i) {
        runner_rule(area, i, rule);

        const int n = cases_of(area, rule);
        const bool excused = runner_excuse(area, rule) != NULL;

        if (n == 0 && !excused)
            return text_fail(why, "%s has neither a case nor an excuse", rule);
        if (n > 0 && excused)
            return text_fail(why, "%s has %d cases and an excuse for having none", rule, n);
    }
    return 0;
}

static int check_catalogue(const struct check_area *const areas[], int n, struct text_error *why)
{
    if (n > RUNNER_AREAS)
        return text_fail(why, "there are %d areas, more than %d", n, RUNNER_AREAS);
    for (int a = 0; a < n; ++a) {
        for (int b = 0; b < a; ++b)
            if (strcmp(areas[a]->name, areas[b]->name) == 0)
                return text_fail(why, "two areas are called %s", areas[a]->name);
        if (check_area_row(areas[a], why))
            return -1;
    }
    return 0;
}

/* ---- tables with a fault each -----------------------------------------------------------------
 */

static void check_catalogue_nothing(struct check *c)
{
    (void)c;
}

#define CASE(id_, rule_)                                                                           \
    {                                                                                              \
        .id = (id_), .rule = (rule_), .profiles = PROFILE_PRIMITIVES,                              \
        .run = check_catalogue_nothing                                                             \
    }

static const struct check_case good_cases[] = {CASE("A-01.a", "A-01"), CASE("A-01.b", "A-01")};
static const struct check_table good_table = CHECK_TABLE(good_cases);
static const struct check_table *const good[] = {&good_table};
static const struct check_table *const doubled[] = {&good_table, &good_table};
static const struct check_case other_cases[] = {CASE("B-01.a", "B-01")};
static const struct check_table other_table = CHECK_TABLE(other_cases);
static const struct check_excuse good_excuses[] = {{"A-02", true, "later"}};

struct row {
    const char *name;
    struct check_area area;
    const char *words; /* of the complaint; NULL: fits */
};

#define CASES(...)                                                                                 \
    (const struct check_table *const[]){                                                           \
        &(const struct check_table)CHECK_TABLE(((const struct check_case[]){__VA_ARGS__}))},       \
        1
#define EXCUSES(...)                                                                               \
    (const struct check_excuse[]){__VA_ARGS__},                                                    \
        sizeof((const struct check_excuse[]){__VA_ARGS__}) / sizeof(struct check_excuse)

static const struct row rows[] = {
    {"fits", {"A", 2, good, 1, good_excuses, 1}, NULL},
    {"no case, no excuse", {"A", 3, good, 1, good_excuses, 1}, "A-03 has neither"},
    {"both",
     {"A", 2, good, 1, EXCUSES({"A-01", false, "no"}, {"A-02", true, "x"})},
     "A-01 has 2 cases and an excuse"},
    {"excuse of no rule", {"A", 1, good, 1, EXCUSES({"A-02", true, "x"})}, "not a rule"},
    {"two excuses",
     {"A", 2, good, 1, EXCUSES({"A-02", true, "x"}, {"A-02", true, "x"})},
     "two excuses"},
    {"no reason", {"A", 2, good, 1, EXCUSES({"A-02", true, ""})}, "without a reason"},
    {"other area", {"A", 1, CASES(CASE("B-01.a", "B-01")), NULL, 0}, "not a rule of the area A"},
    {"no such number",
     {"A", 1, CASES(CASE("A-02.a", "A-02")), NULL, 0},
     "not a rule of the area A"},
    {"short number", {"A", 1, CASES(CASE("A-1.a", "A-1")), NULL, 0}, "not a rule of the area A"},
    {"other prefix", {"A", 1, CASES(CASE("A-02.a", "A-01")), NULL, 0}, "must begin"},
    {"longer prefix", {"A", 1, CASES(CASE("A-011.a", "A-01")), NULL, 0}, "must begin"},
    {"no subject", {"A", 1, CASES(CASE("A-01.", "A-01")), NULL, 0}, "must begin"},
    {"glob in the id", {"A", 1, CASES(CASE("A-01.*", "A-01")), NULL, 0}, "letters, digits"},
    {"same id",
     {"A", 1, CASES(CASE("A-01.a", "A-01"), CASE("A-01.a", "A-01")), NULL, 0},
     "two cases are called A-01.a"},
    {"same id in two tables", {"A", 2, doubled, 2, good_excuses, 1}, "two cases are called A-01."},
    {"other area in the second table",
     {"A", 2, (const struct check_table *const[]){&good_table, &other_table}, 2, good_excuses, 1},
     "not a rule of the area A"},
    {"no function",
     {"A", 1, CASES({.id = "A-01.a", .rule = "A-01", .profiles = PROFILE_DDP}), NULL, 0},
     "without an id"},
    {"not a rule",
     {"A", 1, CASES({.id = "A-01.a", .run = check_catalogue_nothing}), NULL, 0},
     "without an id"},
    {"no profile",
     {"A", 1, CASES({.id = "A-01.a", .rule = "A-01", .run = check_catalogue_nothing}), NULL, 0},
     "no profile"},
    {"unknown need",
     {"A", 1,
      CASES({.id = "A-01.a",
             .rule = "A-01",
             .run = check_catalogue_nothing,
             .profiles = 1,
             .needs = 1U << 31}),
      NULL, 0},
     "not in impl.h"},
    {"no rules", {"A", 0, good, 1, NULL, 0}, "no rules"},
};

static int check_row(const struct row *row)
{
    const struct check_area *const areas[] = {&row->area};
    struct text_error why = {""};
    const int status = check_catalogue(areas, 1, &why);

    if (!row->words ? status == 0 : status != 0 && strstr(why.text, row->words))
        return 0;
    printf("%s: status %d, '%s', wanted '%s'\n", row->name, status, why.text,
           row->words != NULL ? row->words : "no complaint");
    return 1;
}

static int check_two_areas(void)
{
    const struct check_area *const twice[] = {&rows[0].area, &rows[0].area};
    struct text_error why = {""};

    if (check_catalogue(twice, 2, &why) != 0 && strstr(why.text, "two areas"))
        return 0;
    printf("two areas of one name: '%s'\n", why.text);
    return 1;
}

static int check_real(void)
{
    struct text_error why = {""};

    if (check_catalogue(check_areas, check_n_areas, &why) == 0 && check_n_areas > 0)
        return 0;
    printf("the suite's own tables: %s\n", why.text);
    return 1;
}

int main(void)
{
    int faults = check_real() + check_two_areas();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        faults += check_row(&rows[i]);
    return faults > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
