/* analysis/answer.c: the answer of a report: how much faster several devices are than one, and how
 * certain that is. The page, summary.md, annotations and the end of a sweep say it in the same
 * words. */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "text/quantity.h"

const char report_no_setting[] =
    "no verified cell on several devices has a verified base at its batch";

const char *report_bucket_words(size_t bytes, char text[32])
{
    return bytes == 0 ? "1Mi, 25Mi" : units_binary(bytes, text);
}

const char *report_axes_words(const struct record_key *key, char text[REPORT_CELL_TEXT])
{
    char axes[PLAN_AXES_TEXT];

    plan_axes_words(key, ", ", false, axes);
    text[0] = '\0';
    if (axes[0] != '\0')
        report_add(text, " (%s)", axes + 2);
    return text;
}

const char *report_devices_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = point->key;
    const bool buckets = point->bucket > 0;

    text[0] = '\0';
    if (report_is_cores(point))
        report_add(text, "one process on %d cores", key->n_devices);
    else
        report_add(text, "%d device%s%s%s%s", key->n_devices, text_s((size_t)key->n_devices),
                   report_is_ddp(point) ? " with DDP" : "", buckets ? ", buckets " : "",
                   buckets ? report_bucket_words(key->bucket_bytes, WORD) : "");
    report_add(text, report_oversubscribed(point) ? " (oversubscribed)" : "");
    return text;
}

bool report_is_setting(const struct report_answer *answer, const struct report_point *point)
{
    return point->key->n_devices > 1 && !report_is_cores(point) &&
           isfinite(report_of_bound(point)) && (answer->crowded || !report_oversubscribed(point));
}

int report_name_length(const struct report *report, const char *workload)
{
    size_t length = strcspn(workload, ":");

    for (size_t g = 0; g < report->n_groups; ++g) {
        const char *other = report->group[g].point->key->workload;

        if (strcspn(other, ":") == length && strncmp(other, workload, length) == 0 &&
            strcmp(other, workload) != 0)
            length = strlen(workload);
    }
    return (int)length;
}

const char *report_training_words(const struct report *report, const struct report_point *point,
                                  char text[REPORT_CELL_TEXT])
{
    const struct report_value *value = &point->value[REPORT_SPEEDUP];
    const double possible = point->bound * (double)point->key->n_devices;
    const char *name = point->key->workload;
    const bool open = report_unmeasured(value);

    snprintf(text, REPORT_CELL_TEXT, "%s%s train %.*s%s%s%s times as fast as %s%s (",
             report_simulated(point->row) ? "SIMULATED: " : "", report_devices_words(point, PHRASE),
             report_name_length(report, name), name, report_axes_words(point->key, PHRASE),
             open ? ", but how many" : " ", open ? "" : report_ratio(value->middle, WORD),
             report_is_plain(point->base) ? "one"
             : report_is_ddp(point->base) ? "DDP on one rank"
                                          : "DataParallel on one",
             open ? " was not measured well enough" : "");
    if (value->range == REPORT_INTERVAL || value->range == REPORT_LAUNCHES)
        report_add(text, "%s to %s", report_ratio(value->lo, WORD), report_ratio(value->hi, WORD));
    if (value->range == REPORT_LAUNCHES)
        report_add(text, " in %zu launches", value->n);
    report_add(text, "%sbatch %zu%s; ", value->range == REPORT_NONE ? "" : "; ",
               point->base->key->global_batch, point->weak ? " per device" : "");
    if (report_beyond(point))
        report_add(text, "more than is possible, %.2f: one device was disturbed)", possible);
    else if (!open &&
             (report_doubt_of(point, REPORT_SPEEDUP) ? value->middle : value->hi) >= possible)
        report_add(text, "%s the limit of %.2f)",
                   value->lo <= possible ? "not distinguishable from" : "at", possible);
    else
        report_add(text, "at most %.2f is possible)", possible);
    return text;
}

enum report_doubt report_rival_doubt(const struct report_point *point)
{
    const enum report_doubt doubt = report_doubt_of(point, report_rival(point));
    const enum report_doubt cores =
        point->cores ? report_doubt_of(point, REPORT_OF_CORES) : REPORT_CERTAIN;

    return doubt || cores == REPORT_DOUBT_WIDE ? doubt : cores;
}

int report_pays(const struct report_point *point)
{
    const struct stats_interval widened = report_widened(point, report_rival(point));

    if (report_rival_doubt(point))
        return 0;
    if (widened.hi < 1.0)
        return -1;
    return widened.lo > 1.0 && (point->cores ? report_widened(point, REPORT_OF_CORES).lo > 1.0
                                             : !report_works_on_cores(point->row));
}

