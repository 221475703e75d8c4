/* report/verdict.c: the sentences on top of a report: what was verified, how it scales, and what
 * limits it. Nothing is claimed that the records do not carry. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "plan/plan.h"

/* Nearer to its bound than this, a point has nothing to explain. */
static const double AT_BOUND = 0.98;

/* What was done to get the times: "measured", or what must not be taken for it. */
static const char *source_of(const struct report *report)
{
    size_t simulated = 0;

    for (size_t i = 0; i < report->n_all; ++i)
        simulated += report_simulated(&report->row[i]);
    return simulated == 0               ? "measured"
           : simulated == report->n_all ? "SIMULATED"
                                        : "measured or SIMULATED";
}

void report_verdict(struct text_out *out, const struct report *report)
{
    const bool repeated = report_repeated(report);

    if (report->counts.verified == report->counts.planned && report->counts.planned > 0) {
        if (repeated)
            text_print(out, "All %zu planned launches of %zu cells were %s and verified.",
                       report->counts.planned, report->n_points + report->collectives->n_points,
                       source_of(report));
        else
            text_print(out, "All %zu planned cells were %s and verified.", report->counts.planned,
                       source_of(report));
        return;
    }
    text_print(out, "Of %zu planned %s, %zu were %s and %zu verified", report->counts.planned,
               repeated ? "launches" : "cells", report->counts.measured, source_of(report),
               report->counts.verified);
    if (report->counts.failed > 0)
        text_print(out, "; %zu FAILED", report->counts.failed);
    if (report->counts.skipped > 0)
        text_print(out, "; %zu skipped", report->counts.skipped);
    if (report->counts.missing > 0)
        text_print(out, "; %zu not run", report->counts.missing);
    text_print(out, ".");
}

/* "2 devices", "1 device with DDP", "2 devices with DDP, buckets 256Ki", "plain on 2 cores". */
void report_add_devices(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    const int devices = point->row->cell->key.n_devices;
    char bucket[32];

    report_bucket_name(point->row->cell->key.bucket_bytes, bucket);
    if (report_is_cores(point)) {
        report_add(text, "plain on %d cores%s", devices,
                   report_oversubscribed(point) ? " (oversubscribed)" : "");
        return;
    }
    report_add(text, "%d device%s%s%s%s%s", devices, devices == 1 ? "" : "s",
               report_is_ddp(point) ? " with DDP" : "", point->bucket > 0 ? ", buckets " : "",
               point->bucket > 0 ? bucket : "",
               report_oversubscribed(point) ? " (oversubscribed)" : "");
}

/* "1.86x [1.84, 1.88]". */
void report_add_speedup(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    const struct report_metric *metric = &report_metrics[REPORT_SPEEDUP];
    const struct report_value *value = &point->value[REPORT_SPEEDUP];

    report_add_ratio(text, value->middle);
    report_add(text, "%s", metric->unit);
    if (value->range == REPORT_NONE || point->base == point)
        return;
    report_add(text, value->range == REPORT_INTERVAL ? " " : " (");
    report_add_range(text, value, metric->number);
    report_add(text, value->range == REPORT_INTERVAL ? "" : ")");
}

/* "93 % of the bound 2.00". */
void report_add_bound(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    report_add_share(text, report_middle(point, REPORT_EFFICIENCY) / point->bound);
    report_add(text, " of the bound %.2f", point->bound * (double)point->row->cell->key.n_devices);
}

const char *report_base_name(const struct report_point *base)
{
    return report_is_plain(base) ? "the plain program"
           : report_is_ddp(base) ? "DDP on one rank"
                                 : "DataParallel on one device";
}

static bool is_weak(const struct report_point *point)
{
    return strcmp(point->row->run->scaling, "weak") == 0;
}

/* "2048 rows", "256 rows per device". */
void report_add_batch(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    report_add(text, "%zu rows%s", report_base_batch(point), is_weak(point) ? " per device" : "");
}

/* The shortest true answer to "what limits it". */
static void add_limit(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    static const char *const losses[REPORT_LOSSES] = {
        [REPORT_LOSS_COMPUTE] = "forward and backward being slower than their share",
        [REPORT_LOSS_MOVES] = "moving data: scatter, replicate, gather, reduce",
        [REPORT_LOSS_ALONE] = "loss and update, which one device does alone",
        [REPORT_LOSS_BETWEEN] = "waiting and handing over between the phases",
    };
    struct report_limit limit;
    const bool known = report_limit_of(point, &limit);
    enum report_loss most = REPORT_LOSS_COMPUTE;

    if (!(limit.of_bound < AT_BOUND))
        return;
    report_add(text, "; ");
    report_add_share(text, limit.missing);
    report_add(text, " of the step is lost");
    if (known) {
        for (enum report_loss l = REPORT_LOSS_MOVES; l < REPORT_LOSSES; ++l)
            if (report_loss_of(&limit, l) > report_loss_of(&limit, most))
                most = l;
        if (report_loss_of(&limit, most) <= limit.missing)
            report_add(text, ", %.0f points of it to %s", 100.0 * report_loss_of(&limit, most),
                       losses[most]);
        else
            report_add(text, ", all of it to %s", losses[most]);
    }
    if (report_middle(point, REPORT_OUTSIDE) >= 0.5) {
        report_add(text, "; overhead: ");
        report_add_metric(text, point, REPORT_OUTSIDE);
        report_add(text, " of the step is outside matrix products");
    }
}

