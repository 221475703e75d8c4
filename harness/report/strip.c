/* report/strip.c: the top of the page: machine, commit and date, and three badges: how much was
 * verified, how far launches lie apart, and the state of the machine. */
#include "report/page.h"

#include <math.h>
#include <string.h>

/* A grade is given up to this value; the last grade has no end. */
static const struct grade {
    const char *name;
    double most;
    enum report_tone tone;
} grades[] = {{"A", 0.01, REPORT_GOOD},
              {"B", 0.03, REPORT_GOOD},
              {"C", 0.10, REPORT_AMBER},
              {"D", INFINITY, REPORT_RED}};

static const char *percent_words(double share, char text[32])
{
    snprintf(text, 32, "%.*f\u00a0%%", 100.0 * share < 9.95 ? 1 : 0, 100.0 * share);
    return text;
}

static void noise_badge(const struct report *report, struct report_badge *badge)
{
    const struct report_noise *noise = &report->noise;
    const struct grade *grade = grades;

    if (!isfinite(noise->spread)) {
        badge->tone = REPORT_AMBER;
        report_add(badge->head, "noise unknown");
        report_add(badge->words, "No cell has %d verified launches: this file shows no change.",
                   REPORT_LEAST_OF_CELL);
        return;
    }
    while (noise->spread > grade->most)
        ++grade;
    badge->tone = grade->tone == REPORT_GOOD && noise->open > 0 ? REPORT_AMBER : grade->tone;
    report_add(badge->head, "noise %s: launches \u00b1%s", grade->name,
               percent_words(noise->spread, WORD));
    report_add(badge->words, "The smallest change of a cell that such a file can show is %s%s",
               percent_words(noise->least, WORD),
               grade->tone == REPORT_GOOD ? "." : ": its launches lie far apart.");
    if (noise->open > 0)
        report_add(badge->words,
                   " It is not shown of %zu of %zu cells: no interval narrower than %.0f points; "
                   "the widest has %.0f.",
                   noise->open, noise->cells, 100.0 * REPORT_WIDE, 100.0 * noise->widest);
}

static void verified_badge(const struct report *report, struct report_badge *badge)
{
    const struct report_counts *counts = &report->counts;

    badge->tone =
        counts->verified == counts->planned && counts->planned > 0 ? REPORT_GOOD : REPORT_RED;
    for (size_t i = 0; i < report->n_all && badge->tone == REPORT_GOOD; ++i)
        badge->tone = report_simulated(&report->row[i]) ? REPORT_AMBER : REPORT_GOOD;
    for (size_t r = 0; r < report->n_runs && badge->tone == REPORT_GOOD; ++r) {
        if (report->run[r].sealed && report->run[r].planned)
            continue;
        badge->tone = REPORT_AMBER;
        report_add(badge->words, " A file is unsealed, or its plan was not checked.");
    }
    report_add(badge->head, "verified %zu/%zu", counts->verified, counts->planned);
}

/* ---- state -------------------------------------------------------------------------------- */

/* Effects that are significant at this level, and shares from these values on, are mentioned. */
static const double SHOWN = 0.05, LITTLE = 0.05, MUCH = 0.30, DRIFTED = 0.03;

/* Shows the run whose drift is the most significant; if none is significant, a run whose drift is
 * unknown comes first. Then the share of the cores that other programs took. */
