/* report/cautions.c: what a reader has to keep in mind about the numbers of this report, as the
 * records tell. */
#include "command/device_list.h"
#include "machine/machine.h"
#include "machine/node.h"
#include "report/page.h"
#include "report/peer.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* From this ratio of mean and median on, stalls are mentioned, because numbers that are computed
 * from the median do not have them. */
static const double STALLED = 1.25;

static void caution(struct text_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void caution(struct text_out *out, const char *format, ...)
{
    char text[REPORT_CELL_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_print(out, out->form == TEXT_HTML ? "<li>%s</li>\n" : "- Note: %s\n", text);
}

static const char *const note_words[RECORD_NOTES] = {
    [RECORD_NOTE_POWER_CAP] = "a GPU was at its power limit, as GPUs that are all right are",
    [RECORD_NOTE_CORRECTED] = "memory errors of a GPU were corrected",
    [RECORD_NOTE_LINKS] = "NVLinks of a GPU had errors, or were down",
    [RECORD_NOTE_FOREIGN] = "processes of others computed on a GPU"};

/* Writes how many launches are INVALID and why, and how many of the watched launches have each note
 * about GPUs. The first of them is an example. Then the notes about the node of each run, once: a
 * resumed run is in several files. */
static void about_gpus(struct text_out *out, const struct report *report)
{
    char first[RECORD_NODE_TEXT] = "", note[RECORD_NODE_TEXT];

    for (int which = -1; which < RECORD_NOTES; ++which) {
        size_t watched = 0, n = 0;

        for (size_t i = 0; i < report->n_all; ++i) {
            const struct report_row *row = &report->row[i];
            const bool has = which < 0
                                 ? strcmp(row->state, REPORT_INVALID) == 0
                                 : record_gpu_note(row->cell, (enum record_gpu_note)which, note);

            watched += row->cell->n_gpus > 0;
            if (has && which < 0)
                record_gpu_doubt(row->cell, note);
            if (has && n++ == 0)
                memcpy(first, note, sizeof first);
        }
        if (n > 0 && which < 0)
            caution(out,
                    "%zu of %zu launches %s " REPORT_INVALID
                    " for timing and in no number here, because of what the GPUs said. The "
                    "first: %.200s.",
                    n, report->n_all, text_are(n), first);
        else if (n > 0)
            caution(out, "In %zu of %zu launches %s. The first: %.200s.", n, watched,
                    note_words[which], first);
    }
    for (size_t r = 0; r < report->n_runs; ++r)
        for (int at = 0; node_note(report->run[r].run, &at, note);)
            caution(out, "When run %.8s began: %.200s.", report->run[r].run->run_id, note);
}

/* ---- points ------------------------------------------------------------------------------- */

struct counts {
    size_t points; /* verified points */
    size_t slowed; /* points whose transfers take longer on purpose */
    size_t settling, oversubscribed, shared, on_single, on_rank, without_base;
    size_t unpaired; /* points without a launch in common with their base case */
    size_t stalled;  /* points whose mean step is much longer than the median */
    double longest;  /* the largest ratio of mean and median */
    /* The one that most certainly still became faster; NULL: none. */
    const struct report_point *settler;
};

/* Counts points of training, or of collectives, which have no bases. */
static void count_points(const struct report *report, bool has_bases, struct counts *counts)
{
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool based = point->base && point->base != point;
        const bool crowded = report_oversubscribed(point);
        const bool cores = report_works_on_cores(point->row);

        if (report_settles(point) && has_bases &&
            (!counts->settler || point->settling.lo > counts->settler->settling.lo))
            counts->settler = point;
        if (point->verified == 0)
            continue;
        const double stall = point->middle->cell->mean_ns / point->middle->cell->median_ns;

        ++counts->points;
        counts->settling += report_settles(point);
        counts->oversubscribed += crowded && cores;
        counts->shared += crowded && !cores;
        counts->slowed += device_list_slowed(point->row->kind);
        counts->on_single += based && point->base == point->single;
        counts->on_rank += based && point->base == point->rank;
        counts->without_base += has_bases && point->base == NULL;
        counts->unpaired += point->base && point->value[REPORT_SPEEDUP].n == 0;
        counts->stalled += stall >= STALLED;
        counts->longest = fmax(counts->longest, stall);
    }
}

/* Cautions about a number of cells, in the order of the page. */
static const struct {
    size_t at; /* offset of the number in struct counts */
    const char *words;
} cell_cautions[] = {
    {offsetof(struct counts, on_single), "had DataParallel on one device as the base, because the "
                                         "plain program was not verified at that "
                                         "batch (sweep with --mode plain,dp)."},
    {offsetof(struct counts, on_rank),
     "had DDP on one rank as the base, because no other base case was verified at that batch. "
     "What DDP costs on one rank is not in the speed-up."},
    {offsetof(struct counts, without_base),
     "had no base case that was verified at that batch: no speed-up is shown."},
    {offsetof(struct counts, unpaired),
     "had no launch in common with the base case: the speed-up is the ratio of the medians, "
     "and has no range."},
    {offsetof(struct counts, oversubscribed),
     "had more devices than cores: this shows that it works, not how it scales."},
    {offsetof(struct counts, shared), "had several slots on one GPU or core: evidence of "
                                      "correctness, not of performance."},
    {offsetof(struct counts, slowed), "ran with transfers that were made slower on purpose: the "
                                      "times do not describe any machine."}};

static void about_points(struct text_out *out, const struct report *report)
{
    struct counts counts = {.points = 0};
    const bool trains = report->n_points > 0;
    double least = INFINITY, longest = -INFINITY;
    size_t traced = 0;

    count_points(report, true, &counts);
    count_points(report->collectives, false, &counts);
    for (size_t i = 0; i < sizeof cell_cautions / sizeof cell_cautions[0]; ++i) {
        const size_t n = *(const size_t *)((const char *)&counts + cell_cautions[i].at);

        if (n > 0)
            caution(out, "%zu of %zu cells %s", n, counts.points, cell_cautions[i].words);
    }
    /* How much longer steps take whose phases are recorded, in the middle launch of each point. */
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct record_cell *cell = point->verified > 0 ? point->middle->cell : NULL;

        if (!cell || isnan(cell->tracing_ns))
            continue;
        least = fmin(least, cell->tracing_ns / cell->median_ns);
        longest = fmax(longest, cell->tracing_ns / cell->median_ns);
        ++traced;
    }
    if (traced > 0)
        caution(out,
                "In %zu of %zu cells phases were measured in separate steps, which took from "
                "%.1f %% to %.1f %% longer than those that are timed (the cell's median).",
                traced, counts.points, 100 * least, 100 * longest);
    if (counts.settling > 0 && counts.settler) {
        const struct report_point *most = counts.settler;
        const struct record_key *key = most->key;

        caution(
            out,
            "In %zu of %zu cells steps still got faster while they were measured, the most in "
            "%.100s, %s, %zu row%s on %d device%s: by %.0f %% [%.0f, %.0f] from the first tenth "
            "of a launch to its last half. A longer --warmup would help.",
            counts.settling, counts.points, report_workload_words(report, most->row, PHRASE),
            key->mode, key->global_batch, text_s(key->global_batch), key->n_devices,
            text_s((size_t)key->n_devices), 100 * expm1(most->settled_by),
            100 * expm1(most->settling.lo), 100 * expm1(most->settling.hi));
    }
    if (counts.stalled > 0)
        caution(out,
                "In %zu of %zu cells %s takes %.2f times as long in the mean as at the median, "
                "or more (at most %.1f times): stalls. %s",
                counts.stalled, counts.points, trains ? "a step" : "an iteration", STALLED,
                counts.longest,
                trains ? "Steps and samples/s here are those of the median step."
                       : "Times and bandwidths here are those of the median iteration.");
}

