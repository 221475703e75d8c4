/* fleet.c: how often the judgement of a fleet is right, by simulation with fixed seeds; and names
 * of nodes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet.h"
#include "noise.h"
#include "numbers/stats.h"

/* ---- fleets that are made up -------------------------------------------------------------- */

enum { SERIES = 8, NODES = 256, FLEETS = 400 };

enum noise { NORMAL, WORST_OF_8, STEPS, EQUAL, NOISES };
static const char *const noise_names[NOISES] = {"normal", "worst of 8", "steps", "equal"};

/* Returns noise in standard deviations of normal noise. */
static double next_noise(enum noise kind, uint64_t *state)
{
    double most = -INFINITY;

    if (kind == EQUAL)
        return 0;
    for (int i = 0; i < (kind == WORST_OF_8 ? 8 : 1); ++i)
        most = fmax(most, noise_normal(state));
    return kind == STEPS ? round(most / 4) : most; /* more than half are 0, as a coarse clock is */
}

struct bench {
    struct fleet fleet;
    struct fleet_node node[NODES];
    struct fleet_limit limit[SERIES];
    struct fleet_number number[NODES][SERIES];
    char name[SERIES][16];
};

static void fleet_set(struct fleet_number *number, size_t limit, double value)
{
    *number = (struct fleet_number){
        .limit = (uint16_t)limit, .device = -1, .value = value, .lo = value, .hi = value};
}

static void fleet_scale(struct fleet_number *number, double factor)
{
    number->value *= factor;
    number->lo *= factor;
    number->hi *= factor;
}

static void make_fleet(struct bench *bench, size_t nodes, enum noise kind, double sd,
                       uint64_t *state)
{
    for (size_t s = 0; s < SERIES; ++s) {
        snprintf(bench->name[s], sizeof bench->name[s], "number %zu", s);
        bench->limit[s] =
            (struct fleet_limit){.name = bench->name[s], .kind = QUANTITY_TIME, .worse = 1};
    }
    for (size_t i = 0; i < nodes; ++i) {
        bench->node[i] = (struct fleet_node){
            .limit = bench->limit, .number = bench->number[i], .n_numbers = SERIES};
        snprintf(bench->node[i].name, FLEET_NAME, "node%03zu", i);
        for (size_t s = 0; s < SERIES; ++s)
            fleet_set(&bench->number[i][s], s, 1e6 * exp(sd * next_noise(kind, state)));
    }
    bench->fleet = (struct fleet){.node = bench->node, .n = nodes, .expects = true};
}

static size_t named(const struct bench *bench)
{
    size_t n = 0;

    for (size_t i = 0; i < bench->fleet.n; ++i)
        n += bench->node[i].worse + bench->node[i].better > 0;
    return n;
}

static void fleet_judge(struct bench *bench)
{
    fleet_find_outliers(&bench->fleet);
    free(bench->fleet.outlier);
}

/* Returns in how many fleets a node is named although all nodes are alike. */
static size_t false_names(size_t nodes, enum noise kind, double sd)
{
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t state = 20261123 + nodes + 1000 * (uint64_t)kind;
    size_t fleets = 0;

    cr_assert_not_null(bench);
    for (size_t f = 0; f < FLEETS; ++f) {
        make_fleet(bench, nodes, kind, sd, &state);
        fleet_judge(bench);
        cr_assert(bench->fleet.rule.comparisons == nodes * SERIES);
        fleets += named(bench) > 0;
    }
    free(bench);
    return fleets;
}

/* At 4 % the minimum of the effect does not matter; at 0.5 % it helps. Steps of 4 % would be
 * outliers. */
Test(fleet, nodes_that_are_alike)
{
    static const size_t sizes[] = {8, 11, 17, 32, 64, 128};
    static const double deviations[] = {0.04, 0.005};

    for (int kind = 0; kind < NOISES; ++kind)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
            for (size_t d = kind == STEPS; d < 2; ++d) {
                const size_t found = false_names(sizes[s], (enum noise)kind, deviations[d]);

                cr_assert((double)found <= OUTLIER_ALPHA * FLEETS,
                          "%s, %zu nodes, %g: %zu of %d fleets", noise_names[kind], sizes[s],
                          deviations[d], found, FLEETS);
            }
}

/* How much slower a node has to be depends on how many there are. */
Test(fleet, the_slow_one_is_named)
{
    static const struct {
        size_t nodes;
        double slower;
    } rows[] = {{8, 1.0}, {16, 0.25}, {32, 0.15}, {64, 0.12}, {256, 0.12}};
    struct bench *bench = calloc(1, sizeof *bench);

    cr_assert_not_null(bench);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        uint64_t state = 7 + r;
        size_t found = 0;

        for (int trial = 0; trial < 50; ++trial) {
            make_fleet(bench, rows[r].nodes, NORMAL, 0.01, &state);
            fleet_scale(&bench->number[5][3], 1 + rows[r].slower);
            fleet_judge(bench);
            found += bench->node[5].worse == 1 && named(bench) == 1;
        }
        cr_assert(found >= 45, "%zu nodes: %zu of 50", rows[r].nodes, found);
    }
    free(bench);
}

