/* report/facts.c: the numbers of a setting, a line each: base, speed-ups, losses, best throughput.
 */
#include "report/page.h"

#include <math.h>
#include <string.h>

static void begin_fact(struct text_out *out, const struct report_fact_style *style,
                       const char *name)
{
    fputs(style->before, out->file);
    text_print(out, "%s", name);
    fputs(style->between, out->file);
}

static void fact(struct text_out *out, const struct report_fact_style *style, const char *name,
                 char text[REPORT_CELL_TEXT])
{
    begin_fact(out, style, name);
    text_print(out, "%s", text);
    fputs(style->after, out->file);
}

static void say_base(struct text_out *out, const struct report_fact_style *style,
                     const struct report_point *point)
{
    const bool others = point->plain || point->single;
    const struct report_point *bases[] = {point->plain, point->single, others ? NULL : point->rank};
    char text[REPORT_CELL_TEXT] = "";
    bool first = true;

    report_add_batch(text, point);
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; ++i) {
        if (!bases[i])
            continue;
        report_add(text, "%s%s ", first ? ": " : ", ", report_base_name(bases[i]));
        report_add_metric(text, bases[i], REPORT_STEP);
        first = false;
    }
    report_add(text, " per step");
    fact(out, style, "Base", text);
}

/* All device counts at the batch of that base, and the plain program on several cores; each in a
 * text of its own: a number that is cut is another number. */
static void say_speedups(struct text_out *out, const struct report_fact_style *style,
                         const struct report *report, const struct report_group *group,
                         const struct report_point *base)
{
    bool first = true;

    begin_fact(out, style, report_metrics[REPORT_SPEEDUP].heading);
    text_print(out, "against %s: ", report_base_name(base));
    for (size_t i = group->first; i < group->first + group->n + group->n_cores; ++i) {
        const struct report_point *point = &report->point[i];
        char text[REPORT_CELL_TEXT] = "";

        if (point->base != base || point->row->cell->key.n_devices == 1 ||
            !isfinite(report_middle(point, REPORT_SPEEDUP)))
            continue;
        report_add(text, "%s", first ? "" : "; ");
        report_add_devices(text, point);
        report_add(text, " ");
        report_add_speedup(text, point);
        report_add(text, ", ");
        report_add_bound(text, point);
        text_print(out, "%s", text);
        first = false;
    }
    fputs(style->after, out->file);
}

/* The three largest, and what is left. */
static void add_parts(char text[REPORT_CELL_TEXT], const struct report_limit *limit)
{
    double rest = limit->missing;

    report_add(text, ", in points: ");
    for (size_t i = 0; i < 3 && limit->part[i].share >= 0.005; ++i) {
        const int phase = limit->part[i].phase;

        report_add(text, "%s %.0f, ",
                   phase < RECORD_PHASES ? record_phase_names[phase] : "between the phases",
                   100.0 * limit->part[i].share);
        rest -= limit->part[i].share;
    }
    report_add(text, "the rest %.0f", fabs(rest) < 0.005 ? 0.0 : 100.0 * rest);
}

static void say_losses(struct text_out *out, const struct report_fact_style *style,
                       const struct report_point *point)
{
    struct report_limit limit;
    const bool known = report_limit_of(point, &limit);
    char text[REPORT_CELL_TEXT] = "";

    if (!(limit.missing > 0.0))
        return;
    report_add_share(text, limit.missing);
    report_add(text, " of the step on ");
    report_add_devices(text, point);
    if (known)
        add_parts(text, &limit);
    fact(out, style, "Lost", text);
}

static void say_outside(struct text_out *out, const struct report_fact_style *style,
                        const struct report_point *point)
{
    char text[REPORT_CELL_TEXT] = "";

    if (!isfinite(report_middle(point, REPORT_OUTSIDE)) ||
        !isfinite(report_middle(point->base, REPORT_OUTSIDE)))
        return;
    report_add_metric(text, point->base, REPORT_OUTSIDE);
    report_add(text, " of the base's step, ");
    report_add_metric(text, point, REPORT_OUTSIDE);
    report_add(text, " on ");
    report_add_devices(text, point);
    fact(out, style, report_metrics[REPORT_OUTSIDE].heading, text);
}

