/* report/verdict.c: the sentences at the top of a report: how much was verified, how the workloads
 * scale, and what limits them. It also prints the numbers of a setting, one line each. Every claim
 * has numbers in the records. */
#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* The longest words of a fact: a list of devices or of dialects. */
enum { FACT_TEXT = 4096 };

/* ---- what was verified -------------------------------------------------------------------- */

const char *report_verdict_words(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_counts *counts = &report->counts;
    const char *done = "measured"; /* changed if some of it was simulated */
    size_t simulated = 0;

    text[0] = '\0';
    for (size_t i = 0; i < report->n_all; ++i)
        simulated += report_simulated(&report->row[i]);
    if (simulated > 0)
        done = simulated == report->n_all ? "SIMULATED" : "measured or SIMULATED";
    if (counts->verified == counts->planned && counts->planned > 0) {
        const size_t cells = report->n_points + report->collectives->n_points;

        if (counts->planned == 1)
            report_add(text, "The only planned launch was %s and verified.", done);
        else
            report_add(text, "All %zu planned launches of %zu cell%s were %s and verified.",
                       counts->planned, cells, text_s(cells), done);
        return text;
    }
    report_add(text, "Of %zu planned launches, %zu %s %s and %zu verified", counts->planned,
               counts->measured, text_were(counts->measured), done, counts->verified);
    if (counts->failed > 0)
        report_add(text, "; %zu FAILED", counts->failed);
    if (counts->skipped > 0)
        report_add(text, "; %zu skipped", counts->skipped);
    if (counts->missing > 0)
        report_add(text, "; %zu not run", counts->missing);
    report_add(text, ".");
    return text;
}

/* ---- how it scales ------------------------------------------------------------------------ */

/* Prints the setting that loses most, and what to, if its speed-up is certain; and the rank that is
 * slower than the others by most, beyond chance. */
void report_lead(struct text_out *out, const struct report *report)
{
    static const char *const losses[REPORT_LOSSES] = {
        [REPORT_LOSS_COMPUTE] = "forward and backward, which are slower than their share",
        [REPORT_LOSS_MOVES] = "moving data",
        [REPORT_LOSS_ALONE] = "loss and update, which one device does alone",
        [REPORT_LOSS_BETWEEN] = "waiting between phases",
    };
    const struct report_answer answer = report_answer_of(report);
    const struct report_point *point = answer.farthest, *slow = NULL;
    struct report_limit limit;
    char text[REPORT_CELL_TEXT] = "";

    if (!point)
        return;
    const bool certain = !report_doubt_of(point, REPORT_SPEEDUP);

    if (certain && point != answer.best)
        text_print(out, "Farthest from what is possible: %s. ",
                   report_training_words(report, point, PHRASE));
    const bool known = report_limit_of(point, &limit);
    const double lost = limit.loss[limit.most];
    const double outside = report_middle(point, REPORT_OUTSIDE);

    if (certain && limit.of_bound < REPORT_AT_BOUND) {
        report_add(text, "%s of the possible speed-up is lost", report_share(limit.missing, WORD));
        if (known && lost < limit.missing)
            report_add(text, ", %s (%.0f points) by %s",
                       2.0 * lost > limit.missing ? "most of it" : "the largest part", 100.0 * lost,
                       losses[limit.most]);
        else if (known)
            report_add(text, ", by %s", losses[limit.most]);
        report_add(text, ". ");
        if (outside >= 0.5)
            report_add(text, "Only %s of the step is matrix products. ",
                       report_share(1.0 - outside, WORD));
        text_print(out, "%s", text);
    }
    for (point = report->point; point < report->point + report->n_points; ++point)
        if (point->slowest.p <= REPORT_SHOWN && point->slowest.more >= REPORT_SETTLED &&
            (!slow || point->slowest.more > slow->slowest.more))
            slow = point;
    if (!slow)
        return;
    snprintf(text, sizeof text,
             "Rank %d is %.0f\u00a0%% slower than the others, in %zu of %zu launches of %.*s on "
             "%s. ",
             slow->slowest.rank, 100.0 * slow->slowest.more, slow->slowest.lost,
             slow->slowest.launches, report_name_length(report, slow->key->workload),
             slow->key->workload, report_devices_words(slow, PHRASE));
    text_print(out, "%s", text);
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

/* Prints the base, and all device counts at its batch, with the plain program on several cores.
 * Each speed-up is printed by itself, so that a long list is never cut inside a number. */
static void say_scaling(struct text_out *out, const struct report_group *group,
                        const struct report_point *best)
{
    const bool others = best->plain || best->single;
    const struct report_point *bases[] = {best->plain, best->single, others ? NULL : best->rank};
    char text[REPORT_CELL_TEXT] = "";
    bool first = true;

    report_add(text, "%zu row%s%s", best->base->key->global_batch,
               text_s(best->base->key->global_batch), best->weak ? " per device" : "");
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
        text_print(out, "%s%s %s, %s%spossible %s", first ? "" : "; ",
                   report_devices_words(point, PHRASE), report_speedup_words(point, PHRASE),
                   report_unmeasured(&point->value[REPORT_SPEEDUP])
                       ? ""
                       : report_share(report_of_bound(point), WORD),
                   report_unmeasured(&point->value[REPORT_SPEEDUP]) ? "" : " of the ",
                   report_ratio(point->bound * (double)point->key->n_devices, WORD));
        first = false;
    }
    end_fact(out);
}

/* Prints the best rate, and of a language model its tokens and their share of what its devices can
 * do. */
static void say_rates(struct text_out *out, const struct report_point *best)
{
    const struct record_cell *cell = best->row->cell;
    const double of_rate = report_tokens_share(best), of_peak = report_peak_share(best);
    char text[REPORT_CELL_TEXT] = "", peak[QUANTITY_TEXT];

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
    report_fact(out, "Best throughput", "%s samples/s, %s at %zu row%s", text,
                report_is_plain(best) ? "the plain program" : report_devices_words(best, PHRASE),
                cell->key.global_batch, text_s(cell->key.global_batch));
    if (cell->tokens_per_row == 0)
        return;
    snprintf(text, REPORT_CELL_TEXT,
             "%s tokens/s there, %s of a device; %zu to a row, %sFLOP for each",
             report_metric_words(best, REPORT_TOKENS, PHRASE),
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
        report_fact(out, report_metrics[REPORT_SPEEDUP].heading, "none: %s", report_no_setting);
    for (size_t i = 0; i < group->n + group->n_cores; ++i) {
        const struct report_point *other = &group->point[i];

        if (!report_doubt_of(other, REPORT_THROUGHPUT) &&
            (!best ||
             report_middle(other, REPORT_THROUGHPUT) > report_middle(best, REPORT_THROUGHPUT)))
            best = other;
    }
    if (best)
        say_rates(out, best);
    else
        report_fact(out, "Best throughput", "not shown: none of its cells is certain");
}
