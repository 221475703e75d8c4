/* answer.c: the sentences at the top of the page: what is the best, against what, and how certain
 * that is. */
#include "points_bench.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Returns the sentences at the top of the page, as they are printed. */
static char *lead_of(struct bench *bench)
{
    char *text = NULL;
    size_t bytes = 0;
    struct text_out out = {.file = open_memstream(&text, &bytes), .form = TEXT_MARKDOWN};
    cr_assert(out.file);
    text_print(&out, "%s ", report_answer_words(&bench->report, PHRASE));
    report_lead(&out, &bench->report);
    cr_assert(fclose(out.file) == 0);
    return text;
}

static void add_six(struct bench *bench, const char *mode, int devices, size_t batch, double step,
                    double spread)
{
    for (int l = 0; l < 6; ++l)
        bench_add(bench, mode, devices, batch, l, step + spread * (l - 2.5));
}

static void lead_has(struct bench *bench, const char *words)
{
    char *text = lead_of(bench);
    cr_assert(strstr(text, words), "\"%s\" lacks \"%s\"", text, words);
    free(text);
}

/* The best is not the one on most devices, nor one whose interval is too wide, nor one on shared
 * cores. */
Test(answer, the_best_is_the_fastest_that_is_resolved)
{
    struct bench *bench = bench_open("strong");
    add_six(bench, "plain", 1, 64, 1000, 0);
    add_six(bench, "dp", 4, 64, 750, 0);
    add_six(bench, "ddp", 2, 64, 512, 0);
    add_six(bench, "ddp", 4, 64, 400, 60);
    add_six(bench, "dp", 8, 64, 300, 0);
    for (size_t i = bench->report.n_rows - 6; i < bench->report.n_rows; ++i)
        bench->cell[i].oversubscribed = true;
    bench_make(bench);
    lead_has(bench,
             "2 devices with DDP train tutorial 1.95 times as fast as one (1.95 to 1.95; "
             "batch 64; at most 2.00 is possible), the best of the 2 settings that are certain "
             "enough. 1 of 3 settings on several devices was not certain enough to count (a larger "
             "number, 2.51, may be chance): sweep again with --launches 12, on an idle machine. "
             "Farthest "
             "from what is "
             "possible: 4 devices train tutorial 1.33 times as fast as one (1.33 to 1.33; batch "
             "64; at most 4.00 is possible). 67\u00a0% of the possible speed-up is lost. ");
    bench_close(bench);
}

/* A slow setting that is certain does not speak for those that are not, whether one of them
 * has a larger number or not. */
Test(answer, a_slow_setting_is_the_best_of_those_that_are_certain)
{
    static const double noisy[] = {400, 20000};
    for (size_t i = 0; i < sizeof noisy / sizeof noisy[0]; ++i) {
        struct bench *bench = bench_open("strong");
        add_six(bench, "plain", 1, 64, 1000, 0);
        add_six(bench, "dp", 2, 64, 6000, 0);
        for (int l = 0; l < 6; ++l)
            bench_add(bench, "dp", 4, 64, l, l == 0 ? 900 : noisy[i]);
        bench_make(bench);
        lead_has(bench, "2 devices train tutorial 0.17 times as fast as one (0.17 to 0.17; batch "
                        "64; at most 2.00 is possible), the only setting that is certain enough: "
                        "one device is faster. 1 of 2 settings on several devices was not certain "
                        "enough to count");
        bench_close(bench);
    }
}

