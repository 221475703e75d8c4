/* links.c: which copies between devices are slow, and how that is reported; and what to do about a
 * limit that is not decided. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "validate/profile.h"
#include "validate/validate.h"

enum { DEVICES = 4, SLOW_NS = 4000, FAST_NS = 1000, BYTES = 1000 };

/* One case: the speed of copies from one device to another, and the words about it. */
struct is_slow {
    int devices;
    char slow[DEVICES][DEVICES + 1]; /* 'x': is slow */
    const char *words;
};

static void links_judge(const struct is_slow *row, struct validate_judged *judged)
{
    static struct record_run run;
    static struct record_cell cell;
    static struct report_row rows[2];
    static struct report_point point;
    static struct profile_limit limit;
    static uint64_t ns[DEVICES * DEVICES];
    const int devices = row->devices;

    run.n_slots = devices;
    for (int d = 0; d < devices; ++d)
        snprintf(run.slot[d].name, sizeof run.slot[d].name, "virt:%d", d);
    for (int pair = 0; pair < devices * devices; ++pair)
        ns[pair] = row->slow[pair / devices][pair % devices] == 'x' ? SLOW_NS : FAST_NS;
    cell.key.n_devices = devices;
    cell.part[RECORD_COPY] = (struct record_part_times){BYTES, (size_t)(devices * devices), 1, ns};
    for (int i = 0; i < 2; ++i)
        rows[i] = (struct report_row){.run = &run, .cell = &cell};
    point = (struct report_point){.n = 2, .row = rows, .key = &cell.key};
    limit = (struct profile_limit){.metric = "peer_copy",
                                   .row = validate_metric_find("peer_copy"),
                                   .by = VALIDATE_TYPICAL,
                                   .least = 5e8,
                                   .most = INFINITY};
    *judged = (struct validate_judged){
        .limit = &limit, .verdict = VALIDATE_FAIL, .point = &point, .launches = 2};
}

