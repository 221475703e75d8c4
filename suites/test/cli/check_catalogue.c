/* check_catalogue.c: tables of cases that do not fit together must be refused, each for its own
 * fault, and the tables that are there must fit. Prints what went wrong, exit status 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"

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
    const int status = runner_catalogue(areas, 1, &why);

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

    if (runner_catalogue(twice, 2, &why) != 0 && strstr(why.text, "two areas"))
        return 0;
    printf("two areas of one name: '%s'\n", why.text);
    return 1;
}

static int check_real(void)
{
    struct text_error why = {""};

    if (runner_catalogue(check_areas, check_n_areas, &why) == 0 && check_n_areas > 0)
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