/* How certain the answer is: six launches of one setting take so long. */
Test(answer, the_answer_says_how_certain_it_is)
{
    static const struct {
        int launches;
        double step, apart;
        const char *words;
    } list[] = {
        {1, 600, 0,
         "Not certain: 2 devices train tutorial 1.67 times as fast as one (batch 64; at most 2.00 "
         "is possible). Measured once, so not certain: sweep again with --launches 6."},
        {3, 600, 0,
         "possible). Measured 3 times, too few to be certain: sweep again with "
         "--launches 6."},
        {6, 600, 100,
         "(1.18 to 2.86; batch 64; at most 2.00 is possible). That is too noisy to be "
         "certain: sweep again with --launches 12, on an idle machine."},
        {6, 1000, 200,
         "possible). That is too noisy to be certain: sweep again with --launches 12, on an idle "
         "machine."},
        {5, 600, 100,
         "(1.33 to 2.86 in 5 launches; batch 64; at most 2.00 is possible). Measured 5 times, too "
         "few to be certain: sweep again with --launches 6."},
        {6, 1000, 10,
         "is possible): whether they are faster is not certain. More launches may tell: sweep "
         "again with --launches 12, on an idle machine."},
        {6, 1200, 0, "is possible): one device is faster. Nothing has to be measured again."},
        {6, 500, 4,
         "(1.96 to 2.04; batch 64; not distinguishable from the limit of 2.00). Nothing has to be "
         "measured again."},
        {6, 492, 0, "(2.03 to 2.03; batch 64; at the limit of 2.00). Nothing has"},
        {1, 495, 0, "2.02 times as fast as one (batch 64; at the limit of 2.00). Measured"},
        {1, 200, 0,
         "5.00 times as fast as one (batch 64; more than is possible, 2.00: one device was "
         "disturbed). Measured once, so not certain: sweep again with --launches 6."},
        {6, 200, 1,
         "(4.94 to 5.06; batch 64; more than is possible, 2.00: one device was disturbed). That is "
         "too noisy to be certain: sweep again with --launches 12, on an idle machine."},
        {6, 600, 0,
         "(1.67 to 1.67; batch 64; at most 2.00 is possible). Nothing has to be measured "
         "again. "},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        struct bench *bench = bench_open("strong");
        for (int l = 0; l < list[i].launches; ++l) {
            bench_add(bench, "plain", 1, 64, l, 1000);
            bench_add(bench, "dp", 2, 64, l, list[i].step + list[i].apart * (l - 2.5));
        }
        bench_make(bench);
        lead_has(bench, list[i].words);
        bench_close(bench);
    }
}

/* A number is certain only if nothing speaks against it; at a limit it still is. */
Test(answer, a_number_is_doubted_for_one_reason)
{
    static const struct {
        int launches;
        double step, apart;
        int disturbed; /* the first launches, of the base and of the two devices in turns */
        bool fails;    /* one more launch of the base */
        enum report_doubt doubt;
        const char *words;
    } list[] = {
        {12, 600, 0, 3, false, REPORT_CERTAIN,
         "possible). Keep in mind: 3 of 24 launches were disturbed: up to 31 % of the time of "
         "their cores went to other programs, 31 % to other machines."},
        {12, 600, 0, 4, false, REPORT_DOUBT_DISTURBED,
         "Not certain: 2 devices train tutorial 1.67 times as fast as one (1.67 to 1.67; batch 64; "
         "at most 2.00 is possible). 4 of its 12 launches were disturbed, too many to be certain: "
         "sweep again on an idle machine."},
        {5, 600, 0, 5, false, REPORT_DOUBT_FEW, "Measured 5 times, too few to be certain: sweep"},
        /* A slow setting: 41 % of its speed-up, and only 8 points of what is possible. */
        {6, 2500, 200, 0, false, REPORT_DOUBT_WIDE,
         "Not certain: 2 devices train tutorial 0.40 times as fast as one (0.33 to 0.50; batch 64; "
         "at most 2.00 is possible). That is too noisy to be certain: sweep again with --launches "
         "12, on an idle machine."},
        {6, 2500, 90, 0, false, REPORT_CERTAIN, "one device is faster. Nothing has to be measured"},
        {6, 200, 0, 6, false, REPORT_DOUBT_BEYOND, "That is too noisy to be certain: sweep again"},
        {6, 600, 0, 0, true, REPORT_DOUBT_FAILED,
         "in no number here: 1 of 13 launches. A launch of it failed, so not certain: "
         "continue with --resume."},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        struct bench *bench = bench_open("strong");
        for (int l = 0; l < list[i].launches; ++l) {
            struct record_cell *one = &bench->cell[bench->report.n_rows], *cell = one + l % 2;
            *(l < 2 ? &cell->foreign_frac : &cell->steal_frac) = l < list[i].disturbed ? 0.31 : 0;
            bench_add(bench, "plain", 1, 64, l, 1000);
            bench_add(bench, "dp", 2, 64, l, list[i].step + list[i].apart * (l - 2.5));
        }
        if (list[i].fails)
            bench_fail(bench_add(bench, "plain", 1, 64, list[i].launches, 1000));
        bench_make(bench);
        const enum report_doubt doubt = report_doubt_of(&bench->point[1], REPORT_SPEEDUP);
        cr_assert(doubt == list[i].doubt, "row %zu: doubt %d", i, (int)doubt);
        cr_assert((bench->report.noise.open_ratios == 0) == (doubt == REPORT_CERTAIN));
        lead_has(bench, list[i].words);
        bench_close(bench);
    }
}