/* The interval or range of the ratio does not tell which is faster. */
static bool is_open(const struct report_point *point)
{
    const struct report_value *value = &point->value[REPORT_SPEEDUP];

    return value->range != REPORT_NONE && value->lo <= 1.0 && value->hi >= 1.0;
}

/* "on 2 devices, mlp:8,8 is 1.86x as fast as the plain program at 2048 rows, 93 % of ...". */
static void add_comparison(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    char axes[PLAN_AXES_TEXT];

    plan_axes_words(&point->row->cell->key, ", ", false, axes);
    report_add(text, report_simulated(point->row) ? "SIMULATED, on " : "on ");
    report_add_devices(text, point);
    report_add(text, ", %s%s is ", point->row->cell->key.workload, axes);
    report_add_speedup(text, point);
    report_add(text, " as fast as %s at ", report_base_name(point->base));
    report_add_batch(text, point);
    report_add(text, ", ");
    report_add_bound(text, point);
    if (is_open(point))
        report_add(text, " (difference not significant)");
}

/* What the same cores do without a wrapper. */
static void add_cores(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    if (!point->cores)
        return;
    report_add(text, "; ");
    report_add_devices(text, point->cores);
    report_add(text, ": ");
    report_add_speedup(text, point->cores);
}

static void print_sentence(struct text_out *out, char text[REPORT_CELL_TEXT])
{
    if (text[0] >= 'a' && text[0] <= 'z')
        text[0] = (char)(text[0] - 'a' + 'A');
    text_print(out, "%s. ", text);
}

static void lead_of_group(struct text_out *out, const struct report_point *point)
{
    char text[REPORT_CELL_TEXT] = "";

    add_comparison(text, point);
    add_limit(text, point);
    add_cores(text, point);
    print_sentence(out, text);
}

/* Points on several devices, with the one of the largest speed-up and the one that is farthest from
 * its bound. */
struct choice {
    size_t n;
    const struct report_point *best, *farthest;
};

/* resolved: only those whose interval tells anything; crowded: also those that share cores or
 * GPUs. */
static struct choice choose(const struct report *report, bool resolved, bool crowded)
{
    struct choice choice = {.n = 0};

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const double of_bound = report_middle(point, REPORT_EFFICIENCY) / point->bound;

        if (point->row->cell->key.n_devices < 2 || report_is_cores(point) || !isfinite(of_bound) ||
            (resolved && !report_resolved(&point->value[REPORT_EFFICIENCY], point->bound)) ||
            (!crowded && report_oversubscribed(point)))
            continue;
        ++choice.n;
        if (!choice.best ||
            report_metric_better(REPORT_SPEEDUP, report_middle(point, REPORT_SPEEDUP),
                                 report_middle(choice.best, REPORT_SPEEDUP)))
            choice.best = point;
        if (!choice.farthest ||
            of_bound < report_middle(choice.farthest, REPORT_EFFICIENCY) / choice.farthest->bound)
            choice.farthest = point;
    }
    return choice;
}

static void lead_of_many(struct text_out *out, const struct choice *choice, bool resolved)
{
    char text[REPORT_CELL_TEXT] = "";

    report_add(text, "best of %zu settings%s: ", choice->n,
               resolved ? "" : ", none of which is resolved");
    add_comparison(text, choice->best);
    add_cores(text, choice->best);
    print_sentence(out, text);
    text[0] = '\0';
    report_add(text, "farthest from its bound: ");
    add_comparison(text, choice->farthest);
    add_limit(text, choice->farthest);
    print_sentence(out, text);
}

void report_lead(struct text_out *out, const struct report *report)
{
    const bool crowded = choose(report, false, false).n == 0;
    struct choice choice = choose(report, true, crowded);
    const bool resolved = choice.n > 0;

    if (!resolved)
        choice = choose(report, false, crowded);
    if (report->n_points == 0 && report->collectives->n_points > 0)
        text_print(out, "Collectives by themselves, and no model: times and bandwidths are in "
                        "their table.");
    else if (choice.n == 0)
        text_print(out, "Nothing can be said about scaling: no verified cell on several devices "
                        "has a verified base case of its batch.");
    else if (choice.n == 1)
        lead_of_group(out, choice.best);
    else
        lead_of_many(out, &choice, resolved);
}
