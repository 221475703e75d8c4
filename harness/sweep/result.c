/* sweep/result.c: what the records of a sweep say: the table of collectives, and the sentences that
 * a sweep ends with. The numbers are those of the report. */
#include "sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "command/command.h"
#include "report/page.h"
#include "text/quantity.h"
#include "text/units.h"

/* With fewer launches there is no interval (numbers/stats.h). */
enum { LAUNCHES_OF_INTERVAL = 6 };

/* ---- the best setting ------------------------------------------------------------------------ */

/* How much the number of a setting tells: not much if its interval is wide or missing, and less if
 * its devices share cores or GPUs. */
enum { SHARED, SHARED_NARROW, OWN, OWN_NARROW, WEIGHTS };

/* The largest number of a metric, among the settings of the largest weight. */
struct best {
    const struct report_point *point; /* NULL: no setting has a number */
    int metric, weight;
    size_t settings[WEIGHTS];
};

static struct best find_best(const struct report *report, int metric)
{
    struct best best = {.metric = metric};

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct report_value *value = &point->value[metric];
        double whole = value->middle;

        if (metric == REPORT_SPEEDUP) {
            if (point->key->n_devices < 2 || report_is_cores(point))
                continue;
            whole = point->bound * (double)point->key->n_devices;
        }
        if (point->verified == 0 || !isfinite(value->middle) || !isfinite(whole))
            continue;

        const int weight =
            (report_oversubscribed(point) ? SHARED : OWN) + (report_resolved(value, whole) ? 1 : 0);

        ++best.settings[weight];
        if (best.point &&
            (weight < best.weight ||
             (weight == best.weight &&
              !report_metric_better(metric, value->middle, report_middle(best.point, metric)))))
            continue;
        best.point = point;
        best.weight = weight;
    }
    return best;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *number_words(int metric, double number, char text[QUANTITY_TEXT])
{
    return metric == REPORT_SPEEDUP ? report_ratio(number, text)
           : metric == REPORT_BUSBW ? quantity_words(number, QUANTITY_SPEED, text)
                                    : units_rate(number, text);
}

/* Appends the setting with the largest number of a metric, its interval, among how many it is the
 * best, and how sure that is. Returns whether there is one. */
static bool add_best(char text[REPORT_CELL_TEXT], const struct report *report, int metric)
{
    const struct best best = find_best(report, metric);
    const struct report_point *point = best.point;

    if (!point)
        return false;

    const struct record_key *key = point->key;
    const struct report_value *value = &point->value[metric];
    const bool interval = value->range == REPORT_INTERVAL;
    const bool shared = best.weight<OWN, narrow = best.weight % 2> 0;
    const size_t noisy = narrow ? best.settings[best.weight - 1] : 0;
    const size_t crowded = shared ? 0 : best.settings[SHARED] + best.settings[SHARED_NARROW];
    const size_t launches = report_is_ratio(metric) && value->n > 0 ? value->n : point->verified;
    char number[QUANTITY_TEXT], lo[QUANTITY_TEXT], hi[QUANTITY_TEXT], size[QUANTITY_TEXT];
    char range[3 * QUANTITY_TEXT] = "", axes[PLAN_AXES_TEXT];

    number_words(metric, value->middle, number);
    plan_axes_words(key, ", ", false, axes);
    if (interval)
        snprintf(range, sizeof range, " (%s to %s)", number_words(metric, value->lo, lo),
                 number_words(metric, value->hi, hi));
    report_add(text, "%s", report_simulated(point->row) ? "SIMULATED: " : "");
    if (metric == REPORT_BUSBW)
        report_add(text, "%s of %s on %d devices: bus bandwidth %s%s", key->workload,
                   quantity_words((double)key->size_bytes, QUANTITY_BYTES, size), key->n_devices,
                   number, range);
    else if (metric == REPORT_THROUGHPUT)
        report_add(text, "%s%s at %zu rows: %s rows/s%s on %d device%s", key->workload, axes,
                   key->global_batch, number, range, key->n_devices,
                   key->n_devices == 1 ? "" : "s");
    else
        report_add(text, "%s are %s%s times as fast as one%s, %s%s at %zu rows%s",
                   report_devices_words(point, PHRASE),
                   interval && value->lo <= 1 && value->hi >= 1
                       ? "not shown to be faster or slower: "
                       : "",
                   number, range, key->workload, axes, point->base->key->global_batch,
                   strcmp(point->row->run->scaling, "weak") == 0 ? " per device" : "");
    if (best.settings[best.weight] > 1)
        report_add(text, ", the best of %zu settings", best.settings[best.weight]);
    if (noisy > 0)
        report_add(text, "; %zu more %s too noisy to say", noisy, noisy == 1 ? "was" : "were");
    if (crowded > 0)
        report_add(text, "; %zu more (oversubscribed) %s not count", crowded,
                   crowded == 1 ? "does" : "do");
    report_add(text, ".");
    if (shared)
        report_add(text, " The devices share cores or GPUs (oversubscribed): this shows that it "
                         "works, and not how fast it is.");
    else if (launches < LAUNCHES_OF_INTERVAL)
        report_add(text,
                   launches == 1
                       ? " Measured once, so not certain: sweep again with --launches %d."
                       : " Too few launches for an interval: sweep again with --launches %d.",
                   LAUNCHES_OF_INTERVAL);
    else if (!narrow)
        report_add(text, " The interval is too wide to be sure: stop other programs, or sweep "
                         "again with more --launches.");
    return true;
}