/* A setting that is faster than possible is not the best, whether or not it has an interval. */
Test(answer, what_is_not_possible_is_not_the_best)
{
    for (int launches = 1; launches <= 6; launches += 5) {
        struct bench *bench = bench_open("strong");
        for (int l = 0; l < launches; ++l) {
            bench_add(bench, "plain", 1, 64, l, 1000);
            bench_add(bench, "dp", 2, 64, l, 200);
            bench_add(bench, "dp", 4, 64, l, 500);
        }
        bench_make(bench);
        const struct report_answer answer = report_answer_of(&bench->report);
        cr_assert(answer.best == &bench->point[2] && answer.larger == &bench->point[1]);
        cr_assert(report_doubt_of(answer.larger, REPORT_SPEEDUP) ==
                  (launches == 1 ? REPORT_DOUBT_FEW : REPORT_DOUBT_BEYOND));
        lead_has(bench, "4 devices train tutorial 2.00 times as fast as one (");
        lead_has(bench, launches == 1
                            ? "Measured once, so not certain: sweep again with --launches 6."
                            : "1 of 2 settings on several devices was not certain enough to count "
                              "(a larger number, 5.00, is more than is possible): sweep");
        cr_assert(bench->report.noise.ratios == 2 &&
                      bench->report.noise.open_ratios == (launches == 1 ? 2 : 1),
                  "%zu", bench->report.noise.open_ratios);
        bench_close(bench);
    }
}

/* Launches without a result, and noisy steps of whatever cell, are said first; then nothing claims
 * that all is measured. */
Test(answer, the_answer_is_about_all_launches)
{
    static const struct {
        size_t failed, missing; /* launches of another workload, without a base */
        double apart;           /* of the base; the steps on two devices differ in the same way */
        const char *words;
    } list[] = {
        {6, 0, 0, ": one device is faster. Not verified, and in no number here: 6 of 18 launches."},
        {1, 0, 0, "Not verified, and in no number here: 1 of 18 launches."},
        {0, 12, 0,
         ": one device is faster. 12 of 30 launches have not run yet: continue with --resume."},
        {6, 12, 0,
         "Not verified, and in no number here: 6 of 30 launches. 12 of 30 launches have not run "
         "yet: continue with --resume."},
        {0, 0, 100,
         ": one device is faster. 2 of 3 step times are not certain: sweep again with --launches "
         "12, "
         "on an idle machine."},
        {6, 0, 100,
         "in no number here: 6 of 18 launches. 2 of 2 step times are not certain: sweep again "
         "with "},
        {0, 1, 100,
         "1 of 19 launches has not run yet: continue with --resume. 2 of 3 step times are not "
         "certain."},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        struct bench *bench = bench_open("strong");
        for (int l = 0; l < 6; ++l) {
            bench_add(bench, "plain", 1, 64, l, 1000 + list[i].apart * (l - 2.5));
            bench_add(bench, "dp", 2, 64, l, 10000 + 10 * list[i].apart * (l - 2.5));
        }
        for (int l = 0; l < 6; ++l) {
            struct report_row *row = bench_add(bench, "dp", 2, 128, l, 1000);
            if ((size_t)l < list[i].failed)
                bench_fail(row);
        }
        bench->missing = list[i].missing;
        bench_make(bench);
        lead_has(bench, list[i].words);
        const struct report_answer answer = report_answer_of(&bench->report);
        cr_assert(!strstr(answer.rest, "Nothing has"), "%s", answer.rest);
        cr_assert(list[i].missing == 0 || !strstr(answer.rest, "sweep again"), "%s", answer.rest);
        bench_close(bench);
    }
}

/* What is not certain after an interrupted sweep is measured by going on with it. */
Test(answer, an_interrupted_sweep_goes_on)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 4; ++l) {
        bench_add(bench, "plain", 1, 64, l, 1000);
        bench_add(bench, "dp", 2, 64, l, 600);
    }
    bench->missing = 4;
    bench_make(bench);
    lead_has(bench, "(1.67 to 1.67 in 4 launches; batch 64; at most 2.00 is possible). 4 of "
                    "12 launches have not run yet: continue with --resume. Measured 4 times, too "
                    "few to be certain. ");
    bench->report.interrupted = true;
    lead_has(bench, "is possible). The sweep was interrupted after 8 of 12 launches: continue with "
                    "--resume. Measured 4 times, too few to be certain. ");
    bench_close(bench);
}