/* ---- machine and runs --------------------------------------------------------------------- */

/* Writes whether the records are from several boots of one machine, or from several machines of one
 * class. */
static void about_boots(struct text_out *out, const struct report *report)
{
    const struct record_run *first = report->run[0].run, *other = NULL;

    if (report->peer && strcmp(report->peer->run.machine_instance, first->machine_instance) != 0)
        caution(out,
                "The comparison with PyTorch and run %.8s are not from one boot of one machine.",
                first->run_id);
    for (size_t r = 1; r < report->n_runs && !other; ++r)
        if (strcmp(report->run[r].run->machine_instance, first->machine_instance) != 0)
            other = report->run[r].run;
    if (other)
        caution(out,
                "Runs %.8s and %.8s are not from one boot of one machine: it was rebooted in "
                "between, or these are two machines of one class. Their times may differ.",
                first->run_id, other->run_id);
}

/* Writes whether the records of each run are complete, and are as they were written. */
static void about_files(struct text_out *out, const struct report *report)
{
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_run *run = &report->run[r];
        const char *id = run->run->run_id;

        if (run->interrupted)
            caution(out, "Run %.8s was interrupted after %zu of %zu launches.", id,
                    run->counts.planned - run->counts.missing, run->counts.planned);
        else if (!run->ended)
            caution(out, "Run %.8s has no end line: it goes on, or its file was cut short.", id);
        if (!run->sealed)
            caution(out,
                    "Run %.8s is unsealed: its lines have no chain, so an edit would not show.",
                    id);
        if (!run->planned)
            caution(out,
                    "Run %.8s is of an older version: that its cells are those of its command was "
                    "not checked.",
                    id);
    }
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;
        char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];

        for (size_t i = provenance_doubts(run, PROVENANCE_TAKEN, doubt); i-- > 0;)
            caution(out, "Run %.8s is of %s: its times mean little.", run->run_id, doubt[i]);
        if (run->load_avg[0] > 0.5 * run->usable_pus)
            caution(out,
                    "When run %.8s began, the load was %.1f on %d usable processing units: if that "
                    "was other work, it affected the times.",
                    run->run_id, run->load_avg[0], run->usable_pus);
    }
}