/* Appends how many times as fast a setting is as the fastest single process, and what follows. */
static void add_rival(char text[REPORT_CELL_TEXT], const struct report_point *point)
{
    const struct report_value *value = &point->value[REPORT_OF_CORES];
    const bool alone = report_rival(point) == REPORT_SPEEDUP, open = report_unmeasured(value);
    const int pays = report_pays(point);

    report_add(text, "%s", text[0] != '\0' ? " " : "");
    if (alone && report_rival_doubt(point)) {
        report_add(text,
                   "Probably the best single process uses one core: %d cores were slower (batch "
                   "%zu; not certain).",
                   point->key->n_devices, point->key->global_batch);
        return;
    }
    if (alone)
        report_add(text,
                   "One process on %d cores was slower here than on one, so one core is the "
                   "best single process (",
                   point->key->n_devices);
    else
        report_add(text,
                   open ? "How many times %s are as fast as the same cores used by one process "
                          "was not measured well enough%s ("
                        : "%s are %s times as fast as the same cores used by one process (",
                   report_devices_words(point, PHRASE),
                   open ? "" : report_ratio(value->middle, WORD));
    if (!alone && (open || value->range == REPORT_INTERVAL))
        report_add(text, "%s to %s; ", report_ratio(value->lo, WORD),
                   report_ratio(value->hi, WORD));
    report_add(text, "batch %zu): %s.", point->key->global_batch,
               report_rival_doubt(point) ? "that is not certain"
               : pays < 0                ? "data parallelism does not pay"
               : pays > 0                ? "data parallelism pays"
                                         : "whether data parallelism pays is not certain");
}

/* Appends with how many launches to measure again, unless some were not run: these come first. */
static void add_again(char text[REPORT_CELL_TEXT], const struct report_counts *counts,
                      size_t launches)
{
    const bool few = launches < REPORT_LEAST_OF_INTERVAL;

    if (counts->missing == 0)
        report_add(text, ": sweep again with --launches %zu%s",
                   few ? REPORT_LEAST_OF_INTERVAL : 2 * launches,
                   few ? "" : ", on an idle machine");
    report_add(text, ".");
}

void report_add_doubt(char text[REPORT_CELL_TEXT], const struct report_counts *counts,
                      const struct report_point *point, int metric)
{
    const enum report_doubt doubt = report_doubt_of(point, metric);
    const size_t launches = report_is_ratio(metric) ? point->value[metric].n : point->verified;

    report_add(text, "%s", text[0] != '\0' ? " " : "");
    if (doubt == REPORT_DOUBT_FAILED)
        report_add(text, "A launch of it failed, so not certain: continue with --resume.");
    else if (doubt == REPORT_DOUBT_DISTURBED) /* more launches are disturbed as well */
        report_add(text, "%zu of its %zu launches %s disturbed, too many to be certain%s.",
                   report_count_disturbed(point, metric), launches,
                   text_were(report_count_disturbed(point, metric)),
                   counts->missing == 0 ? ": sweep again on an idle machine" : "");
    else if (launches == 0)
        report_add(text, "Not measured in the launches of its base, so not certain");
    else if (launches == 1)
        report_add(text, "Measured once, so not certain");
    else if (launches < REPORT_LEAST_OF_INTERVAL)
        report_add(text, "Measured %zu times, too few to be certain", launches);
    else
        report_add(text, "That is too noisy to be certain");
    if (doubt != REPORT_DOUBT_FAILED && doubt != REPORT_DOUBT_DISTURBED)
        add_again(text, counts, launches);
}

const char *report_noise_words(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_noise *noise = &report->noise;

    text[0] = '\0';
    if (noise->open > 0)
        report_add(text, "%zu of %zu %stimes", noise->open, noise->cells,
                   report->n_points > 0 ? "step " : "");
    if (noise->open_ratios > 0)
        report_add(text, "%s%zu of %zu speed-ups", noise->open > 0 ? " and " : "",
                   noise->open_ratios, noise->ratios);
    report_add(text, " %s not certain", text_are(noise->open + noise->open_ratios));
    return text;
}

