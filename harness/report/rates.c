/* report/rates.c: what a device can do at most, which shares are of: the product rate, which is
 * measured, and the peak, which somebody states. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "text/quantity.h"

/* ---- devices ------------------------------------------------------------------------------ */

static const char *slot_model(const struct record_slot *slot)
{
    return slot->model[0] != '\0' ? slot->model : slot->kind;
}

/* Of all devices of the run; NULL: they are not of one model. */
static const char *model_of(const struct record_run *run)
{
    for (int i = 1; i < run->n_slots; ++i)
        if (strcmp(slot_model(&run->slot[i]), slot_model(&run->slot[0])) != 0)
            return NULL;
    return slot_model(&run->slot[0]);
}

static bool same_model_and_math(const struct report_row *a, const struct report_row *b)
{
    const char *x = model_of(a->run), *y = model_of(b->run);

    return x && y && strcmp(x, y) == 0 && strcmp(a->cell->key.dtype, b->cell->key.dtype) == 0;
}

/* ---- the product rate --------------------------------------------------------------------- */

static double rate_of(const struct report_point *point, int metric)
{
    return point->verified > 0 && !report_oversubscribed(point) && !report_simulated(point->middle)
               ? report_middle(point, metric)
               : (double)NAN;
}

/* Products of `sweep --parts` are in the math of their cell, and of no workload. */
static double most_in_parts(const struct report *report, const struct report_row *like)
{
    double most = NAN;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_row *row = report->point[i].row;

        if (isfinite(report_middle(&report->point[i], REPORT_IN_PARTS)) &&
            same_model_and_math(row, like) &&
            strcmp(row->cell->key.backend, like->cell->key.backend) == 0)
            most = fmax(most, rate_of(&report->point[i], REPORT_IN_PARTS));
    }
    return most;
}

static struct report_rate product_rate(const struct report *report,
                                       const struct report_group *group)
{
    const struct report_row *row = report->point[group->first].row;
    double most = NAN;

    for (size_t i = group->first; i < group->first + group->n; ++i)
        most = fmax(most, rate_of(&report->point[i], REPORT_PRODUCTS));
    if (most > 0.0)
        return (struct report_rate){most, false};
    most = report_simulated(row) ? (double)NAN : most_in_parts(report, row);
    return (struct report_rate){most > 0.0 ? most : (double)NAN, true};
}

void report_rates_make(struct report *report)
{
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];
        const struct report_rate rate = product_rate(report, group);

        for (size_t i = group->first; i < group->first + group->n + group->n_cores; ++i) {
            report->point[i].product_rate = rate;
            report->point[i].stated_peak = report->peak > 0.0 ? report->peak : (double)NAN;
        }
    }
}

void report_add_rate_share(char text[REPORT_CELL_TEXT], const struct report_point *point,
                           double rate)
{
    const double share = rate / point->product_rate.most;

    report_add_share(text, share);
    if (isfinite(share) && point->product_rate.in_parts)
        report_add(text, "\u00a0(parts)");
}

/* ---- the stated peak ---------------------------------------------------------------------- */

static const struct report_row *first_of_tokens(const struct report *report)
{
    for (size_t i = 0; i < report->n_points; ++i)
        if (report_is_of_tokens(&report->point[i]))
            return report->point[i].row;
    return NULL;
}

bool report_peak_fits(const struct report *report, char why[REPORT_CELL_TEXT])
{
    const struct report_row *first = first_of_tokens(report);

    why[0] = '\0';
    if (!first)
        report_add(why, "it is for the tokens of language models, and no cell is of one");
    for (size_t i = 0; i < report->n_points && why[0] == '\0'; ++i) {
        const struct report_row *row = report->point[i].row;

        if (!report_is_of_tokens(&report->point[i]))
            continue;
        if (!model_of(row->run))
            report_add(why, "it is that of one model of device, and %s are several",
                       row->run->devices);
        else if (!same_model_and_math(first, row))
            report_add(why,
                       "it is that of one device in one math, and the cells of language models "
                       "are in %s on %s and in %s on %s: name fewer files",
                       first->cell->key.dtype, model_of(first->run), row->cell->key.dtype,
                       model_of(row->run));
    }
    return why[0] == '\0';
}

const char *report_peak_words(double peak, char text[QUANTITY_TEXT])
{
    return quantity_words(peak, QUANTITY_WORK, text);
}

/* Of measured cells the one whose devices need most per second; NULL: there is none. */
static const struct report_point *fastest(const struct report *report)
{
    const struct report_point *most = NULL;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (report_tokens_has(REPORT_RANKS_TOKENS, point) && isfinite(report_peak_share(point)) &&
            (!most || report_peak_share(point) > report_peak_share(most)))
            most = point;
    }
    return most;
}

void report_peak_caution(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_point *point = report->peak > 0.0 ? fastest(report) : NULL;
    char peak[QUANTITY_TEXT], reached[32];

    text[0] = '\0';
    if (!point)
        return;
    const double in_steps = report_peak_share(point) * report->peak;
    const double in_parts = most_in_parts(report, point->row);
    const double most = fmax(in_steps, in_parts);

    if (!(most > report->peak))
        return;
    report_flops(most, reached);
    report_add(text, "The stated peak of %s is too low: a device reached %s in ",
               report_peak_words(report->peak, peak), reached);
    if (in_parts > in_steps)
        report_add(text, "the matrix products of --parts");
    else
        report_add(text, "%s, %s, %s, %zu rows", point->row->cell->key.workload,
                   point->row->cell->key.mode, point->row->cell->key.devices,
                   point->row->cell->key.global_batch);
    report_add(text,
               ". So the shares of it are too high. Look at its unit, and whether it is of the "
               "whole device and in %s.",
               point->row->cell->key.dtype);
}

/* ---- the note ----------------------------------------------------------------------------- */

void report_rates_note(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_row *first = first_of_tokens(report);
    bool in_parts = false, unknown = false;
    char peak[QUANTITY_TEXT];

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool known = isfinite(point->product_rate.most);

        if (!report_tokens_has(REPORT_RANKS_TOKENS, point))
            continue;
        in_parts = in_parts || (known && point->product_rate.in_parts);
        unknown = unknown || (!known && !report_simulated(point->row));
    }
    text[0] = '\0';
    if (in_parts)
        report_add(text, " (parts): the time in matrix products is not known there, so the rate "
                         "is the most that such a device reached in the products of a sweep with "
                         "--parts, in the same math.");
    if (unknown)
        report_add(text, " No rate: what such a device can do in matrix products was not "
                         "measured; a sweep with --parts measures it.");
    if (first && report->peak > 0.0)
        report_add(text,
                   " Peak: %s, which --peak states of one device (%.64s) in %s. It was not "
                   "measured.",
                   report_peak_words(report->peak, peak), model_of(first->run),
                   first->cell->key.dtype);
    else if (unknown)
        report_add(text, " A report with --peak has the share of a peak that you state.");
}