/* A better node is no failure, and numbers that are 0 or equal cause no division by 0. */
Test(fleet, sides_and_equal_numbers)
{
    static const struct {
        int worse;
        double all, one;
        size_t n_worse, n_better;
    } rows[] = {{1, 5, 6, 1, 0},    {1, 5, 4, 0, 1},   {-1, 5, 6, 0, 1},   {-1, 5, 4, 1, 0},
                {0, 5, 6, 1, 0},    {0, 5, 4, 1, 0},   {1, 0, 1e-9, 1, 0}, {1, 5, 0, 0, 1},
                {1, 0, 0, 0, 0},    {1, 5, 5.1, 0, 0}, {1, 5, 5.2, 1, 0},  {1, 1e300, 1e-300, 0, 1},
                {1, 5, 1e308, 1, 0}};
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t state = 1;

    cr_assert_not_null(bench);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        make_fleet(bench, 64, EQUAL, 1, &state);
        bench->limit[3].worse = rows[r].worse;
        for (size_t i = 0; i < 64; ++i)
            fleet_set(&bench->number[i][3], 3, i == 20 ? rows[r].one : rows[r].all);
        fleet_judge(bench);
        cr_assert(bench->node[20].worse == rows[r].n_worse &&
                      bench->node[20].better == rows[r].n_better &&
                      named(bench) == rows[r].n_worse + rows[r].n_better,
                  "row %zu: %zu worse, %zu better", r, bench->node[20].worse,
                  bench->node[20].better);
    }
    free(bench);
}

/* Seven nodes are too few to name one, and they do not count in the family of tests. */
Test(fleet, few_nodes_are_not_compared)
{
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t state = 1;

    cr_assert_not_null(bench);
    make_fleet(bench, 7, EQUAL, 1, &state);
    fleet_scale(&bench->number[2][2], 1000);
    fleet_judge(bench);
    cr_assert(named(bench) == 0 && bench->fleet.rule.comparisons == 0);
    cr_assert(bench->fleet.rule.small == SERIES && bench->fleet.rule.series == SERIES);
    make_fleet(bench, 8, EQUAL, 1, &state);
    fleet_scale(&bench->number[2][2], 1000);
    bench->node[7].status = FLEET_BROKEN;
    fleet_judge(bench);
    cr_assert(named(bench) == 0 && bench->fleet.rule.comparisons == 0);
    make_fleet(bench, 8, EQUAL, 1, &state);
    fleet_scale(&bench->number[2][2], 1000);
    fleet_judge(bench);
    cr_assert(named(bench) == 1 && bench->node[2].worse == 1);
    free(bench);
}

/* The number alone would be enough, but its interval reaches to the others. */
Test(fleet, a_node_that_scatters_is_not_named)
{
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t state = 5;

    cr_assert_not_null(bench);
    make_fleet(bench, 64, NORMAL, 0.005, &state);
    fleet_scale(&bench->number[4][1], 1.5);
    fleet_judge(bench);
    cr_assert(named(bench) == 1 && bench->node[4].worse == 1);
    make_fleet(bench, 64, NORMAL, 0.005, &state);
    fleet_scale(&bench->number[4][1], 1.5);
    bench->number[4][1].lo /= 1.5;
    fleet_judge(bench);
    cr_assert(named(bench) == 0);
    free(bench);
}

/* A position that is slow in every node names no node; a node that is slow at its position is
 * found. */
Test(fleet, positions_of_devices)
{
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t state = 3;

    cr_assert_not_null(bench);
    make_fleet(bench, 64, NORMAL, 0.005, &state);
    for (size_t i = 0; i < 64; ++i)
        for (size_t s = 0; s < 8; ++s) {
            bench->number[i][s].limit = 0;
            bench->number[i][s].device = (int16_t)s;
            fleet_scale(&bench->number[i][s], s == 7 ? 1.3 : 1);
        }
    fleet_scale(&bench->number[9][2], 1.3); /* as slow as position 7 is */
    fleet_find_outliers(&bench->fleet);
    cr_assert(bench->fleet.n_outliers == 1 && bench->fleet.outlier[0].node == &bench->node[9] &&
              bench->fleet.outlier[0].device == 2);
    free(bench->fleet.outlier);
    free(bench);
}

/* ---- words -------------------------------------------------------------------------------- */

