/* report/verdict.c: the sentences at the top of a report: how much was verified, how the workloads
 * scale, and what limits them. It also prints the numbers of a setting, one line each. Every claim
 * has numbers in the records. */
#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "plan/plan.h"

/* The longest words of a fact: a list of devices or of dialects. */
enum { FACT_TEXT = 4096 };

/* ---- what was verified -------------------------------------------------------------------- */

void report_verdict(struct text_out *out, const struct report *report)
{
    const struct report_counts *counts = &report->counts;
    const bool repeated = report_repeated(report);
    const char *done = "measured"; /* changed if some of it was simulated */
    size_t simulated = 0;

    for (size_t i = 0; i < report->n_all; ++i)
        simulated += report_simulated(&report->row[i]);
    if (simulated > 0)
        done = simulated == report->n_all ? "SIMULATED" : "measured or SIMULATED";
    if (counts->verified == counts->planned && counts->planned > 0) {
        if (repeated)
            text_print(out, "All %zu planned launches of %zu cells were %s and verified.",
                       counts->planned, report->n_points + report->collectives->n_points, done);
        else
            text_print(out, "All %zu planned cells were %s and verified.", counts->planned, done);
        return;
    }
    text_print(out, "Of %zu planned %s, %zu were %s and %zu verified", counts->planned,
               repeated ? "launches" : "cells", counts->measured, done, counts->verified);
    if (counts->failed > 0)
        text_print(out, "; %zu FAILED", counts->failed);
    if (counts->skipped > 0)
        text_print(out, "; %zu skipped", counts->skipped);
    if (counts->missing > 0)
        text_print(out, "; %zu not run", counts->missing);
    text_print(out, ".");
}

/* ---- how it scales ------------------------------------------------------------------------ */

/* Prints "on 2 devices, mlp:8,8 is 1.86x as fast as the plain program at 2048 rows, 93 % of ...".
 * limits: it adds what limits the point. cores: it adds the speed-up of the plain program on the
 * same cores. */
static void say_comparison(struct text_out *out, const char *first,
                           const struct report_point *point, bool limits, bool cores)
{
    static const char *const losses[REPORT_LOSSES] = {
        [REPORT_LOSS_COMPUTE] = "forward and backward being slower than their share",
        [REPORT_LOSS_MOVES] = "moving data: scatter, replicate, gather, reduce",
        [REPORT_LOSS_ALONE] = "loss and update, which one device does alone",
        [REPORT_LOSS_BETWEEN] = "waiting and handing over between the phases",
    };
    const struct report_value *value = &point->value[REPORT_SPEEDUP];
    char text[REPORT_CELL_TEXT] = "", axes[PLAN_AXES_TEXT];
    struct report_limit limit;
    const bool known = report_limit_of(point, &limit);
    const enum report_loss most = report_largest_loss(&limit);
    const double lost = report_loss_of(&limit, most);

    plan_axes_words(point->key, ", ", false, axes);
    report_add(text, "%s%son %s, %s%s is %s as fast as %s at %s, %s", first,
               report_simulated(point->row) ? "SIMULATED, " : "",
               report_devices_words(point, PHRASE), point->key->workload, axes,
               report_speedup_words(point, PHRASE), report_base_name(point->base),
               report_batch_words(point, PHRASE), report_bound_words(point, PHRASE));
    /* The interval or range of the ratio does not tell which one is faster. */
    if (value->range != REPORT_NONE && value->lo <= 1.0 && value->hi >= 1.0)
        report_add(text, " (difference not significant)");
    /* The shortest true answer to the question what limits the point. */
    if (limits && limit.of_bound < REPORT_AT_BOUND) {
        report_add(text, "; %s of the step is lost", report_share(limit.missing, WORD));
        if (known && lost <= limit.missing)
            report_add(text, ", %.0f points of it to %s", 100.0 * lost, losses[most]);
        else if (known)
            report_add(text, ", all of it to %s", losses[most]);
        if (report_middle(point, REPORT_OUTSIDE) >= 0.5)
            report_add(text, "; overhead: %s of the step is outside matrix products",
                       report_share(report_middle(point, REPORT_OUTSIDE), WORD));
    }
    if (cores && point->cores)
        report_add(text, "; %s: %s", report_devices_words(point->cores, PHRASE),
                   report_speedup_words(point->cores, PHRASE));
    if (text[0] >= 'a' && text[0] <= 'z')
        text[0] = (char)(text[0] - 'a' + 'A');
    text_print(out, "%s. ", text);
}

/* The points on several devices: their number, the one with the largest speed-up, and the one that
 * is farthest from its bound. */
