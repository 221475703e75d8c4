/* report/cautions.c: what to keep in mind with the numbers of this report, from the records. */
#include "command/device_list.h"
#include "machine/provenance.h"
#include "report/beside.h"
#include "report/nvbandwidth.h"
#include "report/page.h"
#include "report/peer_record.h"
#include "report/roof.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Launches that an interval takes. */
enum { FEWEST = 6 };

struct counts {
    size_t points, most; /* verified ones; launches of one */
    size_t no_interval;  /* points with fewer than FEWEST launches */
    size_t slowed;       /* transfers take longer on purpose */
    size_t settling, oversubscribed, shared, on_single, on_rank, without_base;
    size_t unpaired; /* no launch in common with their base case */
    size_t stalled;  /* the mean step is much longer than the median */
    double longest;  /* mean over median, the most of them */
};

/* From here on stalls are said: they are not in what is made of the median step. */
static const double STALLED = 1.25;

static double stall_of(const struct report_point *point)
{
    return point->middle->cell->mean_ns / point->middle->cell->median_ns;
}

static bool shares_gpu(const struct report_point *point)
{
    return report_oversubscribed(point) && !report_works_on_cores(point->row);
}

/* Of training; of collectives, which have no base. */
static void count_points(const struct report *report, bool has_bases, struct counts *of)
{
    struct counts counts = *of;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool based = point->base && point->base != point;

        if (point->verified == 0)
            continue;
        ++counts.points;
        counts.no_interval += point->verified < FEWEST;
        counts.most = point->verified > counts.most ? point->verified : counts.most;
        counts.settling += report_settles(point);
        counts.oversubscribed += report_oversubscribed(point) && !shares_gpu(point);
        counts.shared += shares_gpu(point);
        counts.slowed += device_list_slowed(point->row->kind);
        counts.on_single += based && point->base == point->single;
        counts.on_rank += based && point->base == point->rank;
        counts.without_base += has_bases && point->base == NULL;
        counts.unpaired += point->base && point->value[REPORT_SPEEDUP].n == 0;
        counts.stalled += stall_of(point) >= STALLED;
        counts.longest = fmax(counts.longest, stall_of(point));
    }
    *of = counts;
}

static struct counts count(const struct report *report)
{
    struct counts counts = {.points = 0};

    count_points(report, true, &counts);
    count_points(report->collectives, false, &counts);
    return counts;
}

static void caution(struct text_out *out, const char *before, const char *after, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

static void caution(struct text_out *out, const char *before, const char *after, const char *format,
                    ...)
{
    char text[REPORT_CELL_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs(before, out->file);
    text_print(out, "%s", text);
    fputs(after, out->file);
}

static void about_launches(struct text_out *out, const struct report *report,
                           const struct counts *counts, const char *before, const char *after)
{
    if (counts->no_interval == 0)
        return;
    if (counts->most == 1 && !report_repeated(report))
        caution(out, before, after,
                "One launch of each cell: no number here has an interval. A sweep with "
                "--launches %d gives intervals.",
                FEWEST);
    else
        caution(out, before, after,
                "%zu of %zu cells have fewer than %d verified launches: they have a range, not an "
                "interval (sweep with --launches %d).",
                counts->no_interval, counts->points, FEWEST, FEWEST);
}

/* What looking into a step costs, of the middle launch of each point. */
static void about_phases(struct text_out *out, const struct report *report,
                         const struct counts *counts, const char *before, const char *after)
{
    double least = INFINITY, most = -INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct record_cell *cell = point->verified > 0 ? point->middle->cell : NULL;

        if (!cell || isnan(cell->tracing_ns))
            continue;
        least = fmin(least, cell->tracing_ns / cell->median_ns);
        most = fmax(most, cell->tracing_ns / cell->median_ns);
        ++n;
    }
    if (n > 0)
        caution(out, before, after,
                "In %zu of %zu cells phases were measured in steps of their own, which took from "
                "%.1f %% to %.1f %% longer than those that are timed (the cell's median).",
                n, counts->points, 100 * least, 100 * most);
}

/* With the point that is still getting faster the most, surely. */
static void about_settling(struct text_out *out, const struct report *report,
                           const struct counts *counts, const char *before, const char *after)
{
    const struct report_point *most = NULL;
    char workload[REPORT_CELL_TEXT] = "";

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (report_settles(point) && (!most || point->settling.lo > most->settling.lo))
            most = point;
    }
    if (!most)
        return;
    report_workload_words(report, most->row, workload);
    caution(out, before, after,
            "In %zu of %zu cells steps still got faster while they were measured, the most in "
            "%.100s, %s, %zu rows on %d device%s: by %.0f %% [%.0f, %.0f] from the first tenth of "
            "a launch to its last half. A longer --warmup would help.",
            counts->settling, counts->points, workload, most->row->cell->key.mode,
            most->row->cell->key.global_batch, most->row->cell->key.n_devices,
            most->row->cell->key.n_devices == 1 ? "" : "s", 100 * expm1(most->settled_by),
            100 * expm1(most->settling.lo), 100 * expm1(most->settling.hi));
}