/* A difference is that of the two numbers, as a reader computes it: never of a rate as a time. */
Test(fleet, words_of_a_difference)
{
    static const struct {
        enum quantity_kind kind;
        double value, median;
        int device;
        const char *words;
    } rows[] = {{QUANTITY_TIME, 1.26, 1, -1, "spread 26 % longer than the others"},
                {QUANTITY_TIME, 1.94, 1, -1, "spread 94 % longer than the others"},
                {QUANTITY_TIME, 1.998, 1, -1, "spread twice as long as the others"},
                {QUANTITY_TIME, 31.4, 10, -1, "spread 3.1 times as long as the others"},
                {QUANTITY_TIME, 0.8, 1, -1, "spread 20 % shorter than the others"},
                {QUANTITY_RATE, 50, 100, -1, "spread 50 % lower than the others"},
                {QUANTITY_WORK, 80, 100, 3, "spread 20 % lower than the others, device 3"},
                {QUANTITY_SPEED, 14.9, 20.02, -1, "spread 26 % lower than the others"},
                {QUANTITY_SPEED, 20, 10, -1, "spread twice as high as the others"},
                {QUANTITY_RATIO, 1.06, 1, 2, "spread 6 % higher than the others, device 2"},
                {QUANTITY_BYTES, 1, 4, -1, "spread 75 % lower than the others"},
                {QUANTITY_BYTES, 0.997, 1, -1, "spread 0.3 % lower than the others"},
                {QUANTITY_TIME, 1, 0, -1, "spread not at all as the others"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct fleet_limit limit = {
            .name = strdup("spread floor of mlp"), .kind = rows[i].kind, .worse = 1};
        const struct fleet_outlier outlier = {.limit = &limit,
                                              .device = rows[i].device,
                                              .value = rows[i].value,
                                              .median = rows[i].median,
                                              .nodes = 32,
                                              .is_worse = true};
        char words[96];

        fleet_worse_words(&outlier, words, sizeof words);
        cr_assert(strcmp(words, rows[i].words) == 0, "%s, not %s", words, rows[i].words);
        free(limit.name);
    }
}

/* Which nodes are to be taken out, of nodes that are made up: one of each kind, none, and many. */
Test(fleet, the_answer)
{
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t state = 5;
    char *answer;

    cr_assert_not_null(bench);
    make_fleet(bench, 32, NORMAL, 0.005, &state);
    fleet_scale(&bench->number[20][3], 1.5);
    bench->node[10].status = FLEET_REJECTED;
    snprintf(bench->node[10].cause, FLEET_CAUSE, "step_time");
    for (size_t i = 25; i < 28; ++i)
        bench->node[i].status = FLEET_MISSING;
    bench->node[30].status = FLEET_NOT_SHOWN;
    snprintf(bench->node[30].cause, FLEET_CAUSE, "OPEN step_time");
    fleet_find_outliers(&bench->fleet);
    fleet_count(&bench->fleet);
    answer = fleet_answer(&bench->fleet);
    cr_assert(answer &&
                  strncmp(answer, "Take out 5 of 32: node010 (REJECTED: step_time), node020 (",
                          58) == 0 &&
                  strstr(answer,
                         " % longer than the others), node[025-027] (no verdict). Measure 1 "
                         "again: node030 (NOT SHOWN: OPEN step_time)."),
              "%s", answer);
    free(answer);
    free(bench->fleet.outlier);

    make_fleet(bench, 12, EQUAL, 1, &state);
    fleet_find_outliers(&bench->fleet);
    answer = fleet_answer(&bench->fleet);
    cr_assert(answer && strcmp(answer, "Take out none of 12: all keep their limits, and none is "
                                       "shown to be worse (numbers compared: 8).") == 0,
              "%s", answer);
    free(answer);
    free(bench->fleet.outlier);

    make_fleet(bench, 7, NORMAL, 0.01, &state);
    fleet_scale(&bench->number[2][3], 5);
    fleet_find_outliers(&bench->fleet);
    answer = fleet_answer(&bench->fleet);
    cr_assert(answer && strcmp(answer, "Take out none of 7: all keep their limits. Nodes were not "
                                       "compared: that takes at least 8 of them.") == 0,
              "%s", answer);
    free(answer);
    free(bench->fleet.outlier);
    free(bench);
}

/* The cause of what is slow is named if its number is outlying in that node, and is never one of
 * all nodes: for each metric, with a number that only this node has, that all have, or that none
 * has. */
Test(fleet, a_cause_is_outlying)
{
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t state = 11;

    cr_assert_not_null(bench);
    for (int m = 0; m < VALIDATE_METRICS; ++m)
        for (int who = 0; who < 3; ++who) { /* 0: none, 1: the node, 2: all */
            const char *const reason = who == 1 ? validate_metrics[m].reason : NULL;
            struct fleet_node *node = &bench->node[20];
            char words[2 * FLEET_TEXT], wanted[2 * FLEET_TEXT];

            make_fleet(bench, 32, EQUAL, 1, &state);
            bench->limit[3].row = validate_metric_find("step_time");
            bench->limit[4].row = &validate_metrics[m];
            for (size_t i = 0; i < 32; ++i) {
                bench->number[i][4].device = 2;
                fleet_scale(&bench->number[i][4], who == 2 || (who == 1 && i == 20) ? 1.2 : 1);
            }
            fleet_scale(&bench->number[20][3], 1.5);
            fleet_find_outliers(&bench->fleet);
            fleet_count(&bench->fleet);
            fleet_advice_words(node, words);
            snprintf(wanted, sizeof wanted, "likely cause: %s%s",
                     reason ? reason : validate_no_reason, reason ? " (device 2)" : "");
            cr_assert_str_eq(words, wanted);
            /* The limit that fails shows it by itself; or it does not, and the verdict's own words
             * of it do not count. */
            snprintf(node->shown, sizeof node->shown, "%s",
                     validate_metrics[m].reason ? validate_metrics[m].reason : validate_no_reason);
            snprintf(node->action, FLEET_TEXT, "swap it");
            fleet_advice_words(node, words);
            snprintf(wanted, sizeof wanted, "likely cause: %s; do: swap it", node->shown);
            cr_assert_str_eq(words, wanted);
            fleet_advice_words(&bench->node[19], words);
            cr_assert_str_eq(words, "");
            free(bench->fleet.outlier);
        }
    free(bench);
}

/* ---- names -------------------------------------------------------------------------------- */

Test(fleet, names_for_a_scheduler)
{
    static const char *const safe[] = {"n", "node-1.example.org", "0", "A_b"};
    static const char *const unsafe[] = {"",       "a b",  "a,b",       "a\"b", "a'b",    "a\nb",
                                         "-x",     ".x",   "_x",        "a/b",  "a[1-2]", "a;b",
                                         "a$(b)c", "a\tb", "caf\u00e9", "a*",   "a\177b"};
    char longest[FLEET_NAME + 1];

    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; ++i)
        cr_assert(fleet_name_is_safe(safe[i]), "%s", safe[i]);
    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; ++i)
        cr_assert(!fleet_name_is_safe(unsafe[i]), "%s", unsafe[i]);
    memset(longest, 'a', FLEET_NAME);
    longest[FLEET_NAME] = '\0';
    cr_assert(!fleet_name_is_safe(longest));
    cr_assert(fleet_name_is_safe(longest + 1));
}