struct choice {
    size_t n;
    const struct report_point *best, *farthest;
};

/* resolved: only points whose interval tells anything are chosen. crowded: points that share cores
 * or GPUs are chosen, too. */
static struct choice choose_scaling(const struct report *report, bool resolved, bool crowded)
{
    struct choice choice = {.n = 0};

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (point->key->n_devices < 2 || report_is_cores(point) ||
            !isfinite(report_of_bound(point)) ||
            (resolved && !report_resolved(&point->value[REPORT_EFFICIENCY], point->bound)) ||
            (!crowded && report_oversubscribed(point)))
            continue;
        ++choice.n;
        if (!choice.best ||
            report_metric_better(REPORT_SPEEDUP, report_middle(point, REPORT_SPEEDUP),
                                 report_middle(choice.best, REPORT_SPEEDUP)))
            choice.best = point;
        if (!choice.farthest || report_of_bound(point) < report_of_bound(choice.farthest))
            choice.farthest = point;
    }
    return choice;
}

void report_lead(struct text_out *out, const struct report *report)
{
    const bool crowded = choose_scaling(report, false, false).n == 0;
    struct choice choice = choose_scaling(report, true, crowded);
    const bool resolved = choice.n > 0;
    char first[96];

    if (!resolved)
        choice = choose_scaling(report, false, crowded);
    if (report->n_points == 0 && report->collectives->n_points > 0)
        text_print(out, "Collectives by themselves, and no model: times and bandwidths are in "
                        "their table.");
    else if (choice.n == 0)
        text_print(out, "Nothing can be said about scaling: no verified cell on several devices "
                        "has a verified base case of its batch.");
    else if (choice.n == 1)
        say_comparison(out, "", choice.best, true, true);
    else {
        snprintf(first, sizeof first, "best of %zu settings%s: ", choice.n,
                 resolved ? "" : ", none of which is resolved");
        say_comparison(out, first, choice.best, false, true);
        say_comparison(out, "farthest from its bound: ", choice.farthest, true, false);
    }
}

/* ---- the numbers of a setting ------------------------------------------------------------- */

static void begin_fact(struct text_out *out, const char *name)
{
    text_print(out, out->form == TEXT_HTML ? "<dt>%s</dt><dd>" : "- %s: ", name);
}

static void end_fact(struct text_out *out)
{
    fputs(out->form == TEXT_HTML ? "</dd>\n" : "\n", out->file);
}

void report_fact(struct text_out *out, const char *name, const char *format, ...)
{
    char text[FACT_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (text[0] == '\0')
        return;
    begin_fact(out, name);
    text_print(out, "%s", text);
    end_fact(out);
}

/* Prints the base; all device counts at its batch, with the plain program on several cores; the
 * three largest losses and the rest; and the share of a step outside matrix products. Each speed-up
 * is printed by itself, so that a long list is never cut inside a number. */
static void say_scaling(struct text_out *out, const struct report_group *group,
                        const struct report_point *best)
{
    const bool others = best->plain || best->single;
    const struct report_point *bases[] = {best->plain, best->single, others ? NULL : best->rank};
    const double outside[] = {report_middle(best->base, REPORT_OUTSIDE),
                              report_middle(best, REPORT_OUTSIDE)};
    struct report_limit limit;
    const bool known = report_limit_of(best, &limit);
    double rest = limit.missing;
    char text[REPORT_CELL_TEXT] = "";
    bool first = true;

    report_batch_words(best, text);
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; ++i) {
        if (!bases[i])
            continue;
        report_add(text, "%s%s %s", first ? ": " : ", ", report_base_name(bases[i]),
                   report_time(report_middle(bases[i], REPORT_STEP), WORD));
        first = false;
    }
    report_add(text, " per step");
    report_fact(out, "Base", "%s", text);
    begin_fact(out, report_metrics[REPORT_SPEEDUP].heading);
    text_print(out, "against %s: ", report_base_name(best->base));
    first = true;
    for (const struct report_point *point = group->point;
         point < group->point + group->n + group->n_cores; ++point) {
        if (point->base != best->base || point->key->n_devices == 1 ||
            !isfinite(report_middle(point, REPORT_SPEEDUP)))
            continue;
        text_print(out, "%s%s %s, %s", first ? "" : "; ", report_devices_words(point, PHRASE),
                   report_speedup_words(point, PHRASE), report_bound_words(point, PHRASE));
        first = false;
    }
    end_fact(out);
    if (limit.missing > 0.0) {
        text[0] = '\0';
        report_add(text, "%s of the step on %s%s", report_share(limit.missing, WORD),
                   report_devices_words(best, PHRASE), known ? ", in points: " : "");
        for (size_t i = 0; i < 3 && known && limit.part[i].share >= 0.005; ++i) {
            const int phase = limit.part[i].phase;

            report_add(text, "%s %.0f, ",
                       phase < RECORD_PHASES ? record_phase_names[phase] : "between the phases",
                       100.0 * limit.part[i].share);
            rest -= limit.part[i].share;
        }
        if (known)
            report_add(text, "the rest %.0f", fabs(rest) < 0.005 ? 0.0 : 100.0 * rest);
        report_fact(out, "Lost", "%s", text);
    }
    if (isfinite(outside[0]) && isfinite(outside[1]))
        report_fact(out, report_metrics[REPORT_OUTSIDE].heading, "%s of the base's step, %s on %s",
                    report_share(outside[0], WORD), report_share(outside[1], WORD),
                    report_devices_words(best, PHRASE));
}