/* One machine that was started again, or several of one class. */
static void about_starts(struct text_out *out, const struct report *report, const char *before,
                         const char *after)
{
    const struct record_run *first = report->run[0].run;

    if (report->peer && strcmp(report->peer->machine_instance, first->machine_instance) != 0)
        caution(out, before, after,
                "The comparison with PyTorch and run %.8s are not from one boot of one machine.",
                first->run_id);
    for (size_t r = 1; r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;

        if (strcmp(run->machine_instance, first->machine_instance) == 0)
            continue;
        caution(out, before, after,
                "Runs %.8s and %.8s are not from one boot of one machine: it was rebooted in "
                "between, or these are two machines of one class. Their times may differ.",
                first->run_id, run->run_id);
        return;
    }
}

/* Effects that are not chance at this level are said. */
static const double SHOWN = 0.05;

/* What makes intervals over launches too narrow. */
static void about_time(struct text_out *out, const struct report *report, const char *before,
                       const char *after)
{
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_drift *drift = &report->run[r].drift;
        const char *id = report->run[r].run->run_id;

        if (drift->change_p <= SHOWN)
            caution(out, before, after,
                    "The machine drifted while run %.8s went on: %s became %.0f %% %s from the "
                    "first to the last of %zu blocks (slope over time, permutation of blocks: p = "
                    "%.3f). Intervals of their times do not allow for that; ratios of one block "
                    "do.",
                    id, report->n_points > 0 ? "steps" : "iterations", 100.0 * fabs(drift->change),
                    drift->change > 0.0 ? "longer" : "shorter", drift->blocks, drift->change_p);
        if (drift->lag1_p <= SHOWN && drift->lag1 > 0.0)
            caution(out, before, after,
                    "Launches of run %.8s that follow each other are alike: autocorrelation %.2f "
                    "of %zu launches, each over the median of its cell (permutation: p = %.3f). "
                    "Intervals take launches to be independent: these are too narrow.",
                    id, drift->lag1, drift->launches, drift->lag1_p);
    }
}

/* Sittings of a run that measured something. */
static int count_sittings(const struct report *report, const struct record_run *run)
{
    int n = 1;

    for (size_t i = 0; i < report->n_all; ++i) {
        const struct report_row *row = &report->row[i];

        if (strcmp(row->run->run_id, run->run_id) == 0 && row->cell->sitting >= n)
            n = row->cell->sitting + 1;
    }
    return n;
}

static void about_sittings(struct text_out *out, const struct report *report, const char *before,
                           const char *after)
{
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;
        const int n = count_sittings(report, run);

        if (n > 1)
            caution(out, before, after,
                    "Run %.8s was measured in %d sittings, with --resume: the machine may have "
                    "changed in between. A speed-up compares launches of one sitting only.",
                    run->run_id, n);
    }
}