static void state_badge(const struct report *report, struct report_badge *badge)
{
    const struct report_drift *drift = &report->run[0].drift;
    const size_t verified = report->counts.verified;
    size_t known = 0, little = 0, much = 0; /* numbers of launches */
    double least = INFINITY;

    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_drift *of = &report->run[r].drift;
        const double p = isnan(of->change) ? SHOWN : of->change_p;

        drift = p < least ? of : drift;
        least = fmin(p, least);
    }
    badge->tone = REPORT_AMBER;
    if (isnan(drift->change))
        report_add(badge->head, "state: drift unknown");
    else {
        report_add(badge->head, "state: drift %s%s", drift->change < 0.0 ? "\u2212" : "+",
                   percent_words(fabs(drift->change), WORD));
        if (drift->change_p <= SHOWN || fabs(drift->change) > DRIFTED)
            report_add(badge->words, "Steps became %s while it ran, %s by chance. ",
                       drift->change < 0.0 ? "shorter" : "longer",
                       drift->change_p <= SHOWN ? "and not" : "perhaps");
        else
            badge->tone = REPORT_GOOD;
    }
    for (size_t i = 0; i < report->n_all; ++i) {
        const double share = report->row[i].cell->foreign_frac;

        if (!report->row[i].verified || isnan(share))
            continue;
        ++known;
        little += share < LITTLE;
        much += share > MUCH;
    }
    if (10 * little < 9 * verified || much > 0)
        badge->tone = 10 * much > known ? REPORT_RED : REPORT_AMBER;
    if (known == 0) {
        report_add(badge->words, "What other programs took of its cores is not in these records.");
        return;
    }
    report_add(badge->words,
               "Other programs took less than %.0f\u00a0%% of the cores in %s of launches",
               100.0 * LITTLE, percent_words((double)little / (double)known, WORD));
    if (much > 0)
        report_add(badge->words, ", more than %.0f\u00a0%% in %zu of %zu", 100.0 * MUCH, much,
                   known);
    if (known < verified)
        report_add(badge->words, "; of %zu it is not known", verified - known);
    report_add(badge->words, ".");
}

/* ---- strip -------------------------------------------------------------------------------- */

static void begin_badge(struct text_out *out, const struct report_badge *badge)
{
    static const char *const tones[] = {"good", "amber", "bad"};
    static const char *const signs[] = {"\u2713", "!", "\u2717"};

    text_print(out, "<li class=\"badge %s\"><b><span aria-hidden=\"true\">%s</span> %s</b> ",
               tones[badge->tone], signs[badge->tone], badge->head);
}

void report_badge_print(struct text_out *out, const struct report_badge *badge)
{
    begin_badge(out, badge);
    text_print(out, "<span class=\"why\">%s</span></li>\n", badge->words);
}

/* The first is the one with the verdict. */
static void (*const badges[])(const struct report *report, struct report_badge *badge) = {
    verified_badge, noise_badge, state_badge};
enum { BADGES = sizeof badges / sizeof badges[0] };

void report_strip(struct text_out *out, const struct report *report)
{
    const struct record_run *run = report->run[0].run;
    /* The kernels come from a text like "OpenBLAS 0.3.21 ... (Zen), oneDNN 2.6.3 brg:avx2", where
     * the second library computes large products. */
    const char *set = strrchr(run->blas, '(');
    const size_t length = set ? strcspn(set + 1, ")") : 0;
    struct report_badge badge[BADGES] = {{.tone = REPORT_GOOD}};
    char text[REPORT_CELL_TEXT] = "", more[REPORT_CELL_TEXT] = "";

    report_add(text, "%s", run->cpu_model);
    if (length > 0)
        report_add(text, ", kernels %.*s%s", (int)length, set + 1,
                   set[1 + length] == ')' ? set + length + 2 : "");
    report_add(text, ", %d core%s, %d processing unit%s, %s", run->cores,
               run->cores == 1 ? "" : "s", run->usable_pus, run->usable_pus == 1 ? "" : "s",
               report_bytes((double)run->mem_bytes, WORD));
    report_add(more, "%.10s, commit %.12s%s%s", run->created_utc,
               run->git_sha[0] != '\0' ? run->git_sha : "unknown",
               run->git_dirty ? " with uncommitted changes" : "",
               report->many_runs ? ", and other runs" : "");
    text_print(out,
               "<header class=\"strip\">\n<div class=\"what\"><h1>Lockstep report</h1>\n"
               "<p><b>%s</b><br/>%s</p></div>\n<ul class=\"badges\">\n",
               text, more);
    for (size_t i = 0; i < BADGES; ++i)
        badges[i](report, &badge[i]);
    begin_badge(out, &badge[0]);
    fputs("<span class=\"why\">", out->file);
    report_verdict(out, report);
    text_print(out, "%s</span></li>\n", badge[0].words);
    for (size_t i = 1; i < BADGES; ++i)
        report_badge_print(out, &badge[i]);
    fputs("</ul>\n</header>\n", out->file);
}
