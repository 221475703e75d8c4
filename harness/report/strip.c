/* report/strip.c: what stands on top of the page: machine, commit and date, and three badges: what
 * was verified, how far launches lie apart, and in which state the machine was. */
#include "numbers/stats.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum tone { GOOD, AMBER, RED };

struct badge {
    enum tone tone;
    char head[REPORT_CELL_TEXT], words[REPORT_CELL_TEXT];
};

/* ---- noise -------------------------------------------------------------------------------- */

enum { LEAST_OF_CELL = 3 };

/* Up to there a grade goes; the last has no end. */
static const struct grade {
    const char *name;
    double most;
    enum tone tone;
} grades[] = {{"A", 0.01, GOOD}, {"B", 0.03, GOOD}, {"C", 0.10, AMBER}, {"D", INFINITY, RED}};

int report_noise_make(struct report *report)
{
    double *off = calloc(report->n_rows + 1, sizeof *off);
    double *launches = calloc(report->n_points + 1, sizeof *launches);
    size_t n = 0, cells = 0;

    report->noise = (struct report_noise){.spread = NAN, .least = NAN};
    for (size_t i = 0; off && launches && i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (point->verified < LEAST_OF_CELL)
            continue;
        launches[cells++] = (double)point->verified;
        for (size_t k = 0; k < point->n; ++k)
            if (point->row[k].verified)
                off[n++] =
                    fabs(log(point->row[k].cell->median_ns / report_middle(point, REPORT_STEP)));
    }
    if (n > 0) {
        /* 1.4826: from the median distance to a standard deviation, of a normal distribution. */
        report->noise.spread = 1.4826 * stats_median(off, n);
        /* One-sided level 0.05 and power 0.8; 1.05: a rank test instead of means. */
        report->noise.least =
            expm1((stats_normal_width(0.90) + stats_normal_width(0.60)) * 1.05 *
                  report->noise.spread * sqrt(2.0 / stats_median(launches, cells)));
    }
    const int status = off && launches ? 0 : -1;

    free(off);
    free(launches);
    return status;
}

static void add_percent(char text[REPORT_CELL_TEXT], double share)
{
    const double percent = 100.0 * share;

    report_add(text, percent < 9.95 ? "%.1f\u00a0%%" : "%.0f\u00a0%%", percent);
}

static void noise_badge(const struct report *report, struct badge *badge)
{
    const struct report_noise *noise = &report->noise;
    const struct grade *grade = grades;

    if (!isfinite(noise->spread)) {
        badge->tone = AMBER;
        report_add(badge->head, "noise unknown");
        report_add(badge->words, "No cell has %d verified launches: this file shows no change.",
                   LEAST_OF_CELL);
        return;
    }
    while (noise->spread > grade->most)
        ++grade;
    badge->tone = grade->tone;
    report_add(badge->head, "noise %s: launches \u00b1", grade->name);
    add_percent(badge->head, noise->spread);
    report_add(badge->words, "The smallest change of a cell that such a file can show is ");
    add_percent(badge->words, noise->least);
    report_add(badge->words, grade->tone == GOOD ? "." : ": its launches lie far apart.");
}

/* ---- verified ----------------------------------------------------------------------------- */

static void verified_badge(const struct report *report, struct badge *badge)
{
    const struct report_counts *counts = &report->counts;

    badge->tone = counts->verified == counts->planned && counts->planned > 0 ? GOOD : RED;
    for (size_t i = 0; i < report->n_all && badge->tone == GOOD; ++i)
        badge->tone = report_simulated(&report->row[i]) ? AMBER : GOOD;
    report_add(badge->head, "verified %zu/%zu", counts->verified, counts->planned);
}

/* ---- state -------------------------------------------------------------------------------- */

/* Effects that are not chance at this level, and shares from there on, are said. */
static const double SHOWN = 0.05, LITTLE = 0.05, MUCH = 0.30;

/* Of the run that surely drifted most; NULL: it is not known of any. */
static const struct report_drift *find_drift(const struct report *report)
{
    const struct report_drift *worst = NULL;

    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_drift *drift = &report->run[r].drift;

        if (isfinite(drift->change) && (!worst || drift->change_p < worst->change_p))
            worst = drift;
    }
    return worst;
}

struct foreign {
    size_t known, little, much; /* launches */
};

static struct foreign count_foreign(const struct report *report)
{
    struct foreign foreign = {0};

    for (size_t i = 0; i < report->n_all; ++i) {
        const double share = report->row[i].cell->foreign_frac;

        if (!report->row[i].verified || isnan(share))
            continue;
        ++foreign.known;
        foreign.little += share < LITTLE;
        foreign.much += share > MUCH;
    }
    return foreign;
}