/* How much of a run's time was spent in what its numbers are made of. */
void report_shares(struct text_out *out, const struct report *report, const char *before,
                   const char *after)
{
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_run *run = &report->run[r];
        const double steps = 100 * run->timed.steps / run->seconds;
        const double beside = 100 * run->timed.beside / run->seconds;
        char costs[RECORD_COSTS_TEXT] = "";
        const bool known = record_costs_words(&run->costs, run->writing, costs);

        if (isfinite(steps + beside) && known)
            caution(out, before, after,
                    "Of the %.1f s of run %.8s, %.0f %% were timed: %.0f %% in measured steps, "
                    "%.0f %% in steps and reductions beside them. The rest is %s.",
                    run->seconds, run->run->run_id, steps + beside, steps, beside, costs);
        else if (isfinite(steps + beside))
            caution(out, before, after,
                    "Of the %.1f s of run %.8s, %.0f %% were timed: %.0f %% in measured steps, "
                    "%.0f %% in steps and reductions beside them. The rest is the start of "
                    "processes, setup, references, warm-up and checks.",
                    run->seconds, run->run->run_id, steps + beside, steps, beside);
    }
}

/* Whether the records of a run are all there, and all as they were written. */
static void about_files(struct text_out *out, const struct report *report, const char *before,
                        const char *after)
{
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_run *run = &report->run[r];
        const char *id = run->run->run_id;

        if (run->counts.missing > 0)
            caution(out, before, after, "Run %.8s is incomplete: %zu of %zu %s are there%s.", id,
                    run->counts.planned - run->counts.missing, run->counts.planned,
                    run->run->launches > 1 ? "launches" : "cells",
                    run->ended ? "" : ", and it has not ended");
        else if (!run->ended)
            caution(out, before, after, "Run %.8s has no end line: its file was cut short.", id);
        if (!run->sealed)
            caution(out, before, after,
                    "Run %.8s is unsealed: its lines have no chain, so an edit would not show.",
                    id);
        if (!run->planned)
            caution(out, before, after,
                    "Run %.8s is of an older version: that its cells are those of its command was "
                    "not checked.",
                    id);
    }
}

static void about_runs(struct text_out *out, const struct report *report, const char *before,
                       const char *after)
{
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];

    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;

        for (size_t i = provenance_doubts(run, PROVENANCE_TAKEN, doubt); i-- > 0;)
            caution(out, before, after, "Run %.8s is of %s: its times mean little.", run->run_id,
                    doubt[i]);
        if (run->load_avg[0] > 0.5 * run->usable_pus)
            caution(out, before, after,
                    "When run %.8s began, the load was %.1f on %d usable processing units: if that "
                    "was other work, it affected the times.",
                    run->run_id, run->load_avg[0], run->usable_pus);
    }
}

/* What the speed-ups are over. */
static void about_bases(struct text_out *out, const struct counts *counts, const char *before,
                        const char *after)
{
    if (counts->on_single > 0)
        caution(out, before, after,
                "%zu of %zu cells are compared with DataParallel on one device, because the plain "
                "program was not verified at their batch (sweep with --mode plain,dp).",
                counts->on_single, counts->points);
    if (counts->on_rank > 0)
        caution(out, before, after,
                "%zu of %zu cells are compared with DDP on one rank, because no other base case "
                "was verified at their batch. What DDP costs on one rank is not in their "
                "speed-ups.",
                counts->on_rank, counts->points);
    if (counts->without_base > 0)
        caution(out, before, after,
                "%zu of %zu cells have no speed-up: no base case was verified at their batch.",
                counts->without_base, counts->points);
    if (counts->unpaired > 0)
        caution(out, before, after,
                "%zu of %zu cells have no launch in common with their base case: their speed-up is "
                "the ratio of the medians, and has no range.",
                counts->unpaired, counts->points);
}

/* Verified launches that say it, those of them above the limit, and the worst. */
static const struct report_row *find_worst(const struct report *report,
                                           const struct report_elsewhere *to, size_t *known,
                                           size_t *above)
{
    const struct report_row *worst = NULL;

    *known = *above = 0;
    for (size_t i = 0; i < report->n_all; ++i) {
        const struct report_row *row = &report->row[i];

        if (!row->verified || isnan(report_share_of(row->cell, to)))
            continue;
        ++*known;
        *above += report_share_of(row->cell, to) > to->limit;
        if (!worst || report_share_of(row->cell, to) > report_share_of(worst->cell, to))
            worst = row;
    }
    return worst;
}