void report_shares(struct text_out *out, const struct report *report)
{
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_run *run = &report->run[r];
        const double steps = 100 * run->timed.steps / run->seconds;
        const double beside = 100 * run->timed.beside / run->seconds;
        char costs[RECORD_COSTS_TEXT] = "";
        const bool known = record_costs_words(&run->costs, run->writing, costs);

        if (isfinite(steps + beside))
            caution(out,
                    "Of the %.1f s of run %.8s, %.0f %% were timed: %.0f %% in measured steps, "
                    "%.0f %% in the steps and reductions next to them. The rest is %s.",
                    run->seconds, run->run->run_id, steps + beside, steps, beside,
                    known ? costs
                          : "the start of processes, setup, references, warm-up and checks");
    }
}

/* Writes what is faster than its limit, whether records used another library than the limits, and
 * whether the stated peak is too low. */
static void about_limits(struct text_out *out, const struct report *report)
{
    const struct roof *roof = report->roof;
    char text[REPORT_CELL_TEXT] = "";
    size_t n = 0;

    for (size_t i = 0; roof && i < roof->n; ++i)
        for (size_t k = 0; k < roof->workload[i].n; ++k) {
            const struct roof_workload *w = &roof->workload[i];
            const struct roof_share share = roof_share(&roof->ceilings, &w->line[k].work);

            if (share.bound == ROOF_UNKNOWN || !(share.least > 1))
                continue;
            if (n++ < 3)
                report_add(text, "%s%s of %s, batch %zu", n > 1 ? "; " : "", w->line[k].name,
                           w->name, w->batch);
        }
    if (n > 3)
        report_add(text, "; and %zu more", n - 3);
    if (n > 0) {
        report_add(text, ": faster than its limit, by more than times and ceilings vary. Its data "
                         "stay in a cache, which no ceiling is of, or a ceiling was disturbed.");
        caution(out, "%s", text);
    }
    for (size_t r = 0; roof && r < report->n_runs; ++r) {
        const struct record_run *run = report->run[r].run;

        if (strcmp(roof->blas, run->blas) != 0)
            caution(out,
                    "The limits were measured with another library of matrix products than run "
                    "%.8s: with %s, the run with %s. Their shares are not those of its steps.",
                    run->run_id, roof->blas, run->blas);
    }
    report_peak_caution(report, text);
    if (text[0] != '\0')
        caution(out, "%s", text);
}

/* Errors that other programs found are mentioned here, because next to cells that are all verified
 * they would be overlooked. */
static void about_others(struct text_out *out, const struct report *report)
{
    bool wrong = false;

    for (size_t b = 0; b < report->n_external; ++b)
        wrong = wrong || nccl_tests_is_wrong(report->external[b]);
    if (wrong)
        caution(out,
                "nccl-tests found wrong numbers in a collective: see the table of nccl-tests.");
    if (report->nvbandwidth && nvbandwidth_is_wrong(report->nvbandwidth))
        caution(out, "nvbandwidth ended with an error: see the table of copies.");
}

/* In the order of the page. */
static void (*const cautions[])(struct text_out *out, const struct report *report) = {
    about_others, about_gpus, about_points, about_limits, about_boots, about_files};

void report_cautions(struct text_out *out, const struct report *report)
{
    for (size_t i = 0; i < sizeof cautions / sizeof cautions[0]; ++i)
        cautions[i](out, report);
}