static void add_foreign(struct badge *badge, const struct foreign *foreign)
{
    if (foreign->known == 0) {
        badge->tone = AMBER;
        report_add(badge->words, "What other programs took of its cores is not in these records.");
        return;
    }
    report_add(badge->words, "Other programs took less than %.0f\u00a0%% of the cores in ",
               100.0 * LITTLE);
    add_percent(badge->words, (double)foreign->little / (double)foreign->known);
    report_add(badge->words, " of launches");
    if (foreign->much > 0) {
        badge->tone = 10 * foreign->much > foreign->known ? RED : AMBER;
        report_add(badge->words, ", more than %.0f\u00a0%% in %zu of %zu", 100.0 * MUCH,
                   foreign->much, foreign->known);
    }
    report_add(badge->words, ".");
}

static void state_badge(const struct report *report, struct badge *badge)
{
    const struct report_drift *drift = find_drift(report);
    const struct foreign foreign = count_foreign(report);

    badge->tone = GOOD;
    if (!drift) {
        report_add(badge->head, "state: drift unknown");
    } else {
        report_add(badge->head, "state: drift %s", drift->change < 0.0 ? "\u2212" : "+");
        add_percent(badge->head, fabs(drift->change));
        if (drift->change_p <= SHOWN) {
            badge->tone = AMBER;
            report_add(badge->words, "Steps became %s while it ran, and not by chance. ",
                       drift->change < 0.0 ? "shorter" : "longer");
        }
    }
    const enum tone drifted = badge->tone;

    add_foreign(badge, &foreign);
    badge->tone = badge->tone > drifted ? badge->tone : drifted;
}

/* ---- strip -------------------------------------------------------------------------------- */

static void begin_badge(struct text_out *out, const struct badge *badge)
{
    static const char *const tones[] = {"good", "amber", "bad"};
    static const char *const signs[] = {"\u2713", "!", "\u2717"};

    text_print(out, "<li class=\"badge %s\"><b><span aria-hidden=\"true\">%s</span> %s</b> ",
               tones[badge->tone], signs[badge->tone], badge->head);
}

static void print_badge(struct text_out *out, const struct badge *badge)
{
    begin_badge(out, badge);
    text_print(out, "<span class=\"why\">%s</span></li>\n", badge->words);
}

/* "Zen", or with what makes large products instead: "Zen, oneDNN 2.6.3 brg:avx2"; "": not known.
 * The text is "OpenBLAS 0.3.21 ... (Zen), oneDNN 2.6.3 brg:avx2". */
static void kernel_words(const char *blas, char text[REPORT_CELL_TEXT])
{
    const char *set = strrchr(blas, '(');
    const size_t length = set ? strcspn(set + 1, ")") : 0;

    text[0] = '\0';
    if (length > 0)
        report_add(text, "%.*s%s", (int)length, set + 1,
                   set[1 + length] == ')' ? set + length + 2 : "");
}

/* "AMD EPYC, kernels Zen, 2 cores, 2 processing units, 23.5 GiB". */
static void machine_words(const struct record_run *run, char text[REPORT_CELL_TEXT])
{
    char memory[32], kernels[REPORT_CELL_TEXT];

    report_bytes((double)run->mem_bytes, memory);
    report_add(text, "%s", run->cpu_model);
    kernel_words(run->blas, kernels);
    if (kernels[0] != '\0')
        report_add(text, ", kernels %s", kernels);
    report_add(text, ", %d core%s, %d processing unit%s, %s", run->cores,
               run->cores == 1 ? "" : "s", run->usable_pus, run->usable_pus == 1 ? "" : "s",
               memory);
    text_clean(text, ' ');
}

void report_strip(struct text_out *out, const struct report *report)
{
    const struct record_run *run = report->run[0].run;
    struct badge badge[3] = {{.tone = GOOD}, {.tone = GOOD}, {.tone = GOOD}};
    char text[REPORT_CELL_TEXT] = "", more[REPORT_CELL_TEXT] = "";

    machine_words(run, text);
    report_add(more, "%.10s, commit %.12s%s%s", run->created_utc,
               run->git_sha[0] != '\0' ? run->git_sha : "unknown",
               run->git_dirty ? " with uncommitted changes" : "",
               report->many_runs ? ", and other runs" : "");
    text_clean(more, ' ');
    text_print(out,
               "<header class=\"strip\">\n<div class=\"what\"><h1>Lockstep report</h1>\n"
               "<p><b>%s</b><br/>%s</p></div>\n<ul class=\"badges\">\n",
               text, more);
    verified_badge(report, &badge[0]);
    noise_badge(report, &badge[1]);
    state_badge(report, &badge[2]);
    begin_badge(out, &badge[0]);
    fputs("<span class=\"why\">", out->file);
    report_verdict(out, report);
    fputs("</span></li>\n", out->file);
    print_badge(out, &badge[1]);
    print_badge(out, &badge[2]);
    fputs("</ul>\n</header>\n", out->file);
}