/* What else the cores worked on, while the steps of a launch were measured. */
static void about_cores(struct text_out *out, const struct report *report, const char *before,
                        const char *after)
{
    for (size_t i = 0; i < REPORT_ELSEWHERE; ++i) {
        const struct report_elsewhere *to = &report_elsewhere[i];
        size_t known, above;
        const struct report_row *worst = find_worst(report, to, &known, &above);
        char words[REPORT_CELL_TEXT] = "", share[32], amount[RECORD_AMOUNT_TEXT];

        if (above == 0)
            continue;
        record_amount_words(&worst->cell->key, amount);
        report_workload_words(report, worst, words);
        report_percent(report_share_of(worst->cell, to), share);
        caution(out, before, after,
                "In %zu of %zu launches more than %.0f %% of the time of their cores went to %s; "
                "the most "
                "is %s, of %s, %s, %s, %s, launch %d, run %.8s.",
                above, known, 100 * to->limit, to->to, share, words, worst->cell->key.mode,
                worst->cell->key.devices, amount, worst->cell->key.launch, worst->run->run_id);
    }
}

/* Beside cells that are all verified it would be overlooked. */
static void about_beside(struct text_out *out, const struct report *report, const char *before,
                         const char *after)
{
    for (size_t b = 0; b < report->n_beside; ++b)
        if (beside_is_wrong(report->beside[b])) {
            caution(out, before, after,
                    "nccl-tests found wrong numbers in a collective: see the table beside it.");
            break;
        }
    if (report->nvbandwidth && nvbandwidth_is_wrong(report->nvbandwidth))
        caution(out, before, after, "nvbandwidth ended with an error: see the table of copies.");
}

/* What is above its limit, and records of another library than that of the limits. */
static void about_limits(struct text_out *out, const struct report *report, const char *before,
                         const char *after)
{
    char above[REPORT_CELL_TEXT];

    roof_caution(report->roof, above);
    if (above[0] != '\0')
        caution(out, before, after, "%s", above);
    for (size_t r = 0; report->roof && r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;

        if (strcmp(report->roof->blas, run->blas) != 0)
            caution(out, before, after,
                    "The limits were measured with another library of matrix products than run "
                    "%.8s: with %s, the run with %s. Their shares are not those of its steps.",
                    run->run_id, report->roof->blas, run->blas);
    }
}

static void about_peak(struct text_out *out, const struct report *report, const char *before,
                       const char *after)
{
    char low[REPORT_CELL_TEXT];

    report_peak_caution(report, low);
    if (low[0] != '\0')
        caution(out, before, after, "%s", low);
}

void report_cautions(struct text_out *out, const struct report *report, const char *before,
                     const char *after)
{
    const struct counts counts = count(report);
    const bool trains = report->n_points > 0;

    about_beside(out, report, before, after);
    report_gpu_cautions(out, report, before, after);
    about_launches(out, report, &counts, before, after);
    about_bases(out, &counts, before, after);
    if (counts.oversubscribed > 0)
        caution(out, before, after,
                "%zu of %zu cells had more devices than cores: they show that it works, not how it "
                "scales.",
                counts.oversubscribed, counts.points);
    if (counts.shared > 0)
        caution(out, before, after,
                "%zu of %zu cells had several slots on one GPU or core: evidence of correctness, "
                "not of "
                "performance.",
                counts.shared, counts.points);
    if (counts.slowed > 0)
        caution(out, before, after,
                "%zu of %zu cells ran with transfers that were made slower on purpose: their times "
                "do not describe any machine.",
                counts.slowed, counts.points);
    about_phases(out, report, &counts, before, after);
    if (counts.settling > 0)
        about_settling(out, report, &counts, before, after);
    if (counts.stalled > 0)
        caution(out, before, after,
                "In %zu of %zu cells %s takes %.2f times as long in the mean as at the median, "
                "or more (at most %.1f times): stalls. %s",
                counts.stalled, counts.points, trains ? "a step" : "an iteration", STALLED,
                counts.longest,
                trains ? "Steps and samples/s here are those of the median step."
                       : "Times and bandwidths here are those of the median iteration.");
    about_limits(out, report, before, after);
    about_peak(out, report, before, after);
    about_time(out, report, before, after);
    about_cores(out, report, before, after);
    about_starts(out, report, before, after);
    about_sittings(out, report, before, after);
    about_files(out, report, before, after);
    about_runs(out, report, before, after);
}