/* An axis is a setting of the workload, and stands in brackets after it. */
Test(answer, the_answer_names_the_axes)
{
    struct bench *bench = bench_open("strong");
    add_six(bench, "plain", 1, 64, 1000, 0);
    add_six(bench, "dp", 2, 64, 512, 0);
    for (size_t i = 0; i < bench->report.n_rows; ++i) {
        bench->cell[i].key.host_inputs = 1;
        bench->cell[i].key.chain = 3;
    }
    bench_make(bench);
    lead_has(bench,
             "2 devices train tutorial (chain 3, host-inputs 1) 1.95 times as fast as one (");
    bench_close(bench);
}

Test(answer, the_answer_has_two_parts)
{
    struct bench *bench = bench_open("strong");
    add_six(bench, "dp", 1, 64, 1000, 0);
    bench_make(bench);
    struct report_answer said = report_answer_of(&bench->report);
    cr_assert_str_eq(said.first, "Nothing can be said about scaling: no verified cell on several "
                                 "devices has a verified base at its batch.");
    cr_assert_str_eq(said.rest, "");
    bench_close(bench);
    bench = bench_open("strong");
    add_six(bench, "plain", 1, 64, 1000, 0);
    add_six(bench, "dp", 2, 64, 512, 0);
    bench_make(bench);
    said = report_answer_of(&bench->report);
    cr_assert_str_eq(said.first, "2 devices train tutorial 1.95 times as fast as one (1.95 to "
                                 "1.95; batch 64; at most 2.00 is possible).");
    cr_assert_str_eq(said.rest, "Nothing has to be measured again.");
    cr_assert(report_answer_is_certain(&bench->report));
    bench_close(bench);
}

/* Both steps are steady to 12 %, and their ratio is not: the cell is not certain, as the map has
 * it.
 */
Test(answer, a_cell_is_as_noisy_as_its_speed_up)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 6; ++l) {
        bench_add(bench, "plain", 1, 64, l, l % 2 ? 1060 : 940);
        bench_add(bench, "dp", 2, 64, l, l % 2 ? 470 : 530);
    }
    bench_make(bench);
    cr_assert(report_doubt_of(&bench->point[1], REPORT_SPEEDUP) == REPORT_DOUBT_WIDE);
    cr_assert(bench->report.noise.open == 0 && bench->report.noise.cells == 2);
    cr_assert(bench->report.noise.open_ratios == 1 && bench->report.noise.ratios == 1);
    cr_assert_str_eq(report_noise_words(&bench->report, PHRASE), "1 of 1 speed-ups is not certain");
    bench_close(bench);
}

/* An interval from below half to above twice, or wider than its middle, leaves no number. */
Test(answer, a_ratio_that_says_nothing_is_not_printed)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 6; ++l) {
        bench_add(bench, "plain", 1, 64, l, 1000);
        bench_add(bench, "dp", 2, 64, l, l % 2 ? 300 : 3000);
    }
    bench_make(bench);
    lead_has(bench,
             "Not certain: 2 devices train tutorial, but how many times as fast as one was not "
             "measured well enough (0.33 to 3.33; batch 64; at most 2.00 is possible).");
    cr_assert_str_eq(report_metric_words(&bench->point[1], REPORT_SPEEDUP, PHRASE),
                     "not measured well enough");
    cr_assert_str_eq(report_metric_words(&bench->point[1], REPORT_EFFICIENCY, PHRASE), "-");
    cr_assert(!report_answer_is_certain(&bench->report));
    bench_close(bench);
}

/* Settings on shared cores are no evidence, and what was simulated is called so. */
Test(answer, the_answer_is_not_about_shared_cores)
{
    struct bench *bench = bench_open("strong");
    snprintf(bench->run.source, sizeof bench->run.source, "simulated");
    add_six(bench, "dp", 1, 64, 1000, 0);
    add_six(bench, "dp", 2, 64, 512, 0);
    for (size_t i = 6; i < 12; ++i)
        bench->cell[i].oversubscribed = true;
    bench_make(bench);
    lead_has(bench, "SIMULATED: 2 devices (oversubscribed) train tutorial 1.95 times as fast as "
                    "DataParallel on one (");
    lead_has(bench, " This is no evidence of speed: more devices than cores. ");
    bench_close(bench);
}

/* The plain program on all cores is shown next to the devices, and they are never measured by it.
 */