const char *report_state_words(const struct report *report, bool brief, char text[REPORT_CELL_TEXT])
{
    double change = 0, alike = 0, most[REPORT_STEAL_SOURCES] = {0};
    size_t disturbed = 0, unknown = 0, n = 0;
    int sessions = 1;
    char list[REPORT_CELL_TEXT] = "";

    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_drift *drift = &report->run[r].drift;

        if (drift->change_p <= REPORT_SHOWN && fabs(drift->change) > fabs(change))
            change = drift->change;
        alike = fmax(alike, drift->lag1_p <= REPORT_SHOWN ? drift->lag1 : 0);
    }
    for (size_t i = 0; i < report->n_all; ++i) {
        const struct report_row *row = &report->row[i];

        sessions = row->cell->sitting >= sessions ? row->cell->sitting + 1 : sessions;
        if (!row->verified || report_simulated(row))
            continue; /* simulated launches are on no machine */
        ++n;
        disturbed += report_disturbed(row);
        unknown += isnan(row->cell->foreign_frac) && !report_disturbed(row);
        for (size_t e = 0; e < REPORT_STEAL_SOURCES; ++e)
            most[e] = fmax(most[e], report_share_of(row->cell, &report_steal_sources[e]));
    }
    if (fabs(change) > 0)
        report_add(list, "; the machine drifted, times became %.0f %% %s", 100.0 * fabs(change),
                   change > 0 ? "longer" : "shorter");
    if (alike > 0 && !brief)
        report_add(list,
                   "; launches that follow each other are alike (autocorrelation %.2f), so "
                   "intervals may be %.1f times too narrow",
                   alike, report_widening(alike));
    else if (alike > 0)
        report_add(list, "; intervals may be %.1f times too narrow", report_widening(alike));
    if (disturbed > 0)
        report_add(list, "; %zu of %zu launches %s disturbed", disturbed, n, text_were(disturbed));
    if (disturbed > 0 && !brief)
        report_add(list,
                   ": up to %.0f %% of the time of their cores went to other programs, %.0f %% to "
                   "other machines",
                   100.0 * most[0], 100.0 * most[1]);
    if (unknown > 0 && disturbed > 0 && brief)
        report_add(list, ", of %zu it is not known", unknown);
    else if (unknown > 0)
        report_add(list, "; whether %zu of %zu launches %s disturbed is not known", unknown, n,
                   text_were(unknown));
    if (sessions > 1)
        report_add(list, "; there were %d sessions, between which the machine may have changed",
                   sessions);
    snprintf(text, REPORT_CELL_TEXT, list[0] != '\0' ? "Keep in mind: %s." : "%s",
             list + (list[0] != '\0' ? 2 : 0));
    return text;
}

/* Appends how certain the answer is, and what to do next. */
static void add_certainty(const struct report *report, struct report_answer *answer, bool stable)
{
    const size_t launches = answer->best->value[REPORT_SPEEDUP].n;
    const struct stats_interval widened = report_widened(answer->best, REPORT_SPEEDUP);
    const size_t certain = answer->certain, doubtful = answer->settings - certain;
    char *text = answer->rest;
    const bool noisy = report->noise.open + report->noise.open_ratios > 0;
    const char *space = text[0] != '\0' ? " " : "";

    /* Without these words, a slow setting that is certain would speak for all that are not. */
    if (certain > 0 && doubtful > 0 && (answer->larger || widened.hi < 1.0))
        report_add(answer->first,
                   certain == 1 ? ", the only setting that is certain enough"
                                : ", the best of the %zu settings that are certain enough",
                   certain);
    if (certain > 0 && !answer->crowded && widened.lo <= 1.0)
        report_add(answer->first, widened.hi < 1.0 ? ": one device is faster"
                                                   : ": whether they are faster is not certain");
    report_add(answer->first, ".");
    if (answer->crowded)
        report_add(answer->doubt, "This is no evidence of speed: %s",
                   report_crowding(answer->best->row));
    else if (certain == 0)
        report_add_doubt(text, &report->counts, answer->best, REPORT_SPEEDUP);
    else if (doubtful > 0) {
        report_add(answer->doubt,
                   "%zu of %zu settings on several devices %s not certain enough to count",
                   doubtful, answer->settings, text_were(doubtful));
        if (answer->larger && report_unmeasured(&answer->larger->value[REPORT_SPEEDUP]))
            report_add(answer->doubt, " (one was not measured well enough)");
        else if (answer->larger)
            report_add(answer->doubt, " (a larger number, %s, %s)",
                       report_ratio(report_middle(answer->larger, REPORT_SPEEDUP), WORD),
                       report_beyond(answer->larger) ? "is more than is possible"
                                                     : "may be chance");
    } else if (noisy) {
        report_add(answer->doubt, "%s", report_noise_words(report, PHRASE));
    } else if (widened.lo <= 1.0 && widened.hi >= 1.0) {
        report_add(text, "%sMore launches may tell", space);
        add_again(text, &report->counts, launches);
    } else if (report->counts.verified == report->counts.planned && stable) {
        report_add(text, "Nothing has to be measured again");
        if (answer->settings > 1)
            report_add(text, ": all %zu settings on several devices are certain", answer->settings);
        report_add(text, ".");
    }
    if (answer->doubt[0] == '\0')
        return;
    report_add(text, "%s%s", space, answer->doubt);
    if (answer->crowded)
        report_add(text, ".");
    else
        add_again(text, &report->counts, launches);
}