Test(fleet, lists_of_names)
{
    static const struct {
        const char *text, *names;
    } rows[] = {{"a\nb\n", "a b"},
                {"\r\n  a  # the first\r\n#\n\nb", "a b"},
                {"n[1-3]", "n1 n2 n3"},
                {"n[08-11]x", "n08x n09x n10x n11x"},
                {"n[1,3-4],m,k[7]", "n1 n3 n4 m k7"},
                {"n[999-1000]", "n999 n1000"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct text_error why = {{0}};
        struct fleet_names names;
        char got[256] = "";

        cr_assert(fleet_expect_text(rows[i].text, "F", &names, &why) == 0, "%s", why.text);
        for (size_t n = 0; n < names.n; ++n)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", n > 0 ? " " : "",
                     names.name[n]);
        cr_assert(strcmp(got, rows[i].names) == 0, "%s: %s", rows[i].text, got);
        fleet_names_free(&names);
    }
}

Test(fleet, lists_that_are_refused)
{
    static const struct {
        const char *text, *why;
    } rows[] = {{"", "names no node"},
                {"# nobody\n", "names no node"},
                {"a\nb c\n", "F:2: 'b c' is no name"},
                {"a\n,b", "F:2: '' is no name"},
                {"n[1-2", "one pair of brackets"},
                {"n1]", "one pair of brackets"},
                {"n[1][2]", "one pair of brackets"},
                {"n[2-1]", "is no range"},
                {"n[]", "is no range"},
                {"n[1-]", "is no range"},
                {"n[-1]", "is no range"},
                {"n[1-2-3]", "is no range"},
                {"n[a-b]", "is no range"},
                {"n[0-9999999999]", "is no range"},
                {"n[1-999999999]", "more than 10000 nodes"},
                {"$(x)[1-2]", "is no name"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct text_error why = {{0}};
        struct fleet_names names;

        cr_assert(fleet_expect_text(rows[i].text, "F", &names, &why) != 0, "%s", rows[i].text);
        cr_assert(strstr(why.text, rows[i].why), "%s: %s", rows[i].text, why.text);
        fleet_names_free(&names);
    }
}