/* Prints the best rate, and of a language model its tokens and their share of what its devices can
 * do. */
static void say_rates(struct text_out *out, const struct report_point *best)
{
    const struct report_metric *metric = &report_metrics[REPORT_THROUGHPUT];
    const struct record_cell *cell = best->row->cell;
    const double of_rate = report_tokens_share(best), of_peak = report_peak_share(best);
    char text[REPORT_CELL_TEXT] = "", name[64];
    char peak[QUANTITY_TEXT];

    snprintf(name, sizeof name, "Best %s", metric->name);
    report_add(text, "%s", report_metric_words(best, REPORT_THROUGHPUT, PHRASE));
    if (best->value[REPORT_THROUGHPUT].range == REPORT_INTERVAL) {
        const char *range = report_metric_range_words(best, REPORT_THROUGHPUT, PHRASE);
        const char *same = strstr(range, "]\u00a0");
        char *unit = strstr(text, "\u00a0");

        /* A unit that both have stands once: "11.8 [11.5, 12.1] M samples/s". */
        if (unit && same && strcmp(unit, same + 1) == 0)
            *unit = '\0';
        report_add(text, " %s", range);
    }
    report_fact(out, name, "%s %s, %s at %zu rows", text, metric->unit,
                report_is_plain(best) ? "the plain program" : report_devices_words(best, PHRASE),
                cell->key.global_batch);
    if (cell->tokens_per_row == 0)
        return;
    text[0] = '\0';
    report_add(text, "%s %s there, %s of a device; %zu to a row, %sFLOP for each",
               report_metric_words(best, REPORT_TOKENS, PHRASE), report_metrics[REPORT_TOKENS].unit,
               report_rate(report_middle(best, REPORT_TOKENS) / (double)cell->key.n_devices, WORD),
               cell->tokens_per_row, report_rate(cell->flops_per_token, WORD));
    if (isfinite(of_rate))
        report_add(text, ": %s of the product rate%s", report_share(of_rate, WORD),
                   best->product_rate.in_parts ? " of --parts" : "");
    if (isfinite(of_peak))
        report_add(text, "%s%s of the stated peak of %s", isfinite(of_rate) ? ", " : ": ",
                   report_share(of_peak, WORD),
                   quantity_words(best->stated_peak, QUANTITY_WORK, peak));
    if (!isfinite(of_rate) && !isfinite(of_peak) && !report_simulated(best->row))
        report_add(text, "; no rate of its devices is known");
    report_fact(out, "Tokens", "%s", text);
}

void report_facts(struct text_out *out, const struct report_group *group)
{
    const struct report_point *point = report_group_best(group);
    const struct report_point *best = NULL;

    if (point)
        say_scaling(out, group, point);
    else
        report_fact(
            out, report_metrics[REPORT_SPEEDUP].heading,
            "none: no verified cell on several devices has a verified base case of its batch");
    /* The best rate of those whose interval tells anything, or else of all. */
    for (int resolved = 1; resolved >= 0 && !best; --resolved)
        for (size_t i = 0; i < group->n + group->n_cores; ++i) {
            const struct report_value *rate = &group->point[i].value[REPORT_THROUGHPUT];

            if (group->point[i].verified > 0 &&
                (resolved == 0 || report_resolved(rate, rate->middle)) &&
                (!best || report_metric_better(REPORT_THROUGHPUT, rate->middle,
                                               report_middle(best, REPORT_THROUGHPUT))))
                best = &group->point[i];
        }
    if (best)
        say_rates(out, best);
    else
        report_fact(out, "Best throughput", "no verified cell");
}