Test(answer, the_plain_program_on_all_cores_is_a_reference)
{
    struct bench *bench = bench_open("strong");
    char text[REPORT_CELL_TEXT];
    add_six(bench, "plain-mt", 2, 64, 700, 0);
    add_six(bench, "plain", 1, 64, 1000, 0);
    add_six(bench, "dp", 2, 64, 625, 0);
    bench_make(bench);
    cr_assert(bench->report.n_groups == 1 && bench->group[0].n == 2 &&
              bench->group[0].n_cores == 1);
    const struct report_point *dp = &bench->point[1], *cores = &bench->point[2];
    cr_assert(report_is_cores(cores) && cores->base == &bench->point[0] && dp->cores == cores);
    cr_assert(dp->base == &bench->point[0] && !cores->cores && !bench->point[0].cores);
    cr_assert(report_rival(dp) == REPORT_OF_CORES && report_rival(cores) == REPORT_SPEEDUP);
    bench_value(&cores->value[REPORT_EFFICIENCY], 1000.0 / 1400, 1000.0 / 1400, 1000.0 / 1400,
                REPORT_INTERVAL, 6);
    bench_cell(&bench->report, REPORT_TABLE_CELLS, 2, "Devices", 0, text);
    cr_assert(strcmp(text, "one process, 2 cores") == 0, "%s", text);
    cr_assert(report_group_best(&bench->group[0]) == dp);
    lead_has(bench, "2 devices train tutorial 1.60 times as fast as one");
    lead_has(bench,
             "2 devices are 1.12 times as fast as the same cores used by one process (1.12 to "
             "1.12; batch 64): data parallelism pays. ");
    bench_cell(&bench->report, REPORT_TABLE_CELLS, 2, "Against one process, same cores", 0, text);
    cr_assert(strcmp(text, "-") == 0, "%s", text);
    bench_cell(&bench->report, REPORT_TABLE_CELLS, 1, "Against one process, same cores", 0, text);
    cr_assert(strcmp(text, "1.12") == 0, "%s", text);
    bench_close(bench);
    /* If it is the fastest, it is still no setting of several devices. */
    bench = bench_open("strong");
    add_six(bench, "plain-mt", 2, 64, 400, 0);
    add_six(bench, "dp", 1, 64, 1000, 0);
    bench_make(bench);
    cr_assert(bench->point[1].base == &bench->point[0] && !report_group_best(&bench->group[0]));
    lead_has(bench, "Nothing can be said about scaling");
    bench_close(bench);
}

#define SLOWER                                                                                     \
    "One process on 2 cores was slower here than on one, so one core is the best single process "  \
    "(batch 64): "
#define PROBABLY                                                                                   \
    "Probably the best single process uses one core: 2 cores were slower (batch 64; not "          \
    "certain). "

/* Whether data parallelism pays is a ratio by launch, with an interval and its doubts. */
Test(answer, the_same_cores_in_one_process_are_a_rival)
{
    static const struct {
        double step, apart;
        int disturbed; /* launches of plain-mt */
        bool fails;    /* one more launch of it */
        const char *words;
    } list[] = {
        {400, 0, 0, false, "(0.80 to 0.80; batch 64): data parallelism does not pay. "},
        {600, 0, 0, false, "(1.20 to 1.20; batch 64): data parallelism pays. "},
        {500, 4, 0, false,
         "(0.98 to 1.02; batch 64): whether data parallelism pays is not certain."},
        {600, 60, 0, false, "(0.90 to 1.50; batch 64): that is not certain. "},
        {600, 0, 2, false, "(1.20 to 1.20; batch 64): that is not certain. "},
        {600, 0, 0, true, "(1.20 to 1.20; batch 64): that is not certain. "},
        {11000, 2000, 0, false, SLOWER "data parallelism pays. "}, /* wide, and far slower */
        {11000, 0, 2, false, PROBABLY},
        {11000, 0, 0, true, PROBABLY},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        struct bench *bench = bench_open("strong");
        add_six(bench, "plain", 1, 64, 1000, 0);
        add_six(bench, "dp", 2, 64, 500, 0);
        for (int l = 0; l < 6; ++l) {
            bench->cell[bench->report.n_rows].foreign_frac = l < list[i].disturbed ? 0.31 : 0;
            bench_add(bench, "plain-mt", 2, 64, l, list[i].step + list[i].apart * (l - 2.5));
        }
        if (list[i].fails)
            bench_fail(bench_add(bench, "plain-mt", 2, 64, 6, list[i].step));
        bench_make(bench);
        lead_has(bench, list[i].words);
        bench_close(bench);
    }
}