Test(links, what_is_slow)
{
    static const struct is_slow rows[] = {
        {4,
         {"....", "..x.", ".x..", "...."},
         "only copies between virt:1 and virt:2, both ways: their link (at most 250 MB/s; others "
         "at least 1 GB/s)"},
        {4,
         {"....", "....", "....", ".x.."},
         "only copies from virt:3 to virt:1: that way of their link (at most"},
        {4,
         {"....", "x.xx", "....", "...."},
         "all that virt:1 sends, and nothing else: that device (at most"},
        {4,
         {"..x.", "..x.", "....", "..x."},
         "all that virt:2 receives, and nothing else: that device (at most"},
        {4,
         {"x..x", "...x", "...x", "xxx."},
         "all that virt:3 sends and receives, and nothing else: that device (at most"},
        {4, {".xxx", "x.xx", "xx.x", "xxx."}, "all copies between devices (at most 250 MB/s)"},
        {4,
         {"....", "..x.", "....", "x..."},
         "2 of 12 kinds of copies, the slowest from virt:1 to virt:2 (at most"},
        {4,
         {".x..", "x...", "...x", "...."},
         "3 of 12 kinds of copies, the slowest from virt:0 to virt:1 (at most"},
        {4, {"..xx", "....", "....", "...."}, "2 of 12 kinds of copies"},
        {3, {".xx", "...", "..."}, "all that virt:0 sends, and nothing else: that device (at most"},
        {3,
         {"...", "..x", ".x."},
         "only copies between virt:1 and virt:2, both ways: their link (at most"},
        {2,
         {".x", "x."},
         "only copies between virt:0 and virt:1, both ways: one of the two, or their link (at most "
         "250 MB/s)"},
        {2, {"..", "x."}, "only copies from virt:1 to virt:0: that way of their link (at most"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct validate_judged judged;

        links_judge(&rows[i], &judged);
        validate_find_link(&judged);
        cr_assert(strncmp(judged.why, "slow: ", 6) == 0 &&
                      strncmp(judged.why + 6, rows[i].words, strlen(rows[i].words)) == 0,
                  "row %zu: %s", i, judged.why);
    }
}

/* The metric is the slowest copy that a device sends; a device does not copy to itself. */
Test(links, of_each_device)
{
    static const struct is_slow row = {3, {"..x", "...", "x.."}, ""};
    struct validate_judged judged;
    double *rate, steps[RECORD_MOST_PARTS];

    links_judge(&row, &judged);
    struct validate_sample at = {.metric = validate_metric_find("peer_copy"),
                                 .point = judged.point,
                                 .row = judged.point->row,
                                 .by = VALIDATE_TYPICAL,
                                 .steps = steps};

    rate = validate_pairs(&judged);
    cr_assert(rate != NULL);
    for (int from = 0; from < 3; ++from) {
        double least = INFINITY;

        cr_assert(isnan(rate[from * 3 + from]));
        for (int to = 0; to < 3; ++to)
            least = to == from ? least : fmin(least, rate[from * 3 + to]);
        cr_assert(fabs(least - (from == 1 ? 1e9 : 2.5e8)) < 1);
        at.device = from;
        cr_assert(fabs(least - validate_metric_value(&at)) < 1e-3);
    }
    free(rate);
}

/* ---- advice ---------------------------------------------------------------------------------- */

/* By an interval that is made up: how much longer it takes, by the command that was used; and what
 * no number of launches decides. */
Test(links, advice_for_an_open_limit)
{
    static const struct {
        size_t launches;
        double middle, lo, hi, least, most, minutes;
        const char *again, *words;
    } rows[] = {
        {16, 1, 0.95, 1.05, -INFINITY, 1.02, 0, NULL,
         "not decided yet: by an estimate, about 100 launches instead of 16 decide it: measure "
         "with --launches 100. If it stays OPEN, the machine is at the limit"},
        {16, 1, 0.95, 1.05, -INFINITY, 1.02, 2, "lockstep validate --profile my.yaml",
         "not decided yet: by an estimate, about 100 launches instead of 16 decide it: run "
         "`lockstep "
         "validate --profile my.yaml --minutes 13`. If it stays OPEN, the machine is at the limit"},
        {16, 1.03, 0.99, 1.05, -INFINITY, 1.01, 0, "lockstep validate --profile my.yaml",
         "not decided yet: by an estimate, about 64 launches instead of 16 decide it: run "
         "`lockstep "
         "validate --profile my.yaml --minutes 20`. If it stays OPEN, the machine is at the limit"},
        {8, 1, 0.9, 1.2, 0.95, INFINITY, 1, "lockstep validate --profile my.yaml",
         "not decided yet: by an estimate, about 32 launches instead of 8 decide it: run `lockstep "
         "validate --profile my.yaml --minutes 4`. If it stays OPEN, the machine is at the limit"},
        {3, 1, NAN, NAN, -INFINITY, 2, 0, NULL,
         "not decided yet: by an estimate, about 5 launches instead of 3 decide it: measure with "
         "--launches 5. If it stays OPEN, the machine is at the limit"},
        {16, 1, 0.95, 1.05, -INFINITY, 1.001, 0, NULL,
         "at the limit: by an estimate, even 30 times as many launches would not decide"},
        {16, 1, 0.95, 1.05, -INFINITY, 1, 2, "lockstep validate --profile my.yaml",
         "at the limit: by an estimate, even 30 times as many launches would not decide"}};
    struct record_file file = {.seconds = 300};
    const struct report report = {.file = &file};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct profile_limit limit = {.metric = "step_time",
                                            .row = validate_metric_find("step_time"),
                                            .least = rows[i].least,
                                            .most = rows[i].most};
        const struct validate validate = {
            .report = &report, .again = rows[i].again, .minutes = rows[i].minutes};
        struct validate_judged judged = {.limit = &limit,
                                         .launches = rows[i].launches,
                                         .units = 1,
                                         .middle = rows[i].middle,
                                         .lo = rows[i].lo,
                                         .hi = rows[i].hi};
        char words[VALIDATE_TEXT];

        validate_judge_numbers(&judged);
        cr_assert(judged.verdict == VALIDATE_OPEN, "row %zu", i);
        validate_action_words(&validate, &judged, words);
        cr_assert(strcmp(words, rows[i].words) == 0, "row %zu: %s", i, words);
    }
}

