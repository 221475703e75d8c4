/* analysis/answer.c: the answer of a report: how much faster several devices are than one, and how
 * certain that is. The page, summary.md, annotations and the end of a sweep say it in the same
 * words. */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "text/units.h"

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
        report_add(text, "plain on %d cores", key->n_devices);
    else
        report_add(text, "%d device%s%s%s%s", key->n_devices, key->n_devices == 1 ? "" : "s",
                   report_is_ddp(point) ? " with DDP" : "", buckets ? ", buckets " : "",
                   buckets ? report_bucket_words(key->bucket_bytes, WORD) : "");
    report_add(text, report_oversubscribed(point) ? " (oversubscribed)" : "");
    return text;
}

bool report_counts(const struct report_point *point)
{
    return report_resolved(&point->value[REPORT_EFFICIENCY], 2 * REPORT_WIDE * point->bound);
}

static bool is_setting(const struct report_point *point)
{
    return point->key->n_devices > 1 && !report_is_cores(point) && isfinite(report_of_bound(point));
}

const char *report_training_words(const struct report *report, const struct report_point *point,
                                  char text[REPORT_CELL_TEXT])
{
    const struct report_value *value = &point->value[REPORT_SPEEDUP];
    const char *name = point->key->workload;
    size_t length = strcspn(name, ":");

    /* "mlp" is short for "mlp:8,8" where there is no other mlp. */
    for (size_t g = 0; g < report->n_groups; ++g) {
        const char *other = report->group[g].point->key->workload;

        if (strcspn(other, ":") == length && strncmp(other, name, length) == 0 &&
            strcmp(other, name) != 0)
            length = strlen(name);
    }
    snprintf(text, REPORT_CELL_TEXT, "%s%s train %.*s%s %s times as fast as %s (",
             report_simulated(point->row) ? "SIMULATED: " : "", report_devices_words(point, PHRASE),
             (int)length, name, report_axes_words(point->key, PHRASE),
             report_ratio(value->middle, WORD),
             report_is_plain(point->base) ? "one"
             : report_is_ddp(point->base) ? "DDP on one rank"
                                          : "DataParallel on one");
    if (value->range == REPORT_INTERVAL)
        report_add(text, "%s to %s; ", report_ratio(value->lo, WORD),
                   report_ratio(value->hi, WORD));
    report_add(text, "batch %zu%s; at most %.2f is possible)", point->base->key->global_batch,
               strcmp(point->row->run->scaling, "weak") == 0 ? " per device" : "",
               point->bound * (double)point->key->n_devices);
    return text;
}

/* Appends with how many launches to measure again. */
static void add_again(char text[REPORT_CELL_TEXT], size_t launches)
{
    report_add(text, ": sweep again with --launches %zu%s.",
               launches < REPORT_LEAST_OF_INTERVAL ? REPORT_LEAST_OF_INTERVAL : 2 * launches,
               launches < REPORT_LEAST_OF_INTERVAL ? "" : ", on an idle machine");
}

void report_add_doubt(char text[REPORT_CELL_TEXT], size_t launches)
{
    report_add(text, "%s", text[0] != '\0' ? " " : "");
    if (launches == 0)
        report_add(text, "Not measured in the launches of its base, so not certain");
    else if (launches == 1)
        report_add(text, "Measured once, so not certain");
    else if (launches < REPORT_LEAST_OF_INTERVAL)
        report_add(text, "Measured %zu times, too few to be certain", launches);
    else
        report_add(text, "That is too noisy to be certain");
    add_again(text, launches);
}

/* Appends how certain the answer is, and what to do next. */
static void add_certainty(const struct report_answer *answer, char text[REPORT_CELL_TEXT])
{
    const struct report_value *value = &answer->best->value[REPORT_SPEEDUP];

    if (answer->crowded) {
        report_add(text, "This is no evidence of speed: %s.", report_crowding(answer->best->row));
        return;
    }
    if (answer->noisy == answer->settings) {
        report_add_doubt(text, value->n);
        return;
    }
    if (value->range == REPORT_INTERVAL && value->hi < 1.0)
        report_add(text, "So one device is faster there. ");
    else if (value->range == REPORT_INTERVAL && value->lo <= 1.0)
        report_add(text, "Whether that is faster is not certain. ");
    if (answer->noisy == 0) {
        report_add(text, "Nothing has to be measured again");
        if (answer->settings > 1)
            report_add(text, ": none of %zu settings was too noisy", answer->settings);
        report_add(text, ".");
        return;
    }
    report_add(text, "%zu of %zu settings %s too noisy to count", answer->noisy, answer->settings,
               answer->noisy == 1 ? "was" : "were");
    if (answer->larger)
        report_add(text, " (a larger number, %s, may be chance)",
                   report_ratio(report_middle(answer->larger, REPORT_SPEEDUP), WORD));
    add_again(text, value->n);
}

struct report_answer report_answer_of(const struct report *report)
{
    struct report_answer answer = {.crowded = true};
    /* The first is of the settings that count, the second of those that are too noisy. */
    const struct report_point *best[2] = {NULL}, *farthest[2] = {NULL};

    for (size_t i = 0; i < report->n_points; ++i)
        answer.crowded = answer.crowded && !(is_setting(&report->point[i]) &&
                                             !report_oversubscribed(&report->point[i]));
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool noisy = !report_counts(point);

        if (!is_setting(point) || (!answer.crowded && report_oversubscribed(point)))
            continue;
        ++answer.settings;
        answer.noisy += noisy;
        if (!best[noisy] ||
            report_middle(point, REPORT_SPEEDUP) > report_middle(best[noisy], REPORT_SPEEDUP))
            best[noisy] = point;
        if (!farthest[noisy] || report_of_bound(point) < report_of_bound(farthest[noisy]))
            farthest[noisy] = point;
    }
    answer.best = best[!best[0]];
    answer.farthest = farthest[!farthest[0]];
    if (best[0] && best[1] &&
        report_middle(best[1], REPORT_SPEEDUP) > report_middle(best[0], REPORT_SPEEDUP))
        answer.larger = best[1];

    const size_t certain = answer.settings - answer.noisy;

    if (report->n_points == 0 && report->collectives->n_points > 0)
        report_add(answer.first, "Collectives by themselves, and no model: times and bandwidths "
                                 "are in their table.");
    else if (!answer.best)
        report_add(answer.first, "Nothing can be said about scaling: %s.", report_no_setting);
    if (!answer.best)
        return answer;
    report_training_words(report, answer.best, answer.first);
    /* Without these words, a slow setting that is certain would speak for all that are not. */
    if (certain > 0 && answer.noisy > 0 &&
        (answer.larger || answer.best->value[REPORT_SPEEDUP].hi < 1.0))
        report_add(answer.first,
                   certain == 1 ? ", the only setting that is certain enough"
                                : ", the best of the %zu settings that are certain enough",
                   certain);
    report_add(answer.first, ".");
    add_certainty(&answer, answer.rest);
    return answer;
}

const char *report_answer_words(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report_answer answer = report_answer_of(report);

    text[0] = '\0';
    report_add(text, "%s%s%s", answer.first, answer.rest[0] != '\0' ? " " : "", answer.rest);
    return text;
}