static void bases_are(struct bench *bench, const struct report_base want[], size_t n)
{
    struct report_base base;
    size_t at[3] = {0}, i = 0;
    while (report_base_next(&bench->group[0], at, &base)) {
        cr_assert(i < n && base.plain == want[i].plain && base.single == want[i].single &&
                      base.rank == want[i].rank,
                  "base case %zu", i);
        ++i;
    }
    cr_assert(i == n && bench->report.n_groups == 1);
}

/* Ranks in several processes have no other program to be compared with. Each size of bucket is
 * compared with itself. */
Test(answer, ranks_alone_are_compared_with_one_rank)
{
    struct bench *bench = bench_open("strong");
    char text[REPORT_CELL_TEXT];
    add_six(bench, "ddp", 1, 64, 1000, 0);
    add_six(bench, "ddp", 1, 64, 1200, 0);
    add_six(bench, "ddp", 2, 64, 625, 0);
    add_six(bench, "ddp", 2, 64, 600, 0);
    for (size_t l = 0; l < 6; ++l)
        bench->cell[6 + l].key.bucket_bytes = bench->cell[18 + l].key.bucket_bytes = 1 << 20;
    bench_make(bench);
    const struct report_point *point = bench->point;
    cr_assert(point[2].base == &point[0] && point[3].base == &point[1]);
    bench_value(&point[2].value[REPORT_SPEEDUP], 1.6, 1.6, 1.6, REPORT_INTERVAL, 6);
    bench_value(&point[3].value[REPORT_SPEEDUP], 2, 2, 2, REPORT_INTERVAL, 6);
    bases_are(bench, (struct report_base[]){{.rank = &point[0]}, {.rank = &point[1]}}, 2);
    char *table = bench_table(&bench->report, REPORT_TABLE_BASES);
    cr_assert(strstr(table, "| Workload | Batch, rows | DDP on one rank, step |"), "%s", table);
    free(table);
    bench_cell(&bench->report, REPORT_TABLE_BASES, 1, "Batch, rows", 0, text);
    cr_assert(strcmp(text, "64 (bucket 1Mi)") == 0, "%s", text);
    lead_has(bench, "as fast as DDP on one rank");
    bench_close(bench);
}

Test(answer, one_rank_is_a_base_only_where_nothing_else_is)
{
    struct bench *bench = bench_open("strong");
    add_six(bench, "plain", 1, 64, 1000, 0);
    add_six(bench, "dp", 2, 128, 1000, 0);
    add_six(bench, "ddp", 1, 64, 1100, 0);
    add_six(bench, "ddp", 1, 128, 1900, 0);
    add_six(bench, "ddp", 2, 64, 625, 0);
    add_six(bench, "ddp", 2, 128, 950, 0);
    bench_make(bench);
    const struct report_point *point = bench->point;
    cr_assert(point[4].base == &point[0] && point[5].base == &point[3]);
    cr_assert(point[1].row->cell->key.n_devices == 2 && !point[1].base,
              "DataParallel is not compared with ranks");
    bases_are(bench, (struct report_base[]){{.plain = &point[0]}, {.rank = &point[3]}}, 2);
    char *table = bench_table(&bench->report, REPORT_TABLE_BASES);
    cr_assert(strstr(table, "| Batch, rows | Plain program, step |") &&
                  strstr(table, "| DDP on one rank, step |"),
              "%s", table);
    free(table);
    bench_close(bench);
}

/* The rank is named if chance is no reason, and if it is slower by more than noise. */
Test(answer, a_slow_rank_is_named)
{
    static const struct {
        double p, more;
        bool named;
    } rows[] = {{0.031, 0.26, true}, {0.25, 0.26, false}, {0.031, 0.001, false}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct bench *bench = bench_open("strong");
        add_six(bench, "plain", 1, 64, 1000, 0);
        add_six(bench, "ddp", 2, 64, 625, 0);
        bench_make(bench);
        bench->point[1].slowest = (struct report_slowest){
            .rank = 1, .ranks = 2, .launches = 6, .lost = 6, .p = rows[i].p, .more = rows[i].more};
        char *text = lead_of(bench);
        const char *named = "Rank 1 is 26\u00a0% slower than the others, in 6 of 6 launches of "
                            "tutorial on 2 devices with DDP. ";
        cr_assert_eq(strstr(text, named) != NULL, rows[i].named, "%s", text);
        cr_assert_eq(strstr(text, "slower than the others") != NULL, rows[i].named, "%s", text);
        free(text);
        bench_close(bench);
    }
}