/* Of those whose interval tells anything, or of all; NULL: none. */
static const struct report_point *best_rate(const struct report *report,
                                            const struct report_group *group, bool resolved)
{
    const struct report_point *best = NULL;

    for (size_t i = group->first; i < group->first + group->n + group->n_cores; ++i) {
        const struct report_point *point = &report->point[i];
        const struct report_value *rate = &point->value[REPORT_THROUGHPUT];

        if (point->verified > 0 && (!resolved || report_resolved(rate, rate->middle)) &&
            (!best || report_metric_better(REPORT_THROUGHPUT, rate->middle,
                                           report_middle(best, REPORT_THROUGHPUT))))
            best = point;
    }
    return best;
}

static void say_best_rate(struct text_out *out, const struct report_fact_style *style,
                          const struct report_point *best)
{
    const struct report_metric *metric = &report_metrics[REPORT_THROUGHPUT];
    char text[REPORT_CELL_TEXT] = "no verified cell", name[64];

    if (best) {
        text[0] = '\0';
        report_add_metric(text, best, REPORT_THROUGHPUT);
        if (best->value[REPORT_THROUGHPUT].range == REPORT_INTERVAL) {
            report_add(text, " ");
            report_add_metric_range(text, best, REPORT_THROUGHPUT);
        }
        report_add(text, " %s, ", metric->unit);
        if (report_is_plain(best))
            report_add(text, "the plain program");
        else
            report_add_devices(text, best);
        report_add(text, " at %zu rows", best->row->cell->key.global_batch);
    }
    snprintf(name, sizeof name, "Best %s", metric->name);
    fact(out, style, name, text);
}

/* What its tokens take of the most that its devices can do. */
static void add_shares(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    const double of_rate = report_tokens_share(point), of_peak = report_peak_share(point);
    char peak[QUANTITY_TEXT];

    if (isfinite(of_rate)) {
        report_add(text, ": ");
        report_add_share(text, of_rate);
        report_add(text, " of the product rate%s",
                   point->product_rate.in_parts ? " of --parts" : "");
    }
    if (isfinite(of_peak)) {
        report_add(text, isfinite(of_rate) ? ", " : ": ");
        report_add_share(text, of_peak);
        report_add(text, " of the stated peak of %s", report_peak_words(point->stated_peak, peak));
    }
    if (!isfinite(of_rate) && !isfinite(of_peak) && !report_simulated(point->row))
        report_add(text, "; no rate of its devices is known");
}

/* Of a language model the same in its tokens, and what they take. */
static void say_tokens(struct text_out *out, const struct report_fact_style *style,
                       const struct report_point *best)
{
    char text[REPORT_CELL_TEXT] = "";

    if (!best || best->row->cell->tokens_per_row == 0)
        return;
    const struct record_cell *cell = best->row->cell;

    report_add_metric(text, best, REPORT_TOKENS);
    report_add(text, " %s there, %s of a device; %zu to a row, %sFLOP for each",
               report_metrics[REPORT_TOKENS].unit,
               report_rate(report_middle(best, REPORT_TOKENS) / (double)cell->key.n_devices, WORD),
               cell->tokens_per_row, report_rate(cell->flops_per_token, WORD));
    add_shares(text, best);
    fact(out, style, "Tokens", text);
}

void report_facts(struct text_out *out, const struct report_fact_style *style,
                  const struct report *report, const struct report_group *group)
{
    const struct report_point *point = report_group_best(report, group);
    const struct report_point *best = best_rate(report, group, true);
    char none[REPORT_CELL_TEXT] = "none: no verified cell on several devices has a verified base "
                                  "case of its batch";

    if (point) {
        say_base(out, style, point);
        say_speedups(out, style, report, group, point->base);
        say_losses(out, style, point);
        say_outside(out, style, point);
    } else {
        fact(out, style, report_metrics[REPORT_SPEEDUP].heading, none);
    }
    best = best ? best : best_rate(report, group, false);
    say_best_rate(out, style, best);
    say_tokens(out, style, best);
}