void sweep_result(FILE *to, const struct report *report, const char *path,
                  const struct sweep_options *options)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:,+=@%";
    const struct report *collectives = report->collectives;
    const struct report_counts *counts = &report->counts;
    const struct report_run *run = report->run;
    const size_t missing = counts->planned - counts->verified;
    const char *quote = path[strspn(path, plain)] != '\0' ? "'" : "";
    char text[REPORT_CELL_TEXT] = "", words[QUANTITY_TEXT];
    double products = 0, copied = 0;
    char costs[RECORD_COSTS_TEXT];
    int devices = 0;

    /* As nccl-tests orders it. */
    if (collectives->n_points > 0)
        fprintf(to,
                "\n%-13s %-4s %3s %-12s %-3s %10s %7s %7s %7s %s\n"
                "%-13s %-4s %3s %-12s %-3s %10s %7s %7s %7s\n",
                "collective", "type", "on", "communicator", "to", "size", "time", "algbw", "busbw",
                "right", "", "", "", "", "", "(B)", "", "(GB/s)", "(GB/s)");
    for (size_t i = 0; i < collectives->n_points; ++i) {
        const struct report_point *point = &collectives->point[i];
        const struct record_key *key = point->key;
        char time[UNITS_BYTES], over[32];

        snprintf(over, sizeof over, "%.12s", key->communicator);
        if (key->per_process > 0)
            snprintf(over, sizeof over, "mpi, %zu each", key->per_process);
        fprintf(to, "%-13s %-4s %3d %-12s %-3s %10zu ", key->workload, key->dtype, key->n_devices,
                over, key->out_of_place ? "out" : "in", key->size_bytes);
        if (point->verified > 0)
            fprintf(to, "%7s %7.2f %7.2f", units_time(report_middle(point, REPORT_STEP), time),
                    report_middle(point, REPORT_ALGBW) / 1e9,
                    report_middle(point, REPORT_BUSBW) / 1e9);
        else
            fprintf(to, "%7s %7s %7s", "-", "-", "-");
        fprintf(to, " %zu/%zu\n", point->verified, options->plan.launches);
    }
    if (options->verbose && isfinite(run->seconds) && run->timed.steps > 0)
        fprintf(to,
                "  timed     %5.0f %% of %.1f s, %.0f %% in measured steps and %.0f %% next to "
                "them\n",
                100 * (run->timed.steps + run->timed.beside) / run->seconds, run->seconds,
                100 * run->timed.steps / run->seconds, 100 * run->timed.beside / run->seconds);
    /* The average costs of a launch outside of its measurement. */
    if (options->verbose && record_costs_words(&run->costs, run->writing, costs)) {
        fputs("  outside   ", to);
        command_wrap(to, costs, 12, 12, 80);
    }
    for (size_t i = 0; i < report->n_points; ++i) {
        if (report->point[i].key->n_devices > devices)
            devices = report->point[i].key->n_devices;
        products = fmax(products, report_middle(&report->point[i], REPORT_IN_PARTS));
    }
    if (!add_best(text, report, REPORT_SPEEDUP) && report->n_points > 0) {
        report_add(text, devices < 2 ? "All settings are on one device, so there is no speed-up. "
                                     : "There is no speed-up: no verified setting on several "
                                       "devices has a verified one on one device, of its batch. ");
        add_best(text, report, REPORT_THROUGHPUT);
    }
    add_best(text, collectives, REPORT_BUSBW);
    if (missing > 0)
        report_add(text, " Not verified, and in no number here: %zu of %zu launches.", missing,
                   counts->planned);
    if (products > 0)
        report_add(text, " Products reached %s on a device.",
                   quantity_words(products, QUANTITY_WORK, words));
    for (size_t i = 0; i < report->n_copies; ++i) {
        const int ends = report->copies[i].devices + COPIES_DEVICE;

        for (int k = 0; k < ends * ends; ++k)
            copied = fmax(copied, report->copies[i].rate[k]);
    }
    if (copied > 0)
        report_add(text, " Copies reached %s.", quantity_words(copied, QUANTITY_SPEED, words));
    fputc('\n', to);
    command_say(to, 0, "%s", text + strspn(text, " "));
    fprintf(to, "Report: lockstep report %s%s%s --out DIR\n", quote,
            strchr(path, '\'') ? "FILE" : path, quote);
}