/* Counts the settings, and finds the best, the farthest and the largest number. */
static void choose(const struct report *report, struct report_answer *answer)
{
    int most =
        -1; /* 2: there is a setting that counts; 1: one that is measured, not beyond its bound */

    for (size_t i = 0; i < report->n_points; ++i)
        answer->crowded &= !report_is_setting(answer, &report->point[i]) ||
                           report_oversubscribed(&report->point[i]);
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool open = report_unmeasured(&point->value[REPORT_SPEEDUP]);
        const int weight =
            report_doubt_of(point, REPORT_SPEEDUP) ? !report_beyond(point) && !open : 2;
        const double speed = report_middle(point, REPORT_SPEEDUP);

        if (!report_is_setting(answer, point))
            continue;
        ++answer->settings;
        answer->certain += weight == 2;
        if (weight > most) {
            most = weight;
            answer->best = answer->farthest = point;
        }
        if (weight == most && speed > report_middle(answer->best, REPORT_SPEEDUP))
            answer->best = point;
        if (weight == most && report_of_bound(point) < report_of_bound(answer->farthest))
            answer->farthest = point;
        if (!answer->larger || speed > report_middle(answer->larger, REPORT_SPEEDUP))
            answer->larger = point;
    }
}

struct report_answer report_answer_of(const struct report *report)
{
    const struct report_counts *counts = &report->counts;
    struct report_answer answer = {.crowded = true};
    const char *state = report_state_words(report, false, PHRASE);
    const bool good = counts->verified + counts->missing == counts->planned;

    choose(report, &answer);
    if (report->n_points == 0 && report->collectives->n_points > 0)
        report_add(answer.first, "Collectives by themselves, and no model: times and bandwidths "
                                 "are in their table.");
    else if (!answer.best)
        report_add(answer.first, "Nothing can be said about scaling: %s.", report_no_setting);
    if (!good)
        report_add(answer.rest, "Not verified, and in no number here: %zu of %zu launches.%s",
                   counts->planned - counts->verified - counts->missing, counts->planned,
                   counts->missing > 0 ? " " : "");
    if (good && report->interrupted)
        report_add(answer.rest, "The sweep was interrupted after %zu of %zu launches",
                   counts->verified, counts->planned);
    else if (counts->missing > 0)
        report_add(answer.rest, "%zu of %zu launches %s not run yet", counts->missing,
                   counts->planned, counts->missing == 1 ? "has" : "have");
    if (counts->missing > 0)
        report_add(answer.rest, ": continue with --resume.");
    if (answer.best &&
        report_middle(answer.larger, REPORT_SPEEDUP) <= report_middle(answer.best, REPORT_SPEEDUP))
        answer.larger = NULL;
    if (answer.best) {
        report_add(answer.first, "%s%s",
                   answer.crowded || answer.certain == 0 ? "Not certain: " : "",
                   report_training_words(report, answer.best, PHRASE));
        add_certainty(report, &answer, state[0] == '\0');
        if (answer.best->cores)
            add_rival(answer.rest, answer.best);
    }
    if (state[0] != '\0')
        report_add(answer.rest, "%s%s", answer.rest[0] != '\0' ? " " : "", state);
    return answer;
}

bool report_answer_is_certain(const struct report *report)
{
    const struct report_answer answer = report_answer_of(report);
    const struct report *collectives = report->collectives;
    bool certain = report->n_points > 0 || collectives->n_points > 0;

    for (size_t i = 0; i < collectives->n_points; ++i)
        certain = certain && !report_doubt_of(&collectives->point[i], REPORT_STEP);
    return report->n_points == 0
               ? certain
               : answer.certain > 0 && !answer.crowded && !report_rival_doubt(answer.best);
}

const char *report_answer_words(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_answer answer = report_answer_of(report);

    text[0] = '\0';
    report_add(text, "%s%s%s", answer.first, answer.rest[0] != '\0' ? " " : "", answer.rest);
    return text;
}