/* A cause is named if its own number is bad, and only then: of each metric that shows one. */
Test(links, a_cause_is_shown_by_its_own_number)
{
    struct record_cell cell[3] = {0};
    struct report_row rows[3];
    const struct report_point point = {.n = 3, .row = rows};
    const struct profile profile = {.n_limits = 2};
    struct profile_limit limit[2] = {{.row = validate_metric_find("step_time")}};
    struct validate_judged judged[2] = {
        {.limit = &limit[0], .verdict = VALIDATE_FAIL, .launches = 3, .point = &point},
        {.limit = &limit[1], .launches = 3}};
    const struct validate validate = {.profile = &profile, .judged = judged};
    static const char *const wrong[][2] = {
        {"wrong numbers: launch 0, step 1, set 1: outputs, row 8, computed by device 1 of 2 "
         "(virt:1): "
         "index 4: got 1",
         "device 1 of 2 (virt:1), which computed a wrong row"},
        {"wrong numbers: launch 0, probe: outputs, row 8, computed by device 3 of 4: index 4: got "
         "1",
         "device 3 of 4, which computed a wrong row"},
        {"wrong numbers: launch 0, step 1, set 1: gradient of bias of layer 0, element 2: index 0",
         "a device, its memory or a link changes numbers"}};
    char words[VALIDATE_TEXT];
    size_t causes = 0;

    for (int i = 0; i < 3; ++i)
        rows[i] = (struct report_row){.cell = &cell[i]};
    for (int m = 0; m < VALIDATE_METRICS; ++m) {
        const char *const reason = validate_metrics[m].reason;

        limit[1].row = &validate_metrics[m];
        limit[1].metric = validate_metrics[m].name;
        for (int v = 0; v < VALIDATE_VERDICTS; ++v)
            for (int device = -1; device < 2; ++device)
                for (int launches = 0; launches < 2; ++launches) {
                    char whole[VALIDATE_TEXT], number[128];

                    judged[0].device = device < 0 ? 1 : 0; /* -1: the other one is of no device */
                    judged[1].device = device;
                    judged[1].launches = (size_t)launches;
                    judged[1].verdict = (enum validate_verdict)v;
                    validate_number_words(&judged[1], number);
                    snprintf(whole, sizeof whole, "%s%s: its %s is %s", reason ? reason : "",
                             device < 0 ? "" : " (device 0)", validate_metrics[m].name, number);
                    validate_reason_words(&validate, &judged[0], words);
                    cr_assert_str_eq(words,
                                     reason && v == VALIDATE_FAIL && device < 1 && launches > 0
                                         ? whole
                                         : validate_no_reason);
                }
        causes += reason != NULL;
        /* A limit that fails says what it shows by itself, and nothing of another one. */
        judged[0].limit = &limit[1];
        judged[0].device = -1;
        judged[1].verdict = VALIDATE_PASS;
        validate_reason_words(&validate, &judged[0], words);
        cr_assert_str_eq(words, reason ? reason : validate_no_reason);
        judged[0].limit = &limit[0];
    }
    cr_assert(causes == 15, "%zu", causes);
    /* Shares of the cores: one launch of three is not the median, and two are. */
    judged[1].verdict = VALIDATE_PASS;
    cell[0].foreign_frac = 0.9;
    validate_reason_words(&validate, &judged[0], words);
    cr_assert_str_eq(words, validate_no_reason);
    cell[1].foreign_frac = 0.31;
    validate_reason_words(&validate, &judged[0], words);
    cr_assert_str_eq(words, "other programs have the cores");
    cell[1].foreign_frac = (double)NAN;
    cell[1].steal_frac = cell[2].steal_frac = 0.021;
    validate_reason_words(&validate, &judged[0], words);
    cr_assert_str_eq(words, "other machines have the cores");
    /* Wrong numbers: only of a row of outputs the device is known. */
    judged[0].launches = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        snprintf(judged[0].why, sizeof judged[0].why, "%s", wrong[i][0]);
        validate_reason_words(&validate, &judged[0], words);
        cr_assert_str_eq(words, wrong[i][1]);
    }
    /* A device that is slow by itself is named, and its cause is not known. */
    limit[1].row = validate_metric_find("matrix_product");
    judged[1] = (struct validate_judged){
        .limit = &limit[1], .verdict = VALIDATE_FAIL, .launches = 3, .device = 1};
    validate_reason_words(&validate, &judged[1], words);
    cr_assert_str_eq(words, "device 1 is slow, and why is not shown");
    judged[0].verdict = VALIDATE_OPEN;
    validate_reason_words(&validate, &judged[0], words);
    cr_assert_str_eq(words, "");
}
